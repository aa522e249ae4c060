/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames into lab0, through GRO and whatever lies behind it, to where somebody
 * looks at them: the same in all states.
 */
#ifndef _DOWNSTREAM_H
#define _DOWNSTREAM_H

#include "../compare/compare.h"

struct frame {
	__u8 *bytes;
	size_t len;
};

struct frames {
	struct frame *at;
	unsigned int nr;
	unsigned int max;
};

void frames_add(struct frames *f, const __u8 *bytes, size_t len);
void frames_end(struct frames *f);
/* In an order that depends on nothing but their bytes. */
void frames_sort(struct frames *f);

/* stream.c */

/**
 * struct stream - what goes in
 * @e: the frames as lab0 receives them
 * @in: the frames without the tunnel headers that @e may have around them
 */
struct stream {
	struct episode e;
	struct frames in;
};

struct stream_options {
	unsigned int wrap;	/* see wrap_find() */
	__u8 features;		/* GRO_LAB_DEV_* */
	__u64 seed;		/* of random */
	unsigned int packets;
};

bool stream_make(struct stream *s, const char *name,
		 const struct stream_options *opts);
void stream_end(struct stream *s);

/* tap.c */

enum order {
	ORDER_SAME,
	ORDER_FLOWS,		/* in each flow, not among them */
	ORDER_ANY,
};

/* What a frame may differ in from the one that went in. */
struct passage {
	unsigned int hops;	/* routers on the way */
	bool nat;		/* other source address, other destination port */
	bool ids;		/* other IPv4 IDs */
	enum order order;
};

struct tap {
	const char *name;
	int fd;
	size_t head;		/* bytes in front of the frame */
};

void tap_open(struct tap *tap, const char *where);
/* All that comes, until @expect have come (0: unknown) and it is quiet. */
void tap_collect(const struct tap *tap, struct frames *f, unsigned int expect);

/* These print the first difference, if there is one. */
bool frames_equal(const struct frames *a, const struct frames *b,
		  enum order order, const char *what);
bool frames_arrived(const struct frames *in, const struct frames *out,
		    const struct passage *passage);

/* socket.c */

/*
 * Established TCP sockets for each flow of @s, without a handshake, or one that
 * takes its datagrams. sockets_read() verifies what has come, sockets_close()
 * that it is all, and prints what the sockets counted into @counts.
 */
void sockets_open(const struct stream *s);
void sockets_read(void);
bool sockets_close(char *counts, size_t size);

#endif /* _DOWNSTREAM_H */
