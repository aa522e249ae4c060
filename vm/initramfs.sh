# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Fills the folder $stage that becomes a guest's initramfs.  Sourced by run,
# which sets the variables it only reads.
# shellcheck disable=SC2154

# Where a path of this machine lies in the guest, whose /bin, /sbin and /lib*
# are links into /usr.
guest_path() {
	case $1 in
	/bin/* | /sbin/* | /lib/* | /lib64/*) echo "$stage/usr$1" ;;
	*) echo "$stage/${1#/}" ;;
	esac
}

# put SRC GUEST-PATH: a file, or a folder with all that is in it.
put() {
	local to
	to=$(guest_path "$2")
	mkdir -p "$(dirname "$to")"
	rm -rf "$to"
	cp -rL --preserve=mode "$1" "$to"
}

# What a program needs to start: shared libraries, or its interpreter.
put_needs() {
	local file=$1 lib first
	while read -r lib; do
		[ -e "$(guest_path "$lib")" ] || put "$lib" "$lib"
	done < <(ldd "$file" 2>/dev/null | grep -o '/[^ ]*' || true)
	IFS= read -r first <"$file" 2>/dev/null || true
	case $first in
	'#!'*) put_interpreter "${first#\#!}" ;;
	esac
} 2>/dev/null

# The guest has an sh and an env anyway.
put_interpreter() {
	local words
	read -ra words <<<"$1"
	case ${words[0]} in
	*/env) put_program "${words[1]}" ;;
	*/sh) ;;
	*) put_program "${words[0]}" ;;
	esac
}

put_program() {
	local path
	path=$(type -P "$1") ||
		die "cannot put $1 into the guest" "this machine has no such program" \
			"install it, or leave out --prog $1"
	path=$(realpath -s "$path")
	put "$path" "$path"
	put_needs "$path"
}

# SRC[:DEST]; without DEST beside the job.
put_file() {
	local src=${1%%:*} dest=/job/
	if [ "$src" != "$1" ]; then dest=${1#*:}; fi
	[ -e "$src" ] ||
		die "cannot put $src into the guest" "there is no such file" \
			"check the --file options"
	case $dest in
	*/) dest+=$(basename "$src") ;;
	esac
	case $dest in
	/*) ;;
	*) dest=/job/$dest ;;
	esac
	put "$src" "$dest"
	if [ -f "$src" ] && [ -x "$src" ]; then put_needs "$src"; fi
}

# One of the kernel's modules and those it depends on, uncompressed: not every
# kernel can load compressed ones, and it costs the guest's time.
put_module() {
	local kind file to list
	list=$(modprobe -d "$modules" -S "$release" --show-depends \
		--ignore-install "$1") ||
		die "kernel $release has no module $1" "modprobe did not find it" \
			"check the name: find $modules/lib/modules -name '$1.ko*'"
	while read -r kind file _; do
		[ "$kind" = insmod ] || continue
		to=$stage/usr/lib/modules/$release/${file#*/lib/modules/"$release"/}
		case $file in
		*.xz) unpack_to "${to%.xz}" xz "$file" ;;
		*.zst) unpack_to "${to%.zst}" zstd "$file" ;;
		*) unpack_to "$to" cat "$file" ;;
		esac
	done <<<"$list"
}

unpack_to() {
	if [ -e "$1" ]; then return; fi
	mkdir -p "$(dirname "$1")"
	case $2 in
	cat) cp "$3" "$1" ;;
	*) "$2" -dcq "$3" >"$1" ;;
	esac
}

# A module of ours: for modprobe like any other, with what it depends on.
put_ko() {
	local need extra=$stage/usr/lib/modules/$release/extra
	[ -e "$1" ] ||
		die "cannot put $1 into the guest" "there is no such module" \
			"build it: $VM/build $kernel"
	mkdir -p "$extra"
	cp "$1" "$extra/"
	for need in $(modinfo -F depends "$1" | tr ',' ' '); do
		case " ${kos[*]##*/} " in
		*" $need.ko "* | *" ${need//_/-}.ko "*) ;;
		*) put_module "$need" ;;
		esac
	done
}

# Also for the guest's own modprobe, which the kernel calls by itself.
index_modules() {
	local dir=$stage/usr/lib/modules/$release
	mkdir -p "$dir"
	cp "$modules/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} \
		"$dir/"
	depmod -b "$stage" "$release"
}

# Programs that start others, like sh.  Busybox's would start its own applets
# whatever --prog put there.
STARTERS=(env timeout nice nohup setsid xargs find chroot unshare nsenter taskset)

put_base() {
	local dir program
	for dir in bin sbin lib lib64; do
		mkdir -p "$stage/usr/$dir"
		ln -s "usr/$dir" "$stage/$dir"
	done
	mkdir -p "$stage"/{dev,proc,sys,tmp,run,root,etc,job,out,var}
	ln -s ../run "$stage/var/run"
	cp "$(type -P busybox)" "$stage/usr/bin/busybox"
	put "$(type -P dash)" /bin/sh
	put_needs "$(type -P dash)"
	for program in "${STARTERS[@]}"; do put_program "$program"; done
	ln -s ../bin/busybox "$stage/usr/sbin/modprobe"
	install -m 755 "$VM/init" "$stage/init"
	echo root:x:0:0:root:/root:/bin/sh >"$stage/etc/passwd"
	echo root:x:0: >"$stage/etc/group"
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$stage/etc/hosts"
}

# The same files give the same bytes, so that counts taken in a guest do not
# depend on when its initramfs was made.  Not compressed: the host's copy is
# faster than the guest's unpacking.
pack() {
	(
		cd "$stage" || exit
		find . -exec touch -h -d @0 {} +
		find . -print0 | LC_ALL=C sort -z |
			cpio -0 -o -H newc -R 0:0 --reproducible --quiet
	) >"$1"
}
