// SPDX-License-Identifier: GPL-2.0-only
/* 6.16: a network namespace knows its tunnel's socket if it is the only one. */
#include <net/udp.h>

struct sock *probe(const struct net *net);
struct sock *probe(const struct net *net)
{
	return udp_tunnel_sk(net, true);
}
