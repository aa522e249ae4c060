#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# probe.sh OUT SYMVERS PROBE.c... -- COMPILER FLAGS...
#
# Compiles each probe and writes "#define HAVE_NAME 0|1" to OUT. Two probes
# guard the guard: control_good must compile and control_bad must not, or else
# the compiler call itself is broken and every answer would be a lie.
set -eu

out=$1 symvers=$2
shift 2
probes=
while [ "$1" != -- ]; do
	probes="$probes $1"
	shift
done
shift

tmp=$out.tmp.$$
trap 'rm -f "$tmp" "$tmp.o" "$tmp.log"' EXIT

die() {
	echo "gro_opt: $*" >&2
	[ ! -s "$tmp.log" ] || tail -n 20 "$tmp.log" >&2
	exit 1
}

compiles() {
	src=$1
	shift
	"$@" -Wno-error -Werror=implicit-function-declaration \
		-Werror=incompatible-pointer-types -Werror=int-conversion \
		-c -o "$tmp.o" "$src" >"$tmp.log" 2>&1
}

# What we link against has to be exported; a header's prototype is no proof.
needed='dev_add_offload dev_remove_offload gro_find_receive_by_type
	gro_find_complete_by_type inet_offloads inet6_offloads
	__udp4_lib_lookup __udp6_lib_lookup
	tcp_gro_complete __skb_gro_checksum_complete'
if [ -s "$symvers" ]; then
	for sym in $needed; do
		grep -q "	$sym	" "$symvers" || die \
			"this kernel does not export $sym, which the module cannot do without; kernels from 6.1 to 7.3 as Debian builds them have it"
	done
else
	echo "gro_opt: $symvers is missing, exported symbols are not checked" >&2
fi

# What we call where it is exported: HAVE_EXPORT_x.
optional='udp_gro_receive'

echo "/* Made by compat/probe.sh; do not edit. */" >"$tmp"
for sym in $optional; do
	answer=0
	if grep -q "	$sym	" "$symvers" 2>/dev/null; then answer=1; fi
	echo "#define HAVE_EXPORT_$(echo "$sym" | tr '[:lower:]' '[:upper:]') $answer" >>"$tmp"
done
for probe in $probes; do
	name=$(basename "$probe" .c)
	if compiles "$probe" "$@"; then
		answer=1
	else
		answer=0
	fi
	case $name in
	control_good)
		[ $answer = 1 ] || die "the probe that must compile does not; are the kernel headers complete? The compiler said:"
		;;
	control_bad)
		[ $answer = 0 ] || die "the probe that must fail compiles, so probes prove nothing with this compiler"
		;;
	*)
		macro=$(echo "$name" | tr '[:lower:]' '[:upper:]')
		echo "#define $macro $answer" >>"$tmp"
		;;
	esac
done
mv "$tmp" "$out"
