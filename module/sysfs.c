// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/gro_opt: the interface that is kept stable, described in
 * Documentation/ABI/testing/sysfs-kernel-gro_opt.
 *
 * version state enable_seq fault_reason devices
 * features/<feature>/{enabled,active,reason,counters}
 * ab/: see ab/files.c
 *
 * Uevents are sent from "features": a kset's own kobject is a member of no
 * kset, so it cannot send any.
 */
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "gro_opt.h"

static struct kset *gro_opt_kset;
/* Written under gro_opt_mutex: a uevent may be sent from it at any time. */
static struct kobject *gro_opt_features_kobj;
static struct kobject *gro_opt_feature_kobjs[GRO_OPT_NR_FEATURES];
static DECLARE_COMPLETION(gro_opt_features_released);

/* A write to @what, by sysfs or debugfs: root alone is not enough. */
bool gro_opt_may_write(const char *what)
{
	if (capable(CAP_NET_ADMIN))
		return true;
	pr_err("%s: writing needs CAP_NET_ADMIN in the initial user namespace\n",
	       what);
	return false;
}

static ssize_t version_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%s\n", GRO_OPT_VERSION);
}

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  gro_opt_state_name(READ_ONCE(gro_opt_state)));
}

static ssize_t state_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t len)
{
	return gro_opt_state_write(buf, len);
}

static ssize_t enable_seq_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(gro_opt_enable_seq));
}

static ssize_t fault_reason_show(struct kobject *kobj,
				 struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", gro_opt_fault_reason());
}

static ssize_t devices_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	ssize_t len;

	mutex_lock(&gro_opt_mutex);
	len = gro_opt_devices_show(buf);
	mutex_unlock(&gro_opt_mutex);
	return len;
}

static ssize_t devices_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t len)
{
	int err;

	if (!gro_opt_may_write("devices"))
		return -EPERM;
	mutex_lock(&gro_opt_mutex);
	err = gro_opt_ab_busy("devices") ? -EBUSY : gro_opt_devices_set(buf);
	mutex_unlock(&gro_opt_mutex);
	return err ?: len;
}

static struct kobj_attribute gro_opt_version_attr = __ATTR_RO(version);
static struct kobj_attribute gro_opt_state_attr = __ATTR_RW(state);
static struct kobj_attribute gro_opt_enable_seq_attr = __ATTR_RO(enable_seq);
static struct kobj_attribute gro_opt_fault_attr = __ATTR_RO(fault_reason);
static struct kobj_attribute gro_opt_devices_attr = __ATTR_RW(devices);

static const struct attribute *const gro_opt_root_attrs[] = {
	&gro_opt_version_attr.attr,
	&gro_opt_state_attr.attr,
	&gro_opt_enable_seq_attr.attr,
	&gro_opt_fault_attr.attr,
	&gro_opt_devices_attr.attr,
	NULL
};

static struct gro_opt_feature *gro_opt_feature_of(struct kobject *kobj)
{
	return &gro_opt_features[gro_opt_feature_find(kobject_name(kobj))];
}

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%d\n",
			  READ_ONCE(gro_opt_feature_of(kobj)->enabled));
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t len)
{
	return gro_opt_enabled_write(gro_opt_feature_of(kobj) -
				     gro_opt_features, buf, len);
}

static ssize_t active_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%d\n",
			  READ_ONCE(gro_opt_feature_of(kobj)->active));
}

static ssize_t reason_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  gro_opt_feature_of(kobj)->reason ?: "ok");
}

static ssize_t counters_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return gro_opt_counters_emit(gro_opt_feature_of(kobj) -
				     gro_opt_features, buf);
}

static struct kobj_attribute gro_opt_enabled_attr = __ATTR_RW(enabled);
static struct kobj_attribute gro_opt_active_attr = __ATTR_RO(active);
static struct kobj_attribute gro_opt_reason_attr = __ATTR_RO(reason);
static struct kobj_attribute gro_opt_counters_attr = __ATTR_RO(counters);

static const struct attribute *const gro_opt_feature_attrs[] = {
	&gro_opt_enabled_attr.attr,
	&gro_opt_active_attr.attr,
	&gro_opt_reason_attr.attr,
	&gro_opt_counters_attr.attr,
	NULL
};

/* The text of this function has to outlive the object: see the completion. */
static void gro_opt_features_release(struct kobject *kobj)
{
	kfree(kobj);
	complete(&gro_opt_features_released);
}

static const struct kobj_type gro_opt_features_ktype = {
	.release = gro_opt_features_release,
	.sysfs_ops = &kobj_sysfs_ops,
};

static void gro_opt_features_dir_set(struct kobject *kobj)
{
	mutex_lock(&gro_opt_mutex);
	gro_opt_features_kobj = kobj;
	mutex_unlock(&gro_opt_mutex);
}

static void gro_opt_features_dir_put(struct kobject *kobj)
{
	kobject_put(kobj);
	wait_for_completion(&gro_opt_features_released);
}

static int gro_opt_features_dir_add(void)
{
	struct kobject *kobj;
	int err;

	kobj = kzalloc(sizeof(*kobj), GFP_KERNEL);
	if (!kobj)
		return -ENOMEM;
	kobj->kset = gro_opt_kset;
	err = kobject_init_and_add(kobj, (void *)&gro_opt_features_ktype, NULL,
				   "features");
	if (err)
		goto err_kobject_put;
	gro_opt_features_dir_set(kobj);
	return 0;

err_kobject_put:
	gro_opt_features_dir_put(kobj);
	return err;
}

/* The state may be on yet, and a fault at hand that tells user space. */
static void gro_opt_features_dir_remove(void)
{
	struct kobject *kobj = gro_opt_features_kobj;

	gro_opt_features_dir_set(NULL);
	gro_opt_features_dir_put(kobj);
}

static void gro_opt_feature_dirs_remove(void)
{
	int id;

	for (id = GRO_OPT_NR_FEATURES - 1; id >= 0; id--) {
		kobject_put(gro_opt_feature_kobjs[id]);
		gro_opt_feature_kobjs[id] = NULL;
	}
}

static int gro_opt_feature_dirs_add(void)
{
	int id, err;

	for (id = 0; id < GRO_OPT_NR_FEATURES; id++) {
		struct kobject *kobj;

		kobj = kobject_create_and_add(gro_opt_features[id].name,
					      gro_opt_features_kobj);
		if (!kobj) {
			err = -ENOMEM;
			goto err_dirs_remove;
		}
		gro_opt_feature_kobjs[id] = kobj;
		err = sysfs_create_files(kobj,
					 (void *)gro_opt_feature_attrs);
		if (err)
			goto err_dirs_remove;
	}
	return 0;

err_dirs_remove:
	gro_opt_feature_dirs_remove();
	return err;
}

/* Tell user space of a new state, once there are files. gro_opt_mutex held. */
void gro_opt_uevent(void)
{
	char state[40], seq[48], fault[128];
	char *envp[4] = {};

	lockdep_assert_held(&gro_opt_mutex);
	if (!gro_opt_features_kobj)
		return;
	snprintf(state, sizeof(state), "GRO_OPT_STATE=%s",
		 gro_opt_state_name(gro_opt_state));
	snprintf(seq, sizeof(seq), "GRO_OPT_ENABLE_SEQ=%llu",
		 gro_opt_enable_seq);
	snprintf(fault, sizeof(fault), "GRO_OPT_FAULT=%s",
		 gro_opt_fault_reason());
	envp[0] = state;
	envp[1] = seq;
	envp[2] = fault;
	kobject_uevent_env(gro_opt_features_kobj, KOBJ_CHANGE, envp);
}

/* Build the tree. May sleep. */
int gro_opt_sysfs_init(void)
{
	int err;

	gro_opt_kset = kset_create_and_add("gro_opt", NULL, kernel_kobj);
	if (!gro_opt_kset)
		return -ENOMEM;
	err = gro_opt_features_dir_add();
	if (err)
		goto err_kset_unregister;
	err = gro_opt_feature_dirs_add();
	if (err)
		goto err_features_dir_remove;
	err = sysfs_create_files(&gro_opt_kset->kobj,
				 (void *)gro_opt_root_attrs);
	if (err)
		goto err_feature_dirs_remove;
	err = gro_opt_ab_files_add(&gro_opt_kset->kobj);
	if (err)
		goto err_root_files_remove;
	return 0;

err_root_files_remove:
	sysfs_remove_files(&gro_opt_kset->kobj, (void *)gro_opt_root_attrs);
err_feature_dirs_remove:
	gro_opt_feature_dirs_remove();
err_features_dir_remove:
	gro_opt_features_dir_remove();
err_kset_unregister:
	kset_unregister(gro_opt_kset);
	return err;
}

/* Removing a file waits for its readers and writers, so this may sleep. */
void gro_opt_sysfs_exit(void)
{
	gro_opt_ab_files_remove();
	sysfs_remove_files(&gro_opt_kset->kobj, (void *)gro_opt_root_attrs);
	gro_opt_feature_dirs_remove();
	gro_opt_features_dir_remove();
	kset_unregister(gro_opt_kset);
}
