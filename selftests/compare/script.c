// SPDX-License-Identifier: GPL-2.0-only
/*
 * Episodes in words:
 *
 *   T4*3 T4{psh}		three segments of a flow, one more with PSH
 *   T6{len=60}*2 | T6		packets held from one poll to the next
 *   @dev=2 +{in=vxlan} T4*3	of a device that chains, all in VXLAN
 *
 * T and U are TCP and UDP over IPv4 or IPv6, {KEY=VALUE,KEY} is what is not as
 * usual, *N repeats, flows=N is one of each of N flows, +{...} is for all packets
 * that follow. A flow's sequence numbers and IDs go on from packet to packet. The
 * usual packet is full size, 1448 bytes of TCP or 1200 of UDP, with 12 bytes of TCP
 * options.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define MAX_PACKETS	512
#define MAX_FLOWS	80

enum how {
	SET,
	OR,		/* the entry's mask, if the value is not 0 */
	ADD,
};

/* Keys that are fields of struct pkt, or of its last tunnel. */
static const struct key {
	const char *name;
	size_t at, size;
	enum how how;
	__u32 mask;
} keys[] = {
#define FIELD(name, field) \
	{ name, offsetof(struct pkt, field), sizeof(((struct pkt *)0)->field) }
#define MASK(name, field, bits) \
	{ name, offsetof(struct pkt, field), \
	  sizeof(((struct pkt *)0)->field), OR, bits }
#define PLUS(name, field) \
	{ name, offsetof(struct pkt, field), \
	  sizeof(((struct pkt *)0)->field), ADD }
	MASK("fin", flags, 0x01), MASK("syn", flags, 0x02),
	MASK("rst", flags, 0x04), MASK("psh", flags, 0x08),
	MASK("noack", flags, 0x10), MASK("urg", flags, 0x20),
	MASK("ece", flags, 0x40), MASK("cwr", flags, 0x80),
	FIELD("reserved", reserved), FIELD("urgent", urgent),
	FIELD("len", len), PLUS("seq", seq), PLUS("id", id), FIELD("ack", ack),
	FIELD("win", win), FIELD("ttl", ttl), FIELD("tos", tos),
	FIELD("df", df), FIELD("optlen", optlen), FIELD("opt", opt),
	FIELD("optflip", opt_flip), FIELD("host", host), FIELD("hash", hash),
	FIELD("ends", ends),
	FIELD("dport", dport), FIELD("label", flow_label),
	FIELD("proto", proto), FIELD("ihl", ihl), FIELD("doff", doff),
	FIELD("frag", frag), FIELD("lie", lie), FIELD("udplie", udp_lie),
	FIELD("trailer", trailer), FIELD("cut", cut), FIELD("fill", ext_fill),
	FIELD("version", version), FIELD("badcsum", bad_csum),
	FIELD("badip", bad_ip_csum), FIELD("nocsum", no_csum),
	FIELD("vlans", vlans), FIELD("tag", vlan_tag), FIELD("shape", shape),
	FIELD("head", head), FIELD("linear", linear),
	FIELD("headroom", headroom), FIELD("frag0", frag0),
	FIELD("summed", ip_summed), FIELD("level", csum_level),
	FIELD("early", csum_early),
	FIELD("dst", dst), FIELD("sk", sk), FIELD("ct", ct), FIELD("tc", tc),
	MASK("encap", frame_flags, GRO_LAB_F_ENCAP),
	MASK("decrypted", frame_flags, GRO_LAB_F_DECRYPTED),
	MASK("zerocopy", frame_flags, GRO_LAB_F_ZEROCOPY),
	MASK("shared", frame_flags, GRO_LAB_F_SHARED_FRAG),
	MASK("flush", frame_flags, GRO_LAB_F_FLUSH),
	MASK("raw", frame_flags, GRO_LAB_F_RAW),
}, outer_keys[] = {
#define OUTER(name, field) \
	{ name, offsetof(struct outer, field), \
	  sizeof(((struct outer *)0)->field) }
	OUTER("o.l3", l3), OUTER("o.host", host), OUTER("o.ttl", ttl),
	OUTER("o.tos", tos), OUTER("o.units", units), OUTER("o.opt", opt),
	OUTER("o.flip", flip), OUTER("o.flags", gre), OUTER("o.id", id),
	OUTER("o.sport", sport), OUTER("o.vni", vni), OUTER("o.lie", lie),
	OUTER("o.udplie", udp_lie), OUTER("o.nodf", no_df),
	OUTER("o.csum", csum), OUTER("o.badcsum", bad_csum),
};

struct flow {
	bool begun;
	__u32 seq;
	__u16 id, outer_id;
};

struct script {
	const char *text, *at;
	struct episode *e;
	struct pkt usual;
	/* Of the packet in hand. */
	unsigned int flow, flows_left;
	int id_step, outer_id_step;
	bool new_batch;
	__u8 features;
	struct flow flows[4][MAX_FLOWS];
};

static void __noreturn bad(const struct script *s, const char *why)
{
	die("%s in '%s', before '%s'", why, s->text, s->at);
}

static void put_field(__u8 *field, const struct key *k, long value)
{
	__u32 old = 0;

	memcpy(&old, field, k->size);
	if (k->how == ADD)
		value += old;
	else if (k->how == OR)
		value = value ? old | k->mask : old & ~k->mask;
	old = value;
	memcpy(field, &old, k->size);
}

static const struct key *find_key(const struct key *list, unsigned int nr,
				  const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static struct outer *last_outer(struct pkt *pkt)
{
	unsigned int i = 0;

	while (i + 1 < OUTERS_MAX && pkt->outer[i + 1].kind)
		i++;
	return &pkt->outer[i];
}

static void add_outer(struct script *s, struct pkt *pkt, const char *name)
{
	struct outer *o = last_outer(pkt);
	int wrap = wrap_find(name);

	if (wrap < 0 || (o->kind && o == &pkt->outer[OUTERS_MAX - 1]))
		bad(s, "no such tunnel");
	if (o->kind)
		o++;
	o->kind = wrap;
	o->l3 = 4;
}

static void add_ext(struct script *s, struct pkt *pkt, __u8 kind, long units)
{
	if (pkt->nr_exts == EXTS_MAX || units < 1)
		bad(s, "too many extension headers");
	pkt->exts[pkt->nr_exts] = kind;
	pkt->ext_units[pkt->nr_exts++] = units - 1;
}

/* gso=SIZE/SEGMENTS/TYPE, as hardware says it. */
static void put_gso(struct script *s, struct pkt *pkt, const char *word)
{
	unsigned int size, segs, type;

	if (!word || sscanf(word, "%i/%i/%i", (int *)&size, (int *)&segs,
			    (int *)&type) != 3)
		bad(s, "gso=SIZE/SEGMENTS/TYPE");
	pkt->gso_size = size;
	pkt->gso_segs = segs;
	pkt->gso_type = type;
}

/* Those that are no fields. */
static bool special(struct script *s, struct pkt *pkt, const char *key,
		    const char *word, long value)
{
	if (!strcmp(key, "in"))
		add_outer(s, pkt, word);
	else if (!strcmp(key, "hbh"))
		add_ext(s, pkt, 0, value);
	else if (!strcmp(key, "dstopt"))
		add_ext(s, pkt, 60, value);
	else if (!strcmp(key, "routing"))
		add_ext(s, pkt, 43, value);
	else if (!strcmp(key, "gso"))
		put_gso(s, pkt, word);
	else if (!strcmp(key, "flow"))
		s->flow = value;
	else if (!strcmp(key, "flows"))
		s->flows_left = value;
	else if (!strcmp(key, "idstep"))
		s->id_step = value;
	else if (!strcmp(key, "o.idstep"))
		s->outer_id_step = value;
	else
		return false;
	return true;
}

static void put_key(struct script *s, struct pkt *pkt, const char *key,
		    const char *word)
{
	long value = word ? strtol(word, NULL, 0) : 1;
	const struct key *k;

	if (special(s, pkt, key, word, value))
		return;
	k = find_key(keys, ARRAY_SIZE(keys), key);
	if (k) {
		put_field((__u8 *)pkt + k->at, k, value);
		return;
	}
	k = find_key(outer_keys, ARRAY_SIZE(outer_keys), key);
	if (!k)
		bad(s, key);
	put_field((__u8 *)last_outer(pkt) + k->at, k, value);
}

/* {KEY=VALUE,KEY}, if there is any. */
static void read_keys(struct script *s, struct pkt *pkt)
{
	char words[256], *save, *key, *word;
	size_t len;

	if (*s->at != '{')
		return;
	len = strcspn(++s->at, "}");
	if (len >= sizeof(words) || !s->at[len])
		bad(s, "no end");
	memcpy(words, s->at, len);
	words[len] = '\0';
	for (key = strtok_r(words, ",", &save); key;
	     key = strtok_r(NULL, ",", &save)) {
		word = strchr(key, '=');
		if (word)
			*word++ = '\0';
		put_key(s, pkt, key, word);
	}
	s->at += len + 1;
}

static void begin_flow(struct flow *f, unsigned int nr)
{
	if (f->begun)
		return;
	f->begun = true;
	f->seq = 1000 + 37 * nr;
	f->id = 100 * nr + 7;
	f->outer_id = 1;
}

static void add_packet(struct script *s, struct pkt pkt, struct flow *f)
{
	struct episode *e = s->e;
	unsigned int i;

	pkt.sport = 4000 + s->flow;
	pkt.seq += f->seq;
	pkt.id += f->id;
	for (i = 0; i < OUTERS_MAX && pkt.outer[i].kind; i++)
		pkt.outer[i].id += f->outer_id;
	if (s->new_batch)
		e->cut[e->nr] = true;
	e->features[e->nr] = s->features;
	s->new_batch = false;
	episode_add(e, &pkt);
	/* Odd numbers are the packet's alone: the flow goes on as without. */
	f->seq += pkt.len;
	f->id += s->id_step;
	f->outer_id += s->outer_id_step;
}

static void add_packets(struct script *s, const struct pkt *pkt,
			unsigned long repeat)
{
	bool udp = pkt->proto == 17;
	struct flow *f = &s->flows[2 * udp + (pkt->l3 == 6)][s->flow];

	begin_flow(f, s->flow);
	while (repeat--)
		add_packet(s, *pkt, f);
}

static void read_packets(struct script *s)
{
	bool udp = *s->at++ == 'U';
	struct pkt pkt = s->usual;
	unsigned long repeat = 1;
	char *end;

	pkt.l3 = *s->at++ - '0';
	if (pkt.l3 != 4 && pkt.l3 != 6)
		bad(s, "4 or 6");
	if (udp) {
		pkt.proto = 17;
		pkt.dport = pkt.dport ? pkt.dport : PORT_GRO;
		pkt.len = 1200;
	}
	s->flow = 0;
	s->flows_left = 1;
	read_keys(s, &pkt);
	if (*s->at == '*') {
		repeat = strtoul(s->at + 1, &end, 0);
		s->at = end;
	}
	if (s->flow + s->flows_left > MAX_FLOWS ||
	    s->e->nr + s->flows_left * repeat > MAX_PACKETS)
		bad(s, "too many");
	for (; s->flows_left--; s->flow++)
		add_packets(s, &pkt, repeat);
}

static void read_option(struct script *s)
{
	struct episode *e = s->e;
	char word[32] = "";
	char *end;
	unsigned long value = 1;
	size_t len = strcspn(++s->at, "= ");

	memcpy(word, s->at, len < sizeof(word) ? len : sizeof(word) - 1);
	s->at += len;
	if (*s->at == '=') {
		value = strtoul(s->at + 1, &end, 0);
		s->at = end;
	}
	if (!strcmp(word, "frags"))
		e->frags = true;
	else if (!strcmp(word, "settle"))
		e->settle = true;
	else if (!strcmp(word, "entry"))
		e->entry = value;
	else if (!strcmp(word, "dev"))
		s->features = value;
	else if (!strcmp(word, "max"))
		e->gro_max_size = value;
	else if (!strcmp(word, "max4"))
		e->gro_ipv4_max_size = value;
	else
		bad(s, "no such option");
	if (e->entry == GRO_LAB_ENTRY_CELLS)
		e->flush_each = true;
}

static void read_word(struct script *s)
{
	switch (*s->at) {
	case 'T': case 'U':
		read_packets(s);
		break;
	case '@':
		read_option(s);
		break;
	case '|':
		s->at++;
		s->new_batch = true;
		break;
	case '+':
		s->at++;
		read_keys(s, &s->usual);
		break;
	default:
		bad(s, "what is this");
	}
}

void script_episode(struct episode *e, const char *script)
{
	struct script *s = xalloc(sizeof(*s));

	*s = (struct script) {
		.text = script, .at = script, .e = e, .id_step = 1,
		.outer_id_step = 1,
		.usual = {
			.len = 1448, .ack = 1, .win = 512, .ttl = 64,
			.df = true, .optlen = 12, .hash = 1,
		},
	};
	episode_init(e, MAX_PACKETS);
	while (*s->at) {
		if (isspace(*s->at))
			s->at++;
		else
			read_word(s);
	}
	free(s);
}
