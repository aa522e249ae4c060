/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints, for trace-cmd, perf and bpftrace. What is told of packets is found
 * out from outside, by the same rules for stock and ours, see trace.c.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gro_opt

#if !defined(_GRO_OPT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GRO_OPT_TRACE_H

#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/tracepoint.h>

#ifndef _GRO_OPT_TRACE_FLOW
#define _GRO_OPT_TRACE_FLOW
/**
 * struct gro_opt_trace_flow - whose packet it is
 * @src: address and port; struct sockaddr_in for IPv4
 * @dst: likewise
 * @dev: receiving device
 * @proto: transport protocol, as far as the first header names it
 * @arm: of an A/B run, 1 or 2; 0 without one
 */
struct gro_opt_trace_flow {
	struct sockaddr_in6 src;
	struct sockaddr_in6 dst;
	const struct net_device *dev;
	u8 proto;
	u8 arm;
};
#endif

int gro_opt_trace_reg(void);
void gro_opt_trace_unreg(void);

/* Numbers, as user space cannot see ours: see gro_opt_trace_reason(). */
#define gro_opt_show_reason(reason)		\
	__print_symbolic(reason,		\
			 { 0, "hdr" },		\
			 { 1, "id" },		\
			 { 2, "length" },	\
			 { 3, "flags" },	\
			 { 4, "ack" },		\
			 { 5, "options" },	\
			 { 6, "size" },		\
			 { 7, "seq" },		\
			 { 8, "push" },		\
			 { 9, "short" },	\
			 { 10, "other" },	\
			 { 11, "poll" })

#define gro_opt_show_arm(arm)			\
	__print_symbolic(arm, { 0, "-" }, { 1, "a" }, { 2, "b" })

/* A held packet ended: it leaves GRO with so many segments. */
TRACE_EVENT_FN(gro_opt_flush,

	TP_PROTO(const struct gro_opt_trace_flow *flow, u8 reason,
		 unsigned int segments),

	TP_ARGS(flow, reason, segments),

	TP_STRUCT__entry(
		__array(char, dev, IFNAMSIZ)
		__field(u8, reason)
		__field(u8, arm)
		__field(u8, proto)
		__field(u32, segments)
		__array(u8, saddr, sizeof(struct sockaddr_in6))
		__array(u8, daddr, sizeof(struct sockaddr_in6))
	),

	TP_fast_assign(
		strscpy(__entry->dev, flow->dev->name, IFNAMSIZ);
		__entry->reason = reason;
		__entry->arm = flow->arm;
		__entry->proto = flow->proto;
		__entry->segments = segments;
		memcpy(__entry->saddr, &flow->src, sizeof(flow->src));
		memcpy(__entry->daddr, &flow->dst, sizeof(flow->dst));
	),

	TP_printk("dev=%s reason=%s segments=%u arm=%s proto=%u src=%pISpc dst=%pISpc",
		  __entry->dev, gro_opt_show_reason(__entry->reason),
		  __entry->segments, gro_opt_show_arm(__entry->arm),
		  __entry->proto, __entry->saddr, __entry->daddr),

	gro_opt_trace_reg, gro_opt_trace_unreg
);

/* A packet that joins none: held from now on, or passed on by itself. */
TRACE_EVENT_FN(gro_opt_hold,

	TP_PROTO(const struct gro_opt_trace_flow *flow, unsigned int len,
		 bool held),

	TP_ARGS(flow, len, held),

	TP_STRUCT__entry(
		__array(char, dev, IFNAMSIZ)
		__field(u8, arm)
		__field(u8, proto)
		__field(bool, held)
		__field(u32, len)
		__array(u8, saddr, sizeof(struct sockaddr_in6))
		__array(u8, daddr, sizeof(struct sockaddr_in6))
	),

	TP_fast_assign(
		strscpy(__entry->dev, flow->dev->name, IFNAMSIZ);
		__entry->arm = flow->arm;
		__entry->proto = flow->proto;
		__entry->held = held;
		__entry->len = len;
		memcpy(__entry->saddr, &flow->src, sizeof(flow->src));
		memcpy(__entry->daddr, &flow->dst, sizeof(flow->dst));
	),

	TP_printk("dev=%s len=%u held=%u arm=%s proto=%u src=%pISpc dst=%pISpc",
		  __entry->dev, __entry->len, __entry->held,
		  gro_opt_show_arm(__entry->arm), __entry->proto,
		  __entry->saddr, __entry->daddr),

	gro_opt_trace_reg, gro_opt_trace_unreg
);

/* A packet was joined to a held one; one in ab/sample of them. */
TRACE_EVENT_FN(gro_opt_merge,

	TP_PROTO(const struct gro_opt_trace_flow *flow, unsigned int len,
		 bool chained),

	TP_ARGS(flow, len, chained),

	TP_STRUCT__entry(
		__array(char, dev, IFNAMSIZ)
		__field(u8, arm)
		__field(u8, proto)
		__field(bool, chained)
		__field(u32, len)
		__array(u8, saddr, sizeof(struct sockaddr_in6))
		__array(u8, daddr, sizeof(struct sockaddr_in6))
	),

	TP_fast_assign(
		strscpy(__entry->dev, flow->dev->name, IFNAMSIZ);
		__entry->arm = flow->arm;
		__entry->proto = flow->proto;
		__entry->chained = chained;
		__entry->len = len;
		memcpy(__entry->saddr, &flow->src, sizeof(flow->src));
		memcpy(__entry->daddr, &flow->dst, sizeof(flow->dst));
	),

	TP_printk("dev=%s len=%u by=%s arm=%s proto=%u src=%pISpc dst=%pISpc",
		  __entry->dev, __entry->len,
		  __entry->chained ? "frag_list" : "frags",
		  gro_opt_show_arm(__entry->arm), __entry->proto,
		  __entry->saddr, __entry->daddr),

	gro_opt_trace_reg, gro_opt_trace_unreg
);

/*
 * Arms have been exchanged: by time it is this one's slice, by CPU the even ones
 * have it, by flow half of the flows have changed theirs.
 */
TRACE_EVENT(gro_opt_ab_switch,

	TP_PROTO(unsigned int round, unsigned int slice, unsigned int arm),

	TP_ARGS(round, slice, arm),

	TP_STRUCT__entry(
		__field(u32, round)
		__field(u32, slice)
		__field(u8, arm)
	),

	TP_fast_assign(
		__entry->round = round;
		__entry->slice = slice;
		__entry->arm = arm + 1;
	),

	TP_printk("round=%u slice=%u arm=%s", __entry->round, __entry->slice,
		  gro_opt_show_arm(__entry->arm))
);

/* From here on all packets take stock; state tells why as fault_reason. */
TRACE_EVENT(gro_opt_fault,

	TP_PROTO(const char *reason),

	TP_ARGS(reason),

	TP_STRUCT__entry(
		__array(char, reason, 64)
	),

	TP_fast_assign(
		strscpy(__entry->reason, reason, sizeof(__entry->reason));
	),

	TP_printk("reason=%s", __entry->reason)
);

#endif /* _GRO_OPT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
