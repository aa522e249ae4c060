// SPDX-License-Identifier: GPL-2.0-only
/* Reads batches from user space and runs them. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "lab.h"

/* --- loading -------------------------------------------------------------- */

static int lab_check_head(const struct lab_batch *batch)
{
	const struct gro_lab_batch *head = &batch->head;
	const u32 flags = GRO_LAB_B_FRAGS | GRO_LAB_B_LOAD |
			  GRO_LAB_B_DELIVER | GRO_LAB_B_NO_CAPTURE |
			  GRO_LAB_B_FLUSH | GRO_LAB_B_HOLD |
			  GRO_LAB_B_SETTLE;
	const u32 both = GRO_LAB_B_FLUSH | GRO_LAB_B_HOLD;
	const u32 features = GRO_LAB_DEV_UDP_FWD | GRO_LAB_DEV_FRAGLIST |
			     GRO_LAB_DEV_NO_GRO;

	if (head->version != GRO_LAB_VERSION ||
	    head->frame_size != sizeof(struct gro_lab_frame) ||
	    head->frames > GRO_LAB_MAX_FRAMES || head->flags & ~flags ||
	    (head->flags & both) == both || !lab_entry_ok(head) || head->napi >= lab_nr_devs ||
	    head->features & ~features ||
	    head->gro_max_size > GRO_LAB_MAX_FRAME ||
	    head->gro_ipv4_max_size > GRO_LAB_MAX_FRAME ||
	    memchr_inv(head->resv, 0, sizeof(head->resv)))
		return -EINVAL;
	return 0;
}

/* All lengths are checked here, before anything is made of the bytes. */
static int lab_check_frames(struct lab_batch *batch, size_t left)
{
	unsigned int i;
	int err;

	for (i = 0; i < batch->head.frames; i++) {
		const struct gro_lab_frame *frame = &batch->frames[i];

		err = lab_frame_check(batch, frame);
		if (err) {
			pr_debug("frame %u is not as it has to be\n", i);
			return err;
		}
		if (frame->len > left)
			return -EINVAL;
		left -= frame->len;
		batch->nr_bytes += frame->len;
		batch->nr_members += frame->nr_members;
	}
	return left ? -EINVAL : 0;
}

static int lab_check(struct lab_batch *batch, size_t len)
{
	size_t size;
	int err;

	memcpy(&batch->head, batch->blob, sizeof(batch->head));
	err = lab_check_head(batch);
	if (err)
		return err;
	size = sizeof(batch->head) +
	       batch->head.frames * sizeof(struct gro_lab_frame);
	if (size > len)
		return -EINVAL;
	batch->frames = batch->blob + sizeof(batch->head);
	batch->bytes = batch->blob + size;
	return lab_check_frames(batch, len - size);
}

/**
 * lab_batch_load - copy a batch from user space and check it
 * @buf: what was written
 * @len: how much
 *
 * Return: the batch, for lab_batch_free(), or an error pointer.
 */
struct lab_batch *lab_batch_load(const char __user *buf, size_t len)
{
	struct lab_batch *batch;
	int err;

	if (len < sizeof(batch->head) || len > GRO_LAB_MAX_BATCH)
		return ERR_PTR(-EINVAL);
	batch = kzalloc(sizeof(*batch), GFP_KERNEL);
	if (!batch)
		return ERR_PTR(-ENOMEM);
	batch->blob = vmemdup_user(buf, len);
	if (IS_ERR(batch->blob)) {
		err = PTR_ERR(batch->blob);
		goto err_free;
	}
	err = lab_check(batch, len);
	if (err)
		goto err_free_blob;
	return batch;

err_free_blob:
	kvfree(batch->blob);
err_free:
	kfree(batch);
	return ERR_PTR(err);
}

void lab_batch_free(struct lab_batch *batch)
{
	if (!batch)
		return;
	kvfree(batch->blob);
	kfree(batch);
}

/* --- running -------------------------------------------------------------- */

static int lab_job_build(struct lab_job *job)
{
	const struct lab_batch *batch = job->batch;
	const u8 *bytes = batch->bytes;
	unsigned int i;

	for (i = 0; i < batch->head.frames; i++) {
		job->skbs[i] = lab_build(&job->pages, &batch->head,
					 &batch->frames[i], bytes);
		if (!job->skbs[i])
			return -ENOMEM;
		bytes += batch->frames[i].len;
		cond_resched();
	}
	return 0;
}

static void lab_job_free(struct lab_job *job)
{
	unsigned int i;

	for (i = 0; i < job->batch->head.frames; i++)
		kfree_skb(job->skbs[i]);
	lab_pages_free(&job->pages);
	kvfree(job->skbs);
}

/**
 * lab_job_run - build the skbs of a job's batch and put them through GRO
 * @job: batch, verdicts and result are the caller's
 *
 * Sleeps. The caller holds lab_mutex.
 *
 * Return: 0 or a negative error; then nothing went through GRO.
 */
int lab_job_run(struct lab_job *job)
{
	const struct gro_lab_batch *head = &job->batch->head;
	int err;

	/* one more: with no frames it would be ZERO_SIZE_PTR or NULL */
	job->skbs = kvcalloc(head->frames + 1, sizeof(*job->skbs), GFP_KERNEL);
	if (!job->skbs)
		return -ENOMEM;
	err = lab_job_build(job);
	if (!err)
		err = lab_job_poll(lab_devs[head->napi], job);
	lab_job_free(job);
	return err;
}

/**
 * lab_batch_run - run a batch as it says itself
 * @batch: the batch
 *
 * Return: what read() is to give, or an error pointer.
 */
struct lab_result *lab_batch_run(const struct lab_batch *batch)
{
	struct lab_dev *lab = lab_devs[batch->head.napi];
	struct lab_job job = { .batch = batch };
	struct lab_result *result;
	int err;

	job.drop = !(batch->head.flags & GRO_LAB_B_DELIVER);
	result = lab_result_alloc(batch, lab);
	if (!result)
		return ERR_PTR(-ENOMEM);
	job.verdicts = result->buf + sizeof(struct gro_lab_result);
	if (!(batch->head.flags & GRO_LAB_B_NO_CAPTURE)) {
		job.result = result;
		err = lab_capture_on();
		if (err)
			goto err_free;
	}
	err = lab_job_run(&job);
	if (err)
		goto err_free;
	lab_result_finish(result, &job, lab);
	return result;

err_free:
	lab_result_free(result);
	return ERR_PTR(err);
}
