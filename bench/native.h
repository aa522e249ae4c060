/* SPDX-License-Identifier: GPL-2.0-only */
/* Time instead of instructions, for the native lane. */
#ifndef _BENCH_NATIVE_H
#define _BENCH_NATIVE_H

/* Measures the batch that the lab has and prints a RESULT line for each arm. */
void native_measure(int fd, const char *kernel, const char *scenario,
		    unsigned int bursts);

#endif /* _BENCH_NATIVE_H */
