# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts of uml/ share beside vm/lib.sh. Sourced, never run.

UML=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$UML/../vm/lib.sh"

# Used by the scripts that source this file.
# shellcheck disable=SC2034
FLAVOURS=(debug plain)

check_flavour() {
	[[ " ${FLAVOURS[*]} " == *" $1 "* ]] ||
		usage_error "no such flavour: $1" "there are: ${FLAVOURS[*]}"
}

check_kernel() {
	[[ $1 =~ ^[0-9]+\.[0-9]+$ ]] ||
		usage_error "no such kernel: $1" \
			"it is not VERSION, as 6.12: Debian's flavours have one source"
}

# answer KEY <<<"$answers": from key=value lines.
answer() {
	sed -n "s/^$1=//p"
}
