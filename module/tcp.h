/* SPDX-License-Identifier: GPL-2.0-only */
/* TCP, whatever is in front of it. */
#ifndef _GRO_OPT_TCP_H
#define _GRO_OPT_TCP_H

#include <linux/tcp.h>
#include <net/tcp.h>

#include "merge.h"

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

/* What doff says, or 0 if that is not at hand. */
static __always_inline unsigned int gro_opt_tcp_len(const struct sk_buff *skb,
						    const struct tcphdr *th,
						    unsigned int thoff)
{
	return gro_opt_at_hand(skb, thoff + sizeof(*th)) ? th->doff * 4 : 0;
}

/* Does a TCP header of @thlen bytes make sense, and is it at hand? */
static __always_inline bool gro_opt_tcp_sound(const struct sk_buff *skb,
					      unsigned int thoff,
					      unsigned int thlen)
{
	return thlen >= sizeof(struct tcphdr) &&
	       gro_opt_at_hand(skb, thoff + thlen);
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
 * The straight line: a full segment that continues @p, nothing special about
 * it, payload in page frags. @hlen is where the headers of @p end, and so those
 * of the segment if it is one; @differs is what L3 found to differ. If it does
 * not take the packet, nothing has been written.
 */
static __always_inline bool
gro_opt_tcp_straight(const struct sk_buff *p, const struct sk_buff *skb,
		     const struct tcphdr *th, const struct tcphdr *th2,
		     unsigned int thoff, unsigned int hlen,
		     unsigned int len, unsigned int type, u64 differs)
{
	const struct skb_shared_info *pinfo = skb_shinfo(p);

	if (unlikely(!gro_opt_at_hand(skb, hlen)))
		return false;
	/* An aggregate made by hardware has the length of all its segments. */
	differs |= pinfo->gso_type;
	differs |= len ^ pinfo->gso_size;
	differs |= (__force u32)(tcp_flag_word(th) & gro_opt_rules.tcp_last);
	differs |= (gro_opt_tcp_word(th) ^ gro_opt_tcp_word(th2)) &
		   gro_opt_rules.tcp_equal;
	differs |= gro_opt_seq_differs(p, th, th2);
	if (unlikely(differs))
		return false;
	if (unlikely(gro_opt_options_differ(th, th2, hlen - thoff)))
		return false;
	return !gro_opt_decrypted_differs(p, skb) &&
	       gro_opt_csum_known(skb, thoff) &&
	       !gro_opt_unusual_held(p, skb, pinfo, len, type);
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

enum gro_opt_counter gro_opt_tcp_why(const struct sk_buff *p,
				     const struct sk_buff *skb,
				     const struct tcphdr *th,
				     const struct tcphdr *th2, u64 l3,
				     bool lies);
void gro_opt_count_flush(enum gro_opt_feature_id id, const struct sk_buff *p,
			 const struct sk_buff *skb, const struct tcphdr *th,
			 const struct tcphdr *th2, u64 l3);
bool gro_opt_csum4_bad(struct sk_buff *skb);
bool gro_opt_csum6_bad(struct sk_buff *skb, const void *iph,
		       unsigned int nlen);
int gro_opt_complete_cwr(struct sk_buff *skb);

/* Both halves of skb->csum at once. */
static __always_inline void gro_opt_set_csum_start(struct sk_buff *skb,
						   u16 start, u16 offset)
{
	BUILD_BUG_ON(offsetof(struct sk_buff, csum_offset) !=
		     offsetof(struct sk_buff, csum_start) + sizeof(u16));
#ifdef __LITTLE_ENDIAN
	skb->csum = (__force __wsum)(start | (u32)offset << 16);
#else
	skb->csum = (__force __wsum)((u32)start << 16 | offset);
#endif
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
	gro_opt_set_csum_start(skb, skb->transport_header,
			       offsetof(struct tcphdr, check));
	skb->ip_summed = CHECKSUM_PARTIAL;
	info->gso_segs = NAPI_GRO_CB(skb)->count;
	return 0;
}

#endif /* _GRO_OPT_TCP_H */
