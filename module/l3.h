/* SPDX-License-Identifier: GPL-2.0-only */
/* IPv4 and IPv6 headers: what has to be sound, equal, and of whom. */
#ifndef _GRO_OPT_L3_H
#define _GRO_OPT_L3_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ip.h>

#include "merge.h"

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

static __always_inline bool gro_opt_len6_lies(const struct sk_buff *skb,
					      const struct ipv6hdr *iph,
					      unsigned int off)
{
	return skb->len - off - sizeof(*iph) != ntohs(iph->payload_len);
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

/* Packets whose completion is ours: one L3 header, ordinary aggregate. */
static __always_inline bool gro_opt_completes(const struct sk_buff *skb,
					      int nhoff)
{
	return READ_ONCE(gro_opt_live) && !skb->encapsulation &&
	       !NAPI_GRO_CB(skb)->encap_mark && !NAPI_GRO_CB(skb)->is_flist &&
	       gro_opt_own_network(skb, nhoff) && skb->len - nhoff <= U16_MAX;
}

#endif /* _GRO_OPT_L3_H */
