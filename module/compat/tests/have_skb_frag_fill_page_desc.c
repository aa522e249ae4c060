// SPDX-License-Identifier: GPL-2.0-only
/* 6.4: skb_frag_fill_page_desc() in place of three setters. */
#include <linux/skbuff.h>

void probe(skb_frag_t *frag, struct page *page);
void probe(skb_frag_t *frag, struct page *page)
{
	skb_frag_fill_page_desc(frag, page, 0, 1);
}
