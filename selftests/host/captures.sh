#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Usage: selftests/host/captures.sh [--long] [KERNEL...]
#
# Real captures through stock, passthrough, on, and both by turns, on each KERNEL
# (6.1 6.12 7.3): as they are and with more headers in front. The captures are
# those of $GRO_OPT_PCAPS, or of ../shared/pcaps, or else of a Debian package.
# With --long all of them in bursts of 1, 8, 64 and 300 with every kind of
# headers, which takes an hour, else one burst size and less. TAP; the last line
# is "N passed, N failed".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"

long=no kernels=()
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) help ;;
	--long) long=yes ;;
	-*) usage_error "no such option: $1" "there is --long" ;;
	*) kernels+=("$1") ;;
	esac
	shift
done
[ "${#kernels[@]}" -gt 0 ] || kernels=(6.1 6.12 7.3)
pcaps=${GRO_OPT_PCAPS:-$REPO/../shared/pcaps}
[ -n "$(find "$pcaps" -name '*.pcap*' 2>/dev/null | head -n 1)" ] ||
	pcaps=$("$VM/captures")

# Something has to have merged: else nothing was compared that matters.
compare() {
	local log=$REPO/build/check/captures-$1-${2// /+}.log
	make -s -C "$REPO" compare PCAPS="$pcaps" KERNEL="$1" WRAP="$2" \
		BURST="$3" CSUM="$4" LIMIT="$5" >"$log" 2>&1 || {
		grep -v ' different=0$' "$log" | tail -n 40
		return 1
	}
	grep -E "^RESULT compare kernel=$1 packets=[1-9][0-9]* .* merged=[1-9][0-9]* different=0$" \
		"$log" >>"$REPO/build/check/captures.results"
}

# plan: TITLE, then what compare wants to know, of each kernel
plan() {
	local wrap wraps="vlan qinq ipip sit ip6ip6 4in6 gre vxlan geneve hbh dstopt routing"
	if [ "$long" = yes ]; then
		echo "captures, all bursts|none|||"
		for wrap in $wraps; do echo "captures in $wrap|$wrap|||"; done
	else
		echo "captures|none|64||"
		echo "captures in $wraps|$wraps|64|trusted|250"
	fi
}

# All of a kernel's, for a guest keeps one processor busy, and there are more.
compare_all() {
	local title wrap burst csum limit status
	while IFS='|' read -r title wrap burst csum limit; do
		status=0
		compare "$1" "$wrap" "$burst" "$csum" "$limit" \
			>"$tmp/$1-$title.out" </dev/null || status=$?
		echo "$status" >"$tmp/$1-$title.status"
	done < <(plan)
}

compared() {
	cat "$tmp/$1-$2.out"
	return "$(cat "$tmp/$1-$2.status" || echo 1)"
}

mkdir -p "$REPO/build/check"
: >"$REPO/build/check/captures.results"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo "TAP version 13"
declare -A pids
for kernel in "${kernels[@]}"; do
	compare_all "$kernel" &
	pids[$kernel]=$!
done
for kernel in "${kernels[@]}"; do
	wait "${pids[$kernel]}" || true
	while IFS='|' read -r title _; do
		check "$kernel: $title" compared "$kernel" "$title"
	done < <(plan)
done
sed 's/^/# /' "$REPO/build/check/captures.results"
finish
