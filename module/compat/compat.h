/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernels that the sources have to know about.
 *
 * HAVE_x come from the compile probes of compat/tests/ by way of
 * gro_opt_compat.h. Differences that headers do not show are found by behaviour
 * at load (selfcheck.c) and are kept in struct gro_opt_rules.
 *
 * All functions here run in softirq context under rcu_read_lock(), as GRO
 * callbacks do, and take no lock.
 */
#ifndef _GRO_OPT_COMPAT_H
#define _GRO_OPT_COMPAT_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/gro.h>
#include <net/protocol.h>

#include "gro_opt_compat.h"

/**
 * struct gro_opt_rules - what stock does here and headers do not tell
 * @tcp_equal: mask for the 8 bytes of a TCP header that start with the
 *	acknowledged number, as loaded: what has to be equal in both packets
 * @tcp_new_flush: flags that forbid merging when a new segment has them
 * @tcp_last: those, and flags that end an aggregate with the segment
 * @any_fixedid: a constant IP-ID is accepted without DF
 * @outer_id_free: with DF, nobody looks at the IP-ID of a tunnel's outer header
 * @hop_walked: hop-by-hop headers are skipped though no offload stands for them
 *
 * Filled once at load from the answers of the stock handlers, since stable
 * updates change gro.c under the same headers.
 */
struct gro_opt_rules {
	u64 tcp_equal;
	__be32 tcp_new_flush;
	__be32 tcp_last;
	u16 any_fixedid;
	bool outer_id_free;
	bool hop_walked;
};

/*
 * Can the first @hlen bytes be read in place, without pulling? Until 6.10 frag0
 * is set where there is no linear part at all, and cleared by the first pull.
 */
static __always_inline bool gro_opt_at_hand(const struct sk_buff *skb,
					    unsigned int hlen)
{
#if HAVE_GRO_MAY_PULL
	return likely(hlen <= NAPI_GRO_CB(skb)->frag0_len);
#else
	return likely(hlen <= skb_headlen(skb)) ||
	       (NAPI_GRO_CB(skb)->frag0 &&
		hlen <= NAPI_GRO_CB(skb)->frag0_len);
#endif
}

/* The same, and *@base is where they are. */
static __always_inline bool gro_opt_base(const struct sk_buff *skb,
					 unsigned int hlen, void **base)
{
#if HAVE_GRO_MAY_PULL
	*base = NAPI_GRO_CB(skb)->frag0;
	return likely(hlen <= NAPI_GRO_CB(skb)->frag0_len);
#else
	*base = skb->data;
	if (likely(hlen <= skb_headlen(skb)))
		return true;
	*base = NAPI_GRO_CB(skb)->frag0;
	return *base && hlen <= NAPI_GRO_CB(skb)->frag0_len;
#endif
}

/* Note where the outermost L3 header is, the way this kernel's stock does. */
static __always_inline void gro_opt_note_network(struct sk_buff *skb,
						 unsigned int off)
{
#if HAVE_GRO_CB_NETWORK_OFFSETS
	NAPI_GRO_CB(skb)->network_offsets[0] = off;
#else
	skb_set_network_header(skb, off);
#endif
}

/* The same for a packet that is merged; core has noted where L2 ends. */
static __always_inline void gro_opt_note_reused(struct sk_buff *skb,
						unsigned int off)
{
#if !HAVE_GRO_CB_NETWORK_OFFSETS
	if (unlikely(off))
		skb_set_network_header(skb, off);
#endif
}

/*
 * Does stock pull extension headers into the linear part, where ours would read
 * them in the page? The frag they were in then has another offset, or is gone.
 */
static __always_inline bool gro_opt_pulls_exthdrs(const struct sk_buff *skb)
{
#if HAVE_GRO_MAY_PULL
	return false;
#else
	return NAPI_GRO_CB(skb)->frag0;
#endif
}

/* A packet enters as a flow of its own: 6.1 then trusts DF for fixed IDs. */
static __always_inline void gro_opt_note_df(struct sk_buff *skb, bool df)
{
#if HAVE_GRO_CB_FLUSH_ID
	NAPI_GRO_CB(skb)->is_atomic = df;
#endif
}

/* Does L3 write in held packets what else differs, for L4 to read? */
static __always_inline bool gro_opt_marks_held(void)
{
	return HAVE_GRO_CB_FLUSH_ID;
}

/**
 * gro_opt_note_held4 - leave in a held packet what L3 found to differ
 * @p: held packet with the addresses and the protocol of @skb
 * @skb: new packet, whose is_atomic is still that of the header in front
 * @differs: TTL, TOS or DF do
 * @id_diff: IP-ID of the new packet minus that of @p, as u16
 * @df: the new packet has DF set
 */
static __always_inline void gro_opt_note_held4(struct sk_buff *p,
					       const struct sk_buff *skb,
					       u32 differs, u16 id_diff,
					       bool df)
{
#if HAVE_GRO_CB_FLUSH_ID
	NAPI_GRO_CB(p)->flush |= differs;
	if (!NAPI_GRO_CB(p)->is_atomic || !df)
		id_diff = id_diff == NAPI_GRO_CB(p)->count ? 0 : 0xffff;
	if (NAPI_GRO_CB(skb)->is_atomic)
		NAPI_GRO_CB(p)->flush_id = id_diff;
	else
		NAPI_GRO_CB(p)->flush_id |= id_diff;
#endif
}

/* The same behind an IPv6 header; @differs: traffic class or hop limit. */
static __always_inline void gro_opt_note_held6(struct sk_buff *p,
					       const struct sk_buff *skb,
					       bool differs)
{
#if HAVE_GRO_CB_FLUSH_ID
	NAPI_GRO_CB(p)->flush |= differs;
	if (NAPI_GRO_CB(skb)->is_atomic)
		NAPI_GRO_CB(p)->flush_id = 0;
#endif
}

/**
 * gro_opt_id_flush - apply this kernel's IP-ID rule to a matching packet
 * @p: held packet; its fixed-ID state is updated when this is its 2nd segment
 * @id_diff: IP-ID of the new segment minus that of @p, as u16
 * @df: non-zero if the new segment has DF set
 * @rules: what was learnt about this kernel at load
 *
 * Source of the rules: inet_gro_receive() and tcp_gro_receive() (6.1),
 * inet_gro_flush() (6.10 and later). Outermost header only.
 *
 * Return: non-zero if the segment must not be merged.
 */
static __always_inline u32 gro_opt_id_flush(struct sk_buff *p, u16 id_diff,
					    u16 df,
					    const struct gro_opt_rules *rules)
{
	const u16 count = NAPI_GRO_CB(p)->count;

#if HAVE_GRO_CB_FLUSH_ID
	if (!NAPI_GRO_CB(p)->is_atomic || !df)
		return id_diff ^ count;
	if (id_diff != 1 || count != 1)
		return id_diff;
	NAPI_GRO_CB(p)->is_atomic = 0;
	return 0;
#else
	if (likely(!NAPI_GRO_CB(p)->ip_fixedid) && id_diff == count)
		return 0;
	if (count == 1 && !id_diff && (df | rules->any_fixedid))
		NAPI_GRO_CB(p)->ip_fixedid |= 1;
	return id_diff ^ (count * !(NAPI_GRO_CB(p)->ip_fixedid & 1));
#endif
}

/* gso_type bits that tell segmentation to repeat the ID instead of counting. */
static __always_inline unsigned int gro_opt_fixedid_gso(struct sk_buff *skb)
{
#if HAVE_GRO_CB_FLUSH_ID
	return NAPI_GRO_CB(skb)->is_atomic ? SKB_GSO_TCP_FIXEDID : 0;
#else
	return NAPI_GRO_CB(skb)->ip_fixedid * SKB_GSO_TCP_FIXEDID;
#endif
}

/*
 * Largest aggregate that the device allows. From 6.3 on IPv4 has a limit of its
 * own, which also holds for IPv6 behind a VLAN tag that is still in the packet.
 */
static __always_inline unsigned int
gro_opt_max_size4(const struct net_device *dev)
{
#if HAVE_GRO_IPV4_MAX_SIZE
	return READ_ONCE(dev->gro_ipv4_max_size);
#else
	return READ_ONCE(dev->gro_max_size);
#endif
}

static __always_inline unsigned int
gro_opt_max_size6(const struct net_device *dev, const struct sk_buff *skb)
{
	if (likely(skb->protocol == htons(ETH_P_IPV6)))
		return READ_ONCE(dev->gro_max_size);
	return gro_opt_max_size4(dev);
}

/* The one of them that holds for packets of the L3 protocol @type. */
static __always_inline unsigned int gro_opt_max_size(const struct sk_buff *skb,
						     unsigned int type)
{
	return type == ETH_P_IP ? gro_opt_max_size4(skb->dev) :
				  gro_opt_max_size6(skb->dev, skb);
}

static __always_inline bool gro_opt_decrypted_differs(const struct sk_buff *p,
						      const struct sk_buff *skb)
{
#if HAVE_SKB_DECRYPTED
	return p->decrypted != skb->decrypted;
#else
	return false;
#endif
}

static __always_inline void gro_opt_fill_frag(skb_frag_t *frag,
					      struct page *page,
					      unsigned int off,
					      unsigned int size)
{
#if HAVE_SKB_FRAG_FILL_PAGE_DESC
	skb_frag_fill_page_desc(frag, page, off, size);
#else
	__skb_frag_set_page(frag, page);
	skb_frag_off_set(frag, off);
	skb_frag_size_set(frag, size);
#endif
}

/* ---- for the self-check, which plays core's part ---- */

/* Where headers can be read in place, as skb_gro_reset_offset() sets it. */
static inline void gro_opt_reset_frag0(struct sk_buff *skb)
{
	struct napi_gro_cb *cb = NAPI_GRO_CB(skb);
	const skb_frag_t *frag0 = &skb_shinfo(skb)->frags[0];

#if HAVE_GRO_MAY_PULL
	cb->frag0 = skb->data;
	cb->frag0_len = skb_headlen(skb);
#endif
	if (skb_headlen(skb) || !skb_shinfo(skb)->nr_frags)
		return;
	cb->frag0 = skb_frag_address(frag0);
	cb->frag0_len = min_t(unsigned int, skb_frag_size(frag0),
			      skb->end - skb->tail);
}

/* What is reset in a held packet of the same L2 flow for each new packet. */
static inline void gro_opt_prepare_held(struct sk_buff *p)
{
#if HAVE_GRO_CB_FLUSH_ID
	NAPI_GRO_CB(p)->flush = 0;
#endif
	NAPI_GRO_CB(p)->same_flow = 1;
}

#endif /* _GRO_OPT_COMPAT_H */
