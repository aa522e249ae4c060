/* SPDX-License-Identifier: GPL-2.0-only */
/* Every difference between kernels that the lab has to know about. */
#ifndef _GRO_LAB_COMPAT_H
#define _GRO_LAB_COMPAT_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/dst.h>
#include <net/gro.h>

#include "gro_lab_compat.h"

#if HAVE_PAGE_POOL_HELPERS
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

/* Which of the hash buckets hold packets; the flush looks only at those. */
static inline unsigned long *lab_gro_bitmask(struct napi_struct *napi)
{
#if HAVE_GRO_NODE
	return &napi->gro.bitmask;
#else
	return &napi->gro_bitmask;
#endif
}

/* How large aggregates of this device may grow; IPv4's own limit is of 6.3. */
static inline void lab_set_max_sizes(struct net_device *dev, unsigned int size,
				     unsigned int ipv4)
{
	WRITE_ONCE(dev->gro_max_size, size);
#if HAVE_GRO_IPV4_MAX_SIZE
	WRITE_ONCE(dev->gro_ipv4_max_size, ipv4);
#endif
}

#if HAVE_TUNNEL_SK
#define LAB_TUNNEL_SOCK(sock) ((sock)->sk)
#else
#define LAB_TUNNEL_SOCK(sock) (sock)
#endif

#if HAVE_UBUF_INFO_OPS
#define LAB_UBUF_COMPLETE(func) \
	.ops = &(const struct ubuf_info_ops){ .complete = (func) }
#else
#define LAB_UBUF_COMPLETE(func) .callback = (func)
#endif

#if defined(CONFIG_SKB_DECRYPTED) || defined(CONFIG_TLS_DEVICE)
#define LAB_DECRYPTED 1

static inline void lab_set_decrypted(struct sk_buff *skb)
{
	skb->decrypted = 1;
}

static inline bool lab_decrypted(const struct sk_buff *skb)
{
	return skb->decrypted;
}
#else
#define LAB_DECRYPTED 0

static inline void lab_set_decrypted(struct sk_buff *skb) { }

static inline bool lab_decrypted(const struct sk_buff *skb)
{
	return false;
}
#endif

/* How many hold it, who made it among them. */
static inline unsigned int lab_dst_refs(struct dst_entry *dst)
{
#if HAVE_DST_RCUREF
	return rcuref_read(&dst->__rcuref);
#else
	return atomic_read(&dst->__refcnt);
#endif
}

#endif /* _GRO_LAB_COMPAT_H */
