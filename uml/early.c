// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads in which one allocation fails, while two writers wait for the module's
 * files to appear and write at once: whatever they do to a module that is about
 * to go again, it goes without a trace.
 *
 *	early FILE PARAMS FIRST STEP WRITTEN-FILE VALUE
 *
 * The FIRST allocation fails, then the one STEP behind it, and so on until there
 * are no more, as in failnth.c.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS	2

static unsigned int *written;

static void __attribute__((noreturn)) writer(const char *file, const char *value)
{
	for (;;) {
		int fd = open(file, O_WRONLY);

		if (fd < 0)
			continue;
		if (write(fd, value, strlen(value)) > 0)
			__atomic_fetch_add(written, 1, __ATOMIC_RELAXED);
		close(fd);
	}
}

static int write_once(const char *file, const char *value)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -1;
	ret = write(fd, value, strlen(value));
	close(fd);
	return ret;
}

static void signal_all(const pid_t *pids, int sig)
{
	int i;

	for (i = 0; i < WRITERS; i++)
		kill(pids[i], sig);
}

/* Returns whether there was an allocation left to fail. */
static int load(const char *file, const char *params, unsigned int n)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	char text[16], left[16] = "";
	int nth = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	int len = snprintf(text, sizeof(text), "%u", n);

	if (fd < 0 || nth < 0 || pwrite(nth, text, len, 0) != len) {
		perror("early");
		exit(1);
	}
	syscall(SYS_finit_module, fd, params, 0);
	if (pread(nth, left, sizeof(left) - 1, 0) <= 0 ||
	    pwrite(nth, "0", 1, 0) != 1) {
		perror("early");
		exit(1);
	}
	close(nth);
	close(fd);
	return !atoi(left);
}

/* With the writers at rest, or "off" would not last. */
static int unload(const pid_t *pids)
{
	int failed = 0;

	if (access("/sys/module/gro_opt", F_OK))
		return 0;
	signal_all(pids, SIGSTOP);
	usleep(20000);
	if (write_once("/sys/kernel/gro_opt/state", "off") < 0 ||
	    syscall(SYS_delete_module, "gro_opt", O_NONBLOCK)) {
		perror("# early: unload");
		failed = 1;
	}
	signal_all(pids, SIGCONT);
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int n, loads = 0;
	int i, more, failed = 0;
	pid_t pids[WRITERS];

	if (argc != 7) {
		fputs("usage: see the head of early.c\n", stderr);
		return 2;
	}
	written = mmap(NULL, sizeof(*written), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (written == MAP_FAILED)
		return 1;
	for (i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		if (!pids[i])
			writer(argv[5], argv[6]);
	}
	n = atoi(argv[3]);
	do {
		more = load(argv[1], argv[2], n);
		failed = unload(pids);
		n += atoi(argv[4]);
		loads++;
	} while (more && !failed);
	signal_all(pids, SIGKILL);
	while (wait(NULL) > 0)
		;
	printf("# %u loads, %u early writes of %s\n", loads, *written, argv[6]);
	return failed;
}
