// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "frame.h"

/* Where a packet is being built: the network header is the pseudo header's. */
struct cursor {
	const struct packet *packet;
	const enum layer *layer;	/* the current one */
	__u8 *net;
	size_t rest;			/* from the current layer to the end */
};

static const __u8 layer_size[] = {
	[L_ETH] = 14, [L_IP4] = 20, [L_IP4_OPT] = 24, [L_IP4_FRAG] = 20,
	[L_IP6] = 40, [L_HBH] = 8, [L_DST] = 16, [L_TCP] = 32, [L_UDP] = 8,
	[L_ESP] = 8, [L_ICMP] = 8, [L_VLAN] = 4, [L_GRE] = 4, [L_VXLAN] = 16,
	[L_GENEVE] = 16,
};

static void put16(__u8 *to, __u16 value)
{
	to[0] = value >> 8;
	to[1] = value;
}

static void put32(__u8 *to, __u32 value)
{
	put16(to, value >> 16);
	put16(to + 2, value);
}

__u32 csum_add(__u32 sum, const void *data, size_t len)
{
	const __u8 *bytes = data;
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	if (len & 1)
		sum += bytes[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

__u16 csum_fold(__u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* --- what follows a layer ------------------------------------------------- */

static __u16 ethertype(enum layer layer)
{
	switch (layer) {
	case L_IP6:
		return 0x86dd;
	case L_VLAN:
		return 0x8100;
	case L_ETH:
		return 0x6558;
	default:
		return 0x0800;
	}
}

static __u8 protocol(enum layer layer)
{
	switch (layer) {
	case L_IP4:
	case L_IP4_OPT:
	case L_IP4_FRAG:
		return 4;
	case L_IP6:
		return 41;
	case L_HBH:
		return 0;
	case L_DST:
		return 60;
	case L_TCP:
		return 6;
	case L_UDP:
	case L_VXLAN:
	case L_GENEVE:
		return 17;
	case L_GRE:
		return 47;
	case L_ESP:
		return 50;
	case L_ICMP:
		return 1;
	default:
		return 59;
	}
}

/* The protocol that counts in a checksum: behind extension headers. */
static __u32 csum_pseudo(const struct cursor *at, __u8 proto)
{
	__u32 sum = proto + at->rest;

	if (at->net[0] >> 4 == 4)
		return csum_add(sum, at->net + 12, 8);
	return csum_add(sum, at->net + 8, 32);
}

static void put_csum(__u8 *to, const struct cursor *at, __u32 sum,
		     const __u8 *from)
{
	__u16 csum;

	put16(to, 0);
	csum = csum_fold(csum_add(sum, from, at->rest));
	put16(to, csum ? csum : 0xffff);
}

/* --- layers --------------------------------------------------------------- */

static void put_eth(__u8 *to, const struct cursor *at)
{
	static const __u8 dst[6] = { 0x02, 'l', 'a', 'b', 0, 0 };
	static const __u8 src[6] = { 0x02, 'g', 'e', 'n', 0, 1 };

	memcpy(to, dst, 6);
	memcpy(to + 6, src, 6);
	put16(to + 12, ethertype(at->layer[1]));
}

static void put_ip4(__u8 *to, const struct cursor *at)
{
	const struct packet *packet = at->packet;
	size_t size = layer_size[*at->layer];

	to[0] = 0x40 | size / 4;
	put16(to + 2, at->rest);
	put16(to + 4, 1000 * packet->flow + packet->nr);
	put16(to + 6, 0x4000);
	if (*at->layer == L_IP4_FRAG)
		put16(to + 6, 0x2000);
	to[8] = 64;
	to[9] = protocol(at->layer[1]);
	put32(to + 12, 0x0a000001 + (packet->flow << 8));
	put32(to + 16, 0x0a010001);
	if (*at->layer == L_IP4_OPT)
		put32(to + 20, 0x94040000);	/* router alert */
	put16(to + 10, 0);
	put16(to + 10, csum_fold(csum_add(0, to, size)));
}

static void put_ip6(__u8 *to, const struct cursor *at)
{
	const struct packet *packet = at->packet;

	put32(to, 0x60012345);
	put16(to + 4, at->rest - 40);
	to[6] = protocol(at->layer[1]);
	to[7] = 64;
	put32(to + 8, 0xfd000000);
	put32(to + 20, packet->flow + 1);
	put32(to + 24, 0xfd000001);
	put32(to + 36, 1);
}

/*
 * One option fills it. More than 7 bytes of padding would be refused further
 * up, so the long one is an experiment's, which is ignored.
 */
static void put_ext(__u8 *to, const struct cursor *at)
{
	size_t size = layer_size[*at->layer];

	to[0] = protocol(at->layer[1]);
	to[1] = size / 8 - 1;
	to[2] = size > 8 ? 0x1e : 1;
	to[3] = size - 4;
}

static void put_tcp(__u8 *to, const struct cursor *at)
{
	const struct packet *packet = at->packet;

	put16(to, 4000 + packet->flow);
	put16(to + 2, FRAME_DPORT);
	put32(to + 4, 1 + packet->nr * packet->payload);
	put32(to + 8, 1);
	to[12] = 8 << 4;
	to[13] = packet->tcp_flags ? packet->tcp_flags : TH_ACK;
	put16(to + 14, 512);
	put32(to + 20, 0x0101080a);
	put32(to + 24, 1000);
	put32(to + 28, 2000);
	put_csum(to + 16, at, csum_pseudo(at, 6), to);
}

static void put_udp(__u8 *to, const struct cursor *at)
{
	put16(to, 4000 + at->packet->flow);
	put16(to + 2, FRAME_DPORT);
	put16(to + 4, at->rest);
	put_csum(to + 6, at, csum_pseudo(at, 17), to);
}

/* A source port for each flow, as senders make it from the inner headers. */
static void put_tunnel(__u8 *to, const struct cursor *at)
{
	bool geneve = *at->layer == L_GENEVE;

	put16(to, 40000 + at->packet->flow);
	put16(to + 2, geneve ? 6081 : 4789);
	put16(to + 4, at->rest);
	if (geneve)
		put16(to + 10, ethertype(at->layer[1]));
	else
		to[8] = 8;
	to[14] = 7;
	if (geneve)
		put_csum(to + 6, at, csum_pseudo(at, 17), to);
}

static void put_esp(__u8 *to, const struct cursor *at)
{
	put32(to, 0x1000 + at->packet->flow);
	put32(to + 4, at->packet->nr + 1);
}

static void put_icmp(__u8 *to, const struct cursor *at)
{
	to[0] = 8;
	put16(to + 4, at->packet->flow);
	put16(to + 6, at->packet->nr);
	put_csum(to + 2, at, 0, to);
}

static void put_layer(__u8 *to, struct cursor *at)
{
	switch (*at->layer) {
	case L_ETH:
		put_eth(to, at);
		break;
	case L_VLAN:
		put16(to, 100);
		put16(to + 2, ethertype(at->layer[1]));
		break;
	case L_IP4:
	case L_IP4_OPT:
	case L_IP4_FRAG:
		at->net = to;
		put_ip4(to, at);
		break;
	case L_IP6:
		at->net = to;
		put_ip6(to, at);
		break;
	case L_HBH:
	case L_DST:
		put_ext(to, at);
		break;
	case L_TCP:
		put_tcp(to, at);
		break;
	case L_UDP:
		put_udp(to, at);
		break;
	case L_GRE:
		put16(to + 2, ethertype(at->layer[1]));
		break;
	case L_VXLAN:
	case L_GENEVE:
		put_tunnel(to, at);
		break;
	case L_ESP:
		put_esp(to, at);
		break;
	case L_ICMP:
		put_icmp(to, at);
		break;
	case L_END:
		break;
	}
}

/* --- frames --------------------------------------------------------------- */

size_t frame_headers(const enum layer *layers)
{
	size_t size = 0;

	for (; *layers; layers++)
		size += layer_size[*layers];
	return size;
}

/* Twice: a checksum of an outer layer covers the inner ones. */
size_t frame_build(__u8 *buf, const enum layer *layers,
		   const struct packet *packet)
{
	size_t headers = frame_headers(layers), size = headers + packet->payload;
	struct cursor at = { .packet = packet };
	unsigned int i, pass;

	memset(buf, 0, headers);
	for (i = 0; i < packet->payload; i++)
		buf[headers + i] = packet->nr + i;
	for (pass = 0; pass < 2; pass++) {
		at.rest = size;
		for (at.layer = layers; *at.layer; at.layer++) {
			put_layer(buf + size - at.rest, &at);
			at.rest -= layer_size[*at.layer];
		}
	}
	return size;
}
