// SPDX-License-Identifier: GPL-2.0-only
/*
 * What GRO costs in each arm, by the scenario: see usage(). Prints nothing
 * until all is measured, as a serial console disturbs.
 */
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "lab.h"
#include "native.h"

#define NORMAL_BATCH "/proc/sys/net/core/gro_normal_batch"

struct scenario {
	const char *name;
	enum layer layers[LAYERS_MAX];
	unsigned int flows;
	unsigned int segments;	/* of a flow between flushes; 0: 16 */
	__u8 tcp_flags;
	bool no_payload;
	bool native;		/* only with --native */
	unsigned int gro_port;	/* of a socket with UDP_GRO, 0: none */
	bool forward;		/* rx-udp-gro-forwarding */
	bool vlan_tag;		/* one in the skb, where cards put it */
	__u8 csum_level;
	const char *device;	/* its socket is what UDP tunnels need */
};

#define TCP4 { L_ETH, L_IP4, L_TCP }
#define TCP6 { L_ETH, L_IP6, L_TCP }
#define UDP4 { L_ETH, L_IP4, L_UDP }
#define UDP6 { L_ETH, L_IP6, L_UDP }
#define VXLAN4 { L_ETH, L_IP4, L_VXLAN, L_ETH, L_IP4, L_TCP }
#define VXLAN_DEVICE "type vxlan id 7 dstport 4789 dev lab0"
#define GENEVE_DEVICE "type geneve id 7 remote fd00::9"

static const struct scenario scenarios[] = {
	{ "v4/tcp/1", TCP4, 1 },
	{ "v4/tcp/8", TCP4, 8 },
	{ "v4/tcp/64", TCP4, 64 },
	{ "v6/tcp/1", TCP6, 1 },
	{ "v6/tcp/8", TCP6, 8 },
	{ "v6/tcp/64", TCP6, 64 },
	{ "v6+hbh/tcp/1", { L_ETH, L_IP6, L_HBH, L_TCP }, 1 },
	{ "v6+hbh/tcp/64", { L_ETH, L_IP6, L_HBH, L_TCP }, 64 },
	{ "v6+dstopt/tcp/1", { L_ETH, L_IP6, L_DST, L_TCP }, 1 },
	{ "v6+dstopt/tcp/64", { L_ETH, L_IP6, L_DST, L_TCP }, 64 },
	/* a socket, bound to any address, that asked for it */
	{ "v4/udp/1", UDP4, 1, .gro_port = FRAME_DPORT },
	{ "v4/udp/8", UDP4, 8, .gro_port = FRAME_DPORT },
	{ "v4/udp/64", UDP4, 64, .gro_port = FRAME_DPORT },
	{ "v6/udp/1", UDP6, 1, .gro_port = FRAME_DPORT },
	{ "v6/udp/8", UDP6, 8, .gro_port = FRAME_DPORT },
	{ "v6/udp/64", UDP6, 64, .gro_port = FRAME_DPORT },
	{ "v4-in-v4/tcp/1", { L_ETH, L_IP4, L_IP4, L_TCP }, 1 },
	{ "v4-in-v4/tcp/64", { L_ETH, L_IP4, L_IP4, L_TCP }, 64 },
	{ "v6-in-v6/tcp/1", { L_ETH, L_IP6, L_IP6, L_TCP }, 1 },
	{ "v6-in-v6/tcp/64", { L_ETH, L_IP6, L_IP6, L_TCP }, 64 },
	{ "v4-in-v6/tcp/64", { L_ETH, L_IP6, L_IP4, L_TCP }, 64 },
	{ "sit/tcp/64", { L_ETH, L_IP4, L_IP6, L_TCP }, 64 },
	{ "vlan(tag)/v4/tcp/8", TCP4, 8, .vlan_tag = true },
	{ "vlan/v4/tcp/8", { L_ETH, L_VLAN, L_IP4, L_TCP }, 8 },
	{ "qinq/v4/tcp/8", { L_ETH, L_VLAN, L_VLAN, L_IP4, L_TCP }, 8 },
	{ "gre4/tcp/8", { L_ETH, L_IP4, L_GRE, L_IP4, L_TCP }, 8 },
	{ "vxlan4/tcp/1", VXLAN4, 1, .csum_level = 1,
	  .device = VXLAN_DEVICE },
	{ "vxlan4/tcp/8", VXLAN4, 8, .csum_level = 1,
	  .device = VXLAN_DEVICE },
	{ "geneve6/tcp/8", { L_ETH, L_IP6, L_GENEVE, L_ETH, L_IP6, L_TCP }, 8,
	  .csum_level = 1, .device = GENEVE_DEVICE },
	/* nothing to merge with */
	{ "single/tcp/64", TCP4, 64, .segments = 1 },
	{ "single6/tcp/64", TCP6, 64, .segments = 1 },
	/* nothing that merges, or not with TCP's rules */
	{ "v4+psh/tcp/8", TCP4, 8, .tcp_flags = TH_ACK | TH_PSH },
	{ "v4/ack/8", TCP4, 8, .no_payload = true },
	{ "v4+opt/tcp/8", { L_ETH, L_IP4_OPT, L_TCP }, 8 },
	{ "v4/frag/udp/8", { L_ETH, L_IP4_FRAG, L_UDP }, 8 },
	{ "v4/esp/8", { L_ETH, L_IP4, L_ESP }, 8 },
	{ "v4/icmp/8", { L_ETH, L_IP4, L_ICMP }, 8 },
	{ "v4/udp+plain/8", UDP4, 8 },
	{ "v6/udp+plain/8", UDP6, 8 },
	/* no socket, but the device forwards */
	{ "v4/udp+fwd/8", UDP4, 8, .forward = true },
	{ "v6/udp+fwd/8", UDP6, 8, .forward = true },
	/* somebody else asked, so stock looks for the socket of each */
	{ "v4/udp+other/8", UDP4, 8, .gro_port = FRAME_DPORT + 1 },
	{ "v6/udp+other/8", UDP6, 8, .gro_port = FRAME_DPORT + 1 },
	/* all of a burst in the caches, as with the 64 flows above it is not */
	{ "v4/tcp/4", TCP4, 4, .native = true },
	{ "v6/tcp/4", TCP6, 4, .native = true },
};

#define SCENARIOS ARRAY_SIZE(scenarios)

struct options {
	const char *kernel;
	const char *match;
	unsigned int rounds;
	unsigned int bursts;	/* of --native, or 0 */
	unsigned int nr_arms;
	enum arm arms[ARMS];
};

/* --- a batch of a scenario's frames --------------------------------------- */

/* Flows differ, and fill GRO's 8 buckets evenly. */
static __u32 flow_hash(unsigned int flow)
{
	return (((flow + 1) * 0x9e3779b1U) & ~7U) | (flow & 7);
}

static void add_packet(struct lab_batch *batch, const struct scenario *sc,
		       unsigned int flow, unsigned int nr)
{
	static __u8 buf[FRAME_MAX];
	struct packet packet = {
		.flow = flow,
		.nr = nr,
		.payload = sc->no_payload ? 0 : 1400,
		.tcp_flags = sc->tcp_flags,
	};
	struct gro_lab_frame frame = {
		.head = GRO_LAB_HEAD_FRAG,
		.ip_summed = GRO_LAB_CSUM_UNNECESSARY,
		.hash = flow_hash(flow),
		.hash_type = GRO_LAB_HASH_L4,
		.csum_level = sc->csum_level,
		.flags = sc->vlan_tag ? GRO_LAB_F_VLAN : 0,
		.vlan_proto = 0x8100,
		.vlan_tci = 100,
	};

	frame.linear = frame_headers(sc->layers);
	frame.len = frame_build(buf, sc->layers, &packet);
	lab_add(batch, &frame, buf);
}

/* UDP GRO asks for a socket where there is a device of this kind. */
static void device_run(const char *verb, const char *what)
{
	char command[128];

	snprintf(command, sizeof(command), "ip link %s bench0 %s", verb, what);
	if (system(command))
		die("failed: %s", command);
}

static void device_up(const struct scenario *sc)
{
	if (!sc->device)
		return;
	device_run("add", sc->device);
	device_run("set", "up");
}

static void device_down(const struct scenario *sc)
{
	if (sc->device)
		device_run("del", "");
}

static void load(int fd, const struct scenario *sc)
{
	unsigned int segments = sc->segments ? sc->segments : 16;
	struct lab_batch batch = {};
	unsigned int flow, nr;

	lab_begin(&batch, GRO_LAB_B_LOAD | GRO_LAB_B_FLUSH);
	if (sc->forward)
		batch.head.features = GRO_LAB_DEV_UDP_FWD;
	for (nr = 0; nr < segments; nr++)
		for (flow = 0; flow < sc->flows; flow++)
			add_packet(&batch, sc, flow, nr);
	lab_write(fd, &batch);
	lab_end(&batch);
}

/* --- the receiver --------------------------------------------------------- */

/* A datagram socket that is bound to a port and wants datagrams merged. */
static int receiver_open(const struct scenario *sc)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} to = {};
	int fd, on = 1;

	if (!sc->gro_port)
		return -1;
	if (sc->layers[1] == L_IP4) {
		to.v4.sin_family = AF_INET;
		to.v4.sin_port = htons(sc->gro_port);
	} else {
		to.v6.sin6_family = AF_INET6;
		to.v6.sin6_port = htons(sc->gro_port);
	}
	fd = socket(to.any.sa_family, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, &to.any, sizeof(to)) ||
	    setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on)))
		die("no socket with UDP_GRO at port %u: %s", sc->gro_port,
		    strerror(errno));
	return fd;
}

static void receiver_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* --- measuring ------------------------------------------------------------ */

static void run(int fd, const struct options *opts, struct gro_lab_run *result)
{
	memset(result, 0, sizeof(*result));
	result->version = GRO_LAB_VERSION;
	result->rounds = opts->rounds;
	if (ioctl(fd, GRO_LAB_RUN, result))
		die("GRO_LAB_RUN: %s", strerror(errno));
}

static double per(__u64 sum, __u64 count)
{
	return count ? (double)sum / count : 0;
}

static void print(const struct options *opts, const struct scenario *sc,
		  enum arm arm, const struct gro_lab_run *r)
{
	printf("RESULT kernel=%s scenario=%s arm=%s", opts->kernel, sc->name,
	       arm_name(arm));
	printf(" recv=%.1f complete=%.1f total=%.1f",
	       per(r->recv, r->packets), per(r->complete, r->completes),
	       per(r->total, r->frames));
	printf(" packets=%llu merged=%llu skbs=%llu aggregates=%llu steady=%u\n",
	       (unsigned long long)r->packets, (unsigned long long)r->merged,
	       (unsigned long long)r->skbs, (unsigned long long)r->completes,
	       r->same == (GRO_LAB_RUN_TOTAL | GRO_LAB_RUN_HANDLERS));
}

static bool wanted(const struct options *opts, const struct scenario *sc)
{
	if (sc->native && !opts->bursts)
		return false;
	return !opts->match || !fnmatch(opts->match, sc->name, 0);
}

/* Returns the receiver. */
static int prepare(int fd, const struct scenario *sc)
{
	int receiver = receiver_open(sc);

	device_up(sc);
	load(fd, sc);
	return receiver;
}

static void finish(const struct scenario *sc, int receiver)
{
	device_down(sc);
	receiver_close(receiver);
}

static void measure_native(int fd, const struct options *opts)
{
	unsigned int s;
	int receiver;

	for (s = 0; s < SCENARIOS; s++) {
		if (!wanted(opts, &scenarios[s]))
			continue;
		receiver = prepare(fd, &scenarios[s]);
		native_measure(fd, opts->kernel, scenarios[s].name,
			       opts->bursts);
		finish(&scenarios[s], receiver);
	}
}

static void measure(int fd, const struct options *opts,
		    struct gro_lab_run results[SCENARIOS][ARMS])
{
	unsigned int a, s;
	int receiver;

	for (a = 0; a < opts->nr_arms; a++) {
		arm_set(opts->arms[a]);
		for (s = 0; s < SCENARIOS; s++) {
			if (!wanted(opts, &scenarios[s]))
				continue;
			receiver = prepare(fd, &scenarios[s]);
			run(fd, opts, &results[s][opts->arms[a]]);
			finish(&scenarios[s], receiver);
		}
	}
}

static void print_all(const struct options *opts,
		      struct gro_lab_run results[SCENARIOS][ARMS])
{
	unsigned int a, s;

	for (s = 0; s < SCENARIOS; s++)
		for (a = 0; a < opts->nr_arms; a++)
			if (wanted(opts, &scenarios[s]))
				print(opts, &scenarios[s], opts->arms[a],
				      &results[s][opts->arms[a]]);
}

/* --- the sysctl ----------------------------------------------------------- */

static char normal_batch[32];

static void normal_batch_restore(void)
{
	file_write(NORMAL_BATCH, normal_batch);
}

/* What is passed up in the middle of a burst is no part of GRO. */
static void normal_batch_raise(void)
{
	if (!file_read(NORMAL_BATCH, normal_batch, sizeof(normal_batch)) ||
	    !file_write(NORMAL_BATCH, "1000000"))
		die("cannot set %s: %s", NORMAL_BATCH, strerror(errno));
	atexit(normal_batch_restore);
}

/* --- the command line ----------------------------------------------------- */

static void usage(FILE *out)
{
	fputs("Usage: gro_bench [OPTIONS]\n\n"
	      "Measures GRO with made-up traffic, through gro_lab.ko, and prints a\n"
	      "line for each scenario and arm:\n\n"
	      "  recv      cycles a packet inside the L3 handler's gro_receive\n"
	      "  complete  cycles an aggregate inside its gro_complete\n"
	      "  total     cycles a packet in all of napi_gro_receive() and the flush\n"
	      "  steady    1: all rounds but the first agreed to the cycle\n\n"
	      "In a guest of vm/run --icount cycles are instructions.\n\n"
	      "  --kernel NAME    what to print as kernel=\n"
	      "  --arms LIST      of stock,passthrough,on; default all, or stock alone\n"
	      "                   if gro_opt.ko is not loaded\n"
	      "  --match GLOB     only the scenarios that match\n"
	      "  --rounds N       the least of so many counts (10)\n"
	      "  --native N       instead: nanoseconds a packet in all of\n"
	      "                   napi_gro_receive() and the flush, median and tenth\n"
	      "                   percentile of N bursts of stock, stock again and on,\n"
	      "                   which take turns; needs gro_opt.ko\n"
	      "  --list           the scenarios' names\n", out);
}

static void list(void)
{
	unsigned int s;

	for (s = 0; s < SCENARIOS; s++)
		puts(scenarios[s].name);
}

static void parse(int argc, char **argv, struct options *opts)
{
	static const struct option longs[] = {
		{ "kernel", required_argument, NULL, 'k' },
		{ "arms", required_argument, NULL, 'a' },
		{ "match", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "native", required_argument, NULL, 'n' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (opt) {
		case 'k':
			opts->kernel = optarg;
			break;
		case 'a':
			opts->nr_arms = arms_parse(optarg, opts->arms);
			break;
		case 'm':
			opts->match = optarg;
			break;
		case 'r':
			opts->rounds = atoi(optarg);
			break;
		case 'n':
			opts->bursts = atoi(optarg);
			break;
		case 'l':
			list();
			exit(0);
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc || !opts->rounds) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct gro_lab_run results[SCENARIOS][ARMS];
	struct options opts = { .kernel = "unknown", .rounds = 10 };
	int fd;

	parse(argc, argv, &opts);
	if (!opts.nr_arms)
		opts.nr_arms = arms_default(opts.arms);
	fd = lab_open();
	normal_batch_raise();
	if (opts.bursts) {
		measure_native(fd, &opts);
		return 0;
	}
	measure(fd, &opts, results);
	close(fd);
	print_all(&opts, results);
	return 0;
}
