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

/*
 * Ones' complement sums of 64 bits, folded to 16 in the end. End-around carries
 * make the order of bytes immaterial, and a sum of anything but zeroes is never
 * zero, so the result is the one that csum_fold() would be the complement of.
 */
static __always_inline u64 gro_opt_add64(u64 sum, u64 word)
{
	sum += word;
	return sum + (sum < word);
}

static __always_inline u16 gro_opt_fold64(u64 sum)
{
	u32 half = (sum + ror64(sum, 32)) >> 32;

	return (half + ror32(half, 16)) >> 16;
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
		     const struct skb_shared_info *pinfo, unsigned int len,
		     unsigned int max_size)
{
	const unsigned int size = p->len + len;

	return NAPI_GRO_CB(p)->is_flist || p->pp_recycle != skb->pp_recycle ||
	       pinfo->flags || size >= GRO_LEGACY_MAX_SIZE || size >= max_size;
}

/* ---- merging ---- */

/* Payload in page frags: hand them over. Returns what the held is charged. */
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
	NAPI_GRO_CB(skb)->same_flow = 1;
	return delta;
}

/* Payload starts in a page fragment head: the head becomes a frag itself. */
static unsigned int gro_opt_take_head(struct skb_shared_info *info,
				      struct sk_buff *skb, unsigned int offset)
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
	NAPI_GRO_CB(skb)->same_flow = 1;
	return delta;
}

/* No slot left, or a head that cannot be shared: chain the whole skb. */
static unsigned int gro_opt_chain(struct sk_buff *p, struct sk_buff *skb,
				  unsigned int offset)
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
	NAPI_GRO_CB(skb)->same_flow = 1;
	return skb->truesize;
}

/* Book @len bytes more in @p, and in @lp where its frags went to. */
static __always_inline void gro_opt_account(struct sk_buff *p,
					    struct sk_buff *lp,
					    unsigned int len,
					    unsigned int delta)
{
	NAPI_GRO_CB(p)->count++;
	p->data_len += len;
	p->truesize += delta;
	p->len += len;
	if (unlikely(lp != p)) {
		lp->data_len += len;
		lp->truesize += delta;
		lp->len += len;
	}
}

/*
 * Append @len bytes of payload from @offset of @skb to @p. The caller has ruled
 * out all that stock would refuse (gro_opt_unusual() and its kin).
 */
static __always_inline void
gro_opt_merge(struct sk_buff *p, struct sk_buff *skb, unsigned int offset,
	      unsigned int len, enum gro_opt_feature_id id)
{
	struct skb_shared_info *skbinfo = skb_shinfo(skb);
	const unsigned int headlen = skb_headlen(skb);
	struct sk_buff *lp = NAPI_GRO_CB(p)->last;
	struct skb_shared_info *info = skb_shinfo(lp);
	unsigned int slots = info->nr_frags + skbinfo->nr_frags;
	unsigned int delta;

	if (headlen <= offset && slots <= MAX_SKB_FRAGS) {
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
	gro_opt_account(p, lp, len, delta);
}

/* ---- TCP, whatever is in front of it ---- */

/* From the acknowledged number on: that, header length, flags, window. */
static __always_inline u64 gro_opt_tcp_word(const struct tcphdr *th)
{
	return gro_opt_load64((const u8 *)th +
			      offsetof(struct tcphdr, ack_seq));
}

/* Does @th start where the payload of @p ends? 0 if so. */
static __always_inline u32 gro_opt_seq_differs(const struct sk_buff *p,
					       const struct tcphdr *th,
					       const struct tcphdr *th2)
{
	return (ntohl(th2->seq) + skb_gro_len(p)) ^ ntohl(th->seq);
}

/* Options differ? Only called with equal doff, so both are @thlen long. */
static __always_inline u64
gro_opt_options_differ(const struct tcphdr *th, const struct tcphdr *th2,
		       unsigned int thlen)
{
	const u8 *a = (const u8 *)th, *b = (const u8 *)th2;
	unsigned int i = sizeof(*th);
	u64 differ = 0;

	if (likely(thlen == sizeof(*th) + 12))
		return (gro_opt_load64(a + 20) ^ gro_opt_load64(b + 20)) |
		       (gro_opt_load32(a + 28) ^ gro_opt_load32(b + 28));

	for (; i < thlen; i += 4)
		differ |= gro_opt_load32(a + i) ^ gro_opt_load32(b + i);
	return differ;
}

/*
 * Is the checksum known to be right, or not looked at, by what the skb says
 * alone? So it is with what cards verify, and between guests of one host.
 */
static __always_inline bool gro_opt_csum_known(const struct sk_buff *skb,
					       unsigned int thoff)
{
	return likely(NAPI_GRO_CB(skb)->csum_cnt) ||
	       (skb->ip_summed == CHECKSUM_PARTIAL &&
		skb_checksum_start_offset(skb) >= (int)thoff);
}

/*
 * The straight line: a full segment that continues @p, nothing special about
 * it, payload in page frags. @differs is what L3 found to differ. If it does
 * not take the packet, nothing has been written.
 */
static __always_inline bool
gro_opt_tcp_straight(const struct sk_buff *p, const struct sk_buff *skb,
		     const struct tcphdr *th, const struct tcphdr *th2,
		     unsigned int thoff, unsigned int thlen,
		     unsigned int len, unsigned int max_size, u64 differs)
{
	const struct skb_shared_info *pinfo = skb_shinfo(p);

	differs |= len ^ pinfo->gso_size;
	differs |= (__force u32)(tcp_flag_word(th) & gro_opt_rules.tcp_last);
	differs |= (gro_opt_tcp_word(th) ^ gro_opt_tcp_word(th2)) &
		   gro_opt_rules.tcp_equal;
	differs |= gro_opt_seq_differs(p, th, th2);
	if (unlikely(differs))
		return false;
	if (unlikely(gro_opt_options_differ(th, th2, thlen)))
		return false;
	return !gro_opt_decrypted_differs(p, skb) &&
	       gro_opt_csum_known(skb, thoff) &&
	       !gro_opt_unusual_held(p, skb, pinfo, len, max_size);
}

/* Second half of the straight line: frags to the end of @p, if they fit. */
static __always_inline bool
gro_opt_straight_merge(struct sk_buff *p, struct sk_buff *skb,
		       unsigned int thoff, unsigned int hlen, unsigned int len)
{
	struct skb_shared_info *skbinfo = skb_shinfo(skb);
	const unsigned int headlen = skb_headlen(skb);
	struct sk_buff *lp = NAPI_GRO_CB(p)->last;
	struct skb_shared_info *info = skb_shinfo(lp);
	unsigned int delta;

	if (unlikely(headlen > hlen ||
		     info->nr_frags + skbinfo->nr_frags > MAX_SKB_FRAGS))
		return false;
	/* The only trace that napi_gro_frags() would carry to the next one. */
	skb_set_transport_header(skb, thoff);
	delta = gro_opt_take_frags(info, skb, skbinfo, hlen - headlen);
	gro_opt_account(p, lp, len, delta);
	return true;
}

/* Which of the comparisons ended the aggregate; the first one counts. */
static noinline __cold void
gro_opt_count_flush(enum gro_opt_feature_id id, const struct sk_buff *p,
		    const struct sk_buff *skb, const struct tcphdr *th,
		    const struct tcphdr *th2, u64 l3)
{
	const u32 len = skb_gro_len(skb);

	if (NAPI_GRO_CB(skb)->flush)
		gro_opt_count_at(id, flushed_length);
	else if (l3)
		gro_opt_count_at(id, flushed_hdr);
	else if (th->ack_seq != th2->ack_seq)
		gro_opt_count_at(id, flushed_ack);
	else if ((tcp_flag_word(th) & gro_opt_rules.tcp_new_flush) ||
		 ((gro_opt_tcp_word(th) ^ gro_opt_tcp_word(th2)) &
		  gro_opt_rules.tcp_equal))
		gro_opt_count_at(id, flushed_flags);
	else if (gro_opt_options_differ(th, th2, th->doff * 4))
		gro_opt_count_at(id, flushed_options);
	else if (len - 1 >= skb_shinfo(p)->gso_size)
		gro_opt_count_at(id, flushed_size);
	else if (gro_opt_seq_differs(p, th, th2))
		gro_opt_count_at(id, flushed_seq);
	else if (gro_opt_decrypted_differs(p, skb))
		gro_opt_count_at(id, flushed_other);
	else
		gro_opt_count_at(id, flushed_id);
}

/* May @skb not be joined to @p, as far as TCP can tell? */
static __always_inline bool
gro_opt_tcp_differs(const struct sk_buff *p, const struct sk_buff *skb,
		    const struct tcphdr *th, const struct tcphdr *th2,
		    unsigned int thlen, unsigned int len)
{
	u64 differs;

	differs = (__force u32)(tcp_flag_word(th) &
				gro_opt_rules.tcp_new_flush);
	differs |= (gro_opt_tcp_word(th) ^ gro_opt_tcp_word(th2)) &
		   gro_opt_rules.tcp_equal;
	differs |= gro_opt_seq_differs(p, th, th2);
	differs |= gro_opt_decrypted_differs(p, skb);
	return differs || len - 1 >= skb_shinfo(p)->gso_size ||
	       gro_opt_options_differ(th, th2, thlen);
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
gro_opt_tcp_join(struct sk_buff *p, struct sk_buff *skb, struct tcphdr *th2,
		 unsigned int len, __be32 flags, enum gro_opt_feature_id id)
{
	gro_opt_merge(p, skb, skb_gro_offset(skb), len, id);

	if (flags & GRO_OPT_TCP_LAST) {
		tcp_flag_word(th2) |= flags & (TCP_FLAG_FIN | TCP_FLAG_PSH);
		gro_opt_count_at(id, flushed_push);
		return p;
	}
	if (len < skb_shinfo(p)->gso_size) {
		gro_opt_count_at(id, flushed_short);
		return p;
	}
	return NULL;
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

/* A wrong checksum leaves the held packet of its flow alone, as in stock. */
static struct sk_buff *gro_opt_bad_csum(struct sk_buff *skb,
					enum gro_opt_feature_id id)
{
	gro_opt_count_at(id, bad_csum);
	gro_opt_count_at(id, passed);
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}

/* ---- IPv4 ---- */

/* Source and destination address as one word. */
static __always_inline u64 gro_opt_addrs4(const struct iphdr *iph)
{
	return gro_opt_load64((const u8 *)iph + offsetof(struct iphdr, saddr));
}

/* ip_fast_csum() for the one length there is here, 64 bits at a time. */
static __always_inline bool gro_opt_csum4_ok(const struct iphdr *iph)
{
	u64 sum = gro_opt_load64(iph);

	sum = gro_opt_add64(sum, gro_opt_load64((const u8 *)iph + 8));
	sum = gro_opt_add64(sum, gro_opt_load32((const u8 *)iph + 16));
	return gro_opt_fold64(sum) == 0xffff;
}

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

/* TTL, TOS and DF, the fields that segmentation copies to every segment. */
static __always_inline u32 gro_opt_hdr4_differs(const struct iphdr *iph,
						const struct iphdr *iph2)
{
	return (iph->ttl ^ iph2->ttl) | (iph->tos ^ iph2->tos) |
	       (__force u32)((iph->frag_off ^ iph2->frag_off) & htons(IP_DF));
}

/* A length that lies, or the reserved bit: never merged, never held. */
static __always_inline bool gro_opt_len4_lies(const struct sk_buff *skb,
					      const struct iphdr *iph,
					      unsigned int off)
{
	return (u16)(skb->len - off) != ntohs(iph->tot_len) ||
	       (iph->frag_off & ~htons(IP_DF));
}

static __always_inline u32 gro_opt_id_differs(struct sk_buff *p,
					      const struct iphdr *iph,
					      const struct iphdr *iph2)
{
	return gro_opt_id_flush(p, ntohs(iph->id) - ntohs(iph2->id),
				ntohs(iph->frag_off) & IP_DF, &gro_opt_rules);
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

/* ---- complete ---- */

/* The bit for CWR has changed its name and meaning, so stock sets it. */
static noinline __cold int gro_opt_complete_cwr(struct sk_buff *skb)
{
	tcp_gro_complete(skb);
	return 0;
}

/* What stock's tcp_gro_complete() does for a packet without a tunnel. */
static __always_inline int gro_opt_tcp_complete(struct sk_buff *skb,
						struct tcphdr *th,
						unsigned int gso_type)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	info->gso_type |= gso_type;
	if (unlikely(th->cwr))
		return gro_opt_complete_cwr(skb);
	skb->csum_start = skb->transport_header;
	skb->csum_offset = offsetof(struct tcphdr, check);
	skb->ip_summed = CHECKSUM_PARTIAL;
	info->gso_segs = NAPI_GRO_CB(skb)->count;
	return 0;
}

/* Packets whose completion is ours: one L3 header, ordinary aggregate. */
static __always_inline bool gro_opt_completes(const struct sk_buff *skb,
					      int nhoff)
{
	return READ_ONCE(gro_opt_live) && !skb->encapsulation &&
	       !NAPI_GRO_CB(skb)->encap_mark && !NAPI_GRO_CB(skb)->is_flist &&
	       gro_opt_own_network(skb, nhoff) && skb->len - nhoff <= U16_MAX;
}

/* Headers of a held packet are not where they were: stock, and never again. */
static noinline __cold int gro_opt_lost4(struct sk_buff *skb, int nhoff)
{
	gro_opt_fault("tcp4: transport offset of a held packet");
	return static_call(gro_opt_stock4_complete)(skb, nhoff);
}

static noinline __cold int gro_opt_lost6(struct sk_buff *skb, int nhoff)
{
	gro_opt_fault("tcp6: transport offset of a held packet");
	return static_call(gro_opt_stock6_complete)(skb, nhoff);
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

/*
 * The first 8 bytes of an IPv6 header, as loaded, less what need not be equal:
 * the payload length; for the flow also traffic class and hop limit.
 */
#define GRO_OPT_IP6_EQUAL	cpu_to_be64(0xFFFFFFFF0000FFFFULL)
#define GRO_OPT_IP6_FLOW	cpu_to_be64(0xF00FFFFF0000FF00ULL)

static __always_inline u64 gro_opt_hdr6_differs(const struct ipv6hdr *a,
						const struct ipv6hdr *b,
						__be64 mask)
{
	return (gro_opt_load64(a) ^ gro_opt_load64(b)) & (__force u64)mask;
}

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

static __always_inline bool gro_opt_len6_lies(const struct sk_buff *skb,
					      const struct ipv6hdr *iph,
					      unsigned int off)
{
	return skb->len - off - sizeof(*iph) != ntohs(iph->payload_len);
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

/* Sum of the pseudo header, folded: what CHECKSUM_PARTIAL wants in check. */
static __always_inline __sum16 gro_opt_pseudo6(const struct ipv6hdr *iph,
					       u32 len)
{
	const u8 *addr = (const u8 *)iph + offsetof(struct ipv6hdr, saddr);
	u64 sum = (__force u32)htonl(len + IPPROTO_TCP);

	sum = gro_opt_add64(sum, gro_opt_load64(addr));
	sum = gro_opt_add64(sum, gro_opt_load64(addr + 8));
	sum = gro_opt_add64(sum, gro_opt_load64(addr + 16));
	sum = gro_opt_add64(sum, gro_opt_load64(addr + 24));
	return (__force __sum16)gro_opt_fold64(sum);
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
