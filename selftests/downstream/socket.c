// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets that take the streams. TCP's are put into their state by TCP_REPAIR,
 * so that each segment that arrives, and nothing else, is the stream's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "downstream.h"

#define PORT		5000
#define FLOWS_MAX	64

struct flow_socket {
	int fd;			/* TCP's own, or that of all UDP flows */
	__u16 sport;
	__u32 first;		/* sequence number */
	__u64 expect;		/* bytes */
	__u64 got;
	unsigned int segments;	/* that went in */
	unsigned int datagrams;	/* that came out */
	unsigned int at;	/* UDP: where in the stream to look next */
};

static const struct stream *source;
static struct flow_socket flows[FLOWS_MAX];
static unsigned int nr_flows;
static bool is_udp;
static bool failed;

/* --- opening -------------------------------------------------------------- */

static socklen_t address(struct sockaddr_storage *addr, const struct pkt *pkt,
			 unsigned int host, unsigned int port)
{
	struct sockaddr_in6 *six = (void *)addr;
	struct sockaddr_in *four = (void *)addr;
	char text[64];

	memset(addr, 0, sizeof(*addr));
	if (pkt->l3 == 4) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		four->sin_addr.s_addr = htonl(0x0a000000 | host);
		return sizeof(*four);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	snprintf(text, sizeof(text), "2001:db8::%x", host);
	inet_pton(AF_INET6, text, &six->sin6_addr);
	return sizeof(*six);
}

static void option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt %d/%d: %s", level, name, strerror(errno));
}

static int tcp_socket(const struct pkt *pkt)
{
	struct sockaddr_storage addr;
	int fd = socket(pkt->l3 == 4 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
	socklen_t len;

	if (fd < 0)
		die("socket: %s", strerror(errno));
	option(fd, IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_ON);
	option(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE);
	option(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, pkt->ack);
	option(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, TCP_RECV_QUEUE);
	option(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, pkt->seq);
	len = address(&addr, pkt, 0xfe, PORT);
	if (bind(fd, (struct sockaddr *)&addr, len))
		die("bind: %s", strerror(errno));
	len = address(&addr, pkt, pkt->host, pkt->sport);
	if (connect(fd, (struct sockaddr *)&addr, len))
		die("connect: %s", strerror(errno));
	option(fd, IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP);
	return fd;
}

static int udp_socket(const struct pkt *pkt)
{
	struct sockaddr_storage addr;
	int fd = socket(pkt->l3 == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	socklen_t len = address(&addr, pkt, 0xfe, PORT);

	if (fd < 0)
		die("socket: %s", strerror(errno));
	option(fd, IPPROTO_UDP, UDP_GRO, 1);
	option(fd, SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20);
	if (bind(fd, (struct sockaddr *)&addr, len))
		die("bind: %s", strerror(errno));
	return fd;
}

static struct flow_socket *flow_find(__u16 sport)
{
	unsigned int i;

	for (i = 0; i < nr_flows; i++)
		if (flows[i].sport == sport)
			return &flows[i];
	return NULL;
}

static struct flow_socket *flow_add(const struct pkt *pkt)
{
	struct flow_socket *flow = &flows[nr_flows++];

	if (nr_flows > FLOWS_MAX)
		die("too many flows");
	memset(flow, 0, sizeof(*flow));
	flow->sport = pkt->sport;
	flow->first = pkt->seq;
	if (!is_udp)
		flow->fd = tcp_socket(pkt);
	else
		flow->fd = nr_flows > 1 ? flows[0].fd : udp_socket(pkt);
	return flow;
}

void sockets_open(const struct stream *s)
{
	struct flow_socket *flow;
	unsigned int i;

	source = s;
	nr_flows = 0;
	failed = false;
	is_udp = s->e.pkts[0].proto == IPPROTO_UDP;
	for (i = 0; i < s->e.nr; i++) {
		const struct pkt *pkt = &s->e.pkts[i];

		flow = flow_find(pkt->sport);
		if (!flow)
			flow = flow_add(pkt);
		flow->expect += pkt->len;
		flow->segments++;
	}
}

/* --- reading -------------------------------------------------------------- */

static void wrong(const struct flow_socket *flow, const char *what)
{
	if (!failed)
		printf("port %u: %s behind byte %llu, of %llu\n", flow->sport,
		       what, (unsigned long long)flow->got,
		       (unsigned long long)flow->expect);
	failed = true;
}

/* As pkt_build() makes them: the low byte of the sequence number. */
static void verify(struct flow_socket *flow, const __u8 *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != (__u8)(flow->first + flow->got + i))
			break;
	if (i < len)
		wrong(flow, "wrong bytes");
	flow->got += len;
}

static void tcp_read(struct flow_socket *flow)
{
	static __u8 buf[1 << 16];
	ssize_t len;

	while ((len = recv(flow->fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		verify(flow, buf, len);
	if (len < 0 && errno != EAGAIN)
		wrong(flow, strerror(errno));
}

/* Datagrams come in the order in which they were sent, each whole. */
static void datagram(struct flow_socket *flow, const __u8 *buf, size_t len)
{
	const struct episode *e = &source->e;

	while (flow->at < e->nr && e->pkts[flow->at].sport != flow->sport)
		flow->at++;
	if (flow->at == e->nr || e->pkts[flow->at].len != len)
		wrong(flow, "a datagram of another size");
	else
		flow->at++;
	verify(flow, buf, len);
	flow->datagrams++;
}

static size_t segment_size(struct msghdr *msg, size_t len)
{
	struct cmsghdr *cm;

	for (cm = CMSG_FIRSTHDR(msg); cm; cm = CMSG_NXTHDR(msg, cm))
		if (cm->cmsg_level == IPPROTO_UDP && cm->cmsg_type == UDP_GRO)
			return *(int *)CMSG_DATA(cm);
	return len;
}

static void udp_read(int fd)
{
	static __u8 buf[1 << 16];
	struct sockaddr_in6 from;
	char control[64];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_name = &from, .msg_iov = &iov,
			      .msg_iovlen = 1, .msg_control = control };
	struct flow_socket *flow;
	ssize_t len, at, size;

	for (;;) {
		msg.msg_namelen = sizeof(from);
		msg.msg_controllen = sizeof(control);
		len = recvmsg(fd, &msg, MSG_DONTWAIT);
		if (len < 0)
			return;
		/* the port is at the same place for both families */
		flow = flow_find(ntohs(from.sin6_port));
		if (!flow)
			die("a datagram from port %u", ntohs(from.sin6_port));
		size = segment_size(&msg, len);
		for (at = 0; at < len; at += size)
			datagram(flow, buf + at,
				 size < len - at ? size : len - at);
	}
}

void sockets_read(void)
{
	unsigned int i;

	if (is_udp) {
		udp_read(flows[0].fd);
		return;
	}
	for (i = 0; i < nr_flows; i++)
		tcp_read(&flows[i]);
}

/* --- the end -------------------------------------------------------------- */

static unsigned int segments_in(const struct flow_socket *flow)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);

	if (is_udp)
		return flow->datagrams;
	if (getsockopt(flow->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO: %s", strerror(errno));
	return info.tcpi_data_segs_in;
}

bool sockets_close(char *counts, size_t size)
{
	unsigned int i, segments;
	int used = 0;

	sockets_read();
	for (i = 0; i < nr_flows; i++) {
		segments = segments_in(&flows[i]);
		if (flows[i].got != flows[i].expect)
			wrong(&flows[i], "nothing");
		if (segments != flows[i].segments)
			wrong(&flows[i], "not as many segments as went in");
		used += snprintf(counts + used, size - used, "%u:%llu/%u ",
				 flows[i].sport,
				 (unsigned long long)flows[i].got, segments);
	}
	for (i = 0; i < nr_flows; i++) {
		/* closed without a word then, and gone at once */
		if (!is_udp)
			option(flows[i].fd, IPPROTO_TCP, TCP_REPAIR,
			       TCP_REPAIR_ON);
		if (!is_udp || !i)
			close(flows[i].fd);
	}
	return !failed;
}
