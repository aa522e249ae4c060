// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults: something that cannot be was seen on the data path. One word sends
 * all packets to stock at once; the rest follows from a work item, since keys,
 * logging and uevents need to sleep. Writing off to state leaves the fault.
 */
#include <linux/workqueue.h>

#include "gro_opt.h"

static const char *gro_opt_fault_where;

static void gro_opt_fault_work_fn(struct work_struct *work)
{
	mutex_lock(&gro_opt_mutex);
	/* "off" may have been written before we came to run. */
	if (gro_opt_state == GRO_OPT_OFF) {
		gro_opt_fault_clear();
	} else if (!READ_ONCE(gro_opt_limit)) {
		gro_opt_state = GRO_OPT_FAULTED;
		gro_opt_features_apply();
		gro_opt_enable_seq++;
		pr_err("faulted: %s; all packets take the stock handlers; write off to state to leave, and please report this\n",
		       gro_opt_fault_reason());
		gro_opt_uevent();
	}
	mutex_unlock(&gro_opt_mutex);
}

static DECLARE_WORK(gro_opt_fault_work, gro_opt_fault_work_fn);

/**
 * gro_opt_fault - send all packets to stock from now on
 * @where: string constant, shown in fault_reason
 *
 * Context: any. The first caller wins.
 */
void gro_opt_fault(const char *where)
{
	if (!xchg(&gro_opt_limit, 0))
		return;
	WRITE_ONCE(gro_opt_fault_where, where);
	schedule_work(&gro_opt_fault_work);
}

const char *gro_opt_fault_reason(void)
{
	return READ_ONCE(gro_opt_fault_where) ?: "none";
}

/* State is off: nobody runs our handlers, start afresh. */
void gro_opt_fault_clear(void)
{
	lockdep_assert_held(&gro_opt_mutex);
	WRITE_ONCE(gro_opt_fault_where, NULL);
	WRITE_ONCE(gro_opt_limit, GRO_LEGACY_MAX_SIZE);
}

/* Module exit: wait for a work item that a last packet may have left. */
void gro_opt_fault_exit(void)
{
	cancel_work_sync(&gro_opt_fault_work);
}
