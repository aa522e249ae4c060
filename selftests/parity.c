// SPDX-License-Identifier: GPL-2.0-only
/* Random streams: what leaves GRO is the same with stock and with ours. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"

#define EPISODE 120
#define BLOCK	16

struct options {
	__u64 seed;
	unsigned int packets;
	unsigned int only;
	bool brief;
};

static void usage(FILE *out)
{
	fputs("Usage: parity [--seed N] [--packets N] [--only N] [--brief]\n\n"
	      "Runs random streams through gro_lab.ko with stock's handlers, with ours\n"
	      "passing on, with ours, and with state and features changing between\n"
	      "batches while packets are held; all that leaves GRO has to be the same.\n\n"
	      "  --seed N     where the random numbers start (1)\n"
	      "  --packets N  about so many (20000)\n"
	      "  --only N     the episode with this number alone, to repeat it\n"
	      "  --brief      end at the first difference, without showing it\n",
	      out);
}

static void parse(int argc, char **argv, struct options *opts)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "packets", required_argument, NULL, 'p' },
		{ "only", required_argument, NULL, 'o' },
		{ "brief", no_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (opt) {
		case 's':
			opts->seed = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			opts->packets = strtoul(optarg, NULL, 0);
			break;
		case 'o':
			opts->only = strtoul(optarg, NULL, 0);
			break;
		case 'b':
			opts->brief = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
}

struct block {
	struct episode episodes[BLOCK];
	struct outcome stock[BLOCK];
	unsigned int nr;
};

struct totals {
	unsigned int packets, skbs, merged;
	unsigned int bad[MODES];
};

static void count(struct totals *sum, const struct episode *e,
		  const struct outcome *out)
{
	unsigned int i;

	sum->packets += e->nr;
	sum->skbs += out->skbs;
	for (i = 0; i < e->nr; i++)
		sum->merged += out->verdicts[i] <= GRO_LAB_MERGED_FREE;
}

static void block_mode(int fd, struct block *b, enum run_mode mode, bool brief,
		       struct totals *sum)
{
	struct outcome ours;
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		episode_run(fd, &b->episodes[i], mode, &ours);
		if (!outcome_equal(&b->stock[i], &ours) && brief)
			exit(1);
		if (!outcome_equal(&b->stock[i], &ours) &&
		    sum->bad[mode]++ < 3) {
			printf("# episode %llu\n", (unsigned long long)
			       b->episodes[i].seed);
			difference_print(fd, &b->episodes[i], mode,
					 &b->stock[i], &ours);
		}
		outcome_end(&ours);
	}
}

/* State changes take long, so each state serves a whole block. */
static void block_run(int fd, struct block *b, bool brief, struct totals *sum)
{
	unsigned int i;
	enum run_mode mode;

	for (i = 0; i < b->nr; i++) {
		episode_run(fd, &b->episodes[i], MODE_STOCK, &b->stock[i]);
		count(sum, &b->episodes[i], &b->stock[i]);
	}
	for (mode = MODE_PASSTHROUGH; mode < MODES; mode++)
		block_mode(fd, b, mode, brief, sum);
	for (i = 0; i < b->nr; i++) {
		outcome_end(&b->stock[i]);
		episode_end(&b->episodes[i]);
	}
	b->nr = 0;
}

int main(int argc, char **argv)
{
	struct options opts = { .seed = 1, .packets = 20000 };
	struct totals sum = {};
	struct block block = {};
	unsigned int nr, i;
	enum run_mode mode;
	int fd;

	parse(argc, argv, &opts);
	puts("TAP version 13\n1..4");
	fd = lab_open();
	nr = opts.only ? 1 : (opts.packets + EPISODE - 1) / EPISODE;
	for (i = 0; i < nr; i++) {
		random_episode(&block.episodes[block.nr++],
			       opts.only ? opts.only : opts.seed + i, EPISODE);
		if (block.nr == BLOCK || i + 1 == nr)
			block_run(fd, &block, opts.brief, &sum);
	}

	/* A run in which nothing merges compares nothing. */
	printf("%sok 1 seed %llu: %u packets, %u merged, %u skbs\n",
	       sum.merged > sum.packets / 10 || opts.only ? "" : "not ",
	       (unsigned long long)opts.seed, sum.packets, sum.merged,
	       sum.skbs);
	for (mode = MODE_PASSTHROUGH; mode < MODES; mode++)
		printf("%sok %u %s equals stock%s\n",
		       sum.bad[mode] ? "not " : "", 1 + mode,
		       mode_names[mode], sum.bad[mode] ?
		       ", repeat with --only and the episode" : "");
	return sum.merged <= sum.packets / 10 && !opts.only ? 1 :
	       sum.bad[1] + sum.bad[2] + sum.bad[3] ? 1 : 0;
}
