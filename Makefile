# SPDX-License-Identifier: GPL-2.0-only
#
# What people type. Kbuild is complete without this file: whoever calls
# `make -C KDIR M=$PWD` gets the same modules.
#
# The text behind ## is what `make help` prints.

VERSION := $(shell cat VERSION)

# Deferred: with KDIR given, nobody asks what runs here.
ifndef KDIR
KDIR = /lib/modules/$(or $(KVER),$(shell uname -r))/build
endif

DESTDIR ?=
PREFIX ?= /usr/local
destdir := $(if $(DESTDIR),$(abspath $(DESTDIR)))

# The gating steps of `make check`, in this order: NAME, then its command. Each
# prints TAP and "N passed, N failed" as its last line.
# CHECK_STEPS="vm" tests the runner itself; on a machine that is very busy its
# first guest can stall for a minute, which is a complaint of that kernel's.
CHECK_STEPS ?= lint + build tools + headers selftests refused + dkms captures bench ab
as_step = $(if $(filter +,$(1)),+,'$(1)=$(check_$(1))')
check_lint := selftests/host/lint.sh
check_build := selftests/host/build.sh
check_tools := $(MAKE) -s -C tools check
check_headers := selftests/host/headers.sh
check_dkms := selftests/host/dkms.sh
check_vm := vm/selftest
check_selftests := selftests/check
check_refused := selftests/mutants --refused 6.1 6.12 7.3
check_captures := selftests/host/captures.sh
check_bench := bench/bench
check_ab := bench/ab
check_coverage := selftests/coverage 6.12

# What `make install` puts beside the module, as FILE:PLACE, as far as there is
# such a file. groctl may be there only later.
put = $(foreach file,$(wildcard $(2)),$(file):$(PREFIX)/$(1)/$(notdir $(file)))
files := tools/groctl:$(PREFIX)/sbin/groctl \
	tools/groctl.bash:$(PREFIX)/share/bash-completion/completions/groctl \
	$(call put,lib/udev/rules.d,udev/*.rules) \
	$(call put,lib/systemd/system,udev/*.service tools/*.service \
		tools/*.timer) \
	$(foreach n,1 4 5 7 8,$(call put,share/man/man$(n),Documentation/man/*.$(n))) \
	$(call put,share/doc/gro_opt,README.md CHANGES COPYING tools/grafana.json \
		udev/*.example \
		Documentation/*.rst Documentation/ABI/*/*)
# Folders of PREFIX that are there before us and stay after us.
kept_folders := sbin lib share share/man

# What a DKMS build needs.
dkms_source := Kbuild VERSION dkms.conf COPYING README.md module \
	$(wildcard include)

# Another compiler than the one the headers name.
CC_given := $(LLVM)$(if $(filter-out default,$(origin CC)),$(CC))

# Each recipe is one bash script.
.ONESHELL:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

# For recipes that do more than call make: with $(MAKE) in their text,
# `make -n` would run them. Without a jobserver, which make then does not lend.
submake = env -u MAKEFLAGS $(MAKE) --no-print-directory

# die WHAT WHY DO
define lib
say() { printf 'gro_opt: %s\n' "$$*" >&2; }
die() { printf 'gro_opt: %s\n  why: %s\n  do:  %s\n' "$$@" >&2; exit 1; }
need_root() {
	[ "$$(id -u)" = 0 ] ||
		die "cannot $$1" "that needs root" "sudo make $$1"
}
say_loaded() {
	[ ! -d /sys/module/gro_opt ] || say "the module is still loaded:" \
		"echo off >/sys/kernel/gro_opt/state && rmmod gro_opt"
}
# installed_in PLACE: paths of our module in that folder of any kernel
installed_in() {
	compgen -G "$(destdir)/lib/modules/*/updates/$$1/gro_opt.ko*" || true
}
# Every version. dkms does not remove one whose source somebody has deleted, so
# that one gets as much of it back as dkms reads.
forget_dkms() {
	local dir version
	for dir in /var/lib/dkms/gro_opt/*/; do
		version=$$(basename "$$dir")
		case $$version in
		'*' | original_module | kernel-*) continue ;;
		esac
		if [ ! -e "$${dir}source/dkms.conf" ]; then
			mkdir -p "/usr/src/gro_opt-$$version"
			sed "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=$$version/" \
				dkms.conf >"/usr/src/gro_opt-$$version/dkms.conf"
			ln -sfn "/usr/src/gro_opt-$$version" "$${dir}source"
		fi
		dkms remove gro_opt/"$$version" --all ||
			die "gro_opt $$version is still in DKMS" \
				"dkms remove failed, see above" \
				"mend what it names and repeat"
	done
	rm -rf /usr/src/gro_opt-[0-9]*
}
endef

# Sets kdir and release, or says what is missing.
define need_headers
kdir="$(KDIR)"
case $$kdir in
/lib/modules/*/build) package=linux-headers-$$(basename "$${kdir%/build}") ;;
*/linux-headers-*) package=$$(basename "$$kdir") ;;
*) package="the linux-headers-... package of the kernel you build for" ;;
esac
[ -e "$$kdir/Makefile" ] ||
	die "no kernel headers, so nothing can be built" \
		"there is no $$kdir/Makefile" \
		"apt install $$package (linux-headers-amd64 has Debian's newest); or name others: make KDIR=/path/to/headers"
# Not kernel.release nor kernelrelease: Debian's 6.1 has upstream's number there.
release=$$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$$/\1/p' \
	"$$kdir/include/generated/utsrelease.h" 2>/dev/null || true)
[ -n "$$release" ] ||
	die "cannot build with $$kdir" \
		"this tree is not prepared: no include/generated/utsrelease.h" \
		"take a header package's, or: make -C $$kdir modules_prepare"
version=$$(cut -d. -f1,2 <<<"$$release")
for tool in scripts/basic/fixdep tools/bpf/resolve_btfids/resolve_btfids; do
	if { "$$kdir/$$tool" </dev/null 2>&1 || true; } | grep -q GLIBC_; then
		die "cannot build for $$release here" \
			"the headers' own programs want a newer C library than this machine's" \
			"build in a newer Debian's root: vm/build $$version"
	fi
done
compiler=$$(sed -n 's/^CC = .*)//p' "$$kdir/.kernelvariables" 2>/dev/null || true)
if [ -n "$$compiler" ] && [ -z "$(CC_given)" ] &&
	! command -v "$$compiler" >/dev/null; then
	die "cannot build for $$release" \
		"its headers ask for $$compiler, which is not installed" \
		"apt install $$compiler; where there is no such package: vm/build $$version"
fi
endef

modules: ## build for the running kernel, or KDIR=HEADERS, or KVER=RELEASE
	@$(lib)
	$(need_headers)
	$(MAKE) -C "$$kdir" M="$(CURDIR)" modules

# The test modules are built by default and installed by nobody.
modules-only:
	@$(lib)
	$(need_headers)
	$(MAKE) -C "$$kdir" M="$(CURDIR)" GRO_OPT_TESTS=n modules

# A module without its tool is better than neither.
tools:
	@$(lib)
	if [ -e /usr/include/json-c/json.h ]; then
		$(submake) -s -C tools CFLAGS="-O2 -g"
	else
		say "without groctl, which needs json-c: apt install libjson-c-dev"
	fi

install: modules-only tools ## build, then install into that kernel's updates/, and what goes with it
	@$(lib)
	$(need_headers)
	[ -n "$(destdir)" ] || need_root install
	top=$(destdir)/lib/modules/$$release
	if compgen -G "$$top/updates/dkms/gro_opt.ko*" >/dev/null; then
		die "will not install a second gro_opt for $$release" \
			"DKMS has installed one in $$top/updates/dkms" \
			"make dkms-remove, then repeat"
	fi
	# Without the kernel's signing key signing only makes noise.
	[ -e "$$kdir/certs/signing_key.pem" ] || nosign=CONFIG_MODULE_SIG_ALL=
	$(submake) -C "$$kdir" M="$(CURDIR)" GRO_OPT_TESTS=n $${nosign:-} \
		INSTALL_MOD_PATH="$(destdir)" INSTALL_MOD_DIR=updates \
		DEPMOD=true modules_install
	# modules_install left this out, for want of a System.map. A folder for a
	# package gets its depmod where the package is installed.
	if [ -z "$(destdir)" ] || [ -e "$$top/modules.dep" ]; then
		say "depmod for $$release"
		depmod $(if $(destdir),-b "$(destdir)") "$$release"
	fi
	for file in $(files); do
		[ -e "$${file%%:*}" ] || continue
		mode=644
		[ ! -x "$${file%%:*}" ] || mode=755
		install -D -m "$$mode" "$${file%%:*}" "$(destdir)$${file#*:}"
	done
	say "installed for $$release; load it with: modprobe gro_opt"

uninstall: ## undo install, for every kernel
	@$(lib)
	[ -n "$(destdir)" ] || need_root uninstall
	# make modules_install of the whole tree, without us, has the test module too
	for dir in $(destdir)/lib/modules/*/; do
		release=$$(basename "$$dir")
		ours=$$(compgen -G "$${dir}updates/module/gro_opt.ko*" || true
			compgen -G "$${dir}updates/selftests/gro_lab/gro_lab.ko*" || true)
		[ -n "$$ours" ] || continue
		rm -f $$ours
		(cd "$$dir" && rmdir -p --ignore-fail-on-non-empty \
			$$(find updates/module updates/selftests/gro_lab \
				-prune -type d 2>/dev/null))
		if [ -z "$(destdir)" ] || [ -e "$${dir}modules.dep" ]; then
			depmod $(if $(destdir),-b "$(destdir)") "$$release"
		fi
		say "removed from $$release"
	done
	for file in $(files); do rm -f "$(destdir)$${file#*:}"; done
	for file in $(files); do
		dir=$$(dirname "$${file#*:}")
		while dir=$${dir#$(PREFIX)/}; [ "$$dir" != . ]; do
			for kept in $(kept_folders); do
				[ "$$dir" != "$$kept" ] || break 2
			done
			rmdir "$(destdir)$(PREFIX)/$$dir" 2>/dev/null || break
			dir=$$(dirname "$$dir")
		done
	done
	[ -n "$(destdir)" ] || say_loaded

# Builds for what is installed and not for what runs: in a chroot or an image
# those differ.
dkms: ## install through DKMS for every kernel that has headers here
	@$(lib)
	need_root dkms
	command -v dkms >/dev/null || die "cannot go on without dkms" \
		"it is not installed" "apt install dkms"
	second=$$(installed_in module)
	[ -z "$$second" ] || die "will not install a second gro_opt" \
		"make install has put one there: $$second" "make uninstall, then repeat"
	compgen -G "/lib/modules/*/build/Makefile" >/dev/null ||
		die "no kernel headers, so DKMS has nothing to build for" \
			"no /lib/modules/*/build leads to any" \
			"apt install linux-headers-amd64, or linux-headers-RELEASE"
	forget_dkms
	source=/usr/src/gro_opt-$(VERSION)
	mkdir -p "$$source"
	tar -c -X .gitignore --owner=0 --group=0 --mode=go-w,a+rX $(dkms_source) |
		tar -x -C "$$source"
	dkms add gro_opt/$(VERSION)
	installed= excluded= headless= failed=
	for dir in /lib/modules/*/; do
		release=$$(basename "$$dir")
		if [ ! -e "$${dir}build/Makefile" ]; then
			headless+=" $$release"
			continue
		fi
		status=0
		dkms install gro_opt/$(VERSION) -k "$$release" || status=$$?
		case $$status in
		0) installed+=" $$release" ;;
		77) excluded+=" $$release" ;;
		*) failed+=" $$release" ;;
		esac
	done
	[ -z "$$installed" ] || say "installed for:$$installed"
	[ -z "$$excluded" ] || say "excluded, dkms.conf does not cover:$$excluded"
	[ -z "$$headless" ] || say "left out, no headers (apt install" \
		"linux-headers-RELEASE):$$headless"
	[ -z "$$failed" ] || die "could not install for:$$failed" \
		"dkms failed, see above and /var/lib/dkms/gro_opt/$(VERSION)/build/make.log" \
		"mend what the log names and repeat; or make dkms-remove"
	[ -n "$$installed" ] || say "installed for no kernel, yet: DKMS will build" \
		"for a supported one when its headers arrive"

dkms-remove: ## remove from DKMS, all kernels, all versions; nothing is left
	@$(lib)
	need_root dkms-remove
	forget_dkms
	say_loaded

demo: ## run stock against gro_opt on real traffic, in a VM; writes the report
	@exec bench/demo

bench: ## the measuring lanes: one RESULT line a figure, minutes
	@exec bench/bench

bench-native: ## the same in nanoseconds, at this machine's own speed (User Mode Linux)
	@exec bench/native

check: ## every test that gates; logs in build/check/
	@exec selftests/host/steps $(foreach step,$(CHECK_STEPS),$(call as_step,$(step)))

check-debug: ## on a kernel with KASAN, lockdep, kmemleak and the like (User Mode Linux)
	@exec uml/check

check-long: ## a million random packets on each kernel, and captures in all wraps; hours
	@selftests/check --test parity.sh --env PACKETS=$(or $(PACKETS),1000000) \
		--env SEED=$(or $(SEED),1000) --timeout 7200 $(KERNEL)
	exec selftests/host/captures.sh --long $(KERNEL)

check-mutants: ## seed faults into the module and see that the tests find each
	@exec selftests/mutants $(or $(KERNEL),6.12)

coverage: ## which branches and flush reasons of ours the comparisons reach; KERNEL=6.1
	@exec selftests/coverage $(or $(KERNEL),6.12)

compare: ## PCAPS=FILES: anyone's captures through stock and ours, compared
	@exec env PCAPS="$(PCAPS)" KERNEL="$(KERNEL)" BURST="$(BURST)" \
		WRAP="$(WRAP)" CSUM="$(CSUM)" LIMIT="$(LIMIT)" \
		selftests/compare_captures

lint: ## checkpatch, sparse, shellcheck, and the project's own rules
	@exec selftests/host/lint.sh

clean: ## remove what building and testing made here (not the cache)
	@find module selftests \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '.*.cmd' -o -name '.*.d' \
		-o -name modules.order -o -name Module.symvers \
		-o -name 'gro_*_compat.h' \) -delete
	rm -f .*.cmd .module-common.o modules.order Module.symvers
	$(submake) -s -C tools clean
	rm -rf build .tmp_versions

help: ## this
	@echo "gro_opt $(VERSION)"
	sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) |
		while IFS=$$'\t' read -r target text; do
			printf '  make %-12s %s\n' "$$target" "$$text"
		done
	echo "Variables: KDIR, the kernel's headers, or KVER, an installed kernel's"
	echo "release; DESTDIR and PREFIX ($(PREFIX)) for install and uninstall;"
	echo "CHECK_STEPS for check, of: $(CHECK_STEPS)."

.DEFAULT_GOAL := modules
.PHONY: modules modules-only tools install uninstall dkms dkms-remove demo bench \
	bench-native check check-debug check-long check-mutants coverage compare \
	lint clean help
