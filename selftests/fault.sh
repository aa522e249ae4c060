#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What cannot be, seen in the middle of a NAPI poll, and what others do to the
# kernel's table: all packets go to stock's handlers at once, and the state says
# so. gro_foreign.ko is the other module, which also moves the transport offset of
# a held packet. How soon it is over is read off the function tracer.
#
#	namespace A: a0, 10.0.0.1 ---- b0, 10.0.0.2 :namespace B, GRO

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

TRACING=/sys/kernel/tracing
LOSE=/sys/module/gro_foreign/parameters/lose
LOST='tcp[46]: transport offset of a held packet'
FOREIGN='an entry of another module in the offload table'

# foreign [PARAMETER]...: it comes.
foreign() {
	modprobe gro_foreign "$@"
}

start_afresh() {
	no_foreign && fresh
}

# streams FAMILY: two of them, in the background.
streams() {
	local to=10.0.0.2
	if [ "$1" = 6 ]; then to=fd00::2; fi
	start "$TMP/streams" "$A" traffic send -p 2 -c 2 "$to" 4000
	streams_pid=$!
}

both_arrive() {
	finish "$streams_pid" || {
		cat "$TMP/streams"
		return 1
	}
	expect "streams that arrived" "$(grep -c right "$TMP/streams")" 2
}

faults() {
	cat "$DEBUG/faults"
}

# is_faulted REASON
is_faulted() {
	wait_for 10 state_is faulted &&
		expect_like fault_reason "$(cat "$GRO_OPT/fault_reason")" "$1" &&
		log_says "faulted: $1; all packets take the stock handlers; write off to state to leave"
}

# uevents_say REASON NUMBER: so many told of it.
uevents_say() {
	wait_for 5 grep -qE "GRO_OPT_STATE=faulted .* GRO_OPT_FAULT=$1 SEQ" "$TMP/uevents" &&
		expect uevents "$(grep -cE "GRO_OPT_STATE=faulted" "$TMP/uevents")" "$2"
}

all_inactive() {
	expect "active features" "$(cat "$GRO_OPT"/features/*/active | sort -u)" 0
}

# off leaves a fault, and all is as if it had not been.
off_mends() {
	set_state off && expect fault_reason "$(cat "$GRO_OPT/fault_reason")" none &&
		tables_are_stock && set_state on && handled_by ours "in the end, packets"
}

# lost FAMILY: in a poll of b0, with streams running.
lost() {
	local seq
	start_afresh && listen_for_uevents && set_state on || return
	seq=$(seq_now)
	foreign over=0 && streams "$1" && wait_for 10 merging "$1" || return
	echo 20 >"$LOSE"
	is_faulted "$LOST" && uevents_say "tcp$1: .*" 1 &&
		expect enable_seq "$(seq_now)" $((seq + 1)) &&
		expect faults "$(faults)" 1 && expect lose "$(cat "$LOSE")" 0 &&
		all_inactive && both_arrive && handled_by stock &&
		refused "$GRO_OPT/state" on EBUSY 'state stays faulted \(.*\); write off first' &&
		refused "$GRO_OPT/features/tcp4/enabled" 0 EBUSY &&
		expect_like "unload" "$(aid unload gro_opt)" 'EAGAIN|EBUSY' &&
		no_foreign && off_mends && expect faults "$(faults)" 1
}

merging() {
	[ "$(counter "tcp$1" merged)" -gt 0 ]
}

test_offset_lost_in_napi_v4() {
	lost 4
}

test_offset_lost_in_napi_v6() {
	lost 6
}

# In passthrough nobody looks, and stock gets what it would have got.
test_offset_lost_in_passthrough() {
	start_afresh && set_state passthrough && foreign over=0 lose=1 &&
		transfer && expect lose "$(cat "$LOSE")" 0 &&
		expect state "$(state)" passthrough && expect faults "$(faults)" 0 &&
		no_foreign && set_state off
}

# --- how soon -------------------------------------------------------------------

HANDLERS=(gro_opt_inet_receive gro_opt_ipv6_receive inet_gro_receive ipv6_gro_receive)

trace_start() {
	echo nop >"$TRACING/current_tracer" && echo >"$TRACING/trace" &&
		echo global >"$TRACING/trace_clock" &&
		echo "${HANDLERS[@]}" gro_opt_fault >"$TRACING/set_ftrace_filter" &&
		echo 'r:gro_opt/fault_done gro_opt:gro_opt_fault' >"$TRACING/kprobe_events" &&
		echo 1 >"$TRACING/events/gro_opt/fault_done/enable" &&
		echo function >"$TRACING/current_tracer"
}

trace_stop() {
	echo 0 >"$TRACING/tracing_on"
	cat "$TRACING/trace"
	echo nop >"$TRACING/current_tracer"
	echo 0 >"$TRACING/events/gro_opt/fault_done/enable"
	echo >"$TRACING/kprobe_events"
	echo >"$TRACING/set_ftrace_filter"
	echo 1 >"$TRACING/tracing_on"
}

# A handler of ours that is not followed by stock's, on its CPU, took the packet.
# Prints how many that were before the fault and from then on, after how many
# microseconds the last of them came, how many packets ours were called with from
# then on, and how long the CPU that saw the fault took to say so.
after_the_fault() {
	awk '
	$1 ~ /^#/ { next }
	match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART + 1, RLENGTH - 2) }
	match($0, /[0-9]+\.[0-9]+:/) { time = substr($0, RSTART, RLENGTH - 1) }
	/ (inet|ipv6)_gro_receive <-/ { open[cpu] = 0; next }
	/ gro_opt_(inet|ipv6)_receive <-/ {
		take(cpu)
		open[cpu] = time
		if (fault) all++
		next
	}
	/ gro_opt_fault <-/ { if (!start) start = time; next }
	/ fault_done: / { if (!fault) fault = time }
	function take(cpu) {
		if (!open[cpu]) return
		if (!fault) before++
		else if (open[cpu] > fault) { ours++; last = open[cpu] }
	}
	# Of the last one on each CPU the trace may not have seen the end.
	END {
		if (!fault) exit 1
		printf "before %d after %d last_us %d all %d flip_us %d\n", before,
			ours, ours ? (last - start) * 1e6 : 0, all,
			(fault - start) * 1e6
	}' "$1"
}

# Each CPU may be behind its look at the word that the fault has written.
one_fault_traced() {
	local found
	start_afresh && set_state on && foreign over=0 && streams 4 &&
		wait_for 10 merging 4 && trace_start || return
	echo 20 >"$LOSE"
	is_faulted "$LOST"
	sleep 0.2
	trace_stop >"$TMP/trace"
	both_arrive && no_foreign && set_state off || return
	found=$(after_the_fault "$TMP/trace") || {
		tail -n 50 "$TMP/trace"
		return 1
	}
	tell "packets of ours: $found"
	echo "$found"
	read -r _ before _ after _ last _ all _ <<<"$found"
	[ "$before" -gt 20 ] && [ "$all" -gt 20 ] && [ "$after" -lt "$(nproc)" ] &&
		[ "$last" -lt 100000 ]
}

# Without a tracer, by the counters: ours stand still once the state says so.
one_fault_counted() {
	local ours
	start_afresh && set_state on && foreign over=0 && streams 4 &&
		wait_for 10 merging 4 || return
	echo 20 >"$LOSE"
	is_faulted "$LOST" || return
	ours=$(counter tcp4 packets)
	sleep 0.2
	expect "packets of ours" "$(counter tcp4 packets)" "$ours" &&
		both_arrive && no_foreign && set_state off
}

test_how_soon() {
	local how=one_fault_traced
	if ! [ -e "$TRACING/set_ftrace_filter" ] || ! [ -e "$TRACING/kprobe_events" ]; then
		how=one_fault_counted
		tell "no function tracer: counted, not timed"
	fi
	$how && $how && $how
}

# --- others in the table ----------------------------------------------------------

# comes_over STATE: the foreign entry is seen when its module has been loaded.
comes_over() {
	local seq
	start_afresh && listen_for_uevents && set_state "$1" || return
	seq=$(seq_now)
	foreign && is_faulted "$FOREIGN" && uevents_say "$FOREIGN" 1 &&
		expect enable_seq "$(seq_now)" $((seq + 1)) &&
		expect faults "$(faults)" 1 && all_inactive && handled_by stock &&
		refused "$GRO_OPT/state" on EBUSY &&
		refused "$GRO_OPT/state" off EBUSY \
			'IPv4 packets are served by .*\[gro_foreign\], which came after this module' &&
		expect_like "unload" "$(aid unload gro_opt)" 'EAGAIN|EBUSY' &&
		expect state "$(state)" faulted && foreign_goes &&
		expect state "$(state)" faulted && handled_by stock && off_mends
}

test_foreign_entry_while_on() {
	comes_over on
}

test_foreign_entry_in_passthrough() {
	comes_over passthrough
}

test_foreign_entry_under_streams() {
	start_afresh && set_state on && streams 4 && wait_for 10 merging 4 &&
		foreign && is_faulted "$FOREIGN" && sleep 0.2 && foreign_goes &&
		off_mends && both_arrive
}

# The first reason stays, and "on" is no way out.
test_foreign_entry_while_faulted() {
	start_afresh && set_state on && foreign over=0 lose=1 && transfer &&
		is_faulted "$LOST" && no_foreign && foreign &&
		refused "$GRO_OPT/state" off EBUSY && expect state "$(state)" faulted &&
		refused "$GRO_OPT/state" on EBUSY && refused "$GRO_OPT/state" passthrough EBUSY &&
		expect_like fault_reason "$(cat "$GRO_OPT/fault_reason")" "$LOST" &&
		expect faults "$(faults)" 1 && foreign_goes && off_mends
}

# Whoever was there first is neither stood in for nor a fault.
test_foreign_entry_first() {
	start_afresh && foreign || return
	for word in on passthrough; do
		refused "$GRO_OPT/state" "$word" EBUSY \
			'IPv4 packets are served by .*\[gro_foreign\] and not by the kernel itself; unload that module first' &&
			expect fault_reason "$(cat "$GRO_OPT/fault_reason")" none || return
	done
	unload && expect "load" "$(aid load "$KO" state=on)" EBUSY && transfer &&
		foreign_goes && load && off_mends
}

test_nothing_is_left() {
	no_foreign && unload && tables_are_stock && transfer
}

unload || skip_all "gro_opt is loaded and does not let go"
modprobe -n gro_foreign 2>/dev/null || skip_all "no module gro_foreign"
no_foreign
remember_tables
if ! pair tso off || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi

run_tests offset_lost_in_napi_v4 offset_lost_in_napi_v6 \
	offset_lost_in_passthrough how_soon foreign_entry_while_on \
	foreign_entry_in_passthrough foreign_entry_under_streams \
	foreign_entry_while_faulted foreign_entry_first nothing_is_left
