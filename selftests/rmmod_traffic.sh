#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Leaving under traffic, 50 times: load, on, unload refused as busy, off, unload,
# all while TCP streams run over IPv4 and IPv6. ROUNDS=n for more.
#
#	namespace A: a0 ---- b0 :namespace B, GRO

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

: "${ROUNDS:=50}"

one_round() {
	local merged=0
	load && set_state on || return
	expect_like "unload while on" "$(aid unload gro_opt)" 'EAGAIN|EBUSY' || return
	# Nothing proves that an unload came under traffic but traffic.
	wait_for 10 merging || return
	merged=$(counter tcp4 merged)
	set_state off && expect unload "$(aid unload gro_opt)" OK &&
		merged_in_all=$((merged_in_all + merged))
}

merging() {
	[ "$(counter tcp4 merged)" -gt 0 ] && [ "$(counter tcp6 merged)" -gt 0 ]
}

test_unload_under_traffic() {
	local four six i status=0
	merged_in_all=0
	unload || return
	start "$TMP/four" "$A" traffic send -p 10 -c 2 10.0.0.2 4000
	four=$!
	start "$TMP/six" "$A" traffic send -p 10 fd00::2 4000
	six=$!
	for ((i = 1; i <= ROUNDS; i++)); do
		one_round || status=1
		if [ "$status" = 1 ]; then
			echo "in round $i"
			break
		fi
	done
	finish "$four" || status=1
	finish "$six" || status=1
	cat "$TMP/four" "$TMP/six"
	expect "streams that arrived" "$(cat "$TMP/four" "$TMP/six" | grep -c right)" 3 &&
		[ "$merged_in_all" -ge "$ROUNDS" ] && return "$status"
	return 1
}

one_round_passthrough() {
	load state=passthrough &&
		expect_like "unload in passthrough" "$(aid unload gro_opt)" \
			'EAGAIN|EBUSY' || return
	wait_for 10 passing && set_state off &&
		expect unload "$(aid unload gro_opt)" OK
}

passing() {
	[ "$(counter tcp4 packets stock)" -gt 0 ]
}

# In state passthrough too a pointer of ours is in the tables.
test_unload_from_passthrough_under_traffic() {
	local four i status=0
	unload || return
	start "$TMP/four" "$A" traffic send -p 10 10.0.0.2 4000
	four=$!
	for i in 1 2 3 4 5 6 7 8; do
		one_round_passthrough || status=1
		if [ "$status" = 1 ]; then
			echo "in round $i"
			break
		fi
	done
	finish "$four" || status=1
	grep right "$TMP/four" && return "$status"
}

# A reader holds a file of the module open: no crash, and it goes later.
test_unload_with_an_open_file() {
	local reader
	fresh || return
	(exec 9<"$DEBUG/percpu" && sleep 2) &
	reader=$!
	sleep 0.2
	expect_like "unload with debugfs open" "$(aid unload gro_opt)" 'OK|EAGAIN|EBUSY'
	wait "$reader"
	unload
}

test_nothing_is_left() {
	if loaded || [ -e "$GRO_OPT" ] || [ -e "$DEBUG" ]; then
		echo "the module is still there"
		return 1
	fi
	tables_are_stock
}

unload || skip_all "gro_opt is loaded and does not let go"
remember_tables
if ! pair tso off || ! sink "$B"; then
	skip_all "cannot make namespaces with veth between them"
fi

run_tests unload_under_traffic unload_from_passthrough_under_traffic \
	unload_with_an_open_file nothing_is_left
