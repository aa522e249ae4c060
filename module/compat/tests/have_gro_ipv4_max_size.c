// SPDX-License-Identifier: GPL-2.0-only
/* 6.3: IPv4 has a limit of its own. */
#include <linux/netdevice.h>

unsigned int probe(const struct net_device *dev);
unsigned int probe(const struct net_device *dev)
{
	return dev->gro_ipv4_max_size;
}
