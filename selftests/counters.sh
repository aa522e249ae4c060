#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters that add up. What they say is compared with what the kernel counts
# elsewhere: packets that the device received, and packets that IP got of them.
#
#	namespace A: a0 ---- b0 :namespace B, GRO
#
# Neighbours are static, and the reports of a new device's multicast groups are
# waited for, so all that comes to b0 is ours.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# snapshot NAME: all counters, and the kernel's.
snapshot() {
	local feature
	for feature in "${FEATURES[@]}"; do
		awk -v f="$feature" 'NR > 1 { print f "." $1 ".opt", $3
			if ($2 != "-") print f "." $1 ".stock", $2 }' \
			"$GRO_OPT/features/$feature/counters"
	done >"$TMP/$1"
	{
		echo "sent $(tx_packets "$A" a0)"
		echo "received $(rx_packets "$B" b0)"
		echo "ip4 $(snmp "$B" IpInReceives)"
		echo "ip6 $(snmp "$B" Ip6InReceives)"
	} >>"$TMP/$1"
}

# grown NAME: how much between the snapshots "before" and "after".
grown() {
	awk -v name="$1" '$1 == name { n++; value = FNR == NR ? -$2 : value + $2 }
		END { if (n != 2) exit 1; print value }' "$TMP/before" "$TMP/after"
}

# around COMMAND...
around() {
	snapshot before && "$@" && sleep 0.2 && snapshot after
}

transfer() {
	on "$A" traffic send -n 300000 -c 2 "$@" 4000
}

# All of the packets that came in, whoever took them.
seen() {
	local feature=$1
	echo $(($(grown "$feature.packets.opt") + $(grown "$feature.fallback.opt") +
		$(grown "$feature.packets.stock")))
}

# Those that ours looked at.
taken() {
	echo $(($(grown "$1.packets.opt") + $(grown "$1.fallback.opt")))
}

only_grew() {
	local name
	awk 'FNR == NR { old[$1] = $2; next } $2 != old[$1] { print $1 }' \
		"$TMP/before" "$TMP/after" | grep -F . >"$TMP/grew"
	for name; do
		grep -q "^$name\$" "$TMP/grew" || {
			echo "$name did not grow"
			return 1
		}
	done
	printf '%s\n' "$@" | grep -vxFf - "$TMP/grew" >"$TMP/others" || return 0
	echo "these grew too:"
	cat "$TMP/others"
	return 1
}

# Every packet the device received was counted, once.
test_every_packet_v4() {
	fresh && set_state on && around transfer 10.0.0.2 &&
		expect sent "$(grown sent)" "$(grown received)" &&
		expect counted "$(seen tcp4)" "$(grown received)" &&
		expect "packets of tcp6" "$(seen tcp6)" 0
}

test_every_packet_v6() {
	fresh && set_state on && around transfer fd00::2 &&
		expect counted "$(seen tcp6)" "$(grown received)" &&
		expect "packets of tcp4" "$(seen tcp4)" 0
}

# few WHAT NUMBER: packets that a stream sends without its options, as the ACK of
# a socket that is in TIME_WAIT: at most two of each stream.
few() {
	[ "$2" -ge 0 ] && [ "$2" -le 4 ] && return
	echo "$1: $2 is not few"
	return 1
}

test_every_packet_v6_with_options() {
	fresh && set_state on && around transfer -d fd00::2 &&
		expect counted "$(($(seen tcp6) + $(taken exthdr)))" \
			"$(grown received)" &&
		few "packets without options" \
			"$(($(grown received) - $(grown exthdr.packets.opt)))"
}

# What was merged is what IP did not get.
test_merged_is_what_ip_missed() {
	fresh && set_state on && around transfer 10.0.0.2 &&
		expect "IPv4 packets" "$(grown ip4)" \
			"$(($(grown received) - $(grown tcp4.merged.opt)))" &&
		around transfer fd00::2 &&
		expect "IPv6 packets" "$(grown ip6)" \
			"$(($(grown received) - $(grown tcp6.merged.opt)))" &&
		[ "$(grown tcp6.merged.opt)" -gt 100 ]
}

# Rows that are sums of others.
test_rows_add_up() {
	local feature
	fresh && set_state on && around transfer 10.0.0.2 && transfer fd00::2 &&
		transfer -h fd00::2 || return
	for feature in tcp4 tcp6 exthdr; do
		expect "merged of $feature" "$(counter "$feature" merged)" \
			"$(($(counter "$feature" merged_frags) +
				$(counter "$feature" merged_fraglist)))" &&
			expect "packets of $feature" "$(counter "$feature" packets)" \
				"$(($(counter "$feature" merged) + $(counter "$feature" held) +
					$(counter "$feature" passed)))" || return
	done
	# Chains that a held packet has need not be walked.
	[ "$(counter exthdr walked)" -gt 0 ] &&
		[ "$(counter exthdr walked)" -lt "$(counter exthdr packets)" ]
}

# No more aggregates than packets that began one; none that nothing was merged
# into.
test_completed_is_plausible() {
	local completed
	fresh && set_state on && around transfer 10.0.0.2 || return
	completed=$(grown tcp4.completed.opt)
	if [ "$completed" -gt "$(grown tcp4.held.opt)" ] ||
		[ "$completed" -gt "$(grown tcp4.merged.opt)" ] || [ "$completed" = 0 ]; then
		echo "completed $completed, held $(grown tcp4.held.opt), merged $(
			grown tcp4.merged.opt)"
		return 1
	fi
}

test_passthrough_counts_in_stock_only() {
	fresh && set_state passthrough && around transfer 10.0.0.2 &&
		expect counted "$(grown tcp4.packets.stock)" \
			"$(grown received)" &&
		only_grew tcp4.packets.stock && around transfer fd00::2 &&
		expect counted "$(grown tcp6.packets.stock)" \
			"$(grown received)" &&
		only_grew tcp6.packets.stock
}

test_on_counts_in_opt_only() {
	fresh && set_state on && around transfer 10.0.0.2 &&
		expect stock "$(grown tcp4.packets.stock)" 0 && around transfer fd00::2 &&
		expect stock "$(grown tcp6.packets.stock)" 0
}

test_off_counts_nothing() {
	fresh && around transfer 10.0.0.2 && only_grew && around transfer fd00::2 &&
		only_grew
}

# A feature that is off sends its packets to stock, always; others go on.
test_feature_off_v4() {
	fresh && set_state on && set_feature tcp4 0 && around transfer 10.0.0.2 &&
		only_grew tcp4.packets.stock && around transfer fd00::2 &&
		expect counted "$(grown tcp6.packets.opt)" \
			"$(grown received)"
}

test_feature_off_v6() {
	fresh && set_state on && set_feature tcp6 0 && around transfer fd00::2 &&
		only_grew tcp6.packets.stock
}

# Packets with extension headers are not tcp6's while exthdr is off.
test_feature_off_exthdr() {
	fresh && set_state on && set_feature exthdr 0 && around transfer -d fd00::2 &&
		expect "packets of exthdr" "$(taken exthdr)" 0 &&
		few "packets of tcp6" "$(grown tcp6.packets.opt)" &&
		around transfer fd00::2 &&
		expect counted "$(seen tcp6)" "$(grown received)"
}

read_under_traffic() {
	local sender i
	start "$TMP/sent" "$A" traffic send 10.0.0.2 4000
	sender=$!
	for ((i = 0; i < 30; i++)); do
		tail -n +2 "$GRO_OPT/features/tcp4/counters" | sed "s/-/0/" >>"$TMP/readings"
	done
	finish "$sender"
}

test_never_fall() {
	fresh && set_state on || return
	: >"$TMP/readings"
	read_under_traffic && awk '$3 < last[$1] || $2 < stock[$1] { bad = 1; print }
		{ last[$1] = $3; stock[$1] = $2; n++ } END { exit bad || n < 600 }' \
		"$TMP/readings"
}

# Counters live from load to unload: no switch takes anything away.
test_survive_switches() {
	local before
	fresh && set_state on && transfer 10.0.0.2 || return
	before=$(counter tcp4 packets)
	set_state passthrough && set_state off && set_feature tcp4 0 &&
		set_feature tcp4 1 && set_state on &&
		expect packets "$(counter tcp4 packets)" "$before" && fresh &&
		expect "after a new load" "$(counter tcp4 packets)" 0
}

quiet() {
	local before
	before=$(rx_packets "$B" b0)
	sleep 1.5
	[ "$(rx_packets "$B" b0)" = "$before" ]
}

static_neighbours() {
	local mac_a mac_b
	mac_a=$(on "$A" cat /sys/class/net/a0/address)
	mac_b=$(on "$B" cat /sys/class/net/b0/address)
	ip -n "$A" neigh add 10.0.0.2 lladdr "$mac_b" dev a0 &&
		ip -n "$A" neigh add fd00::2 lladdr "$mac_b" dev a0 &&
		ip -n "$B" neigh add 10.0.0.1 lladdr "$mac_a" dev b0 &&
		ip -n "$B" neigh add fd00::1 lladdr "$mac_a" dev b0
}

if ! pair tso off gso off tx off || ! static_neighbours || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi
wait_for 20 quiet >&2

run_tests every_packet_v4 every_packet_v6 every_packet_v6_with_options \
	merged_is_what_ip_missed rows_add_up completed_is_plausible \
	passthrough_counts_in_stock_only on_counts_in_opt_only off_counts_nothing \
	feature_off_v4 feature_off_v6 feature_off_exthdr never_fall survive_switches
