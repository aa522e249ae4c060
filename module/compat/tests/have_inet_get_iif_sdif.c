// SPDX-License-Identifier: GPL-2.0-only
/* 6.5: GRO takes the device from skb->dev, not from what IP has in skb->cb. */
#include <net/gro.h>

void probe(const struct sk_buff *skb, int *iif, int *sdif);
void probe(const struct sk_buff *skb, int *iif, int *sdif)
{
	inet_get_iif_sdif(skb, iif, sdif);
	inet6_get_iif_sdif(skb, iif, sdif);
}
