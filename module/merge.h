/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all paths share: reading headers, telling what is unusual about a
 * packet, appending one to another. Inlined into each path; the comment at the
 * head of fast.c says who reads what of it later.
 */
#ifndef _GRO_OPT_MERGE_H
#define _GRO_OPT_MERGE_H

#include <net/gro.h>

#include "gro_opt.h"

/* Two VLAN tags or a PPPoE header; deeper nesting is stock's to limit. */
#define GRO_OPT_MAX_L3_OFFSET	8

/* Has there been no fault? Where a length is checked, that tells as well. */
static __always_inline bool gro_opt_is_live(void)
{
	return READ_ONCE(gro_opt_limit);
}

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
 * Bit fields of the control block that are cleared for each packet, all at once:
 * by @what none of them leaves its bounds.
 */
static __always_inline void gro_opt_cb_add(struct sk_buff *skb, u32 what)
{
	struct gro_opt_any32 *zeroed = (void *)&NAPI_GRO_CB(skb)->zeroed;

	zeroed->value += what;
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

static __always_inline u16 gro_opt_fold32(u32 sum)
{
	return (sum + ror32(sum, 16)) >> 16;
}

static __always_inline u16 gro_opt_fold64(u64 sum)
{
	return gro_opt_fold32((sum + ror64(sum, 32)) >> 32);
}

/*
 * Inputs that stock treats in a way of its own: inner headers (no tunnel's are
 * so far in front), packets already marked to be flushed, aggregates made by
 * hardware, shared or user-owned pages.
 */
static __always_inline bool gro_opt_unusual(const struct sk_buff *skb,
					    unsigned int off)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return off > GRO_OPT_MAX_L3_OFFSET || NAPI_GRO_CB(skb)->flush ||
	       info->gso_size || info->flags;
}

/* A device that chains packets: for each flow stock decides whether to. */
static __always_inline bool gro_opt_chains(const struct sk_buff *skb)
{
	return skb->dev->features & NETIF_F_GRO_FRAGLIST;
}

/*
 * The same for the held packet: chained ones, pages that must not mix, and the
 * rare segment that reaches a size limit, where kernels differ most. @type is
 * the L3 protocol.
 */
static __always_inline bool
gro_opt_unusual_held(const struct sk_buff *p, const struct sk_buff *skb,
		     const struct skb_shared_info *pinfo, unsigned int len,
		     unsigned int type)
{
	const unsigned int size = p->len + len;

	return NAPI_GRO_CB(p)->is_flist || p->pp_recycle != skb->pp_recycle ||
	       pinfo->flags || size >= READ_ONCE(gro_opt_limit) ||
	       size >= gro_opt_max_size(skb, type);
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
 * Payload in page frags: hand them over, behind @nr that are there already.
 * @headlen is the length of @skb's linear part, @eat what headers there are in
 * the first frag. Returns what the held packet is charged.
 */
static __always_inline unsigned int
gro_opt_take_frags(struct skb_shared_info *info, unsigned int nr,
		   struct sk_buff *skb, struct skb_shared_info *skbinfo,
		   unsigned int headlen, unsigned int eat)
{
	const unsigned int truesize = SKB_TRUESIZE(skb_end_offset(skb));
	const unsigned int delta = skb->truesize - truesize;
	skb_frag_t *to = info->frags + nr;
	unsigned int i = 0;

	info->nr_frags = nr + skbinfo->nr_frags;
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

unsigned int gro_opt_take_head(struct skb_shared_info *info,
			       struct sk_buff *skb, unsigned int offset);
unsigned int gro_opt_chain(struct sk_buff *p, struct sk_buff *skb,
			   unsigned int offset);
struct sk_buff *gro_opt_bad_csum(struct sk_buff *skb,
				 enum gro_opt_feature_id id);

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
		delta = gro_opt_take_frags(info, info->nr_frags, skb, skbinfo,
					   headlen, offset - headlen);
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

/* Second half of the straight line: frags to the end of @p, if they fit. */
static __always_inline bool
gro_opt_straight_merge(struct sk_buff *p, struct sk_buff *skb,
		       unsigned int nlen, unsigned int hlen, unsigned int len)
{
	struct skb_shared_info *skbinfo = skb_shinfo(skb);
	const unsigned int headlen = skb_headlen(skb);
	struct sk_buff *lp = NAPI_GRO_CB(p)->last;
	struct skb_shared_info *info = skb_shinfo(lp);
	const unsigned int nr = info->nr_frags;
	unsigned int delta;

	if (unlikely(headlen > hlen || nr + skbinfo->nr_frags > MAX_SKB_FRAGS))
		return false;
	delta = gro_opt_take_frags(info, nr, skb, skbinfo, headlen,
				   hlen - headlen);
	/* The only traces that napi_gro_frags() would carry to the next one. */
	gro_opt_note_reused(skb, skb_gro_offset(skb));
	skb_set_transport_header(skb, skb_gro_offset(skb) + nlen);
	gro_opt_account(p, lp, len, delta);
	return true;
}

#endif /* _GRO_OPT_MERGE_H */
