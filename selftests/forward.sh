#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# TCP through a router: what our entries merge on the way in has to be cut up
# again in software on the way out, by gso_segment of the same entries. Every
# byte is compared at the end, in every state and while the state changes.
#
#	A: a0 -------- r0 :R: r1 -------- b0 :B
#	no TSO      GRO, forwards      GRO
#	            no TSO, no GSO out of r1 and r0

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

BYTES=2000000

make_router() {
	setup_ns A R B && connect "$A" a0 "$R" r0 && connect "$R" r1 "$B" b0 &&
		address "$A" a0 10.0.1.1/24 fd01::1/64 &&
		address "$R" r0 10.0.1.2/24 fd01::2/64 &&
		address "$R" r1 10.0.2.1/24 fd02::1/64 &&
		address "$B" b0 10.0.2.2/24 fd02::2/64 &&
		ip -n "$A" route add default via 10.0.1.2 &&
		ip -n "$A" -6 route add default via fd01::2 &&
		ip -n "$B" route add default via 10.0.2.1 &&
		ip -n "$B" -6 route add default via fd02::1 &&
		on "$R" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward &&
			echo 1 >/proc/sys/net/ipv6/conf/all/forwarding' &&
		offload "$A" a0 tso off && offload "$R" r0 tso off gso off gro on &&
		offload "$R" r1 tso off gso off && offload "$B" b0 gro on tso off
}

# Not with destination options: a router takes the TCP header to be where the
# IPv6 header ends, whatever comes there, when it asks whether the segments of
# an aggregate fit the MTU (ip6_rcv_core() sets transport_header so, and only
# hop-by-hop options move it on). It reads four bits of the sequence number as
# TCP's length, so the same stream gets through or not, with stock GRO too.

# through PROTOCOL [OPTIONS]: a transfer from A to B, and that R received fewer
# packets than came in by r0 (GRO) and sent as many as that (segmentation).
through() {
	local proto=$1 addr=10.0.2.2 in=IpInReceives
	local wire received sent
	shift
	if [ "$proto" = 6 ]; then
		addr=fd02::2
		in=Ip6InReceives
	fi
	wire=$(rx_packets "$R" r0)
	received=$(snmp "$R" "$in")
	sent=$(tx_packets "$R" r1)
	on "$A" traffic send -n "$BYTES" "$@" "$addr" 4000 || return
	wire=$(($(rx_packets "$R" r0) - wire))
	received=$(($(snmp "$R" "$in") - received))
	sent=$(($(tx_packets "$R" r1) - sent))
	echo "r0 took $wire packets, R saw $received, r1 sent $sent"
	# R also sees the other direction, ACKs; a neighbour is asked now and then.
	[ "$wire" -gt $((BYTES / 1500)) ] && [ "$received" -lt "$wire" ] &&
		[ $((sent - wire)) -ge -8 ] && [ $((sent - wire)) -le 8 ]
}

# grows FEATURE COUNTER COLUMN COMMAND...
grows() {
	local feature=$1 name=$2 column=$3 before
	shift 3
	before=$(counter "$feature" "$name" "$column")
	"$@" || return
	[ "$(counter "$feature" "$name" "$column")" -gt "$before" ] && return
	echo "$feature $name $column did not grow from $before"
	return 1
}

test_off_v4() {
	fresh && through 4
}

test_off_v6() {
	fresh && through 6
}

test_passthrough_v4() {
	fresh && set_state passthrough && grows tcp4 packets stock through 4
}

test_passthrough_v6() {
	fresh && set_state passthrough && grows tcp6 packets stock through 6
}

test_on_v4() {
	fresh && set_state on && grows tcp4 merged opt grows tcp4 completed opt through 4
}

test_on_v6() {
	fresh && set_state on && grows tcp6 merged opt grows tcp6 completed opt through 6
}

test_on_v6_hop_by_hop() {
	fresh && set_state on && grows exthdr walked opt through 6 -h
}

test_on_many_streams() {
	fresh && set_state on && BYTES=$((BYTES / 8)) && grows tcp4 merged opt \
		on "$A" traffic send -n "$BYTES" -c 8 10.0.2.2 4000 &&
		grows tcp6 merged opt on "$A" traffic send -n "$BYTES" -c 8 fd02::2 4000
}

# flip TIMES: through all states, the six ways from one to another.
flip() {
	local i states=(passthrough on off on passthrough off)
	for ((i = 0; i < $1; i++)); do
		set_state "${states[i % 6]}" || return
	done
}

test_while_the_state_changes() {
	local four six six_options seq status=0
	fresh || return
	seq=$(seq_now)
	start "$TMP/four" "$A" traffic send -p 5 10.0.2.2 4000
	four=$!
	start "$TMP/six" "$A" traffic send -p 5 fd02::2 4000
	six=$!
	start "$TMP/six_options" "$A" traffic send -p 5 -d fd02::2 4000
	six_options=$!
	flip 120 || status=1
	finish "$four" || status=1
	finish "$six" || status=1
	finish "$six_options" || status=1
	cat "$TMP/four" "$TMP/six" "$TMP/six_options"
	expect "streams that arrived" \
		"$(cat "$TMP/four" "$TMP/six" "$TMP/six_options" | grep -c right)" 3 &&
		expect switches "$(($(seq_now) - seq))" 120 &&
		[ "$(counter tcp4 merged)" -gt 0 ] && [ "$(counter tcp6 merged)" -gt 0 ] &&
		[ "$(counter tcp4 packets stock)" -gt 0 ] && return "$status"
	return 1
}

# Back in the state that nobody switched, on the same devices.
test_off_afterwards() {
	unload && through 4 && through 6
}

if ! make_router || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi

run_tests off_v4 off_v6 passthrough_v4 passthrough_v6 on_v4 on_v6 \
	on_v6_hop_by_hop on_many_streams \
	while_the_state_changes off_afterwards
