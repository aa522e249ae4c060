/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * UDP: what the L3 entries inline, up to where packets are held. See udp.c for
 * the rest of it, and for what is done here and what is left to stock.
 */
#ifndef _GRO_OPT_UDP_H
#define _GRO_OPT_UDP_H

#include <linux/udp.h>

#include "l3.h"

struct sk_buff *gro_opt_udp4_held(struct list_head *head, struct sk_buff *skb,
				  const struct iphdr *iph);
struct sk_buff *gro_opt_udp4_behind(struct list_head *head,
				    struct sk_buff *skb,
				    const struct iphdr *iph);
struct sk_buff *gro_opt_udp6_held(struct list_head *head, struct sk_buff *skb,
				  const struct ipv6hdr *iph);
struct sk_buff *gro_opt_udp6_behind(struct list_head *head,
				    struct sk_buff *skb,
				    const struct ipv6hdr *iph);
struct sock *gro_opt_udp4_lookup(const struct sk_buff *skb,
				 const struct iphdr *iph,
				 const struct udphdr *uh);
struct sock *gro_opt_udp6_lookup(const struct sk_buff *skb,
				 const struct ipv6hdr *iph,
				 const struct udphdr *uh);
int gro_opt_udp4_complete(struct sk_buff *skb, int nhoff);
int gro_opt_udp6_complete(struct sk_buff *skb, int nhoff);

/*
 * L3 is done, and handlers @levels deeper are next. That is never too deep: within
 * GRO_OPT_MAX_L3_OFFSET there is room for two headers in front.
 */
static __always_inline void gro_opt_udp_deeper(struct sk_buff *skb, u8 levels)
{
	const struct napi_gro_cb deeper = { .recursion_counter = levels };

	gro_opt_cb_add(skb, gro_opt_load32(&deeper.zeroed));
}

/* Is the first held packet a tunnel's? For what is faster then. */
static __always_inline bool gro_opt_tunnel_first(const struct list_head *head)
{
	return NAPI_GRO_CB(list_first_entry(head, struct sk_buff,
					    list))->encap_mark;
}

/* ---- IPv4 ---- */

/* Headers that stock would find sound, of a packet that is nothing special. */
static __always_inline bool gro_opt_udp4_sound(const struct sk_buff *skb,
					       const struct iphdr *iph,
					       const struct udphdr *uh,
					       unsigned int off)
{
	const unsigned int len = skb->len - off;

	return *(const u8 *)iph == 0x45 && gro_opt_is_live() &&
	       off <= GRO_OPT_MAX_L3_OFFSET && !NAPI_GRO_CB(skb)->flush &&
	       len == ntohs(iph->tot_len) &&
	       len - sizeof(*iph) == ntohs(uh->len) &&
	       len > sizeof(*iph) + sizeof(*uh) && gro_opt_csum4_ok(iph);
}

static __always_inline void gro_opt_udp4_note(struct sk_buff *skb,
					      const struct iphdr *iph,
					      unsigned int off)
{
	gro_opt_note_network(skb, off);
	gro_opt_note_df(skb, iph->frag_off & htons(IP_DF));
	skb_set_transport_header(skb, off + sizeof(*iph));
	NAPI_GRO_CB(skb)->proto = IPPROTO_UDP;
}

/* L3 is done; the rest is stock's. */
static __always_inline void gro_opt_udp4_done(struct sk_buff *skb,
					      const struct iphdr *iph,
					      unsigned int off)
{
	gro_opt_udp4_note(skb, iph, off);
	NAPI_GRO_CB(skb)->data_offset = off + sizeof(*iph);
	gro_opt_count(udp4, left_l4);
}

static __always_inline struct sk_buff *
gro_opt_udp4_rest(struct list_head *head, struct sk_buff *skb,
		  const struct iphdr *iph, unsigned int off)
{
	gro_opt_udp4_done(skb, iph, off);
	gro_opt_udp_deeper(skb, 1);
	return static_call(gro_opt_stock4_udp)(head, skb);
}

/**
 * gro_opt_udp4 - gro_receive for UDP behind an IPv4 header
 * @head: held packets of the bucket
 * @skb: new packet, offset of the IPv4 header in its control block
 * @iph: that header; it and the UDP header are at hand, its protocol is UDP
 *
 * Context: softirq (or whoever runs NAPI), rcu_read_lock() held.
 *
 * Return: as gro_opt_inet_receive().
 */
static __always_inline struct sk_buff *
gro_opt_udp4(struct list_head *head, struct sk_buff *skb,
	     const struct iphdr *iph)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);

	if (!list_empty(head))
		return gro_opt_tunnel_first(head) ?
		       gro_opt_udp4_behind(head, skb, iph) :
		       gro_opt_udp4_held(head, skb, iph);
	if (likely(gro_opt_udp4_sound(skb, iph, uh, off)))
		return gro_opt_udp4_rest(head, skb, iph, off);
	gro_opt_count(udp4, fallback);
	return static_call(gro_opt_stock4_receive)(head, skb);
}

/* ---- IPv6 ---- */

static __always_inline bool gro_opt_udp6_sound(const struct sk_buff *skb,
					       const struct ipv6hdr *iph,
					       const struct udphdr *uh,
					       unsigned int off)
{
	const unsigned int len = skb->len - off - sizeof(*iph);

	return iph->version == 6 && gro_opt_is_live() &&
	       off <= GRO_OPT_MAX_L3_OFFSET && !NAPI_GRO_CB(skb)->flush &&
	       len == ntohs(iph->payload_len) && uh->len == iph->payload_len &&
	       len > sizeof(*uh);
}

static __always_inline void gro_opt_udp6_note(struct sk_buff *skb,
					      unsigned int off)
{
	gro_opt_note_network(skb, off);
	skb_set_transport_header(skb, off + sizeof(struct ipv6hdr));
	NAPI_GRO_CB(skb)->proto = IPPROTO_UDP;
	NAPI_GRO_CB(skb)->data_offset = off + sizeof(struct ipv6hdr);
}

static __always_inline void gro_opt_udp6_done(struct sk_buff *skb,
					      unsigned int off)
{
	gro_opt_udp6_note(skb, off);
	gro_opt_count(udp6, left_l4);
}

static __always_inline struct sk_buff *
gro_opt_udp6_rest(struct list_head *head, struct sk_buff *skb,
		  unsigned int off)
{
	gro_opt_udp6_done(skb, off);
	gro_opt_udp_deeper(skb, 1);
	return static_call(gro_opt_stock6_udp)(head, skb);
}

/**
 * gro_opt_udp6 - gro_receive for UDP right behind an IPv6 header
 * @head: held packets of the bucket
 * @skb: new packet, offset of the IPv6 header in its control block
 * @iph: that header; it and the UDP header are at hand, its nexthdr is UDP
 *
 * Context: softirq (or whoever runs NAPI), rcu_read_lock() held.
 *
 * Return: as gro_opt_ipv6_receive().
 */
static __always_inline struct sk_buff *
gro_opt_udp6(struct list_head *head, struct sk_buff *skb,
	     const struct ipv6hdr *iph)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	const unsigned int off = skb_gro_offset(skb);

	if (!list_empty(head))
		return gro_opt_tunnel_first(head) ?
		       gro_opt_udp6_behind(head, skb, iph) :
		       gro_opt_udp6_held(head, skb, iph);
	/* With a sum of all bytes IPv6's have to be taken out: a call. */
	if (unlikely(NAPI_GRO_CB(skb)->csum_valid))
		return gro_opt_udp6_held(head, skb, iph);
	if (likely(gro_opt_udp6_sound(skb, iph, uh, off)))
		return gro_opt_udp6_rest(head, skb, off);
	gro_opt_count(udp6, fallback);
	return static_call(gro_opt_stock6_receive)(head, skb);
}

#endif /* _GRO_OPT_UDP_H */
