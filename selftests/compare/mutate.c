// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that nobody would send: bits flipped, lengths that lie, headers that
 * lead elsewhere, ends cut off, one frame's head on another one's body.
 */
#include <string.h>

#include "../../bench/packet.h"
#include "compare.h"

#define ETH_LEN	14
/* So far into a frame there are headers. */
#define HEADERS	128

/* What a byte of a header is set to when it is not just any other value. */
static const __u8 odd_bytes[] = {
	0x00, 0x01, 0x02, 0x04, 0x06, 0x11, 0x29, 0x2b, 0x2c, 0x2f, 0x3b, 0x3c,
	0x45, 0x4f, 0x60, 0x7f, 0x80, 0xfe, 0xff,
};

static void mutate_bits(__u8 *bytes, size_t len, __u64 *rng)
{
	unsigned int n = 1 + rnd(rng) % 3;
	size_t reach = len < HEADERS ? len : HEADERS;

	while (n--)
		bytes[rnd(rng) % reach] ^= 1 << rnd(rng) % 8;
}

static void mutate_byte(__u8 *bytes, size_t len, __u64 *rng)
{
	size_t reach = len < HEADERS ? len : HEADERS;

	bytes[ETH_LEN + rnd(rng) % (reach - ETH_LEN)] =
		odd_bytes[rnd(rng) % sizeof(odd_bytes)];
}

/* A 16-bit field at @at is off by a little, or by a lot. */
static void mutate_16(__u8 *bytes, size_t len, size_t at, __u64 *rng)
{
	static const __s32 by[] = {
		-40, -20, -8, -4, -1, 1, 4, 8, 20, 40, 256, 0x4000, 0x8000,
	};
	unsigned int value;

	if (at + 2 > len)
		return;
	value = (bytes[at] << 8 | bytes[at + 1]) +
		by[rnd(rng) % ARRAY_SIZE(by)];
	bytes[at] = value >> 8;
	bytes[at + 1] = value;
}

/* A field that a parser goes by, of whichever header is there. */
static void mutate_field(__u8 *bytes, size_t len, __u64 *rng)
{
	static const __u8 v4[] = { 0, 2, 4, 6, 8, 10 };
	static const __u8 v6[] = { 0, 4, 6, 40, 42 };
	static const __u8 l4[] = { 0, 4, 6, 12, 14, 16, 18, 20, 22 };
	struct packet_info info;
	size_t at;

	packet_parse(bytes, len, &info);
	switch (rnd(rng) % 3) {
	case 0:
		at = info.l3 + (info.type == 0x86dd ?
				v6[rnd(rng) % sizeof(v6)] :
				v4[rnd(rng) % sizeof(v4)]);
		break;
	case 1:
		at = info.l4 + l4[rnd(rng) % sizeof(l4)];
		break;
	default:
		/* an EtherType */
		at = 12 + 4 * (rnd(rng) % 3);
		break;
	}
	mutate_16(bytes, len, at, rng);
}

/* The frame ends early; what is left of it is laid out anew. */
static void mutate_end(struct gro_lab_frame *frame, __u64 *rng)
{
	frame->len = ETH_LEN + 1 + rnd(rng) % (frame->len - ETH_LEN);
	if (frame->linear > frame->len)
		frame->linear = frame->len;
	frame->nr_frags = 0;
	frame->nr_members = 0;
	/* No card points behind the end of a frame, and no kernel allows it. */
	if (frame->csum_start + frame->csum_offset + 2U > frame->len)
		frame->ip_summed = GRO_LAB_CSUM_NONE;
	frame->transport = 0;
	frame->inner_mac = 0;
	frame->inner_network = 0;
	frame->inner_transport = 0;
}

static void mutate_head(__u8 *bytes, size_t len, const __u8 *other,
			size_t other_len, __u64 *rng)
{
	size_t n = ETH_LEN + rnd(rng) % (HEADERS - ETH_LEN);

	if (n > len)
		n = len;
	if (n > other_len)
		n = other_len;
	memcpy(bytes, other, n);
}

static void mutate_frame(struct episode *e, unsigned int i, __u64 *rng)
{
	struct gro_lab_frame *frame = &e->frames[i];
	unsigned int other = rnd(rng) % e->nr;
	__u8 *bytes = e->bytes[i];

	if (frame->len <= ETH_LEN + 1)
		return;
	switch (rnd(rng) % 6) {
	case 0:
		mutate_bits(bytes, frame->len, rng);
		break;
	case 1:
		mutate_byte(bytes, frame->len, rng);
		break;
	case 2: case 3:
		mutate_field(bytes, frame->len, rng);
		break;
	case 4:
		mutate_end(frame, rng);
		break;
	case 5:
		mutate_head(bytes, frame->len, e->bytes[other],
			    e->frames[other].len, rng);
		break;
	}
	/* With right checksums they get further. */
	if (one_in(rng, 2))
		wrap_repair(bytes, frame->len);
}

/* One frame in four; the others are what it has to be kept apart from. */
void mutate_episode(struct episode *e)
{
	__u64 rng = e->seed ^ 0xd1b54a32d192ed03ULL;
	unsigned int i;

	for (i = 0; i < e->nr; i++)
		if (one_in(&rng, 4))
			mutate_frame(e, i, &rng);
}
