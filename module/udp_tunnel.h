/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP in front of a tunnel. */
#ifndef _GRO_OPT_UDP_TUNNEL_H
#define _GRO_OPT_UDP_TUNNEL_H

#include <linux/ip.h>
#include <linux/ipv6.h>

#include "gro_opt.h"

struct sk_buff *gro_opt_udp4_tunnel(struct list_head *head,
				    struct sk_buff *skb,
				    const struct iphdr *iph);
struct sk_buff *gro_opt_udp6_tunnel(struct list_head *head,
				    struct sk_buff *skb,
				    const struct ipv6hdr *iph);

#endif /* _GRO_OPT_UDP_TUNNEL_H */
