// SPDX-License-Identifier: GPL-2.0-only
/* Puts a capture through GRO, in each arm; see usage(). */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "lab.h"
#include "packet.h"

struct options {
	const char *file;
	const char *name;
	unsigned int burst;
	unsigned int repeat;
	unsigned int nr_arms;
	enum arm arms[ARMS];
	enum gro_lab_csum csum;
	bool skip_big;
	bool json;
};

struct bursts {
	const struct options *opts;
	struct lab_batch *bursts;
	unsigned int nr_bursts;
};

struct figures {
	struct gro_lab_counters gro;
	unsigned int frames;
	unsigned int skbs;
};

/* --- reading -------------------------------------------------------------- */

static struct lab_batch *burst_for_frame(struct bursts *cap)
{
	struct lab_batch *last = NULL;

	if (cap->nr_bursts)
		last = &cap->bursts[cap->nr_bursts - 1];
	if (last && last->head.frames < cap->opts->burst)
		return last;
	cap->bursts = xrealloc(cap->bursts,
			       (cap->nr_bursts + 1) * sizeof(*cap->bursts));
	last = &cap->bursts[cap->nr_bursts++];
	memset(last, 0, sizeof(*last));
	lab_begin(last, GRO_LAB_B_FLUSH | GRO_LAB_B_NO_CAPTURE);
	return last;
}

/* As a good driver has it: headers in the linear part, the rest in a frag. */
static void add_frame(void *ctx, const __u8 *bytes, size_t len)
{
	struct bursts *cap = ctx;
	struct gro_lab_frame frame = {
		.len = len,
		.head = GRO_LAB_HEAD_FRAG,
		.ip_summed = cap->opts->csum,
		.hash_type = GRO_LAB_HASH_L4,
	};
	struct packet_info info;

	packet_parse(bytes, len, &info);
	frame.hash = info.hash;
	frame.linear = info.payload > info.l3 ? info.payload : 256;
	lab_add(burst_for_frame(cap), &frame, bytes);
}

/* --- feeding -------------------------------------------------------------- */

static void count_verdicts(int fd, struct figures *fig)
{
	struct gro_lab_result *result = lab_read(fd);
	const __u8 *verdicts = (const __u8 *)(result + 1);
	unsigned int i;

	for (i = 0; i < result->frames; i++) {
		fig->frames++;
		if (verdicts[i] == GRO_LAB_HELD || verdicts[i] == GRO_LAB_NORMAL)
			fig->skbs++;
	}
	free(result);
}

static void feed(int fd, const struct bursts *cap, struct figures *fig)
{
	unsigned int i;

	memset(fig, 0, sizeof(*fig));
	lab_measure_reset(fd);
	for (i = 0; i < cap->nr_bursts; i++) {
		lab_write(fd, &cap->bursts[i]);
		count_verdicts(fd, fig);
	}
	lab_counters(fd, &fig->gro);
}

static void measure(int fd, const struct options *opts,
		    const struct bursts *cap, struct figures *best)
{
	struct figures fig;
	unsigned int i;

	lab_measure_on(fd);
	for (i = 0; i < opts->repeat; i++) {
		feed(fd, cap, &fig);
		if (!i || fig.gro.cycles + fig.gro.complete_cycles <
		    best->gro.cycles + best->gro.complete_cycles)
			*best = fig;
	}
	lab_measure_off(fd);
}

/* --- printing ------------------------------------------------------------- */

static double per(__u64 sum, __u64 count)
{
	return count ? (double)sum / count : 0;
}

static void print_totals(const struct options *opts, const struct capture_totals *t)
{
	fprintf(stderr,
		"%s: %u packets, %u frames fed in bursts of %u; %u large ones split, %u large and %u short ones skipped, %u with bytes missing filled up\n",
		opts->file, t->packets, t->fed, opts->burst, t->split,
		t->skipped_big, t->skipped_short, t->padded);
}

static void print_json(const struct options *opts, enum arm arm,
		       const struct figures *fig)
{
	const struct gro_lab_counters *gro = &fig->gro;

	printf("{\"scenario\":\"%s\",\"arm\":\"%s\",\"packets\":%u,\"skbs\":%u",
	       opts->name, arm_name(arm), fig->frames, fig->skbs);
	printf(",\"gro_packets\":%llu,\"merged\":%llu,\"aggregates\":%llu",
	       (unsigned long long)gro->packets,
	       (unsigned long long)gro->merged,
	       (unsigned long long)gro->completes);
	printf(",\"segments_per_skb\":%.3f,\"recv\":%.2f,\"complete\":%.2f}\n",
	       per(fig->frames, fig->skbs), per(gro->cycles, gro->packets),
	       per(gro->complete_cycles, gro->completes));
}

static void print_row(enum arm arm, const struct figures *fig)
{
	const struct gro_lab_counters *gro = &fig->gro;

	printf("%-12s %10u %10u %10.2f %14.1f %14.1f\n", arm_name(arm),
	       fig->frames, fig->skbs, per(fig->frames, fig->skbs),
	       per(gro->cycles, gro->packets),
	       per(gro->complete_cycles, gro->completes));
}

static void print(const struct options *opts, const struct figures *figures)
{
	unsigned int a;

	if (!opts->json)
		printf("%-12s %10s %10s %10s %14s %14s\n", "arm", "packets in",
		       "skbs out", "segs/skb", "receive/packet",
		       "complete/aggr.");
	for (a = 0; a < opts->nr_arms; a++)
		if (opts->json)
			print_json(opts, opts->arms[a], &figures[a]);
		else
			print_row(opts->arms[a], &figures[a]);
}

/* --- the command line ----------------------------------------------------- */

static void usage(FILE *out)
{
	fputs("Usage: gro_replay [OPTIONS] FILE\n\n"
	      "Puts the packets of a capture (pcap or pcapng; Ethernet or Linux cooked)\n"
	      "through GRO with gro_lab.ko, and prints for each arm: packets in, skbs\n"
	      "out, cycles a packet in the L3 handler's gro_receive and an aggregate in\n"
	      "its gro_complete. In a guest of vm/run --icount cycles are instructions.\n\n"
	      "Each packet comes as a good driver has it: headers in the skb's linear\n"
	      "part, payload in a page, a hash of addresses and ports. Packets that the\n"
	      "capturing host had already put together (more than 1500 bytes behind the\n"
	      "Ethernet header and VLAN tags) are split as TSO would; those that cannot\n"
	      "be, not being TCP, are left out. Bytes that the capture did not keep are\n"
	      "zero.\n\n"
	      "  --arms LIST      of stock,passthrough,on; default all, or stock alone\n"
	      "                   if gro_opt.ko is not loaded\n"
	      "  --burst N        packets between two flushes (64)\n"
	      "  --repeat N       the least of so many counts (3)\n"
	      "  --csum KIND      unnecessary (default: captures often have wrong\n"
	      "                   checksums) or none, then GRO checks them\n"
	      "  --big skip       leave out large packets and do not split them\n"
	      "  --json           one JSON object a line for each arm\n"
	      "  --name NAME      the scenario's in that (the file's name)\n", out);
}

static void wrong_usage(void)
{
	usage(stderr);
	exit(2);
}

static void parse_option(struct options *opts, int opt)
{
	switch (opt) {
	case 'a':
		opts->nr_arms = arms_parse(optarg, opts->arms);
		break;
	case 'b':
		opts->burst = atoi(optarg);
		break;
	case 'r':
		opts->repeat = atoi(optarg);
		break;
	case 'c':
		if (!strcmp(optarg, "none"))
			opts->csum = GRO_LAB_CSUM_NONE;
		else if (strcmp(optarg, "unnecessary"))
			die("no such --csum: %s", optarg);
		break;
	case 'g':
		if (!strcmp(optarg, "skip"))
			opts->skip_big = true;
		else if (strcmp(optarg, "split"))
			die("no such --big: %s", optarg);
		break;
	case 'j':
		opts->json = true;
		break;
	case 'n':
		opts->name = optarg;
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		wrong_usage();
	}
}

static void parse(int argc, char **argv, struct options *opts)
{
	static const struct option longs[] = {
		{ "arms", required_argument, NULL, 'a' },
		{ "burst", required_argument, NULL, 'b' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "csum", required_argument, NULL, 'c' },
		{ "big", required_argument, NULL, 'g' },
		{ "json", no_argument, NULL, 'j' },
		{ "name", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1)
		parse_option(opts, opt);
	if (optind != argc - 1 || !opts->repeat || !opts->burst ||
	    opts->burst > GRO_LAB_MAX_FRAMES)
		wrong_usage();
	opts->file = argv[optind];
	if (!opts->name)
		opts->name = basename(opts->file);
}

int main(int argc, char **argv)
{
	struct options opts = {
		.burst = 64,
		.repeat = 3,
		.csum = GRO_LAB_CSUM_UNNECESSARY,
	};
	struct figures figures[ARMS];
	struct bursts cap = { .opts = &opts };
	struct capture capture = { .frame = add_frame, .ctx = &cap };
	unsigned int i;
	int fd;

	parse(argc, argv, &opts);
	capture.file = opts.file;
	capture.skip_big = opts.skip_big;
	capture_read(&capture);
	if (!opts.nr_arms)
		opts.nr_arms = arms_default(opts.arms);
	fd = lab_open();
	for (i = 0; i < opts.nr_arms; i++) {
		arm_set(opts.arms[i]);
		measure(fd, &opts, &cap, &figures[i]);
	}
	close(fd);
	print_totals(&opts, &capture.totals);
	print(&opts, figures);
	for (i = 0; i < cap.nr_bursts; i++)
		lab_end(&cap.bursts[i]);
	free(cap.bursts);
	return 0;
}
