// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP in a tunnel: all that the straight line of encap.c does not take. Not
 * built for each way by itself; struct gro_opt_tunnel says where the headers are.
 */
#include "tunnel.h"

/**
 * struct gro_opt_tunnel - where a packet has its headers
 * @way: how it came here
 * @base: skb->data, or where else its first bytes are
 * @outer: outer L3 header, from there; 0 on 6.1 if it is not ours
 * @inner: inner L3 header
 * @th: TCP header
 * @end: of TCP's header
 */
struct gro_opt_tunnel {
	enum gro_opt_way way;
	const void *base;
	unsigned int outer;
	unsigned int inner;
	unsigned int th;
	unsigned int end;
};

/*
 * Would stock's handler go on behind this header? It takes IPv6 of any version,
 * but later goes by what that says.
 */
static bool gro_opt_l3_sound(const void *l3, bool v6)
{
	const struct iphdr *iph = l3;

	if (v6)
		return iph->version == 6;
	return *(const u8 *)l3 == 0x45 &&
	       !(iph->frag_off & htons(IP_MF | IP_OFFSET)) &&
	       gro_opt_csum4_ok(iph);
}

/* A length or a reserved bit that forbid merging? */
static bool gro_opt_l3_lies(const struct sk_buff *skb, const void *l3,
			    unsigned int off, bool v6)
{
	return v6 ? gro_opt_len6_lies(skb, l3, off) :
		    gro_opt_len4_lies(skb, l3, off);
}

/* On to whom it would have met without us. */
struct sk_buff *gro_opt_tunnel_pass(struct list_head *head,
				    struct sk_buff *skb, enum gro_opt_way way)
{
	switch (way) {
	case GRO_OPT_WAY_IPIP:
		return static_call(gro_opt_stock_ipip_receive)(head, skb);
	case GRO_OPT_WAY_SIT:
		return static_call(gro_opt_stock_sit_receive)(head, skb);
	case GRO_OPT_WAY_IP4IP6:
		return static_call(gro_opt_stock_ip4ip6_receive)(head, skb);
	case GRO_OPT_WAY_IP6IP6:
		return static_call(gro_opt_stock_ip6ip6_receive)(head, skb);
	case GRO_OPT_WAY_INNER6:
	case GRO_OPT_WAY_6IN6:
	case GRO_OPT_WAY_4IN6:
		return static_call(gro_opt_stock6_receive)(head, skb);
	default:
		return static_call(gro_opt_stock4_receive)(head, skb);
	}
}

/*
 * The same, of a packet that is of our kind and yet left to stock. A whole one
 * comes again, to our entries of the tables, when stock has done the outer
 * header; it is counted there.
 */
struct sk_buff *gro_opt_tunnel_stock(struct list_head *head,
				     struct sk_buff *skb, enum gro_opt_way way)
{
	if (!gro_opt_way_whole(way))
		gro_opt_count(encap, fallback);
	return gro_opt_tunnel_pass(head, skb, way);
}

/* Find TCP, of which the fixed part is known to be at hand. */
static bool gro_opt_tunnel_locate(const struct sk_buff *skb,
				  struct gro_opt_tunnel *t)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct tcphdr *th;
	unsigned int thlen;
	void *base;

	t->outer = gro_opt_way_whole(t->way) ? off : gro_opt_outer_offset(skb);
	t->inner = off + gro_opt_way_outer_len(t->way);
	t->th = t->inner + gro_opt_l3len(gro_opt_way_inner6(t->way));
	if (!gro_opt_base(skb, t->th + sizeof(*th), &base))
		return false;
	t->base = base;
	th = base + t->th;
	thlen = th->doff * 4;
	t->end = t->th + thlen;
	return gro_opt_tcp_sound(skb, t->th, thlen);
}

static bool gro_opt_tunnel_sound(const struct gro_opt_tunnel *t)
{
	return (!gro_opt_way_whole(t->way) ||
		gro_opt_l3_sound(t->base + t->outer,
				 gro_opt_way_outer6(t->way))) &&
	       gro_opt_l3_sound(t->base + t->inner, gro_opt_way_inner6(t->way));
}

/* The held packet of the flow, told by all that stock goes by. */
static struct sk_buff *gro_opt_tunnel_lookup(struct list_head *head,
					     const struct gro_opt_tunnel *t)
{
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		if (!NAPI_GRO_CB(p)->same_flow)
			continue;
		if (gro_opt_way_whole(t->way) &&
		    gro_opt_l3_flow_differs(t->base + t->outer,
					    p->data + t->outer,
					    gro_opt_way_outer6(t->way)))
			continue;
		if (gro_opt_l3_flow_differs(t->base + t->inner,
					    p->data + t->inner,
					    gro_opt_way_inner6(t->way)))
			continue;
		if (gro_opt_load32(t->base + t->th) ==
		    gro_opt_load32(p->data + t->th))
			return p;
	}
	return NULL;
}

static bool gro_opt_tunnel_unusual_held(const struct sk_buff *p,
					const struct sk_buff *skb,
					const struct gro_opt_tunnel *t)
{
	return !NAPI_GRO_CB(p)->encap_mark ||
	       !gro_opt_tunnel_at(p, t->outer, t->inner) ||
	       !gro_opt_transport_at(p, t->th) ||
	       gro_opt_unusual_held(p, skb, skb_shinfo(p), skb->len - t->end,
				    ETH_P_IPV6);
}

static bool gro_opt_tunnel_lies(const struct sk_buff *skb,
				const struct gro_opt_tunnel *t)
{
	return (gro_opt_way_whole(t->way) &&
		gro_opt_l3_lies(skb, t->base + t->outer, t->outer,
				gro_opt_way_outer6(t->way))) ||
	       gro_opt_l3_lies(skb, t->base + t->inner, t->inner,
			       gro_opt_way_inner6(t->way));
}

static bool gro_opt_tunnel_csum_bad(struct sk_buff *skb,
				    const struct gro_opt_tunnel *t)
{
	if (gro_opt_way_outer6(t->way))
		skb_gro_postpull_rcsum(skb, t->base + t->outer,
				       sizeof(struct ipv6hdr));
	if (gro_opt_way_inner6(t->way))
		return gro_opt_csum6_bad(skb, t->base + t->inner,
					 sizeof(struct ipv6hdr));
	return gro_opt_csum4_bad(skb);
}

/* What an outer header that is not ours says, be it noted in @p or not. */
static u64 gro_opt_outer_differs(const struct sk_buff *p,
				 const struct gro_opt_tunnel *t)
{
	const struct iphdr *outer = t->base + t->outer;

	if (HAVE_GRO_CB_FLUSH_ID)
		return gro_opt_noted_flush(p);
	return gro_opt_l3_differs(outer, p->data + t->outer,
				  outer->version == 6);
}

static u64 gro_opt_tunnel_l3_differs(struct sk_buff *p,
				     const struct gro_opt_tunnel *t)
{
	const bool inner6 = gro_opt_way_inner6(t->way);
	u64 differs;

	differs = gro_opt_l3_differs(t->base + t->inner, p->data + t->inner,
				     inner6);
	if (!gro_opt_way_whole(t->way)) {
		if (!inner6)
			gro_opt_note_inner_differs(p, differs);
		return differs | gro_opt_outer_differs(p, t);
	}
	return differs | gro_opt_l3_differs(t->base + t->outer,
					    p->data + t->outer,
					    gro_opt_way_outer6(t->way));
}

static struct gro_opt_outer_id gro_opt_outer_id(struct sk_buff *p,
						const struct sk_buff *skb,
						const struct gro_opt_tunnel *t)
{
	const struct iphdr *iph = t->base + t->outer;
	const struct iphdr *iph2 = (void *)p->data + t->outer;
	bool outer6;

	if (HAVE_GRO_CB_FLUSH_ID && !gro_opt_way_whole(t->way))
		return gro_opt_noted_id(p, skb);
	outer6 = gro_opt_way_whole(t->way) ? gro_opt_way_outer6(t->way) :
					     iph->version == 6;
	if (outer6)
		return (struct gro_opt_outer_id) { .atomic = true };
	return gro_opt_outer4_id(p, iph, iph2, &gro_opt_rules);
}

/* Asked last: if they do not differ, @p may now know that its IDs are fixed. */
static u32 gro_opt_tunnel_ids_differ(struct sk_buff *p,
				     const struct sk_buff *skb,
				     const struct gro_opt_tunnel *t)
{
	const struct gro_opt_outer_id id = gro_opt_outer_id(p, skb, t);

	if (gro_opt_way_inner6(t->way))
		return gro_opt_inner6_id(p, id);
	return gro_opt_inner4_id(p, id, t->base + t->inner,
				 (void *)p->data + t->inner, &gro_opt_rules);
}

/* Join @skb to @p, or end that for a reason that is counted. */
static struct sk_buff *gro_opt_tunnel_decide(struct sk_buff *p,
					     struct sk_buff *skb,
					     const struct gro_opt_tunnel *t)
{
	const struct tcphdr *th = t->base + t->th;
	struct tcphdr *th2 = (void *)p->data + t->th;
	const u64 l3 = gro_opt_tunnel_l3_differs(p, t);
	const unsigned int len = skb->len - t->end;
	const __be32 flags = tcp_flag_word(th);

	if (!l3 && !NAPI_GRO_CB(skb)->flush &&
	    !gro_opt_tcp_differs(p, skb, th, th2, t->end - t->th, len) &&
	    !gro_opt_tunnel_ids_differ(p, skb, t))
		return gro_opt_tcp_join(p, skb, th2, len, flags,
					GRO_OPT_F_encap);
	gro_opt_count_flush(GRO_OPT_F_encap, p, skb, th, th2, l3);
	return gro_opt_tcp_new(p, skb, len, flags, GRO_OPT_F_encap);
}

/* What stock would have noted by the time it calls TCP; false: bad checksum. */
static bool gro_opt_tunnel_note(struct sk_buff *skb,
				const struct gro_opt_tunnel *t)
{
	gro_opt_note_tunnel(skb, t->outer, t->inner);
	skb_set_transport_header(skb, t->th);
	NAPI_GRO_CB(skb)->proto = IPPROTO_TCP;
	NAPI_GRO_CB(skb)->data_offset = t->th;
	if (unlikely(gro_opt_tunnel_lies(skb, t)))
		NAPI_GRO_CB(skb)->flush = 1;
	else if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt) &&
		 gro_opt_tunnel_csum_bad(skb, t))
		return false;
	NAPI_GRO_CB(skb)->data_offset = t->end;
	return true;
}

/* For 6.1; the outer handler's word on DF is in the same place until now. */
static void gro_opt_tunnel_note_df(struct sk_buff *skb,
				   const struct gro_opt_tunnel *t)
{
	const struct iphdr *iph = t->base + t->inner;

	gro_opt_note_df(skb, gro_opt_way_inner6(t->way) ||
			(iph->frag_off & htons(IP_DF)));
}

/*
 * The three phases for all ways at once. Nothing has been written, be it that
 * the straight line has been tried or not.
 */
struct sk_buff *gro_opt_tunnel_slow(struct list_head *head,
				    struct sk_buff *skb, enum gro_opt_way way)
{
	struct gro_opt_tunnel t = { .way = way };
	const struct tcphdr *th;
	struct sk_buff *p;

	if (!gro_opt_is_live() || gro_opt_chains(skb) ||
	    !gro_opt_tunnel_locate(skb, &t) || !gro_opt_tunnel_sound(&t))
		return gro_opt_tunnel_stock(head, skb, way);
	p = gro_opt_tunnel_lookup(head, &t);
	if (p && gro_opt_tunnel_unusual_held(p, skb, &t))
		return gro_opt_tunnel_stock(head, skb, way);

	if (!gro_opt_tunnel_note(skb, &t))
		return gro_opt_bad_csum(skb, GRO_OPT_F_encap);
	th = t.base + t.th;
	if (p)
		p = gro_opt_tunnel_decide(p, skb, &t);
	else
		gro_opt_tcp_new(NULL, skb, skb->len - t.end, tcp_flag_word(th),
				GRO_OPT_F_encap);
	gro_opt_tunnel_note_df(skb, &t);
	return p;
}
