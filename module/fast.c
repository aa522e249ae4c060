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
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/gro.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "gro_opt.h"

/* Read by every packet, written by hand or by a fault: one word, no lock. */
int gro_opt_live __read_mostly = 1;
struct gro_opt_rules gro_opt_rules __read_mostly;

DEFINE_STATIC_CALL_NULL(gro_opt_stock4_receive, gro_opt_inet_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock6_receive, gro_opt_ipv6_receive);
DEFINE_STATIC_CALL_NULL(gro_opt_stock4_complete, gro_opt_inet_complete);
DEFINE_STATIC_CALL_NULL(gro_opt_stock6_complete, gro_opt_ipv6_complete);

/* Two VLAN tags or a PPPoE header; deeper nesting is stock's to limit. */
#define GRO_OPT_MAX_L3_OFFSET	8

/* tcp_flag_word() bits that end an aggregate with the segment they came in. */
#define GRO_OPT_TCP_LAST (TCP_FLAG_URG | TCP_FLAG_PSH | TCP_FLAG_RST | \
			  TCP_FLAG_SYN | TCP_FLAG_FIN)

struct gro_opt_any64 {
	u64 value;
} __packed;

struct gro_opt_any32 {
	u32 value;
} __packed;

/* Headers may sit at any address: single loads where the CPU allows it. */
static __always_inline u64 gro_opt_load64(const void *ptr)
{
	return ((const struct gro_opt_any64 *)ptr)->value;
}

static __always_inline u32 gro_opt_load32(const void *ptr)
{
	return ((const struct gro_opt_any32 *)ptr)->value;
}

/* Source and destination address of an IPv4 header as one word. */
static __always_inline u64 gro_opt_addrs4(const struct iphdr *iph)
{
	return gro_opt_load64((const u8 *)iph + offsetof(struct iphdr, saddr));
}

static __always_inline bool gro_opt_wanted(const struct sk_buff *skb)
{
	if (static_branch_unlikely(&gro_opt_key_devices) &&
	    !gro_opt_device_listed(skb->dev))
		return false;
	return likely(READ_ONCE(gro_opt_live));
}

/*
 * Inputs that stock treats in a way of its own: inner headers, packets already
 * marked to be flushed, aggregates made by hardware, shared or user-owned
 * pages, devices that chain instead of merging.
 */
static __always_inline bool gro_opt_unusual(const struct sk_buff *skb,
					    unsigned int off)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return off > GRO_OPT_MAX_L3_OFFSET ||
	       NAPI_GRO_CB(skb)->flush || NAPI_GRO_CB(skb)->encap_mark ||
	       info->gso_size || info->flags ||
	       (skb->dev->features & NETIF_F_GRO_FRAGLIST);
}

/*
 * The same for the held packet: chained ones, pages that must not mix, and the
 * rare segment that reaches a size limit, where kernels differ most.
 */
static __always_inline bool
gro_opt_unusual_held(const struct sk_buff *p, const struct sk_buff *skb,
		     const struct skb_shared_info *pinfo, unsigned int len)
{
	const unsigned int size = p->len + len;

	return NAPI_GRO_CB(p)->is_flist || p->pp_recycle != skb->pp_recycle ||
	       pinfo->flags || size >= GRO_LEGACY_MAX_SIZE ||
	       size >= gro_opt_max_size(p);
}

/* Payload in page frags: hand them over. Returns what @p is charged. */
static __always_inline unsigned int
gro_opt_take_frags(struct skb_shared_info *info, struct sk_buff *skb,
		   struct skb_shared_info *skbinfo, unsigned int eat)
{
	const unsigned int truesize = SKB_TRUESIZE(skb_end_offset(skb));
	const unsigned int delta = skb->truesize - truesize;
	skb_frag_t *to = info->frags + info->nr_frags;
	unsigned int i = 0;

	info->nr_frags += skbinfo->nr_frags;
	to[0] = skbinfo->frags[0];
	skb_frag_off_add(&to[0], eat);
	skb_frag_size_sub(&to[0], eat);
	while (unlikely(++i < skbinfo->nr_frags))
		to[i] = skbinfo->frags[i];

	skbinfo->nr_frags = 0;
	skb->truesize = truesize;
	skb->len -= skb->data_len;
	skb->data_len = 0;
	NAPI_GRO_CB(skb)->free = NAPI_GRO_FREE;
	return delta;
}

/* Payload starts in a page fragment head: the head becomes a frag itself. */
static noinline unsigned int
gro_opt_take_head(struct skb_shared_info *info, struct sk_buff *skb,
		  unsigned int offset)
{
	const unsigned int truesize = SKB_DATA_ALIGN(sizeof(struct sk_buff));
	const unsigned int delta = skb->truesize - truesize;
	struct skb_shared_info *skbinfo = skb_shinfo(skb);
	struct page *page = virt_to_head_page(skb->head);
	skb_frag_t *to = info->frags + info->nr_frags;

	gro_opt_fill_frag(to, page,
			  skb->data - (u8 *)page_address(page) + offset,
			  skb_headlen(skb) - offset);
	memcpy(to + 1, skbinfo->frags, sizeof(*to) * skbinfo->nr_frags);
	info->nr_frags += 1 + skbinfo->nr_frags;

	skb->truesize = truesize;
	NAPI_GRO_CB(skb)->free = NAPI_GRO_FREE_STOLEN_HEAD;
	return delta;
}

/* No slot left, or a head that cannot be shared: chain the whole skb. */
static noinline unsigned int
gro_opt_chain(struct sk_buff *p, struct sk_buff *skb, unsigned int offset)
{
	const unsigned int headlen = skb_headlen(skb);

	skb->destructor = NULL;
	skb->sk = NULL;
	if (offset > headlen) {
		skb_frag_t *frag = &skb_shinfo(skb)->frags[0];
		unsigned int eat = offset - headlen;

		skb_frag_off_add(frag, eat);
		skb_frag_size_sub(frag, eat);
		skb->data_len -= eat;
		skb->len -= eat;
		offset = headlen;
	}
	__skb_pull(skb, offset);

	if (NAPI_GRO_CB(p)->last == p)
		skb_shinfo(p)->frag_list = skb;
	else
		NAPI_GRO_CB(p)->last->next = skb;
	NAPI_GRO_CB(p)->last = skb;
	__skb_header_release(skb);
	return skb->truesize;
}

/*
 * Append @len bytes of payload from @offset of @skb to @p. The caller has ruled
 * out all that stock would refuse (gro_opt_unusual() and its kin).
 */
static __always_inline void
gro_opt_merge(struct sk_buff *p, struct sk_buff *skb,
	      struct skb_shared_info *pinfo, unsigned int offset,
	      unsigned int len, enum gro_opt_feature_id id)
{
	struct skb_shared_info *skbinfo = skb_shinfo(skb);
	const unsigned int headlen = skb_headlen(skb);
	struct sk_buff *lp = NAPI_GRO_CB(p)->last;
	struct skb_shared_info *info = pinfo;
	unsigned int slots;
	unsigned int delta;

	if (unlikely(lp != p))
		info = skb_shinfo(lp);

	slots = info->nr_frags + skbinfo->nr_frags;
	if (likely(headlen <= offset && slots <= MAX_SKB_FRAGS)) {
		delta = gro_opt_take_frags(info, skb, skbinfo,
					   offset - headlen);
		gro_opt_count_at(id, merged_frags);
	} else if (headlen > offset && skb->head_frag &&
		   slots < MAX_SKB_FRAGS) {
		delta = gro_opt_take_head(info, skb, offset);
		gro_opt_count_at(id, merged_frags);
	} else {
		delta = gro_opt_chain(p, skb, offset);
		gro_opt_count_at(id, merged_fraglist);
		lp = p;
	}

	NAPI_GRO_CB(p)->count++;
	p->data_len += len;
	p->truesize += delta;
	p->len += len;
	if (unlikely(lp != p)) {
		lp->data_len += len;
		lp->truesize += delta;
		lp->len += len;
	}
	NAPI_GRO_CB(skb)->same_flow = 1;
}

/* Options differ? Only called with equal doff, so both are @thlen long. */
static __always_inline u32
gro_opt_options_differ(const struct tcphdr *th, const struct tcphdr *th2,
		       unsigned int thlen)
{
	const u8 *a = (const u8 *)th, *b = (const u8 *)th2;
	unsigned int i = sizeof(*th);
	u32 differ = 0;

	if (likely(thlen == sizeof(*th) + 12))
		return (gro_opt_load64(a + 20) != gro_opt_load64(b + 20)) |
		       (gro_opt_load32(a + 28) ^ gro_opt_load32(b + 28));

	for (; i < thlen; i += 4)
		differ |= gro_opt_load32(a + i) ^ gro_opt_load32(b + i);
	return differ;
}

/* Which of the comparisons ended the aggregate; the first one counts. */
static noinline __cold void
gro_opt_count_flush(enum gro_opt_feature_id id, const struct sk_buff *p,
		    const struct sk_buff *skb, const struct tcphdr *th,
		    const struct tcphdr *th2, u32 l3)
{
	const u32 len = skb_gro_len(skb);
	const __be32 flags = tcp_flag_word(th);

	if (NAPI_GRO_CB(skb)->flush)
		gro_opt_count_at(id, flushed_length);
	else if (l3)
		gro_opt_count_at(id, flushed_hdr);
	else if ((flags & gro_opt_rules.tcp_new_flush) |
		 ((flags ^ tcp_flag_word(th2)) & gro_opt_rules.tcp_diff_flush))
		gro_opt_count_at(id, flushed_flags);
	else if (th->ack_seq != th2->ack_seq)
		gro_opt_count_at(id, flushed_ack);
	else if (gro_opt_options_differ(th, th2, th->doff * 4))
		gro_opt_count_at(id, flushed_options);
	else if (len - 1 >= skb_shinfo(p)->gso_size)
		gro_opt_count_at(id, flushed_size);
	else if (ntohl(th2->seq) + skb_gro_len(p) != ntohl(th->seq))
		gro_opt_count_at(id, flushed_seq);
	else if (gro_opt_decrypted_differs(p, skb))
		gro_opt_count_at(id, flushed_other);
	else
		gro_opt_count_at(id, flushed_id);
}

/*
 * Compare the TCP header with that of the held packet, all but the options.
 * CWR and fixed IDs follow the rules learnt at load.
 */
static __always_inline u32
gro_opt_tcp_differs(const struct sk_buff *p, const struct sk_buff *skb,
		    const struct tcphdr *th, const struct tcphdr *th2,
		    unsigned int len, unsigned int mss)
{
	const __be32 flags = tcp_flag_word(th);
	u32 differ;

	differ = (__force u32)((flags & gro_opt_rules.tcp_new_flush) |
			       ((flags ^ tcp_flag_word(th2)) &
				gro_opt_rules.tcp_diff_flush));
	differ |= (__force u32)(th->ack_seq ^ th2->ack_seq);
	differ |= (ntohl(th2->seq) + skb_gro_len(p)) ^ ntohl(th->seq);
	differ |= len - 1 >= mss;
	differ |= gro_opt_decrypted_differs(p, skb);
	return differ;
}

/*
 * No held packet, or one that this segment does not continue: hold it, or pass
 * it on if it is empty or carries a flag that ends aggregates.
 */
static __always_inline struct sk_buff *
gro_opt_tcp_new(struct sk_buff *p, struct sk_buff *skb, unsigned int len,
		__be32 flags, enum gro_opt_feature_id id)
{
	if (!len || (flags & GRO_OPT_TCP_LAST))
		NAPI_GRO_CB(skb)->flush = 1;
	if (NAPI_GRO_CB(skb)->flush)
		gro_opt_count_at(id, passed);
	else
		gro_opt_count_at(id, held);
	return p;
}

/* Join @skb to @p and tell whether that was the last segment of it. */
static __always_inline struct sk_buff *
gro_opt_tcp_join(struct sk_buff *p, struct sk_buff *skb,
		 struct skb_shared_info *pinfo, struct tcphdr *th2,
		 unsigned int len, __be32 flags, enum gro_opt_feature_id id)
{
	gro_opt_merge(p, skb, pinfo, skb_gro_offset(skb), len, id);

	if (likely(len == pinfo->gso_size && !(flags & GRO_OPT_TCP_LAST)))
		return NULL;

	tcp_flag_word(th2) |= flags & (TCP_FLAG_FIN | TCP_FLAG_PSH);
	if (flags & GRO_OPT_TCP_LAST)
		gro_opt_count_at(id, flushed_push);
	else
		gro_opt_count_at(id, flushed_short);
	return p;
}

static noinline bool gro_opt_csum4_bad(struct sk_buff *skb)
{
	return skb_gro_checksum_validate(skb, IPPROTO_TCP,
					 inet_gro_compute_pseudo);
}

static noinline bool gro_opt_csum6_bad(struct sk_buff *skb, const void *iph,
				       unsigned int nlen)
{
	skb_gro_postpull_rcsum(skb, iph, nlen);
	return skb_gro_checksum_validate(skb, IPPROTO_TCP,
					 ip6_gro_compute_pseudo);
}

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
		    (gro_opt_load32(iph2 + 1) ^ ports) |
		    (iph2->protocol ^ IPPROTO_TCP))
			continue;
		return p;
	}
	return NULL;
}

/* TTL, TOS and DF, the fields that segmentation copies to every segment. */
static __always_inline u32 gro_opt_hdr4_differs(const struct iphdr *iph,
						const struct iphdr *iph2)
{
	return (iph->ttl ^ iph2->ttl) | (iph->tos ^ iph2->tos) |
	       (__force u32)((iph->frag_off ^ iph2->frag_off) & htons(IP_DF));
}

static noinline struct sk_buff *gro_opt_tcp4(struct list_head *head,
					     struct sk_buff *skb,
					     const struct iphdr *iph)
{
	const struct tcphdr *th = (const struct tcphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + sizeof(*iph);
	const unsigned int thlen = th->doff * 4;
	const unsigned int len = skb->len - thoff - thlen;
	const __be32 flags = tcp_flag_word(th);
	struct skb_shared_info *pinfo;
	struct sk_buff *p;
	struct iphdr *iph2;
	struct tcphdr *th2;
	u32 l3, differs;

	if (unlikely(thlen < sizeof(*th) ||
		     !gro_opt_headers(skb, thoff + thlen) ||
		     (iph->frag_off & htons(IP_MF | IP_OFFSET)) ||
		     ip_fast_csum(iph, sizeof(*iph) / 4)))
		goto stock;

	p = gro_opt_lookup4(head, iph, off);
	if (p) {
		pinfo = skb_shinfo(p);
		if (unlikely(gro_opt_unusual_held(p, skb, pinfo, len)))
			goto stock;
	}

	gro_opt_note_network(skb, off);
	gro_opt_note_df(skb, iph->frag_off & htons(IP_DF));
	skb_set_transport_header(skb, thoff);
	NAPI_GRO_CB(skb)->proto = IPPROTO_TCP;

	/* The reserved bit and a length that lies are never merged or held. */
	if (unlikely((u16)(skb->len - off) != ntohs(iph->tot_len) ||
		     (iph->frag_off & ~htons(IP_DF)))) {
		NAPI_GRO_CB(skb)->flush = 1;
	} else if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt)) {
		skb_gro_pull(skb, sizeof(*iph));
		if (gro_opt_csum4_bad(skb))
			goto bad_csum;
	}
	NAPI_GRO_CB(skb)->data_offset = thoff + thlen;

	if (!p)
		return gro_opt_tcp_new(NULL, skb, len, flags, GRO_OPT_F_tcp4);

	iph2 = (struct iphdr *)(p->data + off);
	th2 = (struct tcphdr *)(iph2 + 1);
	l3 = gro_opt_hdr4_differs(iph, iph2);
	differs = l3 | NAPI_GRO_CB(skb)->flush |
		  gro_opt_tcp_differs(p, skb, th, th2, len, pinfo->gso_size);
	if (likely(!differs))
		differs = gro_opt_options_differ(th, th2, thlen);
	if (likely(!differs))
		differs = gro_opt_id_flush(p, ntohs(iph->id) - ntohs(iph2->id),
					   ntohs(iph->frag_off) & IP_DF,
					   &gro_opt_rules);
	if (likely(!differs))
		return gro_opt_tcp_join(p, skb, pinfo, th2, len, flags,
					GRO_OPT_F_tcp4);

	gro_opt_count_flush(GRO_OPT_F_tcp4, p, skb, th, th2, l3);
	return gro_opt_tcp_new(p, skb, len, flags, GRO_OPT_F_tcp4);

bad_csum:
	gro_opt_count(tcp4, bad_csum);
	gro_opt_count(tcp4, passed);
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
stock:
	gro_opt_count(tcp4, fallback);
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* Passthrough still counts what the features would have taken. */
static __always_inline void gro_opt_count_stock4(const struct sk_buff *skb,
						 unsigned int off)
{
	const u8 *base = gro_opt_headers(skb, off + sizeof(struct iphdr));

	if (likely(base) &&
	    base[off + offsetof(struct iphdr, protocol)] == IPPROTO_TCP)
		gro_opt_count_stock(tcp4);
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
	const unsigned int off = skb_gro_offset(skb);
	const struct iphdr *iph;

	if (!static_branch_likely(&gro_opt_key_tcp4) || !gro_opt_wanted(skb)) {
		gro_opt_count_stock4(skb, off);
		goto stock;
	}

	iph = gro_opt_headers(skb, off + sizeof(*iph) + sizeof(struct tcphdr));
	if (unlikely(!iph))
		goto stock;
	iph = (const void *)iph + off;
	if (unlikely(iph->protocol != IPPROTO_TCP))
		goto stock;
	if (unlikely(*(const u8 *)iph != 0x45 || gro_opt_unusual(skb, off)))
		goto fallback;
	return gro_opt_tcp4(head, skb, iph);

fallback:
	gro_opt_count(tcp4, fallback);
stock:
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/*
 * What stock's tcp_gro_complete() does for a packet without a tunnel, inlined;
 * the bit for CWR has changed its name and meaning, so stock sets it.
 */
static __always_inline void gro_opt_tcp_complete(struct sk_buff *skb,
						 struct tcphdr *th,
						 unsigned int gso_type)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	info->gso_type |= gso_type;
	if (unlikely(th->cwr)) {
		tcp_gro_complete(skb);
		return;
	}
	skb->csum_start = skb->transport_header;
	skb->csum_offset = offsetof(struct tcphdr, check);
	skb->ip_summed = CHECKSUM_PARTIAL;
	info->gso_segs = NAPI_GRO_CB(skb)->count;
}

/* Packets whose completion is ours: one L3 header, ordinary aggregate. */
static __always_inline bool gro_opt_completes(const struct sk_buff *skb,
					      int nhoff)
{
	return gro_opt_wanted(skb) && !skb->encapsulation &&
	       !NAPI_GRO_CB(skb)->encap_mark && !NAPI_GRO_CB(skb)->is_flist &&
	       gro_opt_own_network(skb, nhoff) && skb->len - nhoff <= U16_MAX;
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
	struct iphdr *iph = (struct iphdr *)(skb->data + nhoff);
	const int thoff = nhoff + sizeof(*iph);
	struct tcphdr *th;
	__be16 len;

	if (!static_branch_likely(&gro_opt_key_tcp4) ||
	    iph->protocol != IPPROTO_TCP || !gro_opt_completes(skb, nhoff))
		goto stock;
	if (unlikely(skb_transport_offset(skb) != thoff)) {
		gro_opt_fault("tcp4: transport offset of a held packet");
		goto stock;
	}

	len = htons(skb->len - nhoff);
	csum_replace2(&iph->check, iph->tot_len, len);
	iph->tot_len = len;

	th = (struct tcphdr *)(iph + 1);
	th->check = ~tcp_v4_check(skb->len - thoff, iph->saddr, iph->daddr, 0);
	gro_opt_tcp_complete(skb, th,
			     SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb));
	gro_opt_count(tcp4, completed);
	return 0;

stock:
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
}

/* ---- IPv6 ---- */

/* Version and flow label; traffic class is compared for flush, not for flow. */
#define GRO_OPT_IP6_FLOW	htonl(0xF00FFFFF)
#define GRO_OPT_IP6_TCLASS	htonl(0x0FF00000)

static __always_inline u64 gro_opt_addrs6_differ(const struct ipv6hdr *a,
						 const struct ipv6hdr *b)
{
	const u8 *x = (const u8 *)a + offsetof(struct ipv6hdr, saddr);
	const u8 *y = (const u8 *)b + offsetof(struct ipv6hdr, saddr);

	return (gro_opt_load64(x) ^ gro_opt_load64(y)) |
	       (gro_opt_load64(x + 8) ^ gro_opt_load64(y + 8)) |
	       (gro_opt_load64(x + 16) ^ gro_opt_load64(y + 16)) |
	       (gro_opt_load64(x + 24) ^ gro_opt_load64(y + 24));
}

/*
 * Extension headers of both packets, @nlen bytes of L3 each. The held one is
 * measured first: a chain tells its own length, so equal bytes need equal
 * lengths, and the comparison stays inside both packets.
 */
static __always_inline bool
gro_opt_exthdrs_differ(const struct sk_buff *p, const struct ipv6hdr *iph,
		       const struct ipv6hdr *iph2, unsigned int off,
		       unsigned int nlen)
{
	unsigned int i;

	if (skb_transport_offset(p) - off != nlen)
		return true;
	for (i = sizeof(*iph); i < nlen; i += 8)
		if (gro_opt_load64((const u8 *)iph + i) !=
		    gro_opt_load64((const u8 *)iph2 + i))
			return true;
	return false;
}

static __always_inline struct sk_buff *
gro_opt_lookup6(struct list_head *head, const struct ipv6hdr *iph,
		unsigned int off, unsigned int nlen)
{
	const u32 ports = gro_opt_load32((const u8 *)iph + nlen);
	const __be32 word = *(const __be32 *)iph;
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		const struct ipv6hdr *iph2;

		if (!NAPI_GRO_CB(p)->same_flow)
			continue;
		iph2 = (const struct ipv6hdr *)(p->data + off);
		if (((*(const __be32 *)iph2 ^ word) & GRO_OPT_IP6_FLOW) ||
		    (iph2->nexthdr ^ iph->nexthdr) ||
		    gro_opt_addrs6_differ(iph, iph2))
			continue;
		if (nlen > sizeof(*iph) &&
		    gro_opt_exthdrs_differ(p, iph, iph2, off, nlen))
			continue;
		if (gro_opt_load32((const u8 *)iph2 + nlen) != ports)
			continue;
		return p;
	}
	return NULL;
}

/*
 * @nlen: length of the IPv6 header and of the extension headers, which is
 * constant where there are none. The caller has seen that a TCP header without
 * options is at hand behind it.
 */
static __always_inline struct sk_buff *
gro_opt_tcp6_common(struct list_head *head, struct sk_buff *skb,
		    const struct ipv6hdr *iph, unsigned int nlen)
{
	const struct tcphdr *th = (const void *)iph + nlen;
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int thoff = off + nlen;
	const unsigned int thlen = th->doff * 4;
	const unsigned int len = skb->len - thoff - thlen;
	const __be32 flags = tcp_flag_word(th);
	struct skb_shared_info *pinfo;
	struct ipv6hdr *iph2;
	struct tcphdr *th2;
	struct sk_buff *p;
	u32 l3, differs;

	if (unlikely(thlen < sizeof(*th) ||
		     !gro_opt_headers(skb, thoff + thlen)))
		goto stock;

	p = gro_opt_lookup6(head, iph, off, nlen);
	if (p) {
		pinfo = skb_shinfo(p);
		if (unlikely(gro_opt_unusual_held(p, skb, pinfo, len)))
			goto stock;
	}

	gro_opt_note_network(skb, off);
	skb_set_transport_header(skb, thoff);
	NAPI_GRO_CB(skb)->proto = IPPROTO_TCP;

	if (unlikely(skb->len - off - sizeof(*iph) !=
		     ntohs(iph->payload_len))) {
		NAPI_GRO_CB(skb)->flush = 1;
	} else if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt)) {
		skb_gro_pull(skb, nlen);
		if (gro_opt_csum6_bad(skb, iph, nlen))
			goto bad_csum;
	}
	NAPI_GRO_CB(skb)->data_offset = thoff + thlen;

	if (!p)
		return gro_opt_tcp_new(NULL, skb, len, flags, GRO_OPT_F_tcp6);

	iph2 = (struct ipv6hdr *)(p->data + off);
	th2 = (void *)iph2 + nlen;
	l3 = (__force u32)((*(__be32 *)iph ^ *(__be32 *)iph2) &
			   GRO_OPT_IP6_TCLASS) |
	     (iph->hop_limit ^ iph2->hop_limit);
	differs = l3 | NAPI_GRO_CB(skb)->flush |
		  gro_opt_tcp_differs(p, skb, th, th2, len, pinfo->gso_size);
	if (likely(!differs))
		differs = gro_opt_options_differ(th, th2, thlen);
	if (likely(!differs))
		return gro_opt_tcp_join(p, skb, pinfo, th2, len, flags,
					GRO_OPT_F_tcp6);

	gro_opt_count_flush(GRO_OPT_F_tcp6, p, skb, th, th2, l3);
	return gro_opt_tcp_new(p, skb, len, flags, GRO_OPT_F_tcp6);

bad_csum:
	gro_opt_count(tcp6, bad_csum);
	gro_opt_count(tcp6, passed);
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
stock:
	gro_opt_count(tcp6, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static noinline struct sk_buff *gro_opt_tcp6(struct list_head *head,
					     struct sk_buff *skb,
					     const struct ipv6hdr *iph)
{
	return gro_opt_tcp6_common(head, skb, iph, sizeof(*iph));
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
		    !gro_opt_headers(skb, off + nlen + 8))
			return 0;
		nlen += ipv6_optlen(opth);
		proto = opth->nexthdr;
	}
	if (proto != IPPROTO_TCP ||
	    !gro_opt_headers(skb, off + nlen + sizeof(struct tcphdr)))
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
		return gro_opt_tcp6_common(head, skb, iph, nlen);
	}
	gro_opt_count(exthdr, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

static __always_inline void gro_opt_count_stock6(const struct sk_buff *skb,
						 unsigned int off)
{
	const u8 *base = gro_opt_headers(skb, off + sizeof(struct ipv6hdr));
	u8 nexthdr;

	if (unlikely(!base))
		return;
	nexthdr = base[off + offsetof(struct ipv6hdr, nexthdr)];
	if (likely(nexthdr == IPPROTO_TCP))
		gro_opt_count_stock(tcp6);
	else if (gro_opt_is_exthdr(nexthdr))
		gro_opt_count_stock(exthdr);
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
	const unsigned int off = skb_gro_offset(skb);
	const struct ipv6hdr *iph;

	if (!static_branch_likely(&gro_opt_key_tcp6) || !gro_opt_wanted(skb)) {
		gro_opt_count_stock6(skb, off);
		goto stock;
	}

	iph = gro_opt_headers(skb, off + sizeof(*iph) + sizeof(struct tcphdr));
	if (unlikely(!iph))
		goto stock;
	iph = (const void *)iph + off;
	if (likely(iph->nexthdr == IPPROTO_TCP)) {
		if (unlikely(iph->version != 6 || gro_opt_unusual(skb, off)))
			goto fallback;
		return gro_opt_tcp6(head, skb, iph);
	}
	if (!gro_opt_is_exthdr(iph->nexthdr))
		goto stock;
	if (!static_branch_likely(&gro_opt_key_exthdr)) {
		gro_opt_count_stock(exthdr);
		goto stock;
	}
	if (likely(iph->version == 6 && !gro_opt_unusual(skb, off)))
		return gro_opt_tcp6_exthdr(head, skb, iph);
	gro_opt_count(exthdr, fallback);
	goto stock;

fallback:
	gro_opt_count(tcp6, fallback);
stock:
	return static_call(gro_opt_stock6_receive)(head, skb);
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
	struct ipv6hdr *iph = (struct ipv6hdr *)(skb->data + nhoff);
	const int thoff = skb_transport_offset(skb);
	struct tcphdr *th;

	if (likely(iph->nexthdr == IPPROTO_TCP)) {
		if (!static_branch_likely(&gro_opt_key_tcp6))
			goto stock;
	} else if (!static_branch_likely(&gro_opt_key_exthdr) ||
		   !gro_opt_is_exthdr(iph->nexthdr) ||
		   NAPI_GRO_CB(skb)->proto != IPPROTO_TCP) {
		goto stock;
	}
	if (!gro_opt_completes(skb, nhoff))
		goto stock;
	if (unlikely(thoff < nhoff + (int)sizeof(*iph) ||
		     thoff > (int)skb_headlen(skb))) {
		gro_opt_fault("tcp6: transport offset of a held packet");
		goto stock;
	}

	iph->payload_len = htons(skb->len - nhoff - sizeof(*iph));
	th = (struct tcphdr *)(skb->data + thoff);
	th->check = ~tcp_v6_check(skb->len - thoff, &iph->saddr, &iph->daddr,
				  0);
	gro_opt_tcp_complete(skb, th, SKB_GSO_TCPV6);
	if (likely(iph->nexthdr == IPPROTO_TCP))
		gro_opt_count(tcp6, completed);
	else
		gro_opt_count(exthdr, completed);
	return 0;

stock:
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
}
