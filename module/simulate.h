/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bucket of GRO in miniature, for the self-check: packets made from short
 * descriptions are run through a pair of handlers and what comes out is noted.
 */
#ifndef _GRO_OPT_SIMULATE_H
#define _GRO_OPT_SIMULATE_H

#include <linux/list.h>
#include <linux/skbuff.h>

#include "gro_opt.h"

enum gro_opt_sim_kind {
	GRO_OPT_SIM_V4,
	GRO_OPT_SIM_V6,
	GRO_OPT_SIM_V6_HOP,
	GRO_OPT_SIM_V6_DEST,
	GRO_OPT_SIM_V6_ROUTING,
	GRO_OPT_SIM_V4_UDP,
	GRO_OPT_SIM_V6_UDP,
	/* two L3 headers, from the outer one on */
	GRO_OPT_SIM_4IN4,
	GRO_OPT_SIM_6IN4,
	GRO_OPT_SIM_4IN6,
	GRO_OPT_SIM_6IN6,
	/* the inner one, with what a tunnel's handler leaves */
	GRO_OPT_SIM_INNER4,
	GRO_OPT_SIM_INNER6,
	/* the same, where handlers of an outer header look for it */
	GRO_OPT_SIM_IPIP,
	GRO_OPT_SIM_SIT,
	GRO_OPT_SIM_IP4IP6,
	GRO_OPT_SIM_IP6IP6,
	GRO_OPT_SIM_KINDS
};

/* Has the inner header, but not the outer one, before it. */
static inline bool gro_opt_sim_behind_outer(enum gro_opt_sim_kind kind)
{
	return kind >= GRO_OPT_SIM_INNER4;
}

static inline bool gro_opt_sim_tunnel(enum gro_opt_sim_kind kind)
{
	return kind >= GRO_OPT_SIM_4IN4;
}

enum gro_opt_sim_csum {
	GRO_OPT_SIM_UNNECESSARY,
	GRO_OPT_SIM_NONE,
	GRO_OPT_SIM_COMPLETE,
	GRO_OPT_SIM_BAD,
};

enum gro_opt_sim_shape {
	GRO_OPT_SIM_HEADERS,	/* headers linear, payload in a page */
	GRO_OPT_SIM_LINEAR,	/* all of it in a page fragment head */
	GRO_OPT_SIM_KMALLOC,	/* all of it in a head that cannot be shared */
	GRO_OPT_SIM_FRAG0,	/* all of it in a page, no linear part */
};

#define GRO_OPT_SIM_MSS		100
#define GRO_OPT_SIM_MAX		6

/**
 * struct gro_opt_sim_seg - how a segment differs from the plain next one
 *
 * All zero: continues the stream with GRO_OPT_SIM_MSS bytes, ACK set, DF set,
 * IP-ID one more than before, timestamps option, checksum UNNECESSARY.
 * @seq_gap: added to the expected sequence number
 * @len: payload length less GRO_OPT_SIM_MSS
 * @id_gap: added to the expected IP-ID
 * @flags: further TCP flags, as in byte 13 of the header
 * @ttl: less than 64 by this much (hop limit likewise)
 * @tos: type of service or traffic class
 * @ack: added to the acknowledged number
 * @opt: value in the timestamps option
 * @port: added to the source port
 * @ext: last byte of the extension header
 * @trailer: bytes behind the end of the IP packet
 * @outer_ttl: as @ttl, of a tunnel's outer header
 * @outer_id_gap: as @id_gap
 * @nodf: DF is not set
 * @nosum: UDP's checksum is 0, for none
 * @outer_nodf: nor in the outer header
 * @csum: state of the checksum
 * @shape: where the bytes are
 */
struct gro_opt_sim_seg {
	s16 seq_gap;
	s16 len;
	s16 id_gap;
	u8 flags;
	u8 ttl;
	u8 tos;
	u8 ack;
	u8 opt;
	u8 port;
	u8 ext;
	u8 trailer;
	u8 outer_ttl;
	s16 outer_id_gap;
	bool nodf;
	bool nosum;
	bool outer_nodf;
	enum gro_opt_sim_csum csum;
	enum gro_opt_sim_shape shape;
};

/* The L3 header in front of TCP or UDP. */
static inline bool gro_opt_sim_is_v4(enum gro_opt_sim_kind kind)
{
	return kind == GRO_OPT_SIM_V4 || kind == GRO_OPT_SIM_V4_UDP ||
	       kind == GRO_OPT_SIM_4IN4 || kind == GRO_OPT_SIM_4IN6 ||
	       kind == GRO_OPT_SIM_INNER4 || kind == GRO_OPT_SIM_IPIP ||
	       kind == GRO_OPT_SIM_IP4IP6;
}

static inline bool gro_opt_sim_is_udp(enum gro_opt_sim_kind kind)
{
	return kind == GRO_OPT_SIM_V4_UDP || kind == GRO_OPT_SIM_V6_UDP;
}

/* What is noted of a packet that came out; compared as bytes. */
struct gro_opt_sim_out {
	u32 len, data_len, truesize, bytes, csum;
	u32 gso_type;
	u16 gso_size, gso_segs;
	u16 csum_start, csum_offset, transport, network;
	u16 inner_transport, inner_network, inner_protocol;
	u8 encapsulation;
	u8 ip_summed, csum_level, nr_frags, nr_list;
	u8 after;	/* came out with the n-th input */
	u8 count;
};

/**
 * struct gro_opt_sim - a bucket and its output
 * @held: held packets, youngest first
 * @receive: handler of new packets
 * @complete: handler of aggregates
 * @type: protocol
 * @dev: device of the packets
 * @kind: headers in front of TCP
 * @nr_in: packets seen
 * @nr_out: packets that came out
 * @out: notes of them
 * @bytes: of the one that is noted
 */
struct gro_opt_sim {
	struct list_head held;
	struct sk_buff *(*receive)(struct list_head *head, struct sk_buff *skb);
	int (*complete)(struct sk_buff *skb, int nhoff);
	__be16 type;
	struct net_device *dev;
	enum gro_opt_sim_kind kind;
	u8 nr_in, nr_out;
	struct gro_opt_sim_out out[GRO_OPT_SIM_MAX];
	u8 bytes[GRO_OPT_SIM_MAX * 512];
};

int gro_opt_sim_run(struct gro_opt_sim *sim,
		    const struct gro_opt_sim_seg *segs, unsigned int nr);

#endif /* _GRO_OPT_SIMULATE_H */
