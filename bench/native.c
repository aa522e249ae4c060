// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nanoseconds a packet, where the machine's caches, branches and neighbours have
 * their say. They change from one second to the next, so the arms take turns,
 * burst by burst, and stock has two turns: what those two differ by is noise.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <x86intrin.h>

#include "lab.h"
#include "native.h"

/* Bursts before the one that counts: handlers and tables are in the caches then. */
#define WARM_UP		3
#define CALIBRATE_NS	200000000ULL

static const struct turn {
	const char *name;
	enum arm arm;
} turns[] = {
	{ "stock", ARM_STOCK },
	{ "again", ARM_STOCK },
	{ "on", ARM_ON },
};

#define TURNS ARRAY_SIZE(turns)

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The lab counts the TSC's cycles. */
static double ns_per_cycle(void)
{
	__u64 start = now_ns(), cycles = __rdtsc(), end;

	do {
		end = now_ns();
	} while (end - start < CALIBRATE_NS);
	return (double)(end - start) / (__rdtsc() - cycles);
}

/* Cycles a packet in all of napi_gro_receive() and the flush. */
static double burst(int fd, unsigned int rounds)
{
	struct gro_lab_run run = {
		.version = GRO_LAB_VERSION,
		.flags = GRO_LAB_RUN_TOTAL,
		.rounds = rounds,
	};

	if (ioctl(fd, GRO_LAB_RUN, &run))
		die("GRO_LAB_RUN: %s", strerror(errno));
	return (double)run.total / run.frames;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each turn comes first, second and third equally often. */
static void take_turns(int fd, unsigned int bursts, double *cycles[TURNS])
{
	unsigned int i, t, nr;

	for (nr = 0; nr < bursts; nr++) {
		for (i = 0; i < TURNS; i++) {
			t = (nr + i) % TURNS;
			arm_set(turns[t].arm);
			burst(fd, WARM_UP);
			cycles[t][nr] = burst(fd, 1);
		}
	}
}

void native_measure(int fd, const char *kernel, const char *scenario,
		    unsigned int bursts)
{
	double *cycles[TURNS], ns = ns_per_cycle(), median, p10;
	unsigned int t;

	for (t = 0; t < TURNS; t++)
		cycles[t] = xalloc(bursts * sizeof(*cycles[t]));
	take_turns(fd, bursts, cycles);
	for (t = 0; t < TURNS; t++) {
		qsort(cycles[t], bursts, sizeof(*cycles[t]), compare);
		median = cycles[t][bursts / 2];
		p10 = cycles[t][bursts / 10];
		printf("RESULT native kernel=%s scenario=%s arm=%s",
		       kernel, scenario, turns[t].name);
		printf(" ns_median=%.1f ns_p10=%.1f ratio=%.3f ratio_p10=%.3f\n",
		       ns * median, ns * p10, median / cycles[0][bursts / 2],
		       p10 / cycles[0][bursts / 10]);
	}
	for (t = 0; t < TURNS; t++)
		free(cycles[t]);
}
