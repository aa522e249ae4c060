// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shim: our packet_offload entries in place of stock's, and back.
 *
 * The kernel serves a protocol with the first entry of its list and adds a new
 * one behind those of equal priority, so ours acts only once stock's is out of
 * the list. There is no moment without an entry: ours are added before stock's
 * are removed, and the other way round on the way back. dev_remove_offload()
 * waits for readers (synchronize_net()), which are all inside rcu_read_lock(),
 * so when it returns nobody runs or will enter the removed entry's code.
 *
 * While an entry of ours is in the list the module holds a reference to itself.
 * Exit cannot refuse, so it never has to: no reference, no pointer outside.
 */
#include <linux/if_ether.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "gro_opt.h"

/* State, features, devices: all that is switched. Not for the data path. */
DEFINE_MUTEX(gro_opt_mutex);
enum gro_opt_state gro_opt_state;
u64 gro_opt_enable_seq;
/* debugfs inject/fail_step: this step of the next switch fails, 0 for none. */
u32 gro_opt_fail_step;

/**
 * struct gro_opt_hook - one entry of ours and the one it stands in for
 * @name: protocol, for messages
 * @po: our entry; gso_segment and priority are stock's
 * @stock: the entry that we took out, NULL while it is in its place
 * @bind: points the static calls at stock's functions
 * @features: what is lost if the hook cannot be had
 * @order: place among the hooks that the kernel has an entry for
 */
struct gro_opt_hook {
	const char *name;
	struct packet_offload po;
	struct packet_offload *stock;
	void (*bind)(const struct packet_offload *stock);
	unsigned long features;
	unsigned int order;
};

static void gro_opt_bind4(const struct packet_offload *stock)
{
	static_call_update(gro_opt_stock4_receive,
			   stock->callbacks.gro_receive);
	static_call_update(gro_opt_stock4_complete,
			   stock->callbacks.gro_complete);
}

static void gro_opt_bind6(const struct packet_offload *stock)
{
	static_call_update(gro_opt_stock6_receive,
			   stock->callbacks.gro_receive);
	static_call_update(gro_opt_stock6_complete,
			   stock->callbacks.gro_complete);
}

static struct gro_opt_hook gro_opt_hooks[] = {
	{
		.name = "IPv4",
		.po = {
			.type = cpu_to_be16(ETH_P_IP),
			.callbacks = {
				.gro_receive = gro_opt_inet_receive,
				.gro_complete = gro_opt_inet_complete,
			},
		},
		.bind = gro_opt_bind4,
		.features = BIT(GRO_OPT_F_tcp4) | BIT(GRO_OPT_F_udp4),
	}, {
		.name = "IPv6",
		.po = {
			.type = cpu_to_be16(ETH_P_IPV6),
			.callbacks = {
				.gro_receive = gro_opt_ipv6_receive,
				.gro_complete = gro_opt_ipv6_complete,
			},
		},
		.bind = gro_opt_bind6,
		.features = BIT(GRO_OPT_F_tcp6) | BIT(GRO_OPT_F_exthdr) |
			    BIT(GRO_OPT_F_udp6),
	},
};

/* Those that the kernel has an entry for, in the order of its list. */
static struct gro_opt_hook *gro_opt_order[ARRAY_SIZE(gro_opt_hooks)];
static unsigned int gro_opt_nr_hooks;

static struct gro_opt_hook *gro_opt_hook_at(unsigned int i)
{
	return i < gro_opt_nr_hooks ? gro_opt_order[i] : NULL;
}

static struct gro_opt_hook *gro_opt_hook_before(const struct gro_opt_hook *hook)
{
	return hook->order ? gro_opt_order[hook->order - 1] : NULL;
}

#define for_each_hook(hook)						\
	for ((hook) = gro_opt_hook_at(0); (hook);			\
	     (hook) = gro_opt_hook_at((hook)->order + 1))

static const char *const gro_opt_state_names[] = {
	[GRO_OPT_OFF] = "off",
	[GRO_OPT_PASSTHROUGH] = "passthrough",
	[GRO_OPT_ON] = "on",
	[GRO_OPT_FAULTED] = "faulted",
};

const char *gro_opt_state_name(enum gro_opt_state state)
{
	return gro_opt_state_names[state];
}

/* "off", "passthrough" or "on"; faulted is not for writing. */
int gro_opt_state_parse(const char *buf)
{
	return __sysfs_match_string(gro_opt_state_names, GRO_OPT_FAULTED, buf);
}

static struct packet_offload *gro_opt_find(__be16 type)
{
	struct packet_offload *po;

	rcu_read_lock();
	po = gro_find_receive_by_type(type);
	rcu_read_unlock();
	return po;
}

/*
 * Only the kernel's own entry may be stood in for. Another module's could be
 * unloaded under us, and would not be what people mean by stock.
 */
int gro_opt_callbacks_vet(const char *packets,
			  const struct offload_callbacks *stock)
{
	char name[KSYM_SYMBOL_LEN];

	if (!stock->gso_segment || !stock->gro_receive ||
	    !stock->gro_complete) {
		pr_err("the kernel's %s offload entry is not complete\n",
		       packets);
		return -EOPNOTSUPP;
	}
	snprintf(name, sizeof(name), "%ps", stock->gro_receive);
	if (strchr(name, '[')) {
		pr_err("%s packets are served by %s and not by the kernel itself; unload that module first\n",
		       packets, name);
		return -EBUSY;
	}
	return 0;
}

/* An entry of ours is not where we put it; @now may point here. Under RCU. */
void gro_opt_say_taken(const char *packets,
		       const struct offload_callbacks *now)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", now ? now->gro_receive : NULL);
	pr_err("%s packets are served by %s, which came after this module and may point here; unload it first, then write off to state again\n",
	       packets, name);
}

bool gro_opt_step_fails(unsigned int step)
{
	if (gro_opt_fail_step != step)
		return false;
	gro_opt_fail_step = 0;
	pr_info("inject: step %u of the switch fails\n", step);
	return true;
}

/*
 * The kernel's own entry, or why not. Another module's may be gone any time, so
 * that is looked at under RCU only.
 */
static struct packet_offload *
gro_opt_find_stock(const struct gro_opt_hook *hook)
{
	struct packet_offload *stock;
	int err;

	rcu_read_lock();
	stock = gro_opt_find(hook->po.type);
	err = stock ? gro_opt_callbacks_vet(hook->name, &stock->callbacks) :
		      -ENOENT;
	rcu_read_unlock();
	return err ? ERR_PTR(err) : stock;
}

/* Find stock's entry and make ours ready to stand in for it. */
static int gro_opt_hook_prepare(struct gro_opt_hook *hook)
{
	struct packet_offload *stock = gro_opt_find_stock(hook);

	if (IS_ERR(stock))
		return PTR_ERR(stock);
	hook->po.priority = stock->priority;
	hook->po.callbacks.gso_segment = stock->callbacks.gso_segment;
	hook->bind(stock);
	hook->stock = stock;
	return 0;
}

/*
 * Is an element of the list reached from @from before @until is? If somebody
 * has taken that out it is never met, but no list is as long as that.
 */
static bool gro_opt_reached(const struct packet_offload *from,
			    const struct packet_offload *what,
			    const struct packet_offload *until)
{
	const struct list_head *pos = &from->list;
	unsigned int steps = 1000;
	bool reached;

	rcu_read_lock();
	do {
		pos = rcu_dereference(list_next_rcu(pos));
		reached = pos == &what->list;
	} while (!reached && pos != &until->list && --steps);
	rcu_read_unlock();
	return reached;
}

/* Is @po in the kernel's list? Once round from what is known to be there. */
static bool gro_opt_listed(const struct packet_offload *po)
{
	const struct packet_offload *front;
	bool listed;

	rcu_read_lock();
	front = gro_opt_find(po->type);
	listed = front == po || (front && gro_opt_reached(front, po, front));
	rcu_read_unlock();
	return listed;
}

static bool gro_opt_hooks_in_front(bool ours)
{
	struct gro_opt_hook *hook;

	for_each_hook(hook)
		if (gro_opt_find(hook->po.type) !=
		    (ours ? &hook->po : hook->stock))
			return false;
	return true;
}

/*
 * May ours leave, or has another module put an entry over it? Stock's in front
 * is as good as ours: somebody came in between when we switched, has taken
 * stock's for what was there before, and has put it back.
 */
static int gro_opt_hook_ours(const struct gro_opt_hook *hook)
{
	const struct packet_offload *now;
	bool ours;

	rcu_read_lock();
	now = gro_opt_find(hook->po.type);
	ours = now == &hook->po || now == hook->stock;
	if (!ours)
		gro_opt_say_taken(hook->name, now ? &now->callbacks : NULL);
	rcu_read_unlock();
	return ours ? 0 : -EBUSY;
}

static int gro_opt_hooks_may_leave(void)
{
	struct gro_opt_hook *hook;
	int err;

	for_each_hook(hook) {
		err = gro_opt_hook_ours(hook);
		if (err)
			return err;
	}
	return gro_opt_protocols_may_leave();
}

/* For a slice of an A/B run: the state is not off, but our entries are out. */
static bool gro_opt_shim_is_native;

/* Others change the table without asking: is every entry of ours in front? */
static void gro_opt_check_foreign(void)
{
	if (gro_opt_state != GRO_OPT_OFF && !gro_opt_shim_is_native &&
	    !(gro_opt_hooks_in_front(true) && gro_opt_protocols_ours()))
		gro_opt_fault_foreign();
}

/* Twice in the list would be the end of it. */
static void gro_opt_add(struct packet_offload *po)
{
	if (!gro_opt_listed(po))
		dev_add_offload(po);
}

/* The kernel would say so, and wait in vain, if it were not there. */
static void gro_opt_remove(struct packet_offload *po)
{
	if (gro_opt_listed(po))
		dev_remove_offload(po);
}

/*
 * Somebody came while ours left, and has found ours there or stock's, who knows.
 * Either they put back when they go, so neither may be in the list behind them.
 * Where they are not, stock's stays: nothing of ours is to act now.
 */
static void gro_opt_hooks_stay(void)
{
	struct gro_opt_hook *hook;

	for_each_hook(hook)
		if (gro_opt_find(hook->po.type) != hook->stock)
			gro_opt_remove(hook->stock);
}

/*
 * Stock's in, ours out, and the other way round. All are added before any is
 * removed, in the order in which the kernel had them, so that its list looks as
 * before when ours have been in it. May sleep.
 *
 * Others do not lock against us. One that looked just before a switch puts its
 * entry in place of the one it saw, so a switch ends with a look at who is in
 * front. If whoever else does such things looks too, they are not missed.
 */
static int gro_opt_hooks_return(void)
{
	struct gro_opt_hook *hook;

	for_each_hook(hook)
		gro_opt_add(hook->stock);
	for_each_hook(hook)
		gro_opt_remove(&hook->po);
	if (!gro_opt_hooks_in_front(false)) {
		pr_err("another module came while ours left and may point here\n");
		gro_opt_hooks_stay();
		return -EBUSY;
	}
	for_each_hook(hook) {
		/* They may have been and gone, and have put it back. */
		gro_opt_remove(&hook->po);
		hook->stock = NULL;
	}
	return 0;
}

static int gro_opt_hooks_take(void)
{
	struct gro_opt_hook *hook;
	int err;

	for_each_hook(hook) {
		err = gro_opt_hook_prepare(hook);
		if (err)
			return err;
	}
	for_each_hook(hook) {
		if (gro_opt_step_fails(1 + hook->order)) {
			err = -ENOMEM;
			goto err_remove_added;
		}
		dev_add_offload(&hook->po);
	}
	for_each_hook(hook)
		gro_opt_remove(hook->stock);
	return 0;

err_remove_added:
	while ((hook = gro_opt_hook_before(hook)))
		dev_remove_offload(&hook->po);
	return err;
}

/**
 * gro_opt_shim_native - take our entries out for a while, or put them back
 * @native: out
 *
 * State and reference stay, so that only the tables differ.
 *
 * Context: may sleep, gro_opt_mutex held, state not off.
 *
 * Return: 0, or -EBUSY if somebody else stands in the tables.
 */
int gro_opt_shim_native(bool native)
{
	int err;

	lockdep_assert_held(&gro_opt_mutex);
	if (native == gro_opt_shim_is_native)
		return 0;
	if (native)
		err = gro_opt_hooks_may_leave() ?: gro_opt_protocols_return() ?:
		      gro_opt_hooks_return();
	else
		err = gro_opt_features_prepare(gro_opt_state) ?:
		      gro_opt_hooks_take();
	if (!err)
		gro_opt_shim_is_native = native;
	return err;
}

static int gro_opt_leave_off(enum gro_opt_state state)
{
	int err;

	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	err = gro_opt_features_prepare(state);
	if (err)
		goto err_module_put;
	err = gro_opt_hooks_take();
	if (err)
		goto err_protocols_undo;
	gro_opt_state = state;
	return gro_opt_features_apply();

err_protocols_undo:
	gro_opt_protocols_undo();
err_module_put:
	module_put(THIS_MODULE);
	return err;
}

/* Between passthrough and on: our entries for IPv4 and IPv6 are in. */
static int gro_opt_switch(enum gro_opt_state state)
{
	int err;

	err = gro_opt_features_prepare(state);
	if (err)
		return err;
	gro_opt_state = state;
	return gro_opt_features_apply();
}

/* Features first, so that the last packets through our entries are stock's. */
static int gro_opt_entries_leave(void)
{
	int err;

	err = gro_opt_hooks_may_leave();
	if (err)
		return err;
	if (gro_opt_state == GRO_OPT_ON) {
		gro_opt_state = GRO_OPT_PASSTHROUGH;
		gro_opt_features_apply();
	}
	err = gro_opt_protocols_return() ?: gro_opt_hooks_return();
	if (err)
		gro_opt_fault_foreign();
	return err;
}

static int gro_opt_enter_off(void)
{
	int err = 0;

	if (!gro_opt_shim_is_native)
		err = gro_opt_entries_leave();
	if (err)
		return err;
	gro_opt_shim_is_native = false;
	/* What the last packets have seen is told before it is forgotten. */
	gro_opt_fault_settle();
	gro_opt_state = GRO_OPT_OFF;
	gro_opt_fault_clear();
	module_put(THIS_MODULE);
	return 0;
}

/**
 * gro_opt_state_set - change the state
 * @state: off, passthrough or on
 *
 * Context: may sleep, gro_opt_mutex held. A change waits for the end of all
 * softirqs that may run the handlers taken out (synchronize_net()) and, where
 * features change, for code patching.
 *
 * Return: 0; -EBUSY while faulted (only off leaves that) or if somebody else
 * stands in the offload tables, which is a fault unless the state was off;
 * -ENOMEM by injection.
 */
int gro_opt_state_set(enum gro_opt_state state)
{
	enum gro_opt_state old;
	int err = 0;

	lockdep_assert_held(&gro_opt_mutex);
	gro_opt_check_foreign();
	old = gro_opt_state;
	if (state == old)
		return 0;
	if (old == GRO_OPT_FAULTED && state != GRO_OPT_OFF) {
		pr_err("state stays faulted (%s); write off first\n",
		       gro_opt_fault_reason());
		return -EBUSY;
	}

	if (state == GRO_OPT_OFF)
		err = gro_opt_enter_off();
	else if (old == GRO_OPT_OFF)
		err = gro_opt_leave_off(state);
	else
		err = gro_opt_switch(state);
	if (err) {
		pr_err("state stays %s, error %d\n",
		       gro_opt_state_name(gro_opt_state), err);
		return err;
	}

	gro_opt_enable_seq++;
	pr_info("state %s -> %s%s\n", gro_opt_state_name(old),
		gro_opt_state_name(state), state == GRO_OPT_OFF ? "" :
		"; rmmod answers busy until it is off again");
	gro_opt_uevent();
	gro_opt_check_foreign();
	return 0;
}

/* A write to "state", from sysfs and debugfs alike. */
ssize_t gro_opt_state_write(const char *buf, size_t len)
{
	int state, err;

	if (!gro_opt_may_write("state"))
		return -EPERM;
	state = gro_opt_state_parse(buf);
	if (state < 0) {
		pr_err("state: '%.*s' is none of off, passthrough, on\n",
		       gro_opt_shown(buf), buf);
		return -EINVAL;
	}
	mutex_lock(&gro_opt_mutex);
	err = gro_opt_ab_busy("state") ? -EBUSY : gro_opt_state_set(state);
	mutex_unlock(&gro_opt_mutex);
	return err ?: len;
}

/* Stock's entry for @type as it is or was before ours; for the self-check. */
const struct offload_callbacks *gro_opt_shim_stock(__be16 type)
{
	const struct packet_offload *stock = gro_opt_find(type);

	return stock ? &stock->callbacks : NULL;
}

/*
 * Put the hooks in the order of the kernel's list, whose head is not ours to
 * see: an entry that matches nothing, added behind all of its priority, marks
 * the end of the walk. May sleep.
 */
static void gro_opt_find_order(void)
{
	struct packet_offload mark = {};
	struct packet_offload *first, *second;

	if (gro_opt_nr_hooks < 2)
		return;
	first = gro_opt_find(gro_opt_order[0]->po.type);
	second = gro_opt_find(gro_opt_order[1]->po.type);
	mark.priority = max(first->priority, second->priority);
	dev_add_offload(&mark);
	if (!gro_opt_reached(first, second, &mark))
		swap(gro_opt_order[0], gro_opt_order[1]);
	dev_remove_offload(&mark);
	gro_opt_order[0]->order = 0;
	gro_opt_order[1]->order = 1;
}

/* What another module has done to the table is there when it is loaded. */
static int gro_opt_module_event(struct notifier_block *nb, unsigned long event,
				void *data)
{
	if (event != MODULE_STATE_LIVE || data == THIS_MODULE)
		return NOTIFY_DONE;
	mutex_lock(&gro_opt_mutex);
	gro_opt_check_foreign();
	mutex_unlock(&gro_opt_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block gro_opt_module_nb = {
	.notifier_call = gro_opt_module_event,
};

/* The kernel's own UDP handler behind L3, or NULL with the features' reason. */
static const struct net_offload *
gro_opt_find_udp(const struct net_offload __rcu *const *table,
		 enum gro_opt_feature_id id)
{
	const struct net_offload *ops;
	char name[KSYM_SYMBOL_LEN];

	rcu_read_lock();
	ops = rcu_dereference(table[IPPROTO_UDP]);
	rcu_read_unlock();
	if (!ops || !ops->callbacks.gro_receive) {
		gro_opt_features_missing("the kernel has no GRO handler for UDP here",
					 BIT(id));
		return NULL;
	}
	snprintf(name, sizeof(name), "%ps", ops->callbacks.gro_receive);
	if (!strchr(name, '['))
		return ops;
	pr_warn("UDP is served by %s and not by the kernel itself\n", name);
	gro_opt_features_missing("another module serves UDP", BIT(id));
	return NULL;
}

static void gro_opt_bind_udp(void)
{
	const struct net_offload *ops;

	ops = gro_opt_find_udp(inet_offloads, GRO_OPT_F_udp4);
	if (ops)
		static_call_update(gro_opt_stock4_udp,
				   ops->callbacks.gro_receive);
	ops = gro_opt_find_udp(inet6_offloads, GRO_OPT_F_udp6);
	if (ops)
		static_call_update(gro_opt_stock6_udp,
				   ops->callbacks.gro_receive);
}

/**
 * gro_opt_shim_probe - see which entries the kernel has, bind stock's functions
 *
 * Context: module load, before anything is switched. May sleep.
 *
 * Return: 0, or an error if the kernel's own entries are not in their place.
 */
int gro_opt_shim_probe(void)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(gro_opt_hooks) != 2);
	for (i = 0; i < ARRAY_SIZE(gro_opt_hooks); i++) {
		struct gro_opt_hook *hook = &gro_opt_hooks[i];
		struct packet_offload *stock = gro_opt_find_stock(hook);

		if (stock == ERR_PTR(-ENOENT)) {
			gro_opt_features_missing("the kernel has no GRO entry for this protocol",
						 hook->features);
			continue;
		}
		if (IS_ERR(stock))
			return PTR_ERR(stock);
		hook->bind(stock);
		hook->order = gro_opt_nr_hooks;
		gro_opt_order[gro_opt_nr_hooks++] = hook;
	}
	gro_opt_find_order();
	gro_opt_bind_udp();
	gro_opt_protocols_probe();
	return register_module_notifier(&gro_opt_module_nb);
}

/* The undo of gro_opt_shim_probe(). May sleep. */
void gro_opt_shim_exit(void)
{
	unregister_module_notifier(&gro_opt_module_nb);
}
