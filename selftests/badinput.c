// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile and broken packets, one kind a case: between good segments of the
 * same flow, of TCP or UDP, alone, and as the first of it. What leaves GRO is the
 * same with stock and with ours, in every state. That nothing is read beyond the
 * skb is for KASAN to say: uml/check runs this program too.
 */
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"

#define HBH 0
#define RTH 43
#define DST 60

/* As many ordinary segments. */
#define TEN "gggggggggg"

struct bad_case {
	const char *name;
	int l3;			/* 0: both */
	struct pkt odd;		/* fields that are not 0 replace the flow's */
	int len;		/* added to the payload */
	int seq;
	const char *order;	/* instead of all there are */
	int l4;			/* 0: TCP and UDP */
	struct pkt before;	/* as odd, for a good one in front of it */
	int len_before;
};

/*
 * Everything the issue names, and its neighbours: truncated headers, lying
 * lengths, doff, ihl, fragments, extension header chains, trailers, shapes,
 * aggregates at the input.
 */
static const struct bad_case cases[] = {
	{ "cut in the Ethernet header's end", 0, { .cut = 14 } },
	{ "cut in the IPv4 header", 4, { .cut = 14 + 12 } },
	{ "cut after the IPv4 header", 4, { .cut = 14 + 20 } },
	{ "cut in the TCP ports", 4, { .cut = 14 + 22 } },
	{ "cut in the TCP header", 4, { .cut = 14 + 20 + 13 } },
	{ "cut one byte before TCP options", 4, { .cut = 14 + 20 + 19 } },
	{ "cut in TCP options", 4, { .cut = 14 + 20 + 27 } },
	{ "cut after TCP options", 4, { .cut = 14 + 20 + 32 } },
	{ "cut in the payload", 0, { .cut = 14 + 60 + 40 } },
	{ "cut in the IPv6 header", 6, { .cut = 14 + 30 } },
	{ "cut after the IPv6 header", 6, { .cut = 14 + 40 } },
	{ "cut in TCP behind IPv6", 6, { .cut = 14 + 40 + 13 } },
	{ "cut in options behind IPv6", 6, { .cut = 14 + 40 + 27 } },
	{ "IP length one short", 0, { .lie = -1 } },
	{ "IP length one long", 0, { .lie = 1 } },
	{ "IP length far too long", 0, { .lie = 20000 } },
	{ "IP length inside the TCP header", 0, { .lie = -210 } },
	{ "IP length wraps", 0, { .lie = -300 } },
	{ "trailer of one byte", 0, { .trailer = 1 } },
	{ "trailer as on short frames", 0, { .trailer = 6 }, .len = -200 },
	{ "doff 0", 0, { .doff = 0x10 } },
	{ "doff 1", 0, { .doff = 1 } },
	{ "doff 4", 0, { .doff = 4 } },
	{ "doff 5 with options behind", 0, { .doff = 5 } },
	{ "doff 15", 0, { .doff = 15 } },
	{ "doff past the end", 0, { .doff = 15 }, .len = -200 },
	{ "ihl 0", 4, { .ihl = 0x10 } },
	{ "ihl 4", 4, { .ihl = 4 } },
	{ "ihl 6", 4, { .ihl = 6 } },
	{ "ihl 15", 4, { .ihl = 15 } },
	{ "version 5", 0, { .version = 5 } },
	{ "version 15", 0, { .version = 15 } },
	{ "version of the other", 4, { .version = 6 } },
	{ "version of the other", 6, { .version = 4 } },
	{ "first fragment", 4, { .frag = 0x2000 } },
	{ "later fragment", 4, { .frag = 0x0010 } },
	{ "last fragment", 4, { .frag = 0x00b9 } },
	{ "reserved bit", 4, { .frag = 0x8000 } },
	{ "wrong IPv4 checksum", 4, { .bad_ip_csum = true } },
	{ "wrong checksum, unchecked", 0,
	  { .bad_csum = true, .ip_summed = 1 + GRO_LAB_CSUM_NONE } },
	{ "wrong checksum, complete", 0,
	  { .bad_csum = true, .ip_summed = 1 + GRO_LAB_CSUM_COMPLETE } },
	{ "right checksum, unchecked", 0,
	  { .ip_summed = 1 + GRO_LAB_CSUM_NONE } },
	{ "right checksum, complete", 0,
	  { .ip_summed = 1 + GRO_LAB_CSUM_COMPLETE } },
	{ "partial checksum", 0, { .ip_summed = 1 + GRO_LAB_CSUM_PARTIAL } },
	{ "UDP", 0, { .proto = 17 } },
	{ "ESP", 0, { .proto = 50 } },
	{ "AH", 0, { .proto = 51 } },
	{ "ICMP", 0, { .proto = 1 } },
	{ "IPIP with TCP as the inner header", 0, { .proto = 4 } },
	{ "IPv6 as the inner header", 0, { .proto = 41 } },
	{ "GRE", 0, { .proto = 47 } },
	{ "no next header", 6, { .proto = 59 } },
	{ "hop-by-hop", 6, { .nr_exts = 1, .exts = { HBH } } },
	{ "destination options", 6, { .nr_exts = 1, .exts = { DST } } },
	{ "routing header", 6, { .nr_exts = 1, .exts = { RTH } } },
	{ "fragment header", 6, { .nr_exts = 1, .exts = { 44 } } },
	{ "three extension headers", 6,
	  { .nr_exts = 3, .exts = { HBH, RTH, DST } } },
	{ "extension header of 2 KB", 6,
	  { .nr_exts = 1, .exts = { DST }, .ext_units = { 255 } } },
	{ "chain cut in its first header", 6,
	  { .nr_exts = 1, .exts = { DST }, .cut = 14 + 40 + 1 } },
	{ "chain cut in its second header", 6,
	  { .nr_exts = 2, .exts = { HBH, DST }, .ext_units = { 0, 4 },
	    .cut = 14 + 40 + 8 + 6 } },
	{ "chain that runs past the packet", 6,
	  { .nr_exts = 1, .exts = { DST }, .ext_units = { 31 },
	    .cut = 14 + 40 + 60 } },
	{ "chain cut behind its end", 6,
	  { .nr_exts = 1, .exts = { HBH }, .cut = 14 + 40 + 8 } },
	{ "chain cut in TCP", 6,
	  { .nr_exts = 1, .exts = { HBH }, .cut = 14 + 40 + 8 + 19 } },
	{ "hop-by-hop that leads to UDP", 6,
	  { .nr_exts = 1, .exts = { HBH }, .proto = 17 } },
	{ "extension headers in a ring of types", 6,
	  { .nr_exts = 4, .exts = { DST, HBH, DST, HBH } } },
	{ "all of it linear", 0, { .shape = SHAPE_LINEAR } },
	{ "256 bytes linear", 0, { .shape = SHAPE_256 } },
	{ "14 bytes linear", 0, { .shape = SHAPE_SHORT, .linear = 14 } },
	{ "part of IP linear", 0, { .shape = SHAPE_SHORT, .linear = 20 } },
	{ "IPv4 linear", 0, { .shape = SHAPE_SHORT, .linear = 34 } },
	{ "IPv6 linear", 0, { .shape = SHAPE_SHORT, .linear = 54 } },
	{ "TCP without options linear", 0,
	  { .shape = SHAPE_SHORT, .linear = 14 + 40 } },
	{ "one header byte in a frag", 0,
	  { .shape = SHAPE_SHORT, .linear = 14 + 51 } },
	{ "payload in four frags", 0, { .shape = SHAPE_FRAGS } },
	{ "payload in frag_list", 0, { .shape = SHAPE_LIST } },
	{ "kmalloc head, linear", 0,
	  { .shape = SHAPE_LINEAR, .head = GRO_LAB_HEAD_KMALLOC } },
	{ "kmalloc head, headers", 0, { .head = GRO_LAB_HEAD_KMALLOC } },
	{ "zero copy", 0, { .frame_flags = GRO_LAB_F_ZEROCOPY } },
	{ "shared frags", 0, { .frame_flags = GRO_LAB_F_SHARED_FRAG } },
	{ "encapsulation set", 0, { .frame_flags = GRO_LAB_F_ENCAP } },
	{ "gso of the same size", 0,
	  { .gso_size = 200, .gso_segs = 2, .gso_type = 1 }, .len = 200 },
	{ "gso of another size", 0,
	  { .gso_size = 150, .gso_segs = 2, .gso_type = 1 }, .len = 100 },
	{ "gso that lies about segments", 0,
	  { .gso_size = 200, .gso_segs = 40000, .gso_type = 1 }, .len = 200 },
	/* As UDP it is held, counts as none, and core forgets to deliver it. */
	{ "gso without segments", 0,
	  { .gso_size = 200, .gso_type = 1 }, .len = 200, .l4 = 6 },
	{ "gso larger than the packet", 0,
	  { .gso_size = 9000, .gso_segs = 1, .gso_type = 1 } },
	{ "gso, untrusted", 0,
	  { .gso_size = 200, .gso_segs = 2, .gso_type = 3 }, .len = 200 },
	{ "gso of UDP", 0,
	  { .gso_size = 200, .gso_segs = 2, .gso_type = 0x20000 },
	  .len = 200 },
	{ "IP length of the gso packet that is held", 0, { .lie = 200 },
	  .seq = 200, .len_before = 200,
	  .before = { .gso_size = 200, .gso_segs = 2, .gso_type = 1 } },
	{ "gso without a type", 0,
	  { .gso_size = 200, .gso_segs = 2 }, .len = 200 },
	{ "three VLAN tags", 0, { .vlans = 3 } },
	{ "no payload", 0, {}, .len = -200 },
	{ "one byte", 0, {}, .len = -199 },
	{ "longer than before", 0, {}, .len = 1 },
	{ "the same again", 0, {}, .seq = -200 },
	{ "overlap", 0, {}, .seq = -1 },
	{ "gap", 0, {}, .seq = 1 },
	{ "first option byte differs", 0, { .opt_flip = 1 } },
	{ "an option byte in the middle differs", 0, { .opt_flip = 8 } },
	{ "last option byte differs", 0, { .opt_flip = 12 } },
	{ "SYN", 0, { .flags = 0x02 } },
	{ "RST", 0, { .flags = 0x04 } },
	{ "all flags", 0, { .flags = 0xff } },
	{ "no flags", 0, { .flags = 0x10 } },
	{ "another host", 0, { .host = 2 } },
	{ "another source port", 0, { .sport = 4001 } },
	{ "another destination port", 0, { .dport = 5000 } },
	{ "a socket that does not ask", 0, { .dport = PORT_PLAIN } },
	{ "a tunnel's port without a tunnel in it", 0, { .dport = PORT_VXLAN } },
	{ "another TTL", 0, { .ttl = 63 } },
	{ "another TOS", 0, { .tos = 4 } },
	{ "TCP with the same ports", 0, { .proto = 6 } },
	{ "no UDP checksum", 0, { .no_csum = true } },
	{ "UDP length one short", 0, { .udp_lie = -1 } },
	{ "UDP length one long", 0, { .udp_lie = 1 } },
	{ "UDP length without a header", 0, { .udp_lie = -201 } },
	{ "UDP and IP length one short", 0, { .lie = -1, .udp_lie = -1 } },
	{ "UDP and IP length as of two", 0, { .lie = 200, .udp_lie = 200 } },
	{ "more than there are segments in an aggregate", 0, {},
	  .order = TEN TEN TEN TEN TEN TEN TEN },
};

/* Take over what the case says, byte by byte: fields that are not 0. */
static void overlay(struct pkt *pkt, const struct pkt *odd)
{
	const __u8 *from = (const __u8 *)odd;
	__u8 *to = (__u8 *)pkt;
	size_t i;

	for (i = 0; i < sizeof(*odd); i++)
		if (from[i])
			to[i] = from[i];
}

/* What the flow is made of. */
struct flow {
	int l3;
	__u8 proto;
	bool frags;
};

static void good(struct pkt *pkt, const struct flow *f, unsigned int nr)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->l3 = f->l3;
	pkt->proto = f->proto;
	pkt->dport = PORT_GRO;
	pkt->host = 1;
	pkt->sport = 4000;
	pkt->seq = 1000 + 200 * nr;
	pkt->ack = 1;
	pkt->id = 7 + nr;
	pkt->win = 512;
	pkt->ttl = 64;
	pkt->df = true;
	pkt->optlen = 12;
	pkt->len = 200;
	pkt->hash = 1;
}

static void before_bad(struct pkt *pkt, const struct bad_case *c,
		       const struct flow *f, unsigned int nr)
{
	good(pkt, f, nr);
	overlay(pkt, &c->before);
	pkt->len += c->len_before;
}

static void bad(struct pkt *pkt, const struct bad_case *c,
		const struct flow *f, unsigned int nr)
{
	good(pkt, f, nr);
	overlay(pkt, &c->odd);
	pkt->len += c->len;
	pkt->seq += c->seq;
}

/* Orders of good and bad: what is held when the bad one comes. */
static const char *const orders[] = {
	"gbg", "ggbgg", "bgg", "bbb", "gb", "b", "gbbg",
};

static void case_episode(struct episode *e, const struct bad_case *c,
			 const struct flow *f, const char *order)
{
	unsigned int nr;
	struct pkt pkt;

	episode_init(e, strlen(order));
	e->frags = f->frags;
	for (nr = 0; order[nr]; nr++) {
		if (order[nr] == 'b')
			bad(&pkt, c, f, nr);
		else if (order[nr + 1] == 'b')
			before_bad(&pkt, c, f, nr);
		else
			good(&pkt, f, nr);
		episode_add(e, &pkt);
	}
}

static const struct flow flows[] = {
	{ 4, 6, false }, { 4, 6, true }, { 4, 17, false }, { 4, 17, true },
	{ 6, 6, false }, { 6, 6, true }, { 6, 17, false }, { 6, 17, true },
};

#define PER_CASE (ARRAY_SIZE(flows) * ARRAY_SIZE(orders))

static unsigned int case_episodes(struct episode *e, const struct bad_case *c)
{
	unsigned int n = 0, i, k;

	for (i = 0; i < ARRAY_SIZE(flows); i++) {
		if ((c->l3 && c->l3 != flows[i].l3) ||
		    (c->l4 && c->l4 != flows[i].proto))
			continue;
		if (c->order)
			case_episode(&e[n++], c, &flows[i], c->order);
		for (k = 0; !c->order && k < ARRAY_SIZE(orders); k++)
			case_episode(&e[n++], c, &flows[i], orders[k]);
	}
	return n;
}

struct run {
	struct episode e[PER_CASE];
	struct outcome stock[PER_CASE];
	unsigned int nr;
	bool bad;
};

/* --brief: end at the first difference, without showing it. */
int main(int argc, char **argv)
{
	bool brief = argc > 1 && !strcmp(argv[1], "--brief");
	struct run *runs = xalloc(ARRAY_SIZE(cases) * sizeof(*runs));
	unsigned int i, k, failed = 0;
	struct outcome ours;
	enum run_mode mode;
	int fd;

	puts("TAP version 13");
	printf("1..%zu\n", ARRAY_SIZE(cases));
	fd = lab_open();
	network_setup(fd);
	/* One change of state for all cases, as it takes longer than they do. */
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		runs[i].nr = case_episodes(runs[i].e, &cases[i]);
		for (k = 0; k < runs[i].nr; k++)
			episode_run(fd, &runs[i].e[k], MODE_STOCK,
				    &runs[i].stock[k]);
	}
	for (mode = MODE_PASSTHROUGH; mode <= MODE_ON; mode++) {
		for (i = 0; i < ARRAY_SIZE(cases) * PER_CASE; i++) {
			struct run *r = &runs[i / PER_CASE];

			k = i % PER_CASE;
			if (k >= r->nr)
				continue;
			episode_run(fd, &r->e[k], mode, &ours);
			if (!outcome_equal(&r->stock[k], &ours) && brief)
				return 1;
			if (!outcome_equal(&r->stock[k], &ours) && !r->bad) {
				r->bad = true;
				printf("# %s:\n", cases[i / PER_CASE].name);
				difference_print(fd, &r->e[k], mode,
						 &r->stock[k], &ours);
			}
			outcome_end(&ours);
		}
	}
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		failed += runs[i].bad;
		printf("%sok %u %s", runs[i].bad ? "not " : "", i + 1,
		       cases[i].name);
		if (cases[i].l3)
			printf(" (IPv%d)", cases[i].l3);
		puts("");
	}
	return failed ? 1 : 0;
}
