// SPDX-License-Identifier: GPL-2.0-only
/* One TCP connection between two network namespaces, per arm; see usage(). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

#define PORT		5001
#define CHUNK		65536

enum extension { EXT_NONE, EXT_HOP, EXT_DST };

struct options {
	const char *name;
	const char *tx_ns;
	const char *rx_ns;
	const char *tx_dev;
	const char *addr;
	enum extension ext;
	unsigned long bytes;
	unsigned int nr_arms;
	enum arm arms[ARMS];
	bool json;
};

struct figures {
	struct gro_lab_counters gro;
	__u64 sent;		/* packets, by the sender's device */
};

/* --- the pattern ---------------------------------------------------------- */

/* No stretch of it looks like another, so that lost or moved bytes show. */
static void pattern(__u8 *to, size_t len, __u32 *state)
{
	size_t i;

	for (i = 0; i < len; i++) {
		*state = *state * 1664525 + 1013904223;
		to[i] = *state >> 24;
	}
}

static bool pattern_ok(const __u8 *from, size_t len, __u32 *state)
{
	static __u8 want[CHUNK];

	pattern(want, len, state);
	return !memcmp(from, want, len);
}

/* --- sockets -------------------------------------------------------------- */

static void join_netns(const char *ns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("cannot enter the network namespace %s: %s", ns,
		    strerror(errno));
	close(fd);
}

static socklen_t parse_address(const char *text, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (void *)addr;
	struct sockaddr_in *in = (void *)addr;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(PORT);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1)
		die("not an address: %s", text);
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(PORT);
	return sizeof(*in6);
}

/*
 * Options that every router and receiver ignores: padding, of which they take
 * 7 bytes at most, and an experiment's.
 */
static void add_extension(int fd, enum extension ext)
{
	static const __u8 hop[8] = { 0, 0, 1, 4 };
	static const __u8 dst[16] = { 0, 1, 0x1e, 12 };
	int err = 0;

	if (ext == EXT_HOP)
		err = setsockopt(fd, IPPROTO_IPV6, IPV6_HOPOPTS, hop,
				 sizeof(hop));
	else if (ext == EXT_DST)
		err = setsockopt(fd, IPPROTO_IPV6, IPV6_DSTOPTS, dst,
				 sizeof(dst));
	if (err)
		die("no extension header on this socket: %s", strerror(errno));
}

/* --- the two ends --------------------------------------------------------- */

static int listen_on(const struct options *opts)
{
	struct sockaddr_storage addr;
	socklen_t len = parse_address(opts->addr, &addr);
	int fd, on = 1;

	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) || listen(fd, 1))
		die("cannot listen on %s: %s", opts->addr, strerror(errno));
	return fd;
}

static void receive(const struct options *opts, int listener)
{
	static __u8 buf[CHUNK];
	unsigned long got = 0;
	__u32 state = 1;
	ssize_t len;
	int fd;

	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept: %s", strerror(errno));
	while ((len = read(fd, buf, sizeof(buf))) > 0) {
		if (!pattern_ok(buf, len, &state))
			die("byte %lu or one soon after is not what was sent",
			    got);
		got += len;
	}
	if (len < 0 || got != opts->bytes)
		die("%lu bytes arrived of %lu", got, opts->bytes);
	/* The sender has to know that all is here before it counts. */
	if (write(fd, "k", 1) != 1)
		die("cannot confirm: %s", strerror(errno));
	close(fd);
}

static void send_all(int fd, const __u8 *buf, size_t len)
{
	ssize_t sent;

	while (len) {
		sent = write(fd, buf, len);
		if (sent <= 0)
			die("cannot send: %s", strerror(errno));
		buf += sent;
		len -= sent;
	}
}

static void transmit(const struct options *opts)
{
	static __u8 buf[CHUNK];
	struct sockaddr_storage addr;
	socklen_t len = parse_address(opts->addr, &addr);
	unsigned long left = opts->bytes;
	__u32 state = 1;
	size_t now;
	char ok;
	int fd;

	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	add_extension(fd, opts->ext);
	if (connect(fd, (struct sockaddr *)&addr, len))
		die("cannot connect to %s: %s", opts->addr, strerror(errno));
	for (; left; left -= now) {
		now = left < CHUNK ? left : CHUNK;
		pattern(buf, now, &state);
		send_all(fd, buf, now);
	}
	shutdown(fd, SHUT_WR);
	if (read(fd, &ok, 1) != 1)
		die("the receiver did not confirm");
	close(fd);
}

/* In the caller's network namespace. */
static __u64 sent_packets(const char *dev)
{
	unsigned long long packets = 0;
	char line[512], name[32];
	FILE *file = fopen("/proc/thread-self/net/dev", "re");

	if (!file)
		die("cannot read /proc/thread-self/net/dev");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %31[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu",
			   name, &packets) == 2 && !strcmp(name, dev))
			break;
	if (feof(file))
		die("no device %s", dev);
	fclose(file);
	return packets;
}

/* --- one arm -------------------------------------------------------------- */

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("the transfer failed");
}

static pid_t start_receiver(const struct options *opts)
{
	int listener;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	join_netns(opts->rx_ns);
	listener = listen_on(opts);
	raise(SIGSTOP);
	receive(opts, listener);
	exit(0);
}

static pid_t start_sender(const struct options *opts, int out)
{
	__u64 before, sent;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	join_netns(opts->tx_ns);
	before = sent_packets(opts->tx_dev);
	transmit(opts);
	sent = sent_packets(opts->tx_dev) - before;
	if (write(out, &sent, sizeof(sent)) != sizeof(sent))
		die("pipe: %s", strerror(errno));
	exit(0);
}

static __u64 transfer(const struct options *opts)
{
	pid_t receiver, sender;
	__u64 sent = 0;
	int fds[2], status;

	if (pipe(fds))
		die("pipe: %s", strerror(errno));
	receiver = start_receiver(opts);
	/* it stops itself when it listens */
	if (waitpid(receiver, &status, WUNTRACED) != receiver ||
	    !WIFSTOPPED(status))
		die("the receiver did not start");
	sender = start_sender(opts, fds[1]);
	kill(receiver, SIGCONT);
	wait_for(sender);
	wait_for(receiver);
	if (read(fds[0], &sent, sizeof(sent)) != sizeof(sent))
		die("pipe: %s", strerror(errno));
	close(fds[0]);
	close(fds[1]);
	return sent;
}

static void measure(int fd, const struct options *opts, enum arm arm,
		    struct figures *fig)
{
	arm_set(arm);
	lab_measure_reset(fd);
	lab_measure_on(fd);
	fig->sent = transfer(opts);
	lab_counters(fd, &fig->gro);
	lab_measure_off(fd);
	if (fig->gro.packets < fig->sent)
		die("%s, %s: GRO saw %llu packets, but %llu were sent", opts->name,
		    arm_name(arm), (unsigned long long)fig->gro.packets,
		    (unsigned long long)fig->sent);
	if (!fig->gro.merged)
		die("%s, %s: GRO merged nothing of %llu packets", opts->name,
		    arm_name(arm), (unsigned long long)fig->gro.packets);
}

/* --- printing ------------------------------------------------------------- */

static double per(__u64 sum, __u64 count)
{
	return count ? (double)sum / count : 0;
}

static void print_json(const struct options *opts, enum arm arm,
		       const struct figures *fig)
{
	const struct gro_lab_counters *gro = &fig->gro;
	unsigned long long skbs = gro->packets - gro->merged;

	printf("{\"scenario\":\"%s\",\"arm\":\"%s\",\"packets\":%llu,\"skbs\":%llu",
	       opts->name, arm_name(arm), (unsigned long long)gro->packets,
	       skbs);
	printf(",\"gro_packets\":%llu,\"merged\":%llu,\"aggregates\":%llu",
	       (unsigned long long)gro->packets,
	       (unsigned long long)gro->merged,
	       (unsigned long long)gro->completes);
	printf(",\"sent\":%llu,\"bytes\":%lu", (unsigned long long)fig->sent,
	       opts->bytes);
	printf(",\"segments_per_skb\":%.3f,\"recv\":%.2f,\"complete\":%.2f}\n",
	       per(gro->packets, skbs), per(gro->cycles, gro->packets),
	       per(gro->complete_cycles, gro->completes));
}

static void print_row(enum arm arm, const struct figures *fig)
{
	const struct gro_lab_counters *gro = &fig->gro;
	unsigned long long skbs = gro->packets - gro->merged;

	printf("%-12s %10llu %10llu %10.2f %14.1f %14.1f\n", arm_name(arm),
	       (unsigned long long)gro->packets, skbs,
	       per(gro->packets, skbs), per(gro->cycles, gro->packets),
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
	fputs("Usage: gro_stream --tx-ns NS --rx-ns NS --tx-dev DEV --addr ADDRESS [OPTIONS]\n\n"
	      "Sends bytes over TCP from one named network namespace to another, checks\n"
	      "that they arrive, and prints for each arm what GRO did: packets in, skbs\n"
	      "out, cycles a packet in the L3 handler's gro_receive and an aggregate in\n"
	      "its gro_complete. All GRO of this machine is counted, so let there be no\n"
	      "other traffic. Fails if GRO saw fewer packets than DEV sent, or merged\n"
	      "none.\n\n"
	      "  --tx-ns, --rx-ns NS  as `ip netns` names them\n"
	      "  --tx-dev DEV         the sender's device\n"
	      "  --addr ADDRESS       the receiver's, IPv4 or IPv6\n"
	      "  --hopopt             a hop-by-hop option on every packet\n"
	      "  --dstopt             a destination option on every packet\n"
	      "  --bytes N            how many (4194304)\n"
	      "  --arms LIST          of stock,passthrough,on; default all, or stock\n"
	      "                       alone if gro_opt.ko is not loaded\n"
	      "  --json               one JSON object a line for each arm\n"
	      "  --name NAME          the scenario's in that (stream)\n", out);
}

static void wrong_usage(void)
{
	usage(stderr);
	exit(2);
}

static void parse_option(struct options *opts, int opt)
{
	switch (opt) {
	case 't':
		opts->tx_ns = optarg;
		break;
	case 'r':
		opts->rx_ns = optarg;
		break;
	case 'd':
		opts->tx_dev = optarg;
		break;
	case 'i':
		opts->addr = optarg;
		break;
	case 'H':
		opts->ext = EXT_HOP;
		break;
	case 'D':
		opts->ext = EXT_DST;
		break;
	case 'b':
		opts->bytes = strtoul(optarg, NULL, 0);
		break;
	case 'a':
		opts->nr_arms = arms_parse(optarg, opts->arms);
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
		{ "tx-ns", required_argument, NULL, 't' },
		{ "rx-ns", required_argument, NULL, 'r' },
		{ "tx-dev", required_argument, NULL, 'd' },
		{ "addr", required_argument, NULL, 'i' },
		{ "hopopt", no_argument, NULL, 'H' },
		{ "dstopt", no_argument, NULL, 'D' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "arms", required_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'j' },
		{ "name", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1)
		parse_option(opts, opt);
	if (optind != argc || !opts->tx_ns || !opts->rx_ns || !opts->tx_dev ||
	    !opts->addr || !opts->bytes)
		wrong_usage();
}

int main(int argc, char **argv)
{
	struct options opts = { .name = "stream", .bytes = 4 << 20 };
	struct figures figures[ARMS];
	unsigned int a;
	int fd;

	parse(argc, argv, &opts);
	if (!opts.nr_arms)
		opts.nr_arms = arms_default(opts.arms);
	fd = lab_open();
	for (a = 0; a < opts.nr_arms; a++)
		measure(fd, &opts, opts.arms[a], &figures[a]);
	close(fd);
	print(&opts, figures);
	return 0;
}
