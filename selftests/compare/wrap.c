// SPDX-License-Identifier: GPL-2.0-only
/* The same frames with more headers in front: tags, tunnels, IPv6 options. */
#include <string.h>

#include "../../bench/frame.h"
#include "../../bench/packet.h"
#include "compare.h"

#define ETH_LEN 14

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
	WRAPS
};

static const char *const names[WRAPS] = {
	"none", "vlan", "qinq", "ipip", "sit", "ip6ip6", "4in6", "gre",
	"vxlan", "geneve", "hbh", "dstopt", "routing",
};

int wrap_find(const char *name)
{
	int i;

	for (i = 0; i < WRAPS; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

const char *wrap_name(unsigned int wrap)
{
	return wrap < WRAPS ? names[wrap] : NULL;
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

static size_t put_ip4(__u8 *at, __u8 proto, size_t payload, unsigned int id)
{
	memset(at, 0, 20);
	at[0] = 0x45;
	put16(at + 2, 20 + payload);
	put16(at + 4, id);
	at[6] = 0x40;
	at[8] = 64;
	at[9] = proto;
	memcpy(at + 12, "\xc0\0\2\1\xc0\0\2\2", 8);
	put16(at + 10, csum_fold(csum_add(0, at, 20)));
	return 20;
}

static size_t put_ip6(__u8 *at, __u8 proto, size_t payload)
{
	memset(at, 0, 40);
	at[0] = 0x60;
	put16(at + 4, payload);
	at[6] = proto;
	at[7] = 64;
	memcpy(at + 8, "\x20\1\xd\xb8", 4);
	at[23] = 1;
	memcpy(at + 24, "\x20\1\xd\xb8", 4);
	at[39] = 2;
	return 40;
}

/* Zero checksum: as most senders of VXLAN have it. */
static size_t put_udp(__u8 *at, unsigned int port, size_t payload)
{
	put16(at, 50000);
	put16(at + 2, port);
	put16(at + 4, 8 + payload);
	put16(at + 6, 0);
	return 8;
}

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

/* An outer IP header in place of the Ethernet header's next. */
static size_t in_ip(const __u8 *bytes, size_t len, __u8 *out, bool inner6,
		    bool outer6)
{
	unsigned int type = get16(bytes + 12), id = get16(bytes + 18);
	size_t at = ETH_LEN;

	if (type != (inner6 ? 0x86dd : 0x0800) || len < ETH_LEN + 20)
		return 0;
	memcpy(out, bytes, 12);
	put16(out + 12, outer6 ? 0x86dd : 0x0800);
	if (outer6)
		at += put_ip6(out + at, inner6 ? 41 : 4, len - ETH_LEN);
	else
		at += put_ip4(out + at, inner6 ? 41 : 4, len - ETH_LEN, id);
	memcpy(out + at, bytes + ETH_LEN, len - ETH_LEN);
	return at + len - ETH_LEN;
}

static size_t in_gre(const __u8 *bytes, size_t len, __u8 *out)
{
	size_t at = ETH_LEN;

	if (len < ETH_LEN + 20)
		return 0;
	memcpy(out, bytes, 12);
	put16(out + 12, 0x0800);
	at += put_ip4(out + at, 47, 4 + len - ETH_LEN, get16(bytes + 18));
	put16(out + at, 0);
	memcpy(out + at + 2, bytes + 12, len - 12);
	return at + 2 + len - 12;
}

static size_t in_udp(const __u8 *bytes, size_t len, __u8 *out, bool geneve)
{
	size_t at = ETH_LEN;

	if (len < ETH_LEN + 20)
		return 0;
	memcpy(out, bytes, 12);
	put16(out + 12, 0x0800);
	at += put_ip4(out + at, 17, 16 + len, get16(bytes + 18));
	at += put_udp(out + at, geneve ? 6081 : 4789, 8 + len);
	memset(out + at, 0, 8);
	if (geneve)
		put16(out + at + 2, 0x6558);
	else
		out[at] = 8;
	out[at + 6] = 7;
	memcpy(out + at + 8, bytes, len);
	return at + 8 + len;
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

size_t wrap_frame(unsigned int wrap, const __u8 *bytes, size_t len, __u8 *out)
{
	switch (wrap) {
	case WRAP_NONE:
		memcpy(out, bytes, len);
		return len;
	case WRAP_VLAN:
		return tag(bytes, len, out, 1);
	case WRAP_QINQ:
		return tag(bytes, len, out, 2);
	case WRAP_IPIP:
		return in_ip(bytes, len, out, false, false);
	case WRAP_SIT:
		return in_ip(bytes, len, out, true, false);
	case WRAP_IP6IP6:
		return in_ip(bytes, len, out, true, true);
	case WRAP_4IN6:
		return in_ip(bytes, len, out, false, true);
	case WRAP_GRE:
		return in_gre(bytes, len, out);
	case WRAP_VXLAN:
		return in_udp(bytes, len, out, false);
	case WRAP_GENEVE:
		return in_udp(bytes, len, out, true);
	case WRAP_HBH:
		return with_ext(bytes, len, out, 0);
	case WRAP_DSTOPT:
		return with_ext(bytes, len, out, 60);
	case WRAP_ROUTING:
		return with_ext(bytes, len, out, 43);
	}
	return 0;
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
