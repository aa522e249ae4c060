// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of devices whose packets ours handle. While it is "*" a static key
 * keeps all of this off the data path. Otherwise a notifier keeps a hash of the
 * devices that match, in all network namespaces; no device reference is held,
 * for an entry goes with NETDEV_UNREGISTER.
 */
#include <linux/glob.h>
#include <linux/hashtable.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gro_opt.h"

DEFINE_STATIC_KEY_FALSE(gro_opt_key_devices);

#define GRO_OPT_DEVICES_MAX	1024

struct gro_opt_device {
	struct hlist_node node;
	struct rcu_head rcu;
	const struct net_device *dev;
};

/* Written under RTNL by the notifier only. */
static DEFINE_HASHTABLE(gro_opt_device_hash, 6);
/* Written under gro_opt_mutex while the notifier is not registered. */
static char gro_opt_patterns[GRO_OPT_DEVICES_MAX] = "*";
static bool gro_opt_filtering;

/**
 * gro_opt_device_listed - whether our code handles packets of a device
 * @dev: receiving device
 *
 * Context: softirq, rcu_read_lock() held.
 */
bool gro_opt_device_listed(const struct net_device *dev)
{
	const struct gro_opt_device *entry;

	hash_for_each_possible_rcu(gro_opt_device_hash, entry, node,
				   (unsigned long)dev)
		if (entry->dev == dev)
			return true;
	return false;
}

static bool gro_opt_device_matches(const struct net_device *dev)
{
	const char *at = gro_opt_patterns;
	char pattern[IFNAMSIZ];
	size_t len;

	while (*at) {
		len = strcspn(at, " ");
		strscpy(pattern, at, min(len + 1, sizeof(pattern)));
		if (glob_match(pattern, dev->name))
			return true;
		at += len + (at[len] == ' ');
	}
	return false;
}

static void gro_opt_device_remove(const struct net_device *dev)
{
	struct gro_opt_device *entry;
	struct hlist_node *tmp;

	hash_for_each_possible_safe(gro_opt_device_hash, entry, tmp, node,
				    (unsigned long)dev) {
		if (entry->dev != dev)
			continue;
		hash_del_rcu(&entry->node);
		kfree_rcu(entry, rcu);
	}
}

static void gro_opt_device_add(const struct net_device *dev)
{
	struct gro_opt_device *entry;

	if (!gro_opt_device_matches(dev))
		return;
	entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry) {
		netdev_warn(dev, "gro_opt: no memory, packets take stock\n");
		return;
	}
	entry->dev = dev;
	hash_add_rcu(gro_opt_device_hash, &entry->node, (unsigned long)dev);
}

static int gro_opt_device_event(struct notifier_block *nb, unsigned long event,
				void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
		gro_opt_device_remove(dev);
		gro_opt_device_add(dev);
		break;
	case NETDEV_UNREGISTER:
		gro_opt_device_remove(dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block gro_opt_device_nb = {
	.notifier_call = gro_opt_device_event,
};

/* Copy @list with single spaces between the patterns. */
static int gro_opt_devices_parse(const char *list, char *patterns)
{
	size_t used = 0, len;

	for (;;) {
		list += strspn(list, " ,\t\n");
		len = strcspn(list, " ,\t\n");
		if (!len)
			break;
		if (len >= IFNAMSIZ || memchr(list, '/', len)) {
			pr_err("devices: '%.*s' is no device name or pattern; give names of up to 15 characters, * and ? allowed, separated by spaces\n",
			       (int)min(len, (size_t)40), list);
			return -EINVAL;
		}
		if (used + len + 2 > GRO_OPT_DEVICES_MAX) {
			pr_err("devices: the list is longer than %d characters; use patterns\n",
			       GRO_OPT_DEVICES_MAX - 2);
			return -EINVAL;
		}
		if (used)
			patterns[used++] = ' ';
		memcpy(patterns + used, list, len);
		used += len;
		list += len;
	}
	patterns[used] = '\0';
	if (used)
		return 0;
	pr_err("devices: the list is empty; write * for all, or state off for none\n");
	return -EINVAL;
}

/* Registering calls the notifier for every device that exists. */
static int gro_opt_filter_start(void)
{
	int err;

	static_branch_enable(&gro_opt_key_devices);
	static_branch_inc(&gro_opt_key_seen);
	static_branch_inc(&gro_opt_key_detour);
	err = register_netdevice_notifier(&gro_opt_device_nb);
	if (err) {
		static_branch_dec(&gro_opt_key_detour);
		static_branch_dec(&gro_opt_key_seen);
		static_branch_disable(&gro_opt_key_devices);
		return err;
	}
	gro_opt_filtering = true;
	return 0;
}

/* Unregistering does the same with NETDEV_UNREGISTER, which empties the hash. */
static void gro_opt_filter_stop(void)
{
	if (!gro_opt_filtering)
		return;
	unregister_netdevice_notifier(&gro_opt_device_nb);
	static_branch_dec(&gro_opt_key_detour);
	static_branch_dec(&gro_opt_key_seen);
	static_branch_disable(&gro_opt_key_devices);
	gro_opt_filtering = false;
}

/**
 * gro_opt_devices_set - replace the list
 * @list: device names or globs, separated by white space or commas
 *
 * Context: may sleep, gro_opt_mutex held; takes RTNL inside. While the list is
 * exchanged packets of listed devices take stock.
 *
 * Return: 0, -EINVAL with a line in the log, -ENOMEM.
 */
int gro_opt_devices_set(const char *list)
{
	char *patterns;
	int err;

	lockdep_assert_held(&gro_opt_mutex);
	patterns = kmalloc(GRO_OPT_DEVICES_MAX, GFP_KERNEL);
	if (!patterns)
		return -ENOMEM;
	err = gro_opt_devices_parse(list, patterns);
	if (err || !strcmp(patterns, gro_opt_patterns))
		goto out;

	gro_opt_filter_stop();
	strscpy(gro_opt_patterns, patterns, sizeof(gro_opt_patterns));
	if (strcmp(patterns, "*"))
		err = gro_opt_filter_start();
	if (err)
		strscpy(gro_opt_patterns, "*", sizeof(gro_opt_patterns));
	else
		gro_opt_enable_seq++;
out:
	kfree(patterns);
	return err;
}

/* The list as it is in force; gro_opt_mutex held. */
ssize_t gro_opt_devices_show(char *buf)
{
	return sysfs_emit(buf, "%s\n", gro_opt_patterns);
}

/* Module exit. Waits for kfree_rcu() by nothing: that code is the kernel's. */
void gro_opt_devices_exit(void)
{
	gro_opt_filter_stop();
}
