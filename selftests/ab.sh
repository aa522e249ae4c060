#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A/B runs on live traffic: settings, what is refused meanwhile, how a run ends,
# what is counted for whom, and that all is as before afterwards. That packets
# leave GRO as stock's do meanwhile: parity.sh, mode ab.
#
#	namespace A: a0 ---- b0 :namespace B, GRO

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

AB=$GRO_OPT/ab

set_ab() {
	expect "ab/$1=$2" "$(aid write "$AB/$1" "$2")" OK
}

# settings MODE ARM_A ARM_B ROUNDS
settings() {
	set_ab mode "$1" && set_ab arm_a "$2" && set_ab arm_b "$3" &&
		set_ab rounds "$4" && set_ab slice_ms 50 && set_ab settle_ms 4 &&
		set_ab sample 1
}

run_is() {
	[[ $(cat "$AB/run") == "$1"* ]]
}

run_says() {
	expect_like ab/run "$(cat "$AB/run")" "$1"
}

begin() {
	settings "$@" && set_ab run start
}

# As if nothing had been, but for the counters; loading takes longest of all.
again() {
	{ loaded || load; } && set_state off && set_ab split_permille 500 &&
		tcp4_was=$(counter tcp4 packets) &&
		tcp4_stock_was=$(counter tcp4 packets stock) &&
		tcp6_was=$(counter tcp6 packets)
}

# Packets since then: ours, stock's.
ours() {
	echo $(($(counter tcp4 packets) - tcp4_was))
}

stocks() {
	echo $(($(counter tcp4 packets stock) - tcp4_stock_was))
}

run_ends() {
	wait_for 60 run_is "done"
}

# figure FILE ARM COLUMN [ROUND]: of result, or the sum of a column of ab_samples.
figure() {
	awk -F'\t' -v arm="$2" -v column="$3" -v round="${4:-}" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["arm"] == arm && (round == "" || $1 == round) { n += $at[column] }
	END { print n + 0 }' "$1"
}

result() {
	figure "$AB/result" "$@"
}

four_streams() {
	local to i=0
	streams=()
	for to in 10.0.0.2 fd00::2 10.0.0.2 fd00::2; do
		i=$((i + 1))
		stream 20 "$i" "$to"
	done
}

# during MODE ARM_A ARM_B ROUNDS: a run from beginning to end, with streams.
during() {
	four_streams && begin "$@" && run_ends && streams_arrive
}

# --- settings ---------------------------------------------------------------

defaults() {
	local file
	for file in mode arm_a arm_b split_permille seed slice_ms settle_ms rounds \
		sample run; do
		printf '%s=%s ' "$file" "$(cat "$AB/$file")"
	done
}

test_defaults() {
	fresh && expect defaults "$(defaults)" \
		"mode=off arm_a=passthrough arm_b=opt split_permille=500 seed=1 slice_ms=200 settle_ms=20 rounds=30 sample=64 run=idle " &&
		expect_like result "$(head -n1 "$AB/result")" $'arm\trounds\tns\tpackets\t.*' &&
		expect "rows of result" "$(wc -l <"$AB/result")" 3
}

test_settings_are_kept() {
	set_ab mode cpu && set_ab arm_a native && set_ab arm_b opt:tcp4,udp6 &&
		set_ab rounds 7 && set_ab seed 4294967295 || return
	expect mode "$(cat "$AB/mode")" cpu &&
		expect arm_a "$(cat "$AB/arm_a")" native &&
		expect arm_b "$(cat "$AB/arm_b")" opt:tcp4,udp6 &&
		expect seed "$(cat "$AB/seed")" 4294967295
}

test_bad_settings_are_refused() {
	set_ab mode off && refused "$AB/mode" both EINVAL "ab/mode: 'both' is none of" &&
		refused "$AB/arm_a" opt:tcp5 EINVAL "ab/arm_a: 'opt:tcp5' is none of" &&
		refused "$AB/arm_b" opt, EINVAL && refused "$AB/arm_b" ' ' EINVAL &&
		refused "$AB/split_permille" 1001 EINVAL "ab/split_permille: '1001' is no number from 0 to 1000" &&
		refused "$AB/slice_ms" 9 EINVAL && refused "$AB/rounds" 0 EINVAL &&
		refused "$AB/rounds" 10001 EINVAL && refused "$AB/rounds" -1 EINVAL &&
		refused "$AB/sample" 1e6 EINVAL && refused "$AB/run" go EINVAL
}

test_runs_that_cannot_be_are_refused() {
	refused "$AB/run" start EINVAL 'ab/run: mode is off' &&
		set_ab mode flow && set_ab arm_a native &&
		refused "$AB/run" start EINVAL 'ab: an arm native can be had with mode time' &&
		state_is off && tables_are_stock
}

# --- runs -------------------------------------------------------------------

# Both arms have packets, aggregates, samples, by rules that fit together.
figures_fit() {
	local arm
	for arm in a b; do
		more "arm $arm packets" "$(result "$arm" packets)" 0 &&
			more "arm $arm samples" "$(result "$arm" samples)" 0 &&
			more "arm $arm merged" "$(result "$arm" merged_frags)" 0 &&
			more "arm $arm cycles" "$(result "$arm" receive_cycles)" 0 &&
			more "arm $arm completes" "$(result "$arm" completes)" 0 &&
			more "arm $arm segments" "$(result "$arm" segments)" \
				"$(result "$arm" aggregates)" &&
			more "arm $arm packets" "$(($(result "$arm" packets) + 64))" \
				"$(result "$arm" segments)" &&
			expect "arm $arm rounds" "$(result "$arm" rounds)" "$1" &&
			more "arm $arm timed" "$(($(result "$arm" timed) + 1))" \
				"$(($(result "$arm" samples) - $(result "$arm" trimmed) - 1))" ||
			return
	done
}

# A run from off: who handled what, and all as it was.
test_by_flow() {
	again && during flow passthrough opt 4 && figures_fit 4 &&
		more "ours" "$(ours)" 0 && more "stock's" "$(stocks)" 0 &&
		expect "polls by flow" "$(result a polls)" 0 && state_is off &&
		tables_are_stock
}

test_by_time() {
	again && set_state on && during time passthrough opt 4 && figures_fit 4 &&
		more "polls" "$(result a polls)" 0 &&
		more "time of polls" "$(result b poll_ns)" 1000 && state_is on
}

test_by_cpu() {
	local arm
	again && set_state passthrough && during cpu passthrough opt 3 &&
		state_is passthrough || return
	# Halves of each round: one CPU that has all packets is in both arms.
	for arm in a b; do
		more "arm $arm packets" "$(result "$arm" packets)" 0 || return
	done
}

# Without ours in the tables nothing of ours counts, but polls do.
test_native() {
	again && during time native opt 4 || return
	expect "native packets" "$(result a packets)" 0 &&
		more "native polls" "$(result a poll_packets)" 0 &&
		more "our packets" "$(result b packets)" 0 && state_is off &&
		tables_are_stock
}

# Each arm has its own features: with TCP over IPv4 in one of them alone.
test_features_of_an_arm() {
	again && during flow opt:udp4 opt:tcp4,udp4 4 || return
	more "tcp4 of arm b" "$(ours)" 0 &&
		more "tcp4 of arm a" "$(stocks)" 0 &&
		expect tcp6 "$(counter tcp6 packets)" "$tcp6_was"
}

# The same flows, the same arms: what one run says the next one says.
test_nothing_of_an_arm_without_share() {
	again && set_ab split_permille 0 && during flow passthrough opt 3 || return
	expect "packets of arm b" "$(result b packets)" 0 &&
		more "packets of arm a" "$(result a packets)" 0 &&
		expect "ours" "$(ours)" 0
}

test_rounds_one_by_one() {
	local columns
	again && during time passthrough opt 3 || return
	expect "lines of ab_samples" "$(wc -l <"$DEBUG/ab_samples")" 7 || return
	for columns in packets polls segments receive_cycles; do
		expect "$columns of b" "$(figure "$DEBUG/ab_samples" b "$columns")" \
			"$(result b "$columns")" || return
	done
	more "aggregates in hist" "$(awk '{ n += $2 + $3 } END { print n }' \
		"$DEBUG/hist/segs_per_skb")" 0 &&
		more "samples in hist" "$(awk '{ n += $2 + $3 } END { print n }' \
			"$DEBUG/hist/cycles_per_packet")" 0
}

# planted NS: arm b takes so much longer; is that to be seen?
planted() {
	again && aid write "$DEBUG/inject/slow_ns" "$1" >/dev/null &&
		during flow opt opt 3 || return
	aid write "$DEBUG/inject/slow_ns" 0 >/dev/null
	awk -v a="$(result a receive_cycles)" -v an="$(result a timed)" \
		-v b="$(result b receive_cycles)" -v bn="$(result b timed)" '
	BEGIN {
		if (an && bn)
			printf "a %.0f, b %.0f cycles\n", a / an, b / bn
		exit !(an && bn && b / bn > 1.3 * a / an)
	}'
}

# How much is much depends on the machine; what is far too much is trimmed.
test_a_planted_difference() {
	local ns
	for ns in 300 1000 3000; do
		if planted "$ns"; then return; fi
	done
	return 1
}

# --- meanwhile --------------------------------------------------------------

test_busy() {
	again && set_state on && begin time passthrough opt 10000 || return
	refused "$GRO_OPT/state" off EBUSY 'state: an A/B run is on' &&
		refused "$GRO_OPT/features/tcp4/enabled" 0 EBUSY 'tcp4: an A/B run is on' &&
		refused "$GRO_OPT/devices" lo EBUSY 'devices: an A/B run is on' &&
		refused "$AB/mode" flow EBUSY && refused "$AB/arm_a" opt EBUSY &&
		refused "$AB/rounds" 3 EBUSY &&
		expect "start" "$(aid write "$AB/run" start)" EBUSY &&
		set_ab run stop && run_says 'aborted: stopped' && state_is on &&
		set_state off
}

test_stop_without_a_run() {
	again && set_ab run stop && run_says "aborted: stopped|done|idle"
}

test_unload() {
	again && begin flow passthrough opt 10000 &&
		expect_like "unload meanwhile" "$(aid unload gro_opt)" 'EAGAIN|EBUSY' &&
		set_ab run stop && expect unload "$(aid unload gro_opt)" OK &&
		tables_are_stock
}

# Unloaded as soon as it may be: the last step is over, or is waited for.
test_unload_at_the_end() {
	again && begin flow passthrough opt 1 || return
	while [ "$(aid unload gro_opt)" != OK ]; do
		run_is running || run_is "done" || return
	done
	tables_are_stock
}

test_devices_come_and_go() {
	local i
	again && four_streams && begin cpu passthrough opt 10000 || return
	for ((i = 0; i < 5; i++)); do
		connect "$A" x0 "$B" y0 && address "$B" y0 10.9.0.1/24 &&
			ip -n "$A" link del x0 || return
	done
	streams_arrive && run_says 'running .*' && set_ab run stop && state_is off
}

test_a_fault_ends_it() {
	again && set_state on && begin time native opt 10000 &&
		aid write "$DEBUG/inject/fault" 1 >/dev/null &&
		wait_for 10 run_is aborted && run_says 'aborted: fault' &&
		state_is faulted && refused "$AB/run" start EBUSY 'ab/run: the state is faulted' &&
		set_state off && tables_are_stock
}

test_lists_of_devices() {
	again && set_devices a0 && during flow passthrough opt 2 || return
	expect "packets of b0" "$(result b packets)" 0 && set_devices '*'
}

unload || skip_all "gro_opt is loaded and does not let go"
remember_tables
if ! pair tso off || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi

run_tests defaults settings_are_kept bad_settings_are_refused \
	runs_that_cannot_be_are_refused by_flow by_time by_cpu native \
	features_of_an_arm nothing_of_an_arm_without_share rounds_one_by_one \
	a_planted_difference busy stop_without_a_run unload unload_at_the_end \
	devices_come_and_go a_fault_ends_it lists_of_devices
