// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/gro_opt: the developers' view. The same switches with the
 * same state behind them, the counters of each CPU, and injection for tests.
 * Nothing depends on it: under lockdown, or without debugfs, all else works.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gro_opt.h"

static struct dentry *gro_opt_debugfs;

/* A short string from user space, without the end of line. */
static char *gro_opt_user_string(const char __user *ubuf, size_t len)
{
	if (len > 64)
		return ERR_PTR(-EINVAL);
	return memdup_user_nul(ubuf, len);
}

static int gro_opt_state_seq_show(struct seq_file *s, void *unused)
{
	seq_printf(s, "%s\n", gro_opt_state_name(READ_ONCE(gro_opt_state)));
	return 0;
}

static int gro_opt_state_open(struct inode *inode, struct file *file)
{
	return single_open(file, gro_opt_state_seq_show, NULL);
}

static ssize_t gro_opt_debugfs_state_write(struct file *file,
					   const char __user *ubuf, size_t len,
					   loff_t *pos)
{
	char *buf = gro_opt_user_string(ubuf, len);
	ssize_t ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ret = gro_opt_state_write(buf, len);
	kfree(buf);
	return ret;
}

static const struct file_operations gro_opt_state_fops = {
	.owner = THIS_MODULE,
	.open = gro_opt_state_open,
	.read = seq_read,
	.write = gro_opt_debugfs_state_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int gro_opt_enabled_seq_show(struct seq_file *s, void *unused)
{
	const struct gro_opt_feature *feature = s->private;

	seq_printf(s, "%d\n", READ_ONCE(feature->enabled));
	return 0;
}

static int gro_opt_enabled_open(struct inode *inode, struct file *file)
{
	return single_open(file, gro_opt_enabled_seq_show, inode->i_private);
}

static ssize_t gro_opt_debugfs_enabled_write(struct file *file,
					     const char __user *ubuf,
					     size_t len, loff_t *pos)
{
	struct seq_file *s = file->private_data;
	const struct gro_opt_feature *feature = s->private;
	char *buf = gro_opt_user_string(ubuf, len);
	ssize_t ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ret = gro_opt_enabled_write(feature - gro_opt_features, buf, len);
	kfree(buf);
	return ret;
}

static const struct file_operations gro_opt_enabled_fops = {
	.owner = THIS_MODULE,
	.open = gro_opt_enabled_open,
	.read = seq_read,
	.write = gro_opt_debugfs_enabled_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int gro_opt_counters_show(struct seq_file *s, void *unused)
{
	const struct gro_opt_feature *feature = s->private;
	char *page = (char *)get_zeroed_page(GFP_KERNEL);

	if (!page)
		return -ENOMEM;
	gro_opt_counters_emit(feature - gro_opt_features, page);
	seq_puts(s, page);
	free_page((unsigned long)page);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(gro_opt_counters);

static int gro_opt_percpu_show(struct seq_file *s, void *unused)
{
	gro_opt_counters_percpu(s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(gro_opt_percpu);

/* inject/fault: as if the data path had seen the impossible. */
static ssize_t gro_opt_inject_fault_write(struct file *file,
					  const char __user *ubuf, size_t len,
					  loff_t *pos)
{
	bool off;

	if (!gro_opt_may_write("inject/fault"))
		return -EPERM;
	mutex_lock(&gro_opt_mutex);
	off = gro_opt_state == GRO_OPT_OFF;
	if (!off)
		gro_opt_fault("injected");
	mutex_unlock(&gro_opt_mutex);
	if (off) {
		pr_err("inject/fault: the state is off, so no packet can meet one\n");
		return -EINVAL;
	}
	return len;
}

static const struct file_operations gro_opt_inject_fault_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = gro_opt_inject_fault_write,
	.llseek = noop_llseek,
};

static int gro_opt_fail_step_get(void *data, u64 *val)
{
	*val = gro_opt_fail_step;
	return 0;
}

static int gro_opt_fail_step_set(void *data, u64 val)
{
	if (!gro_opt_may_write("inject/fail_step"))
		return -EPERM;
	mutex_lock(&gro_opt_mutex);
	gro_opt_fail_step = val;
	mutex_unlock(&gro_opt_mutex);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(gro_opt_fail_step_fops, gro_opt_fail_step_get,
			 gro_opt_fail_step_set, "%llu\n");

static int gro_opt_slow_ns_get(void *data, u64 *val)
{
	*val = gro_opt_ab_slow_ns;
	return 0;
}

static int gro_opt_slow_ns_set(void *data, u64 val)
{
	if (!gro_opt_may_write("inject/slow_ns"))
		return -EPERM;
	WRITE_ONCE(gro_opt_ab_slow_ns, min_t(u64, val, NSEC_PER_MSEC));
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(gro_opt_slow_ns_fops, gro_opt_slow_ns_get,
			 gro_opt_slow_ns_set, "%llu\n");

static void gro_opt_debugfs_features(void)
{
	struct dentry *features, *dir;
	int id;

	features = debugfs_create_dir("features", gro_opt_debugfs);
	for (id = 0; id < GRO_OPT_NR_FEATURES; id++) {
		dir = debugfs_create_dir(gro_opt_features[id].name, features);
		debugfs_create_file("enabled", 0600, dir, &gro_opt_features[id],
				    &gro_opt_enabled_fops);
		debugfs_create_file("counters", 0400, dir,
				    &gro_opt_features[id],
				    &gro_opt_counters_fops);
	}
}

/* Errors are debugfs's own affair: nothing here is needed for service. */
void gro_opt_debugfs_init(void)
{
	struct dentry *inject;

	gro_opt_debugfs = debugfs_create_dir("gro_opt", NULL);
	debugfs_create_file("state", 0600, gro_opt_debugfs, NULL,
			    &gro_opt_state_fops);
	debugfs_create_file("percpu", 0400, gro_opt_debugfs, NULL,
			    &gro_opt_percpu_fops);
	debugfs_create_u32("faults", 0400, gro_opt_debugfs, &gro_opt_faults);
	gro_opt_debugfs_features();
	gro_opt_ab_debugfs(gro_opt_debugfs);

	inject = debugfs_create_dir("inject", gro_opt_debugfs);
	debugfs_create_file("fault", 0200, inject, NULL,
			    &gro_opt_inject_fault_fops);
	debugfs_create_file("fail_step", 0600, inject, NULL,
			    &gro_opt_fail_step_fops);
	debugfs_create_file("slow_ns", 0600, inject, NULL,
			    &gro_opt_slow_ns_fops);
}

/* Waits for whoever is inside one of the files. May sleep. */
void gro_opt_debugfs_exit(void)
{
	debugfs_remove(gro_opt_debugfs);
}
