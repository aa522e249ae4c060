// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP over IPv4 and IPv6.
 *
 * Whether datagrams may be merged is the receiving socket's to say, so there is
 * a socket lookup for each, as in stock. Only one that continues a held packet
 * is merged here. All others get L3 from us and the rest from stock's own UDP
 * handler: the first of a flow, what nobody wants merged, tunnels. So nothing
 * of stock's choice whether to look for a socket at all (a static key, which
 * 7.3 does not export) needs to be known here: where a packet is held there is
 * a socket that asked, or rx-udp-gro-forwarding is on.
 *
 * Stock's handler expects of L3, besides what the table in fast.c has, that
 * same_flow of a held packet is cleared where L3 differs and, in 6.1, that its
 * flush and flush_id say what else differs.
 */
#include "compat/udp.h"
#include "l3.h"
#include "udp.h"
#include "udp_tunnel.h"

DEFINE_STATIC_CALL_NULL(gro_opt_stock4_udp, gro_opt_inet_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock6_udp, gro_opt_ipv6_receive);

/* Stock's limit, for many small datagrams cost more truesize than they fill. */
#define GRO_OPT_UDP_MAX		64

/*
 * A tunnel's packet has its transport header further in, and inner headers that
 * stock's handler has to compare.
 */
static __always_inline bool gro_opt_udp_inner(const struct sk_buff *p,
					      const void *uh2)
{
	return skb_transport_header(p) != uh2;
}

/*
 * Ports are the same: is @p for stock's UDP handler to compare, or for a tunnel's?
 * Neither takes one with a checksum for one without.
 */
static __always_inline bool gro_opt_udp_theirs(struct sk_buff *p,
					       const struct udphdr *uh,
					       const struct udphdr *uh2)
{
	if (!uh->check == !uh2->check)
		return true;
	NAPI_GRO_CB(p)->same_flow = 0;
	return false;
}

/*
 * Inputs not to be merged here, however sound. A held packet with a gso_type came
 * as an aggregate: its UDP length is not that of its segments.
 */
static __always_inline bool
gro_opt_udp_unusual(const struct sk_buff *p, const struct sk_buff *skb,
		    unsigned int off, unsigned int len, unsigned int type)
{
	return gro_opt_unusual(skb, off) || skb->encapsulation ||
	       gro_opt_chains(skb) || skb_shinfo(p)->gso_type ||
	       gro_opt_unusual_held(p, skb, skb_shinfo(p), len, type);
}

/* Does the socket want merging, or the device for what is nobody's? */
static __always_inline bool gro_opt_udp_wanted(const struct sk_buff *skb,
					       const struct sock *sk)
{
	if (likely(sk))
		return likely(udp_test_bit(GRO_ENABLED, sk)) &&
		       !udp_sk(sk)->gro_receive;
	return skb->dev->features & NETIF_F_GRO_UDP_FWD;
}

/*
 * A full segment? What equals the held packet is sound, for it was when that was
 * held. @differs is what L3 found to differ.
 */
static __always_inline bool
gro_opt_udp_full(const struct sk_buff *skb, const struct udphdr *uh,
		 const struct udphdr *uh2, unsigned int thoff, u64 differs)
{
	const unsigned int len = skb->len - thoff;

	differs |= (__force u16)(uh->len ^ uh2->len);
	differs |= len ^ ntohs(uh->len);
	return !differs && gro_opt_csum_known(skb, thoff);
}

/* Joined a full segment: has the aggregate as many as it may? */
static __always_inline struct sk_buff *
gro_opt_udp_ended(struct sk_buff *p, enum gro_opt_feature_id id)
{
	if (likely(NAPI_GRO_CB(p)->count < GRO_OPT_UDP_MAX))
		return NULL;
	gro_opt_count_at(id, flushed_count);
	return p;
}

/* Joined: was it a short one, which ends the aggregate? */
static __always_inline struct sk_buff *
gro_opt_udp_joined(struct sk_buff *p, const struct udphdr *uh,
		   const struct udphdr *uh2, enum gro_opt_feature_id id)
{
	if (uh->len == uh2->len)
		return gro_opt_udp_ended(p, id);
	gro_opt_count_at(id, flushed_short);
	return p;
}

/* Compared and found different: @p ends, @skb is held instead. */
static noinline struct sk_buff *
gro_opt_udp_other(struct sk_buff *p, const struct udphdr *uh,
		  const struct udphdr *uh2, u64 l3,
		  enum gro_opt_feature_id id)
{
	if (l3)
		gro_opt_count_at(id, flushed_hdr);
	else if (ntohs(uh->len) > ntohs(uh2->len))
		gro_opt_count_at(id, flushed_size);
	else
		gro_opt_count_at(id, flushed_id);
	gro_opt_count_at(id, held);
	return p;
}

/* ---- IPv4 ---- */

/* What stock's L3 notes in a held packet for the handlers behind it. */
static __always_inline void
gro_opt_udp4_note_held(struct list_head *head, const struct sk_buff *skb,
		       const struct iphdr *iph, unsigned int off)
{
	const bool df = iph->frag_off & htons(IP_DF);
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const struct iphdr *iph2 = (void *)(p->data + off);

		if (NAPI_GRO_CB(p)->same_flow)
			gro_opt_note_held4(p, skb,
					   gro_opt_hdr4_differs(iph, iph2),
					   ntohs(iph->id) - ntohs(iph2->id),
					   df);
	}
}

static noinline bool gro_opt_udp4_csum_bad(struct sk_buff *skb)
{
	return skb_gro_checksum_validate(skb, IPPROTO_UDP,
					 inet_gro_compute_pseudo);
}

/* All that is not a full segment with its payload in page frags. */
static noinline struct sk_buff *
gro_opt_udp4_decide(struct sk_buff *skb, const struct iphdr *iph,
		    struct sk_buff *p)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + sizeof(*iph);
	const struct iphdr *iph2 = (void *)(p->data + off);
	const struct udphdr *uh2 = (const struct udphdr *)(iph2 + 1);
	const unsigned int hlen = thoff + sizeof(*uh);
	u32 l3;

	gro_opt_udp4_note(skb, iph, off);
	NAPI_GRO_CB(skb)->data_offset = thoff;
	if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt) && gro_opt_udp4_csum_bad(skb))
		return gro_opt_bad_csum(skb, GRO_OPT_F_udp4);
	NAPI_GRO_CB(skb)->data_offset = hlen;

	l3 = gro_opt_hdr4_differs(iph, iph2);
	if (l3 || ntohs(uh->len) > ntohs(uh2->len) ||
	    gro_opt_id_differs(p, iph, iph2))
		return gro_opt_udp_other(p, uh, uh2, l3, GRO_OPT_F_udp4);
	gro_opt_merge(p, skb, hlen, skb->len - hlen, GRO_OPT_F_udp4);
	return gro_opt_udp_joined(p, uh, uh2, GRO_OPT_F_udp4);
}

/*
 * None to merge with here. @theirs: some that stock's UDP handler has to compare,
 * if there are any.
 */
static __always_inline struct sk_buff *
gro_opt_udp4_alone(struct list_head *head, struct sk_buff *skb,
		   const struct iphdr *iph, bool theirs)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);

	if (unlikely(!gro_opt_udp4_sound(skb, iph, uh, off))) {
		gro_opt_count(udp4, fallback);
		return static_call(gro_opt_stock4_receive)(head, skb);
	}
	if (gro_opt_marks_held() && theirs)
		gro_opt_udp4_note_held(head, skb, iph, off);
	if (!theirs || !static_branch_likely(&gro_opt_key_encap))
		return gro_opt_udp4_rest(head, skb, iph, off);
	gro_opt_udp4_done(skb, iph, off);
	return gro_opt_udp4_tunnel(head, skb, iph);
}

static noinline struct sk_buff *
gro_opt_udp4_none(struct list_head *head, struct sk_buff *skb,
		  const struct iphdr *iph, bool theirs)
{
	return gro_opt_udp4_alone(head, skb, iph, theirs);
}

/* Something is other than in @p: may it be judged here? */
static noinline struct sk_buff *
gro_opt_udp4_vet(struct list_head *head, struct sk_buff *skb,
		 const struct iphdr *iph, struct sk_buff *p)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int len = skb->len - off - sizeof(*iph) - sizeof(*uh);

	if (gro_opt_udp4_sound(skb, iph, uh, off) &&
	    !gro_opt_udp_unusual(p, skb, off, len, ETH_P_IP) &&
	    gro_opt_udp_wanted(skb, gro_opt_udp4_lookup(skb, iph, uh)))
		return gro_opt_udp4_decide(skb, iph, p);
	gro_opt_count(udp4, fallback);
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* @p has the addresses and ports of @skb, and there is a checksum. */
static __always_inline struct sk_buff *
gro_opt_udp4_next(struct list_head *head, struct sk_buff *skb,
		  const struct iphdr *iph, struct sk_buff *p)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const struct iphdr *iph2 = (const void *)p->data + off;
	const struct udphdr *uh2 = (const struct udphdr *)(iph2 + 1);
	const unsigned int thoff = off + sizeof(*iph);
	const unsigned int hlen = thoff + sizeof(*uh);
	const unsigned int len = skb->len - hlen;

	if (unlikely(!gro_opt_udp_full(skb, uh, uh2, thoff,
				       gro_opt_next4_differs(iph, iph2))))
		return gro_opt_udp4_vet(head, skb, iph, p);
	if (unlikely(gro_opt_udp_unusual(p, skb, off, len, ETH_P_IP) ||
		     !gro_opt_udp_wanted(skb,
					 gro_opt_udp4_rx_sk(skb, iph, uh)))) {
		gro_opt_count(udp4, fallback);
		return static_call(gro_opt_stock4_receive)(head, skb);
	}
	if (likely(!gro_opt_id_differs(p, iph, iph2) &&
		   gro_opt_straight_merge(p, skb, sizeof(*iph), hlen,
					  len))) {
		gro_opt_count(udp4, merged_frags);
		return gro_opt_udp_ended(p, GRO_OPT_F_udp4);
	}
	return gro_opt_udp4_decide(skb, iph, p);
}

/*
 * The packet that @skb continues, or NULL. Up to that one, and in all if there is
 * none, same_flow is left as stock's L3 leaves it, or as its UDP handler would
 * make of that. @theirs: some that stock's UDP handler has to compare.
 */
static __always_inline struct sk_buff *
gro_opt_udp4_find(struct list_head *head, const struct sk_buff *skb,
		  const struct iphdr *iph, bool *theirs)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	struct sk_buff *p;

	*theirs = false;
	list_for_each_entry(p, head, list) {
		const struct iphdr *iph2 = (const void *)p->data + off;
		const struct udphdr *uh2;

		if (!NAPI_GRO_CB(p)->same_flow)
			continue;
		if ((gro_opt_addrs4(iph2) ^ gro_opt_addrs4(iph)) |
		    (iph2->protocol ^ IPPROTO_UDP)) {
			NAPI_GRO_CB(p)->same_flow = 0;
			continue;
		}
		uh2 = (const void *)(iph2 + 1);
		if (gro_opt_load32(uh) != gro_opt_load32(uh2))
			NAPI_GRO_CB(p)->same_flow = 0;
		else if (unlikely(gro_opt_udp_inner(p, uh2) || !uh->check))
			*theirs |= gro_opt_udp_theirs(p, uh, uh2);
		else if (likely(!*theirs))
			return p;
	}
	return NULL;
}

/* With packets held in this bucket. */
struct sk_buff *gro_opt_udp4_held(struct list_head *head, struct sk_buff *skb,
				  const struct iphdr *iph)
{
	struct sk_buff *p;
	bool theirs;

	p = gro_opt_udp4_find(head, skb, iph, &theirs);
	if (p)
		return gro_opt_udp4_next(head, skb, iph, p);
	return gro_opt_udp4_none(head, skb, iph, theirs);
}

/*
 * The same where the first is a tunnel's. Then most likely all that is to do is
 * call on, which is put in line here.
 */
struct sk_buff *gro_opt_udp4_behind(struct list_head *head,
				    struct sk_buff *skb,
				    const struct iphdr *iph)
{
	bool theirs;

	if (gro_opt_udp4_find(head, skb, iph, &theirs))
		return gro_opt_udp4_held(head, skb, iph);
	return gro_opt_udp4_alone(head, skb, iph, theirs);
}

/* ---- IPv6 ---- */

static __always_inline void
gro_opt_udp6_note_held(struct list_head *head, const struct sk_buff *skb,
		       const struct ipv6hdr *iph, unsigned int off)
{
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const struct ipv6hdr *iph2 = (void *)(p->data + off);

		if (NAPI_GRO_CB(p)->same_flow)
			gro_opt_note_held6(p, skb,
					   gro_opt_hdr6_differs(iph, iph2,
								GRO_OPT_IP6_EQUAL));
	}
}

static noinline bool gro_opt_udp6_csum_bad(struct sk_buff *skb,
					   const struct ipv6hdr *iph)
{
	skb_gro_postpull_rcsum(skb, iph, sizeof(*iph));
	return skb_gro_checksum_validate(skb, IPPROTO_UDP,
					 ip6_gro_compute_pseudo);
}

static noinline struct sk_buff *
gro_opt_udp6_decide(struct sk_buff *skb, const struct ipv6hdr *iph,
		    struct sk_buff *p)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int hlen = off + sizeof(*iph) + sizeof(*uh);
	const struct ipv6hdr *iph2 = (void *)(p->data + off);
	const struct udphdr *uh2 = (const struct udphdr *)(iph2 + 1);
	u64 l3;

	gro_opt_udp6_note(skb, off);
	if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt) &&
	    gro_opt_udp6_csum_bad(skb, iph))
		return gro_opt_bad_csum(skb, GRO_OPT_F_udp6);
	NAPI_GRO_CB(skb)->data_offset = hlen;

	l3 = gro_opt_hdr6_differs(iph, iph2, GRO_OPT_IP6_EQUAL);
	if (l3 || ntohs(uh->len) > ntohs(uh2->len))
		return gro_opt_udp_other(p, uh, uh2, l3, GRO_OPT_F_udp6);
	gro_opt_merge(p, skb, hlen, skb->len - hlen, GRO_OPT_F_udp6);
	return gro_opt_udp_joined(p, uh, uh2, GRO_OPT_F_udp6);
}

static __always_inline struct sk_buff *
gro_opt_udp6_go(struct list_head *head, struct sk_buff *skb,
		const struct ipv6hdr *iph, bool theirs)
{
	const unsigned int off = skb_gro_offset(skb);

	if (gro_opt_marks_held() && theirs)
		gro_opt_udp6_note_held(head, skb, iph, off);
	if (!theirs || !static_branch_likely(&gro_opt_key_encap))
		return gro_opt_udp6_rest(head, skb, off);
	gro_opt_udp6_done(skb, off);
	return gro_opt_udp6_tunnel(head, skb, iph);
}

/* With a sum of all bytes, from which IPv6's are taken: a call, so apart. */
static noinline struct sk_buff *
gro_opt_udp6_summed(struct list_head *head, struct sk_buff *skb,
		    const struct ipv6hdr *iph, bool theirs)
{
	skb_gro_postpull_rcsum(skb, iph, sizeof(*iph));
	return gro_opt_udp6_go(head, skb, iph, theirs);
}

static __always_inline struct sk_buff *
gro_opt_udp6_alone(struct list_head *head, struct sk_buff *skb,
		   const struct ipv6hdr *iph, bool theirs)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);

	if (unlikely(!gro_opt_udp6_sound(skb, iph, uh, skb_gro_offset(skb)))) {
		gro_opt_count(udp6, fallback);
		return static_call(gro_opt_stock6_receive)(head, skb);
	}
	if (unlikely(NAPI_GRO_CB(skb)->csum_valid))
		return gro_opt_udp6_summed(head, skb, iph, theirs);
	return gro_opt_udp6_go(head, skb, iph, theirs);
}

static noinline struct sk_buff *
gro_opt_udp6_none(struct list_head *head, struct sk_buff *skb,
		  const struct ipv6hdr *iph, bool theirs)
{
	return gro_opt_udp6_alone(head, skb, iph, theirs);
}

static noinline struct sk_buff *
gro_opt_udp6_vet(struct list_head *head, struct sk_buff *skb,
		 const struct ipv6hdr *iph, struct sk_buff *p)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int len = skb->len - off - sizeof(*iph) - sizeof(*uh);

	if (gro_opt_udp6_sound(skb, iph, uh, off) &&
	    !gro_opt_udp_unusual(p, skb, off, len, ETH_P_IPV6) &&
	    gro_opt_udp_wanted(skb, gro_opt_udp6_lookup(skb, iph, uh)))
		return gro_opt_udp6_decide(skb, iph, p);
	gro_opt_count(udp6, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static __always_inline struct sk_buff *
gro_opt_udp6_next(struct list_head *head, struct sk_buff *skb,
		  const struct ipv6hdr *iph, struct sk_buff *p)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const struct ipv6hdr *iph2 = (const void *)p->data + off;
	const struct udphdr *uh2 = (const struct udphdr *)(iph2 + 1);
	const unsigned int thoff = off + sizeof(*iph);
	const unsigned int hlen = thoff + sizeof(*uh);
	const unsigned int len = skb->len - hlen;

	if (unlikely(!gro_opt_udp_full(skb, uh, uh2, thoff,
				       gro_opt_next6_differs(iph, iph2))))
		return gro_opt_udp6_vet(head, skb, iph, p);
	if (unlikely(gro_opt_udp_unusual(p, skb, off, len, ETH_P_IPV6) ||
		     !gro_opt_udp_wanted(skb,
					 gro_opt_udp6_rx_sk(skb, iph, uh)))) {
		gro_opt_count(udp6, fallback);
		return static_call(gro_opt_stock6_receive)(head, skb);
	}
	if (likely(gro_opt_straight_merge(p, skb, sizeof(*iph), hlen,
					  len))) {
		gro_opt_count(udp6, merged_frags);
		return gro_opt_udp_ended(p, GRO_OPT_F_udp6);
	}
	return gro_opt_udp6_decide(skb, iph, p);
}

static __always_inline struct sk_buff *
gro_opt_udp6_find(struct list_head *head, const struct sk_buff *skb,
		  const struct ipv6hdr *iph, bool *theirs)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	struct sk_buff *p;

	*theirs = false;
	list_for_each_entry(p, head, list) {
		const struct ipv6hdr *iph2 = (const void *)p->data + off;
		const struct udphdr *uh2;

		if (!NAPI_GRO_CB(p)->same_flow)
			continue;
		if (gro_opt_hdr6_differs(iph, iph2, GRO_OPT_IP6_FLOW) |
		    gro_opt_addrs6_differ(iph, iph2)) {
			NAPI_GRO_CB(p)->same_flow = 0;
			continue;
		}
		uh2 = (const void *)(iph2 + 1);
		if (gro_opt_load32(uh) != gro_opt_load32(uh2))
			NAPI_GRO_CB(p)->same_flow = 0;
		else if (unlikely(gro_opt_udp_inner(p, uh2) || !uh->check))
			*theirs |= gro_opt_udp_theirs(p, uh, uh2);
		else if (likely(!*theirs))
			return p;
	}
	return NULL;
}

struct sk_buff *gro_opt_udp6_held(struct list_head *head, struct sk_buff *skb,
				  const struct ipv6hdr *iph)
{
	struct sk_buff *p;
	bool theirs;

	p = gro_opt_udp6_find(head, skb, iph, &theirs);
	if (p)
		return gro_opt_udp6_next(head, skb, iph, p);
	return gro_opt_udp6_none(head, skb, iph, theirs);
}

struct sk_buff *gro_opt_udp6_behind(struct list_head *head,
				    struct sk_buff *skb,
				    const struct ipv6hdr *iph)
{
	bool theirs;

	if (gro_opt_udp6_find(head, skb, iph, &theirs))
		return gro_opt_udp6_held(head, skb, iph);
	return gro_opt_udp6_alone(head, skb, iph, theirs);
}
