/* SPDX-License-Identifier: GPL-2.0-only */
/* What a network card knows of a frame, and what its TSO would make of it. */
#ifndef _BENCH_PACKET_H
#define _BENCH_PACKET_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Frames with more than so many bytes before or in their IP and TCP headers are
 * nobody's TSO's.
 */
#define PACKET_MAX_L2		78
#define PACKET_MAX_HEADERS	512

struct packet_info {
	__u16 type;		/* EtherType, behind VLAN tags */
	__u8 proto;		/* behind IPv6 extension headers */
	size_t l3;		/* offsets into the frame */
	size_t l4;
	size_t payload;		/* where all headers end */
	__u32 hash;		/* of addresses and ports; 0: not IP */
};

void packet_parse(const __u8 *frame, size_t len, struct packet_info *info);

bool packet_can_split(const __u8 *frame, const struct packet_info *info);

/*
 * The @nr'th segment of such a frame in @out, which has @mtu + PACKET_MAX_L2
 * bytes; 0 when there are no more.
 */
size_t packet_split(const __u8 *frame, size_t len,
		    const struct packet_info *info, unsigned int nr,
		    unsigned int mtu, __u8 *out);

#endif /* _BENCH_PACKET_H */
