// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults: something that cannot be was seen on the data path. One word sends
 * all packets to stock at once; the rest follows from a work item, since keys,
 * logging and uevents need to sleep. Writing off to state leaves the fault.
 */
#include <linux/workqueue.h>

#include "gro_opt.h"
#include "trace.h"

/* Set once for each fault, before anything else; NULL while there is none. */
static const char *gro_opt_fault_where;
static const char gro_opt_foreign[] =
	"an entry of another module in the offload table";
/* debugfs faults: how many since the module was loaded. */
u32 gro_opt_faults;

/* The first caller wins. */
static bool gro_opt_fault_mark(const char *where)
{
	if (cmpxchg(&gro_opt_fault_where, NULL, where))
		return false;
	WRITE_ONCE(gro_opt_limit, 0);
	return true;
}

/**
 * gro_opt_fault_settle - let state, keys, log and user space follow a fault
 *
 * Does nothing if there is none, or if it has been done.
 *
 * Context: may sleep, gro_opt_mutex held, state not off.
 */
void gro_opt_fault_settle(void)
{
	const char *where = READ_ONCE(gro_opt_fault_where);

	lockdep_assert_held(&gro_opt_mutex);
	if (!where || gro_opt_state == GRO_OPT_FAULTED)
		return;
	gro_opt_state = GRO_OPT_FAULTED;
	gro_opt_ab_stop("fault");
	gro_opt_features_apply();
	gro_opt_faults++;
	gro_opt_enable_seq++;
	pr_err("faulted: %s; all packets take the stock handlers; write off to state to leave%s\n",
	       where, where == gro_opt_foreign ? " once that is gone" :
	       ", and please report this");
	trace_gro_opt_fault(where);
	gro_opt_uevent();
}

static void gro_opt_fault_work_fn(struct work_struct *work)
{
	mutex_lock(&gro_opt_mutex);
	/* Seen by the self-check at load, which compares anyway. */
	if (gro_opt_state == GRO_OPT_OFF)
		gro_opt_fault_clear();
	else
		gro_opt_fault_settle();
	mutex_unlock(&gro_opt_mutex);
}

static DECLARE_WORK(gro_opt_fault_work, gro_opt_fault_work_fn);

/**
 * gro_opt_fault - send all packets to stock from now on
 * @where: string constant, shown in fault_reason
 *
 * Context: any where the state cannot become off: in a handler of ours, or with
 * gro_opt_mutex held.
 */
noinline void gro_opt_fault(const char *where)
{
	if (gro_opt_fault_mark(where))
		schedule_work(&gro_opt_fault_work);
}

/**
 * gro_opt_lost - headers of a held packet are not where they were
 * @where: as for gro_opt_fault()
 *
 * Stock would write to where they are said to be, so nobody gets it.
 *
 * Context: in a complete handler of ours.
 *
 * Return: an error, upon which core drops the packet.
 */
__cold int gro_opt_lost(const char *where)
{
	gro_opt_fault(where);
	return -EINVAL;
}

/**
 * gro_opt_fault_foreign - somebody else stands where our entries were
 *
 * What that does with packets is not ours to know, and it may call us at any
 * time: they are stock's until it is gone.
 *
 * Context: may sleep, gro_opt_mutex held, state not off.
 */
void gro_opt_fault_foreign(void)
{
	gro_opt_fault_mark(gro_opt_foreign);
	gro_opt_fault_settle();
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
