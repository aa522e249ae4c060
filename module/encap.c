// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP in a tunnel: two L3 headers and TCP in one pass.
 *
 * A packet comes here in one of three ways.
 *
 * - IPIP, SIT, 4-in-6 and 6-in-6 from our L3 entry, which has seen an L3 header
 *   announced by another (gro_opt_outer4_receive(), gro_opt_outer6_receive()).
 *   No handler has touched the packet, both headers are ours.
 * - Inner headers from our L3 entry, called by the handler of whatever is
 *   between the headers: GRE, VXLAN, GENEVE (gro_opt_inner4_receive() ...). That
 *   one has set encap_mark, noted the outer offset, taken its part of the
 *   checksums and cleared same_flow of the held packets that its own headers
 *   tell apart. 6.1's has left in the held packets what differs.
 * - Inner headers from our entries in inet_offloads[] and inet6_offloads[], where
 *   FOU, GUE and stock's handler of an outer header with extension headers look
 *   (gro_opt_ipip_receive() ...).
 *
 * The phases are those of fast.c, and so is the straight line in front, for a
 * segment whose L3 headers are those of the held packet but for IP-ID and
 * checksum. All else is vetted and decided by gro_opt_tunnel_slow().
 *
 * A second tunnel in the first, and more calls than the kernel grants a packet,
 * end in stock's handlers: encap_mark and the recursion counter are looked at
 * before anything is taken.
 */
#include "ab/path.h"
#include "tunnel.h"

DEFINE_STATIC_CALL_NULL(gro_opt_stock_ipip_receive, gro_opt_ipip_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock_sit_receive, gro_opt_sit_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock_ip4ip6_receive, gro_opt_ip4ip6_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock_ip6ip6_receive, gro_opt_ip6ip6_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock_ipip_complete, gro_opt_ipip_complete);
DEFINE_STATIC_CALL_NULL(gro_opt_stock_sit_complete, gro_opt_sit_complete);
DEFINE_STATIC_CALL_NULL(gro_opt_stock_ip4ip6_complete, gro_opt_ip4ip6_complete);
DEFINE_STATIC_CALL_NULL(gro_opt_stock_ip6ip6_complete, gro_opt_ip6ip6_complete);

/* ---- the straight line ---- */

/*
 * Has @p the addresses and ports? Of one that is told apart by the outer header
 * the inner one is not read: there may be none.
 */
static __always_inline bool
gro_opt_tunnel_matches(const struct sk_buff *p, const void *inner,
		       const void *inner2, enum gro_opt_way way)
{
	const unsigned int back = gro_opt_way_outer_len(way);
	const bool inner6 = gro_opt_way_inner6(way);
	const unsigned int ilen = gro_opt_l3len(inner6);

	if (!NAPI_GRO_CB(p)->same_flow)
		return false;
	if (back && gro_opt_l3_flow_differs(inner - back, inner2 - back,
					    gro_opt_way_outer6(way)))
		return false;
	return !(gro_opt_l3_addrs_differ(inner, inner2, inner6) |
		 (gro_opt_load32(inner + ilen) ^
		  gro_opt_load32(inner2 + ilen)));
}

/*
 * In front of IDs and addresses: lengths are sound if they are those of the held
 * packet and the payload is as long as that one's was.
 */
static __always_inline u64
gro_opt_tunnel_starts_differ(const void *inner, const void *inner2,
			     enum gro_opt_way way)
{
	const bool inner6 = gro_opt_way_inner6(way);
	const unsigned int back = gro_opt_way_outer_len(way);
	u64 differs;

	differs = gro_opt_l3_start_differs(inner, inner2, inner6);
	if (!inner6)
		differs |= gro_opt_l3_proto(inner2, false) ^ IPPROTO_TCP;
	if (back)
		differs |= gro_opt_l3_start_differs(inner - back, inner2 - back,
						    gro_opt_way_outer6(way));
	return differs;
}

/*
 * Bits for gro_opt_settle(), or a negative number if @p may end here. Of an
 * outer header that is not ours the checksum has been seen to.
 */
static __always_inline int
gro_opt_noted_outer_steps(const struct sk_buff *p, const struct iphdr *iph,
			  const struct iphdr *iph2)
{
	u16 diff;

	if (gro_opt_load32(iph) != gro_opt_load32(iph2) ||
	    gro_opt_load32(&iph->frag_off) != gro_opt_load32(&iph2->frag_off))
		return -1;
	if (gro_opt_outer_id_free(iph, &gro_opt_rules))
		return 0;
	diff = gro_opt_id_diff(iph, iph2);
	if (likely(diff == gro_opt_outer_step(p)))
		return 0;
	if (gro_opt_outer_settles(p, &gro_opt_rules) && !diff)
		return GRO_OPT_OUTER_FIXEDID;
	return -1;
}

static __always_inline int gro_opt_outer4_steps(const struct sk_buff *p,
						const struct iphdr *iph,
						const struct iphdr *iph2)
{
	u64 step = gro_opt_outer_step(p);

	if (gro_opt_outer_id_free(iph, &gro_opt_rules))
		step = gro_opt_id_diff(iph, iph2);
	if (likely(gro_opt_id_steps(iph, iph2, step)))
		return 0;
	if (gro_opt_outer_settles(p, &gro_opt_rules) &&
	    gro_opt_id_steps(iph, iph2, 0))
		return GRO_OPT_OUTER_FIXEDID;
	return -1;
}

static __always_inline int gro_opt_inner4_steps(const struct sk_buff *p,
						const struct iphdr *iph,
						const struct iphdr *iph2)
{
	if (likely(gro_opt_id_steps(iph, iph2, gro_opt_inner_step(p))))
		return 0;
	if (gro_opt_inner_settles(p, iph, &gro_opt_rules) &&
	    gro_opt_id_steps(iph, iph2, GRO_OPT_SETTLING_STEP))
		return GRO_OPT_INNER_FIXEDID;
	return -1;
}

static __always_inline int
gro_opt_outer_steps(const struct sk_buff *p, const struct sk_buff *skb,
		    const void *inner, const void *inner2, enum gro_opt_way way)
{
	const unsigned int back = gro_opt_way_outer_len(way);
	long ahead;

	if (gro_opt_way_outer6(way))
		return 0;
	if (gro_opt_way_whole(way))
		return gro_opt_outer4_steps(p, inner - back, inner2 - back);
	if (HAVE_GRO_CB_FLUSH_ID)
		return gro_opt_noted_differs(p, skb) ? -1 : 0;
	ahead = (int)(gro_opt_outer_offset(skb) - skb_gro_offset(skb));
	inner += ahead;
	inner2 += ahead;
	if (((const struct iphdr *)inner)->version == 6)
		return gro_opt_l3_differs(inner, inner2, true) ? -1 : 0;
	return gro_opt_noted_outer_steps(p, inner, inner2);
}

/* Do the IDs go on as they should? */
static __always_inline int
gro_opt_tunnel_steps(const struct sk_buff *p, const struct sk_buff *skb,
		     const void *inner, const void *inner2, enum gro_opt_way way)
{
	int outer = gro_opt_outer_steps(p, skb, inner, inner2, way);

	if (unlikely(outer < 0) || gro_opt_way_inner6(way))
		return outer;
	return outer | gro_opt_inner4_steps(p, inner, inner2);
}

/* Is it the next segment of @p? As gro_opt_tunnel_steps() if so. */
static __always_inline int
gro_opt_tunnel_straight(const struct sk_buff *p, const struct sk_buff *skb,
			const void *inner, const void *inner2,
			unsigned int nlen, enum gro_opt_way way)
{
	const unsigned int ilen = gro_opt_l3len(gro_opt_way_inner6(way));
	const unsigned int thoff = skb_gro_offset(skb) + nlen;
	const unsigned int hlen = skb_gro_offset(p);

	/* Held as something else that looks the same as far as we compare. */
	if (!NAPI_GRO_CB(p)->encap_mark ||
	    (!gro_opt_way_whole(way) && !gro_opt_transport_at(p, thoff)))
		return -1;
	if (!gro_opt_tcp_straight(p, skb, inner + ilen, inner2 + ilen, thoff,
				  hlen, skb->len - hlen, ETH_P_IPV6,
				  gro_opt_tunnel_starts_differ(inner, inner2,
							       way)))
		return -1;
	return gro_opt_tunnel_steps(p, skb, inner, inner2, way);
}

/*
 * TCP behind the inner header at @inner, with its fixed part at hand. @slow is
 * @way, or that of which it has the headers.
 */
static __always_inline struct sk_buff *
gro_opt_tunnel_take(struct list_head *head, struct sk_buff *skb,
		    const void *inner, enum gro_opt_way way,
		    enum gro_opt_way slow)
{
	const unsigned int back = gro_opt_way_outer_len(way);
	const unsigned int off = skb_gro_offset(skb) + back;
	const unsigned int nlen = back +
				  gro_opt_l3len(gro_opt_way_inner6(way));
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const void *inner2 = p->data + off;
		unsigned int hlen;
		int settled;

		if (!gro_opt_tunnel_matches(p, inner, inner2, way))
			continue;
		settled = gro_opt_tunnel_straight(p, skb, inner, inner2, nlen,
						  way);
		hlen = skb_gro_offset(p);
		if (unlikely(settled < 0) ||
		    !gro_opt_straight_merge(p, skb, nlen, hlen,
					    skb->len - hlen))
			break;
		if (unlikely(settled))
			gro_opt_settle(p, settled);
		gro_opt_note_merged(skb, gro_opt_l3len(gro_opt_way_inner6(way)));
		gro_opt_count(encap, merged_frags);
		return NULL;
	}
	return gro_opt_tunnel_slow(head, skb, slow);
}

/* ---- both headers are ours ---- */

static __always_inline struct sk_buff *
gro_opt_whole_take(struct list_head *head, struct sk_buff *skb,
		   const void *outer, enum gro_opt_way way)
{
	const unsigned int olen = gro_opt_way_outer_len(way);
	const bool inner6 = gro_opt_way_inner6(way);
	const unsigned int hlen = skb_gro_offset(skb) + olen +
				  gro_opt_l3len(inner6) + sizeof(struct tcphdr);

	if (likely(gro_opt_at_hand(skb, hlen) &&
		   gro_opt_l3_proto(outer + olen, inner6) == IPPROTO_TCP))
		return gro_opt_tunnel_take(head, skb, outer + olen, way, way);
	return gro_opt_tunnel_pass(head, skb, way);
}

/**
 * gro_opt_outer4_receive - an IPv4 header that announces another L3 header
 * @head: held packets of the bucket
 * @skb: new packet, offset of the IPv4 header in its control block
 * @iph: that header, which is at hand
 *
 * Context: as gro_opt_inet_receive(), with the feature active.
 *
 * Return: as gro_opt_inet_receive().
 */
struct sk_buff *gro_opt_outer4_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct iphdr *iph)
{
	if (unlikely(gro_opt_unusual(skb, skb_gro_offset(skb))))
		return static_call(gro_opt_stock4_receive)(head, skb);
	if (iph->protocol == IPPROTO_IPIP)
		return gro_opt_whole_take(head, skb, iph, GRO_OPT_WAY_4IN4);
	return gro_opt_whole_take(head, skb, iph, GRO_OPT_WAY_6IN4);
}

/**
 * gro_opt_outer6_receive - an IPv6 header that announces another L3 header
 * @head: held packets of the bucket
 * @skb: new packet, as for gro_opt_outer4_receive()
 * @iph: the IPv6 header, which is at hand
 *
 * Context: as gro_opt_ipv6_receive(), with the feature active.
 *
 * Return: as gro_opt_ipv6_receive().
 */
struct sk_buff *gro_opt_outer6_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct ipv6hdr *iph)
{
	if (unlikely(gro_opt_unusual(skb, skb_gro_offset(skb))))
		return static_call(gro_opt_stock6_receive)(head, skb);
	if (iph->nexthdr == IPPROTO_IPV6)
		return gro_opt_whole_take(head, skb, iph, GRO_OPT_WAY_6IN6);
	return gro_opt_whole_take(head, skb, iph, GRO_OPT_WAY_4IN6);
}

/* ---- the inner header is ours ---- */

/*
 * As gro_opt_unusual(), for packets that other handlers have had before us: of
 * the 15 that the kernel grants a packet, 8 leave enough for what is behind.
 */
static __always_inline bool gro_opt_inner_unusual(const struct sk_buff *skb)
{
	const struct napi_gro_cb deep = { .recursion_counter = 8 };
	const struct skb_shared_info *info = skb_shinfo(skb);

	return (gro_opt_load32(&NAPI_GRO_CB(skb)->zeroed) &
		gro_opt_load32(&deep.zeroed)) ||
	       NAPI_GRO_CB(skb)->flush ||
	       info->gso_size ||
	       info->flags;
}

/**
 * gro_opt_inner4_receive - an inner IPv4 header, in front of TCP
 * @head: held packets of the bucket
 * @skb: new packet that handlers of outer headers have seen
 * @iph: the inner header; TCP's fixed part behind it is at hand
 * @way: how it came here
 *
 * Context: as gro_opt_inet_receive(), with the feature active.
 *
 * Return: as gro_opt_inet_receive().
 */
struct sk_buff *gro_opt_inner4_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct iphdr *iph,
				       enum gro_opt_way way)
{
	if (unlikely(gro_opt_inner_unusual(skb)))
		return gro_opt_tunnel_stock(head, skb, way);
	return gro_opt_tunnel_take(head, skb, iph, GRO_OPT_WAY_INNER4, way);
}

/**
 * gro_opt_inner6_receive - an inner IPv6 header, in front of TCP
 * @head: held packets of the bucket
 * @skb: new packet that handlers of outer headers have seen
 * @iph: the inner header; TCP's fixed part behind it is at hand
 * @way: how it came here
 *
 * Context: as gro_opt_ipv6_receive(), with the feature active.
 *
 * Return: as gro_opt_ipv6_receive().
 */
struct sk_buff *gro_opt_inner6_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct ipv6hdr *iph,
				       enum gro_opt_way way)
{
	if (unlikely(gro_opt_inner_unusual(skb)))
		return gro_opt_tunnel_stock(head, skb, way);
	return gro_opt_tunnel_take(head, skb, iph, GRO_OPT_WAY_INNER6, way);
}

/* ---- entries of inet_offloads[] and inet6_offloads[] ---- */

/* With a list of devices, or arms: is this packet of one that has encap? */
static noinline bool gro_opt_encap_asks(const struct sk_buff *skb, bool done)
{
	const struct gro_opt_ab_bin *bin;

	if (static_branch_unlikely(&gro_opt_key_devices) &&
	    !gro_opt_device_listed(skb->dev))
		return false;
	if (!static_branch_unlikely(&gro_opt_key_ab))
		return true;
	bin = done ? gro_opt_ab_outer_done(skb) : gro_opt_ab_outer(skb);
	return bin && (bin->way == GRO_OPT_AB_OPT ||
		       (bin->way == GRO_OPT_AB_SOME &&
			bin->features & BIT(GRO_OPT_F_encap)));
}

/* Do ours act on this packet? @done: in complete. */
static __always_inline bool gro_opt_encap_acts(const struct sk_buff *skb,
					       bool done)
{
	return static_branch_likely(&gro_opt_key_encap) &&
	       (!static_branch_unlikely(&gro_opt_key_detour) ||
		gro_opt_encap_asks(skb, done));
}

static noinline struct sk_buff *gro_opt_entry_take(struct list_head *head,
						   struct sk_buff *skb,
						   enum gro_opt_way way)
{
	const bool inner6 = gro_opt_way_inner6(way);
	const unsigned int off = skb_gro_offset(skb);
	void *base;

	if (!gro_opt_base(skb, off + gro_opt_l3len(inner6) +
			  sizeof(struct tcphdr), &base) ||
	    gro_opt_l3_proto(base + off, inner6) != IPPROTO_TCP)
		return gro_opt_tunnel_pass(head, skb, way);
	if (NAPI_GRO_CB(skb)->encap_mark)
		return gro_opt_tunnel_stock(head, skb, way);
	if (inner6)
		return gro_opt_inner6_receive(head, skb, base + off, way);
	return gro_opt_inner4_receive(head, skb, base + off, way);
}

/*
 * Whoever holds these entries' place in the tables is asked by handlers of the
 * outer header, for the inner one.
 */
#define GRO_OPT_ENTRY_RECEIVE(name, way)				\
struct sk_buff *gro_opt_##name##_receive(struct list_head *head,	\
					 struct sk_buff *skb)		\
{									\
	if (gro_opt_encap_acts(skb, false))				\
		return gro_opt_entry_take(head, skb, way);		\
	return static_call(gro_opt_stock_##name##_receive)(head, skb);	\
}

#define GRO_OPT_ENTRY_COMPLETE(name, way)				\
int gro_opt_##name##_complete(struct sk_buff *skb, int nhoff)		\
{									\
	int ret;							\
									\
	if (gro_opt_encap_acts(skb, true) &&				\
	    gro_opt_entry_complete(skb, nhoff, way, &ret))		\
		return ret;						\
	return static_call(gro_opt_stock_##name##_complete)(skb, nhoff);\
}

GRO_OPT_ENTRY_RECEIVE(ipip, GRO_OPT_WAY_IPIP)
GRO_OPT_ENTRY_RECEIVE(sit, GRO_OPT_WAY_SIT)
GRO_OPT_ENTRY_RECEIVE(ip4ip6, GRO_OPT_WAY_IP4IP6)
GRO_OPT_ENTRY_RECEIVE(ip6ip6, GRO_OPT_WAY_IP6IP6)
GRO_OPT_ENTRY_COMPLETE(ipip, GRO_OPT_WAY_IPIP)
GRO_OPT_ENTRY_COMPLETE(sit, GRO_OPT_WAY_SIT)
GRO_OPT_ENTRY_COMPLETE(ip4ip6, GRO_OPT_WAY_IP4IP6)
GRO_OPT_ENTRY_COMPLETE(ip6ip6, GRO_OPT_WAY_IP6IP6)
