// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merged packets where they go in life: what comes out at the far end of a path
 * is what stock would have made of the same frames, and, where the path allows
 * to say so, the frames that went in.
 */
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "downstream.h"

#define TAPS_MAX 4

struct options {
	struct passage passage;
	struct stream_options stream;
	bool altered;
	bool sockets;
	bool warm;
	bool xdp;
};

static struct tap taps[TAPS_MAX];
static unsigned int nr_taps;

/* What a run in one state gave. */
struct run {
	struct outcome out;
	struct frames arrived[TAPS_MAX];
	unsigned long ours;	/* merged by our handlers, on any device */
	char counts[1024];
};

static void usage(FILE *out)
{
	fputs("Usage: downstream [OPTIONS] STREAM...\n\n"
	      "Puts streams (tcp4, tcp6, udp4, udp4-fixed-id, udp6, random) into lab0,\n"
	      "which delivers them to the stack: once with stock's handlers, then with ours\n"
	      "passing on, with ours, with state and features changing while packets are\n"
	      "held, and with a coin for each packet that decides who takes it. Whatever\n"
	      "arrives has to be the same each time, and the frames that went in.\n\n"
	      "  --tap NS:DEV[:gso]  where to look, several times for several places; the\n"
	      "                      first is where the frames have to arrive; with :gso\n"
	      "                      aggregates, as a virtio header tells them\n"
	      "  --hops N            so many routers on the way to the first\n"
	      "  --nat               source address and destination port were changed\n"
	      "  --ids               IPv4's IDs may be others than went in\n"
	      "  --flows             flows may overtake each other\n"
	      "  --any-order         and packets of a flow\n"
	      "  --altered           do not expect the frames that went in\n"
	      "  --sockets           sockets of this namespace take the streams\n"
	      "  --warm              one more run first, which counts for nothing\n"
	      "  --xdp               generic XDP comes and goes while packets are held\n"
	      "  --wrap TUNNEL       headers around the frames: ipip, sit, vxlan ...\n"
	      "  --seed N            of random (1)\n"
	      "  --packets N         of random (400)\n", out);
}

/* --- generic XDP ---------------------------------------------------------- */

static int xdp_prog = -1, xdp_link = -1;

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* "return XDP_PASS", by hand: that is all of a BPF tool chain that it takes. */
static void xdp_load(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (__u64)(unsigned long)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (__u64)(unsigned long)"GPL",
	};

	xdp_prog = bpf(BPF_PROG_LOAD, &attr);
	if (xdp_prog < 0)
		die("BPF_PROG_LOAD: %s", strerror(errno));
}

static void xdp_flip(void)
{
	union bpf_attr attr = {
		.link_create.prog_fd = xdp_prog,
		.link_create.target_ifindex = if_nametoindex("lab0"),
		.link_create.attach_type = BPF_XDP,
		.link_create.flags = XDP_FLAGS_SKB_MODE,
	};

	if (xdp_link >= 0) {
		close(xdp_link);
		xdp_link = -1;
		return;
	}
	xdp_link = bpf(BPF_LINK_CREATE, &attr);
	if (xdp_link < 0)
		die("BPF_LINK_CREATE: %s", strerror(errno));
}

/* --- what ours merged ----------------------------------------------------- */

static unsigned long merged_in(const char *path)
{
	unsigned long value = 0;
	FILE *file = fopen(path, "r");
	char line[128];

	if (!file)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "merged - %lu", &value) == 1)
			break;
	fclose(file);
	return value;
}

/* Sum over all features since they were loaded. */
static unsigned long merged_by_ours(void)
{
	unsigned long sum = 0;
	glob_t files;
	size_t i;

	if (glob("/sys/kernel/gro_opt/features/*/counters", 0, NULL, &files))
		die("no features in /sys/kernel/gro_opt");
	for (i = 0; i < files.gl_pathc; i++)
		sum += merged_in(files.gl_pathv[i]);
	globfree(&files);
	return sum;
}

/* --- a stream through a path ---------------------------------------------- */

static unsigned int merged(const struct stream *s, const struct outcome *out)
{
	unsigned int i, nr = 0;

	for (i = 0; i < s->e.nr; i++)
		nr += out->verdicts[i] <= GRO_LAB_MERGED_FREE;
	return nr;
}

static bool run(int fd, const struct options *opts, const struct stream *s,
		enum run_mode mode, const struct run *stock, struct run *run)
{
	unsigned int i, expect;
	bool good = true;

	memset(run, 0, sizeof(*run));
	if (opts->sockets)
		sockets_open(s);
	run->ours = merged_by_ours();
	episode_run(fd, &s->e, mode, &run->out);
	if (opts->sockets)
		good = sockets_close(run->counts, sizeof(run->counts));
	if (xdp_link >= 0)
		xdp_flip();
	for (i = 0; i < nr_taps; i++) {
		expect = stock ? stock->arrived[i].nr :
			 i || opts->altered ? 0 : s->in.nr;
		tap_collect(&taps[i], &run->arrived[i], expect);
		if (opts->passage.order == ORDER_ANY)
			frames_sort(&run->arrived[i]);
	}
	run->ours = merged_by_ours() - run->ours;
	return good;
}

static void run_end(struct run *run)
{
	unsigned int i;

	outcome_end(&run->out);
	for (i = 0; i < nr_taps; i++)
		frames_end(&run->arrived[i]);
}

/* TCP at least is ours to merge, where it is not in a tunnel. */
static bool ours_acted(const struct options *opts, const struct stream *s,
		       const struct run *now, enum run_mode mode)
{
	switch (mode) {
	case MODE_STOCK:
	case MODE_PASSTHROUGH:
		return !now->ours;
	case MODE_ON:
		return s->e.pkts[0].proto || opts->stream.wrap ||
		       now->ours > merged(s, &now->out) / 2;
	default:
		return true;
	}
}

/* The same in a state of ours as it was with stock. */
static bool same(const struct options *opts, const struct run *stock,
		 const struct run *ours)
{
	bool equal = true;
	unsigned int i;

	if (!outcome_equal(&stock->out, &ours->out)) {
		printf("what leaves GRO differs from stock's\n");
		equal = false;
	}
	if (strcmp(stock->counts, ours->counts)) {
		printf("the sockets got %s\nwith stock  %s\n", ours->counts,
		       stock->counts);
		equal = false;
	}
	for (i = 0; i < nr_taps; i++)
		equal &= frames_equal(&stock->arrived[i], &ours->arrived[i],
				      opts->passage.order, taps[i].name);
	return equal;
}

static bool judge(const struct options *opts, const struct stream *s,
		  enum run_mode mode, const struct run *stock,
		  const struct run *now)
{
	bool good = true;

	/* A path that nothing merged goes down proves nothing. */
	if (merged(s, &now->out) < s->e.nr / 8) {
		printf("of %u frames only %u were merged\n", s->e.nr,
		       merged(s, &now->out));
		good = false;
	}
	if (!ours_acted(opts, s, now, mode)) {
		printf("%lu were merged by ours\n", now->ours);
		good = false;
	}
	if (nr_taps && !opts->altered &&
	    !frames_arrived(&s->in, &now->arrived[0], &opts->passage))
		good = false;
	if (nr_taps && !now->arrived[0].nr) {
		printf("%s: nothing arrived\n", taps[0].name);
		good = false;
	}
	return (!stock || same(opts, stock, now)) && good;
}

/* A stream of the command line, and what came of it in each mode. */
struct trial {
	const char *name;
	struct stream s;
	struct run runs[MODES];
};

/* Nobody knows how many frames will arrive. */
static void warm_up(int fd, struct options opts, struct trial *t)
{
	opts.altered = true;
	run(fd, &opts, &t->s, MODE_STOCK, NULL, &t->runs[MODE_STOCK]);
	run_end(&t->runs[MODE_STOCK]);
}

static void trial_start(int fd, const struct options *opts, struct trial *t,
			const char *name)
{
	t->name = name;
	if (!stream_make(&t->s, name, &opts->stream))
		die("no such stream: %s", name);
	if (opts->sockets)
		t->s.e.between = sockets_read;
	if (opts->xdp)
		t->s.e.between = xdp_flip;
	if (opts->warm)
		warm_up(fd, *opts, t);
}

static bool trial_run(int fd, const struct options *opts, struct trial *t,
		      enum run_mode mode)
{
	const struct run *stock = mode ? &t->runs[MODE_STOCK] : NULL;
	struct run *now = &t->runs[mode];
	bool good;

	good = run(fd, opts, &t->s, mode, stock, now);
	good &= judge(opts, &t->s, mode, stock, now);
	printf("%s, %s: %u frames, %u merged (%lu by ours), %u left GRO, %u arrived%s\n",
	       t->name, mode_names[mode], t->s.e.nr, merged(&t->s, &now->out),
	       now->ours, now->out.skbs, now->arrived[0].nr, good ? "" : ": WRONG");
	return good;
}

static void trial_end(struct trial *t)
{
	enum run_mode mode;

	for (mode = MODE_STOCK; mode < MODES; mode++)
		run_end(&t->runs[mode]);
	stream_end(&t->s);
}

/* State changes take long, so each state serves all streams. */
static bool trials(int fd, const struct options *opts, char **names,
		   unsigned int nr)
{
	struct trial *all = xalloc(nr * sizeof(*all));
	enum run_mode mode;
	bool good = true;
	unsigned int i;

	for (i = 0; i < nr; i++)
		trial_start(fd, opts, &all[i], names[i]);
	for (mode = MODE_STOCK; mode < MODES; mode++)
		for (i = 0; i < nr; i++)
			good &= trial_run(fd, opts, &all[i], mode);
	for (i = 0; i < nr; i++)
		trial_end(&all[i]);
	free(all);
	return good;
}

/* Softirqs of one CPU do not overtake each other. */
static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity: %s", strerror(errno));
}

/* --- arguments ------------------------------------------------------------ */

static const struct option longs[] = {
	{ "tap", required_argument, NULL, 't' },
	{ "hops", required_argument, NULL, 'H' },
	{ "nat", no_argument, NULL, 'n' },
	{ "ids", no_argument, NULL, 'i' },
	{ "flows", no_argument, NULL, 'f' },
	{ "any-order", no_argument, NULL, 'A' },
	{ "altered", no_argument, NULL, 'a' },
	{ "sockets", no_argument, NULL, 'S' },
	{ "warm", no_argument, NULL, 'W' },
	{ "xdp", no_argument, NULL, 'x' },
	{ "wrap", required_argument, NULL, 'w' },
	{ "seed", required_argument, NULL, 's' },
	{ "packets", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{}
};

static unsigned int wrap_named(const char *name)
{
	int wrap = wrap_find(name);

	if (wrap < 0)
		die("no such tunnel: %s", name);
	return wrap;
}

static void parse_one(struct options *opts, int opt)
{
	switch (opt) {
	case 't':
		if (nr_taps == TAPS_MAX)
			die("too many taps");
		tap_open(&taps[nr_taps++], optarg);
		break;
	case 'H':
		opts->passage.hops = strtoul(optarg, NULL, 0);
		break;
	case 'n':
		opts->passage.nat = true;
		break;
	case 'i':
		opts->passage.ids = true;
		break;
	case 'f':
		opts->passage.order = ORDER_FLOWS;
		break;
	case 'A':
		opts->passage.order = ORDER_ANY;
		break;
	case 'a':
		opts->altered = true;
		break;
	case 'S':
		opts->sockets = true;
		opts->stream.features = 0;
		break;
	case 'W':
		opts->warm = true;
		break;
	case 'x':
		opts->xdp = true;
		break;
	case 'w':
		opts->stream.wrap = wrap_named(optarg);
		break;
	case 's':
		opts->stream.seed = strtoull(optarg, NULL, 0);
		break;
	case 'p':
		opts->stream.packets = strtoul(optarg, NULL, 0);
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options opts = {
		.stream = {
			.features = GRO_LAB_DEV_UDP_FWD,
			.seed = 1, .packets = 400,
		},
	};
	int fd, opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1)
		parse_one(&opts, opt);
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	stay_on_one_cpu();
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = lab_open();
	if (opts.xdp)
		xdp_load();
	return trials(fd, &opts, argv + optind, argc - optind) ? 0 : 1;
}
