/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * UDP in front of a tunnel: what stock's handler does, up to the tunnel's own. As
 * in stock the packet's socket says which that is. Kernels up to 6.12 let us ask
 * for it and then go on in udp_gro_receive(). Later ones do not; there it is only
 * known here if it is the one tunnel of its namespace, and else all is stock's.
 */
#ifndef _GRO_OPT_UDP_TUNNEL_H
#define _GRO_OPT_UDP_TUNNEL_H

#include "compat/udp.h"
#include "udp.h"

/*
 * On to the tunnel's handler, which is two calls deeper. There has been none in
 * front of it: within GRO_OPT_MAX_L3_OFFSET no tunnel has room.
 */
static __always_inline struct sk_buff *
gro_opt_udp_enter(struct list_head *head, struct sk_buff *skb,
		  const struct udphdr *uh, struct sock *sk)
{
	NAPI_GRO_CB(skb)->encap_mark = 1;
	gro_opt_udp_deeper(skb, 2);
	skb_gro_pull(skb, sizeof(*uh));
	skb_gro_postpull_rcsum(skb, uh, sizeof(*uh));
	return udp_sk(sk)->gro_receive(sk, head, skb);
}

/* A device that vouches for a checksum vouches for the outermost one first. */
static __always_inline bool gro_opt_udp_vouched(struct sk_buff *skb)
{
	const struct napi_gro_cb one = { .csum_cnt = 1 };

	if (unlikely(!NAPI_GRO_CB(skb)->csum_cnt))
		return false;
	gro_opt_cb_add(skb, -gro_opt_load32(&one.zeroed));
	return true;
}

#if HAVE_EXPORT_UDP_GRO_RECEIVE

static struct sk_buff *gro_opt_udp_flush(struct sk_buff *skb)
{
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}

/* By now the checksum, if there is one, is known to be right. */
static __always_inline struct sk_buff *
gro_opt_udp_rest(struct list_head *head, struct sk_buff *skb,
		 struct udphdr *uh, struct sock *sk)
{
	if (likely(sk && udp_sk(sk)->gro_receive))
		return gro_opt_udp_enter(head, skb, uh, sk);
	gro_opt_udp_deeper(skb, 1);
	return udp_gro_receive(head, skb, uh, sk);
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
static __always_inline struct sk_buff *
gro_opt_udp4_tunnel(struct list_head *head, struct sk_buff *skb,
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
	return gro_opt_udp_rest(head, skb, uh, sk);
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
static __always_inline struct sk_buff *
gro_opt_udp6_tunnel(struct list_head *head, struct sk_buff *skb,
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
	return gro_opt_udp_rest(head, skb, uh, sk);
}

#else

/*
 * Whose socket, if it is a tunnel's and stock would find it without looking? The
 * device has to vouch for what is inside, too, where there is a checksum: else
 * stock makes one of that for the handlers behind it.
 */
static __always_inline struct sock *
gro_opt_udp_only_tunnel(const struct sk_buff *skb, bool is_ipv6,
			const struct udphdr *uh)
{
	struct sock *sk;

	sk = gro_opt_udp_tunnel_sk(dev_net(skb->dev), is_ipv6, uh->dest);
	if (sk && udp_sk(sk)->gro_receive &&
	    NAPI_GRO_CB(skb)->csum_cnt > !!uh->check)
		return sk;
	return NULL;
}

static __always_inline struct sk_buff *
gro_opt_udp4_tunnel(struct list_head *head, struct sk_buff *skb,
		    const struct iphdr *iph)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	struct sock *sk = gro_opt_udp_only_tunnel(skb, false, uh);

	if (likely(sk)) {
		gro_opt_udp_vouched(skb);
		return gro_opt_udp_enter(head, skb, uh, sk);
	}
	gro_opt_udp_deeper(skb, 1);
	return static_call(gro_opt_stock4_udp)(head, skb);
}

static __always_inline struct sk_buff *
gro_opt_udp6_tunnel(struct list_head *head, struct sk_buff *skb,
		    const struct ipv6hdr *iph)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);
	struct sock *sk = gro_opt_udp_only_tunnel(skb, true, uh);

	if (likely(sk)) {
		gro_opt_udp_vouched(skb);
		return gro_opt_udp_enter(head, skb, uh, sk);
	}
	gro_opt_udp_deeper(skb, 1);
	return static_call(gro_opt_stock6_udp)(head, skb);
}

#endif

#endif /* _GRO_OPT_UDP_TUNNEL_H */
