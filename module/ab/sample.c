// SPDX-License-Identifier: GPL-2.0-only
/*
 * A/B: what is counted, and of which packets. Every packet is counted, by a
 * number that falls to zero; that one is sampled, and the number starts at a
 * random place again, so that no pattern of the traffic meets one of ours. A
 * sampled packet is timed, and its fate noted from outside, by the same rules
 * for both arms: stock's inside is not ours to count in.
 *
 * Interrupts hit some of the timed packets. The rule: a sample that takes more
 * than 8 times the upper end of the median's power of two, over both arms and
 * all of the run so far, is counted as trimmed and not added up. In the round
 * that goes first, and is not shown, nothing is trimmed.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timex.h>

#include "../tcp.h"
#include "path.h"

DEFINE_PER_CPU_ALIGNED(struct gro_opt_ab_cpu, gro_opt_ab_cpu);
DEFINE_STATIC_KEY_FALSE(gro_opt_key_ab);
DEFINE_STATIC_KEY_FALSE(gro_opt_key_hashed);
u32 gro_opt_ab_split __read_mostly;
u64 gro_opt_ab_seed[2] __read_mostly;

/* Kept from the start of a run to that of the next one, for those who read. */
static struct gro_opt_ab_bins __percpu *gro_opt_ab_bins;
static u32 gro_opt_ab_every __read_mostly;
static u64 gro_opt_ab_cut __read_mostly;
static u32 gro_opt_ab_clock_cost __read_mostly;
static bool gro_opt_ab_clock_ns __read_mostly;
u32 gro_opt_ab_slow_ns __read_mostly;

const char *const gro_opt_ab_field_names[] = {
#define X(name) #name,
	GRO_OPT_AB_FIELDS(X)
#undef X
};

/* ---- the clock ---- */

/* Cycles; where the kernel has no counter of them, ns. */
static __always_inline u64 gro_opt_ab_clock(void)
{
	return unlikely(gro_opt_ab_clock_ns) ? ktime_get_ns() : get_cycles();
}

/* How many there are between two looks with nothing in between. */
void gro_opt_ab_calibrate(void)
{
	u64 cost = U32_MAX, start;
	unsigned int i;

	gro_opt_ab_clock_ns = !get_cycles();
	for (i = 0; i < 64; i++) {
		start = gro_opt_ab_clock();
		cost = min(cost, gro_opt_ab_clock() - start);
	}
	gro_opt_ab_clock_cost = cost;
	gro_opt_ab_cut = U64_MAX;
}

static __always_inline u64 gro_opt_ab_spent(u64 start)
{
	u64 spent = gro_opt_ab_clock() - start;

	return spent > gro_opt_ab_clock_cost ? spent - gro_opt_ab_clock_cost :
					       0;
}

/* ---- bins ---- */

int gro_opt_ab_bins_alloc(void)
{
	gro_opt_ab_bins = alloc_percpu(struct gro_opt_ab_bins);
	return gro_opt_ab_bins ? 0 : -ENOMEM;
}

void gro_opt_ab_bins_free(void)
{
	free_percpu(gro_opt_ab_bins);
	gro_opt_ab_bins = NULL;
}

struct gro_opt_ab_bin *gro_opt_ab_bin_of(unsigned int cpu, unsigned int arm,
					 bool dropped)
{
	struct gro_opt_ab_bins *bins = per_cpu_ptr(gro_opt_ab_bins, cpu);

	return dropped ? &bins->dropped[arm] : &bins->arm[arm];
}

/* Whose bin of this CPU's: both arms' stand in turn. */
unsigned int gro_opt_ab_arm_of(const struct gro_opt_ab_bin *bin)
{
	return (bin - this_cpu_ptr(gro_opt_ab_bins)->arm) % GRO_OPT_AB_ARMS;
}

/* The next one to be sampled: one in so many, evenly around that. */
static u32 gro_opt_ab_next(struct gro_opt_ab_bin *bin)
{
	if (!gro_opt_ab_every)
		return S32_MAX;
	bin->rng ^= bin->rng << 13;
	bin->rng ^= bin->rng >> 17;
	bin->rng ^= bin->rng << 5;
	return 1 + (((u64)bin->rng * (2 * gro_opt_ab_every - 1)) >> 32);
}

static void gro_opt_ab_bin_init(struct gro_opt_ab_bin *bin, u32 rng,
				enum gro_opt_ab_way way, unsigned long features)
{
	memset(bin, 0, sizeof(*bin));
	seqcount_init(&bin->seq);
	bin->rng = rng ?: 1;
	bin->way = way;
	bin->features = features;
	bin->left = gro_opt_ab_next(bin);
	bin->taken = bin->left;
	bin->complete_left = gro_opt_ab_next(bin);
}

/* All figures to nothing. No run is on. */
void gro_opt_ab_bins_set(unsigned int sample, const enum gro_opt_ab_way *way,
			 const unsigned long *features, u64 seed)
{
	unsigned int cpu, arm;

	gro_opt_ab_every = sample;
	for_each_possible_cpu(cpu)
		for (arm = 0; arm < GRO_OPT_AB_ARMS; arm++) {
			u32 rng = hash_32(seed ^ (cpu * 4 + arm), 32);

			gro_opt_ab_bin_init(gro_opt_ab_bin_of(cpu, arm, false),
					    rng, way[arm], features[arm]);
			gro_opt_ab_bin_init(gro_opt_ab_bin_of(cpu, arm, true),
					    ~rng, way[arm], features[arm]);
		}
}

/* A packet that is being counted may be missing. */
static void gro_opt_ab_add_bin(const struct gro_opt_ab_bin *bin,
			       struct gro_opt_ab_sum *sum)
{
	u64 packets, f[GRO_OPT_AB_NR_FIELDS];
	unsigned int seq, i;

	do {
		seq = read_seqcount_begin(&bin->seq);
		packets = bin->taken - READ_ONCE(bin->left);
		memcpy(f, bin->f, sizeof(f));
	} while (read_seqcount_retry(&bin->seq, seq));
	sum->packets += packets;
	for (i = 0; i < GRO_OPT_AB_NR_FIELDS; i++)
		sum->f[i] += f[i];
}

/* Sum of an arm's figures, from the start of the run on. */
void gro_opt_ab_read(unsigned int arm, struct gro_opt_ab_sum *sum)
{
	unsigned int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu)
		gro_opt_ab_add_bin(gro_opt_ab_bin_of(cpu, arm, false), sum);
}

/* Writers are alone on their CPU, and nobody waits for them there. */
static void gro_opt_ab_begin(struct gro_opt_ab_bin *bin)
{
	raw_write_seqcount_begin(&bin->seq);
}

static void gro_opt_ab_end(struct gro_opt_ab_bin *bin)
{
	raw_write_seqcount_end(&bin->seq);
}

/* ---- histograms ---- */

static u64 gro_opt_ab_row(unsigned int arm, bool cycles, unsigned int row)
{
	const struct gro_opt_ab_bin *bin;
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu) {
		bin = gro_opt_ab_bin_of(cpu, arm, false);
		sum += READ_ONCE(*(cycles ? &bin->cycles[row] :
					    &bin->segs[row]));
	}
	return sum;
}

/* "from a b", one line a row; gro_opt_mutex held. */
void gro_opt_ab_hist(struct seq_file *s, bool cycles)
{
	unsigned int rows = cycles ? GRO_OPT_AB_CYCLE_ROWS :
				     GRO_OPT_AB_SEGS_ROWS;
	unsigned int row;

	if (!gro_opt_ab_bins)
		return;
	for (row = 0; row < rows; row++)
		seq_printf(s, "%u %llu %llu\n",
			   cycles ? (row ? 1U << row : 0) : row,
			   gro_opt_ab_row(0, cycles, row),
			   gro_opt_ab_row(1, cycles, row));
}

void gro_opt_ab_unit(struct seq_file *s)
{
	seq_puts(s, gro_opt_ab_clock_ns ? "ns\n" : "cycles\n");
}

/* After a round: above what is a sample an interrupt's, more likely than not? */
void gro_opt_ab_trim(void)
{
	u64 rows[GRO_OPT_AB_CYCLE_ROWS], all = 0, below = 0;
	unsigned int row;

	for (row = 0; row < GRO_OPT_AB_CYCLE_ROWS; row++) {
		rows[row] = gro_opt_ab_row(0, true, row) +
			    gro_opt_ab_row(1, true, row);
		all += rows[row];
	}
	if (!all)
		return;
	for (row = 0; row < GRO_OPT_AB_CYCLE_ROWS; row++) {
		below += rows[row];
		if (2 * below >= all)
			break;
	}
	WRITE_ONCE(gro_opt_ab_cut, 8ULL << (row + 1));
}

/* ---- a sampled packet ---- */

static enum gro_opt_ab_field gro_opt_ab_tcp_why(const struct sk_buff *p,
						const struct sk_buff *skb,
						const struct tcphdr *th,
						const struct tcphdr *th2,
						u64 l3, bool lies)
{
	switch (gro_opt_tcp_why(p, skb, th, th2, l3, lies)) {
	case GRO_OPT_C_flushed_length:
		return GRO_OPT_AB_ended_length;
	case GRO_OPT_C_flushed_hdr:
		return GRO_OPT_AB_ended_hdr;
	case GRO_OPT_C_flushed_ack:
		return GRO_OPT_AB_ended_ack;
	case GRO_OPT_C_flushed_flags:
		return GRO_OPT_AB_ended_flags;
	case GRO_OPT_C_flushed_options:
		return GRO_OPT_AB_ended_options;
	case GRO_OPT_C_flushed_size:
		return GRO_OPT_AB_ended_size;
	case GRO_OPT_C_flushed_seq:
		return GRO_OPT_AB_ended_seq;
	case GRO_OPT_C_flushed_id:
		return GRO_OPT_AB_ended_id;
	default:
		return GRO_OPT_AB_ended_other;
	}
}

/* Both packets are TCP, so both handlers have left their headers in place. */
static enum gro_opt_ab_field gro_opt_ab_why4(const struct sk_buff *p,
					     const struct sk_buff *skb,
					     const void *base, unsigned int off)
{
	const struct iphdr *iph = base + off;
	const struct iphdr *iph2 = (void *)p->data + off;

	if (*(const u8 *)iph != 0x45 || iph->protocol != IPPROTO_TCP)
		return GRO_OPT_AB_ended_other;
	return gro_opt_ab_tcp_why(p, skb, (const void *)(iph + 1),
				  (const void *)(iph2 + 1),
				  gro_opt_hdr4_differs(iph, iph2),
				  gro_opt_len4_lies(skb, iph, off));
}

static enum gro_opt_ab_field gro_opt_ab_why6(const struct sk_buff *p,
					     const struct sk_buff *skb,
					     const void *base, unsigned int off)
{
	const struct ipv6hdr *iph = base + off;
	const struct ipv6hdr *iph2 = (void *)p->data + off;

	if (iph->nexthdr != IPPROTO_TCP)
		return GRO_OPT_AB_ended_other;
	return gro_opt_ab_tcp_why(p, skb, (const void *)(iph + 1),
				  (const void *)(iph2 + 1),
				  gro_opt_hdr6_differs(iph, iph2,
						       GRO_OPT_IP6_EQUAL),
				  gro_opt_len6_lies(skb, iph, off));
}

/*
 * Why has @p ended with @skb? The first reason that holds. @len is what the skb
 * was long before its payload went to @p.
 */
enum gro_opt_ab_field gro_opt_ab_why(const struct sk_buff *p,
				     const struct sk_buff *skb,
				     unsigned int len, unsigned int off,
				     bool v4)
{
	const unsigned int thlen = sizeof(struct tcphdr) +
				   (v4 ? sizeof(struct iphdr) :
					 sizeof(struct ipv6hdr));
	void *base;

	if (NAPI_GRO_CB(skb)->same_flow)
		return len - skb_gro_offset(skb) < skb_shinfo(p)->gso_size ?
		       GRO_OPT_AB_ended_short : GRO_OPT_AB_ended_push;
	if (p->encapsulation || !gro_opt_base(skb, off + thlen, &base) ||
	    !gro_opt_at_hand(skb, skb_gro_offset(skb)) ||
	    skb_gro_offset(skb) < off + thlen)
		return GRO_OPT_AB_ended_other;
	return v4 ? gro_opt_ab_why4(p, skb, base, off) :
		    gro_opt_ab_why6(p, skb, base, off);
}

static enum gro_opt_ab_field gro_opt_ab_fate(const struct sk_buff *skb)
{
	if (NAPI_GRO_CB(skb)->same_flow)
		return NAPI_GRO_CB(skb)->free ? GRO_OPT_AB_merged_frags :
						GRO_OPT_AB_merged_fraglist;
	return NAPI_GRO_CB(skb)->flush ? GRO_OPT_AB_passed : GRO_OPT_AB_held;
}

static void gro_opt_ab_note_cycles(struct gro_opt_ab_bin *bin, u64 cycles)
{
	unsigned int row = min_t(unsigned int, ilog2(cycles | 1),
				 GRO_OPT_AB_CYCLE_ROWS - 1);

	bin->cycles[row]++;
	if (cycles > READ_ONCE(gro_opt_ab_cut)) {
		bin->f[GRO_OPT_AB_trimmed]++;
		return;
	}
	bin->f[GRO_OPT_AB_timed]++;
	bin->f[GRO_OPT_AB_receive_cycles] += cycles;
}

/* @pp is what the handler said; upon an error @skb is somebody else's now. */
static void gro_opt_ab_note(struct gro_opt_ab_bin *bin,
			    const struct sk_buff *skb, struct sk_buff *pp,
			    unsigned int len, unsigned int off, bool v4)
{
	if (IS_ERR(pp)) {
		bin->f[GRO_OPT_AB_consumed]++;
		return;
	}
	bin->f[gro_opt_ab_fate(skb)]++;
	if (pp)
		bin->f[gro_opt_ab_why(pp, skb, len, off, v4)]++;
}

/* A difference that is known, for tests. */
static noinline void gro_opt_ab_slow(const struct gro_opt_ab_bin *bin)
{
	const struct gro_opt_ab_bins *bins = this_cpu_ptr(gro_opt_ab_bins);

	if (bin == &bins->arm[1])
		ndelay(gro_opt_ab_slow_ns);
}

static __always_inline struct sk_buff *
gro_opt_ab_sample(struct list_head *head, struct sk_buff *skb,
		  struct gro_opt_ab_bin *bin,
		  struct sk_buff *(*way)(struct list_head *head,
					 struct sk_buff *skb,
					 const struct gro_opt_ab_bin *bin),
		  bool v4)
{
	const unsigned int off = skb_gro_offset(skb);
	const unsigned int len = skb->len;
	struct sk_buff *pp;
	u64 cycles;

	cycles = gro_opt_ab_clock();
	pp = way(head, skb, bin);
	if (unlikely(gro_opt_ab_slow_ns))
		gro_opt_ab_slow(bin);
	cycles = gro_opt_ab_spent(cycles);

	gro_opt_ab_begin(bin);
	bin->left = gro_opt_ab_next(bin);
	bin->taken += bin->left;
	if (gro_opt_ab_every) {
		bin->f[GRO_OPT_AB_samples]++;
		bin->f[GRO_OPT_AB_sampled_bytes] += len;
		gro_opt_ab_note_cycles(bin, cycles);
		gro_opt_ab_note(bin, skb, pp, len, off, v4);
	}
	gro_opt_ab_end(bin);
	return pp;
}

struct sk_buff *gro_opt_ab_sample4(struct list_head *head, struct sk_buff *skb,
				   struct gro_opt_ab_bin *bin)
{
	return gro_opt_ab_sample(head, skb, bin, gro_opt_inet_way, true);
}

struct sk_buff *gro_opt_ab_sample6(struct list_head *head, struct sk_buff *skb,
				   struct gro_opt_ab_bin *bin)
{
	return gro_opt_ab_sample(head, skb, bin, gro_opt_ipv6_way, false);
}

/* ---- aggregates ---- */

/* Held since before the change of arms: it has seen both, or may have. */
static bool gro_opt_ab_is_mixed(const struct sk_buff *skb)
{
	return time_before_eq(NAPI_GRO_CB(skb)->age,
			      this_cpu_read(gro_opt_ab_cpu.flip));
}

static __always_inline void
gro_opt_ab_note_aggregate(struct gro_opt_ab_bin *bin, const struct sk_buff *skb)
{
	const unsigned int segs = NAPI_GRO_CB(skb)->count;

	if (unlikely(gro_opt_ab_is_mixed(skb))) {
		bin->f[GRO_OPT_AB_mixed]++;
		return;
	}
	bin->f[GRO_OPT_AB_aggregates]++;
	bin->f[GRO_OPT_AB_segments] += segs;
	bin->f[GRO_OPT_AB_chained] += !!skb_shinfo(skb)->frag_list;
	bin->segs[min(segs, GRO_OPT_AB_SEGS_ROWS - 1U)]++;
}

/* Out of line: the others then have no need for a stack frame. */
static noinline int gro_opt_ab_complete_timed(struct sk_buff *skb, int nhoff,
					      struct gro_opt_ab_bin *bin,
					      bool v4)
{
	u64 cycles;
	int err;

	cycles = gro_opt_ab_clock();
	err = v4 ? gro_opt_inet_complete_way(skb, nhoff, bin) :
		   gro_opt_ipv6_complete_way(skb, nhoff, bin);
	cycles = gro_opt_ab_spent(cycles);
	bin->complete_left = gro_opt_ab_next(bin);
	if (gro_opt_ab_every && cycles <= READ_ONCE(gro_opt_ab_cut)) {
		bin->f[GRO_OPT_AB_completes]++;
		bin->f[GRO_OPT_AB_complete_cycles] += cycles;
	}
	return err;
}

int gro_opt_ab_complete4(struct sk_buff *skb, int nhoff,
			 struct gro_opt_ab_bin *bin)
{
	gro_opt_ab_note_aggregate(bin, skb);
	if (unlikely(!--bin->complete_left))
		return gro_opt_ab_complete_timed(skb, nhoff, bin, true);
	return gro_opt_inet_complete_way(skb, nhoff, bin);
}

int gro_opt_ab_complete6(struct sk_buff *skb, int nhoff,
			 struct gro_opt_ab_bin *bin)
{
	gro_opt_ab_note_aggregate(bin, skb);
	if (unlikely(!--bin->complete_left))
		return gro_opt_ab_complete_timed(skb, nhoff, bin, false);
	return gro_opt_ipv6_complete_way(skb, nhoff, bin);
}

/* ---- inner headers ---- */

/*
 * The bin of the outermost header, which is in front of all that GRO has read.
 * NULL where a tag is in front of that, which leaves the inner packet to stock.
 */
struct gro_opt_ab_bin *gro_opt_ab_outer(const struct sk_buff *skb)
{
	if (!gro_opt_ab_hashed())
		return gro_opt_ab_bin();
	if (skb->protocol == htons(ETH_P_IP))
		return gro_opt_ab_bin4(skb, 0);
	if (skb->protocol == htons(ETH_P_IPV6))
		return gro_opt_ab_bin6(skb, 0);
	return NULL;
}

/* The same in complete. */
struct gro_opt_ab_bin *gro_opt_ab_outer_done(const struct sk_buff *skb)
{
	if (!gro_opt_ab_hashed())
		return gro_opt_ab_bin();
	if (skb->protocol == htons(ETH_P_IP))
		return gro_opt_ab_done4(skb, 0);
	if (skb->protocol == htons(ETH_P_IPV6))
		return gro_opt_ab_done6(skb, 0);
	return NULL;
}
