// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an skb may carry besides the packet, at which GRO looks only if slow_gro
 * says that there is any: a dst, a socket, a connection, tc's extension. Two of
 * each are enough to tell equal from different.
 */
#include <linux/delay.h>
#include <linux/net.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <net/dst_metadata.h>
#include <net/pkt_cls.h>
#include <net/sock.h>

#include "lab.h"

static struct metadata_dst *lab_dsts[GRO_LAB_METAS];
static struct socket *lab_socks[GRO_LAB_METAS];

/*
 * Nobody but GRO sees them (lab_meta_ok()), so they need be no connections. The
 * low bits of a pointer to one are the packet's direction.
 */
static struct {
	struct nf_conntrack ct;
} __aligned(8) lab_cts[GRO_LAB_METAS];

bool lab_meta_ok(const struct gro_lab_batch *head,
		 const struct gro_lab_frame *frame)
{
	if (frame->dst > GRO_LAB_METAS || frame->sk > GRO_LAB_METAS ||
	    frame->ct > GRO_LAB_METAS || frame->tc > GRO_LAB_METAS)
		return false;
	/* The stack would take them for real. */
	return !(head->flags & GRO_LAB_B_DELIVER) ||
	       !(frame->dst || frame->sk || frame->ct || frame->tc);
}

static void lab_set_ct(struct sk_buff *skb, unsigned int id)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	struct nf_conntrack *ct = &lab_cts[id - 1].ct;

	refcount_inc(&ct->use);
	skb_set_nfct(skb, (unsigned long)ct | IP_CT_ESTABLISHED);
#endif
}

static bool lab_set_tc(struct sk_buff *skb, unsigned int id)
{
#if IS_ENABLED(CONFIG_NET_TC_SKB_EXT)
	struct tc_skb_ext *ext = skb_ext_add(skb, TC_SKB_EXT);

	if (!ext)
		return false;
	memset(ext, 0, sizeof(*ext));
	ext->chain = id;
#endif
	return true;
}

/* Last of all, as a socket is charged what the skb is worth by then. */
bool lab_set_metas(struct sk_buff *skb, const struct gro_lab_frame *frame)
{
	if (frame->tc && !lab_set_tc(skb, frame->tc))
		return false;
	if (frame->dst) {
		struct dst_entry *dst = &lab_dsts[frame->dst - 1]->dst;

		skb_dst_set(skb, dst_clone(dst));
	}
	if (frame->ct)
		lab_set_ct(skb, frame->ct);
	if (frame->sk) {
		skb_set_owner_w(skb, lab_socks[frame->sk - 1]->sk);
		skb->slow_gro = 1;
	}
	return true;
}

static unsigned int lab_ct_id(const struct sk_buff *skb)
{
	const void *ct = (void *)(skb_get_nfct(skb) & ~7UL);
	unsigned int i;

	for (i = 0; i < GRO_LAB_METAS; i++)
		if (ct == &lab_cts[i])
			return i + 1;
	return ct ? GRO_LAB_META_OTHER : 0;
}

static unsigned int lab_dst_id(const struct sk_buff *skb)
{
	unsigned int i;

	for (i = 0; i < GRO_LAB_METAS; i++)
		if (skb_dst(skb) == &lab_dsts[i]->dst)
			return i + 1;
	return skb_dst(skb) ? GRO_LAB_META_OTHER : 0;
}

static unsigned int lab_sk_id(const struct sk_buff *skb)
{
	unsigned int i;

	for (i = 0; i < GRO_LAB_METAS; i++)
		if (skb->sk == lab_socks[i]->sk)
			return i + 1;
	return skb->sk ? GRO_LAB_META_OTHER : 0;
}

static unsigned int lab_tc_id(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NET_TC_SKB_EXT)
	const struct tc_skb_ext *ext = skb_ext_find(skb, TC_SKB_EXT);

	return ext ? ext->chain : 0;
#else
	return 0;
#endif
}

void lab_record_metas(struct gro_lab_skb *rec, const struct sk_buff *skb)
{
	rec->dst = lab_dst_id(skb);
	rec->sk = lab_sk_id(skb);
	rec->ct = lab_ct_id(skb);
	rec->tc = lab_tc_id(skb);
	rec->slow_gro = skb->slow_gro;
}

static int lab_meta_make(unsigned int id)
{
	refcount_set(&lab_cts[id].ct.use, 1);
	lab_dsts[id] = metadata_dst_alloc(0, METADATA_HW_PORT_MUX, GFP_KERNEL);
	if (!lab_dsts[id])
		return -ENOMEM;
	lab_dsts[id]->u.port_info.port_id = id + 1;
	return sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
				&lab_socks[id]);
}

int lab_meta_init(void)
{
	unsigned int id;
	int err;

	for (id = 0; id < GRO_LAB_METAS; id++) {
		err = lab_meta_make(id);
		if (err) {
			lab_meta_exit();
			return err;
		}
	}
	return 0;
}

/* Who merges or frees an skb may lose its dst: nobody else would notice. */
static void lab_dst_exit(struct dst_entry *dst)
{
	unsigned int tries = 250;

	while (lab_dst_refs(dst) > 1 && tries--)
		msleep(20);
	WARN(lab_dst_refs(dst) != 1, "gro_lab: a dst has %u references left",
	     lab_dst_refs(dst));
	dst_release(dst);
}

/* No NAPI holds an skb any more. */
void lab_meta_exit(void)
{
	unsigned int id;

	for (id = 0; id < GRO_LAB_METAS; id++) {
		while (refcount_read(&lab_cts[id].ct.use) > 1)
			msleep(20);
		if (lab_socks[id])
			sock_release(lab_socks[id]);
		if (lab_dsts[id])
			lab_dst_exit(&lab_dsts[id]->dst);
	}
}
