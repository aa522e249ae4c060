// SPDX-License-Identifier: GPL-2.0-only
/* The streams: flows side by side, each with a habit of its own. */
#include <stdlib.h>
#include <string.h>

#include "../../bench/packet.h"
#include "downstream.h"

#define SEGMENTS	14	/* a flow */
#define MSS		1200	/* leaves room for tunnels */
#define BATCH		40	/* frames, after which packets stay held */

enum habit {
	HABIT_NONE,
	HABIT_FIN,
	HABIT_PUSH,
	HABIT_SHORT,
	HABIT_TTL,
	HABIT_ECN,
	HABIT_SWAP,
	HABIT_OPTIONS,
	HABIT_ID_GAP,
};

struct flow {
	__u8 l3;
	__u8 proto;
	__u8 habit;		/* enum habit */
	__u8 shape;		/* enum shape */
	__u8 head;		/* enum gro_lab_head */
	__u8 ip_summed;		/* enum gro_lab_csum, plus one */
	__u8 optlen;
	bool no_df;
	bool fixed_id;
	bool hop_by_hop;
};

#define V4(...)		{ .l3 = 4, __VA_ARGS__ }
#define V6(...)		{ .l3 = 6, __VA_ARGS__ }
#define SUMMED(kind)	.ip_summed = 1 + GRO_LAB_CSUM_##kind

static const struct flow tcp4[] = {
	V4(.optlen = 12),
	V4(.fixed_id = true),
	V4(.no_df = true, .shape = SHAPE_FRAGS),
	V4(.no_df = true, .fixed_id = true),
	V4(.habit = HABIT_FIN),
	V4(.habit = HABIT_PUSH, .shape = SHAPE_LINEAR),
	V4(.habit = HABIT_SHORT, .shape = SHAPE_LINEAR,
	   .head = GRO_LAB_HEAD_KMALLOC),
	V4(.habit = HABIT_TTL, SUMMED(NONE)),
	V4(.habit = HABIT_ECN, .shape = SHAPE_256),
	V4(.habit = HABIT_SWAP, SUMMED(COMPLETE)),
	V4(.habit = HABIT_OPTIONS, .optlen = 12),
	V4(.habit = HABIT_ID_GAP),
};

static const struct flow tcp6[] = {
	V6(.optlen = 12),
	V6(.hop_by_hop = true),
	V6(.shape = SHAPE_FRAGS),
	V6(.habit = HABIT_FIN),
	V6(.habit = HABIT_PUSH, .shape = SHAPE_LINEAR),
	V6(.habit = HABIT_SHORT, .shape = SHAPE_LINEAR,
	   .head = GRO_LAB_HEAD_KMALLOC),
	V6(.habit = HABIT_TTL, SUMMED(NONE)),
	V6(.habit = HABIT_ECN, .shape = SHAPE_256),
	V6(.habit = HABIT_SWAP, SUMMED(COMPLETE)),
	V6(.habit = HABIT_OPTIONS, .optlen = 12, .hop_by_hop = true),
};

static const struct flow udp4[] = {
	V4(.proto = 17),
	V4(.proto = 17, .no_df = true, .shape = SHAPE_FRAGS),
	V4(.proto = 17, .habit = HABIT_SHORT, .shape = SHAPE_LINEAR),
	V4(.proto = 17, .habit = HABIT_TTL, SUMMED(NONE)),
	V4(.proto = 17, .habit = HABIT_ECN, .shape = SHAPE_LINEAR,
	   .head = GRO_LAB_HEAD_KMALLOC),
};

/* Segmentation of UDP counts IDs up, so these do not come out as they went in. */
static const struct flow udp4_fixed_id[] = {
	V4(.proto = 17, .fixed_id = true),
	V4(.proto = 17, .fixed_id = true, .no_df = true),
};

static const struct flow udp6[] = {
	V6(.proto = 17),
	V6(.proto = 17, .shape = SHAPE_FRAGS),
	V6(.proto = 17, .habit = HABIT_SHORT, .shape = SHAPE_LINEAR),
	V6(.proto = 17, .habit = HABIT_TTL, SUMMED(NONE)),
	V6(.proto = 17, .habit = HABIT_ECN, .shape = SHAPE_LINEAR,
	   .head = GRO_LAB_HEAD_KMALLOC),
};

static const struct {
	const char *name;
	const struct flow *flows;
	unsigned int nr;
} streams[] = {
	{ "tcp4", tcp4, ARRAY_SIZE(tcp4) },
	{ "tcp6", tcp6, ARRAY_SIZE(tcp6) },
	{ "udp4", udp4, ARRAY_SIZE(udp4) },
	{ "udp4-fixed-id", udp4_fixed_id, ARRAY_SIZE(udp4_fixed_id) },
	{ "udp6", udp6, ARRAY_SIZE(udp6) },
};

void frames_add(struct frames *f, const __u8 *bytes, size_t len)
{
	if (f->nr == f->max) {
		f->max = 2 * f->max + 64;
		f->at = xrealloc(f->at, f->max * sizeof(*f->at));
	}
	f->at[f->nr].bytes = xalloc(len + 1);
	memcpy(f->at[f->nr].bytes, bytes, len);
	f->at[f->nr++].len = len;
}

void frames_end(struct frames *f)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		free(f->at[i].bytes);
	free(f->at);
	memset(f, 0, sizeof(*f));
}

static int frame_order(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->len);
}

void frames_sort(struct frames *f)
{
	qsort(f->at, f->nr, sizeof(*f->at), frame_order);
}

/* Whose numbers depend on nothing but @id, which is also the flow's key. */
static void flow_start(struct pkt *pkt, const struct flow *flow,
		       unsigned int id)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->l3 = flow->l3;
	pkt->proto = flow->proto;
	pkt->host = 1 + id % 3;
	pkt->sport = 4000 + id;
	pkt->seq = 0xfffff000 + 77777 * id;
	pkt->ack = 5000 + id;
	pkt->id = 0xfff8 + 1000 * id;
	pkt->win = 512;
	pkt->ttl = 64;
	pkt->df = !flow->no_df;
	pkt->optlen = flow->optlen;
	pkt->len = MSS;
	pkt->hash = 1 + id;
	pkt->shape = flow->shape;
	pkt->head = flow->head;
	pkt->ip_summed = flow->ip_summed;
	if (flow->hop_by_hop) {
		pkt->nr_exts = 1;
		pkt->ext_units[0] = id % 2;
	}
}

/* What is special about segment @nr of a flow, and how it changes from then. */
static void flow_habit(struct pkt *pkt, const struct flow *flow,
		       unsigned int nr)
{
	switch (flow->habit) {
	case HABIT_FIN:
		pkt->flags = nr == SEGMENTS - 1 ? 0x09 : nr == 5 ? 0x08 : 0;
		break;
	case HABIT_PUSH:
		pkt->flags = nr % 5 == 3 ? 0x08 : 0;
		break;
	case HABIT_SHORT:
		pkt->len = nr % 6 == 4 ? 1 + nr * 37 : MSS;
		break;
	case HABIT_TTL:
		pkt->ttl = nr < SEGMENTS / 2 ? 64 : 63;
		break;
	case HABIT_ECN:
		pkt->tos = nr % 6 == 4 ? 3 : 2;
		break;
	case HABIT_OPTIONS:
		pkt->opt = nr / 5;
		break;
	case HABIT_ID_GAP:
		pkt->id += nr == 6 ? 7 : 0;
		break;
	}
}

/* The segments of a flow in the order in which they come. */
static void flow_segments(struct pkt *pkts, const struct flow *flow,
			  unsigned int id)
{
	struct pkt now, swap;
	unsigned int nr;

	flow_start(&now, flow, id);
	for (nr = 0; nr < SEGMENTS; nr++) {
		flow_habit(&now, flow, nr);
		pkts[nr] = now;
		now.seq += now.len;
		now.id += !flow->fixed_id;
	}
	if (flow->habit != HABIT_SWAP)
		return;
	swap = pkts[5];
	pkts[5] = pkts[6];
	pkts[6] = swap;
}

/* Timestamps, for sockets look at what is in the options. */
static void stream_options(struct episode *e, const struct pkt *pkt)
{
	static const __u8 start[] = { 1, 1, 8, 10, 0, 0, 1 };
	__u8 *bytes = e->bytes[e->nr - 1];
	struct packet_info info;

	if (pkt->optlen != 12)
		return;
	packet_parse(bytes, e->frames[e->nr - 1].len, &info);
	memset(bytes + info.l4 + 20, 0, 12);
	memcpy(bytes + info.l4 + 20, start, sizeof(start));
	bytes[info.l4 + 20 + 7] = pkt->opt;
	wrap_repair(bytes, e->frames[e->nr - 1].len);
}

/* In front of what GRO will have to look behind, as a card would see it. */
static void stream_wrap(struct stream *s, unsigned int wrap)
{
	struct episode *e = &s->e;
	struct gro_lab_frame *frame = &e->frames[e->nr - 1];
	__u8 buf[FRAME_ROOM + WRAP_ROOM];
	size_t len;

	frames_add(&s->in, e->bytes[e->nr - 1], frame->len);
	if (!wrap)
		return;
	len = wrap_frame(wrap, e->bytes[e->nr - 1], frame->len, buf);
	if (!len)
		die("a frame does not go into %s", wrap_name(wrap));
	free(e->bytes[e->nr - 1]);
	e->bytes[e->nr - 1] = xalloc(len);
	memcpy(e->bytes[e->nr - 1], buf, len);
	frame->linear += len - frame->len;
	frame->len = len;
	frame->csum_level = frame->ip_summed == GRO_LAB_CSUM_UNNECESSARY;
}

static void stream_flows(struct stream *s, const struct flow *flows,
			 unsigned int nr_flows, unsigned int wrap,
			 __u8 features)
{
	struct pkt *pkts = xalloc(nr_flows * SEGMENTS * sizeof(*pkts));
	unsigned int nr, id;

	episode_init(&s->e, nr_flows * SEGMENTS);
	s->e.seed = 1;
	for (id = 0; id < nr_flows; id++)
		flow_segments(pkts + id * SEGMENTS, &flows[id], id);
	for (nr = 0; nr < SEGMENTS; nr++) {
		for (id = 0; id < nr_flows; id++) {
			s->e.cut[s->e.nr] = s->e.nr && s->e.nr % BATCH == 0;
			s->e.features[s->e.nr] = features;
			episode_add(&s->e, pkts + id * SEGMENTS + nr);
			stream_options(&s->e, pkts + id * SEGMENTS + nr);
			stream_wrap(s, wrap);
		}
	}
	free(pkts);
}

/*
 * Of a random episode only that with which a sound stack can live: hardware does
 * not lie about aggregates, and checksums to be filled in are in the head.
 */
static void stream_random(struct stream *s, __u64 seed, unsigned int packets)
{
	struct gro_lab_frame *frame;
	unsigned int i;

	random_episode(&s->e, seed, packets, KIND_TCP);
	for (i = 0; i < s->e.nr; i++) {
		frame = &s->e.frames[i];
		frame->gso_size = 0;
		frame->gso_segs = 0;
		frame->gso_type = 0;
		frame->flags &= ~(GRO_LAB_F_ZEROCOPY | GRO_LAB_F_RAW);
		/* GRO alone may see those of the lab's. */
		frame->dst = 0;
		frame->sk = 0;
		frame->ct = 0;
		frame->tc = 0;
		if (frame->ip_summed == GRO_LAB_CSUM_PARTIAL)
			frame->ip_summed = GRO_LAB_CSUM_UNNECESSARY;
		frames_add(&s->in, s->e.bytes[i], frame->len);
	}
}

bool stream_make(struct stream *s, const char *name,
		 const struct stream_options *opts)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	if (!strcmp(name, "random")) {
		stream_random(s, opts->seed, opts->packets);
		s->e.deliver = true;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(streams); i++) {
		if (strcmp(streams[i].name, name))
			continue;
		stream_flows(s, streams[i].flows, streams[i].nr, opts->wrap,
			     opts->features);
		s->e.deliver = true;
		return true;
	}
	return false;
}

void stream_end(struct stream *s)
{
	episode_end(&s->e);
	frames_end(&s->in);
}
