#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The udev rules with a real udevd: which devices are tagged, profiles of
# /etc/gro_opt applied as devices appear or get another name, faults logged,
# nothing done without the module or without profiles.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

RULES=/run/udev/rules.d
PROFILES=/etc/gro_opt
OURS=(vprof0 vprof1 vpeer0 vpeer1 mlx0 gve0 plain0 vother)

# What udevd would know with drivers that no virtual machine has.
stand_ins() {
	echo 'SUBSYSTEM=="net", IMPORT{builtin}="net_setup_link"'
	echo 'SUBSYSTEM=="net", KERNEL=="mlx0", ENV{ID_NET_DRIVER}="mlx5_core"'
	echo 'SUBSYSTEM=="net", KERNEL=="gve0", ENV{ID_NET_DRIVER}="gve"'
}

start_udevd() {
	mkdir -p "$RULES"
	stand_ins >"$RULES/84-gro_opt-test.rules"
	cp "$HERE/85-gro_opt.rules" "$RULES/"
	if udevadm control --ping 2>/dev/null; then
		udevadm control --reload
		return
	fi
	# The program goes by the name that it is called by.
	ln -s "$(command -v udevadm)" "$TMP/systemd-udevd"
	"$TMP/systemd-udevd" >"$TMP/udevd" 2>&1 &
	jobs_started+=("$!")
	wait_for 20 udevadm control --ping
}

# The rule's groctl is an installed one.
put_groctl() {
	if [ -e /usr/local/sbin/groctl ]; then return; fi
	mkdir -p /usr/local/sbin &&
		ln -s "$(command -v groctl)" /usr/local/sbin/groctl &&
		linked=yes
}

remove_devices() {
	local device
	for device in "${OURS[@]}"; do
		ip link del "$device" 2>/dev/null
	done
	udevadm settle -t 30
}

put_back() {
	local status=$?
	remove_devices
	rm -rf "$RULES"/8?-gro_opt*.rules "$PROFILES"
	if [ "$linked" = yes ]; then rm /usr/local/sbin/groctl; fi
	(exit "$status")
	cleanup
}

# profile NAME LINE...
profile() {
	local name=$1
	shift
	printf '%s\n' "$@" >"$PROFILES/$name.conf"
}

# begin LINE...: nothing there but a profile, the module as if just loaded
begin() {
	remove_devices
	rm -f "$PROFILES"/*
	if [ $# -gt 0 ]; then profile 50-test "$@"; fi
	fresh
}

appears() {
	ip link add "$@" && udevadm settle -t 60
}

property() {
	udevadm info -q property "/sys/class/net/$1" |
		sed -n "s/^$2=//p"
}

attribute() {
	expect "$1 of $2" "$(cat "/sys/class/net/$2/$1")" "$3"
}

enabled() {
	local feature
	for feature in "${FEATURES[@]}"; do
		if [ "$(cat "$GRO_OPT/features/$feature/enabled")" = 1 ]; then
			printf '%s ' "$feature"
		fi
	done
}

devices_are() {
	expect devices "$(cat "$GRO_OPT/devices")" "$1"
}

# A newer udevadm judges the file; an older one complains where it reads it.
test_rules_are_sound() {
	if udevadm verify --help >/dev/null 2>&1; then
		udevadm verify "$HERE/85-gro_opt.rules"
		return
	fi
	udevadm test /sys/class/net/lo >"$TMP/test" 2>&1
	grep -q 'gro_opt.rules' "$TMP/test" || cat "$TMP/test" || return
	if grep -E '85-gro_opt.rules:[0-9]+.*([Ii]nvalid|[Uu]nknown|[Ff]ailed)' \
		"$TMP/test"; then
		return 1
	fi
}

tagged() {
	expect_like "tags of $1" "$(property "$1" TAGS)" ".*:gro_opt:.*" &&
		expect "driver of $1" "$(property "$1" GRO_OPT_DRIVER)" "$2"
}

test_devices_are_tagged() {
	begin && appears vprof0 type veth peer name vpeer0 &&
		appears mlx0 type bridge && appears gve0 type bridge &&
		appears plain0 type bridge || return
	tagged vprof0 veth && tagged mlx0 mlx5_core && tagged gve0 gve &&
		expect "tags of a bridge" "$(property plain0 TAGS)" ""
}

test_profile_of_a_name() {
	begin 'device = vprof*' 'only = yes' 'gro_flush_timeout = 20000' \
		'napi_defer_hard_irqs = 2' 'features = tcp4, udp4' 'state = on' &&
		appears vother type veth peer name vpeer0 || return
	devices_are '*' && state_is off &&
		attribute gro_flush_timeout vother 0 || return
	appears vprof0 type veth peer name vpeer1 || return
	devices_are vprof0 && expect enabled "$(enabled)" "tcp4 udp4 " &&
		expect state "$(state)" on &&
		attribute gro_flush_timeout vprof0 20000 &&
		attribute napi_defer_hard_irqs vprof0 2 &&
		attribute gro_flush_timeout vpeer1 0
}

test_profile_of_a_driver() {
	begin 'driver = veth' 'gro_flush_timeout = 30000' &&
		appears plain0 type bridge &&
		appears vprof0 type veth peer name vpeer0 || return
	attribute gro_flush_timeout vprof0 30000 &&
		attribute gro_flush_timeout vpeer0 30000 &&
		attribute gro_flush_timeout plain0 0 && state_is off
}

# Both ends of a pair appear at the same time.
test_devices_at_the_same_time() {
	begin 'device = vprof*' 'only = yes' &&
		appears vprof0 type veth peer name vprof1 || return
	expect devices "$(tr ' ' '\n' <"$GRO_OPT/devices" | sort | tr '\n' ' ')" \
		"vprof0 vprof1 "
}

test_another_name() {
	begin 'device = vprof0' 'state = passthrough' &&
		appears vother type veth peer name vpeer0 && state_is off &&
		ip link set vother name vprof0 && udevadm settle -t 60 || return
	expect state "$(state)" passthrough
}

test_a_bad_profile_changes_nothing() {
	begin 'device = vprof0' 'state = passthrough' 'features = tcp5' &&
		profile 60-bad 'device = vprof0' 'stat = on' &&
		appears vprof0 type veth peer name vpeer0 &&
		expect state "$(state)" off
}

test_without_the_module() {
	begin 'device = vprof0' 'gro_flush_timeout = 20000' && unload &&
		appears vprof0 type veth peer name vpeer0 || return
	tagged vprof0 veth && attribute gro_flush_timeout vprof0 0 &&
		expect "module" "$(loaded || echo none)" none
}

test_without_profiles() {
	begin && rmdir "$PROFILES" &&
		appears vprof0 type veth peer name vpeer0 || return
	mkdir "$PROFILES"
	devices_are '*' && state_is off
}

logged() {
	udevadm settle -t 30
	logread | grep -q "gro_opt: faulted: $1; packets take"
}

test_faults_are_logged() {
	[ -w "$DEBUG/inject/fault" ] || return "$KSFT_SKIP"
	begin && set_state on && set_state off &&
		! logread | grep -q 'gro_opt: faulted' && set_state on &&
		expect inject "$(aid write "$DEBUG/inject/fault" 1)" OK &&
		wait_for 10 state_is faulted && wait_for 20 logged injected &&
		set_state off
}

unload || skip_all "gro_opt is loaded and does not let go"
need_tools udevadm groctl logread
[ ! -e "$PROFILES" ] || skip_all "this machine has profiles in $PROFILES"
# busybox's, in memory
logread >/dev/null 2>&1 || syslogd -C64 || skip_all "no log to read: syslogd -C"
linked=no
trap put_back EXIT
mkdir "$PROFILES"
if ! put_groctl || ! start_udevd; then
	skip_all "no udevd: $(tail -n1 "$TMP/udevd" 2>/dev/null)"
fi

run_tests rules_are_sound devices_are_tagged profile_of_a_name \
	profile_of_a_driver devices_at_the_same_time another_name \
	a_bad_profile_changes_nothing without_the_module without_profiles \
	faults_are_logged
