#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Switching under traffic: features, devices and states in random order, one
# writer and several, while TCP streams over IPv4, IPv6 and IPv6 with extension
# headers run. Every byte has to arrive. SEED=n repeats an order.
#
#	namespace A: a0 ---- b0 :namespace B, GRO

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"


start_streams() {
	local options i=0
	streams=()
	for options in 10.0.0.2 fd00::2 "-d fd00::2" "-h fd00::2"; do
		i=$((i + 1))
		# shellcheck disable=SC2086
		stream 10 "$i" $options
	done
	sleep 0.3
}

under_traffic() {
	local status=0
	start_streams
	"$@" || status=1
	streams_arrive && return "$status"
}

random_state() {
	set_state "$(one_of off passthrough on on)"
}

random_feature() {
	set_feature "$(one_of "${FEATURES[@]}")" "$(one_of 0 1)"
}

random_devices() {
	set_devices "$(one_of '*' b0 'b*' a0 'nix a? b0')"
}

# random TIMES COMMAND...
random() {
	local times=$1 i what
	shift
	for ((i = 0; i < times; i++)); do
		what=$(one_of "$@")
		$what || return
	done
}

test_states() {
	fresh && under_traffic random 30 random_state
}

test_features() {
	fresh && set_state on && under_traffic random 50 random_feature
}

test_devices() {
	fresh && set_state on && under_traffic random 30 random_devices
}

test_all_at_random() {
	fresh && set_state on && under_traffic random 60 random_state \
		random_feature random_devices
}

# Writers that do not know of each other: each write has to succeed, and the
# number of changes may not exceed that of the writes.
several_writers() {
	local pid status=0 pids=()
	random 20 random_state &
	pids+=("$!")
	random 20 random_feature &
	pids+=("$!")
	random 20 random_devices &
	pids+=("$!")
	random 20 random_state random_feature &
	pids+=("$!")
	for pid in "${pids[@]}"; do wait "$pid" || status=1; done
	return "$status"
}

test_several_writers() {
	local seq
	fresh && set_state on || return
	seq=$(seq_now)
	under_traffic several_writers || return
	if [ $(($(seq_now) - seq)) -gt 80 ]; then
		echo "80 writes made $(($(seq_now) - seq)) changes"
		return 1
	fi
}

# GRO itself goes off and on below it: the device flushes what is held.
toggle_gro() {
	local i
	for ((i = 0; i < 6; i++)); do
		offload "$B" b0 gro off && offload "$B" b0 gro on || return
	done
}

test_gro_of_the_device() {
	fresh && set_state on && under_traffic toggle_gro
}

# What is enabled, active and in the tables agrees in the end.
test_afterwards_all_is_well() {
	local feature
	fresh && random 20 random_state random_feature random_devices || return
	for feature in "${FEATURES[@]}"; do set_feature "$feature" 1 || return; done
	set_devices '*' && set_state on || return
	for feature in "${FEATURES[@]}"; do
		expect "$feature active" "$(cat "$GRO_OPT/features/$feature/active")" 1 ||
			return
	done
	under_traffic sleep 0.5 && [ "$(counter tcp4 merged)" -gt 0 ] &&
		[ "$(counter exthdr walked)" -gt 0 ] && set_state off && tables_are_stock
}

unload || skip_all "gro_opt is loaded and does not let go"
remember_tables
if ! pair tso off || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi
RANDOM=${SEED:=$((($(date +%s) ^ $$) & 32767))}
note "SEED=$SEED"

run_tests states features devices all_at_random several_writers \
	gro_of_the_device afterwards_all_is_well
