/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A/B, the part that each packet pays for while a run is on: which arm. Nothing
 * is stored in the skb, so complete asks again and gets the same answer: by CPU
 * that is the CPU's, which changes between polls only, by flow it is a hash of
 * what no handler writes to. Inner headers follow the outermost ones.
 */
#ifndef _GRO_OPT_AB_PATH_H
#define _GRO_OPT_AB_PATH_H

#include "../l3.h"
#include "ab.h"

/*
 * Multiply by what comes of the seed, fold, multiply again and keep the upper half,
 * which all bits have reached. Once is not enough: ports that count up would all
 * be of one arm with some seeds.
 */
static __always_inline u32 gro_opt_ab_mix(u64 words, u32 ports)
{
	words = words * gro_opt_ab_seed[0] + ports * gro_opt_ab_seed[1];
	words ^= words >> 32;
	return words * gro_opt_ab_seed[0] >> 32;
}

/* Flows of other protocols, of fragments and behind options: by address alone. */
static __always_inline u32 gro_opt_ab_ports4(const struct iphdr *iph)
{
	if (likely(*(const u8 *)iph == 0x45 && iph->protocol == IPPROTO_TCP))
		return gro_opt_load32(iph + 1);
	if (*(const u8 *)iph == 0x45 && iph->protocol == IPPROTO_UDP &&
	    !(iph->frag_off & htons(IP_MF | IP_OFFSET)))
		return gro_opt_load32(iph + 1);
	return 0;
}

static __always_inline u32 gro_opt_ab_hash4(const struct iphdr *iph)
{
	return gro_opt_ab_mix(gro_opt_addrs4(iph), gro_opt_ab_ports4(iph));
}

static __always_inline u32 gro_opt_ab_ports6(const struct ipv6hdr *iph)
{
	if (likely(iph->nexthdr == IPPROTO_TCP || iph->nexthdr == IPPROTO_UDP))
		return gro_opt_load32(iph + 1);
	return 0;
}

static __always_inline u32 gro_opt_ab_hash6(const struct ipv6hdr *iph)
{
	const u8 *at = (const u8 *)&iph->saddr;
	u64 words;

	words = gro_opt_load64(at + 16) ^ gro_opt_load64(at + 24);
	words = ror64(words, 23);
	words += gro_opt_load64(at) ^ gro_opt_load64(at + 8);
	return gro_opt_ab_mix(words, gro_opt_ab_ports6(iph));
}

static __always_inline struct gro_opt_ab_bin *gro_opt_ab_by_hash(u32 hash)
{
	hash ^= this_cpu_read(gro_opt_ab_cpu.invert);
	return this_cpu_read(gro_opt_ab_cpu.at[hash < gro_opt_ab_split]);
}

/* How long headers have to be at hand for the hash: up to the ports. */
#define GRO_OPT_AB_HASHED4	(sizeof(struct iphdr) + sizeof(u32))
#define GRO_OPT_AB_HASHED6	(sizeof(struct ipv6hdr) + sizeof(u32))

/* By CPU or by time there is one bin for all. */
static __always_inline bool gro_opt_ab_hashed(void)
{
	return static_branch_unlikely(&gro_opt_key_hashed);
}

static __always_inline struct gro_opt_ab_bin *gro_opt_ab_bin(void)
{
	return this_cpu_read(gro_opt_ab_cpu.at[0]);
}

/* By hash. NULL: the headers are not at hand, which leaves the packet to stock. */
static __always_inline struct gro_opt_ab_bin *
gro_opt_ab_bin4(const struct sk_buff *skb, unsigned int off)
{
	void *base;

	if (unlikely(!gro_opt_base(skb, off + GRO_OPT_AB_HASHED4, &base)))
		return NULL;
	return gro_opt_ab_by_hash(gro_opt_ab_hash4(base + off));
}

static __always_inline struct gro_opt_ab_bin *
gro_opt_ab_bin6(const struct sk_buff *skb, unsigned int off)
{
	void *base;

	if (unlikely(!gro_opt_base(skb, off + GRO_OPT_AB_HASHED6, &base)))
		return NULL;
	return gro_opt_ab_by_hash(gro_opt_ab_hash6(base + off));
}

/* The same in complete, where headers are in the linear part. */
static __always_inline struct gro_opt_ab_bin *
gro_opt_ab_done4(const struct sk_buff *skb, int nhoff)
{
	if (likely(!gro_opt_ab_hashed()))
		return gro_opt_ab_bin();
	return gro_opt_ab_by_hash(gro_opt_ab_hash4((void *)skb->data + nhoff));
}

static __always_inline struct gro_opt_ab_bin *
gro_opt_ab_done6(const struct sk_buff *skb, int nhoff)
{
	if (likely(!gro_opt_ab_hashed()))
		return gro_opt_ab_bin();
	return gro_opt_ab_by_hash(gro_opt_ab_hash6((void *)skb->data + nhoff));
}

/* ---- arms with some of the features ---- */

/* Whose are packets with this in the IPv4 header's protocol field? */
static inline u32 gro_opt_ab_feature4(u8 proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return BIT(GRO_OPT_F_tcp4);
	case IPPROTO_UDP:
		return BIT(GRO_OPT_F_udp4);
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
		return BIT(GRO_OPT_F_encap);
	default:
		return 0;
	}
}

static inline u32 gro_opt_ab_feature6(u8 proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return BIT(GRO_OPT_F_tcp6);
	case IPPROTO_UDP:
		return BIT(GRO_OPT_F_udp6);
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
		return BIT(GRO_OPT_F_encap);
	default:
		return BIT(GRO_OPT_F_exthdr);
	}
}

/* Behind a tunnel's header, that of the tunnel as well? */
static inline bool gro_opt_ab_inner_in(const struct sk_buff *skb,
				       const struct gro_opt_ab_bin *bin)
{
	return !NAPI_GRO_CB(skb)->encap_mark ||
	       (bin->features & BIT(GRO_OPT_F_encap));
}

/* Does the arm of @bin have the feature for this packet? */
static inline bool gro_opt_inet_in(const struct sk_buff *skb,
				   const struct gro_opt_ab_bin *bin)
{
	const unsigned int off = skb_gro_offset(skb);
	void *base;

	return gro_opt_base(skb, off + sizeof(struct iphdr), &base) &&
	       gro_opt_ab_inner_in(skb, bin) &&
	       (bin->features &
		gro_opt_ab_feature4(((struct iphdr *)(base + off))->protocol));
}

static inline bool gro_opt_ipv6_in(const struct sk_buff *skb,
				   const struct gro_opt_ab_bin *bin)
{
	const unsigned int off = skb_gro_offset(skb);
	void *base;

	return gro_opt_base(skb, off + sizeof(struct ipv6hdr), &base) &&
	       gro_opt_ab_inner_in(skb, bin) &&
	       (bin->features &
		gro_opt_ab_feature6(((struct ipv6hdr *)(base + off))->nexthdr));
}

static inline bool gro_opt_inet_in_complete(const struct sk_buff *skb,
					    int nhoff,
					    const struct gro_opt_ab_bin *bin)
{
	const struct iphdr *iph = (void *)skb->data + nhoff;

	return bin->features & gro_opt_ab_feature4(iph->protocol);
}

static inline bool gro_opt_ipv6_in_complete(const struct sk_buff *skb,
					    int nhoff,
					    const struct gro_opt_ab_bin *bin)
{
	const struct ipv6hdr *iph = (void *)skb->data + nhoff;

	return bin->features & gro_opt_ab_feature6(iph->nexthdr);
}

#endif /* _GRO_OPT_AB_PATH_H */
