// SPDX-License-Identifier: GPL-2.0-only
/*
 * gro_lab: frames from user space through this kernel's GRO, whichever
 * handlers are in place. Test-only. See gro_lab.h for the interface.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "lab.h"

/* Held while a job runs, and for all that lives as long as an open file. */
DEFINE_MUTEX(lab_mutex);
static unsigned int lab_users;

struct lab_file {
	struct lab_batch *batch;
	struct lab_result *result;
	size_t read;
};

static int lab_file_open(struct inode *inode, struct file *file)
{
	struct lab_file *lab;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	lab = kzalloc(sizeof(*lab), GFP_KERNEL);
	if (!lab)
		return -ENOMEM;
	file->private_data = lab;
	mutex_lock(&lab_mutex);
	lab_users++;
	mutex_unlock(&lab_mutex);
	return nonseekable_open(inode, file);
}

static int lab_file_release(struct inode *inode, struct file *file)
{
	struct lab_file *lab = file->private_data;
	struct gro_lab_coin count;

	mutex_lock(&lab_mutex);
	if (!--lab_users) {
		lab_capture_off();
		lab_coin_off(&count);
		lab_encap_set(0);
	}
	mutex_unlock(&lab_mutex);
	lab_batch_free(lab->batch);
	lab_result_free(lab->result);
	kfree(lab);
	return 0;
}

/* Caller holds lab_mutex. */
static int lab_file_run(struct lab_file *lab)
{
	struct lab_result *result;

	if (!lab->batch)
		return -ENODATA;
	result = lab_batch_run(lab->batch);
	if (IS_ERR(result))
		return PTR_ERR(result);
	lab_result_free(lab->result);
	lab->result = result;
	lab->read = 0;
	return 0;
}

static ssize_t lab_file_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	struct lab_file *lab = file->private_data;
	struct lab_batch *batch;
	int err = 0;

	batch = lab_batch_load(buf, len);
	if (IS_ERR(batch))
		return PTR_ERR(batch);
	mutex_lock(&lab_mutex);
	lab_batch_free(lab->batch);
	lab->batch = batch;
	if (!(batch->head.flags & GRO_LAB_B_LOAD))
		err = lab_file_run(lab);
	mutex_unlock(&lab_mutex);
	return err ?: len;
}

static ssize_t lab_file_read(struct file *file, char __user *buf, size_t len,
			     loff_t *pos)
{
	struct lab_file *lab = file->private_data;
	ssize_t ret = 0;

	mutex_lock(&lab_mutex);
	if (!lab->result)
		goto unlock;
	len = min(len, lab->result->used - lab->read);
	ret = len;
	if (copy_to_user(buf, lab->result->buf + lab->read, len))
		ret = -EFAULT;
	else
		lab->read += len;
unlock:
	mutex_unlock(&lab_mutex);
	return ret;
}

static long lab_ioctl_info(void __user *arg)
{
	struct gro_lab_info info = {
		.version = GRO_LAB_VERSION,
		.devices = lab_nr_devs,
		.max_frags = min_t(u32, MAX_SKB_FRAGS, GRO_LAB_MAX_FRAGS),
	};

	if (LAB_DECRYPTED)
		info.can |= GRO_LAB_CAN_DECRYPTED;
	if (lab_devs[0]->pool)
		info.can |= GRO_LAB_CAN_POOL;
	if (IS_ENABLED(CONFIG_NF_CONNTRACK))
		info.can |= GRO_LAB_CAN_CT;
	if (IS_ENABLED(CONFIG_NET_TC_SKB_EXT))
		info.can |= GRO_LAB_CAN_TC;
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

static long lab_ioctl_run(struct lab_file *lab, void __user *arg)
{
	struct gro_lab_run run;
	int err;

	if (copy_from_user(&run, arg, sizeof(run)))
		return -EFAULT;
	if (!lab->batch)
		return -ENODATA;
	err = lab_bench(lab->batch, &run);
	if (err)
		return err;
	return copy_to_user(arg, &run, sizeof(run)) ? -EFAULT : 0;
}

static long lab_ioctl_eat(void __user *arg)
{
	u16 port;

	if (copy_from_user(&port, arg, sizeof(port)))
		return -EFAULT;
	return lab_encap_set(port);
}

static long lab_ioctl_measure_read(void __user *arg)
{
	struct gro_lab_measure measure;

	lab_measure_read(&measure);
	return copy_to_user(arg, &measure, sizeof(measure)) ? -EFAULT : 0;
}

static long lab_ioctl_coin_on(void __user *arg)
{
	u64 seed;

	if (copy_from_user(&seed, arg, sizeof(seed)))
		return -EFAULT;
	return lab_coin_on(seed);
}

static long lab_ioctl_coin_off(void __user *arg)
{
	struct gro_lab_coin count;

	lab_coin_off(&count);
	return copy_to_user(arg, &count, sizeof(count)) ? -EFAULT : 0;
}

/* Caller holds lab_mutex. */
static long lab_ioctl(struct lab_file *lab, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case GRO_LAB_INFO:
		return lab_ioctl_info(arg);
	case GRO_LAB_AGAIN:
		return lab_file_run(lab);
	case GRO_LAB_RUN:
		return lab_ioctl_run(lab, arg);
	case GRO_LAB_MEASURE_ON:
		return lab_measure_on();
	case GRO_LAB_MEASURE_OFF:
		lab_measure_off();
		return 0;
	case GRO_LAB_MEASURE_RESET:
		lab_measure_reset();
		return 0;
	case GRO_LAB_MEASURE_READ:
		return lab_ioctl_measure_read(arg);
	case GRO_LAB_COIN_LEARN:
		return lab_coin_learn();
	case GRO_LAB_COIN_ON:
		return lab_ioctl_coin_on(arg);
	case GRO_LAB_COIN_OFF:
		return lab_ioctl_coin_off(arg);
	case GRO_LAB_EAT:
		return lab_ioctl_eat(arg);
	}
	return -ENOTTY;
}

static long lab_file_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	long ret;

	mutex_lock(&lab_mutex);
	ret = lab_ioctl(file->private_data, cmd, (void __user *)arg);
	mutex_unlock(&lab_mutex);
	return ret;
}

static const struct file_operations lab_fops = {
	.owner		= THIS_MODULE,
	.open		= lab_file_open,
	.release	= lab_file_release,
	.read		= lab_file_read,
	.write		= lab_file_write,
	.unlocked_ioctl	= lab_file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static struct miscdevice lab_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "gro_lab",
	.mode	= 0600,
	.fops	= &lab_fops,
};

static int __init lab_init(void)
{
	int err;

	lab_encap_init();
	err = lab_meta_init();
	if (err)
		return err;
	err = lab_raw_init();
	if (err)
		goto err_meta_exit;
	err = lab_devs_init();
	if (err)
		goto err_raw_exit;
	err = lab_hooks_init();
	if (err)
		goto err_devs_exit;
	lab_measure_init();
	err = misc_register(&lab_misc);
	if (err)
		goto err_measure_exit;
	return 0;

err_measure_exit:
	lab_measure_exit();
	lab_hooks_exit();
err_devs_exit:
	lab_devs_exit();
	lab_build_exit();
err_raw_exit:
	lab_raw_exit();
err_meta_exit:
	lab_meta_exit();
	return err;
}

static void __exit lab_exit(void)
{
	misc_deregister(&lab_misc);
	lab_measure_exit();
	lab_hooks_exit();
	lab_devs_exit();
	lab_build_exit();
	lab_raw_exit();
	lab_encap_exit();
	lab_meta_exit();
}

module_init(lab_init);
module_exit(lab_exit);

MODULE_DESCRIPTION("Test bench for generic receive offload");
MODULE_LICENSE("GPL");
