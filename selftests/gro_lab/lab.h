/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to the module. Lock order, outermost first: lab_mutex, RTNL. There is
 * one job at a time, and lab_mutex is held while there is one.
 */
#ifndef _LAB_H
#define _LAB_H

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/timex.h>
#include <net/gro_cells.h>

#include "compat/compat.h"
#include "gro_lab.h"

#define LAB_MAX_DEVS	4

struct lab_job;

/* A lab<n>; netdev_priv() of its netdevice. */
struct lab_dev {
	struct net_device *netdev;
	struct napi_struct napi;
	struct gro_cells cells;
	struct page_pool *pool;
	struct lab_job *job;		/* for the next poll */
	bool threaded;
	bool hold;			/* what is held, also in idle polls */
	unsigned int id;
	bool sink;			/* drops what leaves GRO */
	/* Bounds of what batches left behind in the GRO lists. */
	unsigned int held_frames;
	size_t held_bytes;
};

/* What one write() brought. */
struct lab_batch {
	struct gro_lab_batch head;
	struct gro_lab_frame *frames;
	u8 *bytes;
	void *blob;
	size_t nr_bytes;
	size_t nr_members;
};

/* A result in the making, then what read() gives. */
struct lab_result {
	u8 *buf;
	size_t used;
	size_t size;
	unsigned int skbs;
	unsigned int lost;
};

/*
 * Pages that skb heads and frags are cut from. They keep a reference each until
 * the job is over, so that dropping an skb costs GRO the same every time.
 */
struct lab_pages {
	struct page **page;
	unsigned int nr;
	unsigned int max;
	unsigned int used;		/* of the last one */
};

struct lab_job {
	const struct lab_batch *batch;
	struct sk_buff **skbs;
	u8 *verdicts;
	struct lab_result *result;	/* NULL: no records */
	struct lab_pages pages;
	struct completion done;
	bool drop;
	bool timed;
	unsigned int left;		/* skbs that left GRO */
	u64 cycles;			/* in GRO */
};

extern struct mutex lab_mutex;
extern unsigned int lab_nr_devs;
extern struct lab_dev *lab_devs[LAB_MAX_DEVS];

/* dev.c */
int lab_devs_init(void);
void lab_devs_exit(void);
int lab_job_poll(struct lab_dev *lab, struct lab_job *job);
struct lab_job *lab_current_job(void);
rx_handler_result_t lab_rx(struct sk_buff **pskb);
netdev_tx_t lab_xmit(struct sk_buff *skb, struct net_device *netdev);
u64 lab_clock_cost(void);

/* build.c */
int lab_frame_check(const struct lab_batch *batch,
		    const struct gro_lab_frame *frame);
struct sk_buff *lab_build(struct lab_pages *pages,
			  const struct gro_lab_batch *head,
			  const struct gro_lab_frame *frame, const u8 *bytes);
bool lab_build_frags(struct napi_struct *napi, struct sk_buff *from,
		     const struct gro_lab_frame *frame, const u8 *bytes);
void lab_pages_free(struct lab_pages *pages);
void lab_build_exit(void);

/* meta.c */
int lab_meta_init(void);
void lab_meta_exit(void);
bool lab_meta_ok(const struct gro_lab_batch *head,
		 const struct gro_lab_frame *frame);
bool lab_set_metas(struct sk_buff *skb, const struct gro_lab_frame *frame);
void lab_record_metas(struct gro_lab_skb *rec, const struct sk_buff *skb);

/* raw.c */
int lab_raw_init(void);
void lab_raw_exit(void);
bool lab_raw_ok(const struct gro_lab_batch *head,
		const struct gro_lab_frame *frame);
bool lab_is_raw(const struct net_device *netdev);
void lab_make_raw(struct sk_buff *skb);

/* entry.c */
bool lab_entry_ok(const struct gro_lab_batch *head);
int lab_enter(struct lab_dev *lab, struct lab_job *job);

/* encap.c */
void lab_encap_init(void);
void lab_encap_exit(void);
int lab_encap_set(u16 port);
void lab_encap_purge(void);

/* batch.c */
struct lab_batch *lab_batch_load(const char __user *buf, size_t len);
void lab_batch_free(struct lab_batch *batch);
int lab_job_run(struct lab_job *job);
struct lab_result *lab_batch_run(const struct lab_batch *batch);

/* bench.c */
int lab_bench(const struct lab_batch *batch, struct gro_lab_run *run);

/* capture.c */
int lab_capture_on(void);
void lab_capture_off(void);
bool lab_capture_exact(void);
struct lab_result *lab_result_alloc(const struct lab_batch *batch,
				    const struct lab_dev *lab);
void lab_result_finish(struct lab_result *result, const struct lab_job *job,
		       const struct lab_dev *lab);
void lab_result_free(struct lab_result *result);

/* hook.c */

/* The entries whose callbacks are ours while hooked, and what they were. */
struct lab_hook {
	struct packet_offload *rx;
	struct packet_offload *done;
	struct offload_callbacks orig;
};

extern struct lab_hook lab_hooks[GRO_LAB_FAMILIES];

int lab_hooks_init(void);
void lab_hooks_exit(void);
int lab_hooks_peek(struct offload_callbacks *now);
int lab_hooks_on(const struct offload_callbacks *ours);
void lab_hooks_off(const struct offload_callbacks *ours);
bool lab_hooked_with(const struct offload_callbacks *ours);
bool lab_hooks_stale(void);

/* coin.c */
int lab_coin_learn(void);
int lab_coin_on(u64 seed);
void lab_coin_off(struct gro_lab_coin *count);

/* measure.c */
void lab_measure_init(void);
void lab_measure_exit(void);
int lab_measure_on(void);
void lab_measure_off(void);
bool lab_measuring(void);
void lab_measure_reset(void);
void lab_measure_read(struct gro_lab_measure *measure);

#endif /* _LAB_H */
