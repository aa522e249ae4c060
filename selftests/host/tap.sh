# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests on this machine share: TAP, and a copy of the tree to work on.
# Sourced, with vm/lib.sh from here.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../../vm/lib.sh"

passed=0 failed=0 skipped=0

count() {
	echo $((passed + failed + skipped))
}

# check NAME COMMAND...: passes if that succeeds; what it said comes with a
# failure. Called outside of any condition, so errexit holds in there.
check() {
	local name=$1 out status
	shift
	set +e
	out=$(set -e; "$@" 2>&1)
	status=$?
	set -e
	if [ "$status" = 0 ]; then
		passed=$((passed + 1))
		echo "ok $(count) - $name"
	else
		failed=$((failed + 1))
		echo "not ok $(count) - $name"
		tail -n "${CHECK_LINES:-40}" <<<"${out:-exit code $status}" |
			sed 's/^/# /'
	fi
	return 0
}

skip() {
	skipped=$((skipped + 1))
	echo "ok $(count) - $1 # SKIP $2"
}

finish() {
	echo "1..$(count)"
	[ "$skipped" = 0 ] || echo "# $skipped skipped"
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] || exit 1
	[ "$passed" != 0 ] || exit 4
	exit 0
}

# Shows what it looked at if that does not match.
contains() {
	grep -qE -- "$1" "$2" || {
		echo "no line matches: $1"
		tail -n 30 "$2"
		return 1
	}
}

lacks() {
	! grep -E -- "$1" "$2"
}

same() {
	[ "$1" = "$2" ] || {
		printf 'expected: %s\ngot:      %s\n' "$2" "$1"
		return 1
	}
}

# list_tree: the files of this tree as a checkout would have them, and new
# ones; null-separated.
list_tree() {
	local file
	{
		git -C "$REPO" ls-files -z --cached --others --exclude-standard \
			--deduplicate 2>/dev/null ||
			(cd "$REPO" && find . -path ./build -prune -o -type f \
				-printf '%P\0')
	} | while IFS= read -r -d '' file; do
		[ ! -f "$REPO/$file" ] || printf '%s\0' "$file"
	done
}

copy_tree() {
	mkdir -p "$1"
	list_tree | tar -C "$REPO" -c --null -T - | tar -C "$1" -x
}

# answer KERNEL KEY WHAT: of vm/fetch
answer() {
	"$VM/fetch" "$1" "$3" | sed -n "s/^$2=//p"
}
