#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every file in /sys/kernel/gro_opt and in debugfs: mode and owner, what it says,
# right and wrong input with the exact errno and the line in the log, the sequence
# number, uevents, the list of devices, and the injected faults.
#
#	namespace A: a0, 10.0.0.1 ---- b0, 10.0.0.2 :namespace B, GRO

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# --- helpers ----------------------------------------------------------------

# files FOLDER: "MODE OWNER:GROUP NAME" for each file below it.
files() {
	(cd "$1" && find . -type f -exec stat -c '%a %U:%G %n' {} + | sed 's|\./||' | sort -k3)
}

# feature_files MODE NAME
feature_files() {
	local feature
	for feature in "${FEATURES[@]}"; do
		echo "$1 root:root features/$feature/$2"
	done
}

# changes FILE VALUE READS: is accepted, reads so, and counts as one change.
changes() {
	local seq
	seq=$(seq_now)
	expect "$1 <- $2" "$(aid write "$1" "$2")" OK &&
		expect "$1 afterwards" "$(cat "$1")" "$3" &&
		expect enable_seq "$(seq_now)" "$((seq + 1))"
}

# unchanged FILE VALUE: is accepted and is no change.
unchanged() {
	local seq
	seq=$(seq_now)
	expect "$1 <- $2" "$(aid write "$1" "$2")" OK &&
		expect enable_seq "$(seq_now)" "$seq"
}

# The work item that follows a fault counts it last.
fault() {
	local seq
	seq=$(($(seq_now) + 1))
	echo 1 >"$DEBUG/inject/fault" && wait_for 5 seq_is "$seq" &&
		expect state "$(state)" faulted
}

# --- the files --------------------------------------------------------------

test_sysfs_files() {
	{
		printf '644 root:root ab/%s\n' arm_a arm_b mode rounds run sample \
			seed settle_ms slice_ms split_permille
		echo "444 root:root ab/result"
		echo "644 root:root devices"
		echo "444 root:root enable_seq"
		echo "444 root:root fault_reason"
		feature_files 444 active
		feature_files 444 counters
		feature_files 644 enabled
		feature_files 444 reason
		echo "644 root:root state"
		echo "444 root:root version"
	} | sort -k3 >"$TMP/want"
	fresh && files "$GRO_OPT" | diff "$TMP/want" -
}

test_debugfs_files() {
	{
		echo "400 root:root ab_samples"
		echo "400 root:root faults"
		feature_files 400 counters
		feature_files 600 enabled
		echo "400 root:root hist/cycles_per_packet"
		echo "400 root:root hist/segs_per_skb"
		echo "600 root:root inject/fail_step"
		echo "200 root:root inject/fault"
		echo "600 root:root inject/slow_ns"
		echo "400 root:root percpu"
		echo "600 root:root state"
	} | sort -k3 >"$TMP/want"
	fresh && files "$DEBUG" | diff "$TMP/want" -
}

test_what_they_say() {
	local feature
	fresh || return
	expect_like version "$(cat "$GRO_OPT/version")" '[0-9]+\.[0-9]+\.[0-9]+' &&
		expect state "$(state)" off && expect enable_seq "$(seq_now)" 0 &&
		expect fault_reason "$(cat "$GRO_OPT/fault_reason")" none &&
		expect devices "$(cat "$GRO_OPT/devices")" '*' || return
	for feature in "${FEATURES[@]}"; do
		expect enabled "$(cat "$GRO_OPT/features/$feature/enabled")" 1 &&
			expect active "$(cat "$GRO_OPT/features/$feature/active")" 0 &&
			expect reason "$(cat "$GRO_OPT/features/$feature/reason")" ok || return
	done
}

# A header, then one row a counter, all zero after loading; "-" in column stock
# where only stock's inside knows.
test_counters_format() {
	local feature want
	want="bad_csum completed fallback flushed_ack flushed_count flushed_flags"
	want+=" flushed_hdr flushed_id flushed_length flushed_options flushed_other"
	want+=" flushed_push flushed_seq flushed_short flushed_size held left_l4 merged"
	want+=" merged_fraglist merged_frags packets passed walked"
	fresh || return
	for feature in "${FEATURES[@]}"; do
		expect header "$(head -n1 "$GRO_OPT/features/$feature/counters")" \
			"counter stock opt" &&
			expect names "$(tail -n +2 "$GRO_OPT/features/$feature/counters" |
				cut -d' ' -f1 | sort | xargs)" "$want" || return
		if tail -n +2 "$GRO_OPT/features/$feature/counters" |
			grep -vE '^packets 0 0$|^[a-z_0-9]+ - 0$'; then
			echo "no row like these"
			return 1
		fi
	done
}

test_read_only_files() {
	local file
	fresh || return
	for file in version enable_seq fault_reason features/tcp4/active \
		features/tcp4/reason features/tcp4/counters; do
		expect "writing $file" "$(aid write "$GRO_OPT/$file" 1)" EACCES || return
	done
}

# --- state ------------------------------------------------------------------

test_state_right_input() {
	fresh && changes "$GRO_OPT/state" passthrough passthrough &&
		changes "$GRO_OPT/state" $'on\n' on &&
		changes "$GRO_OPT/state" passthrough passthrough &&
		changes "$GRO_OPT/state" off off && changes "$GRO_OPT/state" on on &&
		changes "$GRO_OPT/state" off off
}

test_state_as_it_is() {
	local state
	fresh || return
	for state in off passthrough on; do
		set_state "$state" && unchanged "$GRO_OPT/state" "$state" || return
	done
}

test_state_wrong_input() {
	local state value
	fresh || return
	for state in off passthrough on; do
		set_state "$state" || return
		for value in bogus faulted ON ' on' onn 'on off' 1 $'\n'; do
			refused "$GRO_OPT/state" "$value" EINVAL \
				"state: '${value//[$'\n']/}' is none of off, passthrough, on" || return
		done
	done
}

test_state_very_long_input() {
	local value
	value=$(printf '%4000s' x | tr ' ' o)
	fresh && refused "$GRO_OPT/state" "$value" EINVAL "state: 'ooo" &&
		refused "$GRO_OPT/devices" "$value" EINVAL 'devices: .ooo' &&
		refused "$GRO_OPT/features/tcp4/enabled" "x$value" EINVAL \
			"feature tcp4: 'xooo"
}

test_state_log_lines() {
	fresh && set_state passthrough && log_says 'state off -> passthrough; rmmod' &&
		set_state on && log_says 'state passthrough -> on; rmmod' &&
		set_state off && log_says 'state on -> off$'
}

# --- features ---------------------------------------------------------------

test_enabled_right_input() {
	local feature file
	fresh || return
	for feature in "${FEATURES[@]}"; do
		file=$GRO_OPT/features/$feature/enabled
		changes "$file" 0 0 && unchanged "$file" 0 && changes "$file" $'1\n' 1 &&
			unchanged "$file" 1 && changes "$file" n 0 && changes "$file" y 1 ||
			return
	done
}

test_enabled_wrong_input() {
	local value
	fresh || return
	for value in 2 -1 10 1abc x o ' 1' $'\n'; do
		refused "$GRO_OPT/features/tcp6/enabled" "$value" EINVAL \
			"feature tcp6: '${value//[$'\n']/}' is neither 0 nor 1" || return
	done
}

# Active: wished for, state on, no fault.
test_active_follows() {
	local active=$GRO_OPT/features/exthdr/active
	fresh && expect off "$(cat "$active")" 0 && set_state passthrough &&
		expect passthrough "$(cat "$active")" 0 && set_state on &&
		expect on "$(cat "$active")" 1 && set_feature exthdr 0 &&
		expect disabled "$(cat "$active")" 0 && set_feature exthdr 1 &&
		expect enabled "$(cat "$active")" 1 && fault &&
		expect faulted "$(cat "$active")" 0
}

# --- devices ----------------------------------------------------------------

test_devices_right_input() {
	local file=$GRO_OPT/devices
	fresh && changes "$file" eth0 eth0 && unchanged "$file" eth0 &&
		changes "$file" $' eth0,\teth1\n veth* ' "eth0 eth1 veth*" &&
		changes "$file" "$(echo dev{1..150})" "$(echo dev{1..150})" &&
		changes "$file" fifteen_letters fifteen_letters && changes "$file" '*' '*'
}

test_devices_wrong_input() {
	local file=$GRO_OPT/devices
	fresh && refused "$file" $'\n' EINVAL 'devices: the list is empty; write \* for all' &&
		refused "$file" ' , ' EINVAL 'devices: the list is empty' &&
		refused "$file" eth0,sixteen_letters_ EINVAL \
			"devices: 'sixteen_letters_' is no device name or pattern" &&
		refused "$file" 'eth0 a/b' EINVAL "devices: 'a/b' is no device name" &&
		refused "$file" "$(echo d{1..300})" EINVAL \
			'devices: the list is longer than 1022 characters; use patterns'
}

test_devices_all() {
	fresh && set_state on && handled_by ours && set_state passthrough &&
		handled_by stock && set_state off && handled_by ""
}

test_devices_listed() {
	fresh && set_state on && set_devices "nix b0" && handled_by ours &&
		set_devices 'nix?* b?' && handled_by ours 'with a pattern, packets' &&
		set_devices '*' && handled_by ours 'with *, packets'
}

test_devices_not_listed() {
	fresh && set_state on && set_devices "nix b" && handled_by stock &&
		set_devices 'b00*' && handled_by stock 'with a pattern, packets'
}

# rename NS OLD NEW
rename() {
	ip -n "$1" link set "$2" down && ip -n "$1" link set "$2" name "$3" &&
		ip -n "$1" link set "$3" up
}

test_devices_renamed() {
	fresh && set_state on && set_devices c0 && handled_by stock &&
		rename "$B" b0 c0 && handled_by ours 'renamed, packets' &&
		rename "$B" c0 b0 && handled_by stock 'renamed back, packets'
}

new_link() {
	ip -n "$A" link del a0 2>/dev/null
	connect "$A" a0 "$B" b0 && address "$A" a0 10.0.0.1/24 &&
		address "$B" b0 10.0.0.2/24 && offload "$A" a0 tso off &&
		offload "$B" b0 gro on
}

test_devices_gone_and_new() {
	fresh && set_state on && set_devices b0 && handled_by ours &&
		ip -n "$A" link del a0 && new_link && handled_by ours 'of a new b0, packets' &&
		set_devices b1 && ip -n "$A" link del a0 && new_link &&
		handled_by stock 'not listed, packets'
}

# Each namespace may have a b0.
test_devices_in_another_namespace() {
	fresh && set_state on && set_devices b0 && setup_ns C &&
		ip -n "$B" link set b0 netns "$C" && address "$C" b0 10.0.0.2/24 &&
		ip -n "$C" link set b0 up && offload "$C" b0 gro on && sink "$C" &&
		handled_by ours 'moved, packets' && set_devices '*' && new_link &&
		set_devices a0 && handled_by stock 'in B, packets'
}

# --- who may ----------------------------------------------------------------

test_writing_needs_net_admin() {
	local file
	fresh || return
	for file in {"$GRO_OPT","$DEBUG"}/{state,features/tcp4/enabled} \
		"$GRO_OPT/devices" "$DEBUG"/inject/{fault,fail_step}; do
		expect "$file without CAP_NET_ADMIN" "$(setpriv --inh-caps -net_admin \
			--bounding-set -net_admin aid write "$file" 1)" EPERM &&
			log_says "([a-z]*/)?$(basename "${file%/enabled}"): writing needs CAP_NET_ADMIN" || return
		expect "$file as somebody else" "$(setpriv --reuid 65534 --clear-groups \
			"$(command -v aid)" write "$file" 1)" EACCES || return
	done
	expect enable_seq "$(seq_now)" 0 && expect state "$(state)" off &&
		expect fail_step "$(cat "$DEBUG/inject/fail_step")" 0
}

test_reading_is_for_all() {
	fresh && expect state "$(setpriv --reuid 65534 --clear-groups \
		cat "$GRO_OPT/state")" off &&
		expect counters "$(setpriv --reuid 65534 --clear-groups \
			head -n1 "$GRO_OPT/features/tcp4/counters")" "counter stock opt" || return
	if setpriv --reuid 65534 --clear-groups cat "$DEBUG/state"; then
		echo "debugfs is for root"
		return 1
	fi
}

# --- debugfs ----------------------------------------------------------------

test_debugfs_state_is_the_same() {
	fresh && changes "$DEBUG/state" on on && expect state "$(state)" on &&
		set_state passthrough && expect twin "$(cat "$DEBUG/state")" passthrough &&
		unchanged "$DEBUG/state" passthrough && changes "$DEBUG/state" off off
}

test_debugfs_state_wrong_input() {
	fresh && refused "$DEBUG/state" bogus EINVAL "state: 'bogus' is none of" &&
		refused "$DEBUG/state" "$(printf '%65s' on)" EINVAL
}

test_debugfs_enabled_is_the_same() {
	local feature
	fresh || return
	for feature in "${FEATURES[@]}"; do
		changes "$DEBUG/features/$feature/enabled" 0 0 &&
			expect enabled "$(cat "$GRO_OPT/features/$feature/enabled")" 0 &&
			set_feature "$feature" 1 &&
			expect twin "$(cat "$DEBUG/features/$feature/enabled")" 1 &&
			refused "$DEBUG/features/$feature/enabled" 2 EINVAL \
				"feature $feature: '2' is neither 0 nor 1" || return
	done
}

test_debugfs_counters_are_the_same() {
	local feature
	fresh && set_state on && transfer && set_state passthrough && transfer &&
		set_state off || return
	for feature in "${FEATURES[@]}"; do
		diff "$GRO_OPT/features/$feature/counters" \
			"$DEBUG/features/$feature/counters" || return
	done
}

# The rows of all CPUs together are what sysfs says.
test_percpu_adds_up() {
	local feature
	fresh && set_state on && transfer && set_state passthrough && transfer &&
		set_state off || return
	expect_like header "$(head -n1 "$DEBUG/percpu")" \
		'feature counter( cpu[0-9]+)+' &&
		expect columns "$(head -n1 "$DEBUG/percpu" | wc -w)" $(($(nproc) + 2)) ||
		return
	for feature in "${FEATURES[@]}"; do
		awk -v f="$feature" '$1 == f {
			sum = 0; for (i = 3; i <= NF; i++) sum += $i; print $2, sum
		}' "$DEBUG/percpu" | sort >"$TMP/sums"
		awk 'NR > 1 {
			if ($1 == "packets") print "stock_packets", $2 + 0
			else if ($1 != "merged") print $1, $3
		}' "$GRO_OPT/features/$feature/counters" | sort | diff - "$TMP/sums" || return
	done
}

# --- uevents ----------------------------------------------------------------

# uevent NUMBER STATE SEQ FAULT: so many have come, the last one is this.
uevent() {
	wait_for 5 test "$(wc -l <"$TMP/uevents")" -gt "$1" || {
		cat "$TMP/uevents"
		return 1
	}
	expect number "$(($(wc -l <"$TMP/uevents") - 1))" "$1" &&
		expect_like uevent "$(tail -n1 "$TMP/uevents")" \
			"ACTION=change DEVPATH=/kernel/gro_opt/features SUBSYSTEM=gro_opt GRO_OPT_STATE=$2 GRO_OPT_ENABLE_SEQ=$3 GRO_OPT_FAULT=$4 SEQNUM=[0-9]+"
}

test_uevents() {
	fresh && listen_for_uevents && set_state passthrough &&
		uevent 1 passthrough 1 none && set_state on && uevent 2 on 2 none &&
		set_state off && uevent 3 off 3 none && set_state on && uevent 4 on 4 none &&
		fault && uevent 5 faulted 5 injected && set_state off &&
		uevent 6 off 6 none && unchanged "$GRO_OPT/state" off &&
		refused "$GRO_OPT/state" bogus EINVAL && sleep 0.3 && uevent 6 off 6 none
}

test_uevent_of_a_load_with_state() {
	unload && listen_for_uevents && load state=on &&
		wait_for 5 grep -q GRO_OPT_STATE=on "$TMP/uevents"
}

# --- faults and failures ----------------------------------------------------

test_fault() {
	local seq
	fresh && set_state on && handled_by ours || return
	seq=$(seq_now)
	fault && expect fault_reason "$(cat "$GRO_OPT/fault_reason")" injected &&
		expect enable_seq "$(seq_now)" "$((seq + 1))" &&
		log_says 'faulted: injected; all packets take the stock handlers; write off to state to leave' &&
		expect enabled "$(cat "$GRO_OPT/features/tcp4/enabled")" 1 &&
		handled_by stock
}

test_fault_is_left_by_off_only() {
	fresh && set_state on && fault &&
		refused "$GRO_OPT/state" on EBUSY 'state stays faulted \(injected\); write off first' &&
		refused "$GRO_OPT/state" passthrough EBUSY &&
		refused "$GRO_OPT/features/tcp4/enabled" 0 EBUSY \
			'feature tcp4 stays as it is: the state is faulted \(injected\); write off to state first' &&
		expect_like "unload while faulted" "$(aid unload gro_opt)" 'EAGAIN|EBUSY' &&
		changes "$GRO_OPT/state" off off &&
		expect fault_reason "$(cat "$GRO_OPT/fault_reason")" none &&
		tables_are_stock && set_state on && handled_by ours 'after off and on, packets'
}

test_fault_in_passthrough() {
	fresh && set_state passthrough && fault && handled_by stock && set_state off &&
		set_state on && handled_by ours 'after off and on, packets'
}

# No packets, no data path that could have seen the impossible.
test_fault_while_off() {
	fresh && expect "fault while off" "$(aid write "$DEBUG/inject/fault" 1)" EINVAL &&
		log_says 'inject/fault: the state is off, so no packet can meet one' &&
		expect state "$(state)" off &&
		expect fault_reason "$(cat "$GRO_OPT/fault_reason")" none &&
		set_state on && handled_by ours "state on, packets"
}

# Going off takes a while, and a fault that is accepted meanwhile is not lost.
test_fault_while_going_off() {
	local i before accepted=0 going
	fresh || return
	for i in {1..30}; do
		set_state on || return
		before=$(cat "$DEBUG/faults")
		{ sleep "0.0$((i % 3))" && echo off >"$GRO_OPT/state"; } &
		going=$!
		sleep "0.0$((i % 5))"
		if echo 1 >"$DEBUG/inject/fault"; then
			accepted=$((accepted + 1)) before=$((before + 1))
		fi
		wait "$going"
		set_state off && expect "faults in round $i" "$(cat "$DEBUG/faults")" "$before" &&
			expect fault_reason "$(cat "$GRO_OPT/fault_reason")" none || return
	done
	tell "$accepted of $i faults came before the state was off"
}

test_fault_under_traffic() {
	local sender i
	fresh && set_state on || return
	start "$TMP/sent" "$A" traffic send 10.0.0.2 4000
	sender=$!
	for i in 1 2 3 4 5; do
		sleep 0.1
		fault && sleep 0.1 && set_state off && set_state on || return
	done
	finish "$sender" && cat "$TMP/sent" && grep -q right "$TMP/sent"
}

# A switch that fails at a step leaves everything as it was.
test_failed_switch() {
	local step state
	for step in 1 2 3 4 5 6; do
		for state in passthrough on; do
			# Entries that passthrough has no use for.
			[ "$state" = on ] || [ "$step" -le 2 ] || continue
			fresh || return
			echo "$step" >"$DEBUG/inject/fail_step" || return
			refused "$GRO_OPT/state" "$state" ENOMEM \
				"inject: step $step of the switch fails" &&
				log_says 'state stays off, error -12' &&
				expect fail_step "$(cat "$DEBUG/inject/fail_step")" 0 &&
				tables_are_stock && handled_by "" && set_state "$state" &&
				set_state off && expect unload "$(aid unload gro_opt)" OK || return
		done
	done
}

need_tools setpriv
unload || skip_all "gro_opt is loaded and does not let go"
remember_tables
if ! setup_ns A B || ! new_link || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi

run_tests sysfs_files debugfs_files what_they_say counters_format \
	read_only_files state_right_input state_as_it_is state_wrong_input \
	state_very_long_input state_log_lines enabled_right_input \
	enabled_wrong_input active_follows devices_right_input \
	devices_wrong_input devices_all devices_listed devices_not_listed \
	devices_renamed devices_gone_and_new devices_in_another_namespace \
	writing_needs_net_admin reading_is_for_all debugfs_state_is_the_same \
	debugfs_state_wrong_input debugfs_enabled_is_the_same \
	debugfs_counters_are_the_same percpu_adds_up uevents \
	uevent_of_a_load_with_state fault fault_is_left_by_off_only \
	fault_in_passthrough fault_while_off fault_while_going_off fault_under_traffic \
	failed_switch
