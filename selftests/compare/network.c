// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who asks stock to merge UDP and what is in it: sockets, tunnel devices. These
 * are iproute2's to make; no packet ever comes as far as they are.
 */
#include <errno.h>
#include <netinet/in.h>
#include <linux/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "compare.h"

/* ESP as wrap.c writes it: neither encrypted nor signed. */
#define TO4	"src 192.0.2.1 dst 192.0.2.2 proto esp "
#define TO6	"src 2001:db8::1 dst 2001:db8::2 proto esp "
#define SPI	"spi 0x101"
#define UDP_SPI	"spi 0x102"
#define NOTHING	" enc 'ecb(cipher_null)' ''"

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
	{ "esp", "xfrm state add " TO4 SPI " mode tunnel" NOTHING, NULL,
	  "xfrm state del " TO4 SPI },
	{ "esp6", "xfrm state add " TO6 SPI " mode tunnel" NOTHING, NULL,
	  "xfrm state del " TO6 SPI },
	{ "espudp", "xfrm state add " TO4 UDP_SPI " mode tunnel" NOTHING
	  " encap espinudp 50000 4500 0.0.0.0", NULL,
	  "xfrm state del " TO4 UDP_SPI },
	{ "espudp6", "xfrm state add " TO6 UDP_SPI " mode tunnel" NOTHING
	  " encap espinudp 50000 4500 ::", NULL,
	  "xfrm state del " TO6 UDP_SPI },
};

static bool there[ARRAY_SIZE(devices)];
static int sockets[6] = { -1, -1, -1, -1, -1, -1 };
/* ALL: each its own; one of the others: that one, and no other. */
static enum { ALL, VXLAN, EATER } tunnels;
static bool eats;
static int lab;
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

const char *kernel_series(void)
{
	static struct utsname uts;
	size_t len;

	if (!uts.release[0]) {
		uname(&uts);
		len = strcspn(uts.release, ".");
		len += 1 + strspn(uts.release + len + 1, "0123456789");
		uts.release[len] = 0;
	}
	return uts.release;
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

/* From 6.8 on such a socket takes ESP out of GRO. */
static void esp_attach(int fd)
{
	const int esp = UDP_ENCAP_ESPINUDP;

	if (setsockopt(fd, IPPROTO_UDP, UDP_ENCAP, &esp, sizeof(esp)))
		printf("# UDP_ENCAP: %s\n", strerror(errno));
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

/* The sockets that ask for aggregates and those that do not: change places. */
void network_swap(bool swap)
{
	static bool swapped;
	unsigned int i;
	int ask;

	if (owner != getpid() || swap == swapped)
		return;
	swapped = swap;
	for (i = 0; i < 4; i++) {
		ask = (i < 2) != swap;
		if (setsockopt(sockets[i], IPPROTO_UDP, UDP_GRO, &ask,
			       sizeof(ask)))
			die("UDP_GRO: %s", strerror(errno));
	}
}

/* Whose packets are eaten: a socket may come while packets for it are held. */
void network_late(bool late)
{
	const __u16 port = late ? PORT_LATE : PORT_EATEN;
	static bool was;

	if (owner != getpid() || !eats || late == was)
		return;
	was = late;
	if (ioctl(lab, GRO_LAB_EAT, &port))
		die("GRO_LAB_EAT: %s", strerror(errno));
}

bool network_alone(const char *name)
{
	if (!strcmp(name, "vxlan"))
		tunnels = VXLAN;
	else if (!strcmp(name, "eater"))
		tunnels = EATER;
	return tunnels != ALL;
}

bool network_eater_alone(void)
{
	return tunnels == EATER;
}

static unsigned int devices_nr(void)
{
	switch (tunnels) {
	case VXLAN:
		return 1;
	case EATER:
		return 0;
	default:
		return ARRAY_SIZE(devices);
	}
}

void network_setup(int fd)
{
	const __u16 eaten = PORT_EATEN;
	unsigned int i;

	if (owner)
		return;
	sockets[0] = socket_open(AF_INET, PORT_GRO, true);
	sockets[1] = socket_open(AF_INET6, PORT_GRO, true);
	sockets[2] = socket_open(AF_INET, PORT_PLAIN, false);
	sockets[3] = socket_open(AF_INET6, PORT_PLAIN, false);
	sockets[4] = socket_open(AF_INET, PORT_ESP, true);
	sockets[5] = socket_open(AF_INET6, PORT_ESP, true);
	/* Unlike the others they are not loaded by asking for them. */
	run("modprobe", "-a fou esp4 esp4_offload esp6 esp6_offload");
	for (i = 4; i < 6 && tunnels == ALL; i++)
		esp_attach(sockets[i]);
	for (i = 0; i < devices_nr(); i++)
		there[i] = ip(devices[i].add) &&
			   (!devices[i].up || ip(devices[i].up));
	/* Until the last one closes the lab. */
	lab = fd;
	eats = tunnels != VXLAN && !ioctl(lab, GRO_LAB_EAT, &eaten);
	owner = getpid();
	atexit(network_end);
}

bool network_lacks(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (!strcmp(devices[i].name, name))
			return !there[i];
	return false;
}

void network_print(FILE *out)
{
	/* GRO_LAB_CAN_* */
	static const char *const cans[] = {
		"decrypted", "page pool", "connections", "tc_skb_ext",
	};
	unsigned int i;

	fputs(eats ? "# sockets eater" : "# sockets, no eater", out);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (there[i])
			fprintf(out, " %s", devices[i].name);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (!there[i])
			fprintf(out, ", no %s", devices[i].name);
	for (i = 0; i < ARRAY_SIZE(cans); i++)
		if (!(lab_can & 1u << i))
			fprintf(out, ", no %s", cans[i]);
	fputc('\n', out);
}
