// SPDX-License-Identifier: GPL-2.0-only
/* Random streams: what leaves GRO is the same with stock and with ours. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"

#define EPISODE 120
#define BLOCK	16
/* A line of progress after so many. */
#define SHOW	100000

struct options {
	__u64 seed;
	unsigned int packets;
	unsigned int only;
	unsigned int kinds;
	bool brief;
	bool mutate;
};

static void usage(FILE *out)
{
	fputs("Usage: parity [--seed N] [--packets N] [--only N] [--kind KIND]\n"
	      "              [--one-tunnel WHICH] [--mutate] [--brief]\n\n"
	      "Runs random streams through gro_lab.ko with stock's handlers, with ours\n"
	      "passing on, with ours, with state and features changing between batches\n"
	      "while packets are held, with a coin that gives each packet to ours or to\n"
	      "stock's, and during an A/B run; all that leaves GRO has to be the same.\n\n"
	      "  --seed N     where the random numbers start (1)\n"
	      "  --packets N  about so many (20000)\n"
	      "  --only N     the episode with this number alone, to repeat it\n"
	      "  --kind KIND  of flows: tcp, udp, tunnel, ip-in-ip, all (all); all but tcp wants\n"
	      "               ip of iproute2, and opens sockets and makes tunnel devices\n"
	      "  --one-tunnel WHICH\n"
	      "               one UDP tunnel alone, which some kernels look up faster: vxlan,\n"
	      "               or eater, gro_lab's, which comes while packets are held\n"
	      "  --mutate     one frame in four has bits flipped, fields that lie, its end cut\n"
	      "               off, or another one's head\n"
	      "  --brief      end at the first difference, without showing it\n",
	      out);
}

static void parse(int argc, char **argv, struct options *opts)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "packets", required_argument, NULL, 'p' },
		{ "only", required_argument, NULL, 'o' },
		{ "kind", required_argument, NULL, 'k' },
		{ "one-tunnel", required_argument, NULL, '1' },
		{ "mutate", no_argument, NULL, 'm' },
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
		case 'k':
			opts->kinds = kinds_parse(optarg);
			if (!opts->kinds)
				die("no such kind: %s", optarg);
			break;
		case '1':
			if (!network_alone(optarg))
				die("no such tunnel: %s", optarg);
			break;
		case 'm':
			opts->mutate = true;
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

/* TCP and UDP alone, or the outermost tunnel. */
enum { BY_TCP, BY_UDP, BY_TUNNEL, BY = BY_TUNNEL + WRAPS };

struct totals {
	unsigned int packets, skbs, merged, consumed;
	unsigned int fed_by[BY], merged_by[BY];
	unsigned int bad[MODES];
};

static unsigned int by(const struct pkt *pkt)
{
	unsigned int i = OUTERS_MAX;

	while (i--)
		if (pkt->outer[i].kind)
			return BY_TUNNEL + pkt->outer[i].kind;
	return pkt->proto == 17 ? BY_UDP : BY_TCP;
}

static void count(struct totals *sum, const struct episode *e,
		  const struct outcome *out)
{
	unsigned int i, merged, b;

	sum->packets += e->nr;
	sum->skbs += out->skbs;
	for (i = 0; i < e->nr; i++) {
		merged = out->verdicts[i] <= GRO_LAB_MERGED_FREE;
		b = by(&e->pkts[i]);
		sum->merged += merged;
		sum->consumed += out->verdicts[i] == GRO_LAB_CONSUMED;
		sum->merged_by[b] += merged;
		sum->fed_by[b]++;
	}
}

static void totals_print(const struct totals *sum)
{
	unsigned int i;

	printf("# merged");
	for (i = 0; i < BY; i++)
		if (sum->fed_by[i])
			printf(" %s %u/%u", i == BY_TCP ? "tcp" :
			       i == BY_UDP ? "udp" : wrap_name(i - BY_TUNNEL),
			       sum->merged_by[i], sum->fed_by[i]);
	printf(", %u consumed\n", sum->consumed);
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
	static unsigned int shown;
	enum run_mode mode;
	unsigned int i;

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
	if (sum->packets / SHOW != shown) {
		shown = sum->packets / SHOW;
		printf("# %u packets so far\n", sum->packets);
		fflush(stdout);
	}
}

static bool bad_any(const struct totals *sum)
{
	enum run_mode mode;

	for (mode = MODE_PASSTHROUGH; mode < MODES; mode++)
		if (sum->bad[mode])
			return true;
	return false;
}

/* A run in which nothing merges compares nothing, as with a lopsided coin. */
static bool idle(const struct totals *sum)
{
	return sum->merged <= sum->packets / 10 ||
	       coin_total.stock < sum->packets / 10 ||
	       coin_total.front < sum->packets / 10;
}

static void report(const struct options *opts, const struct totals *sum)
{
	enum run_mode mode;

	printf("%sok 1 seed %llu: %u packets, %u merged, %u skbs, coin %llu stock %llu ours\n",
	       idle(sum) && !opts->only ? "not " : "",
	       (unsigned long long)opts->seed, sum->packets, sum->merged,
	       sum->skbs, (unsigned long long)coin_total.stock,
	       (unsigned long long)coin_total.front);
	for (mode = MODE_PASSTHROUGH; mode < MODES; mode++)
		printf("%sok %u %s equals stock%s\n",
		       sum->bad[mode] ? "not " : "", 1 + mode,
		       mode_names[mode], sum->bad[mode] ?
		       ", repeat with --only and the episode" : "");
}

int main(int argc, char **argv)
{
	struct options opts = {
		.seed = 1, .packets = 20000, .kinds = KIND_ALL,
	};
	struct totals sum = {};
	struct block block = {};
	struct episode *e;
	unsigned int nr, i;
	int fd;

	parse(argc, argv, &opts);
	printf("TAP version 13\n1..%u\n", MODES);
	fd = lab_open();
	if (opts.kinds != KIND_TCP) {
		network_setup(fd);
		network_print(stdout);
	}
	nr = opts.only ? 1 : (opts.packets + EPISODE - 1) / EPISODE;
	for (i = 0; i < nr; i++) {
		e = &block.episodes[block.nr++];
		random_episode(e, opts.only ? opts.only : opts.seed + i,
			       EPISODE, opts.kinds);
		if (opts.mutate)
			mutate_episode(e);
		if (block.nr == BLOCK || i + 1 == nr)
			block_run(fd, &block, opts.brief, &sum);
	}
	totals_print(&sum);
	report(&opts, &sum);
	return (idle(&sum) && !opts.only) || bad_any(&sum);
}
