#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Usage: selftests/host/headers.sh [KERNEL...]
#
# Builds the module for Debian's cloud and rt headers of each KERNEL (6.1 6.12
# 7.3) with gcc and W=1, and with clang for 6.1 and 6.12; no warning of ours is
# allowed. TAP; the last line is "N passed, N failed".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../../vm/lib.sh"

case ${1:-} in
--help | -h) help ;;
esac
kernels=("$@")
[ $# -gt 0 ] || kernels=(6.1 6.12 7.3)
logs=$REPO/build/check
mkdir -p "$logs"
number=0 failed=0

result() {
	number=$((number + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $number - $2"
}

# builds NAME ARGS...: vm/build's, and without a warning in our files
builds() {
	local name=$1 log=$logs/headers-$1.log folder
	shift
	if ! folder=$("$VM/build" "$@" GRO_OPT_TESTS=n W=1 2>"$log"); then
		result "not ok" "$name builds"
		tail -n 10 "$log" | sed 's/^/# /'
	elif [ ! -s "$folder/module/gro_opt.ko" ]; then
		result "not ok" "$name: there is no gro_opt.ko in $folder"
	elif grep -E '(^|/)module/[a-z_/]+\.[ch]:[0-9]+:[0-9]+: warning' "$log" |
		sed 's/^/# /' | grep .; then
		result "not ok" "$name builds without a warning"
	else
		result ok "$name builds without a warning"
	fi
}

echo "TAP version 13"
for kernel in "${kernels[@]}"; do
	for flavour in cloud rt; do
		builds "$kernel-$flavour" --tag headers "$kernel-$flavour" .
	done
	# Debian 12's clang cannot be used in the root that 7.3 builds in.
	[ "$kernel" = 7.3 ] ||
		builds "$kernel-clang" --tag clang "$kernel" . CC="$VM/clang"
done
echo "1..$number"
echo "$((number - failed)) passed, $failed failed"
[ "$failed" = 0 ]
