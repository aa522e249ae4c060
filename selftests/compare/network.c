// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who asks stock to merge UDP and what is in it: sockets, tunnel devices. These
 * are iproute2's to make; no packet ever comes as far as they are.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compare.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

static const struct device {
	const char *name, *add, *up, *del;
} devices[] = {
	{ "vxlan", "link add gocmp-vx type vxlan external dstport 4789",
	  "link set gocmp-vx up", "link del gocmp-vx" },
	{ "gpe", "link add gocmp-gpe type vxlan external gpe dstport 4790",
	  "link set gocmp-gpe up", "link del gocmp-gpe" },
	{ "geneve", "link add gocmp-gv type geneve external",
	  "link set gocmp-gv up", "link del gocmp-gv" },
	{ "fou", "fou add port 5555 ipproto 4", NULL, "fou del port 5555" },
	{ "fou6", "-6 fou add port 5555 ipproto 4", NULL,
	  "-6 fou del port 5555" },
	{ "gue", "fou add port 5556 gue", NULL, "fou del port 5556" },
	{ "gue6", "-6 fou add port 5556 gue", NULL, "-6 fou del port 5556" },
};

static bool there[ARRAY_SIZE(devices)];
static int sockets[4] = { -1, -1, -1, -1 };
static pid_t owner;

static bool run(const char *program, const char *arguments)
{
	char command[256];

	snprintf(command, sizeof(command), "%s %s >/dev/null 2>&1", program,
		 arguments);
	return !system(command);
}

static bool ip(const char *arguments)
{
	return run("ip", arguments);
}

static int socket_open(int family, unsigned int port, bool gro)
{
	struct sockaddr_in6 a6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port),
	};
	struct sockaddr_in a4 = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1, err;

	if (family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
		err = bind(fd, (struct sockaddr *)&a6, sizeof(a6));
	} else {
		err = bind(fd, (struct sockaddr *)&a4, sizeof(a4));
	}
	if (err || (gro && setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one,
				      sizeof(one))))
		die("UDP port %u: %s", port, strerror(errno));
	return fd;
}

void network_end(void)
{
	unsigned int i;

	if (owner != getpid())
		return;
	owner = 0;
	for (i = 0; i < ARRAY_SIZE(sockets); i++)
		close(sockets[i]);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (there[i])
			ip(devices[i].del);
}

void network_setup(void)
{
	unsigned int i;

	if (owner)
		return;
	sockets[0] = socket_open(AF_INET, PORT_GRO, true);
	sockets[1] = socket_open(AF_INET6, PORT_GRO, true);
	sockets[2] = socket_open(AF_INET, PORT_PLAIN, false);
	sockets[3] = socket_open(AF_INET6, PORT_PLAIN, false);
	/* Unlike the others it is not loaded by asking for it. */
	run("modprobe", "fou");
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		there[i] = ip(devices[i].add) &&
			   (!devices[i].up || ip(devices[i].up));
	owner = getpid();
	atexit(network_end);
}

void network_print(FILE *out)
{
	unsigned int i;

	fputs("# sockets", out);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (there[i])
			fprintf(out, " %s", devices[i].name);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (!there[i])
			fprintf(out, ", no %s", devices[i].name);
	fputc('\n', out);
}
