// SPDX-License-Identifier: GPL-2.0-only
/* Captures: what leaves GRO is the same with stock and with ours. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/capture.h"
#include "../bench/packet.h"
#include "compare/compare.h"

#define CHUNK		2048
#define FRAME_MAX_LEN	70000

enum csums {
	CSUMS_TRUSTED,		/* as they are, and the card says they are right */
	CSUMS_ASIS,		/* as they are, to be checked */
	CSUMS_REPAIRED,		/* made right, to be checked */
	CSUMS
};

static const char *const csum_names[CSUMS] = {
	"trusted", "asis", "repaired",
};

struct options {
	const char *kernel;
	unsigned int bursts[8];
	unsigned int nr_bursts;
	int wrap;
	enum csums csums;
	bool all_csums;
	unsigned int limit;
};

struct frames {
	unsigned int nr, max, limit;
	size_t *lens;
	__u8 **bytes;
};

struct totals {
	unsigned int packets, skbs, merged, different;
};

static void keep_frame(void *ctx, const __u8 *bytes, size_t len)
{
	struct frames *f = ctx;

	if ((f->limit && f->nr == f->limit) || len > FRAME_MAX_LEN)
		return;
	if (f->nr == f->max) {
		f->max = 2 * f->max + 256;
		f->lens = xrealloc(f->lens, f->max * sizeof(*f->lens));
		f->bytes = xrealloc(f->bytes, f->max * sizeof(*f->bytes));
	}
	f->bytes[f->nr] = xalloc(len);
	memcpy(f->bytes[f->nr], bytes, len);
	f->lens[f->nr++] = len;
}

static void frames_end(struct frames *f)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		free(f->bytes[i]);
	free(f->bytes);
	free(f->lens);
}

static void add_frame(struct episode *e, const struct options *opts,
		      enum csums csums, const __u8 *bytes, size_t len,
		      bool cut)
{
	static __u8 fixed[FRAME_MAX_LEN], out[FRAME_MAX_LEN + WRAP_ROOM];
	struct gro_lab_frame frame = {
		.head = GRO_LAB_HEAD_FRAG,
		.hash_type = GRO_LAB_HASH_L4,
		.ip_summed = csums == CSUMS_TRUSTED ?
			     GRO_LAB_CSUM_UNNECESSARY : GRO_LAB_CSUM_NONE,
	};
	struct packet_info info;

	memcpy(fixed, bytes, len);
	if (csums == CSUMS_REPAIRED)
		wrap_repair(fixed, len);
	packet_parse(fixed, len, &info);
	frame.hash = info.hash;
	frame.len = wrap_frame(opts->wrap, fixed, len, out);
	if (!frame.len)
		return;
	/* A tunnel's inner checksum is the second that a card vouches for. */
	if (csums == CSUMS_TRUSTED && opts->wrap)
		frame.csum_level = 1;
	frame.linear = info.payload > info.l3 ?
		       info.payload + frame.len - len : 256;
	if (frame.linear > frame.len)
		frame.linear = frame.len;
	e->cut[e->nr] = cut && e->nr;
	episode_add_frame(e, &frame, out);
}

static void run_chunk(int fd, const struct episode *e, enum run_mode mode,
		      struct outcome *stock, struct totals *sum)
{
	struct outcome ours;
	unsigned int i;

	if (mode == MODE_STOCK) {
		episode_run(fd, e, mode, stock);
		sum->packets += e->nr;
		sum->skbs += stock->skbs;
		for (i = 0; i < e->nr; i++)
			sum->merged += stock->verdicts[i] <=
				       GRO_LAB_MERGED_FREE;
		return;
	}
	episode_run(fd, e, mode, &ours);
	if (!outcome_equal(stock, &ours) && !sum->different++)
		difference_print(fd, e, mode, stock, &ours);
	outcome_end(&ours);
}

static void compare(int fd, const struct frames *f, const struct options *opts,
		    enum csums csums, unsigned int burst, struct totals *sum)
{
	unsigned int nr = (f->nr + CHUNK - 1) / CHUNK, i, k;
	struct episode *e = xalloc(nr * sizeof(*e));
	struct outcome *stock = xalloc(nr * sizeof(*stock));
	enum run_mode mode;

	for (i = 0; i < nr; i++) {
		episode_init(&e[i], CHUNK);
		e[i].flush_each = true;
		e[i].settle = opts->wrap == WRAP_ESP ||
			      opts->wrap == WRAP_ESPUDP;
		for (k = i * CHUNK; k < f->nr && k < (i + 1) * CHUNK; k++)
			add_frame(&e[i], opts, csums, f->bytes[k], f->lens[k],
				  k % burst == 0);
	}
	for (mode = MODE_STOCK; mode < MODES; mode++)
		for (i = 0; i < nr; i++)
			if (e[i].nr && mode != MODE_MIXED)
				run_chunk(fd, &e[i], mode, &stock[i], sum);
	for (i = 0; i < nr; i++) {
		outcome_end(&stock[i]);
		episode_end(&e[i]);
	}
	free(stock);
	free(e);
}

static void compare_file(int fd, const char *file, const struct options *opts,
			 struct totals *all)
{
	struct frames f = { .limit = opts->limit };
	struct capture cap = {
		.file = file, .frame = keep_frame, .ctx = &f,
		.allow_unknown = true,
	};
	struct totals sum = {};
	unsigned int b, c;

	capture_read(&cap);
	if (!f.nr) {
		printf("SKIP compare kernel=%s file=%s: %s\n", opts->kernel,
		       basename(file), cap.unknown ?
		       "no Ethernet and no IP in it" : "no frame to feed");
		return;
	}
	for (b = 0; b < opts->nr_bursts; b++)
		for (c = 0; c < CSUMS; c++)
			if (opts->all_csums || c == opts->csums)
				compare(fd, &f, opts, c, opts->bursts[b],
					&sum);
	printf("RESULT compare kernel=%s file=%s wrap=%s",
	       opts->kernel, basename(file), wrap_name(opts->wrap));
	printf(" packets=%u skbs=%u merged=%u different=%u\n",
	       sum.packets, sum.skbs, sum.merged, sum.different);
	fflush(stdout);
	all->packets += sum.packets;
	all->skbs += sum.skbs;
	all->merged += sum.merged;
	all->different += sum.different;
	frames_end(&f);
}

static void __noreturn usage(int code)
{
	fputs("Usage: gro_compare [OPTIONS] CAPTURE...\n\n"
	      "Feeds captures through gro_lab.ko with stock's GRO handlers, with ours\n"
	      "passing on, with ours, and with a coin that gives each packet to ours or to\n"
	      "stock's, and compares everything that leaves GRO.\n\n"
	      "  --kernel NAME   what to print as kernel=\n"
	      "  --burst LIST    frames between flushes (1,8,64,300)\n"
	      "  --wrap KIND     more headers in front: vlan qinq ipip sit ip6ip6 4in6 gre\n"
	      "                  gretap vxlan gpe geneve fou gue esp espudp hbh dstopt\n"
	      "                  routing; frames that cannot have them are left out\n"
	      "  --csum WHICH    trusted, asis, repaired (all of them)\n"
	      "  --limit N       the first N frames of a capture\n\n"
	      "Exit code: 0, or 1 where something differs.\n",
	      code ? stderr : stdout);
	exit(code);
}

static void parse_bursts(struct options *opts, const char *list)
{
	char *end;

	opts->nr_bursts = 0;
	do {
		if (opts->nr_bursts == ARRAY_SIZE(opts->bursts))
			usage(2);
		opts->bursts[opts->nr_bursts] = strtoul(list, &end, 10);
		if (end == list || !opts->bursts[opts->nr_bursts++])
			usage(2);
		list = end + 1;
	} while (*end == ',');
}

static void parse_csum(struct options *opts, const char *name)
{
	unsigned int i;

	for (i = 0; i < CSUMS; i++) {
		if (strcmp(csum_names[i], name))
			continue;
		opts->csums = i;
		opts->all_csums = false;
		return;
	}
	usage(2);
}

static void parse(int argc, char **argv, struct options *opts)
{
	static const struct option longs[] = {
		{ "kernel", required_argument, NULL, 'k' },
		{ "burst", required_argument, NULL, 'b' },
		{ "wrap", required_argument, NULL, 'w' },
		{ "csum", required_argument, NULL, 'c' },
		{ "limit", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (opt == 'k')
			opts->kernel = optarg;
		else if (opt == 'b')
			parse_bursts(opts, optarg);
		else if (opt == 'w')
			opts->wrap = wrap_find(optarg);
		else if (opt == 'c')
			parse_csum(opts, optarg);
		else if (opt == 'l')
			opts->limit = strtoul(optarg, NULL, 0);
		else
			usage(opt == 'h' ? 0 : 2);
	}
	if (optind == argc || opts->wrap < 0)
		usage(2);
}

int main(int argc, char **argv)
{
	struct options opts = {
		.kernel = "?", .bursts = { 1, 8, 64, 300 }, .nr_bursts = 4,
		.all_csums = true,
	};
	struct totals all = {};
	int fd, i;

	parse(argc, argv, &opts);
	fd = lab_open();
	network_setup(fd);
	network_print(stdout);
	for (i = optind; i < argc; i++)
		compare_file(fd, argv[i], &opts, &all);
	printf("RESULT compare kernel=%s packets=%u skbs=%u merged=%u different=%u\n",
	       opts.kernel, all.packets, all.skbs, all.merged, all.different);
	return all.different ? 1 : 0;
}
