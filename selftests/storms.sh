#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Everything at once: four writers flip state, features and devices as fast as a
# shell can, streams run on two CPUs, and around them devices and namespaces come
# and go, the module is removed and loaded, a CPU goes offline and back, another
# module puts its entries over ours and goes. Every byte of the streams has to
# arrive once, and nothing may be left behind. STORM=n for n seconds each (4),
# SEED=n for another order.
#
#	namespace A: a0, 10.0.0.1 ---- b0, 10.0.0.2 :namespace B, GRO

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

: "${STORM:=4}"
CPU1=/sys/devices/system/cpu/cpu1/online

# --- traffic --------------------------------------------------------------------


# Two on each of the first two CPUs, behind those who are to disturb them.
start_streams() {
	local to masks=(1 1) i=0
	if [ -e "$CPU1" ]; then masks=(1 2); fi
	streams=()
	for to in 10.0.0.2 fd00::2 10.0.0.2 "-d fd00::2"; do
		# shellcheck disable=SC2086
		stream 5 $((i + SEED)) $to
		taskset -p "${masks[i % 2]}" "$!" >"$TMP/taskset" &&
			renice -n 10 -p "$!" >"$TMP/renice" || return
		i=$((i + 1))
	done
	sleep 0.3
}

bytes_sent() {
	awk '{ sum += $4 } END { printf "%d MB", sum / 1e6 }' "$TMP"/stream?
}

# --- what goes on around it -------------------------------------------------------

# A write may be refused, be it that the file is not there.
write_state() {
	if [ -e "$TMP/lull" ]; then return 1; fi
	case $((RANDOM % 5)) in
	0) echo off ;;
	1 | 2) echo passthrough ;;
	*) echo on ;;
	esac >"$GRO_OPT/state"
}

write_feature() {
	echo $((RANDOM % 2)) >"$GRO_OPT/features/${FEATURES[RANDOM % ${#FEATURES[@]}]}/enabled"
}

write_devices() {
	case $((RANDOM % 3)) in
	0) echo '*' ;;
	1) echo 'b?' ;;
	*) echo 'nix a*' ;;
	esac >"$GRO_OPT/devices"
}

write_anything() {
	case $((RANDOM % 3)) in
	0) write_state ;;
	1) write_feature ;;
	*) write_devices ;;
	esac
}

namespace_comes_and_goes() {
	local ns=gro_opt-$$-storm
	ip netns add "$ns" && ip link add storm0 netns "$ns" type veth peer name \
		storm1 netns "$B" && ip -n "$B" link set storm1 up &&
		ip -n "$ns" link set storm0 up && offload "$B" storm1 gro on
	ip netns del "$ns"
}

module_goes() {
	echo off >"$GRO_OPT/state"
	[ "$(aid unload gro_opt)" = OK ]
}

# Somebody may write "on" in between; the second time they hold their breath.
module_goes_in_a_lull() {
	local status
	: >"$TMP/lull"
	module_goes
	status=$?
	rm "$TMP/lull"
	return "$status"
}

# It cannot come while another module is in its place, so it may be away already.
module_goes_and_comes() {
	! loaded || module_goes || module_goes_in_a_lull || return
	[ "$(aid load "$KO" "state=$(one_of off passthrough on)")" = OK ]
}

cpu_goes_and_comes() {
	echo 0 >"$CPU1" && sleep 0.1
	echo 1 >"$CPU1"
}

# Stays away at times, too: nobody can load gro_opt while it is there.
foreign_comes_and_goes() {
	modprobe gro_foreign && sleep "0.0$((RANDOM % 10))"
	rmmod gro_foreign && sleep "0.$((RANDOM % 4))"
}

# again WHAT: until the storm is over; a line for each time it worked.
again() {
	RANDOM=$((SEED + ${#1}))
	while [ ! -e "$TMP/calm" ]; do
		if "$1" >"$TMP/$1.log" 2>&1; then echo >>"$TMP/$1.times"; fi
	done
}

# How often each of them has worked.
times() {
	local what
	for what; do
		echo "$what $(wc -l <"$TMP/$what.times")"
	done
}

# fewer_than N WHAT...: has one of them?
fewer_than() {
	local n=$1
	shift
	times "$@" | awk -v n="$n" '$2 < n { few = 1 } END { exit !few }'
}

# wait_for_turns N SECONDS WHAT...: N of each, but for no longer than that.
wait_for_turns() {
	local n=$1 deadline=$((SECONDS + $2))
	shift 2
	while fewer_than "$n" "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || return
		sleep 0.5
	done
}

# storm WHAT...: each of them again and again, beside the writers and streams.
storm() {
	local what pids=() status=0 start=$SECONDS
	set -- write_state write_feature write_devices write_anything "$@"
	rm -f "$TMP/calm"
	start_streams || return
	for what; do
		: >"$TMP/$what.times"
		again "$what" &
		pids+=("$!")
	done
	sleep "$STORM"
	# On a busy machine one has to do, for who waits for another to be away.
	wait_for_turns 3 60 "$@" || wait_for_turns 1 180 "$@" || status=1
	: >"$TMP/calm"
	wait "${pids[@]}"
	streams_arrive || status=1
	tell "$(times "$@" | tr '\n' ' ')bytes $(bytes_sent), $((SECONDS - start)) s"
	[ "$status" = 0 ] || times "$@"
	calm_again && return "$status"
}

# Whatever was left of it, all works and all lets go.
calm_again() {
	local feature
	no_foreign || return
	loaded || load || return
	set_state off && expect "references" "$(cat /sys/module/gro_opt/refcnt)" 0 &&
		tables_are_stock && set_devices '*' || return
	for feature in "${FEATURES[@]}"; do set_feature "$feature" 1 || return; done
	set_state on && handled_by ours "afterwards, packets" && set_state off
}

# --- what may not grow ------------------------------------------------------------

CACHES=(skbuff_head_cache skbuff_fclone_cache skbuff_small_head kmalloc-512
	kmalloc-1k kmalloc-2k kmalloc-4k net_namespace)

# Objects in use, by cache; a shrunk cache counts none that are free.
objects() {
	local cache dir
	sleep 1
	for cache in "${CACHES[@]}"; do
		dir=/sys/kernel/slab/$cache
		[ -e "$dir/objects" ] || continue
		echo 1 >"$dir/shrink"
		echo "$cache $(cut -d' ' -f1 "$dir/objects")"
	done
}

grown() {
	objects | awk 'NR == FNR { was[$1] = $2; next } { print $1, was[$1], $2 }' \
		"$TMP/objects" - >"$TMP/grown"
}

# The kernel takes namespaces apart when it has the time, and keeps the last one
# until the next goes.
namespaces_are_gone() {
	grown && awk '$1 == "net_namespace" && $3 > $2 + 1 { left = 1 }
		END { exit left }' "$TMP/grown"
}

# The storms sent some 100000 packets; each CPU may keep some of its own.
test_nothing_leaks() {
	[ -s "$TMP/objects" ] || {
		echo "the kernel does not tell how many objects its caches hold"
		return "$KSFT_SKIP"
	}
	namespaces_are_gone || sleep 10
	grown
	tell "objects before and now: $(tr '\n' ' ' <"$TMP/grown")"
	awk '{ print }
		$3 - $2 > ($1 == "net_namespace" ? 1 : 400) { bad = 1; print "grew: " $1 }
		END { exit bad || NR < 3 }' "$TMP/grown"
}

# --- tests ------------------------------------------------------------------------

test_writers() {
	fresh && storm && objects >"$TMP/objects"
}

test_reloads_and_foreign_entries() {
	fresh && storm module_goes_and_comes foreign_comes_and_goes
}

test_all_of_it() {
	local cpus=()
	if [ -w "$CPU1" ]; then cpus=(cpu_goes_and_comes); fi
	fresh && storm namespace_comes_and_goes module_goes_and_comes \
		foreign_comes_and_goes "${cpus[@]}"
}

test_nothing_is_left() {
	unload && tables_are_stock && transfer &&
		expect "files" "$(ls -d "$GRO_OPT" "$DEBUG" 2>/dev/null)" ""
}

need_tools renice taskset
unload || skip_all "gro_opt is loaded and does not let go"
modprobe -n gro_foreign 2>/dev/null || skip_all "no module gro_foreign"
remember_tables
if ! pair tso off || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi
: "${SEED:=$((($(date +%s) ^ $$) & 32767))}"
note "SEED=$SEED"

run_tests writers reloads_and_foreign_entries all_of_it nothing_leaks \
	nothing_is_left
