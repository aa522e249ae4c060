// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data path: TCP over IPv4 and IPv6 in one pass. UDP: see udp.c.
 *
 * A packet goes through three phases.
 *
 * 1. Look: read headers in place and find the held packet of the flow. Nothing
 *    is written, so whatever is unusual can still go to the stock handler as if
 *    it had never been here.
 * 2. Note: offsets and checksum, as stock leaves them for whoever comes next.
 * 3. Decide: compare with that one held packet, merge or end it.
 *
 * In front of 2 and 3 stands a straight line (gro_opt_tcp_straight()) for the
 * next full segment of a flow with its payload in page frags. It calls nothing
 * and so needs no stack frame; the skb is freed right after it, so it has next
 * to nothing to note. Whatever it does not take finds everything untouched.
 *
 * What later calls read, and therefore has to be right whoever handles them
 * (the kernels' own sources, gro.c, tcp_offload.c, af_inet.c, ip6_offload.c):
 *
 * field			written by	read next by
 * skb: transport_header	L3 receive	L4 of later packets, complete
 * skb: network_header (6.1)	L3 receive	complete, skb_gro_receive
 * cb: network_offsets (6.10-)	L3 receive	flush checks, L4 complete; the
 *						second one of tunnels alone
 * cb: data_offset		L3, L4 receive	core (pull), skb_gro_len(held)
 * cb: proto			L3 receive	size limit, ESP, ours (IPv6 alone:
 *						6.1 does not write it for IPv4)
 * cb: count			core, merge	ID rule, complete, core
 * cb: last			core, merge	merge
 * cb: is_atomic (6.1)		L3, L4 receive	ID rule, complete
 * cb: ip_fixedid (6.10-)	L4 receive	ID rule, complete
 * cb: flush (new packet)	L3, L4 receive	core: hold or pass
 * cb: same_flow, free (new)	merge		core: who frees
 * cb: is_flist			stock only	we leave such packets to stock
 * cb: encap_mark		L3 of tunnels	tunnels; ours, whether the transport
 *						offset is the outermost header's.
 *						Cleared before inner complete,
 *						where encapsulation says so
 * cb: flush, flush_id of held packets (6.1) and same_flow of held packets are
 *     rewritten for each new packet. Nobody follows TCP in a pass, so it reads
 *     same_flow and leaves them all; stock's UDP handler may follow, so UDP
 *     writes what stock's L3 does.
 * cb: csum, csum_valid, csum_cnt, recursion_counter, is_ipv6 (-6.12) are read in
 *     the same pass only; stock's UDP handler finds them as from stock's L3.
 */
#include "ab/path.h"
#include "encap.h"
#include "l3.h"
#include "tcp.h"
#include "udp.h"

/*
 * Aggregates of ours stay below it, and after a fault it is 0: one word that
 * sends every packet to stock, for the price of a comparison that is there.
 */
u32 gro_opt_limit __read_mostly = GRO_LEGACY_MAX_SIZE;
struct gro_opt_rules gro_opt_rules __read_mostly;

DEFINE_STATIC_CALL_NULL(gro_opt_stock4_receive, gro_opt_inet_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock6_receive, gro_opt_ipv6_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock4_complete, gro_opt_inet_complete);
DEFINE_STATIC_CALL_NULL(gro_opt_stock6_complete, gro_opt_ipv6_complete);

/* ---- IPv4 ---- */

/* Is @p a held TCP packet of the same addresses and ports? */
static __always_inline bool gro_opt_flow4(const struct sk_buff *p,
					  const struct sk_buff *skb,
					  const struct iphdr *iph,
					  const struct iphdr *iph2)
{
	/* Devices without a MAC header have no protocol compared before us. */
	return NAPI_GRO_CB(p)->same_flow && p->protocol == skb->protocol &&
	       !((gro_opt_addrs4(iph) ^ gro_opt_addrs4(iph2)) |
		 (gro_opt_load32(iph + 1) ^ gro_opt_load32(iph2 + 1))) &&
	       likely(iph2->protocol == IPPROTO_TCP);
}

/* The rest of what stock is to deal with, or to refuse. */
static __always_inline bool
gro_opt_unfit4(const struct sk_buff *skb, const struct iphdr *iph,
	       unsigned int thoff, unsigned int thlen)
{
	return !gro_opt_is_live() || !gro_opt_tcp_sound(skb, thoff, thlen) ||
	       (iph->frag_off & htons(IP_MF | IP_OFFSET)) ||
	       !gro_opt_csum4_ok(iph) || gro_opt_chains(skb);
}

/* All that the straight line does not take; @p is the held packet, or NULL. */
static noinline struct sk_buff *
gro_opt_tcp4(struct list_head *head, struct sk_buff *skb,
	     const struct iphdr *iph, struct sk_buff *p)
{
	const struct tcphdr *th = (const struct tcphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + sizeof(*iph);
	const unsigned int thlen = gro_opt_tcp_len(skb, th, thoff);
	const unsigned int len = skb->len - thoff - thlen;
	struct iphdr *iph2;
	struct tcphdr *th2;
	__be32 flags;
	u32 l3;

	if (unlikely(gro_opt_unfit4(skb, iph, thoff, thlen)) ||
	    (p && gro_opt_unusual_held(p, skb, skb_shinfo(p), len,
				       ETH_P_IP))) {
		gro_opt_count(tcp4, fallback);
		return static_call(gro_opt_stock4_receive)(head, skb);
	}

	flags = tcp_flag_word(th);
	gro_opt_note_network(skb, off);
	gro_opt_note_df(skb, iph->frag_off & htons(IP_DF));
	skb_set_transport_header(skb, thoff);
	NAPI_GRO_CB(skb)->proto = IPPROTO_TCP;
	NAPI_GRO_CB(skb)->data_offset = thoff;
	if (unlikely(gro_opt_len4_lies(skb, iph, off)))
		NAPI_GRO_CB(skb)->flush = 1;
	else if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt) &&
		 gro_opt_csum4_bad(skb))
		return gro_opt_bad_csum(skb, GRO_OPT_F_tcp4);
	NAPI_GRO_CB(skb)->data_offset = thoff + thlen;
	if (!p)
		return gro_opt_tcp_new(NULL, skb, len, flags, GRO_OPT_F_tcp4);

	iph2 = (struct iphdr *)(p->data + off);
	th2 = (struct tcphdr *)(iph2 + 1);
	l3 = gro_opt_hdr4_differs(iph, iph2);
	if (!l3 && !NAPI_GRO_CB(skb)->flush &&
	    !gro_opt_tcp_differs(p, skb, th, th2, thlen, len) &&
	    !gro_opt_id_differs(p, iph, iph2))
		return gro_opt_tcp_join(p, skb, th2, len, flags,
					GRO_OPT_F_tcp4);

	gro_opt_count_flush(GRO_OPT_F_tcp4, p, skb, th, th2, l3);
	return gro_opt_tcp_new(p, skb, len, flags, GRO_OPT_F_tcp4);
}

/* The segment after @p, by the straight line if it is a full one. */
static __always_inline struct sk_buff *
gro_opt_tcp4_next(struct list_head *head, struct sk_buff *skb,
		  const struct iphdr *iph, struct sk_buff *p,
		  const struct iphdr *iph2)
{
	const struct tcphdr *th = (const struct tcphdr *)(iph + 1);
	const struct tcphdr *th2 = (const struct tcphdr *)(iph2 + 1);
	const unsigned int thoff = skb_gro_offset(skb) + sizeof(*iph);
	const unsigned int hlen = skb_gro_offset(p);
	const unsigned int len = skb->len - hlen;

	if (likely(gro_opt_tcp_straight(p, skb, th, th2, thoff, hlen, len,
					ETH_P_IP,
					gro_opt_next4_differs(iph, iph2)) &&
		   !gro_opt_id_differs(p, iph, iph2) &&
		   gro_opt_straight_merge(p, skb, sizeof(*iph), hlen, len))) {
		gro_opt_count(tcp4, merged_frags);
		return NULL;
	}
	return gro_opt_tcp4(head, skb, iph, p);
}

/*
 * TCP over IPv4, headers up to the fixed part of TCP at hand, nothing unusual
 * about the skb.
 */
static noinline struct sk_buff *
gro_opt_tcp4_take(struct list_head *head, struct sk_buff *skb,
		  const struct iphdr *iph)
{
	const unsigned int off = skb_gro_offset(skb);
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const struct iphdr *iph2 = (const void *)p->data + off;

		if (likely(gro_opt_flow4(p, skb, iph, iph2)))
			return gro_opt_tcp4_next(head, skb, iph, p, iph2);
	}
	return gro_opt_tcp4(head, skb, iph, NULL);
}

/*
 * Which packets are ours to look at: with a UDP header at hand, or as much of
 * TCP's. Jumps on, so it needs no stack frame.
 */
static __always_inline struct sk_buff *
gro_opt_inet_take(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct iphdr *iph;
	void *base;
	u32 proto;

	if (unlikely(!gro_opt_base(skb, off + sizeof(*iph) +
				   sizeof(struct udphdr), &base)))
		goto stock;
	iph = base + off;
	if (static_branch_likely(&gro_opt_key_tcp4)) {
		if (likely(iph->protocol == IPPROTO_TCP)) {
			if (likely(*(const u8 *)iph == 0x45 &&
				   !gro_opt_unusual(skb, off)))
				return gro_opt_tcp4_take(head, skb, iph);
			if (gro_opt_encap_inner(skb))
				return gro_opt_inner4_receive(head, skb, iph,
							      GRO_OPT_WAY_INNER4);
			gro_opt_count(tcp4, fallback);
			goto stock;
		}
	} else if (iph->protocol == IPPROTO_TCP) {
		gro_opt_count_pass4(IPPROTO_TCP);
	}
	proto = gro_opt_proto4(iph);
	if (proto - IPPROTO_IPIP > IPPROTO_IPV6 - IPPROTO_IPIP)
		goto stock;
	if (static_branch_likely(&gro_opt_key_udp4)) {
		if (proto == IPPROTO_UDP)
			return gro_opt_udp4(head, skb, iph);
	} else if (proto == IPPROTO_UDP) {
		gro_opt_count_pass4(IPPROTO_UDP);
	}
	if (static_branch_likely(&gro_opt_key_encap)) {
		if (gro_opt_is_l3(proto))
			return gro_opt_outer4_receive(head, skb, iph);
	} else if (gro_opt_is_l3(proto)) {
		gro_opt_count_pass4(iph->protocol);
	}
stock:
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* For all who come by way of a detour: one copy of it is enough for those. */
static noinline struct sk_buff *
gro_opt_inet_take_far(struct list_head *head, struct sk_buff *skb)
{
	return gro_opt_inet_take(head, skb);
}

/* For stock, whatever the features, and counted as that. */
static __always_inline struct sk_buff *
gro_opt_inet_pass(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct iphdr *iph;
	void *base;

	if (likely(gro_opt_base(skb, off + sizeof(*iph), &base))) {
		iph = base + off;
		gro_opt_count_pass4(iph->protocol);
	}
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* What the sampled packets of an A/B run go through; others jump there. */
noinline struct sk_buff *gro_opt_inet_way(struct list_head *head,
					  struct sk_buff *skb,
					  const struct gro_opt_ab_bin *bin)
{
	if (bin->way == GRO_OPT_AB_OPT ||
	    (bin->way == GRO_OPT_AB_SOME && gro_opt_inet_in(skb, bin)))
		return gro_opt_inet_take_far(head, skb);
	return gro_opt_inet_pass(head, skb);
}

/* Inner headers go the way of the outer ones and are not counted. */
static noinline struct sk_buff *gro_opt_inet_inner(struct list_head *head,
						   struct sk_buff *skb)
{
	const struct gro_opt_ab_bin *bin = gro_opt_ab_outer(skb);

	if (bin)
		return gro_opt_inet_way(head, skb, bin);
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/*
 * By its arm, while a run is on. Keys are switched one after the other, so that who
 * is interrupted between two of them may come here without a run, and then there
 * are no bins.
 */
static __always_inline struct sk_buff *
gro_opt_inet_ab(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	struct gro_opt_ab_bin *bin;
	void *base;

	if (!static_branch_likely(&gro_opt_key_ab))
		return gro_opt_inet_take_far(head, skb);
	if (unlikely(off > GRO_OPT_MAX_L3_OFFSET))
		return gro_opt_inet_inner(head, skb);
	if (likely(!gro_opt_ab_hashed())) {
		bin = gro_opt_ab_bin();
	} else {
		if (unlikely(!gro_opt_base(skb, off + GRO_OPT_AB_HASHED4,
					   &base)))
			return static_call(gro_opt_stock4_receive)(head, skb);
		bin = gro_opt_ab_by_hash(gro_opt_ab_hash4(base + off));
	}
	if (unlikely(!--bin->left))
		return gro_opt_ab_sample4(head, skb, bin);
	if (bin->way == GRO_OPT_AB_OPT)
		return gro_opt_inet_take(head, skb);
	if (bin->way == GRO_OPT_AB_PASS)
		return gro_opt_inet_pass(head, skb);
	return gro_opt_inet_way(head, skb, bin);
}

/* With a list of devices. On its own, as it calls and so needs a stack frame. */
static noinline struct sk_buff *
gro_opt_inet_filter(struct list_head *head, struct sk_buff *skb)
{
	if (!gro_opt_device_listed(skb->dev))
		return gro_opt_inet_pass(head, skb);
	return gro_opt_inet_ab(head, skb);
}

/* What trace.c looks at from outside. */
struct sk_buff *gro_opt_inet_untraced(struct list_head *head,
				      struct sk_buff *skb)
{
	if (!READ_ONCE(gro_opt_acts))
		return gro_opt_inet_pass(head, skb);
	if (static_branch_unlikely(&gro_opt_key_devices))
		return gro_opt_inet_filter(head, skb);
	return gro_opt_inet_ab(head, skb);
}

/* Traced, or of a device that has to be listed: a run alone has one key to pass. */
static noinline struct sk_buff *
gro_opt_inet_seen(struct list_head *head, struct sk_buff *skb)
{
	if (static_branch_unlikely(&gro_opt_key_trace))
		return gro_opt_trace4(head, skb);
	return gro_opt_inet_untraced(head, skb);
}

/*
 * Some packets are not ours: those of devices that are not listed, of an arm of
 * an A/B run. Out of line, so that without either nobody pays.
 */
static noinline struct sk_buff *
gro_opt_inet_detour(struct list_head *head, struct sk_buff *skb)
{
	if (static_branch_unlikely(&gro_opt_key_seen))
		return gro_opt_inet_seen(head, skb);
	return gro_opt_inet_ab(head, skb);
}

/**
 * gro_opt_inet_receive - gro_receive of our ETH_P_IP entry
 * @head: held packets of the bucket
 * @skb: new packet, offset of the IPv4 header in its control block
 *
 * Context: softirq (or whoever runs NAPI), rcu_read_lock() held.
 *
 * Return: the held packet to complete now, NULL for none, or what stock says.
 */
struct sk_buff *gro_opt_inet_receive(struct list_head *head,
				     struct sk_buff *skb)
{
	if (!static_branch_likely(&gro_opt_key_acting))
		return gro_opt_inet_pass(head, skb);
	if (static_branch_unlikely(&gro_opt_key_detour))
		return gro_opt_inet_detour(head, skb);
	return gro_opt_inet_take(head, skb);
}

static __always_inline int gro_opt_tcp4_complete(struct sk_buff *skb,
						 int nhoff)
{
	struct iphdr *iph = (struct iphdr *)(skb->data + nhoff);
	struct tcphdr *th = (struct tcphdr *)(iph + 1);
	const unsigned int len = skb->len - nhoff;

	if (!gro_opt_completes(skb, len)) {
		if (static_branch_unlikely(&gro_opt_key_encap))
			return gro_opt_tunnel4_complete(skb, nhoff);
		return static_call(gro_opt_stock4_complete)(skb, nhoff);
	}
	if (unlikely((u8 *)th != skb_transport_header(skb)))
		return gro_opt_lost("tcp4: transport offset of a held packet");

	gro_opt_set_len4(iph, len);
	th->check = gro_opt_tcp4_pseudo(iph, len - sizeof(*iph));
	gro_opt_count(tcp4, completed);
	return gro_opt_tcp_complete(skb, th,
				    SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb));
}

static __always_inline int gro_opt_inet_complete_take(struct sk_buff *skb,
						      int nhoff)
{
	const struct iphdr *iph = (const struct iphdr *)(skb->data + nhoff);

	if (static_branch_likely(&gro_opt_key_tcp4) &&
	    likely(iph->protocol == IPPROTO_TCP))
		return gro_opt_tcp4_complete(skb, nhoff);
	if (static_branch_likely(&gro_opt_key_udp4) &&
	    iph->protocol == IPPROTO_UDP)
		return gro_opt_udp4_complete(skb, nhoff);
	if (static_branch_unlikely(&gro_opt_key_encap))
		return gro_opt_tunnel4_complete(skb, nhoff);
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
}

static noinline int gro_opt_inet_complete_far(struct sk_buff *skb, int nhoff)
{
	return gro_opt_inet_complete_take(skb, nhoff);
}

int gro_opt_inet_complete_way(struct sk_buff *skb, int nhoff,
			      const struct gro_opt_ab_bin *bin)
{
	if (bin->way == GRO_OPT_AB_OPT ||
	    (bin->way == GRO_OPT_AB_SOME &&
	     gro_opt_inet_in_complete(skb, nhoff, bin)))
		return gro_opt_inet_complete_far(skb, nhoff);
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
}

static noinline int
gro_opt_inet_complete_inner(struct sk_buff *skb, int nhoff)
{
	const struct gro_opt_ab_bin *bin = gro_opt_ab_outer_done(skb);

	if (bin)
		return gro_opt_inet_complete_way(skb, nhoff, bin);
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
}

/* May ours complete it, by its device? Tells those who trace. */
static noinline bool gro_opt_complete_seen(const struct sk_buff *skb,
					   int nhoff, bool v4)
{
	if (static_branch_unlikely(&gro_opt_key_trace))
		gro_opt_trace_done(skb, nhoff, v4);
	return !static_branch_unlikely(&gro_opt_key_devices) ||
	       gro_opt_device_listed(skb->dev);
}

/* As in receive. */
static noinline int
gro_opt_inet_complete_detour(struct sk_buff *skb, int nhoff)
{
	if (static_branch_unlikely(&gro_opt_key_seen) &&
	    !gro_opt_complete_seen(skb, nhoff, true))
		return static_call(gro_opt_stock4_complete)(skb, nhoff);
	if (!static_branch_likely(&gro_opt_key_ab))
		return gro_opt_inet_complete_far(skb, nhoff);
	if (unlikely(nhoff > GRO_OPT_MAX_L3_OFFSET))
		return gro_opt_inet_complete_inner(skb, nhoff);
	return gro_opt_ab_complete4(skb, nhoff,
				    gro_opt_ab_done4(skb, nhoff));
}

/**
 * gro_opt_inet_complete - gro_complete of our ETH_P_IP entry
 * @skb: aggregate of at least two segments, held by ours or by stock
 * @nhoff: offset of the IPv4 header from skb->data
 *
 * Context: softirq, rcu_read_lock() held.
 *
 * Return: 0, or stock's error, upon which core frees the packet.
 */
int gro_opt_inet_complete(struct sk_buff *skb, int nhoff)
{
	if (static_branch_unlikely(&gro_opt_key_detour))
		return gro_opt_inet_complete_detour(skb, nhoff);
	return gro_opt_inet_complete_take(skb, nhoff);
}

/* ---- IPv6 ---- */

/* Is @p a held packet of the same flow, by what is in its IPv6 header? */
static __always_inline bool gro_opt_flow6(const struct sk_buff *p,
					  const struct ipv6hdr *iph,
					  const struct ipv6hdr *iph2)
{
	return NAPI_GRO_CB(p)->same_flow &&
	       !(gro_opt_hdr6_differs(iph, iph2, GRO_OPT_IP6_FLOW) |
		 gro_opt_addrs6_differ(iph, iph2));
}

static __always_inline bool gro_opt_ports_differ(const struct ipv6hdr *iph,
						 const struct ipv6hdr *iph2,
						 unsigned int nlen)
{
	return gro_opt_load32((const u8 *)iph + nlen) !=
	       gro_opt_load32((const u8 *)iph2 + nlen);
}

static __always_inline bool
gro_opt_unfit6(const struct sk_buff *skb, const struct ipv6hdr *iph,
	       unsigned int thoff, unsigned int thlen)
{
	return !gro_opt_is_live() || iph->version != 6 ||
	       !gro_opt_tcp_sound(skb, thoff, thlen) || gro_opt_chains(skb);
}

/* Whose packet it is, by the length of all headers in front of TCP. */
static __always_inline enum gro_opt_feature_id
gro_opt_feature6(unsigned int nlen)
{
	return nlen == sizeof(struct ipv6hdr) ? GRO_OPT_F_tcp6 :
						GRO_OPT_F_exthdr;
}

/* As gro_opt_tcp4(); @nlen is the length of all headers in front of TCP. */
static noinline struct sk_buff *
gro_opt_tcp6(struct list_head *head, struct sk_buff *skb,
	     const struct ipv6hdr *iph, struct sk_buff *p, unsigned int nlen)
{
	const enum gro_opt_feature_id id = gro_opt_feature6(nlen);
	const struct tcphdr *th = (const void *)iph + nlen;
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + nlen;
	const unsigned int thlen = gro_opt_tcp_len(skb, th, thoff);
	const unsigned int len = skb->len - thoff - thlen;
	struct ipv6hdr *iph2;
	struct tcphdr *th2;
	__be32 flags;
	u64 l3;

	if (unlikely(gro_opt_unfit6(skb, iph, thoff, thlen)) ||
	    (p && gro_opt_unusual_held(p, skb, skb_shinfo(p), len,
				       ETH_P_IPV6))) {
		gro_opt_count_at(id, fallback);
		return static_call(gro_opt_stock6_receive)(head, skb);
	}

	flags = tcp_flag_word(th);
	gro_opt_note_network(skb, off);
	skb_set_transport_header(skb, thoff);
	NAPI_GRO_CB(skb)->proto = IPPROTO_TCP;
	NAPI_GRO_CB(skb)->data_offset = thoff;
	if (unlikely(gro_opt_len6_lies(skb, iph, off)))
		NAPI_GRO_CB(skb)->flush = 1;
	else if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt) &&
		 gro_opt_csum6_bad(skb, iph, nlen))
		return gro_opt_bad_csum(skb, id);
	NAPI_GRO_CB(skb)->data_offset = thoff + thlen;
	if (!p)
		return gro_opt_tcp_new(NULL, skb, len, flags, id);

	iph2 = (struct ipv6hdr *)(p->data + off);
	th2 = (void *)iph2 + nlen;
	l3 = gro_opt_hdr6_differs(iph, iph2, GRO_OPT_IP6_EQUAL);
	if (!l3 && !NAPI_GRO_CB(skb)->flush &&
	    !gro_opt_tcp_differs(p, skb, th, th2, thlen, len))
		return gro_opt_tcp_join(p, skb, th2, len, flags,
					id);

	gro_opt_count_flush(id, p, skb, th, th2, l3);
	return gro_opt_tcp_new(p, skb, len, flags, id);
}

static __always_inline struct sk_buff *
gro_opt_tcp6_next(struct list_head *head, struct sk_buff *skb,
		  const struct ipv6hdr *iph, struct sk_buff *p,
		  const struct ipv6hdr *iph2, unsigned int nlen,
		  enum gro_opt_feature_id id)
{
	const struct tcphdr *th = (const void *)iph + nlen;
	const struct tcphdr *th2 = (const void *)iph2 + nlen;
	const unsigned int thoff = skb_gro_offset(skb) + nlen;
	const unsigned int hlen = skb_gro_offset(p);
	const unsigned int len = skb->len - hlen;

	if (likely(gro_opt_tcp_straight(p, skb, th, th2, thoff, hlen, len,
					ETH_P_IPV6,
					gro_opt_next6_differs(iph, iph2)) &&
		   gro_opt_straight_merge(p, skb, nlen, hlen, len))) {
		gro_opt_count_at(id, merged_frags);
		return NULL;
	}
	return gro_opt_tcp6(head, skb, iph, p, nlen);
}

static noinline struct sk_buff *
gro_opt_tcp6_take(struct list_head *head, struct sk_buff *skb,
		  const struct ipv6hdr *iph)
{
	const unsigned int off = skb_gro_offset(skb);
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const struct ipv6hdr *iph2 = (const void *)p->data + off;

		if (likely(gro_opt_flow6(p, iph, iph2) &&
			   !gro_opt_ports_differ(iph, iph2, sizeof(*iph))))
			return gro_opt_tcp6_next(head, skb, iph, p, iph2,
						 sizeof(*iph), GRO_OPT_F_tcp6);
	}
	return gro_opt_tcp6(head, skb, iph, NULL, sizeof(*iph));
}

static __always_inline bool gro_opt_is_exthdr(u8 proto)
{
	/* One comparison after the other, the most frequent one first. */
	if (proto == NEXTHDR_HOP)
		return true;
	OPTIMIZER_HIDE_VAR(proto);
	return proto == NEXTHDR_DEST || proto == NEXTHDR_ROUTING;
}

/* Would stock skip this header? Asked of the table that stock asks. */
static __always_inline bool gro_opt_skips(u8 proto)
{
	const struct net_offload *ops;

	if (proto == NEXTHDR_HOP && gro_opt_rules.hop_walked)
		return true;
	ops = rcu_dereference(inet6_offloads[proto]);
	return ops && (ops->flags & INET6_PROTO_GSO_EXTHDR);
}

/*
 * Length of IPv6 and extension headers in front of a TCP header of which 20
 * bytes are at hand, or 0 if there is anything else in the chain.
 */
static __always_inline unsigned int
gro_opt_walk_exthdrs(const struct sk_buff *skb, const struct ipv6hdr *iph,
		     unsigned int off)
{
	unsigned int nlen = sizeof(*iph);
	u8 proto = iph->nexthdr;

	while (gro_opt_is_exthdr(proto)) {
		const struct ipv6_opt_hdr *opth = (const void *)iph + nlen;

		if (!gro_opt_skips(proto) ||
		    !gro_opt_at_hand(skb, off + nlen + 8))
			return 0;
		nlen += ipv6_optlen(opth);
		proto = opth->nexthdr;
	}
	if (proto != IPPROTO_TCP ||
	    !gro_opt_at_hand(skb, off + nlen + sizeof(struct tcphdr)))
		return 0;
	return nlen;
}

/* No held packet has this chain: walk it, for there may be TCP behind it. */
static noinline struct sk_buff *
gro_opt_tcp6_walk(struct list_head *head, struct sk_buff *skb,
		  const struct ipv6hdr *iph)
{
	unsigned int nlen;

	nlen = gro_opt_walk_exthdrs(skb, iph, skb_gro_offset(skb));
	if (likely(nlen)) {
		gro_opt_count(exthdr, walked);
		return gro_opt_tcp6(head, skb, iph, NULL, nlen);
	}
	gro_opt_count(exthdr, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

/*
 * A held packet whose extension headers are the same bytes: then they mean the
 * same, lead to TCP, and need not be walked again. Its transport offset tells
 * their length, unless that is the one inside a tunnel.
 */
static noinline struct sk_buff *
gro_opt_tcp6_exthdr(struct list_head *head, struct sk_buff *skb,
		    const struct ipv6hdr *iph)
{
	const unsigned int off = skb_gro_offset(skb);
	struct sk_buff *p;

	if (unlikely(gro_opt_pulls_exthdrs(skb)))
		goto fallback;
	list_for_each_entry(p, head, list) {
		const struct ipv6hdr *iph2 = (const void *)p->data + off;
		unsigned int nlen;

		if (!gro_opt_flow6(p, iph, iph2) ||
		    NAPI_GRO_CB(p)->proto != IPPROTO_TCP ||
		    NAPI_GRO_CB(p)->encap_mark)
			continue;
		if (unlikely(!gro_opt_at_hand(skb, skb_gro_offset(p))))
			goto fallback;
		nlen = skb_transport_header(p) - (const u8 *)iph2;
		if (likely(!gro_opt_exthdrs_differ(iph, iph2, nlen) &&
			   !gro_opt_ports_differ(iph, iph2, nlen)))
			return gro_opt_tcp6_next(head, skb, iph, p, iph2, nlen,
						 GRO_OPT_F_exthdr);
	}
	return gro_opt_tcp6_walk(head, skb, iph);

fallback:
	gro_opt_count(exthdr, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static __always_inline struct sk_buff *
gro_opt_ipv6_take(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct ipv6hdr *iph;
	void *base;

	if (unlikely(!gro_opt_base(skb, off + sizeof(*iph) +
				   sizeof(struct udphdr), &base)))
		goto stock;
	iph = base + off;
	if (static_branch_likely(&gro_opt_key_tcp6)) {
		if (likely(iph->nexthdr == IPPROTO_TCP)) {
			if (likely(!gro_opt_unusual(skb, off)))
				return gro_opt_tcp6_take(head, skb, iph);
			if (gro_opt_encap_inner(skb))
				return gro_opt_inner6_receive(head, skb, iph,
							      GRO_OPT_WAY_INNER6);
			gro_opt_count(tcp6, fallback);
			goto stock;
		}
	} else if (iph->nexthdr == IPPROTO_TCP) {
		gro_opt_count_pass6(IPPROTO_TCP);
	}
	if (static_branch_likely(&gro_opt_key_udp6)) {
		if (iph->nexthdr == IPPROTO_UDP)
			return gro_opt_udp6(head, skb, iph);
	} else if (iph->nexthdr == IPPROTO_UDP) {
		gro_opt_count_pass6(IPPROTO_UDP);
	}
	if (static_branch_likely(&gro_opt_key_exthdr) &&
	    gro_opt_is_exthdr(iph->nexthdr)) {
		if (likely(!gro_opt_unusual(skb, off)))
			return gro_opt_tcp6_exthdr(head, skb, iph);
		gro_opt_count(exthdr, fallback);
		goto stock;
	}
	if (static_branch_likely(&gro_opt_key_encap)) {
		if (gro_opt_is_l3(iph->nexthdr))
			return gro_opt_outer6_receive(head, skb, iph);
	} else if (gro_opt_is_l3(iph->nexthdr)) {
		gro_opt_count_pass6(iph->nexthdr);
	}
stock:
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static noinline struct sk_buff *
gro_opt_ipv6_take_far(struct list_head *head, struct sk_buff *skb)
{
	return gro_opt_ipv6_take(head, skb);
}

static __always_inline struct sk_buff *
gro_opt_ipv6_pass(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct ipv6hdr *iph;
	void *base;

	if (likely(gro_opt_base(skb, off + sizeof(*iph), &base))) {
		iph = base + off;
		gro_opt_count_pass6(iph->nexthdr);
	}
	return static_call(gro_opt_stock6_receive)(head, skb);
}

noinline struct sk_buff *gro_opt_ipv6_way(struct list_head *head,
					  struct sk_buff *skb,
					  const struct gro_opt_ab_bin *bin)
{
	if (bin->way == GRO_OPT_AB_OPT ||
	    (bin->way == GRO_OPT_AB_SOME && gro_opt_ipv6_in(skb, bin)))
		return gro_opt_ipv6_take_far(head, skb);
	return gro_opt_ipv6_pass(head, skb);
}

static noinline struct sk_buff *gro_opt_ipv6_inner(struct list_head *head,
						   struct sk_buff *skb)
{
	const struct gro_opt_ab_bin *bin = gro_opt_ab_outer(skb);

	if (bin)
		return gro_opt_ipv6_way(head, skb, bin);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static __always_inline struct sk_buff *
gro_opt_ipv6_ab(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	struct gro_opt_ab_bin *bin;
	void *base;

	if (!static_branch_likely(&gro_opt_key_ab))
		return gro_opt_ipv6_take_far(head, skb);
	if (unlikely(off > GRO_OPT_MAX_L3_OFFSET))
		return gro_opt_ipv6_inner(head, skb);
	if (likely(!gro_opt_ab_hashed())) {
		bin = gro_opt_ab_bin();
	} else {
		if (unlikely(!gro_opt_base(skb, off + GRO_OPT_AB_HASHED6,
					   &base)))
			return static_call(gro_opt_stock6_receive)(head, skb);
		bin = gro_opt_ab_by_hash(gro_opt_ab_hash6(base + off));
	}
	if (unlikely(!--bin->left))
		return gro_opt_ab_sample6(head, skb, bin);
	if (bin->way == GRO_OPT_AB_OPT)
		return gro_opt_ipv6_take(head, skb);
	if (bin->way == GRO_OPT_AB_PASS)
		return gro_opt_ipv6_pass(head, skb);
	return gro_opt_ipv6_way(head, skb, bin);
}

static noinline struct sk_buff *
gro_opt_ipv6_filter(struct list_head *head, struct sk_buff *skb)
{
	if (!gro_opt_device_listed(skb->dev))
		return gro_opt_ipv6_pass(head, skb);
	return gro_opt_ipv6_ab(head, skb);
}

struct sk_buff *gro_opt_ipv6_untraced(struct list_head *head,
				      struct sk_buff *skb)
{
	if (!READ_ONCE(gro_opt_acts))
		return gro_opt_ipv6_pass(head, skb);
	if (static_branch_unlikely(&gro_opt_key_devices))
		return gro_opt_ipv6_filter(head, skb);
	return gro_opt_ipv6_ab(head, skb);
}

static noinline struct sk_buff *
gro_opt_ipv6_seen(struct list_head *head, struct sk_buff *skb)
{
	if (static_branch_unlikely(&gro_opt_key_trace))
		return gro_opt_trace6(head, skb);
	return gro_opt_ipv6_untraced(head, skb);
}

static noinline struct sk_buff *
gro_opt_ipv6_detour(struct list_head *head, struct sk_buff *skb)
{
	if (static_branch_unlikely(&gro_opt_key_seen))
		return gro_opt_ipv6_seen(head, skb);
	return gro_opt_ipv6_ab(head, skb);
}

/**
 * gro_opt_ipv6_receive - gro_receive of our ETH_P_IPV6 entry
 * @head: held packets of the bucket
 * @skb: new packet, offset of the IPv6 header in its control block
 *
 * Context: softirq (or whoever runs NAPI), rcu_read_lock() held.
 *
 * Return: the held packet to complete now, NULL for none, or what stock says.
 */
struct sk_buff *gro_opt_ipv6_receive(struct list_head *head,
				     struct sk_buff *skb)
{
	if (!static_branch_likely(&gro_opt_key_acting))
		return gro_opt_ipv6_pass(head, skb);
	if (static_branch_unlikely(&gro_opt_key_detour))
		return gro_opt_ipv6_detour(head, skb);
	return gro_opt_ipv6_take(head, skb);
}

static __always_inline int gro_opt_tcp6_complete(struct sk_buff *skb,
						 int nhoff)
{
	struct tcphdr *th = tcp_hdr(skb);
	struct ipv6hdr *iph = (struct ipv6hdr *)(skb->data + nhoff);
	const unsigned int ext = (u8 *)th - (u8 *)(iph + 1);
	const unsigned int len = skb->len - nhoff;
	unsigned int payload;

	if (!gro_opt_completes(skb, len))
		goto other;
	if (likely(!ext)) {
		gro_opt_count(tcp6, completed);
	} else {
		if (!static_branch_likely(&gro_opt_key_exthdr))
			goto stock;
		if (unlikely(ext >= len))
			return gro_opt_lost("tcp6: transport offset of a held packet");
		gro_opt_count(exthdr, completed);
	}

	payload = len - sizeof(*iph);
	iph->payload_len = htons(payload);
	th->check = gro_opt_pseudo6(iph, payload - ext, IPPROTO_TCP);
	return gro_opt_tcp_complete(skb, th, SKB_GSO_TCPV6);

other:
	if (static_branch_unlikely(&gro_opt_key_encap))
		return gro_opt_tunnel6_complete(skb, nhoff);
stock:
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

static __always_inline int gro_opt_ipv6_complete_take(struct sk_buff *skb,
						      int nhoff)
{
	const struct ipv6hdr *iph = (const void *)(skb->data + nhoff);

	if (static_branch_likely(&gro_opt_key_tcp6) &&
	    likely(NAPI_GRO_CB(skb)->proto == IPPROTO_TCP))
		return gro_opt_tcp6_complete(skb, nhoff);
	if (static_branch_likely(&gro_opt_key_udp6) &&
	    iph->nexthdr == IPPROTO_UDP)
		return gro_opt_udp6_complete(skb, nhoff);
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

static noinline int gro_opt_ipv6_complete_far(struct sk_buff *skb, int nhoff)
{
	return gro_opt_ipv6_complete_take(skb, nhoff);
}

int gro_opt_ipv6_complete_way(struct sk_buff *skb, int nhoff,
			      const struct gro_opt_ab_bin *bin)
{
	if (bin->way == GRO_OPT_AB_OPT ||
	    (bin->way == GRO_OPT_AB_SOME &&
	     gro_opt_ipv6_in_complete(skb, nhoff, bin)))
		return gro_opt_ipv6_complete_far(skb, nhoff);
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

static noinline int
gro_opt_ipv6_complete_inner(struct sk_buff *skb, int nhoff)
{
	const struct gro_opt_ab_bin *bin = gro_opt_ab_outer_done(skb);

	if (bin)
		return gro_opt_ipv6_complete_way(skb, nhoff, bin);
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

static noinline int
gro_opt_ipv6_complete_detour(struct sk_buff *skb, int nhoff)
{
	if (static_branch_unlikely(&gro_opt_key_seen) &&
	    !gro_opt_complete_seen(skb, nhoff, false))
		return static_call(gro_opt_stock6_complete)(skb, nhoff);
	if (!static_branch_likely(&gro_opt_key_ab))
		return gro_opt_ipv6_complete_far(skb, nhoff);
	if (unlikely(nhoff > GRO_OPT_MAX_L3_OFFSET))
		return gro_opt_ipv6_complete_inner(skb, nhoff);
	return gro_opt_ab_complete6(skb, nhoff,
				    gro_opt_ab_done6(skb, nhoff));
}

/**
 * gro_opt_ipv6_complete - gro_complete of our ETH_P_IPV6 entry
 * @skb: aggregate of at least two segments, held by ours or by stock
 * @nhoff: offset of the IPv6 header from skb->data
 *
 * The transport offset on record tells the length of extension headers, and
 * the control block their transport protocol, so they are not walked again. In a
 * tunnel both belong to the inner level.
 *
 * Context: softirq, rcu_read_lock() held.
 *
 * Return: 0, or stock's error, upon which core frees the packet.
 */
int gro_opt_ipv6_complete(struct sk_buff *skb, int nhoff)
{
	if (static_branch_unlikely(&gro_opt_key_detour))
		return gro_opt_ipv6_complete_detour(skb, nhoff);
	return gro_opt_ipv6_complete_take(skb, nhoff);
}
