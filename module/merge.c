// SPDX-License-Identifier: GPL-2.0-only
/* The less common ways to append a packet, out of line. */
#include <linux/mm.h>

#include "merge.h"

/* Payload starts in a page fragment head: the head becomes a frag itself. */
unsigned int gro_opt_take_head(struct skb_shared_info *info,
			       struct sk_buff *skb, unsigned int offset)
{
	const unsigned int truesize = SKB_DATA_ALIGN(sizeof(struct sk_buff));
	const unsigned int delta = skb->truesize - truesize;
	struct skb_shared_info *skbinfo = skb_shinfo(skb);
	struct page *page = virt_to_head_page(skb->head);
	skb_frag_t *to = info->frags + info->nr_frags;

	gro_opt_fill_frag(to, page,
			  skb->data - (u8 *)page_address(page) + offset,
			  skb_headlen(skb) - offset);
	memcpy(to + 1, skbinfo->frags, sizeof(*to) * skbinfo->nr_frags);
	info->nr_frags += 1 + skbinfo->nr_frags;

	skb->truesize = truesize;
	NAPI_GRO_CB(skb)->free = NAPI_GRO_FREE_STOLEN_HEAD;
	NAPI_GRO_CB(skb)->same_flow = 1;
	return delta;
}

/* No slot left, or a head that cannot be shared: chain the whole skb. */
unsigned int gro_opt_chain(struct sk_buff *p, struct sk_buff *skb,
			   unsigned int offset)
{
	const unsigned int headlen = skb_headlen(skb);

	skb->destructor = NULL;
	skb->sk = NULL;
	if (offset > headlen) {
		skb_frag_t *frag = &skb_shinfo(skb)->frags[0];
		unsigned int eat = offset - headlen;

		skb_frag_off_add(frag, eat);
		skb_frag_size_sub(frag, eat);
		skb->data_len -= eat;
		skb->len -= eat;
		offset = headlen;
	}
	__skb_pull(skb, offset);

	if (NAPI_GRO_CB(p)->last == p)
		skb_shinfo(p)->frag_list = skb;
	else
		NAPI_GRO_CB(p)->last->next = skb;
	NAPI_GRO_CB(p)->last = skb;
	__skb_header_release(skb);
	NAPI_GRO_CB(skb)->same_flow = 1;
	return skb->truesize;
}

/* A wrong checksum leaves the held packet of its flow alone, as in stock. */
struct sk_buff *gro_opt_bad_csum(struct sk_buff *skb,
				 enum gro_opt_feature_id id)
{
	gro_opt_count_at(id, bad_csum);
	gro_opt_count_at(id, passed);
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}
