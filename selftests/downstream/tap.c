// SPDX-License-Identifier: GPL-2.0-only
/* Packet sockets at the far end, and what may differ between two frames. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../bench/packet.h"
#include "downstream.h"

/*
 * Milliseconds without a frame, after which it is over: when all have come that
 * were expected, when nobody knows how many, and while some are missing. One
 * that comes later still is found to be too much in the next run.
 */
#define QUIET	20
#define UNKNOWN	300
#define PATIENT	5000

#define ROOM	131072

/* --- the socket ----------------------------------------------------------- */

static int netns_open(const char *name)
{
	char path[128] = "/proc/self/ns/net";
	int fd;

	if (name)
		snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

static int packet_socket(const char *dev)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(0x0003),	/* all */
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), size = 32 << 20;

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    !addr.sll_ifindex ||
	    bind(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		die("a packet socket at %s: %s", dev, strerror(errno));
	return fd;
}

/* "NAMESPACE:DEVICE" or "NAMESPACE:DEVICE:gso", with a virtio header then. */
void tap_open(struct tap *tap, const char *where)
{
	char *copy = strdup(where), *dev, *more;
	int home, there, one = 1;

	if (!copy)
		die("out of memory");
	dev = strchr(copy, ':');
	if (!dev)
		die("not NAMESPACE:DEVICE: %s", where);
	*dev++ = '\0';
	more = strchr(dev, ':');
	if (more)
		*more++ = '\0';
	home = netns_open(NULL);
	there = netns_open(copy);
	if (setns(there, CLONE_NEWNET))
		die("%s: %s", copy, strerror(errno));
	tap->name = where;
	tap->fd = packet_socket(dev);
	tap->head = more ? sizeof(struct virtio_net_hdr) : 0;
	if (more && setsockopt(tap->fd, SOL_PACKET, PACKET_VNET_HDR, &one,
			       sizeof(one)))
		die("PACKET_VNET_HDR: %s", strerror(errno));
	if (setns(home, CLONE_NEWNET))
		die("back: %s", strerror(errno));
	close(home);
	close(there);
	free(copy);
}

/* What a kernel says by itself: ARP, neighbours, multicast groups. */
static bool own_talk(const __u8 *bytes, size_t len)
{
	static const __u8 unspecified[16];
	const __u8 *saddr = bytes + 14 + 8;

	if (len < 54 || (bytes[12] != 0x08 && bytes[12] != 0x86))
		return true;
	if (bytes[12] == 0x08)
		return bytes[13] != 0x00;
	return (saddr[0] == 0xfe && (saddr[1] & 0xc0) == 0x80) ||
	       !memcmp(saddr, unspecified, sizeof(unspecified));
}

static void tap_read(const struct tap *tap, struct frames *f)
{
	static __u8 buf[ROOM];
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t len;

	len = recvfrom(tap->fd, buf, sizeof(buf), MSG_TRUNC,
		       (struct sockaddr *)&from, &size);
	if (len < (ssize_t)tap->head || len > ROOM)
		die("%s: %zd bytes: %s", tap->name, len, strerror(errno));
	if (from.sll_pkttype == PACKET_OUTGOING)
		return;
	if (!own_talk(buf + tap->head, len - tap->head))
		frames_add(f, buf, len);
}

void tap_collect(const struct tap *tap, struct frames *f, unsigned int expect)
{
	struct pollfd pfd = { .fd = tap->fd, .events = POLLIN };

	while (poll(&pfd, 1, f->nr < expect ? PATIENT :
			     expect ? QUIET : UNKNOWN) > 0)
		tap_read(tap, f);
}

/* --- comparing ------------------------------------------------------------ */

/* The flow a frame belongs to: ports stay what they are, but for NAT. */
static unsigned int flow_of(const struct frame *f)
{
	struct packet_info info;

	packet_parse(f->bytes, f->len, &info);
	if (info.type != 0x0800 && info.type != 0x86dd)
		return info.type;
	if (info.l4 + 2 > f->len)
		return info.proto;
	return info.proto << 16 | f->bytes[info.l4] << 8 |
	       f->bytes[info.l4 + 1];
}

static void print_frame(const char *who, const struct frame *f)
{
	size_t i;

	printf("  %s, %zu bytes:", who, f->len);
	for (i = 0; i < f->len && i < 112; i++)
		printf("%s%02x", i % 16 ? "" : " ", f->bytes[i]);
	printf("%s\n", i < f->len ? " ..." : "");
}

static bool one_equal(const struct frames *a, unsigned int i,
		      const struct frames *b, unsigned int j, const char *what)
{
	const struct frame *x = &a->at[i], *y = &b->at[j];

	if (x->len == y->len && !memcmp(x->bytes, y->bytes, x->len))
		return true;
	printf("%s: frame %u is not frame %u\n", what, j, i);
	print_frame("expected", x);
	print_frame("got", y);
	return false;
}

/* The next frame of that flow at or behind @at. */
static unsigned int next_of(const struct frames *f, unsigned int at,
			    unsigned int flow)
{
	while (at < f->nr && flow_of(&f->at[at]) != flow)
		at++;
	return at;
}

static bool flow_equal(const struct frames *a, const struct frames *b,
		       unsigned int first, const char *what)
{
	unsigned int flow = flow_of(&a->at[first]);
	unsigned int i = next_of(a, 0, flow), j = next_of(b, 0, flow);

	if (i < first)
		return true;	/* seen with the first of the flow */
	while (i < a->nr && j < b->nr) {
		if (!one_equal(a, i, b, j, what))
			return false;
		i = next_of(a, i + 1, flow);
		j = next_of(b, j + 1, flow);
	}
	if (i == a->nr && j == b->nr)
		return true;
	printf("%s: flow %#x has %s frames\n", what, flow,
	       i < a->nr ? "less" : "more");
	return false;
}

/* Caller has sorted them if any order will do. */
bool frames_equal(const struct frames *a, const struct frames *b,
		  enum order order, const char *what)
{
	bool equal = a->nr == b->nr;
	unsigned int i;

	if (!equal)
		printf("%s: %u frames, not %u\n", what, b->nr, a->nr);
	for (i = 0; i < a->nr && i < b->nr; i++) {
		if (order != ORDER_FLOWS && !one_equal(a, i, b, i, what))
			return false;
		if (order == ORDER_FLOWS && !flow_equal(a, b, i, what))
			return false;
	}
	return equal;
}

/* --- in and out ----------------------------------------------------------- */

/* Undo a passage as far as it is known how, and forget the rest. */
static void undo(const struct frame *f, unsigned int hops,
		 const struct passage *passage)
{
	struct packet_info info;
	__u8 *l3;

	packet_parse(f->bytes, f->len, &info);
	l3 = f->bytes + info.l3;
	if (passage->hops)
		memset(f->bytes, 0, 12);
	l3[info.type == 0x0800 ? 8 : 7] += hops;
	if (passage->nat) {
		if (info.type == 0x0800)
			memset(l3 + 12, 0, 4);
		else
			memset(l3 + 8, 0, 16);
		memset(f->bytes + info.l4 + 2, 0, 2);
	}
	if (passage->ids && info.type == 0x0800)
		memset(l3 + 4, 0, 2);
	if (passage->hops || passage->nat || passage->ids)
		wrap_repair(f->bytes, f->len);
}

/* Checksums are compared by their being right, before they are made anew. */
static bool checksums_right(const struct frame *f)
{
	struct frame copy = { .bytes = xalloc(f->len), .len = f->len };
	bool right;

	memcpy(copy.bytes, f->bytes, f->len);
	wrap_repair(copy.bytes, copy.len);
	right = !memcmp(copy.bytes, f->bytes, f->len);
	if (!right) {
		printf("on the wire: a checksum is wrong\n");
		print_frame("got", f);
		print_frame("right", &copy);
	}
	free(copy.bytes);
	return right;
}

static bool frames_undo(const struct frames *from, struct frames *to,
			unsigned int hops, const struct passage *passage)
{
	unsigned int i;

	for (i = 0; i < from->nr; i++) {
		if (!checksums_right(&from->at[i]))
			return false;
		frames_add(to, from->at[i].bytes, from->at[i].len);
		undo(&to->at[i], hops, passage);
	}
	if (passage->order == ORDER_ANY)
		frames_sort(to);
	return true;
}

/* GRO itself has flows overtake each other. */
bool frames_arrived(const struct frames *in, const struct frames *out,
		    const struct passage *passage)
{
	enum order order = passage->order == ORDER_ANY ? ORDER_ANY :
			   ORDER_FLOWS;
	struct frames a = {}, b = {};
	bool equal;

	equal = frames_undo(in, &a, 0, passage) &&
		frames_undo(out, &b, passage->hops, passage) &&
		frames_equal(&a, &b, order, "on the wire");
	frames_end(&a);
	frames_end(&b);
	return equal;
}
