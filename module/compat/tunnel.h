/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels do differently with two L3 headers. Until 6.10 the handler of
 * each notes in held packets what differs, and the innermost has the last word
 * on IDs; later kernels keep both offsets and compare when L4 knows the flow.
 *
 * Context as in compat.h.
 */
#ifndef _GRO_OPT_COMPAT_TUNNEL_H
#define _GRO_OPT_COMPAT_TUNNEL_H

#include <linux/ip.h>

#include "compat.h"

/* Note both L3 offsets, the outer one again if a handler has done so before. */
static __always_inline void gro_opt_note_tunnel(struct sk_buff *skb,
						unsigned int outer,
						unsigned int inner)
{
#if HAVE_GRO_CB_NETWORK_OFFSETS
	NAPI_GRO_CB(skb)->network_offsets[0] = outer;
	NAPI_GRO_CB(skb)->network_offsets[1] = inner;
#else
	skb_set_network_header(skb, inner);
#endif
	NAPI_GRO_CB(skb)->encap_mark = 1;
}

/*
 * Of a merged packet that came by napi_gro_frags() the next one gets the skb, with
 * this in it: until 6.10 it is what the inner handler left. @ilen: length of the
 * inner header, in front of the transport header.
 */
static __always_inline void gro_opt_note_merged(struct sk_buff *skb,
						unsigned int ilen)
{
#if !HAVE_GRO_CB_NETWORK_OFFSETS
	skb->network_header = skb->transport_header - ilen;
#endif
}

/* The outer L3 offset as its handler noted it; 0 where nobody asks. */
static __always_inline unsigned int
gro_opt_outer_offset(const struct sk_buff *skb)
{
#if HAVE_GRO_CB_NETWORK_OFFSETS
	return NAPI_GRO_CB(skb)->network_offsets[0];
#else
	return 0;
#endif
}

/* Are these the L3 offsets on record? */
static __always_inline bool gro_opt_tunnel_at(const struct sk_buff *skb,
					      unsigned int outer,
					      unsigned int inner)
{
#if HAVE_GRO_CB_NETWORK_OFFSETS
	return NAPI_GRO_CB(skb)->network_offsets[0] == outer &&
	       NAPI_GRO_CB(skb)->network_offsets[1] == inner;
#else
	return skb_network_offset(skb) == (int)inner;
#endif
}

/* Is the header at @nhoff the inner one on record? */
static __always_inline bool gro_opt_inner_at(const struct sk_buff *skb,
					     unsigned int nhoff)
{
#if HAVE_GRO_CB_NETWORK_OFFSETS
	return NAPI_GRO_CB(skb)->network_offsets[1] == nhoff;
#else
	return skb_network_offset(skb) == (int)nhoff;
#endif
}

/* What handlers of outer headers have noted in @p in this pass. */
static __always_inline u32 gro_opt_noted_flush(const struct sk_buff *p)
{
	return HAVE_GRO_CB_FLUSH_ID ? NAPI_GRO_CB(p)->flush : 0;
}

/*
 * What differs in the inner header of the flow. Whether to complete @p as UDP's or
 * as a tunnel's, 6.1 asks inet6_iif() and so IP6CB(), where this is.
 */
static __always_inline void gro_opt_note_inner_differs(struct sk_buff *p,
						       u64 differs)
{
#if HAVE_GRO_CB_FLUSH_ID
	NAPI_GRO_CB(p)->flush |= differs;
#endif
}

/**
 * struct gro_opt_outer_id - what the outer header says of the IP-ID
 * @flush: 6.1: its flush_id; else non-zero if the segment must not be merged
 * @atomic: 6.1: an inner header may overrule it
 */
struct gro_opt_outer_id {
	u32 flush;
	bool atomic;
};

#if HAVE_GRO_CB_FLUSH_ID

static __always_inline u32 gro_opt_flush_id(const struct sk_buff *p,
					    const struct iphdr *iph,
					    const struct iphdr *iph2)
{
	u16 diff = ntohs(iph->id) - ntohs(iph2->id);

	if (NAPI_GRO_CB(p)->is_atomic && (iph->frag_off & htons(IP_DF)))
		return diff;
	return diff == NAPI_GRO_CB(p)->count ? 0 : 0xFFFF;
}

static __always_inline struct gro_opt_outer_id
gro_opt_outer4_id(struct sk_buff *p, const struct iphdr *iph,
		  const struct iphdr *iph2, const struct gro_opt_rules *rules)
{
	return (struct gro_opt_outer_id) {
		.flush = gro_opt_flush_id(p, iph, iph2),
		.atomic = iph->frag_off & htons(IP_DF),
	};
}

/* As stock's handlers of the outer header have left it. */
static __always_inline struct gro_opt_outer_id
gro_opt_noted_id(const struct sk_buff *p, const struct sk_buff *skb)
{
	return (struct gro_opt_outer_id) {
		.flush = NAPI_GRO_CB(p)->flush_id,
		.atomic = NAPI_GRO_CB(skb)->is_atomic,
	};
}

static __always_inline u32 gro_opt_inner6_id(const struct sk_buff *p,
					     struct gro_opt_outer_id outer)
{
	return outer.atomic ? 0 : outer.flush;
}

static __always_inline u32
gro_opt_inner4_id(struct sk_buff *p, struct gro_opt_outer_id outer,
		  const struct iphdr *iph, const struct iphdr *iph2,
		  const struct gro_opt_rules *rules)
{
	u32 flush = gro_opt_flush_id(p, iph, iph2);

	if (!outer.atomic)
		flush |= outer.flush;
	if (flush != 1 || NAPI_GRO_CB(p)->count != 1 ||
	    !NAPI_GRO_CB(p)->is_atomic)
		return flush;
	NAPI_GRO_CB(p)->is_atomic = 0;
	return 0;
}

/* The same for the straight line, which asks how far each ID has to go. */

static __always_inline bool gro_opt_noted_differs(const struct sk_buff *p,
						  const struct sk_buff *skb)
{
	return NAPI_GRO_CB(p)->flush ||
	       (!NAPI_GRO_CB(skb)->is_atomic && NAPI_GRO_CB(p)->flush_id);
}

static __always_inline u64 gro_opt_outer_step(const struct sk_buff *p)
{
	return NAPI_GRO_CB(p)->count;
}

static __always_inline u64 gro_opt_inner_step(const struct sk_buff *p)
{
	return NAPI_GRO_CB(p)->is_atomic ? 0 : NAPI_GRO_CB(p)->count;
}

/*
 * The second segment may show that IDs are not constant after all. The outer
 * header has no state of its own.
 */
#define GRO_OPT_SETTLING_STEP	1
#define GRO_OPT_OUTER_FIXEDID	1
#define GRO_OPT_INNER_FIXEDID	1

static __always_inline bool
gro_opt_outer_settles(const struct sk_buff *p,
		      const struct gro_opt_rules *rules)
{
	return false;
}

static __always_inline bool
gro_opt_inner_settles(const struct sk_buff *p, const struct iphdr *iph,
		      const struct gro_opt_rules *rules)
{
	return NAPI_GRO_CB(p)->count == 1 && NAPI_GRO_CB(p)->is_atomic;
}

static __always_inline void gro_opt_settle(struct sk_buff *p, u8 bits)
{
	NAPI_GRO_CB(p)->is_atomic = 0;
}

#else

/* Nothing is noted in @p unless 0 is what comes out. */
static __always_inline struct gro_opt_outer_id
gro_opt_outer4_id(struct sk_buff *p, const struct iphdr *iph,
		  const struct iphdr *iph2, const struct gro_opt_rules *rules)
{
	const u16 df = (__force u16)(iph->frag_off & htons(IP_DF));
	struct gro_opt_outer_id id = {};

	if (!(df && rules->outer_id_free))
		id.flush = gro_opt_id_flush(p, ntohs(iph->id) - ntohs(iph2->id),
					    df, rules);
	return id;
}

static __always_inline struct gro_opt_outer_id
gro_opt_noted_id(const struct sk_buff *p, const struct sk_buff *skb)
{
	return (struct gro_opt_outer_id) {};
}

static __always_inline u32 gro_opt_inner6_id(const struct sk_buff *p,
					     struct gro_opt_outer_id outer)
{
	return outer.flush;
}

#define GRO_OPT_OUTER_FIXEDID	1

#if HAVE_GRO_FIXEDID_INNER

/* Of two bits of ip_fixedid the higher one is the inner's. */
#define GRO_OPT_INNER_FIXEDID	2

static __always_inline u32
gro_opt_inner_id_flush(struct sk_buff *p, u16 id_diff, u16 df,
		       const struct gro_opt_rules *rules)
{
	const u16 count = NAPI_GRO_CB(p)->count;

	if (count == 1 && !id_diff && (df | rules->any_fixedid))
		NAPI_GRO_CB(p)->ip_fixedid |= GRO_OPT_INNER_FIXEDID;
	if (NAPI_GRO_CB(p)->ip_fixedid & GRO_OPT_INNER_FIXEDID)
		return id_diff;
	return id_diff ^ count;
}

#else

#define GRO_OPT_INNER_FIXEDID	1
#define gro_opt_inner_id_flush	gro_opt_id_flush

#endif

static __always_inline u32
gro_opt_inner4_id(struct sk_buff *p, struct gro_opt_outer_id outer,
		  const struct iphdr *iph, const struct iphdr *iph2,
		  const struct gro_opt_rules *rules)
{
	const u16 df = (__force u16)(iph->frag_off & htons(IP_DF));

	return outer.flush ?:
	       gro_opt_inner_id_flush(p, ntohs(iph->id) - ntohs(iph2->id), df,
				      rules);
}

/* The same for the straight line, which asks how far each ID has to go. */

static __always_inline bool gro_opt_noted_differs(const struct sk_buff *p,
						  const struct sk_buff *skb)
{
	return false;
}

static __always_inline u64 gro_opt_outer_step(const struct sk_buff *p)
{
	return NAPI_GRO_CB(p)->ip_fixedid & 1 ? 0 : NAPI_GRO_CB(p)->count;
}

static __always_inline u64 gro_opt_inner_step(const struct sk_buff *p)
{
	return NAPI_GRO_CB(p)->ip_fixedid & GRO_OPT_INNER_FIXEDID ?
	       0 : NAPI_GRO_CB(p)->count;
}

/* The second segment may show that IDs are constant. */
#define GRO_OPT_SETTLING_STEP	0

/* Where DF is needed for that, an outer header with it is not looked at. */
static __always_inline bool
gro_opt_outer_settles(const struct sk_buff *p,
		      const struct gro_opt_rules *rules)
{
	return NAPI_GRO_CB(p)->count == 1 && rules->any_fixedid;
}

static __always_inline bool
gro_opt_inner_settles(const struct sk_buff *p, const struct iphdr *iph,
		      const struct gro_opt_rules *rules)
{
	return NAPI_GRO_CB(p)->count == 1 &&
	       ((iph->frag_off & htons(IP_DF)) || rules->any_fixedid);
}

static __always_inline void gro_opt_settle(struct sk_buff *p, u8 bits)
{
	NAPI_GRO_CB(p)->ip_fixedid |= bits;
}

#endif

/* Need nobody look at the ID of an outer header that has DF set? */
static __always_inline bool
gro_opt_outer_id_free(const struct iphdr *iph,
		      const struct gro_opt_rules *rules)
{
	return rules->outer_id_free && (iph->frag_off & htons(IP_DF));
}

/* ---- for the self-check ---- */

/* What a handler leaves in a held packet whose outer header is the same. */
static inline void gro_opt_same_outer(struct sk_buff *p)
{
#if HAVE_GRO_CB_FLUSH_ID
	NAPI_GRO_CB(p)->flush_id = 0;
#endif
}

#endif /* _GRO_OPT_COMPAT_TUNNEL_H */
