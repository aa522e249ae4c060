/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two L3 headers: what encap.c, encap_slow.c and encap_complete.c share. A
 * packet's way tells which headers it has from where on.
 */
#ifndef _GRO_OPT_TUNNEL_H
#define _GRO_OPT_TUNNEL_H

#include "compat/tunnel.h"
#include "encap.h"
#include "l3.h"
#include "tcp.h"

static __always_inline bool gro_opt_way_whole(enum gro_opt_way way)
{
	return way <= GRO_OPT_WAY_4IN6;
}

/* Of a whole packet; if the outer header is not ours, it tells. */
static __always_inline bool gro_opt_way_outer6(enum gro_opt_way way)
{
	return way == GRO_OPT_WAY_6IN6 || way == GRO_OPT_WAY_4IN6;
}

static __always_inline bool gro_opt_way_inner6(enum gro_opt_way way)
{
	return way == GRO_OPT_WAY_6IN4 || way == GRO_OPT_WAY_6IN6 ||
	       way == GRO_OPT_WAY_INNER6 || way == GRO_OPT_WAY_SIT ||
	       way == GRO_OPT_WAY_IP6IP6;
}

static __always_inline unsigned int gro_opt_l3len(bool v6)
{
	return v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
}

/* From the outer L3 header, if it is ours, to the inner one. */
static __always_inline unsigned int gro_opt_way_outer_len(enum gro_opt_way way)
{
	if (!gro_opt_way_whole(way))
		return 0;
	return gro_opt_l3len(gro_opt_way_outer6(way));
}

/* ---- one L3 header of either kind ---- */

/* Another flow? */
static __always_inline u64 gro_opt_l3_flow_differs(const void *l3,
						   const void *l3_2, bool v6)
{
	const struct iphdr *a = l3, *b = l3_2;

	if (v6)
		return gro_opt_hdr6_differs(l3, l3_2, GRO_OPT_IP6_FLOW) |
		       gro_opt_addrs6_differ(l3, l3_2);
	return (gro_opt_addrs4(a) ^ gro_opt_addrs4(b)) |
	       (a->protocol ^ b->protocol);
}

/* As far as addresses tell, which nearly always is enough? */
static __always_inline u64 gro_opt_l3_addrs_differ(const void *l3,
						   const void *l3_2, bool v6)
{
	if (v6)
		return gro_opt_addrs6_differ(l3, l3_2);
	return gro_opt_addrs4(l3) ^ gro_opt_addrs4(l3_2);
}

/* The same flow, but not to be merged? */
static __always_inline u64 gro_opt_l3_differs(const void *l3, const void *l3_2,
					      bool v6)
{
	if (v6)
		return gro_opt_hdr6_differs(l3, l3_2, GRO_OPT_IP6_EQUAL);
	return gro_opt_hdr4_differs(l3, l3_2);
}

/* In front of IPv4's ID, or of IPv6's addresses: not as in the last segment? */
static __always_inline u64 gro_opt_l3_start_differs(const void *l3,
						    const void *l3_2, bool v6)
{
	if (v6)
		return gro_opt_next6_differs(l3, l3_2);
	return gro_opt_load32(l3) ^ gro_opt_load32(l3_2);
}

/*
 * Of two headers that are the same in front and behind: is @step all that was
 * added to the IP-ID, and taken from the checksum, which therefore is right if
 * that of @b is? The difference of 8 bytes tells it all. Protocols must be known
 * to be equal, for a borrow to stop at; an ID that has wrapped changes the
 * checksum in another way, and is left to those who compute it.
 */
static __always_inline bool gro_opt_id_steps(const struct iphdr *a,
					     const struct iphdr *b, u64 step)
{
	const u64 x = be64_to_cpu((__force __be64)gro_opt_load64(&a->id));
	const u64 y = be64_to_cpu((__force __be64)gro_opt_load64(&b->id));

	return x >= y && x - y == (step << 48) - step;
}

static __always_inline u8 gro_opt_l3_proto(const void *l3, bool v6)
{
	if (v6)
		return ((const struct ipv6hdr *)l3)->nexthdr;
	return ((const struct iphdr *)l3)->protocol;
}

static __always_inline u16 gro_opt_id_diff(const struct iphdr *iph,
					   const struct iphdr *iph2)
{
	return ntohs(iph->id) - ntohs(iph2->id);
}

/*
 * Does TCP compare with what is at @th of @p? The socket of a UDP tunnel may be
 * newer than @p, which then is held as any datagram with such bytes in it.
 */
static __always_inline bool gro_opt_transport_at(const struct sk_buff *p,
						 unsigned int th)
{
	return skb_transport_offset(p) == (int)th;
}

struct sk_buff *gro_opt_tunnel_pass(struct list_head *head,
				    struct sk_buff *skb, enum gro_opt_way way);
struct sk_buff *gro_opt_tunnel_stock(struct list_head *head,
				     struct sk_buff *skb, enum gro_opt_way way);
struct sk_buff *gro_opt_tunnel_slow(struct list_head *head,
				    struct sk_buff *skb, enum gro_opt_way way);
bool gro_opt_entry_complete(struct sk_buff *skb, unsigned int nhoff,
			    enum gro_opt_way way, int *ret);

#endif /* _GRO_OPT_TUNNEL_H */
