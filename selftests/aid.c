// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the shell tests need and no shell tool tells exactly: which errno a
 * system call gave, and the uevents as the kernel sends them.
 *
 *	aid write FILE VALUE	one write() of VALUE
 *	aid load FILE [PARAMS]	finit_module()
 *	aid unload NAME		delete_module()
 *	aid uevents SUBSYSTEM	a line for each, until killed
 *	aid nobody CMD...	CMD without any rights
 *	aid measured CMD...	CMD while gro_lab has its own offload callbacks
 *
 * The first three print OK or the errno's name and succeed whenever they could
 * ask the kernel: the caller says what would have been right.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gro_lab/gro_lab.h"

static int die(const char *what)
{
	fprintf(stderr, "aid: %s: %s\n", what, strerror(errno));
	return 2;
}

static int answer(long ret)
{
	const char *name = strerrorname_np(errno);

	puts(ret >= 0 ? "OK" : name ? name : "unknown errno");
	return 0;
}

static int aid_write(const char *file, const char *value)
{
	size_t len = strlen(value);
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	ssize_t ret;

	if (fd < 0)
		return answer(-1);
	ret = write(fd, value, len);
	if (ret >= 0 && (size_t)ret != len) {
		printf("short write, %zd of %zu bytes\n", ret, len);
		return 1;
	}
	return answer(ret);
}

static int aid_load(const char *file, const char *params)
{
	size_t len = strlen(file);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int flags = 0;

	if (fd < 0)
		return die(file);
#ifdef MODULE_INIT_COMPRESSED_FILE
	if (len < 3 || strcmp(file + len - 3, ".ko"))
		flags = MODULE_INIT_COMPRESSED_FILE;
#endif
	return answer(syscall(SYS_finit_module, fd, params, flags));
}

static int aid_unload(const char *name)
{
	return answer(syscall(SYS_delete_module, name, O_NONBLOCK));
}

/* "ACTION@PATH", then KEY=VALUE strings: one line of those, if it is of us. */
static void print_uevent(const char *buf, size_t len, const char *subsystem)
{
	const char *at, *end = buf + len;
	char want[128];
	int ours = 0;

	snprintf(want, sizeof(want), "SUBSYSTEM=%s", subsystem);
	for (at = buf; at < end; at += strlen(at) + 1)
		ours |= !strcmp(at, want);
	if (!ours)
		return;
	for (at = buf + strlen(buf) + 1; at < end; at += strlen(at) + 1)
		printf("%s%s", at, at + strlen(at) + 1 < end ? " " : "\n");
}

static int aid_uevents(const char *subsystem)
{
	const struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1,		/* the kernel's own, not udev's */
	};
	int size = 1 << 20;
	char buf[8192];
	ssize_t len;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (fd < 0)
		return die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		return die("SO_RCVBUF");
	if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		return die("bind");
	setlinebuf(stdout);
	puts("ready");
	while ((len = recv(fd, buf, sizeof(buf) - 1, 0)) >= 0) {
		buf[len] = '\0';
		print_uevent(buf, len, subsystem);
	}
	return die("recv");
}

static int run(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(argv[0], argv);
		_exit(die(argv[0]));
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return die(argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* Measuring goes on when the file is closed, so it is switched off here. */
static int aid_measured(char **argv)
{
	int fd = open("/dev/gro_lab", O_RDWR | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return die("/dev/gro_lab");
	if (ioctl(fd, GRO_LAB_MEASURE_ON))
		return die("GRO_LAB_MEASURE_ON");
	ret = run(argv);
	if (ioctl(fd, GRO_LAB_MEASURE_OFF))
		return die("GRO_LAB_MEASURE_OFF");
	return ret;
}

static int aid_nobody(char **argv)
{
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		return die("setuid");
	execvp(*argv, argv);
	return die(*argv);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "write") && argc == 4)
		return aid_write(argv[2], argv[3]);
	if (!strcmp(what, "load") && argc <= 4)
		return aid_load(argv[2], argc == 4 ? argv[3] : "");
	if (!strcmp(what, "unload") && argc == 3)
		return aid_unload(argv[2]);
	if (!strcmp(what, "uevents") && argc == 3)
		return aid_uevents(argv[2]);
	if (!strcmp(what, "nobody"))
		return aid_nobody(argv + 2);
	if (!strcmp(what, "measured"))
		return aid_measured(argv + 2);
	fputs("usage: see the head of aid.c\n", stderr);
	return 2;
}
