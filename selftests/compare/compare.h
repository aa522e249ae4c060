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

#define FRAME_ROOM	4096
#define EXTS_MAX	4

enum shape {
	SHAPE_HEADERS,		/* headers in the head, payload in a frag */
	SHAPE_LINEAR,
	SHAPE_256,		/* what mlx5 copies */
	SHAPE_SHORT,		/* part of the headers in the head */
	SHAPE_FRAGS,		/* payload in several frags */
	SHAPE_LIST,		/* payload in frag_list */
	SHAPES
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
	__u8 vlans;		/* tags in the payload */
	bool vlan_tag;		/* a tag in the skb */
	__u16 sport;
	__u32 seq, ack;
	__u16 id, win;
	__u8 ttl, tos;
	bool df;
	__u8 optlen;		/* of TCP options */
	__u8 opt;		/* what is in them */
	__u16 len;
	__u32 hash;

	__u8 opt_flip;		/* the n-th option byte alone is another */
	__u8 flags;		/* TCP's, besides ACK */
	__u8 proto;		/* instead of TCP */
	__u8 ihl;		/* instead of 5 */
	__u8 doff;		/* instead of the right one */
	__u16 frag;		/* bits in frag_off besides DF */
	__s16 lie;		/* added to the length in the IP header */
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
	__u16 linear;		/* with SHAPE_SHORT */
	__u16 headroom;
	__u16 gso_size, gso_segs;
	__u32 gso_type;
	__u32 frame_flags;	/* GRO_LAB_F_* */
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
	struct gro_lab_frame *frames;
	__u8 **bytes;
	bool *cut;
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
 * each packet goes to stock's handler or to ours, and features change as well.
 */
enum run_mode {
	MODE_STOCK, MODE_PASSTHROUGH, MODE_ON, MODE_MIXED, MODE_COIN, MODES
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

/* xorshift64*: the same everywhere. */
__u32 rnd(__u64 *state);
bool one_in(__u64 *state, unsigned int n);

/* Other headers around a frame; see wrap.c. */
#define WRAP_ROOM	128

int wrap_find(const char *name);
const char *wrap_name(unsigned int wrap);
/* Returns the length in @out, or 0 if the frame cannot be wrapped so. */
size_t wrap_frame(unsigned int wrap, const __u8 *bytes, size_t len, __u8 *out);
/* Right checksums for IPv4, TCP and UDP, where the frame is whole. */
void wrap_repair(__u8 *bytes, size_t len);

/* A random episode of about @nr frames. */
void random_episode(struct episode *e, __u64 seed, unsigned int nr);

#endif /* _COMPARE_H */
