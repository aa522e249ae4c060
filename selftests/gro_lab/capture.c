// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes down the skbs that leave GRO.
 *
 * An rx_handler sees them late: by then the network header has been reset and
 * a VLAN tag moved out of the data. The tracepoint netif_receive_skb is the
 * first thing that happens after GRO, so that is where records are made.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "lab.h"

static DEFINE_SPINLOCK(lab_capture_lock);
static struct tracepoint *lab_tracepoint;
static bool lab_capturing;

/* --- room for records ----------------------------------------------------- */

/* At most this much for @frames, whatever GRO does to them. */
static size_t lab_result_bound(size_t frames, size_t members, size_t bytes)
{
	/*
	 * GRO may add a jumbo header to an aggregate; held skbs of earlier
	 * batches may have members too.
	 */
	return frames * (sizeof(struct gro_lab_skb) + 64) + bytes +
	       (frames + members) * sizeof(struct gro_lab_member);
}

struct lab_result *lab_result_alloc(const struct lab_batch *batch,
				    const struct lab_dev *lab)
{
	size_t frames = batch->head.frames + lab->held_frames;
	size_t bytes = batch->nr_bytes + lab->held_bytes;
	struct lab_result *result;

	result = kzalloc(sizeof(*result), GFP_KERNEL);
	if (!result)
		return NULL;
	result->used = sizeof(struct gro_lab_result) +
		       round_up(batch->head.frames, 8);
	result->size = result->used;
	if (!(batch->head.flags & GRO_LAB_B_NO_CAPTURE))
		result->size += lab_result_bound(frames, batch->nr_members,
						 bytes);
	result->buf = kvzalloc(result->size, GFP_KERNEL);
	if (!result->buf) {
		kfree(result);
		return NULL;
	}
	return result;
}

void lab_result_free(struct lab_result *result)
{
	if (!result)
		return;
	kvfree(result->buf);
	kfree(result);
}

void lab_result_finish(struct lab_result *result, const struct lab_job *job,
		       const struct lab_dev *lab)
{
	struct gro_lab_result *head = (void *)result->buf;

	head->version = GRO_LAB_VERSION;
	head->frames = job->batch->head.frames;
	head->skbs = result->skbs;
	head->lost = result->lost;
	head->held = lab->held_frames;
	head->size = result->used;
}

/* --- a record ------------------------------------------------------------- */

static u8 lab_csum(const struct sk_buff *skb)
{
	switch (skb->ip_summed) {
	case CHECKSUM_UNNECESSARY:
		return GRO_LAB_CSUM_UNNECESSARY;
	case CHECKSUM_COMPLETE:
		return GRO_LAB_CSUM_COMPLETE;
	case CHECKSUM_PARTIAL:
		return GRO_LAB_CSUM_PARTIAL;
	}
	return GRO_LAB_CSUM_NONE;
}

static u32 lab_gso_type(const struct sk_buff *skb)
{
	u32 type = skb_shinfo(skb)->gso_type;

	if (!(type & SKB_GSO_TCP_FIXEDID))
		return type;
	return (type & ~SKB_GSO_TCP_FIXEDID) | GRO_LAB_GSO_TCP_FIXEDID;
}

static unsigned int lab_count_members(const struct sk_buff *skb)
{
	const struct sk_buff *member;
	unsigned int count = 0;

	skb_walk_frags(skb, member)
		count++;
	return count;
}

static void lab_record_sizes(struct gro_lab_skb *rec,
			     const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);
	unsigned int i;

	rec->len = skb->len;
	rec->data_len = skb->data_len;
	rec->truesize = skb->truesize;
	rec->headroom = skb_headroom(skb);
	rec->gso_size = shinfo->gso_size;
	rec->gso_segs = shinfo->gso_segs;
	rec->gso_type = lab_gso_type(skb);
	rec->shinfo_flags = shinfo->flags;
	rec->nr_frags = shinfo->nr_frags;
	for (i = 0; i < shinfo->nr_frags && i < GRO_LAB_MAX_FRAGS; i++)
		rec->frag_len[i] = skb_frag_size(&shinfo->frags[i]);
}

static void lab_record_meta(struct gro_lab_skb *rec, const struct sk_buff *skb)
{
	struct lab_dev *lab = netdev_priv(skb->dev);

	rec->protocol = ntohs(skb->protocol);
	rec->dev = lab->id;
	rec->hash = skb_get_hash_raw(skb);
	rec->l4_hash = skb->l4_hash;
	rec->sw_hash = skb->sw_hash;
	rec->ip_summed = lab_csum(skb);
	rec->csum_level = skb->csum_level;
	rec->csum_valid = skb->csum_valid;
	rec->csum = (__force u32)skb->csum;
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		rec->csum = 0;
		rec->csum_start = skb_checksum_start_offset(skb);
		rec->csum_offset = skb->csum_offset;
	}
	rec->vlan_present = skb_vlan_tag_present(skb);
	if (rec->vlan_present) {
		rec->vlan_proto = ntohs(skb->vlan_proto);
		rec->vlan_tci = skb_vlan_tag_get(skb);
	}
	rec->encapsulation = skb->encapsulation;
	rec->pkt_type = skb->pkt_type;
	rec->head_frag = skb->head_frag;
	rec->pp_recycle = skb->pp_recycle;
	rec->decrypted = lab_decrypted(skb);
	rec->remcsum = skb->remcsum_offload;
	rec->inner_protocol = ntohs(skb->inner_protocol);
	rec->queue = skb->queue_mapping;
	lab_record_metas(rec, skb);
}

static s32 lab_inner_offset(const struct sk_buff *skb, u16 header)
{
	return header ? header - (s32)skb_headroom(skb) : GRO_LAB_UNSET;
}

static void lab_record_headers(struct gro_lab_skb *rec,
			       const struct sk_buff *skb)
{
	rec->mac_len = skb->mac_len;
	rec->mac_header = skb_mac_offset(skb);
	rec->network_header = skb_network_offset(skb);
	rec->transport_header = skb_transport_header_was_set(skb) ?
				skb_transport_offset(skb) : GRO_LAB_UNSET;
	rec->inner_mac_header = lab_inner_offset(skb, skb->inner_mac_header);
	rec->inner_network_header =
		lab_inner_offset(skb, skb->inner_network_header);
	rec->inner_transport_header =
		lab_inner_offset(skb, skb->inner_transport_header);
}

static s16 lab_member_offset(const struct sk_buff *skb, u16 header)
{
	return header == (typeof(skb->transport_header))~0U ?
	       GRO_LAB_UNSET16 : header - (s32)skb_headroom(skb);
}

/* A chained packet keeps its headers, in front of its data. */
static void lab_record_member_headers(struct gro_lab_member *rec,
				      const struct sk_buff *skb)
{
	rec->mac_header = lab_member_offset(skb, skb->mac_header);
	rec->network_header = lab_member_offset(skb, skb->network_header);
	rec->transport_header = lab_member_offset(skb, skb->transport_header);
	if (skb_mac_header_was_set(skb) && rec->mac_header < 0)
		rec->headers_sum = jhash(skb_mac_header(skb), -rec->mac_header,
					 0);
}

static void lab_record_members(struct gro_lab_member *rec,
			       const struct sk_buff *skb)
{
	const struct sk_buff *member;

	skb_walk_frags(skb, member) {
		rec->len = member->len;
		rec->data_len = member->data_len;
		rec->truesize = member->truesize;
		rec->nr_frags = skb_shinfo(member)->nr_frags;
		rec->head_frag = member->head_frag;
		rec->pp_recycle = member->pp_recycle;
		rec->ip_summed = lab_csum(member);
		rec->csum_level = member->csum_level;
		rec->nohdr = member->nohdr;
		lab_record_member_headers(rec, member);
		rec++;
	}
}

static void lab_record(struct lab_result *result, const struct sk_buff *skb)
{
	struct gro_lab_skb *rec = (void *)(result->buf + result->used);
	unsigned int mac_len = skb->data - skb_mac_header(skb);
	unsigned int members = lab_count_members(skb);
	unsigned int bytes = mac_len + skb->len;
	size_t size = sizeof(*rec) + round_up(bytes, 8) +
		      members * sizeof(struct gro_lab_member);
	u8 *to;

	if (size > result->size - result->used) {
		result->lost++;
		return;
	}
	rec->size = size;
	rec->bytes = bytes;
	rec->nr_members = members;
	lab_record_sizes(rec, skb);
	lab_record_meta(rec, skb);
	lab_record_headers(rec, skb);
	lab_record_members((void *)(rec + 1), skb);
	to = (u8 *)(rec + 1) + members * sizeof(struct gro_lab_member);
	if (skb_copy_bits(skb, -(int)mac_len, to, bytes))
		result->lost++;
	result->used += size;
	result->skbs++;
}

/* --- where GRO ends ------------------------------------------------------- */

static void lab_netif_receive_skb(void *data, struct sk_buff *skb)
{
	struct lab_job *job = lab_current_job();
	unsigned long flags;
	unsigned int i;

	if (!job || !job->result)
		return;
	for (i = 0; i < lab_nr_devs; i++)
		if (lab_devs[i]->netdev == skb->dev)
			break;
	if (i == lab_nr_devs && !lab_is_raw(skb->dev))
		return;
	/* A timer may have another lab's NAPI poll meanwhile. */
	spin_lock_irqsave(&lab_capture_lock, flags);
	lab_record(job->result, skb);
	spin_unlock_irqrestore(&lab_capture_lock, flags);
}

static void lab_find_tracepoint(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "netif_receive_skb"))
		lab_tracepoint = tp;
}

bool lab_capture_exact(void)
{
	if (!lab_tracepoint)
		for_each_kernel_tracepoint(lab_find_tracepoint, NULL);
	return lab_tracepoint;
}

/* The probe costs, so it is not there while a bench runs. */
int lab_capture_on(void)
{
	int err;

	if (lab_capturing)
		return 0;
	if (!lab_capture_exact())
		return -EOPNOTSUPP;
	err = tracepoint_probe_register(lab_tracepoint, lab_netif_receive_skb,
					NULL);
	if (err)
		return err;
	lab_capturing = true;
	return 0;
}

void lab_capture_off(void)
{
	if (!lab_capturing)
		return;
	tracepoint_probe_unregister(lab_tracepoint, lab_netif_receive_skb,
				    NULL);
	tracepoint_synchronize_unregister();
	lab_capturing = false;
}
