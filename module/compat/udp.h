/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The socket lookup of this kernel's UDP GRO: udp4_gro_lookup_skb() and
 * udp4_lib_lookup_skb(), which are not exported, and the same for IPv6. Both
 * ask for the same thing; what differs is where the device is taken from.
 *
 * 6.1 reads the device from the part of skb->cb that IP uses, where GRO's own
 * state is. So do these.
 */
#ifndef _GRO_OPT_COMPAT_UDP_H
#define _GRO_OPT_COMPAT_UDP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/gro.h>
#include <net/ip.h>
#include <net/udp.h>

#include "gro_opt_compat.h"

#if HAVE_UDP_LOOKUP_TABLE
/* The table that sockets are in. */
static __always_inline struct udp_table *gro_opt_udp_table(struct net *net)
{
#if HAVE_NET_UDP_TABLE
	return net->ipv4.udp_table;
#else
	return &udp_table;
#endif
}
#endif

/* The tunnel that has this port, if it is the only one: stock's shortcut. */
static __always_inline struct sock *
gro_opt_udp_tunnel_sk(const struct net *net, bool is_ipv6, __be16 dport)
{
#if HAVE_UDP_TUNNEL_SK
	struct sock *sk = udp_tunnel_sk(net, is_ipv6);

	if (sk && dport == htons(sk->sk_num))
		return sk;
#endif
	return NULL;
}

static __always_inline void gro_opt_iif4(const struct sk_buff *skb, int *iif,
					 int *sdif)
{
#if HAVE_INET_GET_IIF_SDIF
	inet_get_iif_sdif(skb, iif, sdif);
#else
	*iif = inet_iif(skb);
	*sdif = inet_sdif(skb);
#endif
}

static __always_inline void gro_opt_iif6(const struct sk_buff *skb, int *iif,
					 int *sdif)
{
#if HAVE_INET_GET_IIF_SDIF
	inet6_get_iif_sdif(skb, iif, sdif);
#else
	*iif = inet6_iif(skb);
	*sdif = inet6_sdif(skb);
#endif
}

/* Whose datagram this is, or NULL. No reference is taken. */
static __always_inline struct sock *
gro_opt_udp4_sk(const struct sk_buff *skb, const struct iphdr *iph,
		const struct udphdr *uh)
{
	struct net *net = dev_net(skb->dev);
	int iif, sdif;

	gro_opt_iif4(skb, &iif, &sdif);
#if HAVE_UDP_LOOKUP_TABLE
	return __udp4_lib_lookup(net, iph->saddr, uh->source, iph->daddr,
				 uh->dest, iif, sdif, gro_opt_udp_table(net),
				 NULL);
#else
	return __udp4_lib_lookup(net, iph->saddr, uh->source, iph->daddr,
				 uh->dest, iif, sdif, NULL);
#endif
}

static __always_inline struct sock *
gro_opt_udp6_sk(const struct sk_buff *skb, const struct ipv6hdr *iph,
		const struct udphdr *uh)
{
	struct net *net = dev_net(skb->dev);
	int iif, sdif;

	gro_opt_iif6(skb, &iif, &sdif);
#if HAVE_UDP_LOOKUP_TABLE
	return __udp6_lib_lookup(net, &iph->saddr, uh->source, &iph->daddr,
				 uh->dest, iif, sdif, gro_opt_udp_table(net),
				 NULL);
#else
	return __udp6_lib_lookup(net, &iph->saddr, uh->source, &iph->daddr,
				 uh->dest, iif, sdif, NULL);
#endif
}

/* As receive asks, which knows a shortcut to a tunnel's socket. */
static __always_inline struct sock *
gro_opt_udp4_rx_sk(const struct sk_buff *skb, const struct iphdr *iph,
		   const struct udphdr *uh)
{
	struct sock *sk;

	sk = gro_opt_udp_tunnel_sk(dev_net(skb->dev), false, uh->dest);
	return sk ?: gro_opt_udp4_sk(skb, iph, uh);
}

static __always_inline struct sock *
gro_opt_udp6_rx_sk(const struct sk_buff *skb, const struct ipv6hdr *iph,
		   const struct udphdr *uh)
{
	struct sock *sk;

	sk = gro_opt_udp_tunnel_sk(dev_net(skb->dev), true, uh->dest);
	return sk ?: gro_opt_udp6_sk(skb, iph, uh);
}

#endif /* _GRO_OPT_COMPAT_UDP_H */
