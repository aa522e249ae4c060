/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A/B on live traffic: two arms, the figures of each, rounds. See engine.c for
 * how a run goes, sample.c for what is counted, path.h for the data path.
 */
#ifndef _GRO_OPT_AB_H
#define _GRO_OPT_AB_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <linux/types.h>

#define GRO_OPT_AB_ARMS		2
#define GRO_OPT_AB_ROUNDS_MAX	10000
#define GRO_OPT_AB_SAMPLE_MAX	1048576

enum gro_opt_ab_mode {
	GRO_OPT_AB_OFF,
	GRO_OPT_AB_FLOW,
	GRO_OPT_AB_TIME,
	GRO_OPT_AB_CPU,
};

/**
 * enum gro_opt_ab_way - what happens to a packet of an arm
 * @GRO_OPT_AB_NATIVE: our entries are not in the tables
 * @GRO_OPT_AB_PASS: to stock, unseen
 * @GRO_OPT_AB_OPT: as with state on
 * @GRO_OPT_AB_SOME: the same, but the other arm has other features
 */
enum gro_opt_ab_way {
	GRO_OPT_AB_NATIVE,
	GRO_OPT_AB_PASS,
	GRO_OPT_AB_OPT,
	GRO_OPT_AB_SOME,
};

/*
 * What is counted for an arm, besides time and packets; the order is that of the
 * columns in "result" and "ab_samples". Append only.
 *
 * Of sampled packets: samples to consumed, ended_x. Of all: the others.
 */
#define GRO_OPT_AB_FIELDS(X)	\
	X(samples)		\
	X(sampled_bytes)	\
	X(timed)		\
	X(receive_cycles)	\
	X(trimmed)		\
	X(merged_frags)		\
	X(merged_fraglist)	\
	X(held)			\
	X(passed)		\
	X(consumed)		\
	X(ended_hdr)		\
	X(ended_id)		\
	X(ended_length)		\
	X(ended_flags)		\
	X(ended_ack)		\
	X(ended_options)	\
	X(ended_size)		\
	X(ended_seq)		\
	X(ended_push)		\
	X(ended_short)		\
	X(ended_other)		\
	X(aggregates)		\
	X(segments)		\
	X(chained)		\
	X(mixed)		\
	X(completes)		\
	X(complete_cycles)	\
	X(polls)		\
	X(poll_packets)		\
	X(timed_polls)		\
	X(timed_packets)	\
	X(poll_ns)

enum gro_opt_ab_field {
#define X(name) GRO_OPT_AB_##name,
	GRO_OPT_AB_FIELDS(X)
#undef X
	GRO_OPT_AB_NR_FIELDS
};

#define GRO_OPT_AB_CYCLE_ROWS	32
#define GRO_OPT_AB_SEGS_ROWS	65

/**
 * struct gro_opt_ab_bin - one CPU's figures of one arm
 * @left: packets until the next one that is sampled
 * @way: enum gro_opt_ab_way
 * @complete_left: aggregates until the next one whose completion is timed
 * @features: bit mask of what acts in this arm
 * @rng: state of the random numbers behind @left
 * @seq: odd while what follows is written
 * @taken: packets, if @left were 0
 * @f: the other figures
 * @cycles: sampled packets by the logarithm of their cycles
 * @segs: aggregates by the number of their segments, the last row for more
 */
struct gro_opt_ab_bin {
	u32 left;
	u32 way;
	u32 complete_left;
	u32 features;
	u32 rng;
	seqcount_t seq;
	u64 taken;
	u64 f[GRO_OPT_AB_NR_FIELDS];
	u32 cycles[GRO_OPT_AB_CYCLE_ROWS];
	u32 segs[GRO_OPT_AB_SEGS_ROWS];
};

/* What is dropped at the beginning of a slice has bins as well. */
struct gro_opt_ab_bins {
	struct gro_opt_ab_bin arm[GRO_OPT_AB_ARMS];
	struct gro_opt_ab_bin dropped[GRO_OPT_AB_ARMS];
};

/**
 * struct gro_opt_ab_cpu - what a CPU does with its packets
 * @at: where packets of an arm are counted; by time and CPU all in the first
 * @invert: all ones in every other slice: flows change arms
 * @epoch: slice that this CPU has got to
 * @polls: to drop, yet
 * @parity: of this CPU among those online
 * @flip: jiffies at the change of arms: what was held before has seen both
 * @since: ns when the poll at work began; 0 unless known
 *
 * Only changed by the CPU itself, between two polls, or while no run is on.
 */
struct gro_opt_ab_cpu {
	struct gro_opt_ab_bin *at[GRO_OPT_AB_ARMS];
	u32 invert;
	u32 epoch;
	u32 polls;
	u32 parity;
	unsigned long flip;
	u64 since;
};

/* Time, packets, and the fields; of a round, or of all. */
struct gro_opt_ab_sum {
	u64 ns;
	u64 packets;
	u64 f[GRO_OPT_AB_NR_FIELDS];
};

/**
 * struct gro_opt_ab_arm - what an arm is
 * @native: our entries out of the tables
 * @opt: ours act, with @features
 * @features: bit mask, 0 with @opt for those enabled when a run starts
 */
struct gro_opt_ab_arm {
	bool native;
	bool opt;
	unsigned long features;
};

/* What a user sets; written under gro_opt_mutex while no run is on. */
struct gro_opt_ab_settings {
	enum gro_opt_ab_mode mode;
	struct gro_opt_ab_arm arm[GRO_OPT_AB_ARMS];
	unsigned int split_permille;
	unsigned int seed;
	unsigned int slice_ms;
	unsigned int settle_ms;
	unsigned int rounds;
	unsigned int sample;
};

DECLARE_STATIC_KEY_FALSE(gro_opt_key_ab);
/* By flow. Changed while no run is on, and nobody has bins in hand. */
DECLARE_STATIC_KEY_FALSE(gro_opt_key_hashed);
DECLARE_PER_CPU_ALIGNED(struct gro_opt_ab_cpu, gro_opt_ab_cpu);
extern struct gro_opt_ab_settings gro_opt_ab_settings;
extern const char *const gro_opt_ab_field_names[];
/* Read-mostly, for the data path; constant while a run is on. */
extern u32 gro_opt_ab_split;
extern u64 gro_opt_ab_seed[2];
/* debugfs inject/slow_ns: what arm b takes longer. */
extern u32 gro_opt_ab_slow_ns;

struct seq_file;
struct sk_buff;
struct list_head;

/* engine.c */
bool gro_opt_ab_running(void);
bool gro_opt_ab_busy(const char *what);
unsigned long gro_opt_ab_features(void);
int gro_opt_ab_start(void);
void gro_opt_ab_stop(const char *why);
ssize_t gro_opt_ab_run_show(char *buf);
const struct gro_opt_ab_sum *gro_opt_ab_rounds(unsigned int *done);
void gro_opt_ab_exit(void);

/* sample.c */
int gro_opt_ab_bins_alloc(void);
void gro_opt_ab_bins_free(void);
void gro_opt_ab_bins_set(unsigned int sample,
			 const enum gro_opt_ab_way *way,
			 const unsigned long *features, u64 seed);
struct gro_opt_ab_bin *gro_opt_ab_bin_of(unsigned int cpu, unsigned int arm,
					 bool dropped);
void gro_opt_ab_read(unsigned int arm, struct gro_opt_ab_sum *sum);
void gro_opt_ab_calibrate(void);
void gro_opt_ab_trim(void);
void gro_opt_ab_hist(struct seq_file *s, bool cycles);
void gro_opt_ab_unit(struct seq_file *s);
struct sk_buff *gro_opt_ab_sample4(struct list_head *head, struct sk_buff *skb,
				   struct gro_opt_ab_bin *bin);
struct sk_buff *gro_opt_ab_sample6(struct list_head *head, struct sk_buff *skb,
				   struct gro_opt_ab_bin *bin);
int gro_opt_ab_complete4(struct sk_buff *skb, int nhoff,
			 struct gro_opt_ab_bin *bin);
int gro_opt_ab_complete6(struct sk_buff *skb, int nhoff,
			 struct gro_opt_ab_bin *bin);
unsigned int gro_opt_ab_arm_of(const struct gro_opt_ab_bin *bin);
enum gro_opt_ab_field gro_opt_ab_why(const struct sk_buff *p,
				     const struct sk_buff *skb,
				     unsigned int len, unsigned int off,
				     bool v4);
struct gro_opt_ab_bin *gro_opt_ab_outer(const struct sk_buff *skb);
struct gro_opt_ab_bin *gro_opt_ab_outer_done(const struct sk_buff *skb);

/* files.c */
struct kobject;
struct dentry;
int gro_opt_ab_files_add(struct kobject *parent);
void gro_opt_ab_files_remove(void);
void gro_opt_ab_debugfs(struct dentry *parent);

/* fast.c: what a sampled packet runs through, out of line in both arms. */
struct sk_buff *gro_opt_inet_way(struct list_head *head, struct sk_buff *skb,
				 const struct gro_opt_ab_bin *bin);
struct sk_buff *gro_opt_ipv6_way(struct list_head *head, struct sk_buff *skb,
				 const struct gro_opt_ab_bin *bin);
int gro_opt_inet_complete_way(struct sk_buff *skb, int nhoff,
			      const struct gro_opt_ab_bin *bin);
int gro_opt_ipv6_complete_way(struct sk_buff *skb, int nhoff,
			      const struct gro_opt_ab_bin *bin);

#endif /* _GRO_OPT_AB_H */
