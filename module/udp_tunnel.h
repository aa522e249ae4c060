/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP in front of a tunnel, where the kernel lets others do it. */
#ifndef _GRO_OPT_UDP_TUNNEL_H
#define _GRO_OPT_UDP_TUNNEL_H

#include <linux/ip.h>
#include <linux/ipv6.h>

#include "gro_opt.h"

#if HAVE_EXPORT_UDP_GRO_RECEIVE

struct sk_buff *gro_opt_udp4_tunnel(struct list_head *head,
				    struct sk_buff *skb,
				    const struct iphdr *iph);
struct sk_buff *gro_opt_udp6_tunnel(struct list_head *head,
				    struct sk_buff *skb,
				    const struct ipv6hdr *iph);

static __always_inline bool gro_opt_udp_tunnels(void)
{
	return static_branch_likely(&gro_opt_key_encap);
}

#else

static inline struct sk_buff *gro_opt_udp4_tunnel(struct list_head *head,
						  struct sk_buff *skb,
						  const struct iphdr *iph)
{
	return NULL;
}

static inline struct sk_buff *gro_opt_udp6_tunnel(struct list_head *head,
						  struct sk_buff *skb,
						  const struct ipv6hdr *iph)
{
	return NULL;
}

static __always_inline bool gro_opt_udp_tunnels(void)
{
	return false;
}

#endif

#endif /* _GRO_OPT_UDP_TUNNEL_H */
