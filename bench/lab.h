/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/gro_lab and the arms, for the tools. */
#ifndef _BENCH_LAB_H
#define _BENCH_LAB_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "../selftests/gro_lab/gro_lab.h"

#define GRO_OPT_STATE "/sys/kernel/gro_opt/state"

/* A batch in the making; see lab_begin(). */
struct lab_batch {
	struct gro_lab_batch head;
	struct gro_lab_frame *frames;
	__u8 *bytes;
	size_t nr_bytes;
	size_t max_frames;
	size_t max_bytes;
};

enum arm { ARM_STOCK, ARM_PASSTHROUGH, ARM_ON, ARMS };

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define __noreturn		__attribute__((__noreturn__))
#define __printf(a, b)		__attribute__((__format__(printf, a, b)))

/* Says what went wrong and ends the program. */
void __noreturn __printf(1, 2) die(const char *format, ...);

void *xalloc(size_t size);
void *xrealloc(void *old, size_t size);

int lab_open(void);
/* GRO_LAB_CAN_*, of the lab that was opened */
extern __u32 lab_can;
void lab_begin(struct lab_batch *batch, __u32 flags);
void lab_add(struct lab_batch *batch, const struct gro_lab_frame *frame,
	     const void *bytes);
void lab_write(int fd, const struct lab_batch *batch);
struct gro_lab_result *lab_read(int fd);
void lab_end(struct lab_batch *batch);

/* Measuring and the arm are as they were before when the program ends. */
void lab_measure_on(int fd);
void lab_measure_off(int fd);
void lab_measure_reset(int fd);
void lab_counters(int fd, struct gro_lab_counters *sum);

/* Of a command line: "stock,passthrough,on". */
unsigned int arms_parse(const char *list, enum arm *arms);
unsigned int arms_default(enum arm *arms);
const char *arm_name(enum arm arm);
void arm_set(enum arm arm);

/* A small file, as those in /proc/sys and /sys: a word in or out. */
bool file_write(const char *path, const char *word);
bool file_read(const char *path, char *word, size_t size);

#endif /* _BENCH_LAB_H */
