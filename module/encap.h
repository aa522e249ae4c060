/* SPDX-License-Identifier: GPL-2.0-only */
/* TCP behind two L3 headers, as far as the paths of one header lead to it. */
#ifndef _GRO_OPT_ENCAP_H
#define _GRO_OPT_ENCAP_H

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/gro.h>

#include "gro_opt.h"

/* Is that the number of an L3 header, here therefore an inner one? */
static __always_inline bool gro_opt_is_l3(u8 proto)
{
	return proto == IPPROTO_IPIP || proto == IPPROTO_IPV6;
}

/* Has a handler of an outer header had the packet, and is it ours then? */
static __always_inline bool gro_opt_encap_inner(const struct sk_buff *skb)
{
	return static_branch_unlikely(&gro_opt_key_encap) &&
	       NAPI_GRO_CB(skb)->encap_mark;
}

/*
 * How a tunnelled packet has come: by our L3 entry, which finds an outer header
 * and one in it; by that entry, from the handler of what is in between; or by
 * our entries of inet_offloads[] and inet6_offloads[].
 */
enum gro_opt_way {
	GRO_OPT_WAY_4IN4,
	GRO_OPT_WAY_6IN4,
	GRO_OPT_WAY_6IN6,
	GRO_OPT_WAY_4IN6,	/* the last of those with both headers ours */
	GRO_OPT_WAY_INNER4,
	GRO_OPT_WAY_INNER6,
	GRO_OPT_WAY_IPIP,
	GRO_OPT_WAY_SIT,
	GRO_OPT_WAY_IP4IP6,
	GRO_OPT_WAY_IP6IP6,
};

struct sk_buff *gro_opt_outer4_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct iphdr *iph);
struct sk_buff *gro_opt_outer6_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct ipv6hdr *iph);
struct sk_buff *gro_opt_inner4_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct iphdr *iph,
				       enum gro_opt_way way);
struct sk_buff *gro_opt_inner6_receive(struct list_head *head,
				       struct sk_buff *skb,
				       const struct ipv6hdr *iph,
				       enum gro_opt_way way);
int gro_opt_tunnel4_complete(struct sk_buff *skb, int nhoff);
int gro_opt_tunnel6_complete(struct sk_buff *skb, int nhoff);

#endif /* _GRO_OPT_ENCAP_H */
