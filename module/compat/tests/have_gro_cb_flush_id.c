// SPDX-License-Identifier: GPL-2.0-only
/*
 * 6.1: IP-ID and TTL/TOS results travel from L3 to L4 in the held packet's
 * flush and flush_id, is_atomic tells fixed IDs. Gone in 6.10 (4b0ebbca3e16).
 */
#include <net/gro.h>

int probe(struct sk_buff *skb);
int probe(struct sk_buff *skb)
{
	return NAPI_GRO_CB(skb)->flush_id + NAPI_GRO_CB(skb)->is_atomic;
}
