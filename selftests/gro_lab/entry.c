// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways into GRO: a driver's NAPI in softirq, in a thread of its own or polled
 * by who waits for packets, and the per-CPU cells of virtual devices.
 */
#include <linux/netdevice.h>
#include <net/busy_poll.h>
#include <net/gro_cells.h>

#include "lab.h"

/* Below what a poll of the cells takes, so that it ends with a flush. */
#define LAB_CELLS_CHUNK	32

static void lab_poll_softirq(struct lab_dev *lab)
{
	local_bh_disable();
	napi_schedule(&lab->napi);
	local_bh_enable();
}

/* Passes on if the NAPI is at work for some other reason. */
static void lab_poll_busy(struct lab_dev *lab)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	while (READ_ONCE(lab->job)) {
		napi_busy_loop(lab->napi.napi_id, NULL, NULL, false, 64);
		cond_resched();
	}
#endif
}

/* Caller holds RTNL, without which no NAPI comes or goes. */
static void lab_cells_wait(struct lab_dev *lab)
{
	struct napi_struct *napi;

	list_for_each_entry(napi, &lab->netdev->napi_list, dev_list)
		if (napi != &lab->napi)
			napi_synchronize(napi);
}

/* All on this CPU, or it would be another cell's turn. */
static unsigned int lab_cells_feed(struct lab_dev *lab, struct lab_job *job,
				   unsigned int from)
{
	const struct lab_batch *batch = job->batch;
	unsigned int i;

	local_bh_disable();
	for (i = from; i < batch->head.frames &&
	     i < from + LAB_CELLS_CHUNK; i++) {
		if (i > from && batch->frames[i].flags & GRO_LAB_F_FLUSH)
			break;
		gro_cells_receive(&lab->cells, job->skbs[i]);
		job->skbs[i] = NULL;
		job->verdicts[i] = GRO_LAB_QUEUED;
	}
	local_bh_enable();
	return i;
}

static void lab_run_cells(struct lab_dev *lab, struct lab_job *job)
{
	unsigned int i = 0;

	while (i < job->batch->head.frames) {
		i = lab_cells_feed(lab, job, i);
		lab_cells_wait(lab);
	}
}

bool lab_entry_ok(const struct gro_lab_batch *head)
{
	switch (head->entry) {
	case GRO_LAB_ENTRY_NAPI:
	case GRO_LAB_ENTRY_THREADED:
		return true;
	case GRO_LAB_ENTRY_BUSY:
		return IS_ENABLED(CONFIG_NET_RX_BUSY_POLL);
	case GRO_LAB_ENTRY_CELLS:
		return !(head->flags & (GRO_LAB_B_FRAGS | GRO_LAB_B_HOLD));
	}
	return false;
}

/*
 * A NAPI that somebody scheduled from ours is on the CPU's list, or being
 * polled by who has taken that list. Which CPU our poll was on nobody knows.
 */
static void lab_settle(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		do {
			synchronize_net();
			/* ksoftirqd may wait for this CPU, and RCU not sleep. */
			cond_resched();
		} while (!list_empty(&per_cpu(softnet_data, cpu).poll_list));
	synchronize_net();
}

static int lab_set_threaded(struct lab_dev *lab, bool threaded)
{
	int err;

	if (threaded == lab->threaded)
		return 0;
	err = dev_set_threaded(lab->netdev, threaded);
	if (!err)
		lab->threaded = threaded;
	return err;
}

static void lab_run_poll(struct lab_dev *lab, struct lab_job *job)
{
	init_completion(&job->done);
	WRITE_ONCE(lab->job, job);
	if (job->batch->head.entry == GRO_LAB_ENTRY_BUSY)
		lab_poll_busy(lab);
	else
		lab_poll_softirq(lab);
	wait_for_completion(&job->done);
}

/**
 * lab_enter - put a job's skbs into GRO the way its batch says
 * @lab: the lab, which is up
 * @job: lab_job_poll() makes it the current one
 *
 * Sleeps until all of it is over. The caller holds RTNL.
 *
 * Return: 0 or the error of who makes threads.
 */
int lab_enter(struct lab_dev *lab, struct lab_job *job)
{
	const struct gro_lab_batch *head = &job->batch->head;
	int err;

	/* Threads are for all NAPIs of a device, those of its cells too. */
	err = lab_set_threaded(lab, head->entry == GRO_LAB_ENTRY_THREADED);
	if (err)
		return err;
	if (head->entry == GRO_LAB_ENTRY_CELLS)
		lab_run_cells(lab, job);
	else
		lab_run_poll(lab, job);
	if (head->flags & GRO_LAB_B_SETTLE)
		lab_settle();
	return 0;
}
