// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data path: TCP over IPv4 and IPv6 in one pass.
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
 * cb: network_offsets (6.10-)	L3 receive	flush checks, L4 complete
 * cb: data_offset		L3, L4 receive	core (pull), skb_gro_len(held)
 * cb: proto			L3 receive	complete (ours), size limit, fou
 * cb: count			core, merge	ID rule, complete, core
 * cb: last			core, merge	merge
 * cb: is_atomic (6.1)		L3, L4 receive	ID rule, complete
 * cb: ip_fixedid (6.10-)	L4 receive	ID rule, complete
 * cb: flush (new packet)	L3, L4 receive	core: hold or pass
 * cb: same_flow, free (new)	merge		core: who frees
 * cb: is_flist			stock only	we leave such packets to stock
 * cb: encap_mark		stock only	tunnels, left to stock
 * cb: flush, flush_id of held packets (6.1) and same_flow of held packets are
 *     rewritten for each new packet; nobody follows us in a pass, so we neither
 *     read nor leave them.
 */
#include "l3.h"
#include "tcp.h"

/* Read by every packet, written by hand or by a fault: one word, no lock. */
int gro_opt_live __read_mostly = 1;
struct gro_opt_rules gro_opt_rules __read_mostly;

DEFINE_STATIC_CALL_NULL(gro_opt_stock4_receive, gro_opt_inet_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock6_receive, gro_opt_ipv6_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock4_complete, gro_opt_inet_complete);
DEFINE_STATIC_CALL_NULL(gro_opt_stock6_complete, gro_opt_ipv6_complete);

/* ---- IPv4 ---- */

static __always_inline struct sk_buff *
gro_opt_lookup4(struct list_head *head, const struct iphdr *iph,
		unsigned int off)
{
	const u64 addrs = gro_opt_addrs4(iph);
	const u32 ports = gro_opt_load32(iph + 1);
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const struct iphdr *iph2;

		if (!NAPI_GRO_CB(p)->same_flow)
			continue;
		iph2 = (const struct iphdr *)(p->data + off);
		if ((gro_opt_addrs4(iph2) ^ addrs) |
		    (gro_opt_load32(iph2 + 1) ^ ports))
			continue;
		if (likely(iph2->protocol == IPPROTO_TCP))
			return p;
	}
	return NULL;
}

/* The whole of phases 2 and 3; the caller has vetted headers and @p's type. */
static noinline struct sk_buff *
gro_opt_tcp4(struct list_head *head, struct sk_buff *skb,
	     const struct iphdr *iph, struct sk_buff *p)
{
	const struct tcphdr *th = (const struct tcphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + sizeof(*iph);
	const unsigned int thlen = th->doff * 4;
	const unsigned int len = skb->len - thoff - thlen;
	const __be32 flags = tcp_flag_word(th);
	struct iphdr *iph2;
	struct tcphdr *th2;
	u32 l3;

	if (p && gro_opt_unusual_held(p, skb, skb_shinfo(p), len,
				      gro_opt_max_size4(skb->dev))) {
		gro_opt_count(tcp4, fallback);
		return static_call(gro_opt_stock4_receive)(head, skb);
	}

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

/*
 * TCP over IPv4, headers up to the fixed part of TCP at hand, nothing unusual
 * about the skb.
 */
static noinline struct sk_buff *
gro_opt_tcp4_take(struct list_head *head, struct sk_buff *skb,
		  const struct iphdr *iph)
{
	const struct tcphdr *th = (const struct tcphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + sizeof(*iph);
	const unsigned int thlen = th->doff * 4;
	const struct iphdr *iph2;
	unsigned int len;
	struct sk_buff *p;

	if (unlikely(thlen < sizeof(*th) ||
		     !gro_opt_at_hand(skb, thoff + thlen) ||
		     (iph->frag_off & htons(IP_MF | IP_OFFSET)) ||
		     !gro_opt_csum4_ok(iph)))
		goto fallback;
	p = gro_opt_lookup4(head, iph, off);
	if (!p)
		return gro_opt_tcp4(head, skb, iph, NULL);

	iph2 = (const struct iphdr *)(p->data + off);
	len = skb->len - thoff - thlen;
	if (likely(!gro_opt_len4_lies(skb, iph, off) &&
		   gro_opt_tcp_straight(p, skb, th,
					(const struct tcphdr *)(iph2 + 1),
					thoff, thlen, len,
					gro_opt_max_size4(skb->dev),
					gro_opt_hdr4_differs(iph, iph2)) &&
		   !gro_opt_id_differs(p, iph, iph2) &&
		   gro_opt_straight_merge(p, skb, thoff, thoff + thlen, len))) {
		gro_opt_count(tcp4, merged_frags);
		return NULL;
	}
	return gro_opt_tcp4(head, skb, iph, p);

fallback:
	gro_opt_count(tcp4, fallback);
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* Which packets are ours to look at. Jumps on, so it needs no stack frame. */
static __always_inline struct sk_buff *
gro_opt_inet_take(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct iphdr *iph;

	if (unlikely(!gro_opt_at_hand(skb, off + sizeof(*iph) +
				      sizeof(struct tcphdr))))
		goto stock;
	iph = gro_opt_base(skb) + off;
	if (unlikely(iph->protocol != IPPROTO_TCP || !READ_ONCE(gro_opt_live)))
		goto stock;
	if (likely(*(const u8 *)iph == 0x45 && !gro_opt_unusual(skb, off)))
		return gro_opt_tcp4_take(head, skb, iph);

	gro_opt_count(tcp4, fallback);
stock:
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* Passthrough still counts what the features would have taken. */
static __always_inline struct sk_buff *
gro_opt_inet_pass(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct iphdr *iph;

	if (likely(gro_opt_at_hand(skb, off + sizeof(*iph)))) {
		iph = gro_opt_base(skb) + off;
		if (iph->protocol == IPPROTO_TCP)
			gro_opt_count_stock(tcp4);
	}
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* With a list of devices: out of line, so that without one nobody pays. */
static noinline struct sk_buff *
gro_opt_inet_filter(struct list_head *head, struct sk_buff *skb)
{
	if (gro_opt_device_listed(skb->dev))
		return gro_opt_inet_take(head, skb);
	return gro_opt_inet_pass(head, skb);
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
	if (!static_branch_likely(&gro_opt_key_tcp4))
		return gro_opt_inet_pass(head, skb);
	if (static_branch_unlikely(&gro_opt_key_devices))
		return gro_opt_inet_filter(head, skb);
	return gro_opt_inet_take(head, skb);
}

/* Headers of a held packet are not where they were: stock, and never again. */
static noinline __cold int gro_opt_lost4(struct sk_buff *skb, int nhoff)
{
	gro_opt_fault("tcp4: transport offset of a held packet");
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
}

static __always_inline int gro_opt_tcp4_complete(struct sk_buff *skb,
						 int nhoff)
{
	struct iphdr *iph = (struct iphdr *)(skb->data + nhoff);
	struct tcphdr *th = (struct tcphdr *)(iph + 1);
	const int thoff = nhoff + sizeof(*iph);
	__be16 len;

	if (iph->protocol != IPPROTO_TCP || !gro_opt_completes(skb, nhoff))
		return static_call(gro_opt_stock4_complete)(skb, nhoff);
	if (unlikely(skb_transport_offset(skb) != thoff))
		return gro_opt_lost4(skb, nhoff);

	len = htons(skb->len - nhoff);
	csum_replace2(&iph->check, iph->tot_len, len);
	iph->tot_len = len;
	th->check = ~tcp_v4_check(skb->len - thoff, iph->saddr, iph->daddr, 0);
	gro_opt_count(tcp4, completed);
	return gro_opt_tcp_complete(skb, th,
				    SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb));
}

/* With a list of devices, as in receive. */
static noinline int gro_opt_inet_complete_filter(struct sk_buff *skb,
						 int nhoff)
{
	if (gro_opt_device_listed(skb->dev))
		return gro_opt_tcp4_complete(skb, nhoff);
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
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
	if (!static_branch_likely(&gro_opt_key_tcp4))
		return static_call(gro_opt_stock4_complete)(skb, nhoff);
	if (static_branch_unlikely(&gro_opt_key_devices))
		return gro_opt_inet_complete_filter(skb, nhoff);
	return gro_opt_tcp4_complete(skb, nhoff);
}

/* ---- IPv6 ---- */

static __always_inline struct sk_buff *
gro_opt_lookup6(struct list_head *head, const struct ipv6hdr *iph,
		unsigned int off, unsigned int nlen)
{
	const u32 ports = gro_opt_load32((const u8 *)iph + nlen);
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const struct ipv6hdr *iph2;

		if (!NAPI_GRO_CB(p)->same_flow)
			continue;
		iph2 = (const struct ipv6hdr *)(p->data + off);
		if (gro_opt_hdr6_differs(iph, iph2, GRO_OPT_IP6_FLOW) |
		    gro_opt_addrs6_differ(iph, iph2))
			continue;
		if (nlen > sizeof(*iph) &&
		    gro_opt_exthdrs_differ(p, iph, iph2, off, nlen))
			continue;
		if (gro_opt_load32((const u8 *)iph2 + nlen) == ports)
			return p;
	}
	return NULL;
}

/* As gro_opt_tcp4(); @nlen is the length of all headers in front of TCP. */
static noinline struct sk_buff *
gro_opt_tcp6(struct list_head *head, struct sk_buff *skb,
	     const struct ipv6hdr *iph, struct sk_buff *p, unsigned int nlen)
{
	const struct tcphdr *th = (const void *)iph + nlen;
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + nlen;
	const unsigned int thlen = th->doff * 4;
	const unsigned int len = skb->len - thoff - thlen;
	const __be32 flags = tcp_flag_word(th);
	struct ipv6hdr *iph2;
	struct tcphdr *th2;
	u64 l3;

	if (p && gro_opt_unusual_held(p, skb, skb_shinfo(p), len,
				      gro_opt_max_size6(skb->dev, skb))) {
		gro_opt_count(tcp6, fallback);
		return static_call(gro_opt_stock6_receive)(head, skb);
	}

	gro_opt_note_network(skb, off);
	skb_set_transport_header(skb, thoff);
	NAPI_GRO_CB(skb)->proto = IPPROTO_TCP;
	NAPI_GRO_CB(skb)->data_offset = thoff;
	if (unlikely(gro_opt_len6_lies(skb, iph, off)))
		NAPI_GRO_CB(skb)->flush = 1;
	else if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt) &&
		 gro_opt_csum6_bad(skb, iph, nlen))
		return gro_opt_bad_csum(skb, GRO_OPT_F_tcp6);
	NAPI_GRO_CB(skb)->data_offset = thoff + thlen;
	if (!p)
		return gro_opt_tcp_new(NULL, skb, len, flags, GRO_OPT_F_tcp6);

	iph2 = (struct ipv6hdr *)(p->data + off);
	th2 = (void *)iph2 + nlen;
	l3 = gro_opt_hdr6_differs(iph, iph2, GRO_OPT_IP6_EQUAL);
	if (!l3 && !NAPI_GRO_CB(skb)->flush &&
	    !gro_opt_tcp_differs(p, skb, th, th2, thlen, len))
		return gro_opt_tcp_join(p, skb, th2, len, flags,
					GRO_OPT_F_tcp6);

	gro_opt_count_flush(GRO_OPT_F_tcp6, p, skb, th, th2, l3);
	return gro_opt_tcp_new(p, skb, len, flags, GRO_OPT_F_tcp6);
}

/*
 * As gro_opt_tcp4_take(), from the TCP header on. @nlen is constant where there
 * are no extension headers.
 */
static __always_inline struct sk_buff *
gro_opt_tcp6_take(struct list_head *head, struct sk_buff *skb,
		  const struct ipv6hdr *iph, unsigned int nlen)
{
	const struct tcphdr *th = (const void *)iph + nlen;
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + nlen;
	const unsigned int thlen = th->doff * 4;
	const struct ipv6hdr *iph2;
	unsigned int len;
	struct sk_buff *p;

	if (unlikely(thlen < sizeof(*th) ||
		     !gro_opt_at_hand(skb, thoff + thlen)))
		goto fallback;
	p = gro_opt_lookup6(head, iph, off, nlen);
	if (!p)
		return gro_opt_tcp6(head, skb, iph, NULL, nlen);

	iph2 = (const struct ipv6hdr *)(p->data + off);
	len = skb->len - thoff - thlen;
	if (likely(!gro_opt_len6_lies(skb, iph, off) &&
		   gro_opt_tcp_straight(p, skb, th, (const void *)iph2 + nlen,
					thoff, thlen, len,
					gro_opt_max_size6(skb->dev, skb),
					gro_opt_hdr6_differs(iph, iph2,
							     GRO_OPT_IP6_EQUAL)) &&
		   gro_opt_straight_merge(p, skb, thoff, thoff + thlen, len))) {
		gro_opt_count(tcp6, merged_frags);
		return NULL;
	}
	return gro_opt_tcp6(head, skb, iph, p, nlen);

fallback:
	gro_opt_count(tcp6, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static noinline struct sk_buff *
gro_opt_tcp6_plain(struct list_head *head, struct sk_buff *skb,
		   const struct ipv6hdr *iph)
{
	return gro_opt_tcp6_take(head, skb, iph, sizeof(*iph));
}

static __always_inline bool gro_opt_is_exthdr(u8 proto)
{
	return proto == NEXTHDR_HOP || proto == NEXTHDR_DEST ||
	       proto == NEXTHDR_ROUTING;
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

static noinline struct sk_buff *
gro_opt_tcp6_exthdr(struct list_head *head, struct sk_buff *skb,
		    const struct ipv6hdr *iph)
{
	unsigned int nlen;

	nlen = gro_opt_walk_exthdrs(skb, iph, skb_gro_offset(skb));
	if (likely(nlen)) {
		gro_opt_count(exthdr, walked);
		return gro_opt_tcp6_take(head, skb, iph, nlen);
	}
	gro_opt_count(exthdr, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

/*
 * Extension headers that TCP may stand behind: what most of them lead to is
 * seen in the first one, so that others are not walked in vain.
 */
static __always_inline bool gro_opt_leads_to_tcp(const struct ipv6hdr *iph)
{
	const struct ipv6_opt_hdr *opth = (const void *)(iph + 1);

	return gro_opt_is_exthdr(iph->nexthdr) &&
	       (opth->nexthdr == IPPROTO_TCP ||
		gro_opt_is_exthdr(opth->nexthdr));
}

static __always_inline struct sk_buff *
gro_opt_ipv6_take(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct ipv6hdr *iph;

	if (unlikely(!gro_opt_at_hand(skb, off + sizeof(*iph) +
				      sizeof(struct tcphdr))))
		goto stock;
	iph = gro_opt_base(skb) + off;
	if (likely(iph->nexthdr == IPPROTO_TCP)) {
		if (unlikely(!READ_ONCE(gro_opt_live)))
			goto stock;
		if (likely(iph->version == 6 && !gro_opt_unusual(skb, off)))
			return gro_opt_tcp6_plain(head, skb, iph);
		gro_opt_count(tcp6, fallback);
	} else if (static_branch_likely(&gro_opt_key_exthdr) &&
		   gro_opt_leads_to_tcp(iph)) {
		if (unlikely(!READ_ONCE(gro_opt_live)))
			goto stock;
		if (likely(iph->version == 6 && !gro_opt_unusual(skb, off)))
			return gro_opt_tcp6_exthdr(head, skb, iph);
		gro_opt_count(exthdr, fallback);
	}
stock:
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static __always_inline struct sk_buff *
gro_opt_ipv6_pass(struct list_head *head, struct sk_buff *skb)
{
	const unsigned int off = skb_gro_offset(skb);
	const struct ipv6hdr *iph;

	if (likely(gro_opt_at_hand(skb, off + sizeof(*iph)))) {
		iph = gro_opt_base(skb) + off;
		if (iph->nexthdr == IPPROTO_TCP)
			gro_opt_count_stock(tcp6);
	}
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static noinline struct sk_buff *
gro_opt_ipv6_filter(struct list_head *head, struct sk_buff *skb)
{
	if (gro_opt_device_listed(skb->dev))
		return gro_opt_ipv6_take(head, skb);
	return gro_opt_ipv6_pass(head, skb);
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
	if (!static_branch_likely(&gro_opt_key_tcp6))
		return gro_opt_ipv6_pass(head, skb);
	if (static_branch_unlikely(&gro_opt_key_devices))
		return gro_opt_ipv6_filter(head, skb);
	return gro_opt_ipv6_take(head, skb);
}

static noinline __cold int gro_opt_lost6(struct sk_buff *skb, int nhoff)
{
	gro_opt_fault("tcp6: transport offset of a held packet");
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

static __always_inline int gro_opt_tcp6_complete(struct sk_buff *skb,
						 int nhoff)
{
	struct tcphdr *th = tcp_hdr(skb);
	struct ipv6hdr *iph = (struct ipv6hdr *)(skb->data + nhoff);
	const unsigned int nlen = (u8 *)th - (u8 *)iph;

	if (NAPI_GRO_CB(skb)->proto != IPPROTO_TCP ||
	    !gro_opt_completes(skb, nhoff))
		goto stock;
	if (likely(nlen == sizeof(*iph))) {
		if (!static_branch_likely(&gro_opt_key_tcp6))
			goto stock;
		gro_opt_count(tcp6, completed);
	} else {
		if (!static_branch_likely(&gro_opt_key_exthdr))
			goto stock;
		if (unlikely(nlen < sizeof(*iph) || nlen > skb_headlen(skb)))
			return gro_opt_lost6(skb, nhoff);
		gro_opt_count(exthdr, completed);
	}

	iph->payload_len = htons(skb->len - nhoff - sizeof(*iph));
	th->check = gro_opt_pseudo6(iph, skb->len - nhoff - nlen);
	return gro_opt_tcp_complete(skb, th, SKB_GSO_TCPV6);

stock:
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

static noinline int gro_opt_ipv6_complete_filter(struct sk_buff *skb,
						 int nhoff)
{
	if (gro_opt_device_listed(skb->dev))
		return gro_opt_tcp6_complete(skb, nhoff);
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}

/**
 * gro_opt_ipv6_complete - gro_complete of our ETH_P_IPV6 entry
 * @skb: aggregate of at least two segments, held by ours or by stock
 * @nhoff: offset of the IPv6 header from skb->data
 *
 * The transport offset on record tells the length of extension headers, and
 * the control block their transport protocol, so they are not walked again. A
 * tunnel's outer header is not for us: there both belong to the inner level.
 *
 * Context: softirq, rcu_read_lock() held.
 *
 * Return: 0, or stock's error, upon which core frees the packet.
 */
int gro_opt_ipv6_complete(struct sk_buff *skb, int nhoff)
{
	if (!static_branch_likely(&gro_opt_key_tcp6) &&
	    !static_branch_likely(&gro_opt_key_exthdr))
		return static_call(gro_opt_stock6_complete)(skb, nhoff);
	if (static_branch_unlikely(&gro_opt_key_devices))
		return gro_opt_ipv6_complete_filter(skb, nhoff);
	return gro_opt_tcp6_complete(skb, nhoff);
}
