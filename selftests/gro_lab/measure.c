// SPDX-License-Identifier: GPL-2.0-only
/* Counts what the L3 GRO handlers that are in place cost, whoever's they are. */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <net/gro.h>

#include "lab.h"

struct lab_cpu {
	unsigned int depth;
	struct gro_lab_counters counters[GRO_LAB_FAMILIES];
};

static DEFINE_PER_CPU(struct lab_cpu, lab_cpu);
static u32 lab_empty_receive;
static u32 lab_empty_complete;
static struct dentry *lab_debugfs;

/* --- around the handlers -------------------------------------------------- */

/* Out of line, so that what an empty call costs is the same everywhere. */
static noinline u64 lab_time_receive(const struct lab_hook *hook,
				     struct list_head *head,
				     struct sk_buff *skb, struct sk_buff **pp)
{
	u64 start = get_cycles();

	*pp = hook->orig.gro_receive(head, skb);
	return get_cycles() - start;
}

static noinline u64 lab_time_complete(const struct lab_hook *hook,
				      struct sk_buff *skb, int nhoff, int *ret)
{
	u64 start = get_cycles();

	*ret = hook->orig.gro_complete(skb, nhoff);
	return get_cycles() - start;
}

static void lab_count_verdict(struct gro_lab_counters *counters,
			      const struct sk_buff *pp,
			      const struct sk_buff *skb)
{
	/* then the skb is someone else's */
	if (PTR_ERR(pp) == -EINPROGRESS)
		counters->consumed++;
	else if (NAPI_GRO_CB(skb)->same_flow)
		counters->merged++;
	else if (NAPI_GRO_CB(skb)->flush)
		counters->normal++;
	else
		counters->held++;
}

/* An inner header may lead here again; it belongs to the outer one's cost. */
static __always_inline struct sk_buff *
lab_measured_receive(enum gro_lab_family family, struct list_head *head,
		     struct sk_buff *skb)
{
	const struct lab_hook *hook = &lab_hooks[family];
	struct gro_lab_counters *counters;
	struct lab_cpu *cpu;
	unsigned long flags;
	struct sk_buff *pp;
	u64 cycles;

	if (this_cpu_read(lab_cpu.depth))
		return hook->orig.gro_receive(head, skb);
	local_irq_save(flags);
	cpu = this_cpu_ptr(&lab_cpu);
	counters = &cpu->counters[family];
	cpu->depth++;
	cycles = lab_time_receive(hook, head, skb, &pp);
	cpu->depth--;
	counters->packets++;
	counters->cycles += cycles - min_t(u64, cycles, lab_empty_receive);
	lab_count_verdict(counters, pp, skb);
	local_irq_restore(flags);
	return pp;
}

static __always_inline int
lab_measured_complete(enum gro_lab_family family, struct sk_buff *skb,
		      int nhoff)
{
	const struct lab_hook *hook = &lab_hooks[family];
	struct gro_lab_counters *counters;
	struct lab_cpu *cpu;
	unsigned long flags;
	u64 cycles;
	int ret;

	if (this_cpu_read(lab_cpu.depth))
		return hook->orig.gro_complete(skb, nhoff);
	local_irq_save(flags);
	cpu = this_cpu_ptr(&lab_cpu);
	counters = &cpu->counters[family];
	cpu->depth++;
	counters->segments += NAPI_GRO_CB(skb)->count;
	cycles = lab_time_complete(hook, skb, nhoff, &ret);
	cpu->depth--;
	counters->completes++;
	counters->complete_cycles +=
		cycles - min_t(u64, cycles, lab_empty_complete);
	local_irq_restore(flags);
	return ret;
}

static struct sk_buff *lab_receive4(struct list_head *head,
				    struct sk_buff *skb)
{
	return lab_measured_receive(GRO_LAB_IPV4, head, skb);
}

static struct sk_buff *lab_receive6(struct list_head *head,
				    struct sk_buff *skb)
{
	return lab_measured_receive(GRO_LAB_IPV6, head, skb);
}

static int lab_complete4(struct sk_buff *skb, int nhoff)
{
	return lab_measured_complete(GRO_LAB_IPV4, skb, nhoff);
}

static int lab_complete6(struct sk_buff *skb, int nhoff)
{
	return lab_measured_complete(GRO_LAB_IPV6, skb, nhoff);
}

static const struct offload_callbacks lab_measured[GRO_LAB_FAMILIES] = {
	[GRO_LAB_IPV4] = {
		.gro_receive = lab_receive4,
		.gro_complete = lab_complete4,
	},
	[GRO_LAB_IPV6] = {
		.gro_receive = lab_receive6,
		.gro_complete = lab_complete6,
	},
};

/* --- calibration ---------------------------------------------------------- */

static noinline struct sk_buff *lab_no_receive(struct list_head *head,
					       struct sk_buff *skb)
{
	return NULL;
}

static noinline int lab_no_complete(struct sk_buff *skb, int nhoff)
{
	return 0;
}

static void lab_calibrate(void)
{
	const struct lab_hook hook = {
		.orig.gro_receive = lab_no_receive,
		.orig.gro_complete = lab_no_complete,
	};
	u64 receive = U32_MAX, complete = U32_MAX;
	unsigned long flags;
	struct sk_buff *pp;
	unsigned int i;
	int ret;

	for (i = 0; i < 64; i++) {
		local_irq_save(flags);
		receive = min(receive, lab_time_receive(&hook, NULL, NULL,
							&pp));
		complete = min(complete, lab_time_complete(&hook, NULL, 0,
							   &ret));
		local_irq_restore(flags);
	}
	lab_empty_receive = receive;
	lab_empty_complete = complete;
}

/* --- on and off ----------------------------------------------------------- */

int lab_measure_on(void)
{
	lab_calibrate();
	return lab_hooks_on(lab_measured);
}

void lab_measure_off(void)
{
	lab_hooks_off(lab_measured);
}

bool lab_measuring(void)
{
	return lab_hooked_with(lab_measured);
}

/* --- the counters --------------------------------------------------------- */

void lab_measure_reset(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct lab_cpu *one = per_cpu_ptr(&lab_cpu, cpu);

		memset(one->counters, 0, sizeof(one->counters));
	}
}

static void lab_add(struct gro_lab_counters *sum,
		    const struct gro_lab_counters *one)
{
	sum->packets += one->packets;
	sum->cycles += one->cycles;
	sum->merged += one->merged;
	sum->held += one->held;
	sum->normal += one->normal;
	sum->consumed += one->consumed;
	sum->completes += one->completes;
	sum->complete_cycles += one->complete_cycles;
	sum->segments += one->segments;
}

void lab_measure_read(struct gro_lab_measure *measure)
{
	enum gro_lab_family i;
	unsigned int cpu;

	memset(measure, 0, sizeof(*measure));
	measure->on = lab_measuring();
	measure->empty_receive = lab_empty_receive;
	measure->empty_complete = lab_empty_complete;
	measure->stale = measure->on && lab_hooks_stale();
	for_each_possible_cpu(cpu)
		for (i = 0; i < GRO_LAB_FAMILIES; i++)
			lab_add(&measure->counters[i],
				&per_cpu(lab_cpu, cpu).counters[i]);
}

/* --- as text -------------------------------------------------------------- */

static int lab_measure_show(struct seq_file *file, void *unused)
{
	static const char * const names[] = { "ipv4", "ipv6" };
	struct gro_lab_measure measure;
	unsigned int i;

	lab_measure_read(&measure);
	seq_printf(file, "on %u\nstale %u\n", measure.on, measure.stale);
	seq_printf(file, "empty_receive %u\nempty_complete %u\n",
		   measure.empty_receive, measure.empty_complete);
	seq_puts(file,
		 "family packets cycles merged held normal consumed completes complete_cycles segments\n");
	for (i = 0; i < GRO_LAB_FAMILIES; i++) {
		const struct gro_lab_counters *c = &measure.counters[i];

		seq_printf(file, "%s %llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
			   names[i], c->packets, c->cycles, c->merged, c->held,
			   c->normal, c->consumed, c->completes,
			   c->complete_cycles, c->segments);
	}
	return 0;
}

static ssize_t lab_measure_write(struct file *file, const char __user *buf,
				 size_t len, loff_t *pos)
{
	char word[16] = {};
	int err = 0;

	if (len >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, buf, len))
		return -EFAULT;
	if (sysfs_streq(word, "on"))
		err = lab_measure_on();
	else if (sysfs_streq(word, "off"))
		lab_measure_off();
	else if (sysfs_streq(word, "reset"))
		lab_measure_reset();
	else
		err = -EINVAL;
	return err ?: len;
}

static int lab_measure_open(struct inode *inode, struct file *file)
{
	return single_open(file, lab_measure_show, NULL);
}

static const struct file_operations lab_measure_fops = {
	.owner		= THIS_MODULE,
	.open		= lab_measure_open,
	.read		= seq_read,
	.write		= lab_measure_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

void lab_measure_init(void)
{
	lab_debugfs = debugfs_create_dir("gro_lab", NULL);
	debugfs_create_file("measure", 0600, lab_debugfs, NULL,
			    &lab_measure_fops);
}

void lab_measure_exit(void)
{
	debugfs_remove_recursive(lab_debugfs);
	lab_measure_off();
}
