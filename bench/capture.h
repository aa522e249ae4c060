/* SPDX-License-Identifier: GPL-2.0-only */
/* Ethernet frames out of capture files, as a network card would give them. */
#ifndef _BENCH_CAPTURE_H
#define _BENCH_CAPTURE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/* What became of the capture's packets. */
struct capture_totals {
	unsigned int packets;
	unsigned int fed;
	unsigned int split;
	unsigned int skipped_big;
	unsigned int skipped_short;
	unsigned int padded;
};

/**
 * struct capture - a file and what is to be done with its frames
 * @file: pcap or pcapng; Ethernet, Linux cooked, IP
 * @skip_big: leave out frames beyond the MTU instead of splitting them
 * @allow_unknown: a file of another kind, or with nothing in it, is no error
 * @unknown: it was one
 * @frame: called for each frame
 * @ctx: for @frame
 * @totals: what became of the packets
 */
struct capture {
	const char *file;
	bool skip_big;
	bool allow_unknown;
	bool unknown;
	void (*frame)(void *ctx, const __u8 *bytes, size_t len);
	void *ctx;
	struct capture_totals totals;
};

/* Ends the program if the file cannot be read. */
void capture_read(struct capture *cap);

#endif /* _BENCH_CAPTURE_H */
