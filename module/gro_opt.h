/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to the module. Lock order, outermost first: a sysfs or debugfs
 * file's own reference or the module notifiers' lock, gro_opt_mutex, that of
 * tracepoints, cpus_read_lock (static keys), RTNL. The data path takes none of them.
 */
#ifndef _GRO_OPT_H
#define _GRO_OPT_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "ab/ab.h"
#include "compat/compat.h"
#include "counters.h"
#include "feature.h"

enum gro_opt_state {
	GRO_OPT_OFF,
	GRO_OPT_PASSTHROUGH,
	GRO_OPT_ON,
	GRO_OPT_FAULTED,
};

extern struct mutex gro_opt_mutex;
extern enum gro_opt_state gro_opt_state;
extern u64 gro_opt_enable_seq;
extern u32 gro_opt_fail_step;

/* Data path, read-mostly: see fast.c. */
extern struct gro_opt_rules gro_opt_rules;
extern u32 gro_opt_limit;

/* tcp_flag_word() bits that end an aggregate with the segment they came in. */
#define GRO_OPT_TCP_LAST (TCP_FLAG_URG | TCP_FLAG_PSH | TCP_FLAG_RST | \
			  TCP_FLAG_SYN | TCP_FLAG_FIN)

struct sk_buff *gro_opt_inet_receive(struct list_head *head,
				     struct sk_buff *skb);
struct sk_buff *gro_opt_ipv6_receive(struct list_head *head,
				     struct sk_buff *skb);
int gro_opt_inet_complete(struct sk_buff *skb, int nhoff);
int gro_opt_ipv6_complete(struct sk_buff *skb, int nhoff);

DECLARE_STATIC_CALL(gro_opt_stock4_receive, gro_opt_inet_receive);
DECLARE_STATIC_CALL(gro_opt_stock6_receive, gro_opt_ipv6_receive);
DECLARE_STATIC_CALL(gro_opt_stock4_complete, gro_opt_inet_complete);
DECLARE_STATIC_CALL(gro_opt_stock6_complete, gro_opt_ipv6_complete);
DECLARE_STATIC_CALL(gro_opt_stock4_udp, gro_opt_inet_receive);
DECLARE_STATIC_CALL(gro_opt_stock6_udp, gro_opt_ipv6_receive);

#define GRO_OPT_DECLARE_ENTRY(name)					\
struct sk_buff *gro_opt_##name##_receive(struct list_head *head,	\
					 struct sk_buff *skb);		\
int gro_opt_##name##_complete(struct sk_buff *skb, int nhoff);		\
DECLARE_STATIC_CALL(gro_opt_stock_##name##_receive,			\
		    gro_opt_##name##_receive);				\
DECLARE_STATIC_CALL(gro_opt_stock_##name##_complete,			\
		    gro_opt_##name##_complete)

GRO_OPT_DECLARE_ENTRY(ipip);
GRO_OPT_DECLARE_ENTRY(sit);
GRO_OPT_DECLARE_ENTRY(ip4ip6);
GRO_OPT_DECLARE_ENTRY(ip6ip6);

/* How much of what a user wrote is repeated in the log. */
static inline int gro_opt_shown(const char *buf)
{
	return min_t(size_t, strcspn(buf, "\n"), 40);
}

/* feature.c */
int gro_opt_features_prepare(enum gro_opt_state state);

/* shim.c */
int gro_opt_shim_probe(void);
const struct offload_callbacks *gro_opt_shim_stock(__be16 type);
int gro_opt_state_parse(const char *buf);
const char *gro_opt_state_name(enum gro_opt_state state);
int gro_opt_state_set(enum gro_opt_state state);
ssize_t gro_opt_state_write(const char *buf, size_t len);
int gro_opt_shim_native(bool native);
void gro_opt_shim_exit(void);
int gro_opt_callbacks_vet(const char *packets,
			  const struct offload_callbacks *stock);
void gro_opt_say_taken(const char *packets,
		       const struct offload_callbacks *now);
bool gro_opt_step_fails(unsigned int step);

/* protocol.c; steps of a switch before it are shim.c's */
#define GRO_OPT_FIRST_PROTOCOL_STEP	3
int gro_opt_protocols_take(void);
int gro_opt_protocols_may_leave(void);
int gro_opt_protocols_return(void);
void gro_opt_protocols_undo(void);
bool gro_opt_protocols_ours(void);
void gro_opt_protocols_probe(void);
const struct offload_callbacks *gro_opt_protocol_stock(unsigned int i);
const struct offload_callbacks *gro_opt_protocol_ours(unsigned int i);

/* fast.c: a packet as if nobody traced it */
struct sk_buff *gro_opt_inet_untraced(struct list_head *head,
				      struct sk_buff *skb);
struct sk_buff *gro_opt_ipv6_untraced(struct list_head *head,
				      struct sk_buff *skb);

/* trace.c */
DECLARE_STATIC_KEY_FALSE(gro_opt_key_trace);
struct sk_buff *gro_opt_trace4(struct list_head *head, struct sk_buff *skb);
struct sk_buff *gro_opt_trace6(struct list_head *head, struct sk_buff *skb);
void gro_opt_trace_done(const struct sk_buff *skb, int nhoff, bool v4);

/* devices.c */
DECLARE_STATIC_KEY_FALSE(gro_opt_key_devices);
bool gro_opt_device_listed(const struct net_device *dev);
int gro_opt_devices_set(const char *list);
ssize_t gro_opt_devices_show(char *buf);
void gro_opt_devices_exit(void);

/* fault.c */
extern u32 gro_opt_faults;
void gro_opt_fault(const char *where);
int gro_opt_lost(const char *where);
void gro_opt_fault_foreign(void);
void gro_opt_fault_settle(void);
const char *gro_opt_fault_reason(void);
void gro_opt_fault_clear(void);
void gro_opt_fault_exit(void);

/* sysfs.c, debugfs.c */
bool gro_opt_may_write(const char *what);
int gro_opt_sysfs_init(void);
void gro_opt_sysfs_exit(void);
void gro_opt_uevent(void);
void gro_opt_debugfs_init(void);
void gro_opt_debugfs_exit(void);

/* selfcheck.c */
int gro_opt_selfcheck(bool compare);
void gro_opt_selfcheck_exit(void);

#endif /* _GRO_OPT_H */
