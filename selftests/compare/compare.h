/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stock is the judge: the same frames through the stock handlers and through
 * ours, and everything that leaves GRO compared. Needs gro_lab.ko, gro_opt.ko.
 */
#ifndef _COMPARE_H
#define _COMPARE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../../bench/lab.h"

#define FRAME_ROOM	8192
#define EXTS_MAX	4
#define OUTERS_MAX	4

enum shape {
	SHAPE_HEADERS,		/* headers in the head, payload in a frag */
	SHAPE_LINEAR,
	SHAPE_256,		/* what mlx5 copies */
	SHAPE_SHORT,		/* part of the headers in the head */
	SHAPE_FRAGS,		/* payload in several frags */
	SHAPE_LIST,		/* payload in frag_list */
	SHAPES
};

/* What wrap.c can put around a packet. */
enum wrap {
	WRAP_NONE,
	WRAP_VLAN,
	WRAP_QINQ,
	WRAP_IPIP,
	WRAP_SIT,
	WRAP_IP6IP6,
	WRAP_4IN6,
	WRAP_GRE,
	WRAP_VXLAN,
	WRAP_GENEVE,
	WRAP_HBH,
	WRAP_DSTOPT,
	WRAP_ROUTING,
	WRAP_GRETAP,		/* GRE with Ethernet in it */
	WRAP_GPE,		/* VXLAN-GPE with IP in it */
	WRAP_FOU,
	WRAP_GUE,
	WRAP_ESP,		/* not encrypted */
	WRAP_ESPUDP,
	WRAP_PPPOE,
	WRAPS
};

/* Where network_setup() has someone listen; all else is for nobody. */
#define PORT_PLAIN	5001	/* a socket that wants single datagrams */
#define PORT_GRO	5002	/* UDP_GRO: one that takes aggregates */
#define PORT_EATEN	5003	/* gro_lab eats what begins with an odd byte */
#define PORT_LATE	5004	/* likewise, while SOCKS_LATE is set */
#define PORT_VXLAN	4789
#define PORT_GPE	4790
#define PORT_GENEVE	6081
#define PORT_FOU	5555
#define PORT_GUE	5556
#define PORT_ESP	4500

#define ESP_SPI		0x101
#define ESPUDP_SPI	0x102

/**
 * struct outer - the headers of a tunnel
 *
 * All zero but for the kind is an ordinary one. Without a kind there is none.
 */
struct outer {
	__u8 kind;		/* enum wrap */
	__u8 l3;		/* 4 or 6, for GRE and what runs over UDP */
	__u8 host;		/* added to the source address */
	__u8 ttl, tos;
	__u8 units;		/* of GENEVE's or GUE's options, 4 bytes each */
	__u8 opt;		/* what is in them */
	__u16 flip;		/* xor into the tunnel header's first bytes */
	__u16 gre;		/* flags: 0x8000 checksum, 0x2000 key; or GUE's */
	__u16 id;
	__u16 sport;
	__u32 vni;		/* or GRE's key, PPPoE's session, GUE's option */
	__u32 flow_label;
	__s16 lie;		/* added to the length in the IP header */
	__s16 udp_lie;		/* and in UDP's */
	bool no_df;
	bool csum;		/* UDP's is not 0 */
	bool bad_csum;
};

/**
 * struct pkt - a packet to be built: plain TCP unless it says otherwise
 *
 * The first part is what a flow has, the second what a segment may have. All
 * zero but for the flow's part is a full segment with nothing odd about it.
 */
struct pkt {
	__u8 l3;		/* 4 or 6 */
	__u8 nr_exts;
	__u8 exts[EXTS_MAX];	/* next header numbers */
	__u8 ext_units[EXTS_MAX];	/* 8 bytes each, less one */
	__u8 host;		/* last byte of the source address */
	bool ends;		/* addresses are those of a tunnel's ends */
	__u8 vlans;		/* tags in the payload */
	bool vlan_tag;		/* a tag in the skb */
	__u16 sport, dport;
	__u32 seq, ack;
	__u16 id, win;
	__u8 ttl, tos;
	bool df;
	__u8 optlen;		/* of TCP options */
	__u8 opt;		/* what is in them */
	__u16 len;
	__u32 hash;
	bool no_csum;		/* of UDP: 0 */
	struct outer outer[OUTERS_MAX];	/* innermost first */

	__u8 opt_flip;		/* the n-th option byte alone is another */
	__u8 flags;		/* TCP's, besides ACK */
	__u8 reserved;		/* the four bits in front of them */
	__u16 urgent;
	__u8 proto;		/* instead of TCP */
	__u8 ihl;		/* instead of 5 */
	__u8 doff;		/* instead of the right one */
	__u16 frag;		/* bits in frag_off besides DF */
	__s16 lie;		/* added to the length in the IP header */
	__s16 udp_lie;		/* and in UDP's */
	__u8 trailer;		/* bytes behind the IP packet */
	__u16 cut;		/* the frame ends after so many bytes */
	__u8 ext_fill;		/* xor into the last byte of the chain */
	__u8 version;		/* instead of l3's */
	__u32 flow_label;
	bool bad_csum, bad_ip_csum;

	__u8 shape;		/* enum shape */
	__u8 head;		/* enum gro_lab_head */
	__u8 ip_summed;		/* enum gro_lab_csum, plus one */
	__u8 csum_level;
	bool csum_early;	/* partial, but not that of L4 */
	__u16 linear;		/* with SHAPE_SHORT */
	__u16 frag0;		/* first frag's size with napi_gro_frags() */
	__u16 headroom;
	__u16 gso_size, gso_segs;
	__u32 gso_type;
	__u32 frame_flags;	/* GRO_LAB_F_* */
	__u8 dst, sk, ct, tc;	/* what slow_gro is about */
};

size_t pkt_build(const struct pkt *pkt, __u8 *buf,
		 struct gro_lab_frame *frame);
void pkt_print(FILE *out, const struct pkt *pkt);

/*
 * An episode: frames in batches between which packets stay held. A cut after
 * frame i is where the next batch begins.
 */
struct episode {
	__u64 seed;
	unsigned int nr;
	unsigned int max;
	bool frags;		/* napi_gro_frags() */
	bool flush_each;	/* nothing stays held from batch to batch */
	bool deliver;		/* what leaves GRO goes to the stack */
	void (*between)(void);	/* called when batches but the last are over */
	__u8 entry;		/* enum gro_lab_entry */
	bool settle;		/* packets that ESP takes come back later */
	__u32 gro_max_size, gro_ipv4_max_size;	/* 0: as ever */
	struct gro_lab_frame *frames;
	__u8 **bytes;
	bool *cut;
	__u8 *features;		/* GRO_LAB_DEV_*, of the batch that begins here */
#define DEV_XDP	0x80		/* and generic XDP */
#define SOCKS_SWAP	0x40	/* PORT_GRO and PORT_PLAIN: each as the other */
#define SOCKS_LATE	0x20	/* PORT_LATE has its socket, not PORT_EATEN */
#define NOT_LAB		(DEV_XDP | SOCKS_SWAP | SOCKS_LATE)
	struct pkt *pkts;	/* NULL for frames from a capture */
};

void episode_init(struct episode *e, unsigned int max);
void episode_add(struct episode *e, const struct pkt *pkt);
void episode_add_frame(struct episode *e, const struct gro_lab_frame *frame,
		       const __u8 *bytes);
void episode_end(struct episode *e);

/* What came out of an episode. */
struct outcome {
	__u8 *verdicts;
	__u8 *records;
	size_t size;
	unsigned int skbs;
};

/*
 * mixed: state and features change between batches, with packets held. coin:
 * each packet goes to stock's handler or to ours, and features change as well. ab:
 * during an A/B run, whose arms change between polls.
 */
enum run_mode {
	MODE_STOCK, MODE_PASSTHROUGH, MODE_ON, MODE_MIXED, MODE_COIN, MODE_AB,
	MODES
};

extern struct gro_lab_coin coin_total;

extern const char *const mode_names[MODES];

void episode_run(int fd, const struct episode *e, enum run_mode mode,
		 struct outcome *out);
void outcome_end(struct outcome *out);
bool outcome_equal(const struct outcome *a, const struct outcome *b);
/* Prints the first difference, and the frames, fewer of them if fewer do. */
void difference_print(int fd, const struct episode *e, enum run_mode mode,
		      const struct outcome *stock,
		      const struct outcome *ours);

/* Attach a program that lets all pass, as generic XDP, or take it away. */
void xdp_set(bool on);

/* xorshift64*: the same everywhere. */
__u32 rnd(__u64 *state);
bool one_in(__u64 *state, unsigned int n);

/* Other headers around a frame; see wrap.c. */
#define WRAP_ROOM	128

int wrap_find(const char *name);
bool wrap_has_ethernet(unsigned int wrap);
/* Other than 6 or 4: of any version. */
unsigned int wrap_inner(unsigned int wrap);
const char *wrap_name(unsigned int wrap);
/* Returns the length in @out, or 0 if the frame cannot be wrapped so. */
size_t wrap_frame(unsigned int wrap, const __u8 *bytes, size_t len, __u8 *out);
size_t wrap_outer(const struct outer *o, const __u8 *bytes, size_t len,
		  __u8 *out);
/* Right checksums for IPv4, TCP and UDP, where the frame is whole. */
void wrap_repair(__u8 *bytes, size_t len);

/*
 * Stock merges UDP where a socket takes aggregates or the device forwards them,
 * and what is in a UDP tunnel where there is a device for it. network_setup()
 * makes those sockets and devices for the rest of the run, with iproute2, as far
 * as this kernel has them; network_print() tells which. The device's own part, and
 * what the sockets want, is in episodes: their features.
 */
void network_setup(int fd);
/* "6.1" of 6.1.0-57-amd64. */
const char *kernel_series(void);
/*
 * Before network_setup(): @name is to be the only UDP tunnel, "vxlan" or "eater",
 * gro_lab's. Some kernels have a shortcut to the socket of one that is. Returns
 * false if it is neither.
 */
bool network_alone(const char *name);
/* Is it gro_lab's? Its socket may come while packets for it are held. */
bool network_eater_alone(void);
void network_swap(bool swap);
void network_late(bool late);
void network_print(FILE *out);
/* Is @name, as network_print() has it, one that this kernel has nobody for? */
bool network_lacks(const char *name);
void network_end(void);

/*
 * An episode in words, see script.c for the language. Dies of what it does not
 * understand: it is for what is written in a program.
 */
void script_episode(struct episode *e, const char *script);

/* What flows a random episode may have. */
#define KIND_TCP	0x1
#define KIND_UDP	0x2
#define KIND_TUNNEL	0x4	/* of either, in one or two tunnels */
#define KIND_ALL	0x7
#define KIND_IP_IN_IP	0x8	/* TCP in that alone, which comes seldom else */

/* A word of a command line, or 0. */
unsigned int kinds_parse(const char *name);

/* A random episode of about @nr frames; what is not TCP wants a network. */
void random_episode(struct episode *e, __u64 seed, unsigned int nr,
		    unsigned int kinds);

/* Some frames of it made into such as nobody would send; by its seed. */
void mutate_episode(struct episode *e);

#endif /* _COMPARE_H */
