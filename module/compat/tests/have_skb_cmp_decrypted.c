// SPDX-License-Identifier: GPL-2.0-only
/* 6.9: skb_cmp_decrypted() hides the config symbol of skb->decrypted. */
#include <linux/skbuff.h>

int probe(struct sk_buff *a, struct sk_buff *b);
int probe(struct sk_buff *a, struct sk_buff *b)
{
	return skb_cmp_decrypted(a, b);
}
