// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints that packets pass. Whoever attaches to one switches the detour on,
 * and with it what follows; while nobody does, the data path has none of it, not
 * even an empty call. As in an A/B run, what became of a packet is looked at from
 * outside, so that stock's handlers are traced by the same rules as ours.
 *
 * A held packet ends for one of two reasons: receive has returned it, because of
 * the packet at hand or with that as its last one, or the core lets go of it, at
 * the end of a poll or because there are too many flows: "poll". Then complete is
 * all that is seen of it, and that not for single packets.
 */
#include <linux/in.h>

#include "ab/path.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

DEFINE_STATIC_KEY_FALSE(gro_opt_key_trace);

#define GRO_OPT_TRACE_POLL 11

/* What receive has returned, until it has been completed. */
static DEFINE_PER_CPU(const struct sk_buff *, gro_opt_trace_ended);
static DEFINE_PER_CPU(u32, gro_opt_trace_merges);

/**
 * gro_opt_trace_reg - somebody attaches to a tracepoint of packets
 *
 * Context: may sleep; the tracepoints' own mutex is held, so ours cannot be taken.
 *
 * Return: 0.
 */
int gro_opt_trace_reg(void)
{
	static_branch_inc(&gro_opt_key_trace);
	static_branch_inc(&gro_opt_key_seen);
	static_branch_inc(&gro_opt_key_detour);
	static_branch_inc(&gro_opt_key_acting);
	return 0;
}

/**
 * gro_opt_trace_unreg - somebody lets go of one
 *
 * Context: as gro_opt_trace_reg(); also while the module goes, after its exit.
 */
void gro_opt_trace_unreg(void)
{
	static_branch_dec(&gro_opt_key_acting);
	static_branch_dec(&gro_opt_key_detour);
	static_branch_dec(&gro_opt_key_seen);
	static_branch_dec(&gro_opt_key_trace);
}

/* ---- whose packet it is ---- */

static void gro_opt_trace_flow4(struct gro_opt_trace_flow *flow,
				const struct iphdr *iph)
{
	struct sockaddr_in *src = (struct sockaddr_in *)&flow->src;
	struct sockaddr_in *dst = (struct sockaddr_in *)&flow->dst;
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);

	src->sin_family = AF_INET;
	src->sin_addr.s_addr = iph->saddr;
	dst->sin_family = AF_INET;
	dst->sin_addr.s_addr = iph->daddr;
	flow->proto = iph->protocol;
	if (!gro_opt_ab_ports4(iph))
		return;
	src->sin_port = uh->source;
	dst->sin_port = uh->dest;
}

static void gro_opt_trace_flow6(struct gro_opt_trace_flow *flow,
				const struct ipv6hdr *iph)
{
	const struct udphdr *uh = (const struct udphdr *)(iph + 1);

	flow->src.sin6_family = AF_INET6;
	flow->src.sin6_addr = iph->saddr;
	flow->dst.sin6_family = AF_INET6;
	flow->dst.sin6_addr = iph->daddr;
	flow->proto = iph->nexthdr;
	if (!gro_opt_ab_ports6(iph))
		return;
	flow->src.sin6_port = uh->source;
	flow->dst.sin6_port = uh->dest;
}

static u8 gro_opt_trace_arm(const void *iph, bool v4)
{
	struct gro_opt_ab_bin *bin;

	if (!static_branch_unlikely(&gro_opt_key_ab))
		return 0;
	if (!gro_opt_ab_hashed())
		bin = gro_opt_ab_bin();
	else
		bin = gro_opt_ab_by_hash(v4 ? gro_opt_ab_hash4(iph) :
					      gro_opt_ab_hash6(iph));
	return gro_opt_ab_arm_of(bin) + 1;
}

static void gro_opt_trace_flow(struct gro_opt_trace_flow *flow,
			       const struct net_device *dev, const void *iph,
			       bool v4)
{
	memset(flow, 0, sizeof(*flow));
	flow->dev = dev;
	flow->arm = gro_opt_trace_arm(iph, v4);
	if (v4)
		gro_opt_trace_flow4(flow, iph);
	else
		gro_opt_trace_flow6(flow, iph);
}

/* ---- receive ---- */

/* One in so many. */
static bool gro_opt_trace_sampled(void)
{
	const u32 every = READ_ONCE(gro_opt_ab_settings.sample);

	return every && !(this_cpu_inc_return(gro_opt_trace_merges) % every);
}

static u8 gro_opt_trace_reason(const struct sk_buff *p,
			       const struct sk_buff *skb, unsigned int len,
			       unsigned int off, bool v4)
{
	BUILD_BUG_ON(GRO_OPT_AB_ended_other - GRO_OPT_AB_ended_hdr !=
		     GRO_OPT_TRACE_POLL - 1);
	return gro_opt_ab_why(p, skb, len, off, v4) - GRO_OPT_AB_ended_hdr;
}

/* @p is what the handler has returned, @skb is merged, held or to be passed on. */
static void gro_opt_trace_fate(const struct gro_opt_trace_flow *flow,
			       const struct sk_buff *p,
			       const struct sk_buff *skb, unsigned int len,
			       unsigned int off, bool v4)
{
	if (!NAPI_GRO_CB(skb)->same_flow)
		trace_gro_opt_hold(flow, len - off, !NAPI_GRO_CB(skb)->flush);
	else if (gro_opt_trace_sampled())
		trace_gro_opt_merge(flow, len - off, !NAPI_GRO_CB(skb)->free);
	if (!p)
		return;
	trace_gro_opt_flush(flow, gro_opt_trace_reason(p, skb, len, off, v4),
			    NAPI_GRO_CB(p)->count);
	/* The core does not complete a single packet. */
	if (NAPI_GRO_CB(p)->count > 1)
		this_cpu_write(gro_opt_trace_ended, p);
}

static __always_inline struct sk_buff *
gro_opt_trace(struct list_head *head, struct sk_buff *skb,
	      struct sk_buff *(*way)(struct list_head *head,
				     struct sk_buff *skb),
	      bool v4)
{
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int len = skb->len;
	struct gro_opt_trace_flow flow;
	struct sk_buff *p;
	void *base;

	/* Inner headers are part of what is told of the outer ones. */
	if (off > GRO_OPT_MAX_L3_OFFSET ||
	    !gro_opt_base(skb, off + (v4 ? GRO_OPT_AB_HASHED4 :
					   GRO_OPT_AB_HASHED6), &base))
		return way(head, skb);
	gro_opt_trace_flow(&flow, skb->dev, base + off, v4);
	p = way(head, skb);
	/* Upon an error the packet is somebody else's. */
	if (!IS_ERR(p))
		gro_opt_trace_fate(&flow, p, skb, len, off, v4);
	return p;
}

struct sk_buff *gro_opt_trace4(struct list_head *head, struct sk_buff *skb)
{
	return gro_opt_trace(head, skb, gro_opt_inet_untraced, true);
}

struct sk_buff *gro_opt_trace6(struct list_head *head, struct sk_buff *skb)
{
	return gro_opt_trace(head, skb, gro_opt_ipv6_untraced, false);
}

/* ---- complete ---- */

/* Before it is done: whatever receive has not returned. */
void gro_opt_trace_done(const struct sk_buff *skb, int nhoff, bool v4)
{
	struct gro_opt_trace_flow flow;

	if (nhoff > GRO_OPT_MAX_L3_OFFSET)
		return;
	if (this_cpu_read(gro_opt_trace_ended) == skb) {
		this_cpu_write(gro_opt_trace_ended, NULL);
		return;
	}
	gro_opt_trace_flow(&flow, skb->dev, skb->data + nhoff, v4);
	trace_gro_opt_flush(&flow, GRO_OPT_TRACE_POLL,
			    NAPI_GRO_CB(skb)->count);
}
