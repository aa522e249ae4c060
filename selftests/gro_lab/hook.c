// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our callbacks in the packet_offload entries that the kernel finds first, for
 * measuring or for tossing a coin. The entries belong to stock or to a module,
 * so other code must not read them meanwhile and keep what it read: switch
 * handlers, then hook. That a module with such an entry goes away is noticed.
 */
#include <linux/module.h>
#include <net/gro.h>

#include "lab.h"

struct lab_hook lab_hooks[GRO_LAB_FAMILIES];
static const __be16 lab_types[GRO_LAB_FAMILIES] = {
	[GRO_LAB_IPV4] = htons(ETH_P_IP),
	[GRO_LAB_IPV6] = htons(ETH_P_IPV6),
};

/* Also without lab_mutex, from the module notifier. */
static DEFINE_MUTEX(lab_hook_mutex);
/* Whose callbacks are in place; NULL for nobody's. */
static const struct offload_callbacks *lab_hooked;

static int lab_hook_find(struct lab_hook *hook, __be16 type)
{
	rcu_read_lock();
	hook->rx = gro_find_receive_by_type(type);
	hook->done = gro_find_complete_by_type(type);
	rcu_read_unlock();
	if (!hook->rx || !hook->done)
		return -ENOENT;
	hook->orig.gro_receive = hook->rx->callbacks.gro_receive;
	hook->orig.gro_complete = hook->done->callbacks.gro_complete;
	return 0;
}

static void lab_hook_set(const struct lab_hook *hook,
			 const struct offload_callbacks *ours)
{
	WRITE_ONCE(hook->rx->callbacks.gro_receive, ours->gro_receive);
	WRITE_ONCE(hook->done->callbacks.gro_complete, ours->gro_complete);
}

/* Leaves alone what someone else has put there since. */
static void lab_hook_restore(const struct lab_hook *hook,
			     const struct offload_callbacks *ours)
{
	if (cmpxchg(&hook->rx->callbacks.gro_receive, ours->gro_receive,
		    hook->orig.gro_receive) != ours->gro_receive)
		pr_warn("someone else changed gro_receive meanwhile\n");
	if (cmpxchg(&hook->done->callbacks.gro_complete, ours->gro_complete,
		    hook->orig.gro_complete) != ours->gro_complete)
		pr_warn("someone else changed gro_complete meanwhile\n");
}

static int lab_hooks_find(void)
{
	enum gro_lab_family i;
	int err = 0;

	for (i = 0; i < GRO_LAB_FAMILIES && !err; i++)
		err = lab_hook_find(&lab_hooks[i], lab_types[i]);
	return err;
}

/* What serves each family now, unless that is us. May sleep. */
int lab_hooks_peek(struct offload_callbacks *now)
{
	enum gro_lab_family i;
	int err = -EBUSY;

	mutex_lock(&lab_hook_mutex);
	if (!lab_hooked)
		err = lab_hooks_find();
	for (i = 0; i < GRO_LAB_FAMILIES && !err; i++)
		now[i] = lab_hooks[i].orig;
	mutex_unlock(&lab_hook_mutex);
	return err;
}

/**
 * lab_hooks_on - put callbacks in front of those in place
 * @ours: callbacks by family; they find what they replaced in lab_hooks
 *
 * Context: may sleep.
 *
 * Return: 0, -EBUSY while others are in place, -ENOENT without entries.
 */
int lab_hooks_on(const struct offload_callbacks *ours)
{
	enum gro_lab_family i;
	int err = -EBUSY;

	mutex_lock(&lab_hook_mutex);
	if (!lab_hooked)
		err = lab_hooks_find();
	if (err)
		goto unlock;
	for (i = 0; i < GRO_LAB_FAMILIES; i++)
		lab_hook_set(&lab_hooks[i], &ours[i]);
	WRITE_ONCE(lab_hooked, ours);
unlock:
	mutex_unlock(&lab_hook_mutex);
	return err;
}

static void lab_hooks_stop(void)
{
	enum gro_lab_family i;

	for (i = 0; i < GRO_LAB_FAMILIES; i++)
		lab_hook_restore(&lab_hooks[i], &lab_hooked[i]);
	/* No CPU is in our callbacks after this. */
	synchronize_net();
	WRITE_ONCE(lab_hooked, NULL);
}

/* The undo of lab_hooks_on(); nothing to do if @ours are not in place. */
void lab_hooks_off(const struct offload_callbacks *ours)
{
	mutex_lock(&lab_hook_mutex);
	if (lab_hooked == ours)
		lab_hooks_stop();
	mutex_unlock(&lab_hook_mutex);
}

bool lab_hooked_with(const struct offload_callbacks *ours)
{
	return READ_ONCE(lab_hooked) == ours;
}

static bool lab_hook_stale(const struct lab_hook *hook, __be16 type)
{
	bool stale;

	rcu_read_lock();
	stale = gro_find_receive_by_type(type) != hook->rx ||
		gro_find_complete_by_type(type) != hook->done;
	rcu_read_unlock();
	return stale;
}

/* Did someone put other entries in place since? Then ours see no packets. */
bool lab_hooks_stale(void)
{
	enum gro_lab_family i;
	bool stale = false;

	mutex_lock(&lab_hook_mutex);
	for (i = 0; i < GRO_LAB_FAMILIES && lab_hooked; i++)
		stale |= lab_hook_stale(&lab_hooks[i], lab_types[i]);
	mutex_unlock(&lab_hook_mutex);
	return stale;
}

/* --- other modules -------------------------------------------------------- */

static bool lab_hooked_in(const struct module *mod)
{
	enum gro_lab_family i;

	for (i = 0; i < GRO_LAB_FAMILIES; i++)
		if (within_module((unsigned long)lab_hooks[i].rx, mod) ||
		    within_module((unsigned long)lab_hooks[i].done, mod))
			return true;
	return false;
}

/* Entries of a module that is unloaded go with it. */
static int lab_module_notify(struct notifier_block *nb, unsigned long event,
			     void *data)
{
	struct module *mod = data;

	mutex_lock(&lab_hook_mutex);
	if (lab_hooked && event == MODULE_STATE_GOING && lab_hooked_in(mod)) {
		pr_warn("%s goes, our hooks go first\n", mod->name);
		lab_hooks_stop();
	}
	mutex_unlock(&lab_hook_mutex);
	return NOTIFY_OK;
}

static struct notifier_block lab_module_nb = {
	.notifier_call = lab_module_notify,
};

int lab_hooks_init(void)
{
	return register_module_notifier(&lab_module_nb);
}

void lab_hooks_exit(void)
{
	unregister_module_notifier(&lab_module_nb);
}
