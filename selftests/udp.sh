#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Datagrams from socket to socket, with the programs of the kernel's own UDP GRO
# selftest (net/udpgso_bench_*.c), built from the source of the running kernel.
# What a socket with UDP_GRO gets, and one without, is the same in all states; in
# state on it has to be ours that did it.
#
#	namespace A: a0 ---- b0 :namespace B, GRO
#
# One send of several segments is one burst to b0, since veth polls when the last
# of them has been sent.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

PORT=8000
OTHER_PORT=8001
RX=$HERE/upstream_udp_rx
TX=$HERE/upstream_udp_tx
V4=(-4 -D 10.0.0.2)
V6=(-6 -D fd00::2)

# listens PORT: is there a socket at it, of whatever family?
listens() {
	on "$B" cat /proc/net/udp /proc/net/udp6 |
		grep -q ":$(printf %04X "$1") "
}

receiver() {
	start "$TMP/receiver" "$B" "$RX" -C 20000 -R 3000 "$@"
	receiver=$!
	wait_for 20 listens "$PORT"
}

# deliver SENDER-ARGUMENT... rx RECEIVER-ARGUMENT...
deliver() {
	local sender=()
	while [ "$1" != rx ]; do
		sender+=("$1")
		shift
	done
	shift
	receiver -p "$PORT" "$@" &&
		on "$A" "$TX" -l 4 -p "$PORT" -M 1 "${sender[@]}" &&
		wait "$receiver" && return
	cat "$TMP/receiver"
	return 1
}

# in_all_states COMMAND...
in_all_states() {
	local state
	fresh || return
	for state in off passthrough on; do
		set_state "$state" && "$@" && continue
		echo "in state $state"
		return 1
	done
}

at_least() {
	[ "$2" -ge "$3" ] && return
	echo "$1: $2, less than $3"
	return 1
}

# ours FEATURE NUMBER: so many datagrams were joined by ours, and counted as what
# becomes of them.
ours() {
	local c=counter f=$1
	at_least "merged of $f" "$($c "$f" merged)" "$2" &&
		at_least "completed of $f" "$($c "$f" completed)" 1 &&
		expect "packets of $f" "$($c "$f" packets)" \
			"$(($($c "$f" merged) + $($c "$f" held) +
				$($c "$f" passed) + $($c "$f" left_l4)))"
}

test_merged_v4() {
	in_all_states deliver "${V4[@]}" -s 14720 -S 0 rx -4 -G -n 1 -l 14720 -S 1472 &&
		ours udp4 9
}

test_merged_v6() {
	in_all_states deliver "${V6[@]}" -s 14520 -S 0 rx -G -n 1 -l 14520 -S 1452 &&
		ours udp6 9
}

test_shorter_last_segment() {
	in_all_states deliver "${V4[@]}" -s 14720 -S 500 rx -4 -G -n 1 -l 14720 -S 500 &&
		ours udp4 29 && at_least short "$(counter udp4 flushed_short)" 1
}

test_sixty_four_segments() {
	in_all_states deliver "${V6[@]}" -s 32000 -S 500 rx -G -n 1 -l 32000 -S 500 &&
		ours udp6 63 && at_least full "$(counter udp6 flushed_count)" 1
}

deliver_summed() {
	in_all_states deliver "${V4[@]}" -s 14720 -S 0 rx -4 -G -n 1 -l 14720 &&
		ours udp4 9 &&
		in_all_states deliver "${V6[@]}" -s 14520 -S 0 rx -G -n 1 -l 14520 &&
		ours udp6 9
}

test_checksums_to_be_verified() {
	local ret=0
	offload "$A" a0 tx off || return
	deliver_summed || ret=1
	offload "$A" a0 tx on && return "$ret"
}

# Until 6.11 several segments at once are not for a device that does no checksums.
sends_summed() {
	local ret=0
	offload "$A" a0 tx off || return
	on "$A" "$TX" -l 4 -p "$PORT" -M 1 "${V4[@]}" -s 2944 -S 0 \
		>/dev/null 2>&1 || ret=1
	offload "$A" a0 tx on && return "$ret"
}

# -S -1: the receiver is not told a segment size, as nothing was merged.
test_plain_v4() {
	in_all_states deliver "${V4[@]}" -s 14720 -S 0 rx -4 -n 10 -l 1472 -S -1 &&
		expect merged "$(counter udp4 merged)" 0 &&
		expect left_l4 "$(counter udp4 left_l4)" 10
}

test_plain_v6() {
	in_all_states deliver "${V6[@]}" -s 14520 -S 0 rx -n 10 -l 1452 -S -1 &&
		expect merged "$(counter udp6 merged)" 0 &&
		expect left_l4 "$(counter udp6 left_l4)" 10
}

# A socket that asks makes stock look for the socket of each datagram.
test_plain_beside_one_that_asks() {
	start "$TMP/other" "$B" "$RX" -4 -G -n 0 -p "$OTHER_PORT"
	wait_for 20 listens "$OTHER_PORT" &&
		in_all_states deliver "${V4[@]}" -s 14720 -S 0 rx -4 -n 10 -l 1472 -S -1 &&
		expect merged "$(counter udp4 merged)" 0
}

# Nobody's datagram: forwarded, or with no socket. Nothing to see but counters.
test_forwarding() {
	fresh && set_state on && offload "$B" b0 rx-udp-gro-forwarding on &&
		on "$A" "$TX" -l 4 -p "$PORT" -M 1 "${V4[@]}" -s 14720 -S 0 &&
		offload "$B" b0 rx-udp-gro-forwarding off && ours udp4 9
}

# Chained instead of merged, which is stock's; each arrives by itself.
test_rx_gro_list() {
	offload "$B" b0 rx-gro-list on &&
		in_all_states deliver "${V4[@]}" -s 14720 -S 0 rx -4 -n 10 -l 1472 -S -1 &&
		offload "$B" b0 rx-gro-list off &&
		expect merged "$(counter udp4 merged)" 0
}

test_feature_off() {
	fresh && set_state on && set_feature udp4 0 &&
		deliver "${V4[@]}" -s 14720 -S 0 rx -4 -G -n 1 -l 14720 -S 1472 &&
		expect "packets of ours" "$(counter udp4 packets)" 0 &&
		expect "packets of stock" "$(counter udp4 packets stock)" 10 &&
		deliver "${V6[@]}" -s 14520 -S 0 rx -G -n 1 -l 14520 -S 1452 &&
		ours udp6 9
}

[ -x "$RX" ] || skip_all "no udpgso_bench_rx in this kernel's source"
if ! pair tso off tx-udp-segmentation off; then
	skip_all "cannot make namespaces with veth between them"
fi

tests=(merged_v4 merged_v6 shorter_last_segment sixty_four_segments plain_v4
	plain_v6 plain_beside_one_that_asks forwarding rx_gro_list feature_off)
if sends_summed; then tests+=(checksums_to_be_verified); fi
run_tests "${tests[@]}"
