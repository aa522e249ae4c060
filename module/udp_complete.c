// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP: completing aggregates, and receive's socket lookup out of line. In a file
 * of its own so that the compiler finds one call alone of what the lookup is made
 * of in udp.c, and makes it part of the path there.
 */
#include "compat/udp.h"
#include "l3.h"
#include "udp.h"

struct sock *gro_opt_udp4_lookup(const struct sk_buff *skb,
				 const struct iphdr *iph,
				 const struct udphdr *uh)
{
	return gro_opt_udp4_rx_sk(skb, iph, uh);
}

struct sock *gro_opt_udp6_lookup(const struct sk_buff *skb,
				 const struct ipv6hdr *iph,
				 const struct udphdr *uh)
{
	return gro_opt_udp6_rx_sk(skb, iph, uh);
}

/* What stock's udp4_gro_complete() does where there is no tunnel. */
static __always_inline int gro_opt_udp_complete(struct sk_buff *skb,
						struct udphdr *uh, u32 len,
						__sum16 pseudo)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	uh->len = htons(len);
	uh->check = pseudo;
	skb->csum_start = skb->transport_header;
	skb->csum_offset = offsetof(struct udphdr, check);
	skb->ip_summed = CHECKSUM_PARTIAL;
	info->gso_segs = NAPI_GRO_CB(skb)->count;
	info->gso_type |= SKB_GSO_UDP_L4;
	return 0;
}

/*
 * Aggregates of datagrams, and of nothing else: a socket that has become a
 * tunnel's meanwhile makes stock complete the packet as one of a tunnel.
 */
static __always_inline bool gro_opt_udp_completes(const struct sk_buff *skb,
						  const struct udphdr *uh,
						  unsigned int len)
{
	return gro_opt_completes(skb, len) && uh->check &&
	       (const u8 *)uh == skb_transport_header(skb) &&
	       !skb->remcsum_offload;
}

static __always_inline bool gro_opt_udp_tunnel(const struct sock *sk)
{
	return sk && udp_sk(sk)->gro_complete;
}

/**
 * gro_opt_udp4_complete - gro_complete for UDP behind an IPv4 header
 * @skb: aggregate of at least two datagrams, held by ours or by stock
 * @nhoff: offset of the IPv4 header from skb->data
 *
 * Context: softirq, rcu_read_lock() held.
 *
 * Return: 0, or stock's error, upon which core frees the packet.
 */
int gro_opt_udp4_complete(struct sk_buff *skb, int nhoff)
{
	struct iphdr *iph = (struct iphdr *)(skb->data + nhoff);
	struct udphdr *uh = (struct udphdr *)(iph + 1);
	const unsigned int len = skb->len - nhoff;
	const u32 ulen = len - sizeof(*iph);
	__be16 tot_len = htons(len);
	__sum16 pseudo;

	if (!gro_opt_udp_completes(skb, uh, len) ||
	    gro_opt_udp_tunnel(gro_opt_udp4_sk(skb, iph, uh)))
		return static_call(gro_opt_stock4_complete)(skb, nhoff);

	csum_replace2(&iph->check, iph->tot_len, tot_len);
	iph->tot_len = tot_len;
	pseudo = ~udp_v4_check(ulen, iph->saddr, iph->daddr, 0);
	gro_opt_count(udp4, completed);
	return gro_opt_udp_complete(skb, uh, ulen, pseudo);
}

/**
 * gro_opt_udp6_complete - gro_complete for UDP right behind an IPv6 header
 * @skb: aggregate of at least two datagrams, held by ours or by stock
 * @nhoff: offset of the IPv6 header from skb->data
 *
 * Context: softirq, rcu_read_lock() held.
 *
 * Return: 0, or stock's error, upon which core frees the packet.
 */
int gro_opt_udp6_complete(struct sk_buff *skb, int nhoff)
{
	struct ipv6hdr *iph = (struct ipv6hdr *)(skb->data + nhoff);
	struct udphdr *uh = (struct udphdr *)(iph + 1);
	const unsigned int len = skb->len - nhoff;
	const u32 ulen = len - sizeof(*iph);

	if (!gro_opt_udp_completes(skb, uh, len) ||
	    gro_opt_udp_tunnel(gro_opt_udp6_sk(skb, iph, uh)))
		return static_call(gro_opt_stock6_complete)(skb, nhoff);

	iph->payload_len = htons(ulen);
	gro_opt_count(udp6, completed);
	return gro_opt_udp_complete(skb, uh, ulen,
				    gro_opt_pseudo6(iph, ulen, IPPROTO_UDP));
}
