// SPDX-License-Identifier: GPL-2.0-only
/*
 * gro_opt: alternative GRO handlers beside the stock ones, switched at run
 * time, counted, and compared with stock on the same traffic. Loading changes
 * nothing until asked. See Documentation/design.rst.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/utsname.h>

#include "gro_opt.h"

static char *state = "off";
module_param(state, charp, 0444);
MODULE_PARM_DESC(state, "State after loading: off (default), passthrough or on");

static char *features = "all";
module_param(features, charp, 0444);
MODULE_PARM_DESC(features, "Features to enable, separated by commas (default all): "
		 GRO_OPT_FEATURE_NAMES "all");

static bool selfcheck = true;
module_param(selfcheck, bool, 0444);
MODULE_PARM_DESC(selfcheck, "Compare ours with the stock handlers at load and leave out what differs (default 1)");

/* The one line that tells what was loaded and what could not be had. */
static void gro_opt_say_loaded(void)
{
	char text[256];
	size_t len = 0;
	int id;

	text[0] = '\0';
	for (id = 0; id < GRO_OPT_NR_FEATURES; id++) {
		const struct gro_opt_feature *f = &gro_opt_features[id];

		len += scnprintf(text + len, sizeof(text) - len, " %s", f->name);
		if (f->reason)
			len += scnprintf(text + len, sizeof(text) - len,
					 " (missing: %s)", f->reason);
		else if (!f->enabled)
			len += scnprintf(text + len, sizeof(text) - len,
					 " (disabled)");
	}
	pr_info("version %s, kernel %s, state %s, features:%s\n",
		GRO_OPT_VERSION, utsname()->release,
		gro_opt_state_name(gro_opt_state), text);
}

static int gro_opt_state_locked(enum gro_opt_state want)
{
	int err;

	mutex_lock(&gro_opt_mutex);
	err = gro_opt_state_set(want);
	mutex_unlock(&gro_opt_mutex);
	return err;
}

/* What gro_opt_state_set() had to keep to itself while there were no files. */
static void gro_opt_tell_state(void)
{
	mutex_lock(&gro_opt_mutex);
	if (gro_opt_state != GRO_OPT_OFF)
		gro_opt_uevent();
	mutex_unlock(&gro_opt_mutex);
}

/*
 * The state before the files: nobody can write to them while loading may still
 * fail, so what has to be undone is what was done here.
 */
static int __init gro_opt_init(void)
{
	int want, err;

	want = gro_opt_state_parse(state);
	if (want < 0) {
		pr_err("state=%s: must be off, passthrough or on\n", state);
		return -EINVAL;
	}
	err = gro_opt_features_parse(features);
	if (err)
		return err;
	err = gro_opt_shim_probe();
	if (err)
		return err;
	err = gro_opt_selfcheck(selfcheck);
	if (err)
		goto err_selfcheck_exit;
	err = gro_opt_state_locked(want);
	if (err)
		goto err_selfcheck_exit;
	err = gro_opt_sysfs_init();
	if (err)
		goto err_state_off;
	gro_opt_debugfs_init();
	gro_opt_tell_state();
	gro_opt_say_loaded();
	return 0;

err_state_off:
	/* An entry of another module over ours points here: stay, then. */
	if (gro_opt_state_locked(GRO_OPT_OFF)) {
		pr_err("loaded without files in /sys (error %d), so %s until the next boot\n",
		       err, gro_opt_state_name(gro_opt_state));
		return 0;
	}
	gro_opt_devices_exit();
err_selfcheck_exit:
	gro_opt_fault_exit();
	gro_opt_selfcheck_exit();
	gro_opt_shim_exit();
	return err;
}

/* State is off here: while it is not, the module holds itself. */
static void __exit gro_opt_exit(void)
{
	gro_opt_debugfs_exit();
	gro_opt_sysfs_exit();
	gro_opt_ab_exit();
	gro_opt_devices_exit();
	gro_opt_fault_exit();
	gro_opt_selfcheck_exit();
	gro_opt_shim_exit();
	pr_info("unloaded\n");
}

module_init(gro_opt_init);
module_exit(gro_opt_exit);

MODULE_DESCRIPTION("Alternative GRO handlers, switchable and compared with stock");
MODULE_AUTHOR("The gro_opt developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRO_OPT_VERSION);
