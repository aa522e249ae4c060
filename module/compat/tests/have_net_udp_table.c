// SPDX-License-Identifier: GPL-2.0-only
/* 6.2: a network namespace may have a table of its own. */
#include <net/net_namespace.h>
#include <net/udp.h>

struct udp_table *probe(struct net *net);
struct udp_table *probe(struct net *net)
{
	return net->ipv4.udp_table;
}
