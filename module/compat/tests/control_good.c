// SPDX-License-Identifier: GPL-2.0-only
/* Must compile: proves that compiler, flags and headers work. */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/gro.h>

unsigned int probe(const struct sk_buff *skb);
unsigned int probe(const struct sk_buff *skb)
{
	return skb_gro_offset(skb);
}
