// SPDX-License-Identifier: GPL-2.0-only
/*
 * 6.10: skb_gro_may_pull() in place of skb_gro_header_hard(), and frag0 points
 * to the linear part where there is one, so it alone tells what is at hand.
 */
#include <net/gro.h>

bool probe(const struct sk_buff *skb);
bool probe(const struct sk_buff *skb)
{
	return skb_gro_may_pull(skb, 40);
}
