// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a batch again and again. A round's figures are sums over the batch; the
 * least of all rounds counts, and whether the rounds agree is told.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "lab.h"

struct lab_round {
	u64 recv;
	u64 complete;
	u64 total;
};

/* What all families' counters add up to. */
static void lab_sum(struct gro_lab_counters *sum)
{
	struct gro_lab_measure measure;
	unsigned int i;

	memset(sum, 0, sizeof(*sum));
	lab_measure_read(&measure);
	for (i = 0; i < GRO_LAB_FAMILIES; i++) {
		sum->packets += measure.counters[i].packets;
		sum->cycles += measure.counters[i].cycles;
		sum->merged += measure.counters[i].merged;
		sum->completes += measure.counters[i].completes;
		sum->complete_cycles += measure.counters[i].complete_cycles;
		sum->segments += measure.counters[i].segments;
	}
}

static void lab_account(struct gro_lab_run *run, u32 flag, unsigned int round,
			const struct lab_round *now, struct lab_round *last)
{
	if (round > 1 && memcmp(now, last, sizeof(*now)))
		run->same &= ~flag;
	*last = *now;
	if (flag == GRO_LAB_RUN_TOTAL) {
		run->total = min(run->total, now->total);
		return;
	}
	run->recv = min(run->recv, now->recv);
	run->complete = min(run->complete, now->complete);
}

static int lab_round_total(struct lab_job *job, struct gro_lab_run *run,
			   struct lab_round *now)
{
	/* each frame and the flush are timed on their own */
	u64 clock = lab_clock_cost() * (job->batch->head.frames + 1);
	int err;

	job->timed = true;
	job->cycles = 0;
	err = lab_job_run(job);
	if (err)
		return err;
	now->total = job->cycles - min(clock, job->cycles);
	run->frames = job->batch->head.frames;
	run->skbs = job->left;
	return 0;
}

static int lab_round_handlers(struct lab_job *job, struct gro_lab_run *run,
			      struct lab_round *now)
{
	struct gro_lab_counters sum;
	int err;

	job->timed = false;
	lab_measure_reset();
	err = lab_job_run(job);
	if (err)
		return err;
	lab_sum(&sum);
	now->recv = sum.cycles;
	now->complete = sum.complete_cycles;
	run->packets = sum.packets;
	run->merged = sum.merged;
	run->completes = sum.completes;
	run->segments = sum.segments;
	return 0;
}

static int lab_rounds(struct lab_job *job, struct gro_lab_run *run, u32 flag,
		      int (*one)(struct lab_job *job, struct gro_lab_run *run,
				 struct lab_round *now))
{
	struct lab_round last = {}, now;
	unsigned int i;
	int err;

	for (i = 0; i < run->rounds; i++) {
		memset(&now, 0, sizeof(now));
		err = one(job, run, &now);
		if (err)
			return err;
		lab_account(run, flag, i, &now, &last);
		if (signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static int lab_bench_handlers(struct lab_job *job, struct gro_lab_run *run)
{
	int err;

	err = lab_measure_on();
	if (err)
		return err;
	err = lab_rounds(job, run, GRO_LAB_RUN_HANDLERS, lab_round_handlers);
	lab_measure_off();
	return err;
}

static int lab_bench_check(const struct lab_batch *batch,
			   const struct gro_lab_run *run)
{
	if (run->version != GRO_LAB_VERSION || !run->rounds ||
	    run->flags & ~(GRO_LAB_RUN_TOTAL | GRO_LAB_RUN_HANDLERS) ||
	    !(batch->head.flags & GRO_LAB_B_FLUSH) || batch->head.entry)
		return -EINVAL;
	/* its handlers would be counted in the total */
	if (lab_measuring())
		return -EBUSY;
	return 0;
}

/**
 * lab_bench - GRO_LAB_RUN
 * @batch: one that flushes at its end
 * @run: what is asked for, and filled in
 *
 * Return: 0 or a negative error.
 */
int lab_bench(const struct lab_batch *batch, struct gro_lab_run *run)
{
	struct lab_job job = { .batch = batch, .drop = true };
	int err;

	err = lab_bench_check(batch, run);
	if (err)
		return err;
	job.verdicts = kvzalloc(batch->head.frames + 1, GFP_KERNEL);
	if (!job.verdicts)
		return -ENOMEM;
	lab_capture_off();
	if (!run->flags)
		run->flags = GRO_LAB_RUN_TOTAL | GRO_LAB_RUN_HANDLERS;
	run->same = run->flags;
	run->total = U64_MAX;
	run->recv = U64_MAX;
	run->complete = U64_MAX;
	if (run->flags & GRO_LAB_RUN_TOTAL)
		err = lab_rounds(&job, run, GRO_LAB_RUN_TOTAL,
				 lab_round_total);
	if (!err && run->flags & GRO_LAB_RUN_HANDLERS)
		err = lab_bench_handlers(&job, run);
	kvfree(job.verdicts);
	return err;
}
