/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames by the layer, as their scenarios list them. What a packet has beyond
 * its layers comes from struct packet.
 */
#ifndef _BENCH_FRAME_H
#define _BENCH_FRAME_H

#include <linux/types.h>
#include <stddef.h>

#define FRAME_MAX	65536
#define FRAME_DPORT	5000	/* that TCP and UDP go to */
#define LAYERS_MAX	12

enum layer {
	L_END,
	L_ETH,
	L_VLAN,
	L_IP4,
	L_IP4_OPT,	/* with 4 bytes of options */
	L_IP4_FRAG,	/* with more fragments to follow */
	L_IP6,
	L_HBH,		/* 8 bytes, PadN */
	L_DST,		/* 16 bytes, an option to be ignored */
	L_TCP,		/* with timestamps */
	L_UDP,
	L_GRE,		/* without key or checksum */
	L_VXLAN,	/* UDP without a checksum, and VXLAN */
	L_GENEVE,	/* UDP with a checksum, and GENEVE */
	L_ESP,
	L_ICMP,
};

struct packet {
	unsigned int flow;
	unsigned int nr;	/* in the flow */
	unsigned int payload;
	__u8 tcp_flags;
};

#define TH_PSH	0x08
#define TH_ACK	0x10

/* Sizes of all before the payload, and with it. */
size_t frame_headers(const enum layer *layers);
size_t frame_build(__u8 *buf, const enum layer *layers,
		   const struct packet *packet);

/* Internet checksums. */
__u32 csum_add(__u32 sum, const void *data, size_t len);
__u16 csum_fold(__u32 sum);

#endif /* _BENCH_FRAME_H */
