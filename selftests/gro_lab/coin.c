// SPDX-License-Identifier: GPL-2.0-only
/*
 * A coin for each packet: stock's handlers or those in front of them. What one
 * handler leaves in a packet the other one has to understand, in any order.
 */
#include <linux/kallsyms.h>
#include <linux/string.h>
#include <net/gro.h>

#include "lab.h"

static struct offload_callbacks lab_stock[GRO_LAB_FAMILIES];
static bool lab_stock_known;
/* Written by whoever runs NAPI; one job runs at a time. */
static u64 lab_coin_rng;
static struct gro_lab_coin lab_coin_count;

/* xorshift64* */
static bool lab_coin_heads(void)
{
	lab_coin_rng ^= lab_coin_rng >> 12;
	lab_coin_rng ^= lab_coin_rng << 25;
	lab_coin_rng ^= lab_coin_rng >> 27;
	return (lab_coin_rng * 0x2545f4914f6cdd1dULL) >> 63;
}

static __always_inline struct sk_buff *
lab_coin_receive(enum gro_lab_family family, struct list_head *head,
		 struct sk_buff *skb)
{
	if (lab_coin_heads()) {
		lab_coin_count.front++;
		return lab_hooks[family].orig.gro_receive(head, skb);
	}
	lab_coin_count.stock++;
	return lab_stock[family].gro_receive(head, skb);
}

static __always_inline int
lab_coin_complete(enum gro_lab_family family, struct sk_buff *skb, int nhoff)
{
	if (lab_coin_heads())
		return lab_hooks[family].orig.gro_complete(skb, nhoff);
	return lab_stock[family].gro_complete(skb, nhoff);
}

static struct sk_buff *lab_coin_receive4(struct list_head *head,
					 struct sk_buff *skb)
{
	return lab_coin_receive(GRO_LAB_IPV4, head, skb);
}

static struct sk_buff *lab_coin_receive6(struct list_head *head,
					 struct sk_buff *skb)
{
	return lab_coin_receive(GRO_LAB_IPV6, head, skb);
}

static int lab_coin_complete4(struct sk_buff *skb, int nhoff)
{
	return lab_coin_complete(GRO_LAB_IPV4, skb, nhoff);
}

static int lab_coin_complete6(struct sk_buff *skb, int nhoff)
{
	return lab_coin_complete(GRO_LAB_IPV6, skb, nhoff);
}

static const struct offload_callbacks lab_coin[GRO_LAB_FAMILIES] = {
	[GRO_LAB_IPV4] = {
		.gro_receive = lab_coin_receive4,
		.gro_complete = lab_coin_complete4,
	},
	[GRO_LAB_IPV6] = {
		.gro_receive = lab_coin_receive6,
		.gro_complete = lab_coin_complete6,
	},
};

static bool lab_is_stock(const struct offload_callbacks *cb)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", cb->gro_receive);
	return !strchr(name, '[');
}

/* Remember stock's handlers, which have to be in place. May sleep. */
int lab_coin_learn(void)
{
	struct offload_callbacks now[GRO_LAB_FAMILIES];
	enum gro_lab_family i;
	int err;

	err = lab_hooks_peek(now);
	if (err)
		return err;
	for (i = 0; i < GRO_LAB_FAMILIES; i++)
		if (!lab_is_stock(&now[i]))
			return -EINVAL;
	memcpy(lab_stock, now, sizeof(now));
	lab_stock_known = true;
	return 0;
}

/* Toss from now on, with others' handlers in front of stock's. May sleep. */
int lab_coin_on(u64 seed)
{
	struct offload_callbacks now[GRO_LAB_FAMILIES];
	enum gro_lab_family i;
	int err;

	if (!seed)
		return -EINVAL;
	if (!lab_stock_known)
		return -ENODATA;
	err = lab_hooks_peek(now);
	if (err)
		return err;
	for (i = 0; i < GRO_LAB_FAMILIES; i++)
		if (now[i].gro_receive == lab_stock[i].gro_receive)
			return -ENOENT;
	lab_coin_rng = seed;
	memset(&lab_coin_count, 0, sizeof(lab_coin_count));
	return lab_hooks_on(lab_coin);
}

/* How the coin fell since lab_coin_on(), which this undoes. May sleep. */
void lab_coin_off(struct gro_lab_coin *count)
{
	lab_hooks_off(lab_coin);
	*count = lab_coin_count;
}
