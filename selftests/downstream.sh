#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where merged packets go in life: frames of known content and order into GRO by
# gro_lab, and behind it sockets, a router, a bridge, NAT, tc, XDP, tunnels. What
# comes out at the far end is compared, byte by byte, with what stock's handlers
# give and with what went in: see downstream/main.c. SEED=n, PACKETS=n for other
# random frames through the router, and more.
#
#	lab0 :R: r1 ---- b0 :B: b1 ---- c0 :C
#	GRO      no offloads     no offloads

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# What selftests/compare/ puts into its frames.
LAB_MAC=02:00:00:00:00:01
OTHER_MAC=02:00:00:00:00:99
FOUR=10.0.0.254
SIX=2001:db8::fe

mac() {
	on "$1" cat "/sys/class/net/$2/address"
}

# route NS DEV [MAC]: all streams leave there, for that neighbour.
route() {
	ip -n "$1" route replace "$FOUR" dev "$2" &&
		ip -n "$1" -6 route replace "$SIX" dev "$2" || return
	if [ $# = 2 ]; then return; fi
	ip -n "$1" neigh replace "$FOUR" lladdr "$3" dev "$2" nud permanent &&
		ip -n "$1" neigh replace "$SIX" lladdr "$3" dev "$2" nud permanent
}

# Where they go unless a test says otherwise.
route_to_b() {
	route "$R" r1 "$(mac "$B" b0)"
}

bare() {
	offload "$1" "$2" tso off gso off tx off sg off
}

# lab_mac ADDRESS: the frames' own, or another so that they are not for lab0.
lab_mac() {
	ip -n "$R" link set lab0 down && ip -n "$R" link set lab0 address "$1" &&
		ip -n "$R" link set lab0 up
}

make_path() {
	local ns
	setup_ns R B C && ip link set lab0 netns "$R" && lab_mac "$LAB_MAC" &&
		connect "$R" r1 "$B" b0 && connect "$B" b1 "$C" c0 &&
		bare "$R" r1 && bare "$B" b1 || return
	for ns in "$R" "$B"; do
		on "$ns" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward &&
			echo 1 >/proc/sys/net/ipv6/conf/all/forwarding' || return
	done
	route_to_b && route "$B" b1 "$(mac "$C" c0)" && make_near
}

# In R, so that lab0 and its sockets are there.
inject() {
	on "$R" downstream "$@"
}

test_tcp_sockets() {
	local status=0
	ip -n "$R" route del "$FOUR" && ip -n "$R" -6 route del "$SIX" &&
		address "$R" lab0 "$FOUR/24" "$SIX/64" || return
	inject --sockets tcp4 tcp6 || status=1
	return "$status"
}

# A socket that takes aggregates, which forwarding must not.
test_udp_sockets() {
	local status=0
	inject --sockets udp4 udp6 || status=1
	ip -n "$R" addr flush dev lab0
	route_to_b && return "$status"
}

test_forwarded_tcp() {
	inject --tap "$B:b0" --hops 1 tcp4 tcp6
}

test_forwarded_udp() {
	inject --tap "$B:b0" --hops 1 udp4 udp6 &&
		inject --tap "$B:b0" --altered udp4-fixed-id
}

# Broken ones among them are dropped, or sent on as they are: as stock does.
# The first random seed has a single flow of which nothing merges.
test_forwarded_at_random() {
	inject --tap "$B:b0" --altered --seed "${SEED:-2}" \
		--packets "${PACKETS:-400}" random
}

test_packet_socket() {
	inject --tap "$B:b0" --tap "$R:lab0:gso" --hops 1 tcp4 tcp6
}

test_generic_xdp_comes_and_goes() {
	inject --tap "$B:b0" --hops 1 --xdp --flows --altered tcp4 tcp6
}

# Where netfilter sees what is bridged, it drops options that it does not know.
no_bridge_netfilter() {
	on "$R" sh -c 'cd /proc/sys/net/bridge && echo 0 >bridge-nf-call-iptables &&
		echo 0 >bridge-nf-call-ip6tables' 2>/dev/null || true
}

test_bridge() {
	local status=0
	no_bridge_netfilter && ip -n "$R" link add br0 type bridge mcast_snooping 0 &&
		lab_mac "$OTHER_MAC" && ip -n "$R" link set lab0 master br0 &&
		ip -n "$R" link set r1 master br0 &&
		ip -n "$R" link set br0 up || return
	inject --tap "$B:b0" tcp4 tcp6 udp4 udp6 || status=1
	ip -n "$R" link del br0
	lab_mac "$LAB_MAC"
	route_to_b && return "$status"
}

nat_rules() {
	cat <<-END
		table inet gro_opt {
			chain before {
				type nat hook prerouting priority dstnat
				ip daddr $FOUR tcp dport 5000 dnat ip to $FOUR:6000
				ip daddr $FOUR udp dport 5000 dnat ip to $FOUR:6000
				ip6 daddr $SIX tcp dport 5000 dnat ip6 to [$SIX]:6000
				ip6 daddr $SIX udp dport 5000 dnat ip6 to [$SIX]:6000
			}
			chain through {
				type filter hook forward priority filter
				ct state invalid drop
			}
			chain behind {
				type nat hook postrouting priority srcnat
				oifname r1 meta nfproto ipv4 snat ip to 10.9.9.9
				oifname r1 meta nfproto ipv6 snat ip6 to fd09::9
			}
		}
	END
}

# The streams begin in the middle, so conntrack knows no window of theirs. GRO
# passes packets on in lists, and the second one of a list finds that the first
# has put the same connection into the table since: so a first run for that.
test_conntrack_and_nat() {
	local status=0
	nat_rules | on "$R" nft -f - &&
		on "$R" sh -c 'echo 1 >/proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal' ||
		return
	inject --tap "$B:b0" --hops 1 --nat --warm tcp4 tcp6 udp4 udp6 ||
		status=1
	on "$R" nft delete table inet gro_opt && return "$status"
}

# tc_through ACTION: from lab0's ingress to r1, past the stack.
tc_through() {
	local status=0
	on "$R" tc qdisc add dev lab0 clsact &&
		on "$R" tc filter add dev lab0 ingress matchall \
			action mirred egress "$1" dev r1 || return
	ip -n "$R" route del "$FOUR" && ip -n "$R" -6 route del "$SIX" || return
	inject --tap "$B:b0" tcp4 tcp6 udp4 udp6 || status=1
	on "$R" tc qdisc del dev lab0 clsact
	route_to_b && return "$status"
}

test_tc_redirect() {
	tc_through redirect
}

test_tc_mirror() {
	tc_through mirror
}

# Its address is the one that the frames are for, so lab0 has another.
test_macvlan() {
	local status=0
	lab_mac "$OTHER_MAC" && ip -n "$R" link add mv0 link lab0 address \
		"$LAB_MAC" type macvlan mode private &&
		ip -n "$R" link set mv0 up || return
	inject --tap "$B:b0" --hops 1 tcp4 tcp6 udp4 udp6 || status=1
	ip -n "$R" link del mv0
	lab_mac "$LAB_MAC" && return "$status"
}

# --- tunnels ------------------------------------------------------------------

# tunnel NS MAC LOCAL REMOTE TYPE [OPTIONS]: a device t0, with that address where
# it is an Ethernet one.
tunnel() {
	local ns=$1 mac=$2 here=$3 there=$4
	shift 4
	case $1 in
	geneve) ip -n "$ns" link add t0 address "$mac" type "$@" remote "$there" ;;
	vxlan) ip -n "$ns" link add t0 address "$mac" type "$@" \
		local "$here" remote "$there" ;;
	*) ip -n "$ns" link add t0 type "$@" local "$here" remote "$there" ;;
	esac || return
	ip -n "$ns" link set t0 up
}

# in_tunnel WRAP OUTER STREAMS TYPE [OPTIONS]: frames that come in a tunnel, over
# IPv4 or 6 as OUTER says, which ends in R. Stock does not keep fixed IDs in
# there, nor on the way into one.
in_tunnel() {
	local wrap=$1 here=192.0.2.2 there=192.0.2.1 length=24 streams status=0
	if [ "$2" = 6 ]; then
		here=2001:db8::2
		there=2001:db8::1
		length=64
	fi
	read -ra streams <<<"$3"
	shift 3
	address "$R" lab0 "$here/$length" || return
	if tunnel "$R" "$LAB_MAC" "$here" "$there" "$@"; then
		inject --tap "$B:b0" --wrap "$wrap" --hops 1 --ids \
			"${streams[@]}" || status=1
		ip -n "$R" link del t0
	else
		status=1
	fi
	ip -n "$R" addr flush dev lab0
	route_to_b && return "$status"
}

test_in_vxlan() {
	in_tunnel vxlan 4 "tcp4 tcp6" vxlan id 7 dstport 4789 dev lab0
}

test_in_geneve() {
	in_tunnel geneve 4 "tcp4 tcp6" geneve id 7
}

test_in_gre() {
	in_tunnel gre 4 "tcp4 tcp6" gre
}

test_in_ipip() {
	in_tunnel ipip 4 tcp4 ipip
}

test_in_sit() {
	in_tunnel sit 4 tcp6 sit
}

test_in_ip6tnl() {
	in_tunnel ip6ip6 6 tcp6 ip6tnl mode any &&
		in_tunnel 4in6 6 tcp4 ip6tnl mode any
}

# --- tunnels between R and B: out of one, into the other ------------------------

near() {
	case $1 in
	4) echo "10.0.1.$2" ;;
	6) echo "fd01::$2" ;;
	esac
}

# The way back is the way there; B forwards what comes out of the tunnel.
make_near() {
	address "$R" r1 "$(near 4 1)/24" "$(near 6 1)/64" &&
		address "$B" b0 "$(near 4 2)/24" "$(near 6 2)/64"
}

far() {
	inject --tap "$C:c0" --hops 2 "$@"
}

# through OUTER STREAMS TYPE [OPTIONS]
through() {
	local one two streams neighbour=() status=0
	one=$(near "$1" 1)
	two=$(near "$1" 2)
	read -ra streams <<<"$2"
	shift 2
	case $1 in
	vxlan | geneve) neighbour=("$LAB_MAC") ;;
	esac
	if tunnel "$R" "$OTHER_MAC" "$one" "$two" "$@" &&
		tunnel "$B" "$LAB_MAC" "$two" "$one" "$@" &&
		route "$R" t0 "${neighbour[@]}"; then
		far --flows --ids "${streams[@]}" || status=1
	else
		status=1
	fi
	ip -n "$R" link del t0
	ip -n "$B" link del t0
	route_to_b && return "$status"
}

test_through_vxlan() {
	through 4 "tcp4 tcp6 udp4" vxlan id 7 dstport 4789 &&
		through 6 "tcp4 tcp6" vxlan id 7 dstport 4789
}

test_through_geneve() {
	through 4 "tcp4 tcp6 udp6" geneve id 7
}

test_through_gre() {
	through 4 "tcp4 tcp6" gre && through 6 tcp4 ip6gre
}

test_through_ipip() {
	through 4 tcp4 ipip
}

test_through_sit() {
	through 4 tcp6 sit
}

test_through_ip6tnl() {
	through 6 "tcp4 tcp6" ip6tnl mode any
}

# From here on packets of a flow may overtake each other: ciphers work on both
# CPUs. While WireGuard shakes hands only so many packets wait, so a first run
# for that.

# wireguard_end NS OWN-KEY PEER-PUBLIC-KEY PEER-ADDRESS
wireguard_end() {
	ip -n "$1" link add t0 type wireguard && on "$1" wg set t0 \
		listen-port 51820 private-key "$2" peer "$3" \
		allowed-ips 0.0.0.0/0,::/0 endpoint "$4:51820" &&
		ip -n "$1" link set t0 up
}

test_wireguard() {
	local status=0
	(umask 077 && wg genkey >"$TMP/r" && wg genkey >"$TMP/b") &&
		wireguard_end "$R" "$TMP/r" "$(wg pubkey <"$TMP/b")" "$(near 4 2)" &&
		wireguard_end "$B" "$TMP/b" "$(wg pubkey <"$TMP/r")" "$(near 4 1)" &&
		route "$R" t0 || status=1
	if [ "$status" = 0 ]; then far --any-order --warm tcp4 tcp6 udp4 \
		udp6 || status=1; fi
	ip -n "$R" link del t0
	ip -n "$B" link del t0
	route_to_b && return "$status"
}

# esp_end NS OUTER DIRECTION...: the tunnel from R to B, as NS sees it.
esp_end() {
	local ns=$1 outer=$2 here there direction net
	here=$(near "$outer" 1)
	there=$(near "$outer" 2)
	shift 2
	ip -n "$ns" xfrm state add src "$here" dst "$there" proto esp spi 0x100 \
		reqid 1 mode tunnel flag af-unspec \
		auth 'hmac(sha256)' 0x000102030405060708090a0b0c0d0e0f \
		enc 'ecb(cipher_null)' '' || return
	for direction; do
		for net in "$FOUR/32" "$SIX/128"; do
			ip -n "$ns" xfrm policy add dst "$net" dir "$direction" \
				tmpl src "$here" dst "$there" proto esp reqid 1 \
				mode tunnel || return
		done
	done
}

# 7.3's stock counts up IDs that were fixed, as on the way into other tunnels.
esp() {
	local status=0 ns
	esp_end "$R" "$1" out && esp_end "$B" "$1" in fwd || status=1
	if [ "$status" = 0 ]; then far --any-order --ids tcp4 tcp6 udp4 \
		udp6 || status=1; fi
	for ns in "$R" "$B"; do
		ip -n "$ns" xfrm policy flush && ip -n "$ns" xfrm state flush
	done
	return "$status"
}

test_esp4() {
	esp 4
}

test_esp6() {
	esp 6
}

unload || skip_all "gro_opt is loaded and does not let go"
need_tools tc nft wg downstream
rmmod gro_lab 2>/dev/null
modprobe gro_lab || skip_all "no module gro_lab"
make_path >"$TMP/path" 2>&1 || {
	sed 's/^/# /' "$TMP/path"
	skip_all "cannot make namespaces with veth between them"
}
load || exit

run_tests tcp_sockets udp_sockets forwarded_tcp forwarded_udp \
	forwarded_at_random packet_socket generic_xdp_comes_and_goes bridge \
	conntrack_and_nat tc_redirect tc_mirror macvlan in_vxlan in_geneve in_gre \
	in_ipip in_sit in_ip6tnl through_vxlan through_geneve through_gre \
	through_ipip through_sit through_ip6tnl wireguard esp4 esp6
