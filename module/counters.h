/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters: per CPU, monotonic, one increment a packet where nothing is wrong.
 * The list below is the only place that names them; sysfs, debugfs and the ABI
 * text follow it. Append only: the order is what BPF readers rely on.
 */
#ifndef _GRO_OPT_COUNTERS_H
#define _GRO_OPT_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "feature.h"

/*
 * Every packet that a feature takes ends in exactly one of held, merged_frags,
 * merged_fraglist, passed, left_l4; "packets" and "merged" are sums made when
 * read. left_l4: IP is done, UDP is left to stock.
 * flushed_x say why a matching held packet ended, bad_csum why one was passed.
 */
#define GRO_OPT_COUNTERS(X)	\
	X(held)			\
	X(merged_frags)		\
	X(merged_fraglist)	\
	X(passed)		\
	X(completed)		\
	X(flushed_hdr)		\
	X(flushed_id)		\
	X(flushed_length)	\
	X(flushed_flags)	\
	X(flushed_ack)		\
	X(flushed_options)	\
	X(flushed_size)		\
	X(flushed_seq)		\
	X(flushed_other)	\
	X(flushed_push)		\
	X(flushed_short)	\
	X(bad_csum)		\
	X(fallback)		\
	X(walked)		\
	X(flushed_count)	\
	X(left_l4)

enum gro_opt_counter {
#define X(name) GRO_OPT_C_##name,
	GRO_OPT_COUNTERS(X)
#undef X
	GRO_OPT_NR_COUNTERS
};

/**
 * struct gro_opt_pcpu_stats - one CPU's counters
 * @opt: packets that our code took, by feature
 * @pass4, @pass6: packets that went to stock unseen (passthrough arm), by the
 *	protocol that their IP header names, so that no arm looks at more of them
 */
struct gro_opt_pcpu_stats {
	u64 opt[GRO_OPT_NR_FEATURES][GRO_OPT_NR_COUNTERS];
	u64 pass4[256];
	u64 pass6[256];
};

DECLARE_PER_CPU_ALIGNED(struct gro_opt_pcpu_stats, gro_opt_pcpu_stats);

#define gro_opt_count_at(id, counter)					\
	this_cpu_inc(gro_opt_pcpu_stats.opt[id][GRO_OPT_C_##counter])

#define gro_opt_count(feature, counter)					\
	gro_opt_count_at(GRO_OPT_F_##feature, counter)

#define gro_opt_count_pass4(proto)					\
	this_cpu_inc(gro_opt_pcpu_stats.pass4[proto])
#define gro_opt_count_pass6(proto)					\
	this_cpu_inc(gro_opt_pcpu_stats.pass6[proto])

struct seq_file;

extern const char *const gro_opt_counter_names[];
ssize_t gro_opt_counters_emit(enum gro_opt_feature_id id, char *buf);
void gro_opt_counters_clear(void);
void gro_opt_counters_percpu(struct seq_file *s);

#endif /* _GRO_OPT_COUNTERS_H */
