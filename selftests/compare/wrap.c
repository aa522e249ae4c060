// SPDX-License-Identifier: GPL-2.0-only
/* The same frames with more headers in front: tags, tunnels, IPv6 options. */
#include <string.h>

#include "../../bench/frame.h"
#include "../../bench/packet.h"
#include "compare.h"

#define ETH_LEN 14

#define GRE_CSUM 0x8000
#define GRE_KEY 0x2000

static const struct kind {
	const char *name;
	__u8 inner, outer;	/* IP versions; 0: either */
	__u16 port;		/* runs over UDP, to this one */
	bool ethernet;		/* all of the frame goes in */
} kinds[WRAPS] = {
	[WRAP_NONE] = { "none" },
	[WRAP_VLAN] = { "vlan" },
	[WRAP_QINQ] = { "qinq" },
	[WRAP_IPIP] = { "ipip", 4, 4 },
	[WRAP_SIT] = { "sit", 6, 4 },
	[WRAP_IP6IP6] = { "ip6ip6", 6, 6 },
	[WRAP_4IN6] = { "4in6", 4, 6 },
	[WRAP_GRE] = { "gre" },
	[WRAP_VXLAN] = { "vxlan", .port = PORT_VXLAN, .ethernet = true },
	[WRAP_GENEVE] = { "geneve", .port = PORT_GENEVE, .ethernet = true },
	[WRAP_HBH] = { "hbh", 6 },
	[WRAP_DSTOPT] = { "dstopt", 6 },
	[WRAP_ROUTING] = { "routing", 6 },
	[WRAP_GRETAP] = { "gretap", .ethernet = true },
	[WRAP_GPE] = { "gpe", .port = PORT_GPE },
	[WRAP_FOU] = { "fou", 4, .port = PORT_FOU },
	[WRAP_GUE] = { "gue", .port = PORT_GUE },
	[WRAP_ESP] = { "esp" },
	[WRAP_ESPUDP] = { "espudp", .port = PORT_ESP },
	[WRAP_PPPOE] = { "pppoe" },
};

int wrap_find(const char *name)
{
	int i;

	for (i = 0; i < WRAPS; i++)
		if (!strcmp(kinds[i].name, name))
			return i;
	return -1;
}

const char *wrap_name(unsigned int wrap)
{
	return wrap < WRAPS ? kinds[wrap].name : NULL;
}

bool wrap_has_ethernet(unsigned int wrap)
{
	return kinds[wrap].ethernet;
}

unsigned int wrap_inner(unsigned int wrap)
{
	return kinds[wrap].inner;
}

static void put16(__u8 *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static unsigned int get16(const __u8 *at)
{
	return at[0] << 8 | at[1];
}

static void put32(__u8 *at, __u32 value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

/* --- the layers of a tunnel ----------------------------------------------- */

static void put_ip4(const struct outer *o, __u8 *at, __u8 proto, size_t payload)
{
	memset(at, 0, 20);
	at[0] = 0x45;
	at[1] = o->tos;
	put16(at + 2, 20 + payload + o->lie);
	put16(at + 4, o->id);
	at[6] = o->no_df ? 0 : 0x40;
	at[8] = o->ttl ? o->ttl : 64;
	at[9] = proto;
	memcpy(at + 12, "\xc0\0\2\1\xc0\0\2\2", 8);
	at[15] += o->host;
	put16(at + 10, csum_fold(csum_add(0, at, 20)));
}

static void put_ip6(const struct outer *o, __u8 *at, __u8 proto, size_t payload)
{
	memset(at, 0, 40);
	put32(at, 6u << 28 | (__u32)o->tos << 20 | o->flow_label);
	put16(at + 4, payload + o->lie);
	at[6] = proto;
	at[7] = o->ttl ? o->ttl : 64;
	memcpy(at + 8, "\x20\1\xd\xb8", 4);
	at[23] = 1 + o->host;
	memcpy(at + 24, "\x20\1\xd\xb8", 4);
	at[39] = 2;
}

/*
 * Zero checksum unless asked for: as most senders of VXLAN have it. @addrs are
 * those of the IP header, @payload is in place.
 */
static void put_udp(const struct outer *o, __u8 *at, const __u8 *addrs,
		    size_t addrs_len, size_t payload)
{
	__u8 pseudo[4] = { 0, 17 };
	unsigned int check;
	__u32 sum;

	put16(at, o->sport ? o->sport : 50000);
	put16(at + 2, kinds[o->kind].port);
	put16(at + 4, 8 + payload + o->udp_lie);
	put16(at + 6, 0);
	if (!o->csum)
		return;
	put16(pseudo + 2, 8 + payload);
	sum = csum_add(csum_add(0, addrs, addrs_len), pseudo, 4);
	check = csum_fold(csum_add(sum, at, 8 + payload)) ^ o->bad_csum;
	put16(at + 6, check ? check : 0xffff);
}

/* Returns its length; what it is put in front of has ether type @type. */
static size_t put_gre(const struct outer *o, __u8 *at, unsigned int type)
{
	size_t len = 4;

	put16(at, o->gre);
	put16(at + 2, kinds[o->kind].ethernet ? 0x6558 : type);
	if (o->gre & GRE_CSUM) {
		put32(at + len, 0);
		len += 4;
	}
	if (o->gre & GRE_KEY) {
		put32(at + len, o->vni);
		len += 4;
	}
	return len;
}

static size_t put_vxlan(const struct outer *o, __u8 *at, unsigned int type)
{
	put32(at, 0x08000000);
	put32(at + 4, (o->vni ? o->vni : 7) << 8);
	if (o->kind == WRAP_GPE) {
		at[0] |= 4;
		at[3] = type == 0x86dd ? 2 : 1;
	}
	return 8;
}

static size_t put_geneve(const struct outer *o, __u8 *at)
{
	put32(at, (__u32)o->units << 24 | 0x6558);
	put32(at + 4, (o->vni ? o->vni : 7) << 8);
	if (!o->units)
		return 8;
	put32(at + 8, 0x01020300 | (o->units - 1));
	memset(at + 12, o->opt, 4 * (o->units - 1));
	if (o->units == 1)
		at[10] += o->opt;
	return 8 + 4 * o->units;
}

/* One option of its own, REMCSUM, is known; its flags are the first word. */
static size_t put_gue(const struct outer *o, __u8 *at, unsigned int type)
{
	put32(at, (__u32)o->units << 24 | (type == 0x86dd ? 41 : 4) << 16 |
	      o->gre);
	memset(at + 4, o->opt, 4 * o->units);
	if (o->units)
		put32(at + 4, o->vni);
	return 4 + 4 * o->units;
}

static size_t put_tunnel(const struct outer *o, __u8 *at, unsigned int type)
{
	size_t len = 0;

	switch (o->kind) {
	case WRAP_GRE:
	case WRAP_GRETAP:
		len = put_gre(o, at, type);
		break;
	case WRAP_VXLAN:
	case WRAP_GPE:
		len = put_vxlan(o, at, type);
		break;
	case WRAP_GENEVE:
		len = put_geneve(o, at);
		break;
	case WRAP_GUE:
		len = put_gue(o, at, type);
		break;
	case WRAP_ESP:
	case WRAP_ESPUDP:
		/* Each has a state of its own; see network.c. */
		put32(at, o->kind == WRAP_ESP ? ESP_SPI : ESPUDP_SPI);
		put32(at + 4, 1 + o->id);
		len = 8;
		break;
	}
	if (len)
		put16(at, get16(at) ^ o->flip);
	return len;
}

/* What ESP has behind the @len bytes of payload at @at. */
static size_t put_trailer(const struct outer *o, __u8 *at, size_t len,
			  unsigned int type)
{
	size_t pad = -(len + 2) & 3, i;

	if (o->kind != WRAP_ESP && o->kind != WRAP_ESPUDP)
		return 0;
	for (i = 0; i < pad; i++)
		at[len + i] = i + 1;
	at[len + pad] = pad;
	at[len + pad + 1] = type == 0x86dd ? 41 : 4;
	return pad + 2;
}

static __u8 tunnel_proto(const struct outer *o, unsigned int type)
{
	if (kinds[o->kind].port)
		return 17;
	if (o->kind == WRAP_GRE || o->kind == WRAP_GRETAP)
		return 47;
	if (o->kind == WRAP_ESP)
		return 50;
	return type == 0x86dd ? 41 : 4;
}

static bool tunnel_fits(const struct kind *k, unsigned int type, size_t len)
{
	if (len < ETH_LEN + 20)
		return false;
	if (k->ethernet)
		return true;
	if (type != 0x0800 && type != 0x86dd)
		return false;
	return !k->inner || k->inner == (type == 0x86dd ? 6 : 4);
}

static size_t in_tunnel(const struct outer *o, const __u8 *bytes, size_t len,
			__u8 *out)
{
	const struct kind *k = &kinds[o->kind];
	unsigned int type = get16(bytes + 12);
	bool outer6 = (k->outer ? k->outer : o->l3) == 6;
	size_t from = k->ethernet ? 0 : ETH_LEN;
	size_t l3 = outer6 ? 40 : 20, udp = k->port ? 8 : 0, room;
	__u8 *at = out + ETH_LEN + l3 + udp;

	if (!tunnel_fits(k, type, len))
		return 0;
	memcpy(out, bytes, 12);
	put16(out + 12, outer6 ? 0x86dd : 0x0800);
	room = put_tunnel(o, at, type);
	memcpy(at + room, bytes + from, len - from);
	room += len - from + put_trailer(o, at + room, len - from, type);
	if (tunnel_proto(o, type) == 47 && o->gre & GRE_CSUM)
		put16(at + 4, csum_fold(csum_add(0, at, room)) ^ o->bad_csum);
	if (outer6)
		put_ip6(o, out + ETH_LEN, tunnel_proto(o, type), udp + room);
	else
		put_ip4(o, out + ETH_LEN, tunnel_proto(o, type), udp + room);
	if (udp)
		put_udp(o, at - udp, out + ETH_LEN + (outer6 ? 8 : 12),
			outer6 ? 32 : 8, room);
	return ETH_LEN + l3 + udp + room;
}

/* --- all kinds ------------------------------------------------------------ */

static size_t tag(const __u8 *bytes, size_t len, __u8 *out, unsigned int tags)
{
	size_t room = 4 * tags;

	memcpy(out, bytes, 12);
	put16(out + 12, tags > 1 ? 0x88a8 : 0x8100);
	put16(out + 14, 5);
	if (tags > 1) {
		put16(out + 16, 0x8100);
		put16(out + 18, 6);
	}
	memcpy(out + 12 + room, bytes + 12, len - 12);
	return len + room;
}

/* 8 bytes of extension header behind the IPv6 header. */
static size_t with_ext(const __u8 *bytes, size_t len, __u8 *out, __u8 kind)
{
	if (get16(bytes + 12) != 0x86dd || len < ETH_LEN + 40)
		return 0;
	memcpy(out, bytes, ETH_LEN + 40);
	put16(out + ETH_LEN + 4, get16(bytes + ETH_LEN + 4) + 8);
	out[ETH_LEN + 6] = kind;
	memset(out + ETH_LEN + 40, 0, 8);
	out[ETH_LEN + 40] = bytes[ETH_LEN + 6];
	if (kind != 43) {
		out[ETH_LEN + 42] = 1;
		out[ETH_LEN + 43] = 4;
	}
	memcpy(out + ETH_LEN + 48, bytes + ETH_LEN + 40, len - ETH_LEN - 40);
	return len + 8;
}

static size_t in_pppoe(const struct outer *o, const __u8 *bytes, size_t len,
		       __u8 *out)
{
	unsigned int type = get16(bytes + 12);

	if (type != 0x0800 && type != 0x86dd)
		return 0;
	memcpy(out, bytes, 12);
	put16(out + 12, 0x8864);
	put16(out + 14, 0x1100 ^ o->flip);
	put16(out + 16, o->vni ? o->vni : 1);
	put16(out + 18, len - ETH_LEN + 2 + o->lie);
	put16(out + 20, type == 0x86dd ? 0x57 : 0x21);
	memcpy(out + 22, bytes + ETH_LEN, len - ETH_LEN);
	return len + 8;
}

size_t wrap_outer(const struct outer *o, const __u8 *bytes, size_t len,
		  __u8 *out)
{
	switch (o->kind) {
	case WRAP_NONE:
		memcpy(out, bytes, len);
		return len;
	case WRAP_VLAN:
		return tag(bytes, len, out, 1);
	case WRAP_QINQ:
		return tag(bytes, len, out, 2);
	case WRAP_PPPOE:
		return in_pppoe(o, bytes, len, out);
	case WRAP_HBH:
		return with_ext(bytes, len, out, 0);
	case WRAP_DSTOPT:
		return with_ext(bytes, len, out, 60);
	case WRAP_ROUTING:
		return with_ext(bytes, len, out, 43);
	}
	return in_tunnel(o, bytes, len, out);
}

size_t wrap_frame(unsigned int wrap, const __u8 *bytes, size_t len, __u8 *out)
{
	const struct outer o = {
		.kind = wrap,
		.l3 = 4,
		.id = len > 20 ? get16(bytes + 18) : 0,
	};

	return wrap_outer(&o, bytes, len, out);
}

static void repair_l4(__u8 *l4, size_t len, __u32 sum, __u8 proto)
{
	size_t at = proto == 17 ? 6 : 16;
	__u8 pseudo[4] = { 0, proto };
	unsigned int check;

	if ((proto != 6 && proto != 17) || len < at + 2)
		return;
	/* Zero says that there is none. */
	if (proto == 17 && !get16(l4 + at))
		return;
	put16(pseudo + 2, len);
	put16(l4 + at, 0);
	check = csum_fold(csum_add(csum_add(sum, pseudo, 4), l4, len));
	put16(l4 + at, proto == 17 && !check ? 0xffff : check);
}

void wrap_repair(__u8 *bytes, size_t len)
{
	struct packet_info info;
	size_t end, ihl;
	__u8 *l3;

	packet_parse(bytes, len, &info);
	l3 = bytes + info.l3;
	if (info.type == 0x0800 && len >= info.l3 + 20) {
		ihl = 4 * (l3[0] & 15);
		end = info.l3 + get16(l3 + 2);
		if (ihl < 20 || end > len || info.l3 + ihl > end)
			return;
		put16(l3 + 10, 0);
		put16(l3 + 10, csum_fold(csum_add(0, l3, ihl)));
		if (get16(l3 + 6) & 0x3fff)
			return;
		repair_l4(l3 + ihl, end - info.l3 - ihl,
			  csum_add(0, l3 + 12, 8), l3[9]);
	} else if (info.type == 0x86dd && len >= info.l3 + 40) {
		end = info.l3 + 40 + get16(l3 + 4);
		if (end > len || info.l4 > end || info.l4 < info.l3 + 40)
			return;
		repair_l4(bytes + info.l4, end - info.l4,
			  csum_add(0, l3 + 8, 32), info.proto);
	}
}
