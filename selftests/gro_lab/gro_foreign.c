// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody else's module, for tests: while it is loaded its handlers stand in
 * front of those that served IPv4 and IPv6 when it came. It is what another
 * module of gro_opt's kind would be, and now and then it is a bad one.
 *
 * over=1, the default, has entries of its own in the kernel's list, in place of
 * those it found. over=0 leaves the list alone and writes its callbacks into
 * the entries; whoever owns them must not go meanwhile.
 */
#include <linux/atomic.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/gro.h>

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

static bool over = true;
module_param(over, bool, 0444);
MODULE_PARM_DESC(over, "Own entries in the kernel's list (default), or own callbacks in those found");

static atomic_t lose_left = ATOMIC_INIT(0);

static int lose_set(const char *val, const struct kernel_param *kp)
{
	int left, err;

	err = kstrtoint(val, 0, &left);
	if (!err)
		atomic_set(&lose_left, left);
	return err;
}

static int lose_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", max(atomic_read(&lose_left), 0));
}

static const struct kernel_param_ops lose_ops = {
	.set = lose_set,
	.get = lose_get,
};
module_param_cb(lose, &lose_ops, NULL, 0644);
MODULE_PARM_DESC(lose, "The n-th packet to be completed from now on is not where its transport offset says");

enum { FOREIGN_IPV4, FOREIGN_IPV6, FOREIGN_FAMILIES };

/**
 * struct foreign - what stands in front of one family's entry
 * @po: our entry, with over=1
 * @under: the entry found
 * @stood: its callbacks
 */
struct foreign {
	struct packet_offload po;
	struct packet_offload *under;
	struct offload_callbacks stood;
};

static struct foreign foreigns[FOREIGN_FAMILIES] = {
	[FOREIGN_IPV4] = { .po.type = cpu_to_be16(ETH_P_IP) },
	[FOREIGN_IPV6] = { .po.type = cpu_to_be16(ETH_P_IPV6) },
};

/* --- handlers ------------------------------------------------------------- */

static struct sk_buff *foreign_receive4(struct list_head *head,
					struct sk_buff *skb)
{
	return foreigns[FOREIGN_IPV4].stood.gro_receive(head, skb);
}

static struct sk_buff *foreign_receive6(struct list_head *head,
					struct sk_buff *skb)
{
	return foreigns[FOREIGN_IPV6].stood.gro_receive(head, skb);
}

/* Backwards, so that what believes it still writes into the headers. */
static void foreign_lose(struct sk_buff *skb)
{
	if (atomic_read(&lose_left) > 0 && !atomic_dec_return(&lose_left))
		skb->transport_header -= 4;
}

static int foreign_complete4(struct sk_buff *skb, int nhoff)
{
	foreign_lose(skb);
	return foreigns[FOREIGN_IPV4].stood.gro_complete(skb, nhoff);
}

static int foreign_complete6(struct sk_buff *skb, int nhoff)
{
	foreign_lose(skb);
	return foreigns[FOREIGN_IPV6].stood.gro_complete(skb, nhoff);
}

static const struct offload_callbacks foreign_callbacks[FOREIGN_FAMILIES] = {
	[FOREIGN_IPV4] = {
		.gro_receive = foreign_receive4,
		.gro_complete = foreign_complete4,
	},
	[FOREIGN_IPV6] = {
		.gro_receive = foreign_receive6,
		.gro_complete = foreign_complete6,
	},
};

/* --- coming and going ----------------------------------------------------- */

static struct packet_offload *foreign_find(const struct foreign *f)
{
	struct packet_offload *po;

	rcu_read_lock();
	po = gro_find_receive_by_type(f->po.type);
	rcu_read_unlock();
	return po;
}

static int foreign_learn(struct foreign *f)
{
	f->under = foreign_find(f);
	if (!f->under)
		return -ENOENT;
	f->stood = f->under->callbacks;
	return 0;
}

/* Others do not lock against us: first ours in, theirs out, then a look. */
static int foreign_add(struct foreign *f, const struct offload_callbacks *cb)
{
	f->po.priority = f->under->priority;
	f->po.callbacks = *cb;
	f->po.callbacks.gso_segment = f->stood.gso_segment;
	dev_add_offload(&f->po);
	dev_remove_offload(f->under);
	if (foreign_find(f) == &f->po)
		return 0;
	dev_remove_offload(&f->po);
	return -EAGAIN;
}

static void foreign_remove(struct foreign *f)
{
	dev_add_offload(f->under);
	dev_remove_offload(&f->po);
}

static void foreign_write(struct packet_offload *po,
			  const struct offload_callbacks *cb)
{
	WRITE_ONCE(po->callbacks.gro_receive, cb->gro_receive);
	WRITE_ONCE(po->callbacks.gro_complete, cb->gro_complete);
}

static int foreign_enter(unsigned int i)
{
	struct foreign *f = &foreigns[i];
	int err;

	err = foreign_learn(f);
	if (err)
		return err;
	if (over)
		return foreign_add(f, &foreign_callbacks[i]);
	foreign_write(f->under, &foreign_callbacks[i]);
	return 0;
}

static void foreign_leave(unsigned int i)
{
	struct foreign *f = &foreigns[i];

	if (over)
		foreign_remove(f);
	else
		foreign_write(f->under, &f->stood);
}

static int __init foreign_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < FOREIGN_FAMILIES; i++) {
		err = foreign_enter(i);
		if (err)
			goto err_leave;
	}
	return 0;

err_leave:
	while (i--)
		foreign_leave(i);
	synchronize_net();
	return err;
}

static void __exit foreign_exit(void)
{
	unsigned int i = FOREIGN_FAMILIES;

	while (i--)
		foreign_leave(i);
	/* No CPU is in our callbacks after this. */
	synchronize_net();
}

module_init(foreign_init);
module_exit(foreign_exit);

MODULE_DESCRIPTION("Another module's GRO handlers, for tests of those below");
MODULE_LICENSE("GPL");
