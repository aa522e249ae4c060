// SPDX-License-Identifier: GPL-2.0-only
/* From the description of a packet to its bytes and the skb's shape. */
#include <string.h>

#include "../../bench/frame.h"
#include "compare.h"

#define ETH_LEN		14
#define TCP_LEN		20
/* A head has to fit into a page. */
#define POOL_LINEAR	2048

static void put16(__u8 *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void put32(__u8 *at, __u32 value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

static size_t build_l2(const struct pkt *pkt, __u8 *buf, unsigned int tags)
{
	size_t len = ETH_LEN;
	unsigned int i;

	memcpy(buf, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12);
	for (i = 0; i < tags; i++, len += 4) {
		put16(buf + len - 2, i + 1 < tags ? 0x88a8 : 0x8100);
		put16(buf + len, 100 + i);
	}
	put16(buf + len - 2, pkt->l3 == 4 ? 0x0800 : 0x86dd);
	return len;
}

static __u8 pkt_proto(const struct pkt *pkt)
{
	return pkt->proto ? pkt->proto : 6;
}

static size_t build_ip4(const struct pkt *pkt, __u8 *at, size_t payload)
{
	unsigned int ihl = pkt->ihl ? pkt->ihl & 15 : 5;
	size_t len = ihl > 5 ? ihl * 4 : 20;

	memset(at, 1, len);	/* options: NOP */
	at[0] = (pkt->version ? pkt->version : 4) << 4 | ihl;
	at[1] = pkt->tos;
	put16(at + 2, len + payload + pkt->lie);
	put16(at + 4, pkt->id);
	put16(at + 6, (pkt->df ? 0x4000 : 0) | pkt->frag);
	at[8] = pkt->ttl;
	at[9] = pkt_proto(pkt);
	put16(at + 10, 0);
	put32(at + 12, (pkt->ends ? 0xc0000201 : 0x0a000000) + pkt->host);
	put32(at + 16, pkt->ends ? 0xc0000202 : 0x0a0000fe);
	put16(at + 10, csum_fold(csum_add(0, at, len)) ^
	      pkt->bad_ip_csum);
	return len;
}

static size_t build_ext(const struct pkt *pkt, __u8 *at, unsigned int i)
{
	size_t len = 8 * (pkt->ext_units[i] + 1);

	memset(at, 0, len);
	at[0] = i + 1 < pkt->nr_exts ? pkt->exts[i + 1] : pkt_proto(pkt);
	at[1] = pkt->ext_units[i];
	/* One option to be skipped over; a routing header with none left. */
	at[2] = 0x1e;
	at[3] = len - 4 > 255 ? 255 : len - 4;
	if (pkt->exts[i] == 43)
		at[3] = 0;
	if (i + 1 == pkt->nr_exts)
		at[len - 1] ^= pkt->ext_fill;
	return len;
}

static size_t build_ip6(const struct pkt *pkt, __u8 *at, size_t payload)
{
	size_t len = 40;
	unsigned int i;

	memset(at, 0, len);
	put32(at, (__u32)(pkt->version ? pkt->version : 6) << 28 |
	      (__u32)pkt->tos << 20 | (0x12345 ^ pkt->flow_label));
	at[6] = pkt->nr_exts ? pkt->exts[0] : pkt_proto(pkt);
	at[7] = pkt->ttl;
	put32(at + 8, 0x20010db8);
	at[23] = pkt->ends + pkt->host;
	put32(at + 24, 0x20010db8);
	at[39] = pkt->ends ? 2 : 0xfe;
	for (i = 0; i < pkt->nr_exts; i++)
		len += build_ext(pkt, at + len, i);
	put16(at + 4, len - 40 + payload + pkt->lie);
	return len;
}

static size_t l4_len(const struct pkt *pkt)
{
	return pkt_proto(pkt) == 17 ? 8 : TCP_LEN + pkt->optlen;
}

static size_t l4_min(const struct pkt *pkt)
{
	return pkt_proto(pkt) == 17 ? 8 : TCP_LEN;
}

static void build_tcp(const struct pkt *pkt, __u8 *at)
{
	unsigned int i;

	put16(at, pkt->sport);
	put16(at + 2, pkt->dport ? pkt->dport : 5000);
	put32(at + 4, pkt->seq);
	put32(at + 8, pkt->ack);
	/* 0x10 stands for a doff of 0; likewise ihl. */
	at[12] = (pkt->doff ? pkt->doff : (TCP_LEN + pkt->optlen) / 4) << 4;
	at[12] |= pkt->reserved;
	at[13] = 0x10 ^ pkt->flags;
	put16(at + 14, pkt->win);
	put16(at + 16, 0);
	put16(at + 18, pkt->urgent);
	for (i = 0; i < pkt->optlen; i++)
		at[TCP_LEN + i] = i < 2 ? 1 : pkt->opt + i;
	if (pkt->opt_flip && pkt->opt_flip <= pkt->optlen)
		at[TCP_LEN + pkt->opt_flip - 1] ^= 0x80;
}

static void build_udp(const struct pkt *pkt, __u8 *at, size_t len)
{
	put16(at, pkt->sport);
	put16(at + 2, pkt->dport ? pkt->dport : 5000);
	put16(at + 4, len + pkt->udp_lie);
	put16(at + 6, 0);
}

/* Pseudo header and all of L4; right also for what is no TCP. */
static void build_csum(const struct pkt *pkt, const __u8 *l3, __u8 *l4,
		       size_t len)
{
	__u8 pseudo[4] = { 0, pkt_proto(pkt) };
	bool udp = pseudo[1] == 17;
	__u32 sum;

	if (udp && pkt->no_csum)
		return;
	put16(pseudo + 2, len);
	sum = csum_add(0, pseudo, 4);
	if (pkt->l3 == 4)
		sum = csum_add(sum, l3 + 12, 8);
	else
		sum = csum_add(sum, l3 + 8, 32);
	sum = csum_fold(csum_add(sum, l4, len)) ^ pkt->bad_csum;
	/* Zero says that there is none. */
	put16(l4 + (udp ? 6 : 16), udp && !sum ? 0xffff : sum);
}

static void shape_frame(const struct pkt *pkt, struct gro_lab_frame *frame,
			unsigned int headers)
{
	unsigned int rest, i;

	frame->linear = headers < frame->len ? headers : frame->len;
	switch (pkt->shape) {
	case SHAPE_LINEAR:
		frame->linear = frame->len;
		break;
	case SHAPE_256:
		frame->linear = frame->len < 256 ? frame->len : 256;
		break;
	case SHAPE_SHORT:
		if (pkt->linear >= ETH_LEN && pkt->linear < frame->len)
			frame->linear = pkt->linear;
		break;
	}
	rest = frame->len - frame->linear;
	if (pkt->shape == SHAPE_FRAGS && rest >= 4) {
		frame->nr_frags = 4;
		for (i = 0; i < 3; i++)
			frame->frag_len[i] = rest / 4;
		frame->frag_len[3] = rest - 3 * (rest / 4);
	} else if (pkt->shape == SHAPE_LIST && rest) {
		frame->nr_members = 1;
		frame->member_len = rest;
	}
}

/* Tags in the payload are outermost where the tunnel carries no Ethernet. */
static bool tags_inside(const struct pkt *pkt)
{
	return !pkt->outer[0].kind || wrap_has_ethernet(pkt->outer[0].kind);
}

/* Returns the new length; what cannot have the headers stays as it is. */
static size_t build_outers(const struct pkt *pkt, __u8 *buf, size_t len)
{
	__u8 out[FRAME_ROOM + OUTERS_MAX * WRAP_ROOM];
	struct outer tags = { .kind = pkt->vlans > 1 ? WRAP_QINQ : WRAP_VLAN };
	unsigned int i;
	size_t wrapped;

	for (i = 0; i < OUTERS_MAX && pkt->outer[i].kind; i++) {
		wrapped = wrap_outer(&pkt->outer[i], buf, len, out);
		if (!wrapped)
			break;
		len = wrapped;
		memcpy(buf, out, len);
	}
	if (pkt->vlans && !tags_inside(pkt)) {
		len = wrap_outer(&tags, buf, len, out);
		memcpy(buf, out, len);
	}
	return len;
}

/* From the IP header on to the end of the payload. Returns where L4 begins. */
static size_t build_packet(const struct pkt *pkt, __u8 *buf, size_t l3)
{
	size_t payload = l4_len(pkt) + pkt->len, l4, i;

	if (pkt->l3 == 4)
		l4 = l3 + build_ip4(pkt, buf + l3, payload);
	else
		l4 = l3 + build_ip6(pkt, buf + l3, payload);
	if (pkt_proto(pkt) == 17)
		build_udp(pkt, buf + l4, payload);
	else
		build_tcp(pkt, buf + l4);
	for (i = 0; i < pkt->len; i++)
		buf[l4 + l4_len(pkt) + i] = pkt->seq + i;
	build_csum(pkt, buf + l3, buf + l4, payload);
	return l4;
}

static void set_csum(const struct pkt *pkt, struct gro_lab_frame *frame,
		     unsigned int l4)
{
	frame->ip_summed = pkt->ip_summed ? pkt->ip_summed - 1 :
			   GRO_LAB_CSUM_UNNECESSARY;
	frame->csum_level = pkt->csum_level;
	if (frame->ip_summed != GRO_LAB_CSUM_PARTIAL)
		return;
	frame->csum_start = l4 < frame->len ? l4 : ETH_LEN;
	if (pkt->csum_early)
		frame->csum_start = ETH_LEN;
	frame->csum_offset = pkt_proto(pkt) == 17 ? 6 : 16;
	if (l4 + l4_min(pkt) > frame->len || l4 + l4_min(pkt) > frame->linear)
		frame->ip_summed = GRO_LAB_CSUM_NONE;
}

/* What this kernel has not is left out. */
static void set_extras(const struct pkt *pkt, struct gro_lab_frame *frame)
{
	frame->dst = pkt->dst;
	frame->sk = pkt->sk;
	if (lab_can & GRO_LAB_CAN_CT)
		frame->ct = pkt->ct;
	if (lab_can & GRO_LAB_CAN_TC)
		frame->tc = pkt->tc;
	if (!(lab_can & GRO_LAB_CAN_DECRYPTED))
		frame->flags &= ~GRO_LAB_F_DECRYPTED;
	if (frame->head == GRO_LAB_HEAD_POOL &&
	    (!(lab_can & GRO_LAB_CAN_POOL) || frame->linear > POOL_LINEAR))
		frame->head = GRO_LAB_HEAD_FRAG;
}

static void set_meta(const struct pkt *pkt, struct gro_lab_frame *frame)
{
	frame->head = pkt->head;
	frame->flags = pkt->frame_flags;
	set_extras(pkt, frame);
	if (pkt->headroom) {
		frame->flags |= GRO_LAB_F_HEADROOM;
		frame->headroom = pkt->headroom;
	}
	frame->hash = pkt->hash;
	frame->hash_type = GRO_LAB_HASH_L4;
	if (pkt->vlan_tag) {
		frame->flags |= GRO_LAB_F_VLAN;
		frame->vlan_proto = 0x8100;
		frame->vlan_tci = 7;
	}
	frame->gso_size = pkt->gso_size;
	frame->gso_segs = pkt->gso_segs;
	frame->gso_type = pkt->gso_type;
}

/**
 * pkt_build - bytes and shape of a packet
 * @pkt: its description
 * @buf: FRAME_ROOM bytes
 * @frame: for gro_lab
 *
 * Return: the number of bytes, which is also in @frame.
 */
size_t pkt_build(const struct pkt *pkt, __u8 *buf, struct gro_lab_frame *frame)
{
	size_t l3 = build_l2(pkt, buf, tags_inside(pkt) ? pkt->vlans : 0);
	size_t l4 = build_packet(pkt, buf, l3);
	size_t inner = l4 + l4_len(pkt) + pkt->len;
	size_t len = build_outers(pkt, buf, inner);

	l3 += len - inner;
	l4 += len - inner;
	memset(buf + len, 0x5a, pkt->trailer);
	len += pkt->trailer;
	if (pkt->cut >= ETH_LEN && pkt->cut < len)
		len = pkt->cut;

	memset(frame, 0, sizeof(*frame));
	frame->len = len;
	if (pkt->frame_flags & GRO_LAB_F_ENCAP) {
		frame->inner_network = l3 < len ? l3 : 0;
		frame->inner_transport = l4 < len ? l4 : 0;
	}
	shape_frame(pkt, frame, l4 + l4_len(pkt));
	set_csum(pkt, frame, l4);
	set_meta(pkt, frame);
	return len;
}

static void outer_print(FILE *out, const struct outer *o)
{
	fprintf(out, " in %s l3 %u host %u ttl %u tos %u units %u opt %u",
		wrap_name(o->kind), o->l3, o->host, o->ttl, o->tos, o->units,
		o->opt);
	fprintf(out, " flip %#x gre %#x id %u sport %u vni %u label %x",
		o->flip, o->gre, o->id, o->sport, o->vni, o->flow_label);
	fprintf(out, " lie %d/%d no_df %u csum %u/%u", o->lie, o->udp_lie,
		o->no_df, o->csum, o->bad_csum);
}

void pkt_print(FILE *out, const struct pkt *pkt)
{
	unsigned int i;

	fprintf(out, "v%u", pkt->l3);
	for (i = 0; i < pkt->nr_exts; i++)
		fprintf(out, "+%u(%u)", pkt->exts[i],
			8 * (pkt->ext_units[i] + 1));
	fprintf(out, " host %u%s port %u>%u seq %u ack %u len %u id %u ttl %u tos %u",
		pkt->host, pkt->ends ? " (ends)" : "", pkt->sport, pkt->dport,
		pkt->seq, pkt->ack, pkt->len, pkt->id, pkt->ttl, pkt->tos);
	fprintf(out, " win %u df %u opt %u/%u/%u flags %#x vlans %u tag %u",
		pkt->win, pkt->df, pkt->optlen, pkt->opt, pkt->opt_flip,
		pkt->flags, pkt->vlans, pkt->vlan_tag);
	fprintf(out, " proto %u ihl %u doff %u frag %#x lie %d trailer %u cut %u",
		pkt->proto, pkt->ihl, pkt->doff, pkt->frag, pkt->lie,
		pkt->trailer, pkt->cut);
	fprintf(out, " fill %u version %u label %x bad %u%u shape %u head %u",
		pkt->ext_fill, pkt->version, pkt->flow_label, pkt->bad_csum,
		pkt->bad_ip_csum, pkt->shape, pkt->head);
	fprintf(out, " summed %d linear %u headroom %u gso %u/%u/%#x",
		(int)pkt->ip_summed - 1, pkt->linear, pkt->headroom,
		pkt->gso_size, pkt->gso_segs, pkt->gso_type);
	fprintf(out, " fl %#x hash %#x no_csum %u udp_lie %d",
		pkt->frame_flags, pkt->hash, pkt->no_csum, pkt->udp_lie);
	fprintf(out, " dst %u sk %u ct %u tc %u", pkt->dst, pkt->sk, pkt->ct,
		pkt->tc);
	for (i = 0; i < OUTERS_MAX && pkt->outer[i].kind; i++)
		outer_print(out, &pkt->outer[i]);
	fputc('\n', out);
}
