#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tracepoints: what events say of known packets, in both arms; none before and
# after; trace-cmd reads them; the module goes with somebody attached.
#
#	namespace A: a0 ---- b0 :namespace B, GRO

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

TRACING=/sys/kernel/tracing
EVENTS=$TRACING/events/gro_opt

# events NAME 0|1: off or on; an empty name for all
events() {
	echo "$2" >"$EVENTS/${1:+$1/}enable"
}

begin() {
	{ loaded || load; } && events '' 0 && echo >"$TRACING/trace" &&
		set_state "$1"
}

# got EVENT REGEX: how many lines of the trace have both
got() {
	grep -cE " $1: .*$2" "$TRACING/trace"
}

some() {
	more "events $1 with '$2'" "$(got "$1" "$2")" 0 && return
	head -n 30 "$TRACING/trace"
	return 1
}

none() {
	expect "events $1 with '$2'" "$(got "$1" "$2")" 0
}

test_files() {
	local event
	load || return
	for event in flush hold merge ab_switch fault; do
		expect_like "$event" "$(cat "$EVENTS/gro_opt_$event/format")" \
			"name: gro_opt_$event.*print fmt: .*" || return
	done
	grep -q 'field:char dev\[16\]' "$EVENTS/gro_opt_flush/format" &&
		grep -q 'field:u32 segments' "$EVENTS/gro_opt_flush/format" &&
		grep -q '{ 11, "poll" }' "$EVENTS/gro_opt_flush/format"
}

# What a stream ends with depends on how it comes in.
ANY='reason=(poll|push|short)'

flushes_of() {
	begin "$1" && events gro_opt_flush 1 && transfer && events '' 0 || return
	some gro_opt_flush "dev=b0 $ANY segments=[1-9][0-9]* arm=- proto=6 src=10.0.0.1:[0-9]+ dst=10.0.0.2:4000" &&
		some gro_opt_flush 'segments=([2-9]|[1-9][0-9])' &&
		none gro_opt_flush 'segments=0' && none gro_opt_merge
}

test_flushes_of_ours() {
	flushes_of on
}

test_flushes_of_stock() {
	flushes_of passthrough
}

# Segments of all aggregates are the packets that counters know.
test_segments_add_up() {
	local merged completed held sum
	begin on && held=$(counter tcp4 held) && merged=$(counter tcp4 merged) &&
		completed=$(counter tcp4 completed) &&
		events gro_opt_flush 1 && events gro_opt_hold 1 && transfer &&
		events '' 0 || return
	sum=$(sed -n 's/.* segments=\([0-9]*\) .*/\1/p' "$TRACING/trace" |
		awk '$1 > 1 { n += $1 - 1 } END { print n + 0 }')
	expect "packets merged" "$sum" \
		"$(($(counter tcp4 merged) - merged))" &&
		expect "aggregates" "$(got gro_opt_flush 'segments=([2-9]|..)')" \
			"$(($(counter tcp4 completed) - completed))" &&
		expect "packets held" "$(got gro_opt_hold 'held=1')" \
			"$(($(counter tcp4 held) - held))"
}

test_merges_are_sampled() {
	local every all
	for every in 1 8; do
		begin on && echo "$every" >"$GRO_OPT/ab/sample" &&
			all=$(counter tcp4 merged) && events gro_opt_merge 1 &&
			transfer && events '' 0 || return
		all=$(($(counter tcp4 merged) - all))
		tell "$all merged, one in $every: $(got gro_opt_merge) events"
		# One more or less on each processor.
		more "one in $every" "$((every * $(got gro_opt_merge) + 2 * every))" \
			"$all" &&
			more "packets" "$((all + 2 * every))" \
				"$((every * $(got gro_opt_merge)))" || return
	done
	some gro_opt_merge 'dev=b0 len=[0-9]+ by=frag(s|_list) arm=- proto=6'
	echo 64 >"$GRO_OPT/ab/sample"
}

# Whoever had it before may have left its devices down.
lab_anew() {
	rmmod gro_lab 2>/dev/null
	modprobe gro_lab
}

# because NAME REASON: packets of which that is known, through stock's handlers and
# ours; with the lab's own device.
because() {
	begin off && events gro_opt_flush 1 && cases --brief "$1" &&
		events '' 0 || return
	some gro_opt_flush "reason=$2 segments=[1-9]" || return
	# Its two states that are hooked, at the least.
	more "$1: events" "$(got gro_opt_flush "reason=$2")" 1
}

test_right_reasons() {
	lab_anew || return "$KSFT_SKIP"
	because 'PSH ends an aggregate' push &&
		because 'one other option byte' options &&
		because 'the same ID, then one more' id &&
		because 'an ACK without data' size &&
		because 'a full IPv6 train' poll &&
		because 'a shorter datagram ends it' short
	local status=$?
	modprobe -r gro_lab
	return "$status"
}

# What leaves GRO is what stock sends, traced or not.
test_cases_while_traced() {
	lab_anew || return "$KSFT_SKIP"
	local status=0
	begin off && events '' 1 && cases --brief >"$TMP/cases" || status=1
	grep -v '^ok' "$TMP/cases" | head -n 20
	events '' 0 && modprobe -r gro_lab && return "$status"
}

test_reasons_over_ipv6() {
	begin on && events gro_opt_flush 1 &&
		on "$A" traffic send -n 200000 fd00::2 4000 && events '' 0 || return
	some gro_opt_flush 'dev=b0 reason=[a-z]+ segments=[0-9]+ arm=- proto=6 src=\[fd00::1\]:[0-9]+ dst=\[fd00::2\]:4000'
}

test_nothing_when_off() {
	begin on && transfer && set_state off && events gro_opt_flush 1 &&
		transfer && events '' 0 && none gro_opt &&
		set_state on && transfer && none gro_opt
}

test_arms_of_a_run() {
	begin off && events '' 1 && echo time >"$GRO_OPT/ab/mode" &&
		echo 2 >"$GRO_OPT/ab/rounds" && echo 50 >"$GRO_OPT/ab/slice_ms" ||
		return
	streams=()
	stream 20 1 10.0.0.2
	expect start "$(aid write "$GRO_OPT/ab/run" start)" OK &&
		wait_for 60 grep -q 'done' "$GRO_OPT/ab/run" &&
		streams_arrive && events '' 0 || return
	expect "changes of arms" "$(got gro_opt_ab_switch 'round=[0-2] slice=[01] arm=[ab]')" 6 &&
		some gro_opt_flush 'arm=a' && some gro_opt_flush 'arm=b'
}

fault_is_told() {
	[ "$(got gro_opt_fault 'reason=injected')" -gt 0 ]
}

# The state says so at once, the event comes with what is done about it later.
test_fault() {
	[ -w "$DEBUG/inject/fault" ] || return "$KSFT_SKIP"
	begin on && events gro_opt_fault 1 &&
		expect inject "$(aid write "$DEBUG/inject/fault" 1)" OK &&
		wait_for 10 fault_is_told && events '' 0 &&
		wait_for 10 state_is faulted && set_state off
}

test_trace_cmd() {
	begin on || return
	(cd "$TMP" && trace-cmd record -q -e gro_opt:gro_opt_flush \
		ip netns exec "$A" traffic send -n 200000 10.0.0.2 4000) || return
	trace-cmd report -i "$TMP/trace.dat" 2>&1 | grep gro_opt_flush >"$TMP/report"
	grep -qE "dev=b0 $ANY segments=[0-9]+ arm=- proto=6 src=10.0.0.1:[0-9]+ dst=10.0.0.2:4000" \
		"$TMP/report" && return
	head -n 5 "$TMP/report"
	return 1
}

# Refused or clean: the kernel detaches ftrace by itself.
test_unload_while_traced() {
	begin on && events '' 1 && transfer && set_state off || return
	case $(aid unload gro_opt) in
	OK) [ ! -e "$EVENTS" ] ;;
	EBUSY | EAGAIN) events '' 0 ;;
	*) return 1 ;;
	esac || return
	fresh && events '' 1 && set_state on && transfer && events '' 0 &&
		some gro_opt_flush 'dev=b0' && set_state off
}

unload || skip_all "gro_opt is loaded and does not let go"
[ -e "$TRACING/trace" ] || mount -t tracefs tracefs "$TRACING" 2>/dev/null ||
	skip_all "no tracefs: mount -t tracefs none $TRACING"
need_tools trace-cmd
if ! pair tso off || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi

run_tests files flushes_of_ours flushes_of_stock segments_add_up \
	merges_are_sampled right_reasons cases_while_traced \
	reasons_over_ipv6 nothing_when_off arms_of_a_run fault trace_cmd \
	unload_while_traced
