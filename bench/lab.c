// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab.h"

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

void *xrealloc(void *old, size_t size)
{
	void *mem = realloc(old, size);

	if (!mem)
		die("out of memory");
	return mem;
}

void *xalloc(size_t size)
{
	void *mem = xrealloc(NULL, size);

	return memset(mem, 0, size);
}

/* --- /dev/gro_lab --------------------------------------------------------- */

__u32 lab_can;

int lab_open(void)
{
	struct gro_lab_info info;
	int fd = open("/dev/gro_lab", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("cannot open /dev/gro_lab: %s; is gro_lab.ko loaded, and are you root?",
		    strerror(errno));
	if (ioctl(fd, GRO_LAB_INFO, &info))
		die("GRO_LAB_INFO: %s", strerror(errno));
	if (info.version != GRO_LAB_VERSION)
		die("gro_lab.ko speaks version %u, this program %u; build both again",
		    info.version, GRO_LAB_VERSION);
	lab_can = info.can;
	return fd;
}

/* A batch that is reused keeps its memory. */
void lab_begin(struct lab_batch *batch, __u32 flags)
{
	memset(&batch->head, 0, sizeof(batch->head));
	batch->head.version = GRO_LAB_VERSION;
	batch->head.frame_size = sizeof(struct gro_lab_frame);
	batch->head.flags = flags;
	batch->nr_bytes = 0;
}

static void lab_reserve(struct lab_batch *batch, size_t bytes)
{
	if (batch->head.frames == batch->max_frames) {
		batch->max_frames = 2 * batch->max_frames + 64;
		batch->frames = xrealloc(batch->frames, batch->max_frames *
					 sizeof(*batch->frames));
	}
	if (batch->nr_bytes + bytes > batch->max_bytes) {
		batch->max_bytes = 2 * batch->max_bytes + bytes;
		batch->bytes = xrealloc(batch->bytes, batch->max_bytes);
	}
}

void lab_add(struct lab_batch *batch, const struct gro_lab_frame *frame,
	     const void *bytes)
{
	lab_reserve(batch, frame->len);
	batch->frames[batch->head.frames++] = *frame;
	memcpy(batch->bytes + batch->nr_bytes, bytes, frame->len);
	batch->nr_bytes += frame->len;
}

void lab_write(int fd, const struct lab_batch *batch)
{
	size_t frames = batch->head.frames * sizeof(*batch->frames);
	size_t size = sizeof(batch->head) + frames + batch->nr_bytes;
	__u8 *all = xalloc(size);

	memcpy(all, &batch->head, sizeof(batch->head));
	memcpy(all + sizeof(batch->head), batch->frames, frames);
	memcpy(all + sizeof(batch->head) + frames, batch->bytes,
	       batch->nr_bytes);
	if (write(fd, all, size) != (ssize_t)size)
		die("gro_lab did not take a batch of %u frames: %s",
		    batch->head.frames, strerror(errno));
	free(all);
}

/* The result of the last batch, for free(). */
struct gro_lab_result *lab_read(int fd)
{
	struct gro_lab_result head, *all;
	size_t got = sizeof(head);
	ssize_t n;

	if (read(fd, &head, sizeof(head)) != sizeof(head))
		die("no result from gro_lab: %s", strerror(errno));
	all = xalloc(head.size);
	*all = head;
	while (got < head.size) {
		n = read(fd, (__u8 *)all + got, head.size - got);
		if (n <= 0)
			die("a result from gro_lab ends early");
		got += n;
	}
	if (head.lost)
		die("gro_lab had no room for %u skbs", head.lost);
	return all;
}

void lab_end(struct lab_batch *batch)
{
	free(batch->frames);
	free(batch->bytes);
	memset(batch, 0, sizeof(*batch));
}

/* --- measuring ------------------------------------------------------------ */

/* A child that ends must not undo what its parent is doing. */
static pid_t measurer;
static int measuring_fd;

static void measure_restore(void)
{
	if (measurer == getpid())
		ioctl(measuring_fd, GRO_LAB_MEASURE_OFF);
}

void lab_measure_on(int fd)
{
	static bool registered;

	if (ioctl(fd, GRO_LAB_MEASURE_ON))
		die("cannot measure: %s%s", strerror(errno),
		    errno == EBUSY ? "; is someone else measuring?" : "");
	measuring_fd = fd;
	measurer = getpid();
	if (!registered)
		atexit(measure_restore);
	registered = true;
}

void lab_measure_off(int fd)
{
	measurer = 0;
	if (ioctl(fd, GRO_LAB_MEASURE_OFF))
		die("GRO_LAB_MEASURE_OFF: %s", strerror(errno));
}

void lab_measure_reset(int fd)
{
	if (ioctl(fd, GRO_LAB_MEASURE_RESET))
		die("GRO_LAB_MEASURE_RESET: %s", strerror(errno));
}

/* What both families add up to. */
void lab_counters(int fd, struct gro_lab_counters *sum)
{
	struct gro_lab_measure measure;
	const __u64 *from;
	__u64 *to;
	size_t i, j;

	if (ioctl(fd, GRO_LAB_MEASURE_READ, &measure))
		die("GRO_LAB_MEASURE_READ: %s", strerror(errno));
	if (measure.on && measure.stale)
		die("other GRO handlers were put in place while measuring");
	memset(sum, 0, sizeof(*sum));
	to = (__u64 *)sum;
	for (i = 0; i < GRO_LAB_FAMILIES; i++) {
		from = (const __u64 *)&measure.counters[i];
		for (j = 0; j < sizeof(*sum) / sizeof(*to); j++)
			to[j] += from[j];
	}
}

/* --- small files ---------------------------------------------------------- */

bool file_write(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = strlen(word);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, word, len) == len;
	close(fd);
	return ok;
}

bool file_read(const char *path, char *word, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, word, size - 1);
	close(fd);
	if (len < 0)
		return false;
	word[len] = '\0';
	word[strcspn(word, "\n")] = '\0';
	return true;
}

/* --- arms ----------------------------------------------------------------- */

/* stock is what the kernel does with gro_opt off, loaded or not. */
static const char * const arm_names[ARMS] = {
	[ARM_STOCK] = "stock",
	[ARM_PASSTHROUGH] = "passthrough",
	[ARM_ON] = "on",
};

static const char * const arm_states[ARMS] = {
	[ARM_STOCK] = "off",
	[ARM_PASSTHROUGH] = "passthrough",
	[ARM_ON] = "on",
};

const char *arm_name(enum arm arm)
{
	return arm_names[arm];
}

static enum arm arm_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARMS; i++)
		if (!strcmp(name, arm_names[i]))
			return i;
	die("no such arm: %s; there are stock, passthrough and on", name);
}

unsigned int arms_default(enum arm *arms)
{
	unsigned int nr = access(GRO_OPT_STATE, F_OK) ? 1 : ARMS, i;

	for (i = 0; i < nr; i++)
		arms[i] = i;
	return nr;
}

unsigned int arms_parse(const char *list, enum arm *arms)
{
	char *copy = strdup(list), *word, *save;
	unsigned int nr = 0;

	if (!copy)
		die("out of memory");
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		if (nr == ARMS)
			die("too many arms: %s", list);
		arms[nr++] = arm_find(word);
	}
	free(copy);
	if (!nr)
		die("no arms in '%s'", list);
	return nr;
}

static char first_state[32];
static pid_t arm_setter;

static void arm_restore(void)
{
	if (arm_setter == getpid() &&
	    !file_write(GRO_OPT_STATE, first_state))
		fprintf(stderr, "%s cannot be set back to '%s': %s\n",
			GRO_OPT_STATE, first_state, strerror(errno));
}

static void arm_remember(const char *state)
{
	if (arm_setter)
		return;
	arm_setter = getpid();
	snprintf(first_state, sizeof(first_state), "%s", state);
	atexit(arm_restore);
}

void arm_set(enum arm arm)
{
	char state[32];

	if (!file_read(GRO_OPT_STATE, state, sizeof(state))) {
		if (arm == ARM_STOCK)
			return;
		die("no arm %s: %s is not there, gro_opt.ko is not loaded",
		    arm_names[arm], GRO_OPT_STATE);
	}
	arm_remember(state);
	if (strcmp(state, arm_states[arm]) &&
	    !file_write(GRO_OPT_STATE, arm_states[arm]))
		die("%s does not take '%s': %s; dmesg may say more",
		    GRO_OPT_STATE, arm_states[arm], strerror(errno));
	if (!file_read(GRO_OPT_STATE, state, sizeof(state)) ||
	    strcmp(state, arm_states[arm]))
		die("%s says '%s' after '%s' was written; dmesg may say more",
		    GRO_OPT_STATE, state, arm_states[arm]);
}
