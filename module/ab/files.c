// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/gro_opt/ab: settings, one value a file; "run", which takes start
 * and stop; "result", the sums of the rounds so far. In debugfs the rounds one by
 * one, and histograms.
 */
#include <linux/debugfs.h>
#include <linux/kobject.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "../gro_opt.h"

static struct kobject *gro_opt_ab_kobj;

static const char *const gro_opt_ab_modes[] = {
	[GRO_OPT_AB_OFF] = "off",
	[GRO_OPT_AB_FLOW] = "flow",
	[GRO_OPT_AB_TIME] = "time",
	[GRO_OPT_AB_CPU] = "cpu",
};

/* ---- numbers ---- */

/**
 * struct gro_opt_ab_number - a setting that is a number
 * @attr: its file
 * @value: where it is
 * @least: smallest
 * @most: largest
 */
struct gro_opt_ab_number {
	struct kobj_attribute attr;
	unsigned int *value;
	unsigned int least;
	unsigned int most;
};

static const struct gro_opt_ab_number *
gro_opt_ab_number_of(const struct kobj_attribute *attr)
{
	return container_of(attr, struct gro_opt_ab_number, attr);
}

static ssize_t number_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(*gro_opt_ab_number_of(attr)->value));
}

static int gro_opt_ab_parse_number(const struct gro_opt_ab_number *number,
				   const char *buf, unsigned int *value)
{
	if (!kstrtouint(buf, 0, value) && *value >= number->least &&
	    *value <= number->most)
		return 0;
	pr_err("ab/%s: '%.*s' is no number from %u to %u\n",
	       number->attr.attr.name, gro_opt_shown(buf), buf, number->least,
	       number->most);
	return -EINVAL;
}

static ssize_t number_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t len)
{
	const struct gro_opt_ab_number *number = gro_opt_ab_number_of(attr);
	unsigned int value;
	int err;

	if (!gro_opt_may_write(attr->attr.name))
		return -EPERM;
	err = gro_opt_ab_parse_number(number, buf, &value);
	if (err)
		return err;
	mutex_lock(&gro_opt_mutex);
	if (gro_opt_ab_busy(attr->attr.name))
		err = -EBUSY;
	else
		WRITE_ONCE(*number->value, value);
	mutex_unlock(&gro_opt_mutex);
	return err ?: len;
}

#define NUMBER(_name, _least, _most)					\
static struct gro_opt_ab_number gro_opt_ab_nr_##_name = {		\
	.attr = __ATTR(_name, 0644, number_show, number_store),		\
	.value = &gro_opt_ab_settings._name,				\
	.least = _least,						\
	.most = _most,							\
}

NUMBER(split_permille, 0, 1000);
NUMBER(seed, 0, U32_MAX);
NUMBER(slice_ms, 10, 60000);
NUMBER(settle_ms, 0, 1000);
NUMBER(rounds, 1, GRO_OPT_AB_ROUNDS_MAX);
NUMBER(sample, 0, GRO_OPT_AB_SAMPLE_MAX);

/* ---- mode ---- */

static ssize_t mode_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  gro_opt_ab_modes[READ_ONCE(gro_opt_ab_settings.mode)]);
}

static ssize_t mode_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t len)
{
	int mode, err = 0;

	if (!gro_opt_may_write("ab/mode"))
		return -EPERM;
	mode = sysfs_match_string(gro_opt_ab_modes, buf);
	if (mode < 0) {
		pr_err("ab/mode: '%.*s' is none of off, flow, time, cpu\n",
		       gro_opt_shown(buf), buf);
		return -EINVAL;
	}
	mutex_lock(&gro_opt_mutex);
	if (gro_opt_ab_busy("ab/mode"))
		err = -EBUSY;
	else
		WRITE_ONCE(gro_opt_ab_settings.mode, mode);
	mutex_unlock(&gro_opt_mutex);
	return err ?: len;
}

/* ---- arms ---- */

static ssize_t gro_opt_ab_arm_show(const struct gro_opt_ab_arm *arm, char *buf)
{
	char before = ':';
	ssize_t len;
	int id;

	if (!arm->opt)
		return sysfs_emit(buf, "%s\n",
				  arm->native ? "native" : "passthrough");
	len = sysfs_emit(buf, "opt");
	for (id = 0; id < GRO_OPT_NR_FEATURES; id++) {
		if (!(arm->features & BIT(id)))
			continue;
		len += sysfs_emit_at(buf, len, "%c%s", before,
				     gro_opt_features[id].name);
		before = ',';
	}
	return len + sysfs_emit_at(buf, len, "\n");
}

/* "tcp4,exthdr": one or more of them. */
static int gro_opt_ab_parse_features(char *list, unsigned long *features)
{
	char *name;
	int id;

	while ((name = strsep(&list, ","))) {
		id = gro_opt_feature_find(name);
		if (id < 0)
			return id;
		*features |= BIT(id);
	}
	return 0;
}

static int gro_opt_ab_parse_arm(char *text, struct gro_opt_ab_arm *arm)
{
	memset(arm, 0, sizeof(*arm));
	arm->native = !strcmp(text, "native");
	arm->opt = !strcmp(text, "opt") || !strncmp(text, "opt:", 4);
	if (arm->opt && text[3])
		return gro_opt_ab_parse_features(text + 4, &arm->features);
	return arm->native || arm->opt || !strcmp(text, "passthrough") ?
	       0 : -EINVAL;
}

static ssize_t gro_opt_ab_arm_store(unsigned int i, const char *buf,
				    size_t len)
{
	struct gro_opt_ab_arm arm;
	char *copy;
	int err;

	if (!gro_opt_may_write("ab/arm"))
		return -EPERM;
	copy = kstrdup(buf, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = gro_opt_ab_parse_arm(strim(copy), &arm);
	kfree(copy);
	if (err) {
		pr_err("ab/arm_%c: '%.*s' is none of native, passthrough, opt, opt:FEATURE[,FEATURE]; features are "
		       GRO_OPT_FEATURE_NAMES "each once\n", 'a' + i,
		       gro_opt_shown(buf), buf);
		return err;
	}
	mutex_lock(&gro_opt_mutex);
	if (gro_opt_ab_busy("ab/arm"))
		err = -EBUSY;
	else
		gro_opt_ab_settings.arm[i] = arm;
	mutex_unlock(&gro_opt_mutex);
	return err ?: len;
}

#define ARM(_name, _i)							\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return gro_opt_ab_arm_show(&gro_opt_ab_settings.arm[_i], buf);	\
}									\
static ssize_t _name##_store(struct kobject *kobj,			\
			     struct kobj_attribute *attr,		\
			     const char *buf, size_t len)		\
{									\
	return gro_opt_ab_arm_store(_i, buf, len);			\
}									\
static struct kobj_attribute gro_opt_ab_##_name = __ATTR_RW(_name)

ARM(arm_a, 0);
ARM(arm_b, 1);

/* ---- run, result ---- */

static ssize_t run_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	ssize_t len;

	mutex_lock(&gro_opt_mutex);
	len = gro_opt_ab_run_show(buf);
	mutex_unlock(&gro_opt_mutex);
	return len;
}

static ssize_t run_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t len)
{
	const bool start = sysfs_streq(buf, "start");
	int err = 0;

	if (!gro_opt_may_write("ab/run"))
		return -EPERM;
	if (!start && !sysfs_streq(buf, "stop")) {
		pr_err("ab/run: '%.*s' is neither start nor stop\n",
		       gro_opt_shown(buf), buf);
		return -EINVAL;
	}
	mutex_lock(&gro_opt_mutex);
	if (start)
		err = gro_opt_ab_start();
	else
		gro_opt_ab_stop("stopped");
	mutex_unlock(&gro_opt_mutex);
	return err ?: len;
}

static ssize_t gro_opt_ab_row(char *buf, ssize_t len, unsigned int arm,
			      const struct gro_opt_ab_sum *sums,
			      unsigned int done)
{
	u64 ns = 0, packets = 0, field;
	unsigned int i, n;

	for (n = 0; n < done; n++) {
		ns += sums[GRO_OPT_AB_ARMS * n + arm].ns;
		packets += sums[GRO_OPT_AB_ARMS * n + arm].packets;
	}
	len += sysfs_emit_at(buf, len, "%c\t%u\t%llu\t%llu", 'a' + arm, done,
			     ns, packets);
	for (i = 0; i < GRO_OPT_AB_NR_FIELDS; i++) {
		for (field = 0, n = 0; n < done; n++)
			field += sums[GRO_OPT_AB_ARMS * n + arm].f[i];
		len += sysfs_emit_at(buf, len, "\t%llu", field);
	}
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t result_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	const struct gro_opt_ab_sum *sums;
	unsigned int done, i;
	ssize_t len;

	len = sysfs_emit(buf, "arm\trounds\tns\tpackets");
	for (i = 0; i < GRO_OPT_AB_NR_FIELDS; i++)
		len += sysfs_emit_at(buf, len, "\t%s",
				     gro_opt_ab_field_names[i]);
	len += sysfs_emit_at(buf, len, "\n");
	mutex_lock(&gro_opt_mutex);
	sums = gro_opt_ab_rounds(&done);
	for (i = 0; i < GRO_OPT_AB_ARMS; i++)
		len = gro_opt_ab_row(buf, len, i, sums, done);
	mutex_unlock(&gro_opt_mutex);
	return len;
}

static struct kobj_attribute gro_opt_ab_mode_attr = __ATTR_RW(mode);
static struct kobj_attribute gro_opt_ab_run_attr = __ATTR_RW(run);
static struct kobj_attribute gro_opt_ab_result_attr = __ATTR_RO(result);

static const struct attribute *const gro_opt_ab_attrs[] = {
	&gro_opt_ab_mode_attr.attr,
	&gro_opt_ab_arm_a.attr,
	&gro_opt_ab_arm_b.attr,
	&gro_opt_ab_nr_split_permille.attr.attr,
	&gro_opt_ab_nr_seed.attr.attr,
	&gro_opt_ab_nr_slice_ms.attr.attr,
	&gro_opt_ab_nr_settle_ms.attr.attr,
	&gro_opt_ab_nr_rounds.attr.attr,
	&gro_opt_ab_nr_sample.attr.attr,
	&gro_opt_ab_run_attr.attr,
	&gro_opt_ab_result_attr.attr,
	NULL
};

int gro_opt_ab_files_add(struct kobject *parent)
{
	int err;

	gro_opt_ab_kobj = kobject_create_and_add("ab", parent);
	if (!gro_opt_ab_kobj)
		return -ENOMEM;
	err = sysfs_create_files(gro_opt_ab_kobj, (void *)gro_opt_ab_attrs);
	if (err)
		kobject_put(gro_opt_ab_kobj);
	return err;
}

/* Waits for whoever is in one of them. May sleep. */
void gro_opt_ab_files_remove(void)
{
	sysfs_remove_files(gro_opt_ab_kobj, (void *)gro_opt_ab_attrs);
	kobject_put(gro_opt_ab_kobj);
}

/* ---- debugfs ---- */

static void gro_opt_ab_sample_row(struct seq_file *s, unsigned int round,
				  unsigned int arm,
				  const struct gro_opt_ab_sum *sum)
{
	unsigned int i;

	seq_printf(s, "%u\t%c\t%llu\t%llu", round, 'a' + arm, sum->ns,
		   sum->packets);
	for (i = 0; i < GRO_OPT_AB_NR_FIELDS; i++)
		seq_printf(s, "\t%llu", sum->f[i]);
	seq_putc(s, '\n');
}

static int gro_opt_ab_samples_show(struct seq_file *s, void *unused)
{
	const struct gro_opt_ab_sum *sums;
	unsigned int done, i;

	seq_puts(s, "round\tarm\tns\tpackets");
	for (i = 0; i < GRO_OPT_AB_NR_FIELDS; i++)
		seq_printf(s, "\t%s", gro_opt_ab_field_names[i]);
	seq_putc(s, '\n');
	mutex_lock(&gro_opt_mutex);
	sums = gro_opt_ab_rounds(&done);
	for (i = 0; i < GRO_OPT_AB_ARMS * done; i++)
		gro_opt_ab_sample_row(s, i / GRO_OPT_AB_ARMS,
				      i % GRO_OPT_AB_ARMS, &sums[i]);
	mutex_unlock(&gro_opt_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(gro_opt_ab_samples);

static int gro_opt_ab_hist_show(struct seq_file *s, void *unused)
{
	mutex_lock(&gro_opt_mutex);
	gro_opt_ab_hist(s, s->private);
	mutex_unlock(&gro_opt_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(gro_opt_ab_hist);

void gro_opt_ab_debugfs(struct dentry *parent)
{
	struct dentry *hist = debugfs_create_dir("hist", parent);

	debugfs_create_file("ab_samples", 0400, parent, NULL,
			    &gro_opt_ab_samples_fops);
	debugfs_create_file("cycles_per_packet", 0400, hist, (void *)1UL,
			    &gro_opt_ab_hist_fops);
	debugfs_create_file("segs_per_skb", 0400, hist, NULL,
			    &gro_opt_ab_hist_fops);
}
