// SPDX-License-Identifier: GPL-2.0-only
/* UDP tunnels are set up with a socket's struct sock since 7.1. */
#include <net/udp_tunnel.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	udp_tunnel_sock_release(sk);
}
