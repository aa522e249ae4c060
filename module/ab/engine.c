// SPDX-License-Identifier: GPL-2.0-only
/*
 * A/B: how a run goes.
 *
 * A round is a pair of slices. By time, each arm has one of them, in random
 * order; by CPU and by flow both arms run all the time, and in the second slice
 * they are exchanged. A change of arms is a new plan with a new number, which
 * each CPU takes up between two polls (the napi_poll tracepoint), so nothing
 * changes while packets are in hand; of what it then does two polls are
 * dropped. A slice is settled, then counted: what is counted is the difference
 * between two sums. One round goes first and is not shown.
 *
 * All of it is a work item that goes from step to step under gro_opt_mutex. A
 * run holds the state off "off", and with it the module, and nothing else: no
 * device, no namespace. The work item may yet be in here when it has put the
 * state back to off; unloading waits for it.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/irq.h>
#include <trace/events/napi.h>

#include "../gro_opt.h"
#include "../trace.h"

/* A slice is so many times as long as it takes to get there, or longer. */
#define GRO_OPT_AB_FLIPS	20

enum gro_opt_ab_step {
	GRO_OPT_AB_FLIP,
	GRO_OPT_AB_COUNT,
	GRO_OPT_AB_TAKE,
};

struct gro_opt_ab_settings gro_opt_ab_settings = {
	.arm = { { .opt = false }, { .opt = true } },
	.split_permille = 500,
	.seed = 1,
	.slice_ms = 200,
	.settle_ms = 20,
	.rounds = 30,
	.sample = 64,
};

/**
 * struct gro_opt_ab_plan - who does what from now on
 * @epoch: grows with each change
 * @mode: as the user set it
 * @first: arm whose slice it is (time), or of even CPUs (cpu)
 * @invert: see struct gro_opt_ab_cpu
 *
 * Read by each CPU between polls. One that is late, and reads the next plan with
 * the number of this one, takes that up with its next poll.
 */
struct gro_opt_ab_plan {
	u32 epoch;
	enum gro_opt_ab_mode mode;
	u32 first;
	u32 invert;
};

/**
 * struct gro_opt_ab_run - a run, while there is one and after it; gro_opt_mutex
 * @running: there is one
 * @ended: why the last one ended early; NULL: it did not
 * @state: to go back to
 * @way: what becomes of packets, by arm
 * @features: what acts, by arm
 * @rounds: as set when it began
 * @done: rounds that are over
 * @slice: 0 or 1
 * @warm: the round that is not shown is over
 * @step: what is next
 * @settle: jiffies, before a slice counts
 * @length: jiffies, of the slice
 * @since: ns when the slice began to count
 * @flip_ns: what a change of arms took, at most
 * @rng: order of arms
 * @before: sums when the slice began to count
 * @round: the round at hand, by arm
 * @sums: all rounds, two for each
 * @softirq: the tracepoint softirq_entry, which is not exported
 */
struct gro_opt_ab_run {
	bool running;
	const char *ended;
	enum gro_opt_state state;
	enum gro_opt_ab_way way[GRO_OPT_AB_ARMS];
	unsigned long features[GRO_OPT_AB_ARMS];
	unsigned int rounds;
	unsigned int done;
	unsigned int slice;
	bool warm;
	enum gro_opt_ab_step step;
	unsigned long settle;
	unsigned long length;
	u64 since;
	u64 flip_ns;
	struct rnd_state rng;
	struct gro_opt_ab_sum before[GRO_OPT_AB_ARMS];
	struct gro_opt_ab_sum round[GRO_OPT_AB_ARMS];
	struct gro_opt_ab_sum *sums;
	struct tracepoint *softirq;
};

static struct gro_opt_ab_plan gro_opt_ab_plan;
static struct gro_opt_ab_run gro_opt_ab_run;

static void gro_opt_ab_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(gro_opt_ab_work, gro_opt_ab_work_fn);

bool gro_opt_ab_running(void)
{
	return gro_opt_ab_run.running;
}

/* May @what not be written to now? Says so. */
bool gro_opt_ab_busy(const char *what)
{
	if (!gro_opt_ab_run.running)
		return false;
	pr_err("%s: an A/B run is on; wait for its end, or write stop to ab/run\n",
	       what);
	return true;
}

/* What acts while a run is on, in either arm. */
unsigned long gro_opt_ab_features(void)
{
	return gro_opt_ab_run.features[0] | gro_opt_ab_run.features[1];
}

/* ---- what each CPU does between two polls ---- */

static void gro_opt_ab_count_into(struct gro_opt_ab_cpu *c, unsigned int cpu,
				  bool dropped)
{
	const struct gro_opt_ab_plan *plan = &gro_opt_ab_plan;
	unsigned int arm = READ_ONCE(plan->first);

	if (plan->mode == GRO_OPT_AB_FLOW) {
		c->at[0] = gro_opt_ab_bin_of(cpu, 0, dropped);
		c->at[1] = gro_opt_ab_bin_of(cpu, 1, dropped);
		return;
	}
	if (plan->mode == GRO_OPT_AB_CPU)
		arm ^= c->parity;
	c->at[0] = gro_opt_ab_bin_of(cpu, arm, dropped);
}

static void gro_opt_ab_follow(struct gro_opt_ab_cpu *c, unsigned int cpu,
			      u32 epoch)
{
	c->epoch = epoch;
	c->invert = READ_ONCE(gro_opt_ab_plan.invert);
	c->flip = jiffies;
	c->polls = 2;
	gro_opt_ab_count_into(c, cpu, true);
}

static void gro_opt_ab_count_poll(struct gro_opt_ab_cpu *c, int work, u64 now)
{
	struct gro_opt_ab_bin *bin = c->at[0];

	/* By flow a poll has packets of both arms. */
	if (static_branch_unlikely(&gro_opt_key_hashed))
		return;
	raw_write_seqcount_begin(&bin->seq);
	bin->f[GRO_OPT_AB_polls]++;
	bin->f[GRO_OPT_AB_poll_packets] += work;
	if (c->since) {
		bin->f[GRO_OPT_AB_timed_polls]++;
		bin->f[GRO_OPT_AB_timed_packets] += work;
		bin->f[GRO_OPT_AB_poll_ns] += now - c->since;
	}
	raw_write_seqcount_end(&bin->seq);
}

/*
 * The end of a poll. Where it began is known in softirq alone: at the beginning
 * of that, or at the end of the poll before. Threads may have slept in between.
 */
static void gro_opt_ab_poll(void *data, struct napi_struct *napi, int work,
			    int budget)
{
	struct gro_opt_ab_cpu *c = this_cpu_ptr(&gro_opt_ab_cpu);
	/* Pairs with the release in gro_opt_ab_choose(): then the rest is new. */
	const u32 epoch = smp_load_acquire(&gro_opt_ab_plan.epoch);
	const u64 now = ktime_get_ns();

	if (unlikely(c->epoch != epoch)) {
		gro_opt_ab_follow(c, smp_processor_id(), epoch);
	} else {
		gro_opt_ab_count_poll(c, work, now);
		if (unlikely(c->polls) && !--c->polls)
			gro_opt_ab_count_into(c, smp_processor_id(), false);
	}
	c->since = in_serving_softirq() ? now : 0;
}

static void gro_opt_ab_softirq(void *data, unsigned int nr)
{
	this_cpu_write(gro_opt_ab_cpu.since,
		       nr == NET_RX_SOFTIRQ ? ktime_get_ns() : 0);
}

/* No run is on: nobody else writes there. */
static void gro_opt_ab_cpus_init(void)
{
	unsigned int cpu, online = 0;
	struct gro_opt_ab_cpu *c;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(&gro_opt_ab_cpu, cpu);
		memset(c, 0, sizeof(*c));
		c->parity = (cpu_online(cpu) ? online++ : cpu) & 1;
		gro_opt_ab_follow(c, cpu, gro_opt_ab_plan.epoch);
	}
}

/* ---- tracepoints of the kernel's ---- */

static void gro_opt_ab_is_softirq(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "softirq_entry"))
		*(struct tracepoint **)found = tp;
}

/* Without softirq_entry there is no time per poll, without napi_poll no run. */
static int gro_opt_ab_probes_add(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	int err;

	err = register_trace_napi_poll(gro_opt_ab_poll, NULL);
	if (err) {
		pr_err("ab: no tracepoint napi_poll, error %d\n", err);
		return err == -ENOMEM ? err : -EOPNOTSUPP;
	}
	run->softirq = NULL;
	for_each_kernel_tracepoint(gro_opt_ab_is_softirq, &run->softirq);
	if (run->softirq &&
	    tracepoint_probe_register(run->softirq, gro_opt_ab_softirq, NULL))
		run->softirq = NULL;
	return 0;
}

static void gro_opt_ab_probes_remove(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;

	if (run->softirq)
		tracepoint_probe_unregister(run->softirq, gro_opt_ab_softirq,
					    NULL);
	unregister_trace_napi_poll(gro_opt_ab_poll, NULL);
	tracepoint_synchronize_unregister();
}

/* ---- the steps ---- */

static void gro_opt_ab_sum_add(struct gro_opt_ab_sum *sum,
			       const struct gro_opt_ab_sum *after,
			       const struct gro_opt_ab_sum *before)
{
	unsigned int i;

	sum->packets += after->packets - before->packets;
	for (i = 0; i < GRO_OPT_AB_NR_FIELDS; i++)
		sum->f[i] += after->f[i] - before->f[i];
}

/* Who is first is a matter of chance; the second slice is what is left. */
static void gro_opt_ab_choose(void)
{
	struct gro_opt_ab_plan *plan = &gro_opt_ab_plan;
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	u32 first = plan->first ^ 1;

	if (!run->slice)
		first = prandom_u32_state(&run->rng) & 1;
	WRITE_ONCE(plan->first, first);
	WRITE_ONCE(plan->invert, first ? ~0U : 0);
	/* Last, for a CPU that sees it to see the rest as well. */
	smp_store_release(&plan->epoch, plan->epoch + 1);
}

/* A slice may be no shorter than what it costs to get there demands. */
static void gro_opt_ab_lengthen(u64 flip_ns)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	unsigned long least;

	run->flip_ns = max(run->flip_ns, flip_ns);
	least = nsecs_to_jiffies(GRO_OPT_AB_FLIPS * run->flip_ns);
	if (least <= run->length)
		return;
	run->length = least;
	pr_info("ab: a change of arms takes %llu us, so slices get %u ms\n",
		run->flip_ns / 1000, jiffies_to_msecs(least));
}

static int gro_opt_ab_flip(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	u64 start = ktime_get_ns();
	int err;

	gro_opt_ab_choose();
	err = gro_opt_shim_native(run->way[gro_opt_ab_plan.first] ==
				  GRO_OPT_AB_NATIVE);
	if (err)
		return err;
	gro_opt_ab_lengthen(ktime_get_ns() - start);
	/* The round that goes first has no number. */
	trace_gro_opt_ab_switch(run->warm ? run->done + 1 : 0, run->slice,
				gro_opt_ab_plan.first);
	run->step = GRO_OPT_AB_COUNT;
	return 0;
}

static void gro_opt_ab_count(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	unsigned int arm;

	for (arm = 0; arm < GRO_OPT_AB_ARMS; arm++)
		gro_opt_ab_read(arm, &run->before[arm]);
	run->since = ktime_get_ns();
	run->step = GRO_OPT_AB_TAKE;
}

static void gro_opt_ab_round_over(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;

	if (run->warm) {
		memcpy(run->sums + GRO_OPT_AB_ARMS * run->done, run->round,
		       sizeof(run->round));
		WRITE_ONCE(run->done, run->done + 1);
	}
	run->warm = true;
	memset(run->round, 0, sizeof(run->round));
	gro_opt_ab_trim();
}

static void gro_opt_ab_take(void)
{
	const u64 ns = ktime_get_ns() - gro_opt_ab_run.since;
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	struct gro_opt_ab_sum after;
	unsigned int arm;

	for (arm = 0; arm < GRO_OPT_AB_ARMS; arm++) {
		/* A CPU that sleeps still has the other arm: not its slice. */
		if (gro_opt_ab_plan.mode == GRO_OPT_AB_TIME &&
		    arm != gro_opt_ab_plan.first)
			continue;
		gro_opt_ab_read(arm, &after);
		gro_opt_ab_sum_add(&run->round[arm], &after,
				   &run->before[arm]);
		run->round[arm].ns += ns;
	}
	run->slice ^= 1;
	if (!run->slice)
		gro_opt_ab_round_over();
	run->step = GRO_OPT_AB_FLIP;
}

/* Jiffies until the next step, 0 for at once, or an error. */
static long gro_opt_ab_next_step(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	int err;

	switch (run->step) {
	case GRO_OPT_AB_FLIP:
		err = gro_opt_ab_flip();
		return err ?: run->settle;
	case GRO_OPT_AB_COUNT:
		gro_opt_ab_count();
		return run->length;
	default:
		gro_opt_ab_take();
		return 0;
	}
}

static void gro_opt_ab_work_fn(struct work_struct *work)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	long wait = 0;

	mutex_lock(&gro_opt_mutex);
	while (run->running && !wait) {
		if (run->done == run->rounds)
			gro_opt_ab_stop(NULL);
		else
			wait = gro_opt_ab_next_step();
	}
	if (wait < 0)
		gro_opt_ab_stop("somebody else in the offload table");
	else if (run->running)
		queue_delayed_work(system_unbound_wq, &gro_opt_ab_work, wait);
	mutex_unlock(&gro_opt_mutex);
}

/* ---- beginning and end ---- */

/* What GRO may hold for so long is not to be seen in the next slice. */
static unsigned long gro_opt_ab_flush_timeout(void)
{
	unsigned long longest = 0;
	struct net_device *dev;
	struct net *net;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, dev)
			longest = max(longest,
				      READ_ONCE(dev->gro_flush_timeout));
	up_read(&net_rwsem);
	rtnl_unlock();
	return longest;
}

static unsigned long gro_opt_ab_enabled(void)
{
	unsigned long ids = 0;
	int id;

	for (id = 0; id < GRO_OPT_NR_FEATURES; id++)
		if (gro_opt_features[id].enabled &&
		    !gro_opt_features[id].reason)
			ids |= BIT(id);
	return ids;
}

static int gro_opt_ab_set_arms(void)
{
	const struct gro_opt_ab_settings *set = &gro_opt_ab_settings;
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	unsigned int i;

	for (i = 0; i < GRO_OPT_AB_ARMS; i++) {
		const struct gro_opt_ab_arm *arm = &set->arm[i];

		if (arm->native && set->mode != GRO_OPT_AB_TIME) {
			pr_err("ab: an arm native can be had with mode time alone\n");
			return -EINVAL;
		}
		run->features[i] = 0;
		if (arm->opt)
			run->features[i] = arm->features ?:
					   gro_opt_ab_enabled();
		if (run->features[i] & gro_opt_features_without()) {
			pr_err("ab: arm %c has a feature that cannot be had here\n",
			       'a' + i);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/* All that acts, acts: no need to look at each packet which of it that is. */
static void gro_opt_ab_set_ways(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	unsigned int i;

	for (i = 0; i < GRO_OPT_AB_ARMS; i++) {
		if (gro_opt_ab_settings.arm[i].native)
			run->way[i] = GRO_OPT_AB_NATIVE;
		else if (!run->features[i])
			run->way[i] = GRO_OPT_AB_PASS;
		else if (run->features[i] == gro_opt_ab_features())
			run->way[i] = GRO_OPT_AB_OPT;
		else
			run->way[i] = GRO_OPT_AB_SOME;
	}
}

static int gro_opt_ab_alloc(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	int err;

	kvfree(run->sums);
	gro_opt_ab_bins_free();
	run->done = 0;
	run->sums = kvcalloc(GRO_OPT_AB_ARMS * gro_opt_ab_settings.rounds,
			     sizeof(*run->sums), GFP_KERNEL);
	if (!run->sums)
		return -ENOMEM;
	err = gro_opt_ab_bins_alloc();
	if (err)
		goto err_sums_free;
	return 0;

err_sums_free:
	kvfree(run->sums);
	run->sums = NULL;
	return err;
}

/* Odd, so that nothing of what is multiplied gets lost. */
static u64 gro_opt_ab_factor(struct rnd_state *rng)
{
	u64 high = prandom_u32_state(rng);

	return high << 32 | prandom_u32_state(rng) | 1;
}

static void gro_opt_ab_prepare(void)
{
	const struct gro_opt_ab_settings *set = &gro_opt_ab_settings;
	struct gro_opt_ab_run *run = &gro_opt_ab_run;

	gro_opt_ab_set_ways();
	run->rounds = set->rounds;
	run->ended = NULL;
	run->slice = 0;
	run->warm = false;
	run->step = GRO_OPT_AB_FLIP;
	run->flip_ns = 0;
	run->length = msecs_to_jiffies(set->slice_ms);
	run->settle = max(msecs_to_jiffies(set->settle_ms),
			  nsecs_to_jiffies(gro_opt_ab_flush_timeout())) + 1;
	memset(run->round, 0, sizeof(run->round));
	prandom_seed_state(&run->rng, set->seed);

	gro_opt_ab_seed[0] = gro_opt_ab_factor(&run->rng);
	gro_opt_ab_seed[1] = gro_opt_ab_factor(&run->rng);
	gro_opt_ab_split = div_u64((u64)set->split_permille * U32_MAX, 1000);
	gro_opt_ab_plan.mode = set->mode;
	gro_opt_ab_plan.first = 0;
	gro_opt_ab_plan.invert = 0;
	gro_opt_ab_calibrate();
	gro_opt_ab_bins_set(set->sample, run->way, run->features, set->seed);
	gro_opt_ab_cpus_init();
}

/* From here on packets go by arms. */
static int gro_opt_ab_enter(void)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	int err;

	run->state = gro_opt_state;
	if (gro_opt_state == GRO_OPT_OFF) {
		err = gro_opt_state_set(GRO_OPT_PASSTHROUGH);
		if (err)
			return err;
	}
	err = gro_opt_ab_probes_add();
	if (err)
		goto err_state_set;
	run->running = true;
	err = gro_opt_features_prepare(gro_opt_state);
	if (err)
		goto err_probes_remove;
	if (gro_opt_ab_plan.mode == GRO_OPT_AB_FLOW)
		static_branch_enable(&gro_opt_key_hashed);
	else
		static_branch_disable(&gro_opt_key_hashed);
	static_branch_enable(&gro_opt_key_ab);
	static_branch_inc(&gro_opt_key_detour);
	return gro_opt_features_apply();

err_probes_remove:
	run->running = false;
	gro_opt_ab_probes_remove();
err_state_set:
	gro_opt_state_set(run->state);
	return err;
}

/**
 * gro_opt_ab_start - begin a run with the settings as they are
 *
 * Context: may sleep, gro_opt_mutex held.
 *
 * Return: 0; -EBUSY if there is one or the state is faulted, -EINVAL for
 * settings that do not go together, -EOPNOTSUPP, -ENOMEM.
 */
int gro_opt_ab_start(void)
{
	int err;

	lockdep_assert_held(&gro_opt_mutex);
	if (gro_opt_ab_busy("ab/run"))
		return -EBUSY;
	if (gro_opt_state == GRO_OPT_FAULTED) {
		pr_err("ab/run: the state is faulted (%s); write off to it first\n",
		       gro_opt_fault_reason());
		return -EBUSY;
	}
	if (gro_opt_ab_settings.mode == GRO_OPT_AB_OFF) {
		pr_err("ab/run: mode is off; write flow, time or cpu to ab/mode\n");
		return -EINVAL;
	}
	err = gro_opt_ab_set_arms() ?: gro_opt_ab_alloc();
	if (err)
		return err;
	gro_opt_ab_prepare();
	err = gro_opt_ab_enter();
	if (err)
		return err;
	pr_info("ab: run of %u rounds\n", gro_opt_ab_run.rounds);
	queue_delayed_work(system_unbound_wq, &gro_opt_ab_work, 0);
	return 0;
}

/**
 * gro_opt_ab_stop - end the run, if there is one, and put the state back
 * @why: shown in ab/run; NULL if it has had all its rounds
 *
 * After a fault the state stays at that.
 *
 * Context: may sleep, gro_opt_mutex held.
 */
void gro_opt_ab_stop(const char *why)
{
	struct gro_opt_ab_run *run = &gro_opt_ab_run;
	int err;

	lockdep_assert_held(&gro_opt_mutex);
	if (!run->running)
		return;
	err = gro_opt_shim_native(false);
	run->running = false;
	run->ended = why;
	if (!err)
		err = gro_opt_features_prepare(gro_opt_state);
	/* Arms last: while features act that the state does not allow. */
	gro_opt_features_apply();
	static_branch_dec(&gro_opt_key_detour);
	static_branch_disable(&gro_opt_key_ab);
	gro_opt_ab_probes_remove();
	/* Nobody has bins in hand any more when the next run frees them. */
	synchronize_net();
	pr_info("ab: %u of %u rounds%s%s\n", run->done, run->rounds,
		why ? ", ended: " : "", why ?: "");
	if (err)
		pr_err("ab: our entries cannot go back, error %d\n", err);
	if (gro_opt_state != GRO_OPT_FAULTED &&
	    (err || run->state == GRO_OPT_OFF))
		gro_opt_state_set(GRO_OPT_OFF);
}

/* "idle", "running 3/30", "done", "aborted: why"; gro_opt_mutex held. */
ssize_t gro_opt_ab_run_show(char *buf)
{
	const struct gro_opt_ab_run *run = &gro_opt_ab_run;

	if (run->running)
		return sysfs_emit(buf, "running %u/%u\n", run->done,
				  run->rounds);
	if (run->ended)
		return sysfs_emit(buf, "aborted: %s\n", run->ended);
	return sysfs_emit(buf, run->done ? "done\n" : "idle\n");
}

/* Two sums for each round that is over; gro_opt_mutex held. */
const struct gro_opt_ab_sum *gro_opt_ab_rounds(unsigned int *done)
{
	*done = gro_opt_ab_run.done;
	return gro_opt_ab_run.sums;
}

/* Module exit: the last step of a run may not have returned yet. */
void gro_opt_ab_exit(void)
{
	cancel_delayed_work_sync(&gro_opt_ab_work);
	kvfree(gro_opt_ab_run.sums);
	gro_opt_ab_bins_free();
}
