// SPDX-License-Identifier: GPL-2.0-only
/* 6.10 replaced is_atomic with ip_fixedid, which is proven, not assumed. */
#include <net/gro.h>

int probe(struct sk_buff *skb);
int probe(struct sk_buff *skb)
{
	return NAPI_GRO_CB(skb)->ip_fixedid;
}
