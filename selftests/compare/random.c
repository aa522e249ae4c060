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
	__s8 outer_id_step;
	bool odd_shapes;
	__s16 lie;		/* of the next segment */
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

static __u8 random_head(__u64 *rng)
{
	static const __u8 heads[] = {
		GRO_LAB_HEAD_FRAG, GRO_LAB_HEAD_FRAG, GRO_LAB_HEAD_KMALLOC,
		GRO_LAB_HEAD_POOL,
	};

	return heads[rnd(rng) % sizeof(heads)];
}

/* Something that makes core look at all of it. */
static void random_extra(struct pkt *pkt, __u64 *rng)
{
	__u8 *extras[] = { &pkt->dst, &pkt->sk, &pkt->ct, &pkt->tc };

	*extras[rnd(rng) % 4] = rnd(rng) % (GRO_LAB_METAS + 1);
}

static bool ip_in_ip(unsigned int wrap)
{
	return wrap == WRAP_IPIP || wrap == WRAP_4IN6 || wrap == WRAP_SIT ||
	       wrap == WRAP_IP6IP6;
}

static void random_outer(struct outer *o, unsigned int l3, bool ip, __u64 *rng)
{
	static const __u8 kinds4[] = {
		WRAP_IPIP, WRAP_4IN6, WRAP_GRE, WRAP_VXLAN, WRAP_GENEVE,
		WRAP_GRETAP, WRAP_GPE, WRAP_FOU, WRAP_GUE, WRAP_VXLAN,
		WRAP_ESP, WRAP_ESPUDP,
	};
	static const __u8 kinds6[] = {
		WRAP_SIT, WRAP_IP6IP6, WRAP_GRE, WRAP_VXLAN, WRAP_GENEVE,
		WRAP_GRETAP, WRAP_GPE, WRAP_SIT, WRAP_GUE, WRAP_VXLAN,
		WRAP_ESP, WRAP_ESPUDP,
	};

	do
		o->kind = l3 == 4 ? kinds4[rnd(rng) % sizeof(kinds4)] :
				    kinds6[rnd(rng) % sizeof(kinds6)];
	while (ip && !ip_in_ip(o->kind));
	o->l3 = one_in(rng, 3) ? 6 : 4;
	o->id = rnd(rng);
	o->sport = 50000 + rnd(rng) % 3;
	o->no_df = one_in(rng, 3);
	o->csum = one_in(rng, 3);
	o->units = one_in(rng, 3) ? 1 + rnd(rng) % 4 : 0;
	o->gre = one_in(rng, 3) ? 0x8000 : 0;
	if (one_in(rng, 3))
		o->gre |= 0x2000;
}

/* The IP version of a packet in these, or of the packet itself. */
static unsigned int outer_l3(const struct pkt *pkt, unsigned int outers)
{
	const struct outer *o;

	if (!outers)
		return pkt->l3;
	o = &pkt->outer[outers - 1];
	switch (o->kind) {
	case WRAP_IPIP: case WRAP_SIT:
		return 4;
	case WRAP_IP6IP6: case WRAP_4IN6:
		return 6;
	}
	return o->l3;
}

static void random_tunnel(struct pkt *pkt, bool ip, __u64 *rng)
{
	unsigned int nr = one_in(rng, 5) ? 2 : 1, i;

	for (i = 0; i < nr; i++)
		random_outer(&pkt->outer[i], outer_l3(pkt, i), ip, rng);
	if (outer_l3(pkt, nr) == 6 && one_in(rng, 4)) {
		pkt->outer[nr].kind = WRAP_DSTOPT;
		pkt->outer[nr].l3 = 6;
	}
	pkt->csum_level = rnd(rng) % 4;
}

static void random_udp(struct pkt *pkt, __u64 *rng)
{
	static const __u16 ports[] = {
		PORT_GRO, PORT_GRO, 5000, PORT_PLAIN, PORT_VXLAN, PORT_FOU,
		PORT_EATEN,
	};

	pkt->proto = 17;
	pkt->dport = ports[rnd(rng) % (one_in(rng, 6) ? 7 : 4)];
	if (network_eater_alone() && one_in(rng, 2))
		pkt->dport = one_in(rng, 2) ? PORT_EATEN : PORT_LATE;
	pkt->no_csum = one_in(rng, 12);
}

/* Makes plain TCP another thing, or leaves it. Returns the kind. */
static unsigned int random_kind(struct pkt *pkt, unsigned int kinds, __u64 *rng)
{
	static const __u8 shares[] = {
		KIND_TCP, KIND_TCP, KIND_UDP, KIND_TUNNEL,
	};
	unsigned int kind;

	if (kinds == KIND_TCP)
		return kinds;
	if (kinds == KIND_IP_IN_IP) {
		random_tunnel(pkt, true, rng);
		return KIND_TUNNEL;
	}
	do
		kind = shares[rnd(rng) % sizeof(shares)];
	while (!(kind & kinds));
	if (kind == KIND_UDP || (kind == KIND_TUNNEL && one_in(rng, 4)))
		random_udp(pkt, rng);
	if (kind == KIND_TUNNEL)
		random_tunnel(pkt, false, rng);
	return kind;
}

static void random_flow(struct flow *f, unsigned int kinds, __u64 *rng)
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
	pkt->head = random_head(rng);
	if (one_in(rng, 10))
		random_extra(pkt, rng);
	if (one_in(rng, 3))
		pkt->ip_summed = 1 + rnd(rng) % GRO_LAB_CSUMS;
	if (one_in(rng, 12))
		pkt->frame_flags |= GRO_LAB_F_RAW;
	f->mss = one_in(rng, 3) ? 100 + rnd(rng) % 1300 : 200;
	f->id_step = one_in(rng, 3) ? 0 : 1;
	f->odd_shapes = one_in(rng, 3);
	if (random_kind(pkt, kinds, rng) == KIND_TUNNEL)
		f->outer_id_step = one_in(rng, 3) ? 0 : 1;
}

static void odd_header(struct pkt *pkt, __u64 *rng)
{
	static const __u8 flags[] = {
		0x01, 0x02, 0x04, 0x08, 0x08, 0x08, 0x20, 0x40, 0x80, 0x80,
		0x09, 0xc0, 0x10,
	};

	switch (rnd(rng) % 16) {
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
	/* Another flow's, but for that the next segment. */
	case 14:
		pkt->host ^= 1 << rnd(rng) % 8;
		break;
	case 15:
		pkt->sport ^= 1 << rnd(rng) % 16;
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

static void odd_outer(struct outer *o, __u64 *rng)
{
	switch (rnd(rng) % 14) {
	case 0:
		o->ttl = 63;
		break;
	case 1:
		o->tos ^= 1 << rnd(rng) % 8;
		break;
	case 2:
		o->id += rnd(rng) % 5 - 2;
		break;
	case 3:
		o->no_df = !o->no_df;
		break;
	case 4:
		o->host++;
		break;
	case 5:
		o->sport++;
		break;
	case 6:
		o->vni ^= 1 + rnd(rng) % 255;
		break;
	case 7:
		o->units = rnd(rng) % 5;
		break;
	case 8:
		o->opt++;
		break;
	case 9:
		o->flip = 1 << rnd(rng) % 16;
		break;
	case 10:
		o->gre ^= one_in(rng, 2) ? 0x2000 : 1 << rnd(rng) % 16;
		break;
	case 11:
		o->csum = !o->csum;
		break;
	case 12:
		o->bad_csum = true;
		break;
	case 13:
		if (one_in(rng, 2))
			o->lie = rnd(rng) % 64 - 32;
		else
			o->udp_lie = rnd(rng) % 64 - 32;
		break;
	}
}

static void odd_udp(struct pkt *pkt, __u64 *rng)
{
	switch (rnd(rng) % 4) {
	case 0:
		pkt->no_csum = !pkt->no_csum;
		break;
	case 1:
		pkt->udp_lie = rnd(rng) % 64 - 32;
		break;
	case 2:
		pkt->dport = PORT_GRO;
		break;
	case 3:
		pkt->len = rnd(rng) % 3;
		break;
	}
}

/* What the others have not: layers in front, UDP's own fields. */
static void odd_layers(struct pkt *pkt, __u64 *rng)
{
	if (pkt->outer[0].kind && one_in(rng, 10))
		odd_outer(&pkt->outer[pkt->outer[1].kind && one_in(rng, 2)],
			  rng);
	if (pkt->proto == 17 && one_in(rng, 25))
		odd_udp(pkt, rng);
}

static void next_outers(struct pkt *pkt, unsigned int step)
{
	unsigned int i;

	for (i = 0; i < OUTERS_MAX; i++)
		pkt->outer[i].id += step;
}

static void odd_skb(struct pkt *pkt, __u64 *rng)
{
	static const __u32 bits[] = {
		GRO_LAB_F_ZEROCOPY, GRO_LAB_F_SHARED_FRAG, GRO_LAB_F_FLUSH,
		GRO_LAB_F_DECRYPTED, GRO_LAB_F_ENCAP,
	};

	switch (rnd(rng) % 6) {
	case 0:
		pkt->frame_flags |= bits[rnd(rng) % ARRAY_SIZE(bits)];
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
		pkt->csum_early = one_in(rng, 2);
		break;
	case 4:
		pkt->hash ^= 8;
		break;
	case 5:
		random_extra(pkt, rng);
		break;
	}
}

static void random_shape(struct pkt *pkt, __u64 *rng)
{
	pkt->shape = rnd(rng) % SHAPES;
	pkt->linear = 14 + rnd(rng) % 100;
	pkt->head = random_head(rng);
}

/*
 * Behind an aggregate made by hardware: IDs go on as if it were its segments,
 * and a length that is wrong may be equal to its length.
 */
static void after_aggregate(struct flow *f, const struct pkt *pkt, __u64 *rng)
{
	f->pkt.id += f->id_step * (pkt->gso_segs - 1);
	if (one_in(rng, 2))
		f->lie = pkt->len - f->mss;
}

static void random_segment(struct flow *f, struct pkt *pkt, __u64 *rng)
{
	*pkt = f->pkt;
	pkt->len = f->mss;
	pkt->lie = f->lie;
	f->lie = 0;
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
	odd_layers(pkt, rng);

	f->pkt.seq = pkt->seq + pkt->len;
	f->pkt.id += f->id_step;
	if (pkt->gso_size)
		after_aggregate(f, pkt, rng);
	next_outers(&f->pkt, f->outer_id_step);
	/* What changes for good now and then. */
	if (one_in(rng, 30))
		f->pkt.win++;
	if (one_in(rng, 30))
		f->pkt.opt++;
	if (one_in(rng, 60))
		f->pkt.flags ^= 0x80;
}

/*
 * 6.1's udp6_gro_complete() takes 40 bytes of the innermost network header for its
 * own. With IPv4 and UDP there are 28, and what lies behind them is in the sum of
 * the outer checksum: with stock alone it is another one each time.
 */
static void spare_inner_addresses(struct pkt *pkt)
{
	unsigned int i;

	if (pkt->l3 != 4 || pkt->proto != 17 ||
	    strcmp(kernel_series(), "6.1"))
		return;
	for (i = 0; i < OUTERS_MAX; i++)
		if (pkt->outer[i].l3 == 6)
			pkt->outer[i].csum = false;
}

/* Of the device, from a batch on. */
static __u8 random_features(__u64 *rng)
{
	__u8 swap = one_in(rng, 4) ? SOCKS_SWAP : 0;

	if (network_eater_alone() && one_in(rng, 2))
		swap |= SOCKS_LATE;
	if (one_in(rng, 2))
		return swap;
	if (one_in(rng, 12))
		return swap | (one_in(rng, 2) ? GRO_LAB_DEV_NO_GRO : DEV_XDP);
	return swap | rnd(rng) % 4;
}

static unsigned int random_cut(struct episode *e, unsigned int kinds,
			       unsigned int features, __u64 *rng)
{
	unsigned int i = e->nr - 1;

	e->cut[i] = i && one_in(rng, 25);
	if (kinds != KIND_TCP && e->cut[i] && one_in(rng, 3))
		features = random_features(rng);
	e->features[i] = features;
	return features;
}

static bool has_esp(const struct pkt *pkt)
{
	unsigned int i;

	for (i = 0; i < OUTERS_MAX; i++)
		if (pkt->outer[i].kind == WRAP_ESP ||
		    pkt->outer[i].kind == WRAP_ESPUDP)
			return true;
	return false;
}

void random_episode(struct episode *e, __u64 seed, unsigned int nr,
		    unsigned int kinds)
{
	unsigned int i, nr_flows, features;
	struct flow flows[FLOWS];
	__u64 rng = seed;
	struct pkt pkt;

	episode_init(e, nr);
	e->seed = seed;
	rnd(&rng);
	e->frags = one_in(&rng, 5);
	if (one_in(&rng, 4))
		e->entry = rnd(&rng) % GRO_LAB_ENTRIES;
	if (e->entry == GRO_LAB_ENTRY_CELLS) {
		e->frags = false;
		e->flush_each = true;
	}
	/* Or else nothing here would grow to a limit. */
	if (one_in(&rng, 6)) {
		e->gro_max_size = 500 + rnd(&rng) % 4000;
		e->gro_ipv4_max_size = 500 + rnd(&rng) % 4000;
	}
	nr_flows = one_in(&rng, 3) ? 1 : 1 + rnd(&rng) % FLOWS;
	for (i = 0; i < nr_flows; i++)
		random_flow(&flows[i], kinds, &rng);
	features = kinds == KIND_TCP ? 0 : random_features(&rng);
	for (i = 0; i < nr; i++) {
		random_segment(&flows[rnd(&rng) % nr_flows], &pkt, &rng);
		spare_inner_addresses(&pkt);
		episode_add(e, &pkt);
		e->settle |= has_esp(&pkt);
		features = random_cut(e, kinds, features, &rng);
	}
}

unsigned int kinds_parse(const char *name)
{
	static const char *const names[] = {
		[KIND_TCP] = "tcp", [KIND_UDP] = "udp",
		[KIND_TUNNEL] = "tunnel", [KIND_ALL] = "all",
		[KIND_IP_IN_IP] = "ip-in-ip",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return 0;
}
