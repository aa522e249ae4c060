// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets one allocation after the other fail while a module is loaded:
 *
 *	failnth load FILE PARAMS FROM STEP	until no allocation is left to fail
 *	failnth write FILE VALUE		likewise, for one write()
 *
 * Whatever failed, the kernel has to be as before: a failed load leaves nothing
 * in /sys, one that worked has all of its files there, and the module can be
 * unloaded again. Needs a kernel with fault injection (CONFIG_FAILSLAB); the
 * caller has set up debugfs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULE	"gro_opt"
#define GIVE_UP	20000

static int nth_fd;

static void __attribute__((noreturn)) die(const char *what)
{
	printf("failnth: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void set_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		die("/proc/self/fail-nth");
}

/* Allocations that were left to do until the failing one; 0 if it has failed. */
static unsigned int get_nth(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		die("/proc/self/fail-nth");
	return atoi(text);
}

/* Nothing but the call in question may meet the failing allocation. */
static long try(const char *file, const char *params, int loads, unsigned int n,
		unsigned int *left)
{
	int fd = open(file, (loads ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
	long ret;
	int err;

	if (fd < 0)
		die(file);
	set_nth(n);
	ret = loads ? syscall(SYS_finit_module, fd, params, 0) :
		      write(fd, params, strlen(params));
	err = errno;
	*left = get_nth();
	set_nth(0);
	close(fd);
	errno = err;
	return ret;
}

static void after_load(unsigned int n, long ret, int err)
{
	int fd;

	if (ret) {
		if (!access("/sys/module/" MODULE, F_OK) ||
		    !access("/sys/kernel/" MODULE, F_OK)) {
			printf("failnth: allocation %u: load failed (%s) and left something\n",
			       n, strerror(err));
			exit(1);
		}
		return;
	}
	if (access("/sys/kernel/" MODULE "/features/exthdr/counters", F_OK)) {
		printf("failnth: allocation %u: loaded, but there are no features\n",
		       n);
		exit(1);
	}
	fd = open("/sys/kernel/" MODULE "/state", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "off", 3) != 3)
		die("state=off");
	close(fd);
	if (syscall(SYS_delete_module, MODULE, O_NONBLOCK))
		die("delete_module");
}

int main(int argc, char **argv)
{
	unsigned int n = 1, step = 1, left, failed = 0, tries = 0;
	int loads = argc == 6 && !strcmp(argv[1], "load");
	long ret;

	if (!loads && (argc != 4 || strcmp(argv[1], "write"))) {
		fputs("usage: see the head of failnth.c\n", stderr);
		return 2;
	}
	nth_fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die("/proc/self/fail-nth");
	if (loads) {
		n = atoi(argv[4]);
		step = atoi(argv[5]);
	}
	for (; n < GIVE_UP; n += step, tries++) {
		ret = try(argv[2], argv[3], loads, n, &left);
		failed += ret < 0;
		if (loads)
			after_load(n, ret, errno);
		/* Beyond the last allocation: nothing more to fail. */
		if (left)
			break;
	}
	printf("# %s: %u times, failed %u times\n", argv[1], tries + 1, failed);
	return n >= GIVE_UP;
}
