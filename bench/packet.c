// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "frame.h"
#include "packet.h"

#define TH_FIN	0x01
#define TH_CWR	0x80

static __u16 get16(const __u8 *from)
{
	return from[0] << 8 | from[1];
}

static __u32 get32(const __u8 *from)
{
	return (__u32)get16(from) << 16 | get16(from + 2);
}

static void put16(__u8 *to, __u16 value)
{
	to[0] = value >> 8;
	to[1] = value;
}

static void put32(__u8 *to, __u32 value)
{
	put16(to, value >> 16);
	put16(to + 2, value);
}

/* --- parsing -------------------------------------------------------------- */

static __u32 hash_add(__u32 hash, const __u8 *from, size_t len)
{
	while (len--)
		hash = (hash ^ *from++) * 16777619;
	return hash;
}

/* Returns whether there is a transport header, so no later fragment. */
static bool parse_ip4(const __u8 *frame, size_t len,
		      struct packet_info *info)
{
	const __u8 *ip = frame + info->l3;
	size_t ihl;

	if (len < info->l3 + 20)
		return false;
	ihl = 4 * (ip[0] & 15);
	info->proto = ip[9];
	info->l4 = info->l3 + ihl;
	info->payload = info->l4;
	info->hash = hash_add(info->hash, ip + 12, 8);
	return ip[0] >> 4 == 4 && ihl >= 20 && len >= info->l4 &&
	       !(get16(ip + 6) & 0x3fff);
}

static bool parse_ip6(const __u8 *frame, size_t len,
		      struct packet_info *info)
{
	const __u8 *ip = frame + info->l3;
	size_t at = info->l3 + 40;
	__u8 next;

	if (len < at || ip[0] >> 4 != 6)
		return false;
	next = ip[6];
	info->hash = hash_add(info->hash, ip + 8, 32);
	/* hop-by-hop, routing, destination options */
	while ((next == 0 || next == 43 || next == 60) && len >= at + 8) {
		next = frame[at];
		at += 8 * (frame[at + 1] + 1);
	}
	info->proto = next;
	info->l4 = at;
	info->payload = at;
	return len >= at;
}

static void parse_l4(const __u8 *frame, size_t len,
		     struct packet_info *info)
{
	const __u8 *th = frame + info->l4;
	size_t size;

	if (info->proto == 6 && len >= info->l4 + 20)
		size = 4 * (th[12] >> 4);
	else if (info->proto == 17 && len >= info->l4 + 8)
		size = 8;
	else
		return;
	info->hash = hash_add(info->hash, th, 4);
	if (size >= 8 && len >= info->l4 + size)
		info->payload = info->l4 + size;
}

void packet_parse(const __u8 *frame, size_t len, struct packet_info *info)
{
	bool l4 = false;

	memset(info, 0, sizeof(*info));
	info->l3 = 14;
	info->type = get16(frame + 12);
	while ((info->type == 0x8100 || info->type == 0x88a8) &&
	       len >= info->l3 + 4) {
		info->type = get16(frame + info->l3 + 2);
		info->l3 += 4;
	}
	info->l4 = info->l3;
	info->payload = info->l3;
	if (info->type != 0x0800 && info->type != 0x86dd)
		return;
	info->hash = 2166136261;
	l4 = info->type == 0x0800 ? parse_ip4(frame, len, info) :
				    parse_ip6(frame, len, info);
	if (l4)
		parse_l4(frame, len, info);
	if (!info->hash)
		info->hash = 1;
}

/* --- segmentation --------------------------------------------------------- */

bool packet_can_split(const __u8 *frame, const struct packet_info *info)
{
	return info->proto == 6 && info->payload >= info->l4 + 20 &&
	       info->l3 <= PACKET_MAX_L2 &&
	       info->payload <= info->l3 + PACKET_MAX_HEADERS &&
	       !(frame[info->l4 + 13] & 0x06);	/* no SYN, no RST */
}

static void fix_ip4(__u8 *ip, size_t size, unsigned int nr)
{
	size_t ihl = 4 * (ip[0] & 15);

	put16(ip + 2, size);
	put16(ip + 4, get16(ip + 4) + nr);
	put16(ip + 10, 0);
	put16(ip + 10, csum_fold(csum_add(0, ip, ihl)));
}

static void fix_tcp(__u8 *out, const struct packet_info *info, size_t size,
		    size_t skipped, bool last)
{
	__u8 *th = out + info->l4, *ip = out + info->l3;
	__u32 sum = 6 + (size - info->l4);

	put32(th + 4, get32(th + 4) + skipped);
	if (!last)
		th[13] &= ~(TH_FIN | TH_PSH);
	if (skipped)
		th[13] &= ~TH_CWR;
	if (info->type == 0x0800)
		sum = csum_add(sum, ip + 12, 8);
	else
		sum = csum_add(sum, ip + 8, 32);
	put16(th + 16, 0);
	put16(th + 16, csum_fold(csum_add(sum, th, size - info->l4)));
}

size_t packet_split(const __u8 *frame, size_t len,
		    const struct packet_info *info, unsigned int nr,
		    unsigned int mtu, __u8 *out)
{
	size_t mss = mtu + info->l3 - info->payload;
	size_t skipped = nr * mss, rest, size;

	if (info->payload + skipped >= len)
		return 0;
	rest = len - info->payload - skipped;
	size = rest < mss ? rest : mss;
	memcpy(out, frame, info->payload);
	memcpy(out + info->payload, frame + info->payload + skipped, size);
	size += info->payload;
	if (info->type == 0x0800)
		fix_ip4(out + info->l3, size - info->l3, nr);
	else
		put16(out + info->l3 + 4, size - info->l3 - 40);
	fix_tcp(out, info, size, skipped, rest <= mss);
	return size;
}
