# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts of vm/ share: where the cache is, which kernel is which,
# how they lock and how they talk.  Sourced, never run.

# A failure inside $(...) is one as well.
shopt -s inherit_errexit

VM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Used by the scripts that source this file.
# shellcheck disable=SC2034
REPO=$(dirname "$VM")
CACHE=${GRO_OPT_CACHE:-$HOME/.cache/gro_opt}
SELF=$(basename "$0")

# Hours for which "the newest package" is taken from the cache unasked.
MAX_AGE=${GRO_OPT_MAX_AGE:-24}

say() {
	printf '%s: %s\n' "$SELF" "$*" >&2
}

# die WHAT WHY DO: what failed, why, and what to do about it.
die() {
	say "$1"
	if [ -n "${2:-}" ]; then printf '  why: %s\n' "$2" >&2; fi
	if [ -n "${3:-}" ]; then printf '  do:  %s\n' "$3" >&2; fi
	exit "${DIE_STATUS:-1}"
}

# The comment block under the SPDX line is the help text.
help() {
	sed -n '/^# SPDX/,/^$/{/^# SPDX/d;s/^# \{0,1\}//p}' "$0"
	exit 0
}

usage_error() {
	DIE_STATUS=2 die "$1" "${2:-the arguments make no sense}" \
		"see $0 --help"
}

need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null ||
			die "cannot go on without $tool" "it is not installed" \
				"run $VM/deps as root"
	done
}

# locked NAME COMMAND...: one process at a time, also between users of one
# cache.  The lock is a file of its own, so that it outlives what it guards.
# errexit is lost in a command that is tested, hence the subshell.
locked() {
	local name=$1 fd
	shift
	mkdir -p "$CACHE/lock"
	exec {fd}>"$CACHE/lock/$name"
	if ! flock -n "$fd"; then
		say "waiting for another process ($name)"
		flock "$fd"
	fi
	"$@"
	exec {fd}>&-
}

# fresh FILE: it is there and younger than MAX_AGE hours.
fresh() {
	[ -e "$1" ] && [ -n "$(find "$1" -mmin "-$((MAX_AGE * 60))")" ]
}

# --- kernels -----------------------------------------------------------------

# A kernel's name is VERSION[-FLAVOUR].  The suite that carries it also says
# whose userland its kbuild tools were linked against.
kernel_version() { echo "${1%%-*}"; }

kernel_flavour() {
	case $1 in
	*-cloud) echo cloud-amd64 ;;
	*-rt) echo rt-amd64 ;;
	*-amd64 | *[0-9]) echo amd64 ;;
	*) die "no such kernel flavour: $1" "Debian builds three of them" \
		"take VERSION, VERSION-cloud or VERSION-rt" ;;
	esac
}

kernel_suite() {
	case $(kernel_version "$1") in
	6.1 | 6.12) echo bookworm ;;
	6.12+deb13) echo trixie ;;
	[0-9]*.[0-9]*) echo trixie-backports ;;
	*) usage_error "no such kernel: $1" "it is not VERSION[-FLAVOUR]" ;;
	esac
}

suite_codename() { echo "${1%%-*}"; }
