// SPDX-License-Identifier: GPL-2.0-only
/* Makes skbs of frames and their descriptors. */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/checksum.h>

#include "lab.h"

#define LAB_PAGES_ORDER		3
#define LAB_PAGES_SIZE		(PAGE_SIZE << LAB_PAGES_ORDER)
#define LAB_HEADROOM		(NET_SKB_PAD + NET_IP_ALIGN)
#define LAB_TAILROOM		128

/* How a frame is cut up, after defaults are filled in. */
struct lab_layout {
	unsigned int headroom;
	unsigned int tailroom;
	unsigned int linear;
	unsigned int nr_frags;
	unsigned int frag_len[MAX_SKB_FRAGS];
};

static void lab_zc_complete(struct sk_buff *skb, struct ubuf_info *uarg,
			    bool success)
{
	refcount_dec(&uarg->refcnt);
}

/* Owner of all zero-copy skbs: GRO looks at who has one, never at whom. */
static struct ubuf_info lab_zc = {
	LAB_UBUF_COMPLETE(lab_zc_complete),
	.refcnt = REFCOUNT_INIT(1),
	.flags = SKBFL_ZEROCOPY_FRAG,
};

void lab_build_exit(void)
{
	/* skbs that were delivered may still sit somewhere in the stack */
	while (refcount_read(&lab_zc.refcnt) > 1)
		msleep(20);
	synchronize_net();
}

/* --- pages ---------------------------------------------------------------- */

static struct page *lab_pages_grow(struct lab_pages *pages)
{
	unsigned int max = max(64U, 2 * pages->max);
	struct page **array, *page;

	if (pages->nr == pages->max) {
		array = krealloc_array(pages->page, max, sizeof(*array),
				       GFP_KERNEL);
		if (!array)
			return NULL;
		pages->page = array;
		pages->max = max;
	}
	page = alloc_pages(GFP_KERNEL | __GFP_COMP, LAB_PAGES_ORDER);
	if (!page)
		return NULL;
	pages->page[pages->nr++] = page;
	pages->used = 0;
	return page;
}

/* Cuts @len bytes off, with a reference to the page for them. */
static struct page *lab_pages_cut(struct lab_pages *pages, unsigned int len,
				  unsigned int *off)
{
	struct page *page;

	len = SKB_DATA_ALIGN(len);
	if (!pages->nr || pages->used + len > LAB_PAGES_SIZE)
		page = lab_pages_grow(pages);
	else
		page = pages->page[pages->nr - 1];
	if (!page)
		return NULL;
	*off = pages->used;
	pages->used += len;
	get_page(page);
	return page;
}

void lab_pages_free(struct lab_pages *pages)
{
	while (pages->nr)
		put_page(pages->page[--pages->nr]);
	kfree(pages->page);
	memset(pages, 0, sizeof(*pages));
}

static struct page *lab_pool_page(const struct gro_lab_frame *frame)
{
	struct page *page;

	local_bh_disable();
	page = page_pool_dev_alloc_pages(lab_devs[frame->dev]->pool);
	local_bh_enable();
	return page;
}

/* --- the layout ----------------------------------------------------------- */

static unsigned int lab_max_frag(const struct gro_lab_frame *frame)
{
	return frame->head == GRO_LAB_HEAD_POOL ? PAGE_SIZE :
						  GRO_LAB_MAX_FRAG_LEN;
}

static unsigned int lab_head_size(const struct lab_layout *lay)
{
	return SKB_DATA_ALIGN(lay->headroom + lay->linear + lay->tailroom) +
	       SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
}

/* As few frags as possible for @rest bytes. */
static bool lab_layout_auto(struct lab_layout *lay, unsigned int rest,
			    unsigned int max)
{
	for (lay->nr_frags = 0; rest; lay->nr_frags++) {
		if (lay->nr_frags == MAX_SKB_FRAGS)
			return false;
		lay->frag_len[lay->nr_frags] = min(rest, max);
		rest -= lay->frag_len[lay->nr_frags];
	}
	return true;
}

static bool lab_layout_given(struct lab_layout *lay,
			     const struct gro_lab_frame *frame,
			     unsigned int rest, unsigned int max)
{
	if (frame->nr_frags > min_t(unsigned int, MAX_SKB_FRAGS,
				    GRO_LAB_MAX_FRAGS))
		return false;
	for (lay->nr_frags = 0; lay->nr_frags < frame->nr_frags;
	     lay->nr_frags++) {
		unsigned int len = frame->frag_len[lay->nr_frags];

		if (!len || len > max || len > rest)
			return false;
		lay->frag_len[lay->nr_frags] = len;
		rest -= len;
	}
	return !rest;
}

static bool lab_layout(struct lab_layout *lay,
		       const struct gro_lab_frame *frame)
{
	unsigned int max = lab_max_frag(frame);
	unsigned int rest;

	lay->headroom = frame->flags & GRO_LAB_F_HEADROOM ? frame->headroom :
							    LAB_HEADROOM;
	lay->tailroom = frame->flags & GRO_LAB_F_TAILROOM ? frame->tailroom :
							    LAB_TAILROOM;
	lay->linear = min(frame->linear, frame->len);
	rest = frame->len - lay->linear;
	if (frame->nr_members &&
	    (!frame->member_len || frame->member_len > rest / frame->nr_members))
		return false;
	rest -= frame->nr_members * frame->member_len;
	if (frame->nr_frags)
		return lab_layout_given(lay, frame, rest, max);
	return lab_layout_auto(lay, rest, max);
}

/* --- what user space may ask for ------------------------------------------ */

static bool lab_sizes_ok(const struct gro_lab_batch *head,
			 const struct gro_lab_frame *frame)
{
	bool frags = head->flags & GRO_LAB_B_FRAGS;
	struct lab_layout lay;

	if (frame->len < ETH_HLEN || frame->len > GRO_LAB_MAX_FRAME ||
	    frame->headroom > GRO_LAB_MAX_ROOM ||
	    frame->tailroom > GRO_LAB_MAX_ROOM ||
	    frame->nr_members > GRO_LAB_MAX_MEMBERS)
		return false;
	/* Either driver interface wants the Ethernet header in one place. */
	if (frags ? frame->linear || frame->nr_members :
		    frame->linear < ETH_HLEN)
		return false;
	if (!lab_layout(&lay, frame))
		return false;
	if (frags && lay.frag_len[0] < ETH_HLEN)
		return false;
	switch (frame->head) {
	case GRO_LAB_HEAD_FRAG:
		return lab_head_size(&lay) <= LAB_PAGES_SIZE;
	case GRO_LAB_HEAD_POOL:
		return lab_head_size(&lay) <= PAGE_SIZE &&
		       lab_devs[frame->dev]->pool;
	}
	return true;
}

static bool lab_fields_ok(const struct gro_lab_frame *frame)
{
	unsigned int csum_end = frame->csum_start + frame->csum_offset +
				sizeof(__sum16);

	if (frame->ip_summed == GRO_LAB_CSUM_PARTIAL &&
	    (frame->csum_start < ETH_HLEN || csum_end > frame->len))
		return false;
	return frame->head < GRO_LAB_HEADS &&
	       frame->ip_summed < GRO_LAB_CSUMS &&
	       frame->csum_level <= SKB_MAX_CSUM_LEVEL &&
	       frame->hash_type < GRO_LAB_HASHES &&
	       frame->transport <= frame->len &&
	       frame->inner_mac <= frame->len &&
	       frame->inner_network <= frame->len &&
	       frame->inner_transport <= frame->len &&
	       (!(frame->flags & GRO_LAB_F_VLAN) ||
		eth_type_vlan(htons(frame->vlan_proto)));
}

int lab_frame_check(const struct lab_batch *batch,
		    const struct gro_lab_frame *frame)
{
	if (frame->flags & ~GRO_LAB_F_ALL || frame->dev >= lab_nr_devs ||
	    frame->pad || memchr_inv(frame->resv, 0, sizeof(frame->resv)))
		return -EINVAL;
	if ((frame->flags & GRO_LAB_F_DECRYPTED && !LAB_DECRYPTED) ||
	    (frame->ct && !IS_ENABLED(CONFIG_NF_CONNTRACK)) ||
	    (frame->tc && !IS_ENABLED(CONFIG_NET_TC_SKB_EXT)))
		return -EOPNOTSUPP;
	if (!lab_fields_ok(frame) || !lab_meta_ok(&batch->head, frame) ||
	    !lab_raw_ok(&batch->head, frame) ||
	    !lab_sizes_ok(&batch->head, frame))
		return -EINVAL;
	return 0;
}

/* --- metadata ------------------------------------------------------------- */

static void lab_set_csum(struct sk_buff *skb, const struct gro_lab_frame *frame,
			 const u8 *bytes)
{
	switch (frame->ip_summed) {
	case GRO_LAB_CSUM_NONE:
		skb->ip_summed = CHECKSUM_NONE;
		break;
	case GRO_LAB_CSUM_UNNECESSARY:
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = frame->csum_level;
		break;
	case GRO_LAB_CSUM_COMPLETE:
		skb->ip_summed = CHECKSUM_COMPLETE;
		if (frame->flags & GRO_LAB_F_CSUM)
			skb->csum = (__force __wsum)frame->csum;
		else
			skb->csum = csum_partial(bytes + ETH_HLEN,
						 frame->len - ETH_HLEN, 0);
		break;
	case GRO_LAB_CSUM_PARTIAL:
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) + frame->csum_start;
		skb->csum_offset = frame->csum_offset;
		break;
	}
}

static void lab_set_gso(struct sk_buff *skb, const struct gro_lab_frame *frame)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	shinfo->gso_size = frame->gso_size;
	shinfo->gso_segs = frame->gso_segs;
	shinfo->gso_type = frame->gso_type & ~GRO_LAB_GSO_TCP_FIXEDID;
	if (frame->gso_type & GRO_LAB_GSO_TCP_FIXEDID)
		shinfo->gso_type |= SKB_GSO_TCP_FIXEDID;
}

static void lab_set_headers(struct sk_buff *skb,
			    const struct gro_lab_frame *frame)
{
	if (frame->transport)
		skb_set_transport_header(skb, frame->transport);
	if (frame->inner_mac)
		skb_set_inner_mac_header(skb, frame->inner_mac);
	if (frame->inner_network)
		skb_set_inner_network_header(skb, frame->inner_network);
	if (frame->inner_transport)
		skb_set_inner_transport_header(skb, frame->inner_transport);
}

static void lab_set_flags(struct sk_buff *skb,
			  const struct gro_lab_frame *frame)
{
	if (frame->flags & GRO_LAB_F_VLAN)
		__vlan_hwaccel_put_tag(skb, htons(frame->vlan_proto),
				       frame->vlan_tci);
	if (frame->flags & GRO_LAB_F_ENCAP)
		skb->encapsulation = 1;
	if (frame->flags & GRO_LAB_F_DECRYPTED)
		lab_set_decrypted(skb);
	if (frame->flags & GRO_LAB_F_ZEROCOPY)
		skb_zcopy_set(skb, &lab_zc, NULL);
	if (frame->flags & GRO_LAB_F_SHARED_FRAG)
		skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
}

/* skb->data has to be at the start of the frame. */
static bool lab_set_meta(struct sk_buff *skb, const struct gro_lab_frame *frame,
			 const u8 *bytes)
{
	static const enum pkt_hash_types types[GRO_LAB_HASHES] = {
		[GRO_LAB_HASH_L2] = PKT_HASH_TYPE_L2,
		[GRO_LAB_HASH_L3] = PKT_HASH_TYPE_L3,
		[GRO_LAB_HASH_L4] = PKT_HASH_TYPE_L4,
	};

	skb->dev = lab_devs[frame->dev]->netdev;
	if (frame->hash)
		skb_set_hash(skb, frame->hash, types[frame->hash_type]);
	lab_set_csum(skb, frame, bytes);
	lab_set_gso(skb, frame);
	lab_set_headers(skb, frame);
	lab_set_flags(skb, frame);
	return lab_set_metas(skb, frame);
}

/* --- bytes ---------------------------------------------------------------- */

static struct sk_buff *lab_head_frag(struct lab_pages *pages,
				     const struct lab_layout *lay)
{
	unsigned int size = lab_head_size(lay);
	struct sk_buff *skb;
	struct page *page;
	unsigned int off;

	page = lab_pages_cut(pages, size, &off);
	if (!page)
		return NULL;
	skb = build_skb(page_address(page) + off, size);
	if (!skb)
		put_page(page);
	return skb;
}

static struct sk_buff *lab_head_pool(const struct gro_lab_frame *frame,
				     const struct lab_layout *lay)
{
	struct page *page = lab_pool_page(frame);
	struct sk_buff *skb;

	if (!page)
		return NULL;
	skb = build_skb(page_address(page), lab_head_size(lay));
	if (!skb)
		page_pool_put_full_page(lab_devs[frame->dev]->pool, page,
					false);
	else
		skb_mark_for_recycle(skb);
	return skb;
}

static struct sk_buff *lab_head(struct lab_pages *pages,
				const struct gro_lab_frame *frame,
				const struct lab_layout *lay)
{
	struct sk_buff *skb;

	switch (frame->head) {
	case GRO_LAB_HEAD_FRAG:
		skb = lab_head_frag(pages, lay);
		break;
	case GRO_LAB_HEAD_POOL:
		skb = lab_head_pool(frame, lay);
		break;
	default:
		skb = alloc_skb(lay->headroom + lay->linear + lay->tailroom,
				GFP_KERNEL);
		break;
	}
	if (skb)
		skb_reserve(skb, lay->headroom);
	return skb;
}

static bool lab_add_frags(struct lab_pages *pages, struct sk_buff *skb,
			  const struct gro_lab_frame *frame,
			  const struct lab_layout *lay, const u8 *bytes)
{
	unsigned int i, len, off;
	struct page *page;

	for (i = 0; i < lay->nr_frags; i++, bytes += len) {
		len = lay->frag_len[i];
		off = 0;
		page = frame->head == GRO_LAB_HEAD_POOL ?
		       lab_pool_page(frame) : lab_pages_cut(pages, len, &off);
		if (!page)
			return false;
		memcpy(page_address(page) + off, bytes, len);
		skb_add_rx_frag(skb, i, page, off, len,
				frame->frag_truesize ?: SKB_DATA_ALIGN(len));
	}
	return true;
}

static bool lab_add_members(struct sk_buff *skb,
			    const struct gro_lab_frame *frame, const u8 *bytes)
{
	struct sk_buff **tail = &skb_shinfo(skb)->frag_list;
	unsigned int i, len = frame->member_len;

	for (i = 0; i < frame->nr_members; i++, bytes += len) {
		struct sk_buff *member = alloc_skb(len, GFP_KERNEL);

		if (!member)
			return false;
		skb_put_data(member, bytes, len);
		*tail = member;
		tail = &member->next;
		skb->len += len;
		skb->data_len += len;
		skb->truesize += member->truesize;
	}
	return true;
}

/**
 * lab_build - make the skb of a frame
 * @pages: where heads and frags come from
 * @head: the batch's
 * @frame: the descriptor, checked
 * @bytes: the frame
 *
 * May sleep. What is to go through napi_gro_frags() comes as an skb without
 * metadata, for lab_build_frags().
 *
 * Return: the skb, as a driver has it before napi_gro_receive(), or NULL.
 */
struct sk_buff *lab_build(struct lab_pages *pages,
			  const struct gro_lab_batch *head,
			  const struct gro_lab_frame *frame, const u8 *bytes)
{
	struct lab_layout lay;
	const u8 *members;
	struct sk_buff *skb;

	if (!lab_layout(&lay, frame))
		return NULL;
	skb = lab_head(pages, frame, &lay);
	if (!skb)
		return NULL;
	members = bytes + frame->len - frame->nr_members * frame->member_len;
	skb_put_data(skb, bytes, lay.linear);
	if (!lab_add_frags(pages, skb, frame, &lay, bytes + lay.linear) ||
	    !lab_add_members(skb, frame, members))
		goto err_free;
	if (head->flags & GRO_LAB_B_FRAGS)
		return skb;
	if (!lab_set_meta(skb, frame, bytes))
		goto err_free;
	if (frame->flags & GRO_LAB_F_RAW)
		lab_make_raw(skb);
	else
		skb->protocol = eth_type_trans(skb, skb->dev);
	return skb;

err_free:
	kfree_skb(skb);
	return NULL;
}

/*
 * Gives what @from has to the skb that napi_gro_frags() will take, which is a
 * used one at times and then only as clean as napi_reuse_skb() makes it.
 */
bool lab_build_frags(struct napi_struct *napi, struct sk_buff *from,
		     const struct gro_lab_frame *frame, const u8 *bytes)
{
	struct skb_shared_info *shinfo, *other = skb_shinfo(from);
	struct sk_buff *skb = napi_get_frags(napi);

	if (!skb)
		return false;
	/* What napi_reuse_skb() leaves, as no driver has one here. */
	skb_dst_drop(skb);
	shinfo = skb_shinfo(skb);
	memcpy(shinfo->frags, other->frags,
	       other->nr_frags * sizeof(shinfo->frags[0]));
	shinfo->nr_frags = other->nr_frags;
	shinfo->flags = 0;
	other->nr_frags = 0;
	skb->pp_recycle = from->pp_recycle;
	skb->len = from->len;
	skb->data_len = from->data_len;
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb)) + from->truesize -
			SKB_TRUESIZE(skb_end_offset(from));
	from->len = 0;
	from->data_len = 0;
	skb_clear_hash(skb);
	return lab_set_meta(skb, frame, bytes);
}
