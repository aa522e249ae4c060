#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own GRO selftest (net/gro.c, later net/lib/gro.c), built from the
# source of the running kernel: all its cases, over veth, in all three states.
# Each has to pass with stock, and so with ours.
#
# What upstream's gro.sh and gro.py do is done here as well: a few packets sent
# from a packet socket, received at another one behind GRO, compared with what
# the case expects. The timing is a matter of luck, so a case is repeated if too
# little was merged, and never if too much was.
#
# Cases of one state run side by side, each with its own pair of devices, all in a
# network namespace of this script's: mostly they sleep.

if [ -z "${UPSTREAM_GRO_INSIDE:-}" ]; then
	UPSTREAM_GRO_INSIDE=yes exec unshare -n "$0" "$@"
fi

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

: "${WORKERS:=8}"
TRIES=6
GRO=$HERE/upstream_gro
CLIENT_MAC=aa:00:00:00:00:01
SERVER_MAC=aa:00:00:00:00:02

# --- which cases ------------------------------------------------------------

has_case() {
	grep -qx "$1" "$HERE/upstream_gro.names"
}

# Before 7.0 a name stood for several cases, all of them for both protocols.
old_cases() {
	local proto name
	for proto in ipv4 ipv6; do
		for name in data ack flags tcp ip large; do echo "$proto $name"; done
	done
}

# As gro.py combines them.
new_cases() {
	local proto name common four six pppoe
	common="data_same data_lrg_sml data_sml_lrg data_lrg_1byte data_burst ack
		flags_psh flags_syn flags_rst flags_urg flags_cwr tcp_csum tcp_seq tcp_ts
		tcp_opt ip_ecn ip_tos large_max large_rem"
	four="ip_csum ip_ttl ip_opt ip_frag4 ip_id_df1_inc ip_id_df1_fixed
		ip_id_df0_inc ip_id_df0_fixed ip_id_df1_inc_fixed ip_id_df1_fixed_inc"
	six="ip_frag6 ip_v6ext_same ip_v6ext_diff"
	pppoe="data_same data_lrg_sml data_sml_lrg data_lrg_1byte data_burst pppoe_sid"
	for proto in ipv4 ipv6 ipip ip6ip6; do
		for name in $common; do echo "$proto $name"; done
	done
	for proto in ipv4 ipip; do
		for name in $four; do echo "$proto $name"; done
	done
	for name in $six; do echo "ipv6 $name"; done
	for proto in pppoev4 pppoev6; do
		for name in $pppoe; do echo "$proto $name"; done
	done
	for proto in ipv4 ipv6; do
		for name in single capacity; do echo "$proto $name"; done
	done
}

cases() {
	if has_case data; then old_cases; else new_cases; fi
}

# --- one case ---------------------------------------------------------------

# Packets of one burst are polled one by one, so what is held has to outlive the
# pause between them, which is long where the CPU is emulated; but not that
# between two bursts, a second or, of late, a tenth of that.
flush_timeout() {
	if has_case data; then echo 200000000; else echo 40000000; fi
}

make_worker() {
	local sys=$TMP/sys/class/net/server$1
	ip link add "client$1" address "$CLIENT_MAC" mtu 65535 type veth \
		peer name "server$1" address "$SERVER_MAC" mtu 65535 &&
		ethtool -K "server$1" gro on tso off >/dev/null &&
		ethtool -K "client$1" gro on tso off >/dev/null &&
		flush_timeout >"$sys/gro_flush_timeout" &&
		echo 100 >"$sys/napi_defer_hard_irqs" &&
		cat "$sys/ifindex" >"$TMP/index$1" &&
		ip link set "client$1" up && ip link set "server$1" up
}

# Upstream's sysfs files, for the devices of this namespace.
make_workers() {
	local i
	mkdir "$TMP/sys" && mount -t sysfs sysfs "$TMP/sys" || return
	echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
	for ((i = 0; i < WORKERS; i++)); do make_worker "$i" || return; done
	umount "$TMP/sys"
}

# sums FILE BEGINNING: of the numbers in the last line of such a kind; in
# brackets is what was wanted instead.
sums() {
	sed -n "s/^.*$2 {\([^}]*\)}.*/\1/p" "$1" | tail -n1 |
		sed 's/\[[^]]*\]//g' | awk '{ for (i = 1; i <= NF; i++) n += $i
			print NF, n + 0 }'
}

# verdict STATUS LOG: pass, over (too much merged) or under. Of late upstream has
# an exit code for it; it is told by fewer packets with all the bytes.
verdict() {
	local want got want_bytes got_bytes
	if [ "$1" = 0 ]; then
		echo pass
		return
	fi
	read -r want want_bytes < <(sums "$2" Expected)
	read -r got got_bytes < <(sums "$2" Received)
	if [ "$1" = 42 ] || { [ "${got:-0}" -lt "${want:-0}" ] &&
		[ "$got_bytes" = "$want_bytes" ]; }; then
		echo over
	else
		echo under
	fi
}

# try_case WORKER PROTO NAME LOG
try_case() {
	local receiver status=0
	local args=("--$2" --dmac "$SERVER_MAC" --smac "$CLIENT_MAC" --test "$3"
		--verbose)
	if [ "$3" = capacity ]; then args+=(--num-flows 8); fi
	"$GRO" "${args[@]}" --rx --iface "server$1" >"$4" 2>&1 &
	receiver=$!
	wait_for 5 bound "$1" >>"$4"
	"$GRO" "${args[@]}" --iface "client$1" >"$4.tx" 2>&1
	wait "$receiver" || status=$?
	verdict "$status" "$4"
}

# A packet socket is bound to the worker's receiving device.
bound() {
	local index iface _
	read -r index <"$TMP/index$1"
	# sk RefCnt Type Proto Iface R Rmem User Inode
	while read -r _ _ _ _ iface _; do
		if [ "$iface" = "$index" ]; then return; fi
	done </proc/net/packet
	return 1
}

# run_case WORKER STATE PROTO NAME
run_case() {
	local log=$TMP/$2-$3-$4.log try result
	for ((try = 1; try <= TRIES; try++)); do
		result=$(try_case "$1" "$3" "$4" "$log.$try")
		if [ "$result" != under ]; then break; fi
	done
	echo "$result $try" >"$TMP/$2-$3-$4"
}

worker() {
	local worker=$1 state=$2 proto name n=0
	while read -r proto name; do
		if [ $((n++ % WORKERS)) = "$worker" ]; then
			run_case "$worker" "$state" "$proto" "$name"
		fi
	done <"$TMP/cases"
}

run_state() {
	local i pids=()
	for ((i = 0; i < WORKERS; i++)); do
		worker "$i" "$1" &
		pids+=("$!")
	done
	wait "${pids[@]}"
}

# --- the tests --------------------------------------------------------------

# A case that is new in gro.c has to be added above.
test_no_case_is_left_out() {
	cut -d' ' -f2 "$TMP/cases" | sort -u | diff "$HERE/upstream_gro.names" -
}

# The cases' verdicts are looked at below; here, that ours were in the tables,
# and were asked.
test_all_states_ran() {
	local state
	fresh || return
	for state in off passthrough on; do
		set_state "$state" && run_state "$state" &&
			expect "state after it" "$(state)" "$state" || return
	done
	[ "$(counter tcp4 packets)" -gt 0 ] && [ "$(counter tcp6 packets)" -gt 0 ] &&
		[ "$(counter tcp4 packets stock)" -gt 0 ] &&
		[ "$(counter tcp6 packets stock)" -gt 0 ]
}

# result STATE: "pass", with the number of tries if it took some.
result() {
	local what tries
	read -r what tries <"$TMP/$1-$case_proto-$case_name" || what=none
	if [ "${tries:-1}" -gt 1 ]; then what+=" (try $tries)"; fi
	echo "$what"
}

test_one_case() {
	local state status=0
	quick=yes
	for state in off passthrough on; do
		echo "$state: $(result "$state")"
		case $(result "$state") in
		pass*) ;;
		*)
			status=1
			grep -h . "$TMP/$state-$case_proto-$case_name".log.* | tail -n 12
			;;
		esac
	done
	return "$status"
}

[ -x "$GRO" ] || skip_all "built without the source of kernel $(uname -r): set KSRC"
make_workers || skip_all "cannot make veth devices"
cases >"$TMP/cases"
# Registers PPPoE's GRO where there is such a thing.
modprobe -q pppoe
set -- no_case_is_left_out all_states_ran
while read -r case_proto case_name; do
	set -- "$@" "${case_proto}_$case_name"
	eval "test_${case_proto}_$case_name() {
		case_proto=$case_proto case_name=$case_name test_one_case
	}"
done <"$TMP/cases"
run_tests "$@"
