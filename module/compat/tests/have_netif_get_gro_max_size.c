// SPDX-License-Identifier: GPL-2.0-only
/* 6.3: IPv4 has a limit of its own (gro_ipv4_max_size). */
#include <linux/netdevice.h>
#include <net/gro.h>

unsigned int probe(const struct sk_buff *skb);
unsigned int probe(const struct sk_buff *skb)
{
	return netif_get_gro_max_size(skb->dev, skb);
}
