// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP streams of which every byte is checked at the other end.
 *
 *	traffic listen PORT
 *	traffic send [-d|-h] [-n BYTES] [-c STREAMS] [-p MS] [-s SEED] ADDRESS PORT
 *
 * A stream is eight bytes of seed, then what that seed generates, then FIN. The
 * receiver answers with the number of bytes it found right, and the sender
 * fails unless that is the number it sent. Chunks of odd sizes make segments
 * that are short and pushed as well as full ones.
 *
 *	-n	bytes a stream; 0, the default: until SIGTERM
 *	-p	pause after each chunk, so that others get to run too
 *	-d, -h	with an IPv6 destination or hop-by-hop options header
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK	65536
#define STALLED	60		/* seconds without a byte */
#define WRONG	UINT64_MAX

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "traffic: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* splitmix64, by index: any place of the stream can be made on its own. */
static uint64_t word(uint64_t seed, uint64_t index)
{
	uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void fill(uint8_t *buf, size_t len, uint64_t seed, uint64_t offset)
{
	size_t i;

	for (i = 0; i < len; i++, offset++)
		buf[i] = word(seed, offset / 8) >> (offset % 8 * 8);
}

static void set_timeouts(int fd)
{
	const struct timeval tv = { .tv_sec = STALLED };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)))
		die("timeouts");
}

static void read_all(int fd, void *buf, size_t len)
{
	while (len) {
		ssize_t got = recv(fd, buf, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die("recv");
		if (!got) {
			fputs("traffic: the stream ended early\n", stderr);
			exit(1);
		}
		buf = (char *)buf + got;
		len -= got;
	}
}

static void write_all(int fd, const void *buf, size_t len)
{
	while (len) {
		ssize_t put = send(fd, buf, len, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			die("send");
		buf = (const char *)buf + put;
		len -= put;
	}
}

/* --- receiver --------------------------------------------------------------- */

static uint64_t verify(int fd, uint64_t seed)
{
	static uint8_t buf[CHUNK], want[CHUNK];
	uint64_t total = 0;
	ssize_t got;

	while ((got = recv(fd, buf, sizeof(buf), 0))) {
		if (got < 0)
			die("recv");
		fill(want, got, seed, total);
		if (memcmp(buf, want, got)) {
			fprintf(stderr, "traffic: wrong bytes behind %llu\n",
				(unsigned long long)total);
			return WRONG;
		}
		total += got;
	}
	return total;
}

static void serve(int fd)
{
	uint64_t seed, total;

	set_timeouts(fd);
	read_all(fd, &seed, sizeof(seed));
	total = verify(fd, seed);
	write_all(fd, &total, sizeof(total));
}

static int listen_on(const char *port)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(atoi(port)),
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), one = 1, zero = 0, con;

	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 64))
		die("listen");
	signal(SIGCHLD, SIG_IGN);
	puts("ready");
	fflush(stdout);
	for (;;) {
		con = accept(fd, NULL, NULL);
		if (con < 0)
			die("accept");
		if (!fork()) {
			serve(con);
			exit(0);
		}
		close(con);
	}
}

/* --- sender ----------------------------------------------------------------- */

struct stream {
	const char *host;
	const char *port;
	uint64_t bytes;
	uint64_t seed;
	unsigned int pause;	/* milliseconds */
	int header;		/* IPV6_DSTOPTS, IPV6_HOPOPTS or 0 */
};

/* An options header of eight bytes, all of them padding. */
static void add_header(int fd, int header)
{
	static const uint8_t options[8] = { 0, 0, 1, 4 };

	if (header && setsockopt(fd, IPPROTO_IPV6, header, options,
				 sizeof(options)))
		die("options header");
}

/* IPv4 addresses are told by the lack of a colon. */
static int connect_to(const struct stream *s)
{
	struct sockaddr_in6 six = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(atoi(s->port)),
	};
	struct sockaddr_in four = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(s->port)),
	};
	const bool is_six = strchr(s->host, ':');
	int fd, one = 1, ret;

	fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	add_header(fd, s->header);
	set_timeouts(fd);
	if (inet_pton(is_six ? AF_INET6 : AF_INET, s->host, is_six ?
		      (void *)&six.sin6_addr : (void *)&four.sin_addr) != 1 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die(s->host);
	if (is_six)
		ret = connect(fd, (struct sockaddr *)&six, sizeof(six));
	else
		ret = connect(fd, (struct sockaddr *)&four, sizeof(four));
	if (ret)
		die("connect");
	return fd;
}

static size_t next_chunk(const struct stream *s, uint64_t sent)
{
	uint64_t random = word(~s->seed, sent);
	size_t len = CHUNK;

	if (random % 8 == 0)
		len = 1 + (random >> 8) % 3000;
	return s->bytes && s->bytes - sent < len ? s->bytes - sent : len;
}

static int send_stream(const struct stream *s)
{
	static uint8_t buf[CHUNK];
	uint64_t sent = 0, right;
	int fd = connect_to(s);

	write_all(fd, &s->seed, sizeof(s->seed));
	while (s->bytes ? sent < s->bytes : !stop) {
		size_t len = next_chunk(s, sent);

		fill(buf, len, s->seed, sent);
		write_all(fd, buf, len);
		sent += len;
		if (s->pause)
			usleep(1000 * s->pause);
	}
	if (shutdown(fd, SHUT_WR))
		die("shutdown");
	read_all(fd, &right, sizeof(right));
	close(fd);
	if (right != sent) {
		fprintf(stderr, "traffic: of %llu bytes %lld arrived right\n",
			(unsigned long long)sent, (long long)right);
		return 1;
	}
	printf("%s %s bytes %llu right\n", s->host, s->port,
	       (unsigned long long)sent);
	return 0;
}

static int send_streams(struct stream *s, int streams)
{
	struct sigaction act = { .sa_handler = on_term };
	int failed = 0, status, i;
	pid_t pids[64];

	sigaction(SIGTERM, &act, NULL);
	for (i = 0; i < streams; i++) {
		s->seed = word(s->seed, i);
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i])
			exit(send_stream(s));
	}
	for (i = 0; i < streams; i++) {
		while (waitpid(pids[i], &status, 0) < 0) {
			int j;

			if (errno != EINTR)
				die("waitpid");
			for (j = i; j < streams; j++)
				kill(pids[j], SIGTERM);
		}
		failed |= status;
	}
	return !!failed;
}

static int usage(void)
{
	fputs("usage: see the head of traffic.c\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct stream s = { .seed = 1 };
	int streams = 1, opt;

	if (argc == 3 && !strcmp(argv[1], "listen"))
		return listen_on(argv[2]);
	if (argc < 4 || strcmp(argv[1], "send"))
		return usage();
	argc--;
	argv++;
	while ((opt = getopt(argc, argv, "dhn:c:p:s:")) != -1) {
		switch (opt) {
		case 'd':
			s.header = IPV6_DSTOPTS;
			break;
		case 'h':
			s.header = IPV6_HOPOPTS;
			break;
		case 'n':
			s.bytes = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			streams = atoi(optarg);
			break;
		case 'p':
			s.pause = atoi(optarg);
			break;
		case 's':
			s.seed = strtoull(optarg, NULL, 0);
			break;
		default:
			return usage();
		}
	}
	if (argc - optind != 2 || streams < 1 || streams > 64)
		return usage();
	s.host = argv[optind];
	s.port = argv[optind + 1];
	return send_streams(&s, streams);
}
