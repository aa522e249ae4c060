// SPDX-License-Identifier: GPL-2.0-only
/* Behind CONFIG_TLS_DEVICE, from 6.9 on behind CONFIG_SKB_DECRYPTED. */
#include <linux/skbuff.h>

bool probe(const struct sk_buff *a, const struct sk_buff *b);
bool probe(const struct sk_buff *a, const struct sk_buff *b)
{
	return a->decrypted != b->decrypted;
}
