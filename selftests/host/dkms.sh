#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Usage: selftests/host/dkms.sh
#
# make dkms / dkms-remove and make install / uninstall in a Debian 12 root with
# the headers of 6.1 and 6.12 side by side, and in a Debian 13 root, whose dkms
# is another, with those of 7.3. After removal the file system is what it was
# before. TAP on stdout.
#
# The roots are made once, in the cache. Each run works on an overlay of them
# whose upper half is in memory; all that is mounted is mounted in a mount
# namespace of this run and gone with it.

# Most functions are called by check().
# shellcheck disable=SC2317
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"
# shellcheck source-path=SCRIPTDIR/../../vm
. "$VM/apt.sh"

VERSION=$(cat "$REPO/VERSION")

# --- the roots ---------------------------------------------------------------

in_root() {
	chroot "$root" env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
		HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

# make_root12 DIR RELEASE...: with the headers of these releases
make_root12() {
	local dir=$1 log=$CACHE/root/dkms.log
	if [ -d "$dir" ]; then return; fi
	shift
	say "making a Debian 12 root with dkms, two minutes or so"
	mkdir -p "$CACHE/root"
	rm -rf --one-file-system "$CACHE"/root/dkms_*
	root=$(mktemp -d "$CACHE/root/dkms_tmp.XXXXXX")
	chmod 755 "$root"
	fill_root12 "$@" >"$log" 2>&1 ||
		die "could not make the Debian 12 root" \
			"debootstrap or apt failed: $(tail -n1 "$log")" \
			"read $log and repeat"
	mv -T "$root" "$dir"
}

# Called where errexit is off.
fill_root12() {
	local release proxy=
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	if [ -n "$proxy" ]; then export http_proxy=$proxy; fi
	debootstrap --variant=minbase \
		--include=dkms,make,gcc,libc6-dev,kmod,openssl \
		--keyring="$(keyring)" bookworm "$root" "$(mirror main)" &&
		write_sources bookworm >"$root/etc/apt/sources.list" &&
		mount -t proc proc "$root/proc" &&
		in_root "http_proxy=$proxy" apt-get -qq update &&
		in_root "http_proxy=$proxy" apt-get -qq -y \
			--no-install-recommends install "${@/#/linux-headers-}" &&
		in_root apt-get clean || return
	# As on a machine that has used depmod before.
	for release; do in_root depmod "$release" || return; done
	umount "$root/proc"
}

# overlay NAME LOWER: $root is a copy of LOWER to play with, this tree is in
# its /src, which is a file system of its own and so in no listing.
overlay() {
	local base=$tmp/$1
	mkdir "$base"
	mount -t tmpfs tmpfs "$base"
	mkdir "$base"/{upper,work,root,src}
	root=$base/root
	mount -t overlay overlay "$root" \
		-o "lowerdir=$2,upperdir=$base/upper,workdir=$base/work" ||
		return 1
	mount -t proc proc "$root/proc"
	mkdir "$root/src"
	copy_tree "$base/src"
	mount --bind "$base/src" "$root/src"
}

# Debian 13's root has no dkms and its headers lie in the cache. Its dkms takes
# a kernel without a module for one that is gone, so it gets some of its own.
prepare_root13() {
	local headers=$1 release=$2 modules
	modules=$(answer 7.3 modules image)/lib/modules/$release
	mkdir -p "$root$headers" "$root/lib/modules/$release/kernel/net"
	cp "$modules"/modules.{order,builtin,builtin.modinfo} \
		"$root/lib/modules/$release"
	cp -r "$modules/kernel/net/ipv4" "$root/lib/modules/$release/kernel/net"
	mount --bind "$headers" "$root$headers"
	mount --bind "$(realpath "$headers/../../..")" \
		"$root$(realpath "$headers/../../..")"
	ln -s "$headers" "$root/lib/modules/$release/build"
	in_root depmod "$release" 2>/dev/null
	mkdir "$tmp/debs"
	SUITE=trixie-backports apt_get_debs "$tmp/debs" dkms
	dpkg --root="$root" --force-depends --install "$tmp"/debs/dkms_*.deb
}

# --- what is looked at -------------------------------------------------------

# Every path with type, mode, owner, size, link target and checksum. Not
# listed: what is mounted (/proc, /src, Debian 13's headers); /tmp, where others
# that use the cached root may be at work; the sizes of folders, which are the
# file system's business; and the machine's own key, which dkms makes when it
# first signs any module and which is not ours to remove.
listing() {
	local known=(! -path './tmp/*' ! -path './var/lib/dkms/mok.*')
	(
		cd "$root"
		find . -xdev "${known[@]}" \
			\( -type d -printf '%y %m %U:%G %p\n' -o \
			-printf '%y %m %U:%G %s %p %l\n' \) | sort -k 4
		find . -xdev -type f "${known[@]}" -print0 | sort -z |
			xargs -0 sha256sum
	) >"$1"
}

unchanged() {
	listing "$tmp/after"
	diff -u "$tmp/before" "$tmp/after" | grep '^[-+]' || true
	cmp -s "$tmp/before" "$tmp/after"
}

# make_src ARGS...: in the root; what it says stays in $tmp/log
make_src() {
	in_root make -C /src "-j$(nproc)" "$@" >"$tmp/log" 2>&1 || {
		local status=$?
		cat "$tmp/log"
		return "$status"
	}
}

make_fails() {
	local pattern=$1
	shift
	if make_src "$@" >/dev/null; then
		echo "make succeeded"
		cat "$tmp/log"
		return 1
	fi
	contains "$pattern" "$tmp/log"
}

modules_named() {
	(cd "$root/lib/modules" && find . -name "$1.ko*" -printf '%P\n' | sort)
}

# --- DKMS --------------------------------------------------------------------

status_is() {
	local line
	line=$(in_root dkms status -m gro_opt -v "$VERSION" -k "$1")
	echo "dkms status: $line"
	[[ $line == *": $2" ]]
}

# right_module RELEASE PLACE: one module, there, for that kernel and no other,
# and the one that modprobe would take
right_module() {
	local found
	found=$(cd "$root/lib/modules/$1" && find . -name 'gro_opt.ko*')
	same "${found%.xz}" "./updates/$2/gro_opt.ko"
	same "$(in_root modinfo -k "$1" -F vermagic gro_opt | cut -d' ' -f1)" "$1"
	same "$(in_root modinfo -k "$1" -F version gro_opt)" "$VERSION"
	found=$(in_root modprobe -S "$1" --show-depends gro_opt)
	[[ $found == *"/updates/$2/gro_opt.ko"* ]] || {
		echo "modprobe would load: $found"
		return 1
	}
}

# Only what a build needs, and nothing that a build in the tree left.
source_is_clean() {
	local dir=$root/usr/src/gro_opt-$VERSION
	same "$(ls "$dir")" "$(cd "$REPO" && LC_ALL=C ls -d COPYING Kbuild \
		README.md VERSION dkms.conf include module 2>/dev/null)"
	same "$(find "$dir" -name '*.o' -o -name '*.ko' -o -name '.*.cmd' \
		-o -name '*_compat.h')" ""
	same "$(find "$dir" ! -uid 0 -o -perm /022 ! -type l)" ""
}

headers_link() {
	mkdir -p "$root/lib/modules/$1"
	ln -s "$(readlink "$root/lib/modules/$2/build")" \
		"$root/lib/modules/$1/build"
}

# Kernels outside of the range, without headers, and one that cannot build.
odd_kernels() {
	local real=$1 release
	for release in 5.10.0-99-amd64 6.0.12-amd64 7.4.1+deb13-amd64 8.1.0-amd64
	do
		headers_link "$release" "$real"
	done
	mkdir -p "$root/lib/modules/6.5.0-1-amd64/kernel"
}

excluded_are_named() {
	contains 'excluded.* 5\.10\.0-99-amd64 .*6\.0\.12-amd64' "$tmp/log"
	contains 'excluded.* 7\.4\.1\+deb13-amd64 .*8\.1\.0-amd64' "$tmp/log"
	same "$(modules_named gro_opt)" "$(cat "$tmp/first")"
}

# What a kernel package's installation calls; if it fails, so does that.
kernel_hook() {
	in_root env DEB_MAINT_PARAMS='configure ""' \
		/etc/kernel/postinst.d/dkms "$1" </dev/null
}

hook_installs() {
	in_root dkms unbuild "gro_opt/$VERSION" -k "$1"
	kernel_hook "$1"
	status_is "$1" installed
}

broken_headers() {
	local dir=$root/lib/modules/6.6.0-broken/build
	mkdir -p "$dir/include/generated"
	echo '#define UTS_RELEASE "6.6.0-broken"' \
		>"$dir/include/generated/utsrelease.h"
	printf 'all modules clean:\n\t@echo broken headers; false\n' >"$dir/Makefile"
	make_fails 'could not install for: 6\.6\.0-broken' dkms
	contains 'do:  ' "$tmp/log"
}

forget_odd_kernels() {
	rm -rf "$root"/lib/modules/{5.10.0-99,6.0.12,6.5.0-1,8.1.0}-amd64 \
		"$root/lib/modules/7.4.1+deb13-amd64" \
		"$root/lib/modules/6.6.0-broken"
}

# A changed source under the same version replaces what is installed.
changed_source() {
	local old new
	old=$(in_root modinfo -k "$1" -F description gro_opt)
	sed -i 's/^MODULE_DESCRIPTION("/&Changed: /' "$root/src/module/main.c"
	make_src dkms
	new=$(in_root modinfo -k "$1" -F description gro_opt)
	cp "$REPO/module/main.c" "$root/src/module/main.c"
	same "$new" "Changed: $old"
}

first_run() {
	local name=$1 release
	shift
	check "$name: make dkms" make_src dkms
	for release; do
		check "$name: $release is installed" status_is "$release" installed
		check "$name: $release has its own module in updates/dkms" \
			right_module "$release" dkms
	done
	modules_named gro_opt >"$tmp/first"
	check "$name: no test module is installed" \
		same "$(modules_named gro_lab)" ""
	check "$name: /usr/src holds what a build needs and no more" \
		source_is_clean
	check "$name: make install beside it is refused" make_fails \
		'make dkms-remove' install "KVER=$1"
}

# Once more, with a changed source and with kernels that cannot have it.
second_run() {
	local name=$1
	shift
	odd_kernels "$1"
	check "$name: make dkms again, with a changed source" changed_source "$1"
	check "$name: unsupported kernels are excluded and named" \
		excluded_are_named "$@"
	check "$name: so is one without headers, with what to install" contains \
		'no headers \(apt install linux-headers-.*: 6\.5\.0-1-amd64' \
		"$tmp/log"
	check "$name: an unsupported kernel's installation does not fail" \
		kernel_hook 7.4.1+deb13-amd64
	check "$name: a supported kernel's installation gets its module" \
		hook_installs "$1"
}

third_run() {
	local name=$1 release
	shift
	check "$name: a kernel that cannot build is named, make fails" \
		broken_headers
	for release; do
		check "$name: $release is installed all the same" \
			status_is "$release" installed
	done
}

removal() {
	check "$1: make dkms-remove" make_src dkms-remove
	forget_odd_kernels
	check "$1: the file system is as before" unchanged
	check "$1: make dkms-remove with nothing there" make_src dkms-remove
}

# --- without DKMS ------------------------------------------------------------

all_files_there() {
	local file
	test -s "$root/usr/local/share/doc/gro_opt/README.md"
	for file in "$REPO"/Documentation/man/*.7; do
		test -s "$root/usr/local/share/man/man7/$(basename "$file")"
	done
}

to_folder() {
	make_src install "KVER=$1" DESTDIR=/tmp/package PREFIX=/usr
	(cd "$root/tmp/package" && find . -type f) >"$tmp/files"
	contains "^\./lib/modules/${1//+/\\+}/updates/module/gro_opt\.ko" "$tmp/files"
	contains '^\./usr/share/doc/gro_opt/README\.md' "$tmp/files"
	lacks 'modules\.(dep|alias)' "$tmp/files"
	make_src uninstall DESTDIR=/tmp/package PREFIX=/usr
	same "$(find "$root/tmp/package" ! -type d)" ""
	rm -r "$root/tmp/package"
}

install_cycle() {
	local name=$1 release
	shift
	for release; do
		check "$name: make install KDIR=/lib/modules/$release/build" \
			make_src install "KDIR=/lib/modules/$release/build"
		check "$name: $release has its own module in updates" \
			right_module "$release" module
	done
	check "$name: no test module is installed" \
		same "$(modules_named gro_lab)" ""
	check "$name: documents and man pages are installed" all_files_there
	check "$name: make dkms beside it is refused" make_fails \
		'make uninstall' dkms
	check "$name: make uninstall" make_src uninstall
	check "$name: the file system is as before" unchanged
	check "$name: make install DESTDIR=" to_folder "$1"
	check "$name: the file system is as before" unchanged
	check "$name: make uninstall with nothing there" make_src uninstall
}

# --- main --------------------------------------------------------------------

debian12() {
	local first second dir
	first=$(answer 6.1 release headers)
	second=$(answer 6.12 release headers)
	dir=$CACHE/root/dkms_${first}_$second
	locked root-dkms make_root12 "$dir" "$first" "$second" >&2
	overlay 12 "$dir"
	listing "$tmp/before"
	first_run "Debian 12" "$first" "$second"
	second_run "Debian 12" "$first" "$second"
	third_run "Debian 12" "$first" "$second"
	removal "Debian 12"
	install_cycle "Debian 12" "$first" "$second"
}

debian13() {
	local headers release
	headers=$(answer 7.3 headers headers)
	release=$(answer 7.3 release headers)
	overlay 13 "$("$VM/root13")"
	prepare_root13 "$headers" "$release" >&2
	listing "$tmp/before"
	first_run "Debian 13" "$release"
	second_run "Debian 13" "$release"
	rm -rf "$root/usr/src/gro_opt-$VERSION"
	removal "Debian 13, /usr/src/gro_opt-$VERSION being gone"
	install_cycle "Debian 13" "$release"
}

case ${1:-} in
--help | -h) help ;;
esac
if [ "$(id -u)" != 0 ]; then
	skip "DKMS" "needs root"
	finish
fi
if [ "${1:-}" != --inside ]; then
	tmp=$(mktemp -d)
	trap 'rm -rf --one-file-system "$tmp"' EXIT
	unshare --mount "$0" --inside "$tmp"
	exit
fi
tmp=$2
need debootstrap dpkg tar
debian12
debian13
finish
