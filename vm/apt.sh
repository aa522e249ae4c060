# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# An apt of our own for a suite that this machine does not run: sources, state
# and cache lie in our cache folder, the mirror is this machine's, and its own
# apt is only read.  Sourced after lib.sh.

# The suites that make up one of ours, as ARCHIVE:SUITE.
suite_parts() {
	local code
	code=$(suite_codename "$1")
	echo "main:$code security:$code-security"
	if [ "$code" != "$1" ]; then echo "main:$1"; fi
}

# What apt has for Debian's component main: "URI RELEASE SIGNED_BY" lines.
# Third parties use other release names or other components.
machine_sources() {
	local debian='(old)*stable|testing|unstable|bullseye|bookworm|trixie|forky|sid'
	# apt's fields, not the shell's
	# shellcheck disable=SC2016
	apt-get indextargets --format \
		'$(REPO_URI) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' \
		'Created-By: Packages' |
		awk -v want="^($debian)(-updates|-security|-backports)?\$" \
			'$3 == "main" && $2 ~ want { print $1, $2, $4 }'
}

mirror() {
	local found
	case $1 in
	main) found=${GRO_OPT_MIRROR:-$(machine_sources |
		awk '$2 !~ /-security$/ && !n++ { print $1 }')} ;;
	security) found=${GRO_OPT_MIRROR_SECURITY:-$(machine_sources |
		awk '$2 ~ /-security$/ && !n++ { print $1 }')} ;;
	esac
	[ -n "$found" ] ||
		die "no Debian archive ($1) to fetch from" \
			"this machine's apt configuration names none" \
			"set GRO_OPT_MIRROR and GRO_OPT_MIRROR_SECURITY to URLs of a mirror"
	echo "$found"
}

keyring() {
	local file
	for file in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
		if [ -r "$file" ]; then
			echo "$file"
			return
		fi
	done
	die "cannot check the packages' signatures" \
		"Debian's archive keyring is missing" \
		"install debian-archive-keyring"
}

write_sources() {
	local part signed uri
	signed=$(keyring)
	for part in $(suite_parts "$1"); do
		uri=$(mirror "${part%%:*}")
		echo "deb [signed-by=$signed] $uri ${part#*:} main"
	done
}

# apt_at TOOL ARGS...: apt-TOOL for the suite in $SUITE.
apt_at() {
	local tool=$1 base=$CACHE/apt/$SUITE
	shift
	"apt-$tool" -o "Dir::State=$base/state" -o "Dir::Cache=$base/cache" \
		-o "Dir::State::status=$base/status" \
		-o "Dir::Etc::sourcelist=$base/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o "APT::Default-Release=$SUITE" -o APT::Sandbox::User=root \
		-o APT::Architecture=amd64 -o APT::Architectures::=amd64 \
		-o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Asks the mirror for the package lists.  Old ones still serve when it does
# not answer: nothing here needs the newest kernel to be right.
apt_refresh() {
	local base=$CACHE/apt/$SUITE
	mkdir -p "$base/state/lists/partial" "$base/cache/archives/partial"
	: >>"$base/status"
	write_sources "$SUITE" >"$base/sources.list"
	say "asking the mirror for $SUITE's packages"
	if apt_at get -qq -o APT::Update::Error-Mode=any update >&2; then
		touch "$base/stamp"
	elif [ -e "$base/stamp" ]; then
		say "the mirror does not answer, going on with yesterday's lists"
	else
		die "no package lists for $SUITE" "apt-get update failed, see above" \
			"check that this machine's own 'apt-get update' works"
	fi
}

# apt_get_debs DIR PACKAGE...
apt_get_debs() {
	local dir=$1
	shift
	(cd "$dir" && apt_at get -qq download "$@") >&2 ||
		die "could not download $*" "apt-get download failed, see above" \
			"repeat with --update: the mirror may have newer ones"
}
