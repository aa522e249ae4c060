// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP in front of a tunnel: what stock's handler does up to the socket. From there
 * on it is exported, and called, on kernels up to 6.12; later ones have all of it
 * done by stock (udp_tunnel.h).
 */
#include "compat/udp.h"
#include "udp_tunnel.h"

#if HAVE_EXPORT_UDP_GRO_RECEIVE

/* A device that vouches for a checksum vouches for the outermost one first. */
static __always_inline bool gro_opt_udp_vouched(struct sk_buff *skb)
{
	if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt))
		return false;
	NAPI_GRO_CB(skb)->csum_cnt--;
	return true;
}

static struct sk_buff *gro_opt_udp_flush(struct sk_buff *skb)
{
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}

/**
 * gro_opt_udp4_tunnel - UDP behind an IPv4 header that has been noted
 * @head: held packets of the bucket, same_flow as L3 leaves it
 * @skb: new packet, offset of the UDP header in its control block
 * @iph: IPv4 header; it and the UDP header are at hand
 *
 * Context: as gro_opt_inet_receive().
 *
 * Return: as gro_opt_inet_receive().
 */
struct sk_buff *gro_opt_udp4_tunnel(struct list_head *head,
				    struct sk_buff *skb,
				    const struct iphdr *iph)
{
	struct udphdr *uh = (struct udphdr *)(iph + 1);
	struct sock *sk = NULL;

	if (!gro_opt_udp_vouched(skb) &&
	    skb_gro_checksum_validate_zero_check(skb, IPPROTO_UDP, uh->check,
						 inet_gro_compute_pseudo))
		return gro_opt_udp_flush(skb);
	if (uh->check)
		skb_gro_checksum_try_convert(skb, IPPROTO_UDP,
					     inet_gro_compute_pseudo);
	NAPI_GRO_CB(skb)->is_ipv6 = 0;
	if (static_branch_unlikely(&udp_encap_needed_key))
		sk = gro_opt_udp4_sk(skb, iph, uh);
	return udp_gro_receive(head, skb, uh, sk);
}

/**
 * gro_opt_udp6_tunnel - UDP behind an IPv6 header that has been noted
 * @head: held packets of the bucket, same_flow as L3 leaves it
 * @skb: new packet, offset of the UDP header in its control block
 * @iph: IPv6 header; it and the UDP header are at hand
 *
 * Context: as gro_opt_ipv6_receive().
 *
 * Return: as gro_opt_ipv6_receive().
 */
struct sk_buff *gro_opt_udp6_tunnel(struct list_head *head,
				    struct sk_buff *skb,
				    const struct ipv6hdr *iph)
{
	struct udphdr *uh = (struct udphdr *)(iph + 1);
	struct sock *sk = NULL;

	if (!gro_opt_udp_vouched(skb) &&
	    skb_gro_checksum_validate_zero_check(skb, IPPROTO_UDP, uh->check,
						 ip6_gro_compute_pseudo))
		return gro_opt_udp_flush(skb);
	if (uh->check)
		skb_gro_checksum_try_convert(skb, IPPROTO_UDP,
					     ip6_gro_compute_pseudo);
	NAPI_GRO_CB(skb)->is_ipv6 = 1;
	if (static_branch_unlikely(&udpv6_encap_needed_key))
		sk = gro_opt_udp6_sk(skb, iph, uh);
	return udp_gro_receive(head, skb, uh, sk);
}

#endif
