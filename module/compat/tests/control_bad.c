// SPDX-License-Identifier: GPL-2.0-only
/* Must not compile: proves that a missing thing is seen. */
#include <linux/netdevice.h>
#include <net/gro.h>

int probe(struct sk_buff *skb);
int probe(struct sk_buff *skb)
{
	return gro_opt_no_such_function(skb);
}
