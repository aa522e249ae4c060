// SPDX-License-Identifier: GPL-2.0-only
/*
 * IPv6 extension header chains of unequal length, each against each, through
 * /dev/gro_lab: a held packet with one chain, then one of the same flow with
 * another, then one that continues the first. In both orders, since all pairs
 * are tried, with the headers at the end of a head from kmalloc(), so that on a
 * kernel with KASAN no comparison gets far beyond either packet unseen.
 *
 * What leaves GRO has to be the same in state off, passthrough and on. TAP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gro_lab.h"

#define STATE		"/sys/kernel/gro_opt/state"
#define COUNTERS	"/sys/kernel/gro_opt/features/exthdr/counters"

#define ETH		14
#define IP6		40
#define TCP		32
#define PAYLOAD		200
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum { HOP = 0, ROUTING = 43, DEST = 60, TCP_NEXT = 6 };

/* Up to three headers: protocol and length of each. */
struct chain {
	struct {
		uint8_t proto;
		uint16_t len;
	} header[3];
};

#define LENGTHS(p)							\
	{ { { p, 8 } } }, { { { p, 16 } } }, { { { p, 24 } } },		\
	{ { { p, 64 } } }, { { { p, 264 } } }, { { { p, 1024 } } },	\
	{ { { p, 2048 } } }

static const struct chain chains[] = {
	{ { { 0, 0 } } },
	LENGTHS(HOP), LENGTHS(DEST), LENGTHS(ROUTING),
	{ { { HOP, 8 }, { DEST, 8 } } },
	{ { { HOP, 8 }, { DEST, 2048 } } },
	{ { { HOP, 8 }, { ROUTING, 8 }, { DEST, 8 } } },
	{ { { DEST, 8 }, { DEST, 8 } } },
	{ { { DEST, 2048 }, { DEST, 8 } } },
	{ { { DEST, 2048 }, { ROUTING, 1024 }, { DEST, 264 } } },
};

struct shape {
	const char *name;
	uint8_t head;
	int all_linear;
	uint32_t flags;		/* of the batch */
};

static const struct shape shapes[] = {
	{ "headers end a kmalloc head", GRO_LAB_HEAD_KMALLOC, 0, 0 },
	{ "kmalloc head, all linear", GRO_LAB_HEAD_KMALLOC, 1, 0 },
	{ "headers end a page fragment", GRO_LAB_HEAD_FRAG, 0, 0 },
	{ "all in page frags", GRO_LAB_HEAD_FRAG, 0, GRO_LAB_B_FRAGS },
};

#define MAX_FRAMES	(3 * ARRAY_SIZE(chains))
#define MAX_FRAME	(ETH + IP6 + 3 * 2048 + TCP + PAYLOAD)

static uint8_t in[sizeof(struct gro_lab_batch) +
		  MAX_FRAMES * (sizeof(struct gro_lab_frame) + MAX_FRAME)];
static uint8_t out[4 << 20];

static void __attribute__((noreturn)) die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned int chain_len(const struct chain *c)
{
	return c->header[0].len + c->header[1].len + c->header[2].len;
}

static void put16(uint8_t *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, 2);
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, 4);
}

/*
 * Zeroes are padding for options and a spent list for routing, and equal in all
 * chains as long as possible.
 */
static uint8_t *put_chain(uint8_t *next, uint8_t *at, const struct chain *c)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c->header) && c->header[i].len; i++) {
		*next = c->header[i].proto;
		next = at;
		at[1] = c->header[i].len / 8 - 1;
		at += c->header[i].len;
	}
	*next = TCP_NEXT;
	return at;
}

/* The frame's bytes; returns their number. */
static unsigned int put_frame(uint8_t *at, const struct chain *c, uint32_t seq)
{
	unsigned int len = ETH + IP6 + chain_len(c) + TCP + PAYLOAD;
	uint8_t *ip = at + ETH, *tcp;

	memset(at, 0, len);
	at[5] = 1;
	at[11] = 2;
	put16(at + 12, 0x86dd);
	put32(ip, 0x60012345);
	put16(ip + 4, len - ETH - IP6);
	ip[7] = 64;
	put32(ip + 8, 0x20010db8);
	ip[23] = 1;
	put32(ip + 24, 0x20010db8);
	ip[39] = 2;
	tcp = put_chain(ip + 6, ip + IP6, c);
	put16(tcp, 4000);
	put16(tcp + 2, 5000);
	put32(tcp + 4, seq);
	put32(tcp + 8, 1);
	tcp[12] = TCP / 4 << 4;
	tcp[13] = 0x10;
	put16(tcp + 14, 512);
	put32(tcp + 20, 0x0101080a);
	memset(tcp + TCP, seq, PAYLOAD);
	return len;
}

static unsigned int describe(struct gro_lab_frame *f, const struct shape *s,
			     unsigned int len, unsigned int headers)
{
	f->len = len;
	f->flags = GRO_LAB_F_HEADROOM | GRO_LAB_F_TAILROOM;
	f->headroom = 2;
	f->head = s->head;
	f->linear = s->all_linear ? len : headers;
	if (s->flags & GRO_LAB_B_FRAGS)
		f->linear = 0;
	f->ip_summed = GRO_LAB_CSUM_UNNECESSARY;
	f->hash_type = GRO_LAB_HASH_L4;
	f->hash = 0x1234;
	return len;
}

/* @first against each of the chains. Returns the size of what to write. */
static size_t put_batch(const struct shape *s, const struct chain *first)
{
	struct gro_lab_batch *head = (void *)in;
	struct gro_lab_frame *f = (void *)(head + 1);
	uint8_t *at = (uint8_t *)(f + MAX_FRAMES);
	unsigned int i, j, len;

	memset(in, 0, at - in);
	head->version = GRO_LAB_VERSION;
	head->frame_size = sizeof(*f);
	head->frames = MAX_FRAMES;
	head->flags = GRO_LAB_B_FLUSH | s->flags;
	for (i = 0; i < ARRAY_SIZE(chains); i++) {
		const struct chain *order[] = { first, &chains[i], first };

		for (j = 0; j < 3; j++, f++) {
			len = put_frame(at, order[j], j ? 1 + PAYLOAD : 1);
			at += describe(f, s, len, len - PAYLOAD);
			if (!j)
				f->flags |= GRO_LAB_F_FLUSH;
		}
	}
	return at - in;
}

static uint64_t fnv(uint64_t hash, const uint8_t *at, size_t len)
{
	while (len--)
		hash = (hash ^ *at++) * 0x100000001b3ULL;
	return hash;
}

/* Runs what put_batch() made; counts merged frames; a hash of all that left. */
static uint64_t run_batch(int lab, size_t len, unsigned int *merged)
{
	const struct gro_lab_result *res = (const void *)out;
	const uint8_t *verdict = (const uint8_t *)(res + 1);
	ssize_t got;
	unsigned int i;

	if (write(lab, in, len) != (ssize_t)len)
		die("write to /dev/gro_lab");
	got = read(lab, out, sizeof(out));
	if (got < (ssize_t)sizeof(*res) || res->size != (uint64_t)got ||
	    res->frames != MAX_FRAMES || res->lost)
		die("read of /dev/gro_lab");
	for (i = 0; i < res->frames; i++)
		*merged += verdict[i] == GRO_LAB_MERGED ||
			   verdict[i] == GRO_LAB_MERGED_FREE;
	return fnv(0xcbf29ce484222325ULL, out, got);
}

static void set_state(const char *state)
{
	int fd = open(STATE, O_WRONLY);

	if (fd < 0 || write(fd, state, strlen(state)) < 0)
		die(STATE);
	close(fd);
}

/* Packets of the feature so far. */
static unsigned long long walked(void)
{
	unsigned long long value = 0;
	FILE *file = fopen(COUNTERS, "r");
	char line[128];

	if (!file)
		die(COUNTERS);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "walked - %llu", &value) == 1)
			break;
	fclose(file);
	return value;
}

static void run_shape(int lab, const struct shape *s, uint64_t *hashes,
		      unsigned int *merged)
{
	unsigned int i;

	*merged = 0;
	for (i = 0; i < ARRAY_SIZE(chains); i++)
		hashes[i] = run_batch(lab, put_batch(s, &chains[i]), merged);
}

static int test_shape(int lab, const struct shape *s, int number)
{
	static const char *const states[] = { "off", "passthrough", "on" };
	uint64_t hashes[3][ARRAY_SIZE(chains)];
	unsigned long long before = walked();
	unsigned int merged[3], i, differ = 0;

	for (i = 0; i < 3; i++) {
		set_state(states[i]);
		run_shape(lab, s, hashes[i], &merged[i]);
	}
	set_state("off");
	for (i = 0; i < ARRAY_SIZE(chains); i++) {
		if (hashes[0][i] == hashes[1][i] && hashes[0][i] == hashes[2][i])
			continue;
		printf("# chain %u (%u bytes) against all: results differ\n",
		       i, chain_len(&chains[i]));
		differ++;
	}
	if (!merged[0] || walked() == before)
		printf("# %u merged in state off, %llu walked in state on\n",
		       merged[0], walked() - before);
	differ |= !merged[0] || walked() == before;
	printf("%s %d %zu chains against each other, %s\n",
	       differ ? "not ok" : "ok", number, ARRAY_SIZE(chains), s->name);
	fflush(stdout);
	return !!differ;
}

int main(void)
{
	int lab = open("/dev/gro_lab", O_RDWR), failed = 0;
	unsigned int i;

	printf("TAP version 13\n1..%zu\n", ARRAY_SIZE(shapes));
	if (lab < 0)
		die("/dev/gro_lab");
	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		failed |= test_shape(lab, &shapes[i], i + 1);
	return failed;
}
