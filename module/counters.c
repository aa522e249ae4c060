// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "gro_opt.h"

DEFINE_PER_CPU_ALIGNED(struct gro_opt_pcpu_stats, gro_opt_pcpu_stats);

const char *const gro_opt_counter_names[] = {
#define X(name) #name,
	GRO_OPT_COUNTERS(X)
#undef X
};

/* What passthrough saw that the feature would have looked at. */
static u64 gro_opt_stock_packets(const struct gro_opt_pcpu_stats *stats,
				 enum gro_opt_feature_id id)
{
	switch (id) {
	case GRO_OPT_F_tcp4:
		return READ_ONCE(stats->pass4[IPPROTO_TCP]);
	case GRO_OPT_F_tcp6:
		return READ_ONCE(stats->pass6[IPPROTO_TCP]);
	case GRO_OPT_F_udp4:
		return READ_ONCE(stats->pass4[IPPROTO_UDP]);
	case GRO_OPT_F_udp6:
		return READ_ONCE(stats->pass6[IPPROTO_UDP]);
	case GRO_OPT_F_encap:
		return READ_ONCE(stats->pass4[IPPROTO_IPIP]) +
		       READ_ONCE(stats->pass4[IPPROTO_IPV6]) +
		       READ_ONCE(stats->pass6[IPPROTO_IPIP]) +
		       READ_ONCE(stats->pass6[IPPROTO_IPV6]);
	default:
		return 0;
	}
}

/* A CPU that is counting meanwhile may be one packet ahead; none goes back. */
static void gro_opt_counters_sum(enum gro_opt_feature_id id, u64 *sum,
				 u64 *stock)
{
	const struct gro_opt_pcpu_stats *stats;
	unsigned int cpu, i;

	memset(sum, 0, GRO_OPT_NR_COUNTERS * sizeof(*sum));
	*stock = 0;
	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(&gro_opt_pcpu_stats, cpu);
		for (i = 0; i < GRO_OPT_NR_COUNTERS; i++)
			sum[i] += READ_ONCE(stats->opt[id][i]);
		*stock += gro_opt_stock_packets(stats, id);
	}
}

/**
 * gro_opt_counters_emit - text of a feature's "counters" file
 * @id: feature
 * @buf: one page, as sysfs hands it out
 *
 * Context: may sleep; takes no lock, the counters only grow.
 *
 * Return: length of the text.
 */
ssize_t gro_opt_counters_emit(enum gro_opt_feature_id id, char *buf)
{
	u64 sum[GRO_OPT_NR_COUNTERS], stock, merged, packets;
	ssize_t len;
	int i;

	gro_opt_counters_sum(id, sum, &stock);
	merged = sum[GRO_OPT_C_merged_frags] + sum[GRO_OPT_C_merged_fraglist];
	packets = merged + sum[GRO_OPT_C_held] + sum[GRO_OPT_C_passed] +
		  sum[GRO_OPT_C_left_l4];
	len = sysfs_emit(buf, "counter stock opt\n");
	/* Passthrough looks at one byte; what follows IPv6 is stock's to know. */
	if (id == GRO_OPT_F_exthdr)
		len += sysfs_emit_at(buf, len, "packets - %llu\n", packets);
	else
		len += sysfs_emit_at(buf, len, "packets %llu %llu\n", stock,
				     packets);
	len += sysfs_emit_at(buf, len, "merged - %llu\n", merged);
	for (i = 0; i < GRO_OPT_NR_COUNTERS; i++)
		len += sysfs_emit_at(buf, len, "%s - %llu\n",
				     gro_opt_counter_names[i], sum[i]);
	return len;
}

/**
 * gro_opt_counters_percpu - table of all counters, one column a CPU
 * @s: seq_file of the debugfs file
 *
 * Context: may sleep.
 */
void gro_opt_counters_percpu(struct seq_file *s)
{
	const struct gro_opt_pcpu_stats *stats;
	unsigned int cpu, id, i;

	seq_puts(s, "feature counter");
	for_each_online_cpu(cpu)
		seq_printf(s, " cpu%u", cpu);
	for (id = 0; id < GRO_OPT_NR_FEATURES; id++) {
		seq_printf(s, "\n%s stock_packets", gro_opt_features[id].name);
		for_each_online_cpu(cpu) {
			stats = per_cpu_ptr(&gro_opt_pcpu_stats, cpu);
			seq_printf(s, " %llu",
				   gro_opt_stock_packets(stats, id));
		}
		for (i = 0; i < GRO_OPT_NR_COUNTERS; i++) {
			seq_printf(s, "\n%s %s", gro_opt_features[id].name,
				   gro_opt_counter_names[i]);
			for_each_online_cpu(cpu)
				seq_printf(s, " %llu",
					   per_cpu(gro_opt_pcpu_stats.opt,
						   cpu)[id][i]);
		}
	}
	seq_putc(s, '\n');
}

/* After the self-check, before anybody could read: its packets do not count. */
void gro_opt_counters_clear(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&gro_opt_pcpu_stats, cpu), 0,
		       sizeof(struct gro_opt_pcpu_stats));
}
