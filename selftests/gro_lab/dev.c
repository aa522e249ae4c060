// SPDX-License-Identifier: GPL-2.0-only
/* lab<n>: Ethernet devices whose NAPI polls when a job is there for it. */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "lab.h"

#define LAB_CACHE_SIZE	128		/* NAPI_SKB_CACHE_SIZE, or more */

static unsigned int lab_devices = 1;
module_param_named(devices, lab_devices, uint, 0444);
MODULE_PARM_DESC(devices, "how many lab<n> to make, 1 to 4 (default 1)");

unsigned int lab_nr_devs;
struct lab_dev *lab_devs[LAB_MAX_DEVS];

/* The job that is being polled: what leaves GRO is its. */
static struct lab_job *lab_job;
static struct sk_buff_head lab_sink;
static struct sk_buff_head lab_cached;
static u64 lab_handler_cycles;

struct lab_job *lab_current_job(void)
{
	return READ_ONCE(lab_job);
}

/* --- what leaves GRO ------------------------------------------------------ */

rx_handler_result_t lab_rx(struct sk_buff **pskb)
{
	u64 start = get_cycles();

	/* Freed when the job is over, where it does not count. */
	if (lab_current_job())
		skb_queue_tail(&lab_sink, *pskb);
	else
		consume_skb(*pskb);
	lab_handler_cycles += get_cycles() - start;
	return RX_HANDLER_CONSUMED;
}

/*
 * There for batches that are dropped, not for those that are delivered: then it
 * is free for a bridge or macvlan on top. Caller holds RTNL.
 */
static int lab_sink_set(bool sink)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < lab_nr_devs && !err; i++) {
		struct lab_dev *lab = lab_devs[i];

		if (lab->sink == sink)
			continue;
		if (sink)
			err = netdev_rx_handler_register(lab->netdev, lab_rx,
							 NULL);
		else
			netdev_rx_handler_unregister(lab->netdev);
		lab->sink = sink && !err;
	}
	return err;
}

/* --- what goes in --------------------------------------------------------- */

static gro_result_t lab_receive(struct lab_dev *lab, struct lab_job *job,
				struct sk_buff *skb)
{
	unsigned long flags;
	gro_result_t ret;
	u64 start;

	if (!job->timed)
		return napi_gro_receive(&lab->napi, skb);
	local_irq_save(flags);
	lab_handler_cycles = 0;
	start = get_cycles();
	ret = napi_gro_receive(&lab->napi, skb);
	job->cycles += get_cycles() - start - lab_handler_cycles;
	local_irq_restore(flags);
	return ret;
}

static gro_result_t lab_receive_frags(struct lab_dev *lab, struct lab_job *job)
{
	unsigned long flags;
	gro_result_t ret;
	u64 start;

	if (!job->timed)
		return napi_gro_frags(&lab->napi);
	local_irq_save(flags);
	lab_handler_cycles = 0;
	start = get_cycles();
	ret = napi_gro_frags(&lab->napi);
	job->cycles += get_cycles() - start - lab_handler_cycles;
	local_irq_restore(flags);
	return ret;
}

static void lab_flush(struct lab_dev *lab, struct lab_job *job)
{
	unsigned long flags;
	u64 start;

	if (!job->timed) {
		napi_gro_flush(&lab->napi, false);
		return;
	}
	local_irq_save(flags);
	lab_handler_cycles = 0;
	start = get_cycles();
	napi_gro_flush(&lab->napi, false);
	job->cycles += get_cycles() - start - lab_handler_cycles;
	local_irq_restore(flags);
}

/* Cycles that a timed section above counts though nothing happens in it. */
u64 lab_clock_cost(void)
{
	u64 cost = ~0ULL, start, cycles;
	unsigned int i;
	unsigned long flags;

	for (i = 0; i < 64; i++) {
		local_irq_save(flags);
		start = get_cycles();
		cycles = get_cycles() - start;
		local_irq_restore(flags);
		cost = min(cost, cycles);
	}
	return cost;
}

/*
 * Takes skbs out of the per-CPU cache that GRO frees merged ones into. It
 * empties half of itself when it is full: a thousand instructions and more that
 * would hit one packet or another. A driver takes as many as GRO gives back.
 */
static void lab_drain_cache(struct lab_dev *lab, unsigned int count)
{
	while (count--) {
		struct sk_buff *skb = napi_alloc_skb(&lab->napi, 64);

		if (skb)
			__skb_queue_tail(&lab_cached, skb);
	}
}

static u8 lab_verdict(gro_result_t ret)
{
	switch (ret) {
	case GRO_MERGED:
		return GRO_LAB_MERGED;
	case GRO_MERGED_FREE:
		return GRO_LAB_MERGED_FREE;
	case GRO_HELD:
		return GRO_LAB_HELD;
	case GRO_CONSUMED:
		return GRO_LAB_CONSUMED;
	default:
		return GRO_LAB_NORMAL;
	}
}

static void lab_feed(struct lab_dev *lab, struct lab_job *job)
{
	const struct lab_batch *batch = job->batch;
	const struct gro_lab_frame *frame = batch->frames;
	const u8 *bytes = batch->bytes;
	gro_result_t ret;
	unsigned int i;

	if (job->timed)
		lab_drain_cache(lab, LAB_CACHE_SIZE);
	for (i = 0; i < batch->head.frames; i++, bytes += frame++->len) {
		struct sk_buff *skb = job->skbs[i];

		if (frame->flags & GRO_LAB_F_FLUSH)
			lab_flush(lab, job);
		if (!(batch->head.flags & GRO_LAB_B_FRAGS)) {
			job->skbs[i] = NULL;
			ret = lab_receive(lab, job, skb);
		} else if (lab_build_frags(&lab->napi, skb, frame, bytes)) {
			ret = lab_receive_frags(lab, job);
		} else {
			ret = GRO_NORMAL;
		}
		job->verdicts[i] = lab_verdict(ret);
		if (job->timed && ret == GRO_MERGED_FREE)
			lab_drain_cache(lab, 1);
	}
}

static int lab_poll(struct napi_struct *napi, int budget)
{
	struct lab_dev *lab = container_of(napi, struct lab_dev, napi);
	struct lab_job *job = xchg(&lab->job, NULL);
	unsigned long held = 0;
	int done = 0;

	if (job) {
		lab_feed(lab, job);
		done = min_t(int, job->batch->head.frames, budget - 1);
		lab->hold = job->batch->head.flags & GRO_LAB_B_HOLD;
		if (job->batch->head.flags & GRO_LAB_B_FLUSH)
			lab_flush(lab, job);
	}
	/* Lists that are not in the mask are not flushed. */
	if (lab->hold)
		held = xchg(lab_gro_bitmask(napi), 0);
	napi_complete_done(napi, done);
	if (held)
		*lab_gro_bitmask(napi) = held;
	if (job)
		complete(&job->done);
	return done;
}

/* As a batch wants its device to be. Caller holds RTNL. */
static void lab_dev_adjust(struct net_device *netdev,
			   const struct gro_lab_batch *head)
{
	const netdev_features_t mask = NETIF_F_GRO_UDP_FWD |
				       NETIF_F_GRO_FRAGLIST | NETIF_F_GRO;
	netdev_features_t features = NETIF_F_GRO;

	if (head->features & GRO_LAB_DEV_UDP_FWD)
		features |= NETIF_F_GRO_UDP_FWD;
	if (head->features & GRO_LAB_DEV_FRAGLIST)
		features |= NETIF_F_GRO_FRAGLIST;
	if (head->features & GRO_LAB_DEV_NO_GRO)
		features &= ~NETIF_F_GRO;
	lab_set_max_sizes(netdev, head->gro_max_size ?: GRO_LEGACY_MAX_SIZE,
			  head->gro_ipv4_max_size ?: GRO_LEGACY_MAX_SIZE);
	if ((netdev->features & mask) == features)
		return;
	netdev->wanted_features &= ~mask;
	netdev->wanted_features |= features;
	netdev_update_features(netdev);
}

/**
 * lab_job_poll - have a lab's NAPI poll once, for a job
 * @lab: the lab
 * @job: its skbs are built
 *
 * Sleeps until the poll is over. The caller holds lab_mutex.
 *
 * Return: 0, -ENETDOWN, -EBUSY where a batch is to be dropped but somebody
 * else takes what this device receives, or what lab_enter() says.
 */
int lab_job_poll(struct lab_dev *lab, struct lab_job *job)
{
	int err;

	rtnl_lock();
	err = netif_running(lab->netdev) ? lab_sink_set(job->drop) : -ENETDOWN;
	if (err) {
		rtnl_unlock();
		return err;
	}
	lab_dev_adjust(lab->netdev, &job->batch->head);
	WRITE_ONCE(lab_job, job);
	err = lab_enter(lab, job);
	WRITE_ONCE(lab_job, NULL);
	rtnl_unlock();

	job->left = skb_queue_len(&lab_sink);
	skb_queue_purge(&lab_sink);
	skb_queue_purge(&lab_cached);
	lab_encap_purge();
	if (*lab_gro_bitmask(&lab->napi)) {
		lab->held_frames += job->batch->head.frames;
		lab->held_bytes += job->batch->nr_bytes;
	} else {
		lab->held_frames = 0;
		lab->held_bytes = 0;
	}
	return err;
}

/* --- the device ----------------------------------------------------------- */

static int lab_open(struct net_device *netdev)
{
	struct lab_dev *lab = netdev_priv(netdev);

	napi_enable(&lab->napi);
	return 0;
}

static int lab_stop(struct net_device *netdev)
{
	struct lab_dev *lab = netdev_priv(netdev);

	napi_disable(&lab->napi);
	return 0;
}

netdev_tx_t lab_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops lab_netdev_ops = {
	.ndo_open		= lab_open,
	.ndo_stop		= lab_stop,
	.ndo_start_xmit		= lab_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

/* No page pool is no reason to have no lab: lab_frame_check() looks. */
static struct page_pool *lab_pool_create(void)
{
	struct page_pool_params params = {
		.pool_size	= 1024,
		.nid		= NUMA_NO_NODE,
		.dma_dir	= DMA_FROM_DEVICE,
	};
	struct page_pool *pool = page_pool_create(&params);

	return IS_ERR(pool) ? NULL : pool;
}

static void lab_dev_setup(struct net_device *netdev, unsigned int id)
{
	struct lab_dev *lab = netdev_priv(netdev);
	u8 addr[ETH_ALEN] = { 0x02, 'l', 'a', 'b', 0, id };

	lab->netdev = netdev;
	lab->id = id;
	lab->pool = lab_pool_create();
	snprintf(netdev->name, IFNAMSIZ, "lab%u", id);
	netdev->netdev_ops = &lab_netdev_ops;
	/* No neighbours to solicit: only what a batch brings is received. */
	netdev->flags |= IFF_NOARP;
	netdev->flags &= ~IFF_MULTICAST;
	eth_hw_addr_set(netdev, addr);
	netif_napi_add(netdev, &lab->napi, lab_poll);
}

static int lab_dev_register(struct net_device *netdev)
{
	struct lab_dev *lab = netdev_priv(netdev);
	int err;

	rtnl_lock();
	err = register_netdevice(netdev);
	if (err)
		goto err_unlock;
	err = gro_cells_init(&lab->cells, netdev);
	if (err)
		goto err_unregister;
	err = dev_open(netdev, NULL);
	if (err)
		goto err_cells_destroy;
	rtnl_unlock();
	return 0;

err_cells_destroy:
	gro_cells_destroy(&lab->cells);
err_unregister:
	unregister_netdevice(netdev);
err_unlock:
	rtnl_unlock();
	return err;
}

static void lab_dev_free(struct lab_dev *lab)
{
	struct page_pool *pool = lab->pool;

	/* With the NAPI go the packets that it held. */
	free_netdev(lab->netdev);
	if (pool)
		page_pool_destroy(pool);
}

static int lab_dev_create(unsigned int id)
{
	struct net_device *netdev = alloc_etherdev(sizeof(struct lab_dev));
	int err;

	if (!netdev)
		return -ENOMEM;
	lab_dev_setup(netdev, id);
	err = lab_dev_register(netdev);
	if (err) {
		lab_dev_free(netdev_priv(netdev));
		return err;
	}
	lab_devs[id] = netdev_priv(netdev);
	lab_nr_devs = id + 1;
	return 0;
}

static void lab_dev_destroy(struct lab_dev *lab)
{
	rtnl_lock();
	if (lab->sink)
		netdev_rx_handler_unregister(lab->netdev);
	gro_cells_destroy(&lab->cells);
	unregister_netdevice(lab->netdev);
	rtnl_unlock();
	lab_dev_free(lab);
}

int lab_devs_init(void)
{
	unsigned int id;
	int err;

	if (!lab_devices || lab_devices > LAB_MAX_DEVS) {
		pr_err("devices=%u makes no sense, take 1 to %u\n",
		       lab_devices, LAB_MAX_DEVS);
		return -EINVAL;
	}
	skb_queue_head_init(&lab_sink);
	skb_queue_head_init(&lab_cached);
	for (id = 0; id < lab_devices; id++) {
		err = lab_dev_create(id);
		if (err)
			goto err_destroy;
	}
	return 0;

err_destroy:
	lab_devs_exit();
	return err;
}

void lab_devs_exit(void)
{
	while (lab_nr_devs)
		lab_dev_destroy(lab_devs[--lab_nr_devs]);
	skb_queue_purge(&lab_sink);
}
