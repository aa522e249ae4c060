#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Usage: selftests/host/build.sh [KERNEL...]
#
# Building: that bare Kbuild (make -C KDIR M=DIR) and the Makefile make the
# same, for the kernel named and not for the one that runs; that what is
# missing is said; and that the compile probes notice when they are lied to.
# TAP on stdout. Without arguments for 6.1, 6.12 and 7.3.

# Most functions are called by check().
# shellcheck disable=SC2317
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"

# here KERNEL COMMAND...: where that kernel's headers can be used
here() {
	local kernel=$1 codename
	shift
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	case $kernel-$codename in
	7.*-trixie | 6.*) "$@" ;;
	*) "$VM/root13" --bind "$tmp" -- "$@" ;;
	esac
}

make_flags() {
	echo "-j$(nproc)"
}

# --- the two ways ------------------------------------------------------------

modules_of() {
	(cd "$1" && find . -name '*.ko' -printf '%P\n' | sort)
}

# A uname that keeps what it was asked.
fake_uname() {
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/uname" <<-END
		#!/bin/sh
		echo "\$@" >>$tmp/uname.log
		exec /usr/bin/uname "\$@"
	END
	chmod 755 "$tmp/bin/uname"
}

vermagics() {
	local file
	for file in $(modules_of "$1"); do
		modinfo -F vermagic "$1/$file" | cut -d' ' -f1
	done | sort -u
}

# Kbuild asks for the machine, which shows that ours was the uname in use.
no_release_asked() {
	contains '^-m' "$tmp/uname.log"
	lacks '^-.*[ra]' "$tmp/uname.log"
}

only_our_module() {
	here "$1" make "$(make_flags)" -C "$2" "M=$3" GRO_OPT_TESTS=n modules
	same "$(sed 's|.*/||;s|\.k\{0,1\}o$||' "$3/modules.order")" gro_opt
}

two_ways() {
	local kernel=$1 headers=$2 release=$3 bare=$tmp/$1/bare wrapped=$tmp/$1/make
	local header
	copy_tree "$bare"
	copy_tree "$wrapped"
	: >"$tmp/uname.log"
	check "$kernel: make -C KDIR M=DIR" \
		here "$kernel" make "$(make_flags)" -C "$headers" "M=$bare" modules
	check "$kernel: make KDIR=KDIR" here "$kernel" env \
		"PATH=$tmp/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
		make "$(make_flags)" -C "$wrapped" "KDIR=$headers"
	check "$kernel: nobody asked uname -r" no_release_asked
	check "$kernel: the same modules" \
		same "$(modules_of "$bare")" "$(modules_of "$wrapped")"
	check "$kernel: gro_opt.ko is among them" \
		test -s "$wrapped/module/gro_opt.ko"
	for header in module/gro_opt_compat.h selftests/gro_lab/gro_lab_compat.h; do
		check "$kernel: the same $(basename "$header")" \
			cmp "$bare/$header" "$wrapped/$header"
	done
	check "$kernel: vermagic is the target's" \
		same "$(vermagics "$bare") $(vermagics "$wrapped")" "$release $release"
	check "$kernel: GRO_OPT_TESTS=n leaves the test module out" \
		only_our_module "$kernel" "$headers" "$bare"
}

# --- probes that are lied to -------------------------------------------------

# A compiler that gives probes the answer STATUS and is gcc otherwise.
biased_compiler() {
	cat >"$tmp/bin/cc-$1" <<-END
		#!/bin/sh
		case " \$* " in
		*/compat/tests/*) exit $2 ;;
		esac
		exec gcc-12 "\$@"
	END
	chmod 755 "$tmp/bin/cc-$1"
}

# refuses DIR PATTERN MAKE-ARGS...: the build fails, says so, and leaves no
# answers for the next one to believe.
refuses() {
	local dir=$1 pattern=$2
	shift 2
	if make -C "$headers" "M=$dir" "$@" modules >"$tmp/log" 2>&1; then
		echo "the build succeeded"
		return 1
	fi
	contains "$pattern" "$tmp/log"
	test ! -e "$dir/module/gro_opt_compat.h"
}

# The headers, with a Module.symvers of our own.
doctor_headers() {
	local real=$1 copy=$2 name
	mkdir -p "$copy"
	ln -s "$(dirname "$real")"/* "$copy"
	name=$(basename "$real")
	rm "$copy/$name"
	cp -rs "$real" "$copy/$name"
	cp --remove-destination "$real/Makefile" "$copy/$name/Makefile"
	rm "$copy/$name/Module.symvers"
}

lied_to() {
	local kernel=$1 headers=$2 release=$3 dir=$tmp/$1/lied tests doctored
	tests=$dir/module/compat/tests
	copy_tree "$dir"
	check "$kernel: a compiler that accepts anything is caught" \
		refuses "$dir" 'the probe that must fail compiles' "CC=$tmp/bin/cc-yes"
	check "$kernel: a compiler that accepts nothing is caught" \
		refuses "$dir" 'the probe that must compile does not' \
		"CC=$tmp/bin/cc-no"
	cp "$tests/control_bad.c" "$tmp/bad.c"
	cp "$tests/control_good.c" "$tests/control_bad.c"
	check "$kernel: a bad control that compiles is caught" \
		refuses "$dir" 'the probe that must fail compiles'
	cp "$tmp/bad.c" "$tests/control_bad.c"
	cp "$tests/control_good.c" "$tmp/good.c"
	cp "$tmp/bad.c" "$tests/control_good.c"
	check "$kernel: a good control that does not compile is caught" \
		refuses "$dir" 'the probe that must compile does not'
	cp "$tmp/good.c" "$tests/control_good.c"
	doctored=$tmp/$1/headers/$(basename "$headers")
	doctor_headers "$headers" "$tmp/$1/headers"
	grep -v '	inet6_offloads	' "$headers/Module.symvers" \
		>"$doctored/Module.symvers"
	headers=$doctored check "$kernel: a missing export is named" \
		refuses "$dir" 'does not export inet6_offloads'
	check "$kernel: after all that the same folder builds" \
		make "$(make_flags)" -C "$headers" "M=$dir" modules
	check "$kernel: and to the same answers" cmp \
		"$dir/module/gro_opt_compat.h" "$tmp/$1/bare/module/gro_opt_compat.h"
}

# --- what is missing is said -------------------------------------------------

# says PATTERN MAKE-ARGS...: make fails with that
says() {
	local pattern=$1
	shift
	if make -C "$tmp/said" "$@" >"$tmp/log" 2>&1; then
		echo "make succeeded"
		return 1
	fi
	contains "$pattern" "$tmp/log"
}

missing_things() {
	local newer
	copy_tree "$tmp/said"
	check "no headers: the package is named" \
		says 'apt install linux-headers-6\.1\.0-57-amd64' KVER=6.1.0-57-amd64
	check "no headers in KDIR: it is named" \
		says 'no /nowhere/Makefile' KDIR=/nowhere
	mkdir "$tmp/unprepared"
	: >"$tmp/unprepared/Makefile"
	check "KDIR is not prepared: what to do is said" \
		says 'modules_prepare' KDIR="$tmp/unprepared"
	newer="headers of a newer Debian: vm/build is named"
	if (. /etc/os-release && [ "${VERSION_CODENAME:-}" = bookworm ]); then
		check "$newer" says 'do:  .*vm/build 7\.3' \
			KDIR="$(answer 7.3 headers headers)"
	else
		skip "$newer" "this is no Debian 12"
	fi
	check "clean works without headers" \
		make -C "$tmp/said" clean KDIR=/nowhere
}

case ${1:-} in
--help | -h) help ;;
esac
need make gcc-12 modinfo git
mkdir -p "$REPO/build"
tmp=$(mktemp -d "$REPO/build/host.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
fake_uname
biased_compiler yes 0
biased_compiler no 1
[ $# -gt 0 ] || set -- 6.1 6.12 7.3
missing_things
for kernel; do
	headers=$(answer "$kernel" headers headers)
	release=$(answer "$kernel" release headers)
	two_ways "$kernel" "$headers" "$release"
	case $kernel in
	6.*) lied_to "$kernel" "$headers" "$release" ;;
	esac
done
finish
