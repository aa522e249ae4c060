// SPDX-License-Identifier: GPL-2.0-only
/* Up to 7.0 the lookup is told which table to search. */
#include <net/udp.h>

struct sock *probe(struct net *net, struct udp_table *table);
struct sock *probe(struct net *net, struct udp_table *table)
{
	return __udp4_lib_lookup(net, 0, 0, 0, 0, 0, 0, table, NULL);
}
