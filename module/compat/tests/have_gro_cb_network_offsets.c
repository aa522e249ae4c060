// SPDX-License-Identifier: GPL-2.0-only
/* 6.10 keeps outer and inner network offset in the control block. */
#include <net/gro.h>

int probe(struct sk_buff *skb);
int probe(struct sk_buff *skb)
{
	return NAPI_GRO_CB(skb)->network_offsets[1];
}
