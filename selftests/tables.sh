#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In state off the kernel's offload tables hold no symbol of ours.
#
# "offloads" prints the tables as they stand in the kernel's memory, read through
# /proc/kcore: for each entry the symbol of the entry itself and of its three
# callbacks, with [gro_opt] behind those that lie in our module. That it can see
# ours is shown by the same look while the state is not off.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

no_symbol_of_ours() {
	tables_are_stock || return
	if grep -F gro_opt "$TMP/now"; then
		echo "these are of gro_opt"
		return 1
	fi
}

# entry TYPE: the line of a packet_offload entry; there has to be just one.
entry() {
	expect "entries for $1" "$(grep -c "^packet $1 " "$TMP/now")" 1 >&2 &&
		grep "^packet $1 " "$TMP/now"
}

# ours_stand TYPE NAME SEGMENT: our receive and complete, and stock's way to
# segment, which is not ours to replace.
ours_stand() {
	local name=$2
	expect_like "entry $1" "$(entry "$1")" \
		"packet $1 gro_opt_hooks \[gro_opt\] gso=$3 receive=gro_opt_${name}_receive \[gro_opt\] complete=gro_opt_${name}_complete \[gro_opt\]"
}

# ours_stand_in TABLE NUMBER NAME: the same for a protocol's entry, of which no
# other can be there.
ours_stand_in() {
	local line
	line=$(grep "^$1 $2 " "$TMP/now")
	expect_like "$1[$2]" "$line" \
		"$1 $2 gro_opt_protocols \[gro_opt\] gso=${3}_gso_segment receive=gro_opt_${3}_receive \[gro_opt\] complete=gro_opt_${3}_complete \[gro_opt\]"
}

OURS='^(packet (0800|86dd)|inet6?_offloads (4|41)) '

# rest_is_stock PATTERN: all lines but those that fit it.
rest_is_stock() {
	grep -vE "$1" "$TMP/stock" >"$TMP/want"
	grep -vE "$1" "$TMP/now" | diff "$TMP/want" -
}

ours_for_ip() {
	tables >"$TMP/now" && ours_stand 0800 inet inet_gso_segment &&
		ours_stand 86dd ipv6 ipv6_gso_segment
}

# Entries for IP in IP are there only while encap acts.
ours_for_ip_only() {
	ours_for_ip && rest_is_stock '^packet (0800|86dd) '
}

ours_only() {
	ours_for_ip && ours_stand_in inet_offloads 4 ipip &&
		ours_stand_in inet_offloads 41 sit &&
		ours_stand_in inet6_offloads 4 ip4ip6 &&
		ours_stand_in inet6_offloads 41 ip6ip6 && rest_is_stock "$OURS"
}

test_stock_is_seen_before_load() {
	grep -q '^packet 0800 .*receive=inet_gro_receive complete=inet_gro_complete$' "$TMP/stock" &&
		grep -q '^packet 86dd .*receive=ipv6_gro_receive complete=ipv6_gro_complete$' "$TMP/stock" &&
		grep -q '^inet_offloads 6 .*receive=tcp4_gro_receive' "$TMP/stock" &&
		grep -q '^inet6_offloads 6 .*receive=tcp6_gro_receive' "$TMP/stock" &&
		grep -q '^inet_offloads 4 .*receive=ipip_gro_receive' "$TMP/stock" &&
		grep -q '^inet6_offloads 41 .*receive=sit_ip6ip6_gro_receive' "$TMP/stock" &&
		return
	cat "$TMP/stock"
	return 1
}

test_loaded_and_off() {
	load && expect state "$(state)" off && no_symbol_of_ours
}

test_passthrough_is_seen() {
	fresh && set_state passthrough && ours_for_ip_only
}

test_off_after_passthrough() {
	fresh && set_state passthrough && set_state off && no_symbol_of_ours
}

test_on_is_seen() {
	fresh && set_state on && ours_only
}

test_off_after_on() {
	fresh && set_state on && set_state off && no_symbol_of_ours
}

test_features_off_keep_the_entries_for_ip() {
	local feature
	fresh && set_state on || return
	for feature in "${FEATURES[@]}"; do set_feature "$feature" 0 || return; done
	ours_for_ip_only
}

test_encap_follows() {
	fresh && set_feature encap 0 && set_state on && ours_for_ip_only &&
		set_feature encap 1 && ours_only && set_state passthrough &&
		ours_for_ip_only && set_state on && ours_only &&
		set_feature encap 0 && ours_for_ip_only && set_state off &&
		no_symbol_of_ours
}

# A switch in state on or passthrough that cannot put all of them in.
test_encap_fails() {
	local step
	fresh && set_feature encap 0 && set_state on || return
	for step in 3 4 5 6; do
		echo "$step" >"$DEBUG/inject/fail_step" || return
		expect "encap, failing at step $step" \
			"$(aid write "$GRO_OPT/features/encap/enabled" 1)" ENOMEM &&
			expect enabled "$(cat "$GRO_OPT/features/encap/enabled")" 0 &&
			expect state "$(state)" on && ours_for_ip_only || return
	done
	set_state passthrough && set_feature encap 1 || return
	echo 5 >"$DEBUG/inject/fail_step" || return
	expect "on, failing at step 5" "$(aid write "$GRO_OPT/state" on)" ENOMEM &&
		expect state "$(state)" passthrough && ours_for_ip_only &&
		set_state on && ours_only
}

test_off_after_a_failed_switch() {
	local step
	fresh || return
	for step in 1 2 3 4 5 6; do
		echo "$step" >"$DEBUG/inject/fail_step" || return
		expect "switch that fails at step $step" \
			"$(aid write "$GRO_OPT/state" on)" ENOMEM &&
			no_symbol_of_ours || return
	done
}

test_faulted_then_off() {
	fresh && set_state on && echo 1 >"$DEBUG/inject/fault" &&
		wait_for 5 state_is faulted && wait_for 5 ours_for_ip_only &&
		set_state off && no_symbol_of_ours
}

test_unloaded() {
	unload && no_symbol_of_ours || return
	if grep -F '[gro_opt]' /proc/kallsyms; then
		echo "these symbols are still there"
		return 1
	fi
}

unload || skip_all "gro_opt is loaded and does not let go"
remember_tables

run_tests stock_is_seen_before_load loaded_and_off passthrough_is_seen \
	off_after_passthrough on_is_seen off_after_on \
	features_off_keep_the_entries_for_ip encap_follows encap_fails \
	off_after_a_failed_switch faulted_then_off unloaded
