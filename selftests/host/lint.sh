#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Usage: selftests/host/lint.sh
#
# What can be said about the sources without running them: the kernel's
# checkpatch --strict, a build for 6.12 with sparse and W=1, shellcheck, man's
# own warnings, codespell where it is installed, and this project's rules.
# TAP on stdout.

# Most functions are called by check().
# shellcheck disable=SC2317
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"

MAX_FUNCTION=100
KERNEL=6.12

# Programs, unlike modules, have no kernel types, attributes and helpers.
PROGRAMS='^(bench|tools|vm|selftests)/'
MODULES='^(module|include|selftests/gro_lab)/'
# What lists of X() entries cannot be without.
IGNORE=COMPLEX_MACRO,MACRO_ARG_REUSE,TRAILING_SEMICOLON,BRACKET_SPACE
# This speaks to the kernel's MAINTAINERS file.
IGNORE+=,FILE_PATH_CHANGES
# Tracepoints look as all of the kernel's do.
EVENTS='/trace\.h$'
IGNORE_EVENTS=PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
IGNORE_PROGRAMS=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE
IGNORE_PROGRAMS+=,VOLATILE,EMBEDDED_FUNCTION_NAME,STRCPY,REPEATED_WORD

files_named() {
	list_tree | grep -z -E "$1" | sort -z
}

# shell_files SCRIPTS|LIBRARIES: those that can be run, or those to be sourced
shell_files() {
	local file first
	list_tree | while IFS= read -r -d '' file; do
		first=
		IFS= read -r first <"$REPO/$file" 2>/dev/null || true
		case $1:$file:$first in
		SCRIPTS:*:'#!'*[/\ ]bash | SCRIPTS:*:'#!'*/sh) ;;
		LIBRARIES:*.sh:'#!'*) continue ;;
		LIBRARIES:*.sh:*) ;;
		*) continue ;;
		esac
		printf '%s\0' "$file"
	done
}

# --- others' tools -----------------------------------------------------------

# Without a git folder it does not start spdxcheck.py for each file, which
# wants another package; no_licence() looks instead.
check_patch() {
	local source=$1
	shift
	GIT_DIR=/nonexistent xargs -0 -r perl "$source/scripts/checkpatch.pl" \
		--root="$source" --strict --terse --no-summary --color=never \
		"$@" --file
}

check_patches() {
	local source
	source=$(answer "$KERNEL" source source)
	# It leaves a file where it runs.
	copy_tree "$tmp/patch"
	cd "$tmp/patch"
	files_named '\.[ch]$' | grep -z -E "$MODULES" | grep -z -v "$EVENTS" |
		check_patch "$source" --ignore "$IGNORE" || true
	files_named "$EVENTS" |
		check_patch "$source" --ignore "$IGNORE,$IGNORE_EVENTS" || true
	files_named '\.[ch]$' | grep -z -E "$PROGRAMS" | grep -z -v -E "$MODULES" |
		check_patch "$source" --ignore "$IGNORE,$IGNORE_PROGRAMS" || true
}

# What gcc and sparse say of files of ours, which they name from the folder or
# from the root; kernel headers are not for us to mend.
warnings_of() {
	grep -E '(warning|error): ' "$1" |
		grep -E "(^|$tmp/tree/|\./)(module|selftests)/" | sort -u || true
}

sparse() {
	local headers
	headers=$(answer "$KERNEL" headers headers)
	copy_tree "$tmp/tree"
	make -j"$(nproc)" -C "$headers" "M=$tmp/tree" C=2 W=1 modules \
		>"$tmp/log" 2>&1 || {
		grep -E 'error|\*\*\*' "$tmp/log"
		return 1
	}
	contains '^ +CHECK +' "$tmp/log"
	same "$(warnings_of "$tmp/log")" ""
}

# A mistake of each kind has to be found, or else the silence means nothing.
sparse_sees() {
	local headers
	headers=$(answer "$KERNEL" headers headers)
	cat >>"$tmp/tree/module/main.c" <<-'END'
		int gro_opt_lint(__be16 port)
		{
			return port + 1;
		}
	END
	make -j"$(nproc)" -C "$headers" "M=$tmp/tree" C=1 W=1 modules \
		>"$tmp/log" 2>&1
	warnings_of "$tmp/log" >"$tmp/found"
	contains 'restricted __be16' "$tmp/found"
	contains 'no previous prototype' "$tmp/found"
}

# A library does not show who sets what it uses, who uses what it sets, and
# that whoever sources it has errexit on.
shell_check() {
	shell_files SCRIPTS | xargs -0 shellcheck --external-sources
	shell_files LIBRARIES | xargs -0 shellcheck --external-sources \
		--exclude SC2034,SC2154,SC2164
}

man_pages() {
	local page
	files_named '^Documentation/.*\.[1-8]$' | while IFS= read -r -d '' page
	do
		LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" \
			2>&1 >/dev/null | sed "s|^|$page: |"
	done >"$tmp/man"
	same "$(cat "$tmp/man")" ""
}

spelling() {
	list_tree | grep -z -v '^COPYING$' | xargs -0 codespell
}

# --- the project's rules -----------------------------------------------------

one_version() {
	local version
	version=$(cat VERSION)
	same "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' dkms.conf)" "$version"
	grep -qF "$version" CHANGES || {
		echo "CHANGES says nothing of $version"
		return 1
	}
}

# The range is in dkms.conf twice, as a pattern and as two limits.
kernel_range() {
	local release pattern
	pattern=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p' dkms.conf)
	for release in 6.1.0-57-amd64 6.1.192 6.12.117+deb12-rt-amd64 6.19.8 \
		7.0.0-rc1 7.3.4+deb13-amd64 7.3; do
		[[ $release =~ $pattern ]] || echo "leaves out $release"
	done
	for release in 5.10.0-30-amd64 6.0.12 6.20.1 7.30.1 7.4.0 16.1.0 8.0.0
	do
		[[ ! $release =~ $pattern ]] || echo "lets in $release"
	done
}

# Only compat may ask which kernel this is, and even there it better not.
version_checks() {
	files_named '\.[ch]$' | grep -z -v '/compat/' |
		xargs -0 grep -nE 'KERNEL_VERSION|LINUX_VERSION|RHEL_RELEASE'
}

long_functions() {
	files_named '\.[ch]$' | xargs -0 awk -v max="$MAX_FUNCTION" '
		FNR == 1 { start = 0 }
		/^{/ { start = FNR }
		/^}/ && start {
			if (FNR - start - 1 > max)
				print FILENAME ":" start ": " FNR - start - 1 " lines"
			start = 0
		}'
}

no_licence() {
	files_named '\.([chsm]|sh|mk|py|rules|conf|service)$|(^|/)(Makefile|Kbuild)$' |
		xargs -0 awk '
		FNR == 1 { found = 0 }
		/SPDX-License-Identifier: / { found = 1 }
		FNR == 2 { if (!found) print FILENAME; nextfile }'
}

# Finding nothing is what passes, so that grep's exit code is no answer.
finds_nothing() {
	"$@" >"$tmp/found" 2>&1 || true
	[ ! -s "$tmp/found" ] || {
		cat "$tmp/found"
		return 1
	}
}

# check, or a skip where TOOL is not installed
check_by() {
	local tool=$1
	shift
	if command -v "$tool" >/dev/null; then
		check "$@"
	else
		skip "$1" "$tool is not installed"
	fi
}

case ${1:-} in
--help | -h) help ;;
esac
need make gcc-12 sparse shellcheck perl
cd "$REPO"
mkdir -p build
tmp=$(mktemp -d "$REPO/build/host.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
CHECK_LINES=200
check "checkpatch --strict" finds_nothing check_patches
check "no warning of sparse or gcc W=1 for $KERNEL" sparse
check "sparse and W=1 would have found one" sparse_sees
check "shellcheck" finds_nothing shell_check
check_by man "the man pages render" man_pages
check_by codespell "codespell" spelling
check "VERSION, dkms.conf and CHANGES agree" one_version
check "dkms.conf's pattern is 6.1 to 7.3" finds_nothing kernel_range
check "no kernel version outside of compat/" finds_nothing version_checks
check "no function over $MAX_FUNCTION lines" finds_nothing long_functions
check "each source file names its licence" finds_nothing no_licence
finish
