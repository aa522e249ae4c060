/* SPDX-License-Identifier: GPL-2.0-only */
/* IPv4 and IPv6 headers: what has to be sound, equal, and of whom. */
#ifndef _GRO_OPT_L3_H
#define _GRO_OPT_L3_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ip.h>
#include <net/tcp.h>

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

/*
 * The protocol, or more than any has if it is a fragment, which stock has nothing
 * to do with either: one comparison tells most of what is not ours.
 */
static __always_inline u32 gro_opt_proto4(const struct iphdr *iph)
{
	u32 word = gro_opt_load32(&iph->frag_off) &
		   (__force u32)cpu_to_be32(0xBFFF00FF);

#ifdef __LITTLE_ENDIAN
	word = rol32(word, 8);
	/* Or there would be a copy, for constants to be turned as well. */
	OPTIMIZER_HIDE_VAR(word);
#endif
	return word;
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

/*
 * The first 8 bytes of either header, as loaded, less what need not be equal in
 * the next full segment: that is IPv4's ID, and nothing of IPv6's.
 */
#define GRO_OPT_IP4_NEXT	cpu_to_be64(0xFFFFFFFF0000FFFFULL)

/*
 * All but addresses and ID of a full segment, against the held one, which was
 * sound and has one segment's length in its header: equal lengths and flags are
 * sound as well, and so is the checksum if it makes up for the other ID. 0 if
 * there is no difference.
 */
static __always_inline u64 gro_opt_next4_differs(const struct iphdr *iph,
						 const struct iphdr *iph2)
{
	const u8 *ttl = &iph->ttl, *ttl2 = &iph2->ttl;
	u32 sum = 2 * 0xffff;
	u64 differs;

	differs = (gro_opt_load64(iph) ^ gro_opt_load64(iph2)) &
		  (__force u64)GRO_OPT_IP4_NEXT;
	differs |= (gro_opt_load32(ttl) ^ gro_opt_load32(ttl2)) &
		   (__force u32)cpu_to_be32(0xFFFF0000);
	sum += (__force u16)iph->id + (__force u16)iph->check;
	sum -= (__force u16)iph2->id + (__force u16)iph2->check;
	return differs | (gro_opt_fold32(sum) ^ 0xffff);
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
 * All but addresses of a full segment. Stock holds packets of other versions,
 * but kernels differ in what they make of the next one.
 */
static __always_inline u64 gro_opt_next6_differs(const struct ipv6hdr *iph,
						 const struct ipv6hdr *iph2)
{
	return (gro_opt_load64(iph) ^ gro_opt_load64(iph2)) |
	       ((*(const u8 *)iph ^ 0x60) & 0xf0);
}

/* Extension headers up to @nlen, which both packets have; mostly 8 bytes. */
static __always_inline bool
gro_opt_exthdrs_differ(const struct ipv6hdr *iph, const struct ipv6hdr *iph2,
		       unsigned int nlen)
{
	const u8 *a = (const u8 *)iph, *b = (const u8 *)iph2;
	unsigned int i = sizeof(*iph) + 8;

	if (gro_opt_load64(iph + 1) != gro_opt_load64(iph2 + 1))
		return true;
	for (; unlikely(i < nlen); i += 8)
		if (gro_opt_load64(a + i) != gro_opt_load64(b + i))
			return true;
	return false;
}

static __always_inline bool gro_opt_len6_lies(const struct sk_buff *skb,
					      const struct ipv6hdr *iph,
					      unsigned int off)
{
	return skb->len - off - sizeof(*iph) != ntohs(iph->payload_len);
}

/* Bytes of an aggregate from its IPv4 header on, less than 64 KB. */
static __always_inline void gro_opt_set_len4(struct iphdr *iph,
					     unsigned int len)
{
	const __be16 tot_len = htons(len);

	csum_replace2(&iph->check, iph->tot_len, tot_len);
	iph->tot_len = tot_len;
}

/* Sum of the pseudo header for @len bytes of TCP, as gro_opt_pseudo6(). */
static __always_inline __sum16 gro_opt_tcp4_pseudo(const struct iphdr *iph,
						   unsigned int len)
{
	return ~tcp_v4_check(len, iph->saddr, iph->daddr, 0);
}

/* Both addresses added to @sum, end-around. */
static __always_inline u64 gro_opt_sum_addrs6(u64 sum,
					      const struct ipv6hdr *iph)
{
#ifdef CONFIG_X86_64
	/* In C the carry of each addition is found by comparing. */
	asm("addq 8(%[iph]), %[sum]\n\t"
	    "adcq 16(%[iph]), %[sum]\n\t"
	    "adcq 24(%[iph]), %[sum]\n\t"
	    "adcq 32(%[iph]), %[sum]\n\t"
	    "adcq $0, %[sum]"
	    : [sum] "+r" (sum) : [iph] "r" (iph), "m" (*iph));
	return sum;
#else
	const u8 *at = (const u8 *)&iph->saddr;

	sum = gro_opt_add64(sum, gro_opt_load64(at));
	sum = gro_opt_add64(sum, gro_opt_load64(at + 8));
	sum = gro_opt_add64(sum, gro_opt_load64(at + 16));
	return gro_opt_add64(sum, gro_opt_load64(at + 24));
#endif
}

/* Sum of the pseudo header, folded: what CHECKSUM_PARTIAL wants in check. */
static __always_inline __sum16 gro_opt_pseudo6(const struct ipv6hdr *iph,
					       u32 len, u8 proto)
{
	u64 sum = len + proto;

#ifdef __LITTLE_ENDIAN
	/* In network order, but for a multiple of 0xffff. */
	sum <<= 8;
#endif
	return (__force __sum16)gro_opt_fold64(gro_opt_sum_addrs6(sum, iph));
}

/*
 * Packets whose completion is ours: an ordinary aggregate without a tunnel, so
 * that the transport offset on record belongs to the only L3 header there is.
 */
static __always_inline bool gro_opt_completes(const struct sk_buff *skb,
					      unsigned int len)
{
	return len < READ_ONCE(gro_opt_limit) && !skb->encapsulation &&
	       !NAPI_GRO_CB(skb)->encap_mark && !NAPI_GRO_CB(skb)->is_flist;
}

#endif /* _GRO_OPT_L3_H */
