// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bottom_half.h>
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "compat/tunnel.h"
#include "simulate.h"

#define GRO_OPT_SIM_HEAD	512
#define GRO_OPT_SIM_THLEN	32
/* No socket has it, so a datagram is what the device says about nobody's. */
#define GRO_OPT_SIM_UDP_PORT	0

/* Running numbers of the stream that is made. */
struct gro_opt_sim_stream {
	enum gro_opt_sim_kind kind;
	u32 seq;
	u16 id;
	u16 outer_id;
};

static unsigned int gro_opt_sim_l3len(enum gro_opt_sim_kind kind)
{
	if (gro_opt_sim_is_v4(kind))
		return sizeof(struct iphdr);
	switch (kind) {
	case GRO_OPT_SIM_V6_DEST:
		return sizeof(struct ipv6hdr) + 16;
	case GRO_OPT_SIM_V6_HOP:
	case GRO_OPT_SIM_V6_ROUTING:
		return sizeof(struct ipv6hdr) + 8;
	default:
		return sizeof(struct ipv6hdr);
	}
}

static unsigned int gro_opt_sim_l4len(enum gro_opt_sim_kind kind)
{
	return gro_opt_sim_is_udp(kind) ? sizeof(struct udphdr) :
	       GRO_OPT_SIM_THLEN;
}

static u8 gro_opt_sim_proto(enum gro_opt_sim_kind kind)
{
	return gro_opt_sim_is_udp(kind) ? IPPROTO_UDP : IPPROTO_TCP;
}

/* The header in front of that. */
static bool gro_opt_sim_outer_is_v6(enum gro_opt_sim_kind kind)
{
	return kind == GRO_OPT_SIM_4IN6 || kind == GRO_OPT_SIM_6IN6 ||
	       kind == GRO_OPT_SIM_INNER6 || kind == GRO_OPT_SIM_IP4IP6 ||
	       kind == GRO_OPT_SIM_IP6IP6;
}

static unsigned int gro_opt_sim_outer_len(enum gro_opt_sim_kind kind)
{
	if (!gro_opt_sim_tunnel(kind))
		return 0;
	return gro_opt_sim_outer_is_v6(kind) ? sizeof(struct ipv6hdr) :
					       sizeof(struct iphdr);
}

static void gro_opt_sim_ip4(u8 *at, const struct gro_opt_sim_seg *seg,
			    u8 proto, u16 id, unsigned int len)
{
	struct iphdr *iph = (struct iphdr *)at;

	*at = 0x45;
	iph->tos = seg->tos;
	iph->tot_len = htons(len);
	iph->id = htons(id);
	iph->frag_off = seg->nodf ? 0 : htons(IP_DF);
	iph->ttl = 64 - seg->ttl;
	iph->protocol = proto;
	iph->saddr = htonl(0xc0000201);
	iph->daddr = htonl(0xc0000202);
	ip_send_check(iph);
}

/* One chain: PadN for options, a spent type-0-like header for routing. */
static void gro_opt_sim_exthdr(u8 *at, unsigned int len, u8 last)
{
	at[0] = IPPROTO_TCP;
	at[1] = len / 8 - 1;
	at[2] = 1;
	at[3] = len - 4;
	at[len - 1] = last;
}

static void gro_opt_sim_ip6(u8 *at, const struct gro_opt_sim_seg *seg,
			    u8 nexthdr, unsigned int l3len, unsigned int len)
{
	struct ipv6hdr *iph = (struct ipv6hdr *)at;

	*(__be32 *)at = htonl(0x60012345 | seg->tos << 20);
	iph->payload_len = htons(len - sizeof(*iph));
	iph->nexthdr = nexthdr;
	iph->hop_limit = 64 - seg->ttl;
	iph->saddr.s6_addr32[0] = htonl(0x20010db8);
	iph->saddr.s6_addr32[3] = htonl(1);
	iph->daddr = iph->saddr;
	iph->daddr.s6_addr32[3] = htonl(2);
	if (l3len > sizeof(*iph))
		gro_opt_sim_exthdr(at + sizeof(*iph), l3len - sizeof(*iph),
				   seg->ext);
}

static u8 gro_opt_sim_nexthdr(enum gro_opt_sim_kind kind)
{
	switch (kind) {
	case GRO_OPT_SIM_V6_HOP:
		return NEXTHDR_HOP;
	case GRO_OPT_SIM_V6_DEST:
		return NEXTHDR_DEST;
	case GRO_OPT_SIM_V6_ROUTING:
		return NEXTHDR_ROUTING;
	case GRO_OPT_SIM_V6_UDP:
		return IPPROTO_UDP;
	default:
		return IPPROTO_TCP;
	}
}

static void gro_opt_sim_outer(u8 *at, const struct gro_opt_sim_stream *s,
			      const struct gro_opt_sim_seg *seg,
			      unsigned int len)
{
	const struct gro_opt_sim_seg outer = {
		.ttl = seg->outer_ttl, .nodf = seg->outer_nodf,
	};
	const u8 proto = gro_opt_sim_is_v4(s->kind) ? IPPROTO_IPIP :
						      IPPROTO_IPV6;

	if (gro_opt_sim_outer_is_v6(s->kind))
		gro_opt_sim_ip6(at, &outer, proto, sizeof(struct ipv6hdr), len);
	else
		gro_opt_sim_ip4(at, &outer, proto,
				s->outer_id + seg->outer_id_gap, len);
}

static void gro_opt_sim_tcp(u8 *at, const struct gro_opt_sim_seg *seg, u32 seq)
{
	struct tcphdr *th = (struct tcphdr *)at;

	th->source = htons(4000 + seg->port);
	th->dest = htons(5000);
	th->seq = htonl(seq);
	th->ack_seq = htonl(1 + seg->ack);
	th->doff = GRO_OPT_SIM_THLEN / 4;
	at[13] = 0x10 | seg->flags;
	th->window = htons(512);
	at[20] = 1;
	at[21] = 1;
	at[22] = 8;
	at[23] = 10;
	at[27] = seg->opt;
}

static void gro_opt_sim_udp(u8 *at, const struct gro_opt_sim_seg *seg,
			    unsigned int len)
{
	struct udphdr *uh = (struct udphdr *)at;

	uh->source = htons(4000 + seg->port);
	uh->dest = htons(GRO_OPT_SIM_UDP_PORT);
	uh->len = htons(len);
}

/* The checksum of @len bytes behind L3, in which it is still zero. */
static __sum16 gro_opt_sim_sum(const u8 *l3, enum gro_opt_sim_kind kind,
			       unsigned int len)
{
	const struct ipv6hdr *iph6 = (const struct ipv6hdr *)l3;
	const struct iphdr *iph = (const struct iphdr *)l3;
	const u8 proto = gro_opt_sim_proto(kind);
	__wsum sum;

	sum = csum_partial(l3 + gro_opt_sim_l3len(kind), len, 0);
	if (gro_opt_sim_is_v4(kind))
		return csum_tcpudp_magic(iph->saddr, iph->daddr, len, proto,
					 sum);
	return csum_ipv6_magic(&iph6->saddr, &iph6->daddr, len, proto, sum);
}

static void gro_opt_sim_csum(u8 *l3, const struct gro_opt_sim_seg *seg,
			     enum gro_opt_sim_kind kind, unsigned int len)
{
	u8 *l4 = l3 + gro_opt_sim_l3len(kind);
	__sum16 sum = gro_opt_sim_sum(l3, kind, len);

	if (seg->csum == GRO_OPT_SIM_BAD)
		sum = (__force __sum16)~(__force u16)sum;
	if (!gro_opt_sim_is_udp(kind))
		((struct tcphdr *)l4)->check = sum;
	else if (!seg->nosum)
		((struct udphdr *)l4)->check = sum ?: CSUM_MANGLED_0;
}

/* The bytes of a segment at @at; returns their number. */
static unsigned int gro_opt_sim_bytes(u8 *at, struct gro_opt_sim_stream *s,
				      const struct gro_opt_sim_seg *seg)
{
	const unsigned int outer = gro_opt_sim_outer_len(s->kind);
	const unsigned int l3len = gro_opt_sim_l3len(s->kind);
	const unsigned int len = GRO_OPT_SIM_MSS + seg->len;
	const unsigned int l4len = gro_opt_sim_l4len(s->kind) + len;
	const unsigned int total = l3len + l4len;
	const u32 seq = s->seq + seg->seq_gap;
	unsigned int i;

	memset(at, 0, outer + total + seg->trailer);
	if (outer)
		gro_opt_sim_outer(at, s, seg, outer + total);
	at += outer;
	if (gro_opt_sim_is_v4(s->kind))
		gro_opt_sim_ip4(at, seg, gro_opt_sim_proto(s->kind),
				s->id + seg->id_gap, total);
	else
		gro_opt_sim_ip6(at, seg, gro_opt_sim_nexthdr(s->kind), l3len,
				total);
	if (gro_opt_sim_is_udp(s->kind))
		gro_opt_sim_udp(at + l3len, seg, l4len);
	else
		gro_opt_sim_tcp(at + l3len, seg, seq);
	for (i = 0; i < len; i++)
		at[total - len + i] = seq + i;
	gro_opt_sim_csum(at, seg, s->kind, l4len);

	s->seq = seq + len;
	s->id += seg->id_gap + 1;
	s->outer_id += seg->outer_id_gap + 1;
	return outer + total + seg->trailer;
}

static struct sk_buff *gro_opt_sim_alloc(enum gro_opt_sim_shape shape)
{
	struct sk_buff *skb;
	void *head;

	if (shape == GRO_OPT_SIM_KMALLOC)
		return alloc_skb(GRO_OPT_SIM_HEAD, GFP_ATOMIC);
	head = netdev_alloc_frag(SKB_DATA_ALIGN(GRO_OPT_SIM_HEAD) +
				 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)));
	if (!head)
		return NULL;
	skb = build_skb(head, SKB_DATA_ALIGN(GRO_OPT_SIM_HEAD) +
			SKB_DATA_ALIGN(sizeof(struct skb_shared_info)));
	if (!skb)
		skb_free_frag(head);
	return skb;
}

/* Put @len bytes of @from into @skb, @linear of them in its head. */
static int gro_opt_sim_fill(struct sk_buff *skb, const u8 *from,
			    unsigned int len, unsigned int linear)
{
	struct page *page;

	skb_reserve(skb, 64);
	memset(skb_put(skb, ETH_HLEN), 0, ETH_HLEN);
	skb_reset_mac_header(skb);
	skb_pull(skb, ETH_HLEN);
	skb_put_data(skb, from, linear);
	if (linear == len)
		return 0;
	page = alloc_page(GFP_ATOMIC);
	if (!page)
		return -ENOMEM;
	memcpy(page_address(page), from + linear, len - linear);
	skb_add_rx_frag(skb, 0, page, 0, len - linear, PAGE_SIZE);
	return 0;
}

static void gro_opt_sim_csum_state(struct sk_buff *skb,
				   enum gro_opt_sim_csum csum)
{
	if (csum == GRO_OPT_SIM_UNNECESSARY) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	} else if (csum == GRO_OPT_SIM_COMPLETE) {
		skb->ip_summed = CHECKSUM_COMPLETE;
		skb->csum = skb_checksum(skb, 0, skb->len, 0);
	}
}

static struct sk_buff *gro_opt_sim_skb(struct gro_opt_sim_stream *s,
				       const struct gro_opt_sim_seg *seg,
				       const struct gro_opt_sim *sim)
{
	static const u8 whole[] = {
		[GRO_OPT_SIM_LINEAR] = 1, [GRO_OPT_SIM_KMALLOC] = 1,
	};
	unsigned int len, linear;
	struct sk_buff *skb;
	u8 bytes[320];

	len = gro_opt_sim_bytes(bytes, s, seg);
	linear = gro_opt_sim_outer_len(s->kind) + gro_opt_sim_l3len(s->kind) +
		 gro_opt_sim_l4len(s->kind);
	if (seg->shape == GRO_OPT_SIM_FRAG0)
		linear = 0;
	else if (whole[seg->shape] || len < linear)
		linear = len;

	skb = gro_opt_sim_alloc(seg->shape);
	if (!skb)
		return NULL;
	if (gro_opt_sim_fill(skb, bytes, len, linear)) {
		kfree_skb(skb);
		return NULL;
	}
	gro_opt_sim_csum_state(skb, seg->csum);
	skb->protocol = sim->type;
	skb->dev = sim->dev;
	return skb;
}

/* What core does before it calls the handler: dev_gro_receive() and friends. */
static void gro_opt_sim_prepare(struct gro_opt_sim *sim, struct sk_buff *skb)
{
	struct napi_gro_cb *cb = NAPI_GRO_CB(skb);
	struct sk_buff *p;

	memset(skb->cb, 0, sizeof(skb->cb));
	gro_opt_reset_frag0(skb);
	list_for_each_entry(p, &sim->held, list)
		gro_opt_prepare_held(p);
	skb_set_network_header(skb, 0);
	skb_reset_mac_len(skb);
	cb->count = 1;
	gro_opt_note_df(skb, true);
	if (skb->ip_summed == CHECKSUM_COMPLETE) {
		cb->csum = skb->csum;
		cb->csum_valid = 1;
	} else if (skb->ip_summed == CHECKSUM_UNNECESSARY) {
		cb->csum_cnt = skb->csum_level + 1;
	}
}

/* Headers that were read in a page move to the linear part. */
static void gro_opt_sim_pull(struct sk_buff *skb)
{
	int grow = skb_gro_offset(skb) - skb_headlen(skb);

	if (grow > 0)
		__pskb_pull_tail(skb, grow);
}

static u32 gro_opt_sim_hash(struct gro_opt_sim *sim, struct sk_buff *skb)
{
	const unsigned int len = min_t(unsigned int, skb->len,
				       sizeof(sim->bytes));

	if (skb_copy_bits(skb, 0, sim->bytes, len))
		return 0;
	return jhash(sim->bytes, len, 0);
}

static unsigned int gro_opt_sim_list_len(const struct sk_buff *skb)
{
	const struct sk_buff *frag;
	unsigned int nr = 0;

	skb_walk_frags(skb, frag)
		nr++;
	return nr;
}

/* Note what came out and let go of it. */
static void gro_opt_sim_deliver(struct gro_opt_sim *sim, struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	struct gro_opt_sim_out *out = &sim->out[sim->nr_out];

	if (sim->nr_out < GRO_OPT_SIM_MAX) {
		sim->nr_out++;
		out->after = sim->nr_in;
		out->count = NAPI_GRO_CB(skb)->count;
		out->len = skb->len;
		out->data_len = skb->data_len;
		out->truesize = skb->truesize;
		out->bytes = gro_opt_sim_hash(sim, skb);
		out->ip_summed = skb->ip_summed;
		out->csum_level = skb->csum_level;
		out->csum = (__force u32)skb->csum;
		out->gso_size = info->gso_size;
		out->gso_segs = info->gso_segs;
		out->gso_type = info->gso_type;
		out->transport = skb->transport_header;
		out->network = skb->network_header;
		out->inner_transport = skb->inner_transport_header;
		out->inner_network = skb->inner_network_header;
		out->inner_protocol = (__force u16)skb->inner_protocol;
		out->encapsulation = skb->encapsulation;
		out->nr_frags = info->nr_frags;
		out->nr_list = gro_opt_sim_list_len(skb);
	}
	kfree_skb(skb);
}

static void gro_opt_sim_complete(struct gro_opt_sim *sim, struct sk_buff *skb)
{
	unsigned int off = 0;

	skb_list_del_init(skb);
	if (NAPI_GRO_CB(skb)->count == 1) {
		skb_shinfo(skb)->gso_size = 0;
	} else {
		if (gro_opt_sim_behind_outer(sim->kind)) {
			skb->encapsulation = 1;
			off = gro_opt_sim_outer_len(sim->kind);
		}
		if (sim->complete(skb, off))
			pr_debug("self-check: complete failed\n");
	}
	gro_opt_sim_deliver(sim, skb);
}

static void gro_opt_sim_hold(struct gro_opt_sim *sim, struct sk_buff *skb)
{
	gro_opt_sim_pull(skb);
	NAPI_GRO_CB(skb)->last = skb;
	skb_shinfo(skb)->gso_size = skb_gro_len(skb);
	list_add(&skb->list, &sim->held);
}

/* What a handler of an outer header does that finds nothing to differ. */
static void gro_opt_sim_pass_outer(struct gro_opt_sim *sim,
				   struct sk_buff *skb)
{
	struct sk_buff *p;

	list_for_each_entry(p, &sim->held, list)
		gro_opt_same_outer(p);
	gro_opt_note_network(skb, 0);
	skb_gro_pull(skb, gro_opt_sim_outer_len(sim->kind));
	skb_gro_postpull_rcsum(skb, skb->data,
			       gro_opt_sim_outer_len(sim->kind));
	NAPI_GRO_CB(skb)->encap_mark = sim->kind <= GRO_OPT_SIM_INNER6;
}

static void gro_opt_sim_receive(struct gro_opt_sim *sim, struct sk_buff *skb)
{
	struct sk_buff *pp;

	sim->nr_in++;
	gro_opt_sim_prepare(sim, skb);
	if (gro_opt_sim_behind_outer(sim->kind))
		gro_opt_sim_pass_outer(sim, skb);
	pp = sim->receive(&sim->held, skb);
	if (pp)
		gro_opt_sim_complete(sim, pp);
	if (NAPI_GRO_CB(skb)->same_flow) {
		if (NAPI_GRO_CB(skb)->free == NAPI_GRO_FREE_STOLEN_HEAD)
			kfree_skb_partial(skb, true);
		else if (NAPI_GRO_CB(skb)->free)
			kfree_skb(skb);
	} else if (NAPI_GRO_CB(skb)->flush) {
		gro_opt_sim_pull(skb);
		gro_opt_sim_deliver(sim, skb);
	} else {
		gro_opt_sim_hold(sim, skb);
	}
}

/**
 * gro_opt_sim_run - run a few segments through a pair of handlers
 * @sim: type, kind, handlers and device set by the caller; holds the output
 *	afterwards
 * @segs: descriptions of the segments
 * @nr: their number
 *
 * Core is played by us, so nothing of this is seen outside.
 *
 * Context: process context; bottom halves are off while handlers run.
 *
 * Return: 0 or -ENOMEM.
 */
int gro_opt_sim_run(struct gro_opt_sim *sim,
		    const struct gro_opt_sim_seg *segs, unsigned int nr)
{
	struct gro_opt_sim_stream stream = {
		.kind = sim->kind, .seq = 1, .id = 7, .outer_id = 9,
	};
	struct sk_buff *skb, *tmp;
	unsigned int i;
	int err = 0;

	INIT_LIST_HEAD(&sim->held);
	sim->nr_in = 0;
	sim->nr_out = 0;
	memset(sim->out, 0, sizeof(sim->out));

	local_bh_disable();
	rcu_read_lock();
	for (i = 0; i < nr && !err; i++) {
		skb = gro_opt_sim_skb(&stream, &segs[i], sim);
		if (skb)
			gro_opt_sim_receive(sim, skb);
		else
			err = -ENOMEM;
	}
	list_for_each_entry_safe_reverse(skb, tmp, &sim->held, list)
		gro_opt_sim_complete(sim, skb);
	rcu_read_unlock();
	local_bh_enable();
	return err;
}
