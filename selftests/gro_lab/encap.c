// SPDX-License-Identifier: GPL-2.0-only
/*
 * A UDP socket whose GRO handler takes packets away, as that of ESP in UDP does
 * with what it decrypts: an odd first byte of payload is eaten. The others pass.
 * It asks for aggregates as well, and completes what was held before it came.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/net.h>
#include <net/gro.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>

#include "lab.h"

enum { LAB_ENCAP4, LAB_ENCAP6, LAB_ENCAPS };

static struct socket *lab_encaps[LAB_ENCAPS];
static struct sk_buff_head lab_eaten;

static struct sk_buff *lab_encap_receive(struct sock *sk,
					 struct list_head *head,
					 struct sk_buff *skb)
{
	unsigned int off = skb_gro_offset(skb);
	const u8 *first = skb_gro_header(skb, off + 1, off);

	if (!first || !(*first & 1)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	skb_queue_tail(&lab_eaten, skb);
	return ERR_PTR(-EINPROGRESS);
}

static int lab_encap_complete(struct sock *sk, struct sk_buff *skb, int nhoff)
{
	return 0;
}

/* Nothing gets as far: what leaves GRO is dropped at the device. */
static int lab_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

void lab_encap_purge(void)
{
	skb_queue_purge(&lab_eaten);
}

static int lab_encap_bind(struct socket *sock, int family, u16 port)
{
	struct sockaddr_in6 addr6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port),
	};
	struct sockaddr_in addr4 = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};

	if (family == AF_INET6) {
		sock->sk->sk_ipv6only = 1;
		return kernel_bind(sock, (void *)&addr6, sizeof(addr6));
	}
	return kernel_bind(sock, (void *)&addr4, sizeof(addr4));
}

/*
 * The tunnel module's functions are looked up, so that the lab can be loaded
 * without that module where nobody wants this.
 */
static int lab_encap_attach(struct socket *sock)
{
	typeof(setup_udp_tunnel_sock) *setup;
	struct udp_tunnel_sock_cfg cfg = {
		.encap_type = 1,
		.encap_rcv = lab_encap_rcv,
		.gro_receive = lab_encap_receive,
		.gro_complete = lab_encap_complete,
	};
	int one = 1;

	setup = symbol_get(setup_udp_tunnel_sock);
	if (!setup)
		return -EOPNOTSUPP;
	setup(&init_net, LAB_TUNNEL_SOCK(sock), &cfg);
	symbol_put(setup_udp_tunnel_sock);
	return sock->ops->setsockopt(sock, SOL_UDP, UDP_GRO,
				     KERNEL_SOCKPTR(&one), sizeof(one));
}

static int lab_encap_open(unsigned int which, u16 port)
{
	int family = which == LAB_ENCAP6 ? AF_INET6 : AF_INET;
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, family, SOCK_DGRAM, IPPROTO_UDP,
			       &sock);
	if (err)
		return err;
	err = lab_encap_bind(sock, family, port);
	if (!err)
		err = lab_encap_attach(sock);
	if (err) {
		sock_release(sock);
		return err;
	}
	lab_encaps[which] = sock;
	return 0;
}

static void lab_encap_close(unsigned int which)
{
	typeof(udp_tunnel_sock_release) *release;
	struct socket *sock = lab_encaps[which];

	if (!sock)
		return;
	lab_encaps[which] = NULL;
	/* There, or else this socket would not be. */
	release = symbol_get(udp_tunnel_sock_release);
	if (WARN_ON(!release))
		return;
	release(LAB_TUNNEL_SOCK(sock));
	symbol_put(udp_tunnel_sock_release);
}

/**
 * lab_encap_set - eat what comes for a UDP port
 * @port: the port, in host order; 0: no more
 *
 * Return: 0, -EOPNOTSUPP without the module udp_tunnel, or another error.
 */
int lab_encap_set(u16 port)
{
	unsigned int which;
	int err;

	for (which = 0; which < LAB_ENCAPS; which++)
		lab_encap_close(which);
	for (which = 0; port && which < LAB_ENCAPS; which++) {
		err = lab_encap_open(which, port);
		if (err)
			goto err_close;
	}
	return 0;

err_close:
	lab_encap_set(0);
	return err;
}

void lab_encap_init(void)
{
	skb_queue_head_init(&lab_eaten);
}

void lab_encap_exit(void)
{
	lab_encap_set(0);
	synchronize_net();
	lab_encap_purge();
}
