#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Loading with right and wrong parameters, what the log says of it, unloading,
# and that neither a failed load nor an unloaded module leaves anything.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

nothing_left() {
	local path status=0
	for path in /sys/module/gro_opt "$GRO_OPT" "$DEBUG"; do
		if [ -e "$path" ]; then
			echo "$path is still there"
			status=1
		fi
	done
	tables_are_stock && return "$status"
}

# load_wrong PARAMETERS ERRNO REGEX: fails so, says so, leaves nothing.
load_wrong() {
	expect "load $1" "$(aid load "$KO" "$1")" "$2" && log_says "$3" &&
		nothing_left
}

# enabled: those of the features that are, in the module's order.
enabled() {
	local feature list=
	for feature in "${FEATURES[@]}"; do
		if [ "$(cat "$GRO_OPT/features/$feature/enabled")" = 1 ]; then
			list+=" $feature"
		fi
	done
	echo "${list# }"
}

loads_with() {
	unload && load "$1" && expect enabled "$(enabled)" "$2"
}

test_default_is_off() {
	load && expect state "$(state)" off && expect enabled "$(enabled)" \
		"${FEATURES[*]}" && expect enable_seq "$(seq_now)" 0
}

test_line_in_the_log() {
	local version
	fresh || return
	version=$(cat "$GRO_OPT/version")
	log_says "version ${version//./\\.}, kernel $(uname -r | sed 's/[.+]/\\&/g'), state off, features: ${FEATURES[*]}$" &&
		expect "module version" "$(cat /sys/module/gro_opt/version)" "$version"
}

# Nothing is missing on the kernels this is made for.
test_selfcheck_agrees() {
	local feature
	fresh || return
	for feature in "${FEATURES[@]}"; do
		expect "reason of $feature" \
			"$(cat "$GRO_OPT/features/$feature/reason")" ok || return
	done
}

test_parameters_are_read_only() {
	local name
	unload && load state=off features=tcp4,tcp6 selfcheck=1 || return
	for name in state features selfcheck; do
		expect "mode of $name" \
			"$(stat -c %a "/sys/module/gro_opt/parameters/$name")" 444 || return
	done
	expect state "$(cat /sys/module/gro_opt/parameters/state)" off &&
		expect features "$(cat /sys/module/gro_opt/parameters/features)" tcp4,tcp6 &&
		expect selfcheck "$(cat /sys/module/gro_opt/parameters/selfcheck)" Y
}

test_second_load_is_refused() {
	fresh && expect "second load" "$(aid load "$KO" "")" EEXIST &&
		expect state "$(state)" off
}

test_features_none() {
	loads_with features= ""
}

test_features_one() {
	loads_with features=tcp6 tcp6
}

test_features_two() {
	loads_with features=exthdr,tcp4 "tcp4 exthdr"
}

test_features_all() {
	loads_with features=all "${FEATURES[*]}"
}

test_log_names_disabled_features() {
	loads_with features=tcp6 tcp6 &&
		log_says 'version .*features: tcp4 \(disabled\) tcp6 exthdr \(disabled\)'
}

test_selfcheck_0() {
	unload && load selfcheck=0 state=on && expect state "$(state)" on &&
		expect enabled "$(enabled)" "${FEATURES[*]}"
}

test_state_passthrough() {
	unload && load state=passthrough && expect state "$(state)" passthrough &&
		expect enable_seq "$(seq_now)" 1 && log_says 'version .*state passthrough'
}

test_state_on() {
	unload && load state=on && expect state "$(state)" on &&
		expect active "$(cat "$GRO_OPT/features/tcp4/active")" 1
}

# delete_module() of a module in use is EWOULDBLOCK, which the tools call busy.
test_unload_is_refused_while_hooked() {
	local state
	fresh || return
	for state in passthrough on; do
		set_state "$state" || return
		expect_like "unload in state $state" "$(aid unload gro_opt)" 'EAGAIN|EBUSY' &&
			log_says "state .* -> $state.*rmmod answers busy" &&
			expect state "$(state)" "$state" || return
	done
	set_state off && expect unload "$(aid unload gro_opt)" OK && nothing_left
}

test_state_unknown() {
	unload && load_wrong state=bogus EINVAL \
		'state=bogus: must be off, passthrough or on'
}

# What can be read is not all that can be written.
test_state_faulted() {
	unload && load_wrong state=faulted EINVAL \
		'state=faulted: must be off, passthrough or on'
}

test_state_empty() {
	unload && load_wrong state= EINVAL 'state=: must be off, passthrough or on'
}

test_feature_unknown() {
	unload && load_wrong features=tcp4,nope EINVAL \
		"features=tcp4,nope: there is no feature 'nope'; known are tcp4, tcp6, exthdr, udp4, udp6, encap, all"
}

test_selfcheck_unknown() {
	local got
	unload || return
	got=$(aid load "$KO" selfcheck=perhaps)
	expect load "$got" EINVAL && nothing_left
}

# The kernel's own way with parameters: ignored, but not silently.
test_unknown_parameter() {
	unload && load nonsense=1 && log_says "unknown parameter 'nonsense' ignored"
}

# Taken by modprobe from the kernel command line, which vm/run can set.
test_boot_switch() {
	local want
	want=$(sed -n 's/.*gro_opt\.state=\([a-z]*\).*/\1/p' /proc/cmdline)
	if [ -z "$want" ]; then
		echo "no gro_opt.state= on the kernel command line"
		return "$KSFT_SKIP"
	fi
	unload && modprobe gro_opt && expect state "$(state)" "$want" || return
	unload && modprobe gro_opt state=on &&
		expect "state with an explicit argument" "$(state)" on
}

test_load_is_refused_behind_a_module() {
	if ! modprobe gro_lab 2>/dev/null; then
		echo "no module gro_lab"
		return "$KSFT_SKIP"
	fi
	unload || return
	expect "load while gro_lab measures" \
		"$(aid measured aid load "$KO" "")" EBUSY &&
		log_says 'IPv[46] packets are served by .*\[gro_lab\] and not by the kernel itself; unload that module first' &&
		nothing_left && load
}

test_unload_says_so() {
	fresh && unload && log_says unloaded && nothing_left
}

test_again_and_again() {
	local i
	unload || return
	for i in 1 2 3 4 5 6 7 8; do
		load state=on && unload || return
	done
	nothing_left
}

unload || skip_all "gro_opt is loaded and does not let go"
remember_tables

run_tests default_is_off line_in_the_log selfcheck_agrees \
	parameters_are_read_only second_load_is_refused features_none features_one \
	features_two features_all log_names_disabled_features selfcheck_0 \
	state_passthrough state_on unload_is_refused_while_hooked state_unknown \
	state_faulted state_empty feature_unknown selfcheck_unknown \
	unknown_parameter boot_switch load_is_refused_behind_a_module \
	unload_says_so again_and_again
