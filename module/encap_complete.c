// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP in a tunnel: completing aggregates. Both headers at once where one follows
 * the other, the inner one alone where stock or our entries ask for it.
 */
#include "tunnel.h"

/* An ordinary aggregate, @len bytes from the header at hand? */
static __always_inline bool gro_opt_tunnel_completes(const struct sk_buff *skb,
						     unsigned int len)
{
	return len < READ_ONCE(gro_opt_limit) && !NAPI_GRO_CB(skb)->is_flist;
}

static __always_inline void gro_opt_l3_set_len(void *l3, unsigned int len,
					       bool v6)
{
	if (v6)
		((struct ipv6hdr *)l3)->payload_len =
			htons(len - sizeof(struct ipv6hdr));
	else
		gro_opt_set_len4(l3, len);
}

/* Inner header at @nhoff and TCP, as stock leaves them. */
static __always_inline int gro_opt_inner_complete(struct sk_buff *skb,
						  unsigned int nhoff,
						  bool inner6)
{
	const unsigned int thoff = nhoff + gro_opt_l3len(inner6);
	struct tcphdr *th = (void *)skb->data + thoff;
	void *l3 = skb->data + nhoff;
	unsigned int gso_type;

	if (unlikely(!gro_opt_transport_at(skb, thoff)))
		return gro_opt_lost("encap: transport offset of a held packet");
	skb_set_inner_protocol(skb, htons(inner6 ? ETH_P_IPV6 : ETH_P_IP));
	skb_set_inner_network_header(skb, nhoff);
	gro_opt_l3_set_len(l3, skb->len - nhoff, inner6);
	if (inner6) {
		th->check = gro_opt_pseudo6(l3, skb->len - thoff,
					    IPPROTO_TCP);
		gso_type = SKB_GSO_TCPV6;
	} else {
		th->check = gro_opt_tcp4_pseudo(l3, skb->len - thoff);
		gso_type = SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb);
	}
	skb->inner_transport_header = skb->transport_header;
	gro_opt_count(encap, completed);
	return gro_opt_tcp_complete(skb, th, gso_type);
}

static noinline int gro_opt_inner4_complete(struct sk_buff *skb,
					    unsigned int nhoff)
{
	return gro_opt_inner_complete(skb, nhoff, false);
}

static noinline int gro_opt_inner6_complete(struct sk_buff *skb,
					    unsigned int nhoff)
{
	return gro_opt_inner_complete(skb, nhoff, true);
}

/* Is the header at @nhoff the inner one, followed by TCP? */
static __always_inline bool gro_opt_inner_is_tcp(const struct sk_buff *skb,
						 unsigned int nhoff,
						 bool inner6)
{
	return gro_opt_l3_proto(skb->data + nhoff, inner6) == IPPROTO_TCP &&
	       gro_opt_inner_at(skb, nhoff);
}

/* The outer header's part where an inner one follows at once. */
static __always_inline int gro_opt_outer_complete(struct sk_buff *skb,
						  unsigned int nhoff,
						  bool outer6, bool inner6)
{
	const unsigned int inner = nhoff + gro_opt_l3len(outer6);

	gro_opt_l3_set_len(skb->data + nhoff, skb->len - nhoff, outer6);
	skb->encapsulation = 1;
	skb_shinfo(skb)->gso_type |= outer6 ? SKB_GSO_IPXIP6 : SKB_GSO_IPXIP4;
	return inner6 ? gro_opt_inner6_complete(skb, inner) :
			gro_opt_inner4_complete(skb, inner);
}

/* Is the header at @nhoff one of a tunnel that is ours to complete? */
static __always_inline bool gro_opt_outer_is_ours(const struct sk_buff *skb,
						  unsigned int nhoff,
						  u8 proto, bool v6)
{
	return !skb->encapsulation && gro_opt_is_l3(proto) &&
	       NAPI_GRO_CB(skb)->encap_mark &&
	       gro_opt_tunnel_at(skb, nhoff, nhoff + gro_opt_l3len(v6)) &&
	       gro_opt_inner_is_tcp(skb, nhoff + gro_opt_l3len(v6),
				    proto == IPPROTO_IPV6);
}

/**
 * gro_opt_tunnel4_complete - gro_complete of an IPv4 header of a tunnel
 * @skb: aggregate, held by ours or by stock
 * @nhoff: offset of the outer or the inner header from skb->data
 *
 * Context: as gro_opt_inet_complete(), with the feature active.
 *
 * Return: as gro_opt_inet_complete().
 */
int gro_opt_tunnel4_complete(struct sk_buff *skb, int nhoff)
{
	const struct iphdr *iph = (void *)skb->data + nhoff;

	if (gro_opt_tunnel_completes(skb, skb->len - nhoff)) {
		if (skb->encapsulation &&
		    gro_opt_inner_is_tcp(skb, nhoff, false))
			return gro_opt_inner4_complete(skb, nhoff);
		if (gro_opt_outer_is_ours(skb, nhoff, iph->protocol, false))
			return gro_opt_outer_complete(skb, nhoff, false,
						      iph->protocol ==
						      IPPROTO_IPV6);
	}
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
}

/**
 * gro_opt_tunnel6_complete - gro_complete of an IPv6 header of a tunnel
 * @skb: aggregate, held by ours or by stock
 * @nhoff: offset of the outer or the inner header from skb->data
 *
 * Context: as gro_opt_ipv6_complete(), with the feature active.
 *
 * Return: as gro_opt_ipv6_complete().
 */
int gro_opt_tunnel6_complete(struct sk_buff *skb, int nhoff)
{
	const struct ipv6hdr *iph = (void *)skb->data + nhoff;

	if (gro_opt_tunnel_completes(skb, skb->len - nhoff)) {
		if (skb->encapsulation &&
		    gro_opt_inner_is_tcp(skb, nhoff, true))
			return gro_opt_inner6_complete(skb, nhoff);
		if (gro_opt_outer_is_ours(skb, nhoff, iph->nexthdr, true))
			return gro_opt_outer_complete(skb, nhoff, true,
						      iph->nexthdr ==
						      IPPROTO_IPV6);
	}
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

/**
 * gro_opt_entry_complete - complete for our entries in the tables of protocols
 * @skb: aggregate, held by ours or by stock
 * @nhoff: offset of the inner header from skb->data
 * @way: which of the entries
 * @ret: what to return, if it is ours to complete
 *
 * Context: as gro_opt_inet_complete(), with the feature active.
 *
 * Return: whether it is; if not nothing has been done.
 */
bool gro_opt_entry_complete(struct sk_buff *skb, unsigned int nhoff,
			    enum gro_opt_way way, int *ret)
{
	const bool outer4 = way == GRO_OPT_WAY_IPIP || way == GRO_OPT_WAY_SIT;
	const bool inner6 = gro_opt_way_inner6(way);

	if (!gro_opt_tunnel_completes(skb, skb->len - nhoff) ||
	    !gro_opt_inner_is_tcp(skb, nhoff, inner6))
		return false;
	skb->encapsulation = 1;
	skb_shinfo(skb)->gso_type |= outer4 ? SKB_GSO_IPXIP4 : SKB_GSO_IPXIP6;
	*ret = inner6 ? gro_opt_inner6_complete(skb, nhoff) :
			gro_opt_inner4_complete(skb, nhoff);
	return true;
}
