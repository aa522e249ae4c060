# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Used by the tests, not here; awk's and sh's variables are not ours.
# shellcheck disable=SC2034,SC2016,SC2119,SC2120
# What the shell tests share: TAP, the module's state, namespaces with veth
# between them, TCP streams. Sourced by each test, which then defines
# test_<name> functions and ends with: run_tests <name>...
#
# A test function fails with any exit code but 0; 4 skips it, with the last
# line of what it printed as the reason. What it printed is shown if it failed.

export LC_ALL=C

GRO_OPT=/sys/kernel/gro_opt
DEBUG=/sys/kernel/debug/gro_opt
FEATURES=(tcp4 tcp6 exthdr udp4 udp6 encap)
KSFT_SKIP=4

HERE=$(cd "$(dirname "$0")" && pwd)
SCRIPT=$(basename "$0")
PATH=$HERE:$PATH

# --- TAP --------------------------------------------------------------------

tap_number=0
tap_failed=0

note() {
	echo "# $*"
}

tap_result() {
	local how=$1 name=$2
	tap_number=$((tap_number + 1))
	echo "$how $tap_number $name"
}

# skip_all REASON: no test of this program can run here.
skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit "$KSFT_SKIP"
}

# tell TEXT...: from within a test, for the report even if it passes.
tell() {
	echo "$*" >>"$TMP/told"
}

# What a sound kernel does not say; on a test machine panic_on_warn is better.
kernel_complaints() {
	log_since_mark |
		grep -E 'BUG:|WARNING:|Oops|Call Trace|UBSAN:|rcu: INFO: .*stall'
}

# Set where many tests only look at what one has done before: reading the log
# takes long where the CPU is emulated.
quick=no

run_one_test() {
	local function=test_$1 name=${1//_/ } status=0
	if [ "$quick" = no ]; then log_mark "$1"; fi
	"$function" >"$TMP/log" 2>&1 || status=$?
	if [ "$quick" = no ] && kernel_complaints >>"$TMP/log"; then
		echo "the kernel complained, see above" >>"$TMP/log"
		status=1
	fi
	case $status in
	0) tap_result ok "$name" ;;
	"$KSFT_SKIP") tap_result ok "$name # SKIP $(tail -n1 "$TMP/log")" ;;
	*)
		tap_result "not ok" "$name"
		tap_failed=$((tap_failed + 1))
		sed 's/^/# /' "$TMP/log"
		log_since_mark | sed 's/^/#   kernel: /' | tail -n 30
		;;
	esac
	if [ -s "$TMP/told" ]; then sed 's/^/# /' "$TMP/told"; fi
	: >"$TMP/told"
}

# run_tests NAME...: all of them, then exit with the verdict.
run_tests() {
	local name
	echo "TAP version 13"
	echo "1..$#"
	for name; do
		run_one_test "$name"
	done
	note "$SECONDS s"
	[ "$tap_failed" = 0 ]
	exit
}

# expect WHAT GOT WANTED
expect() {
	[ "$2" = "$3" ] && return
	printf '%s: got %q, not %q\n' "$1" "$2" "$3"
	return 1
}

# expect_like WHAT GOT REGEX
expect_like() {
	[[ $2 =~ ^($3)$ ]] && return
	printf '%s: %q is not like %s\n' "$1" "$2" "$3"
	return 1
}

# more WHAT NUMBER THAN
more() {
	[ "$2" -gt "$3" ] && return
	echo "$1: $2 is not more than $3"
	return 1
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local tries=$(($1 * 20))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		if [ "$tries" -le 0 ]; then
			echo "waited in vain for: $*"
			return 1
		fi
		sleep 0.05
	done
}

# --- the kernel's log -------------------------------------------------------

# one_of WORD...
one_of() {
	local n=$((RANDOM % $# + 1))
	echo "${!n}"
}

log_mark() {
	MARK="gro_opt selftest: $SCRIPT $1 $$"
	echo "$MARK" >/dev/kmsg
}

log_since_mark() {
	dmesg | sed "1,/${MARK//\//.}/d"
}

# log_says REGEX: a line of the module, since the test began.
log_says() {
	log_since_mark | grep -qE "gro_opt: $1" && return
	echo "no line in the log like 'gro_opt: $1'"
	return 1
}

log_is_silent() {
	if log_since_mark | grep -F 'gro_opt: '; then
		echo "expected no line in the log"
		return 1
	fi
}

# --- the module -------------------------------------------------------------

loaded() {
	[ -d /sys/module/gro_opt ]
}

# load [PARAMETER=VALUE]...
load() {
	expect "load $*" "$(aid load "$KO" "$*")" OK
}

state() {
	cat "$GRO_OPT/state"
}

state_is() {
	[ "$(state)" = "$1" ]
}

# set_state STATE, which has to work.
set_state() {
	expect "state=$1" "$(aid write "$GRO_OPT/state" "$1")" OK
}

set_feature() {
	expect "$1/enabled=$2" \
		"$(aid write "$GRO_OPT/features/$1/enabled" "$2")" OK
}

set_devices() {
	expect "devices=$1" "$(aid write "$GRO_OPT/devices" "$1")" OK
}

unload() {
	if ! loaded; then return; fi
	set_state off && expect unload "$(aid unload gro_opt)" OK
}

# As if just loaded, without parameters.
fresh() {
	unload && load
}

# counter FEATURE NAME [stock]: one number of its counters file.
counter() {
	local column=3
	if [ "${3:-}" = stock ]; then column=2; fi
	awk -v name="$2" -v column="$column" '$1 == name { print $column }' \
		"$GRO_OPT/features/$1/counters"
}

seq_now() {
	cat "$GRO_OPT/enable_seq"
}

# refused FILE VALUE ERRNO [REGEX]: nothing changes and the log says why.
refused() {
	local file=$1 value=$2 errno=$3 says=${4:-} before seq
	before=$(cat "$file")
	seq=$(seq_now)
	expect "$file <- ${value:0:40}" "$(aid write "$file" "$value")" "$errno" &&
		expect "$file afterwards" "$(cat "$file")" "$before" &&
		expect enable_seq "$(seq_now)" "$seq" &&
		{ [ -z "$says" ] || log_says "$says"; }
}

# The kernel's offload tables, sorted: entries of one priority stand in the order
# of their adding, which changes nothing while there is one for each protocol.
tables() {
	offloads >"$TMP/unsorted" && sort "$TMP/unsorted"
}

# Before the module is loaded.
remember_tables() {
	tables >"$TMP/stock" ||
		skip_all "cannot read the kernel's offload tables"
}

tables_are_stock() {
	tables >"$TMP/now" && diff "$TMP/stock" "$TMP/now"
}

seq_is() {
	[ "$(seq_now)" = "$1" ]
}

# What was there before goes back at the end, whatever happens.
push_module() {
	local feature
	was_loaded=no
	if ! loaded; then return; fi
	was_loaded=yes
	was_state=$(state)
	was_devices=$(cat "$GRO_OPT/devices")
	was_enabled=()
	for feature in "${FEATURES[@]}"; do
		was_enabled+=("$(cat "$GRO_OPT/features/$feature/enabled")")
	done
}

pop_module() {
	local i
	unload || return
	if [ "$was_loaded" = no ]; then return; fi
	load
	for i in "${!FEATURES[@]}"; do
		if [ "${was_enabled[i]}" = 0 ]; then
			set_feature "${FEATURES[i]}" 0
		fi
	done
	set_devices "$was_devices"
	if [ "$was_state" != faulted ]; then set_state "$was_state"; fi
}

# gro_foreign.ko, another module in the offload table.
foreign_goes() {
	expect "unload gro_foreign" "$(aid unload gro_foreign)" OK
}

no_foreign() {
	[ ! -d /sys/module/gro_foreign ] || foreign_goes
}

listen_for_uevents() {
	if [ -n "$listener" ]; then kill "$listener"; fi
	: >"$TMP/uevents"
	aid uevents gro_opt >"$TMP/uevents" &
	listener=$!
	jobs_started+=("$listener")
	wait_for 5 grep -q ready "$TMP/uevents"
}

# --- processes and namespaces -----------------------------------------------

namespaces=()
jobs_started=()
listener=

# setup_ns VARIABLE...: a new network namespace for each, with its name in it.
setup_ns() {
	local variable name
	for variable; do
		name=gro_opt-$$-${variable,,}
		ip netns add "$name" || return
		namespaces+=("$name")
		ip -n "$name" link set lo up
		# Only our own packets: they are counted.
		ip netns exec "$name" sh -c '
			for f in all default; do
				echo 0 >/proc/sys/net/ipv6/conf/$f/accept_dad
				echo 0 >/proc/sys/net/ipv6/conf/$f/router_solicitations
			done'
		printf -v "$variable" %s "$name"
	done
}

# on NAMESPACE COMMAND...
on() {
	local ns=$1
	shift
	ip netns exec "$ns" "$@"
}

# connect NS1 DEV1 NS2 DEV2: a veth pair, up.
connect() {
	ip -n "$1" link add "$2" type veth peer name "$4" netns "$3" &&
		ip -n "$1" link set "$2" up && ip -n "$3" link set "$4" up
}

# address NS DEV ADDRESS/LENGTH...
address() {
	local ns=$1 dev=$2 addr
	shift 2
	for addr; do
		case $addr in
		*:*) ip -n "$ns" addr add "$addr" dev "$dev" nodad ;;
		*) ip -n "$ns" addr add "$addr" dev "$dev" ;;
		esac || return
	done
}

# offload NS DEV FEATURE on|off ...
offload() {
	local ns=$1 dev=$2
	shift 2
	on "$ns" ethtool -K "$dev" "$@" >/dev/null
}

# pair FEATURE on|off ...: namespaces A and B, whose b0 has GRO; the features are
# of a0 at the other end.
pair() {
	setup_ns A B && connect "$A" a0 "$B" b0 &&
		address "$A" a0 10.0.0.1/24 fd00::1/64 &&
		address "$B" b0 10.0.0.2/24 fd00::2/64 && offload "$A" a0 "$@" &&
		offload "$B" b0 gro on
}

# start OUTPUT NAMESPACE COMMAND...: a program in the background, gone at the
# end; its own process in $!, so nothing in between.
start() {
	local output=$1 ns=$2
	shift 2
	ip netns exec "$ns" "$@" >"$output" 2>&1 &
	jobs_started+=("$!")
}

# finish PID: send it TERM and give back how it ended.
finish() {
	kill -TERM "$1" 2>/dev/null
	wait "$1"
}

# sink NS: takes TCP streams at port 4000.
sink() {
	local ns=$1
	: >"$TMP/sink"
	start "$TMP/sink" "$ns" traffic listen 4000
	wait_for 10 grep -q ready "$TMP/sink"
}

# Streams from A, started into $TMP/stream?: PIDs.
streams=()

# stream MS SEED [OPTIONS] ADDRESS: one more of them; $! is its own.
stream() {
	start "$TMP/stream${#streams[@]}" "$A" traffic send -p "$1" -s "$2" \
		"${@:3}" 4000
	streams+=("$!")
}

# All of them still there, and their bytes right.
streams_arrive() {
	local pid status=0
	for pid in "${streams[@]}"; do finish "$pid" || status=1; done
	cat "$TMP"/stream?
	expect "streams that arrived" "$(cat "$TMP"/stream? | grep -c right)" \
		"${#streams[@]}" && return "$status"
}

# 200 KB from A to B, which listens at 10.0.0.2.
transfer() {
	on "$A" traffic send -n 200000 10.0.0.2 4000
}

# whose: who handled the packets of a transfer; "ours", "stock", "ours stock"
# or nothing.
whose() {
	local ours stock
	ours=$(counter tcp4 packets)
	stock=$(counter tcp4 packets stock)
	transfer >&2 || return
	if [ "$(counter tcp4 packets)" != "$ours" ]; then printf 'ours '; fi
	if [ "$(counter tcp4 packets stock)" != "$stock" ]; then printf stock; fi
}

handled_by() {
	local got
	got=$(whose) && expect "${2:-packets} handled by" "${got% }" "$1"
}

rx_packets() {
	on "$1" cat "/sys/class/net/$2/statistics/rx_packets"
}

tx_packets() {
	on "$1" cat "/sys/class/net/$2/statistics/tx_packets"
}

# snmp NS COUNTER: of /proc/net/snmp, as IpInReceives, or snmp6, as
# Ip6InReceives.
snmp() {
	case $2 in
	Ip6*) on "$1" awk -v name="$2" '$1 == name { print $2 }' /proc/net/snmp6 ;;
	*) on "$1" awk -v name="${2#Ip}" '
		$1 == "Ip:" && !n { n = split($0, names); next }
		$1 == "Ip:" { for (i = 2; i <= n; i++) if (names[i] == name) print $i }
		' /proc/net/snmp ;;
	esac
}

# --- beginning and end ------------------------------------------------------

cleanup() {
	local status=$? pid ns
	for pid in "${jobs_started[@]}"; do kill "$pid" 2>/dev/null; done
	wait
	for ns in "${namespaces[@]}"; do ip netns del "$ns" 2>/dev/null; done
	pop_module >&2
	rm -rf "$TMP"
	exit "$status"
} 2>/dev/null

need_tools() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip_all "no program $tool"
	done
}

find_module() {
	KO=${GRO_OPT_KO:-$(modprobe -D gro_opt 2>/dev/null |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | tail -n1)}
	[ -e "$KO" ] || skip_all "no module gro_opt for $(uname -r); install it, or set GRO_OPT_KO"
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
need_tools aid awk ip ethtool modprobe dmesg sed
find_module
TMP=$(mktemp -d "${TMPDIR:-/tmp}/gro_opt.XXXXXX")
push_module
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
