// SPDX-License-Identifier: GPL-2.0-only
/* Random streams: ordinary ones with something odd every now and then. */
#include <string.h>

#include "compare.h"

#define FLOWS 12

__u32 rnd(__u64 *state)
{
	if (!*state)
		*state = 0x2545f4914f6cdd1dULL;
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 0x2545f4914f6cdd1dULL) >> 32;
}

bool one_in(__u64 *state, unsigned int n)
{
	return rnd(state) % n == 0;
}

/* How the segments of a flow usually are. */
struct flow {
	struct pkt pkt;
	__u16 mss;
	__s8 id_step;
	bool odd_shapes;
};

static void random_exts(struct pkt *pkt, __u64 *rng)
{
	static const __u8 kinds[] = { 0, 60, 43 };
	unsigned int i;

	pkt->nr_exts = 1 + (one_in(rng, 3) ? 1 + rnd(rng) % 2 : 0);
	for (i = 0; i < pkt->nr_exts; i++) {
		pkt->exts[i] = kinds[rnd(rng) % 3];
		pkt->ext_units[i] = one_in(rng, 3) ? rnd(rng) % 5 : 0;
	}
}

static void random_flow(struct flow *f, __u64 *rng)
{
	static const __u8 optlens[] = { 12, 12, 12, 0, 4, 8, 16, 20, 40 };
	struct pkt *pkt = &f->pkt;

	memset(f, 0, sizeof(*f));
	pkt->l3 = one_in(rng, 2) ? 4 : 6;
	if (pkt->l3 == 6 && one_in(rng, 3))
		random_exts(pkt, rng);
	pkt->host = rnd(rng) % 4;
	pkt->sport = 4000 + rnd(rng) % 3;
	pkt->vlans = one_in(rng, 6) ? 1 + rnd(rng) % 3 : 0;
	pkt->vlan_tag = one_in(rng, 8);
	pkt->seq = rnd(rng);
	pkt->ack = rnd(rng);
	pkt->id = rnd(rng);
	pkt->win = 512;
	pkt->ttl = 64;
	pkt->tos = one_in(rng, 4) ? rnd(rng) : 0;
	pkt->df = !one_in(rng, 3);
	pkt->optlen = optlens[rnd(rng) % sizeof(optlens)];
	/* Few buckets, and now and then the same hash for all. */
	pkt->hash = one_in(rng, 4) ? 0 : 1 + rnd(rng) % 9;
	pkt->headroom = one_in(rng, 4) ? 64 << rnd(rng) % 3 : 0;
	pkt->shape = one_in(rng, 2) ? SHAPE_HEADERS : rnd(rng) % SHAPES;
	pkt->head = one_in(rng, 3) ? GRO_LAB_HEAD_KMALLOC : GRO_LAB_HEAD_FRAG;
	if (one_in(rng, 3))
		pkt->ip_summed = 1 + rnd(rng) % GRO_LAB_CSUMS;
	f->mss = one_in(rng, 3) ? 100 + rnd(rng) % 1300 : 200;
	f->id_step = one_in(rng, 3) ? 0 : 1;
	f->odd_shapes = one_in(rng, 3);
}

static void odd_header(struct pkt *pkt, __u64 *rng)
{
	static const __u8 flags[] = {
		0x01, 0x02, 0x04, 0x08, 0x08, 0x08, 0x20, 0x40, 0x80, 0x80,
		0x09, 0xc0, 0x10,
	};

	switch (rnd(rng) % 14) {
	case 0: case 1: case 2: case 3:
		pkt->flags = flags[rnd(rng) % sizeof(flags)];
		break;
	case 4:
		pkt->win++;
		break;
	case 5:
		pkt->ttl--;
		break;
	case 6:
		pkt->tos ^= 1 << rnd(rng) % 8;
		break;
	case 7:
		pkt->id += rnd(rng) % 5 - 2;
		break;
	case 8:
		pkt->df = !pkt->df;
		break;
	case 9:
		pkt->ack++;
		break;
	case 10:
		if (pkt->optlen)
			pkt->opt_flip = 1 + rnd(rng) % pkt->optlen;
		break;
	case 11:
		pkt->ext_fill = 1 + rnd(rng) % 255;
		break;
	case 12:
		pkt->flow_label = 1;
		break;
	case 13:
		pkt->optlen = 4 * (rnd(rng) % 11);
		break;
	}
}

static void odd_length(struct pkt *pkt, __u64 *rng)
{
	switch (rnd(rng) % 7) {
	case 0: case 1:
		pkt->len = rnd(rng) % (pkt->len + 1);
		break;
	case 2:
		pkt->len += rnd(rng) % 100;
		break;
	case 3:
		pkt->len = 0;
		pkt->trailer = one_in(rng, 2) ? 6 : 0;
		break;
	case 4:
		pkt->seq += rnd(rng) % 400 - 200;
		break;
	case 5:
		pkt->trailer = 1 + rnd(rng) % 10;
		break;
	case 6:
		pkt->lie = rnd(rng) % 64 - 32;
		break;
	}
}

static void odd_frame(struct pkt *pkt, __u64 *rng)
{
	static const __u8 protos[] = { 17, 1, 50, 58, 4, 41, 47, 59, 44, 51 };

	switch (rnd(rng) % 10) {
	case 0:
		pkt->bad_csum = true;
		pkt->ip_summed = 1 + rnd(rng) % 3;
		break;
	case 1:
		pkt->bad_ip_csum = true;
		break;
	case 2:
		pkt->doff = 1 + rnd(rng) % 15;
		break;
	case 3:
		pkt->ihl = 1 + rnd(rng) % 15;
		break;
	case 4:
		pkt->frag = one_in(rng, 3) ? 0x8000 : one_in(rng, 2) ?
			    0x2000 : rnd(rng) & 0x1fff;
		break;
	case 5:
		pkt->cut = 14 + rnd(rng) % 120;
		break;
	case 6:
		pkt->proto = protos[rnd(rng) % sizeof(protos)];
		break;
	case 7:
		pkt->version = rnd(rng) % 16;
		break;
	case 8:
		if (pkt->nr_exts)
			pkt->ext_units[rnd(rng) % pkt->nr_exts] =
				rnd(rng) % 32;
		break;
	case 9:
		if (pkt->nr_exts)
			pkt->exts[rnd(rng) % pkt->nr_exts] = rnd(rng) % 256;
		break;
	}
}

static void odd_skb(struct pkt *pkt, __u64 *rng)
{
	static const __u32 bits[] = {
		GRO_LAB_F_ZEROCOPY, GRO_LAB_F_SHARED_FRAG, GRO_LAB_F_FLUSH,
	};

	switch (rnd(rng) % 5) {
	case 0:
		pkt->frame_flags |= bits[rnd(rng) % 3];
		break;
	case 1:
		pkt->gso_size = one_in(rng, 4) ? 1 + rnd(rng) % 2000 :
				pkt->len;
		pkt->gso_segs = one_in(rng, 4) ? rnd(rng) % 20 : 2;
		pkt->gso_type = pkt->l3 == 4 ? GRO_LAB_GSO_TCPV4 :
				GRO_LAB_GSO_TCPV6;
		if (one_in(rng, 4))
			pkt->gso_type |= GRO_LAB_GSO_DODGY;
		pkt->len = 2 * pkt->len < 3000 ? 2 * pkt->len : pkt->len;
		break;
	case 2:
		pkt->csum_level = rnd(rng) % 4;
		break;
	case 3:
		pkt->ip_summed = 1 + rnd(rng) % GRO_LAB_CSUMS;
		break;
	case 4:
		pkt->hash ^= 8;
		break;
	}
}

static void random_shape(struct pkt *pkt, __u64 *rng)
{
	pkt->shape = rnd(rng) % SHAPES;
	pkt->linear = 14 + rnd(rng) % 100;
	pkt->head = one_in(rng, 2) ? GRO_LAB_HEAD_KMALLOC : GRO_LAB_HEAD_FRAG;
}

static void random_segment(struct flow *f, struct pkt *pkt, __u64 *rng)
{
	*pkt = f->pkt;
	pkt->len = f->mss;
	if (f->odd_shapes || one_in(rng, 20))
		random_shape(pkt, rng);
	if (one_in(rng, 10))
		odd_header(pkt, rng);
	if (one_in(rng, 16))
		odd_length(pkt, rng);
	if (one_in(rng, 40))
		odd_frame(pkt, rng);
	if (one_in(rng, 40))
		odd_skb(pkt, rng);

	f->pkt.seq = pkt->seq + pkt->len;
	f->pkt.id += f->id_step;
	/* What changes for good now and then. */
	if (one_in(rng, 30))
		f->pkt.win++;
	if (one_in(rng, 30))
		f->pkt.opt++;
	if (one_in(rng, 60))
		f->pkt.flags ^= 0x80;
}

void random_episode(struct episode *e, __u64 seed, unsigned int nr)
{
	struct flow flows[FLOWS];
	__u64 rng = seed;
	unsigned int i, nr_flows;
	struct pkt pkt;

	episode_init(e, nr);
	e->seed = seed;
	rnd(&rng);
	e->frags = one_in(&rng, 5);
	nr_flows = one_in(&rng, 3) ? 1 : 1 + rnd(&rng) % FLOWS;
	for (i = 0; i < nr_flows; i++)
		random_flow(&flows[i], &rng);
	for (i = 0; i < nr; i++) {
		random_segment(&flows[rnd(&rng) % nr_flows], &pkt, &rng);
		episode_add(e, &pkt);
		e->cut[i] = i && one_in(&rng, 25);
	}
}
