// SPDX-License-Identifier: GPL-2.0-only
/*
 * The other half of the shim: our entries in inet_offloads[] and
 * inet6_offloads[], where handlers of an outer header find that of an inner one.
 *
 * inet_add_offload() takes empty slots only, and between inet_del_offload() and
 * it packets would meet none. The arrays are exported, so one cmpxchg() puts
 * ours in stock's place, as those two do it, and one puts stock's back; it fails
 * if somebody else has been there, and then nothing changes.
 *
 * They cost every packet in a tunnel an indirect call, so they are there only
 * while the feature acts that they are for.
 */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <net/protocol.h>

#include "gro_opt.h"

/**
 * struct gro_opt_protocol - one slot of the tables
 * @name: of the packets, for messages
 * @slot: the kernel's pointer
 * @entry: ours; gso_segment and flags are stock's
 * @stock: the entry that ours stands in for, NULL while it is in its place
 * @bind: points the static calls at stock's functions
 * @absent: the kernel has no entry of its own here
 */
struct gro_opt_protocol {
	const char *name;
	const struct net_offload __rcu **slot;
	struct net_offload entry;
	const struct net_offload *stock;
	void (*bind)(const struct net_offload *stock);
	bool absent;
};

#define GRO_OPT_PROTOCOL(_name)						\
static void gro_opt_bind_##_name(const struct net_offload *stock)	\
{									\
	static_call_update(gro_opt_stock_##_name##_receive,		\
			   stock->callbacks.gro_receive);		\
	static_call_update(gro_opt_stock_##_name##_complete,		\
			   stock->callbacks.gro_complete);		\
}

GRO_OPT_PROTOCOL(ipip)
GRO_OPT_PROTOCOL(sit)
GRO_OPT_PROTOCOL(ip4ip6)
GRO_OPT_PROTOCOL(ip6ip6)

#define GRO_OPT_SLOT(_text, _name, _table, _number) {			\
	.name = _text,							\
	.slot = &(_table)[_number],					\
	.entry.callbacks = {						\
		.gro_receive = gro_opt_##_name##_receive,		\
		.gro_complete = gro_opt_##_name##_complete,		\
	},								\
	.bind = gro_opt_bind_##_name,					\
}

static struct gro_opt_protocol gro_opt_protocols[] = {
	GRO_OPT_SLOT("IPv4-in-IPv4", ipip, inet_offloads, IPPROTO_IPIP),
	GRO_OPT_SLOT("IPv6-in-IPv4", sit, inet_offloads, IPPROTO_IPV6),
	GRO_OPT_SLOT("IPv4-in-IPv6", ip4ip6, inet6_offloads, IPPROTO_IPIP),
	GRO_OPT_SLOT("IPv6-in-IPv6", ip6ip6, inet6_offloads, IPPROTO_IPV6),
};

/* Only compared and read, by someone who knows that it stays. */
static const struct net_offload *
gro_opt_protocol_now(const struct gro_opt_protocol *proto)
{
	return rcu_access_pointer(*proto->slot);
}

/* Sparse has no word for the exchange of a pointer that readers follow. */
static bool gro_opt_protocol_swap(const struct gro_opt_protocol *proto,
				  const struct net_offload *from,
				  const struct net_offload *to)
{
	const struct net_offload **slot =
		(const struct net_offload ** __force)proto->slot;

	return cmpxchg(slot, from, to) == from;
}

static const struct offload_callbacks *
gro_opt_protocol_callbacks(const struct gro_opt_protocol *proto)
{
	const struct net_offload *now = gro_opt_protocol_now(proto);

	return now ? &now->callbacks : NULL;
}

/* For the self-check, in state off; in the order of the list above. */
const struct offload_callbacks *gro_opt_protocol_stock(unsigned int i)
{
	return gro_opt_protocol_callbacks(&gro_opt_protocols[i]);
}

const struct offload_callbacks *gro_opt_protocol_ours(unsigned int i)
{
	return &gro_opt_protocols[i].entry.callbacks;
}

/* The kernel's own entry, or why not; another module's may be gone any time. */
static const struct net_offload *
gro_opt_protocol_find_stock(const struct gro_opt_protocol *proto)
{
	const struct net_offload *stock;
	int err;

	rcu_read_lock();
	stock = gro_opt_protocol_now(proto);
	err = stock ? gro_opt_callbacks_vet(proto->name, &stock->callbacks) :
		      -ENOENT;
	rcu_read_unlock();
	return err ? ERR_PTR(err) : stock;
}

static int gro_opt_protocol_take(struct gro_opt_protocol *proto)
{
	const struct net_offload *stock = gro_opt_protocol_find_stock(proto);

	if (IS_ERR(stock))
		return PTR_ERR(stock);
	proto->entry.callbacks.gso_segment = stock->callbacks.gso_segment;
	proto->entry.flags = stock->flags;
	proto->bind(stock);
	if (!gro_opt_protocol_swap(proto, stock, &proto->entry))
		return -EBUSY;
	proto->stock = stock;
	return 0;
}

static bool gro_opt_protocol_put_back(struct gro_opt_protocol *proto)
{
	return gro_opt_protocol_swap(proto, &proto->entry, proto->stock);
}

/* Is ours where we put it, if we did? */
static bool gro_opt_protocol_is_ours(const struct gro_opt_protocol *proto)
{
	return !proto->stock || gro_opt_protocol_now(proto) == &proto->entry;
}

/* Is every entry where we put it? Context: gro_opt_mutex held. */
bool gro_opt_protocols_ours(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gro_opt_protocols); i++)
		if (!gro_opt_protocol_is_ours(&gro_opt_protocols[i]))
			return false;
	return true;
}

/* The same, saying what is wrong. */
int gro_opt_protocols_may_leave(void)
{
	unsigned int i;
	int err = 0;

	rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(gro_opt_protocols) && !err; i++) {
		const struct gro_opt_protocol *proto = &gro_opt_protocols[i];

		if (gro_opt_protocol_is_ours(proto))
			continue;
		gro_opt_say_taken(proto->name,
				  gro_opt_protocol_callbacks(proto));
		err = -EBUSY;
	}
	rcu_read_unlock();
	return err;
}

/*
 * Stock's back because a switch has failed. Should somebody have come in between,
 * the module can never leave.
 */
void gro_opt_protocols_undo(void)
{
	if (gro_opt_protocols_return())
		__module_get(THIS_MODULE);
}

/**
 * gro_opt_protocols_take - ours in the place of stock's, if they are not yet
 *
 * Context: may sleep, gro_opt_mutex held.
 *
 * Return: 0, or an error with all as it was.
 */
int gro_opt_protocols_take(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(gro_opt_protocols) && !err; i++) {
		struct gro_opt_protocol *proto = &gro_opt_protocols[i];

		if (proto->absent || proto->stock)
			continue;
		if (gro_opt_step_fails(GRO_OPT_FIRST_PROTOCOL_STEP + i))
			err = -ENOMEM;
		else
			err = gro_opt_protocol_take(proto);
	}
	if (err)
		gro_opt_protocols_undo();
	return err;
}

static bool gro_opt_protocols_taken(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gro_opt_protocols); i++)
		if (gro_opt_protocols[i].stock)
			return true;
	return false;
}

/**
 * gro_opt_protocols_return - stock's in their place again, if they are not yet
 *
 * Context: may sleep, gro_opt_mutex held. Waits for all who may be in the
 * entries taken out.
 *
 * Return: 0; -EBUSY with all as it was if one is not ours any more.
 */
int gro_opt_protocols_return(void)
{
	unsigned int i;

	if (!gro_opt_protocols_taken())
		return 0;
	for (i = 0; i < ARRAY_SIZE(gro_opt_protocols); i++)
		if (gro_opt_protocols[i].stock &&
		    !gro_opt_protocol_put_back(&gro_opt_protocols[i]))
			goto err_take_again;
	synchronize_net();
	for (i = 0; i < ARRAY_SIZE(gro_opt_protocols); i++)
		gro_opt_protocols[i].stock = NULL;
	return 0;

err_take_again:
	while (i--) {
		struct gro_opt_protocol *proto = &gro_opt_protocols[i];

		if (proto->stock)
			gro_opt_protocol_swap(proto, proto->stock,
					      &proto->entry);
	}
	return -EBUSY;
}

static bool gro_opt_protocol_found(const struct gro_opt_protocol *proto)
{
	const struct net_offload *stock = gro_opt_protocol_find_stock(proto);

	if (IS_ERR(stock))
		return false;
	proto->bind(stock);
	return true;
}

/**
 * gro_opt_protocols_probe - see which entries the kernel has, bind its functions
 *
 * Context: module load, before anything is switched. May sleep.
 */
void gro_opt_protocols_probe(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gro_opt_protocols); i++) {
		struct gro_opt_protocol *proto = &gro_opt_protocols[i];

		proto->absent = !gro_opt_protocol_found(proto);
		if (proto->absent)
			gro_opt_features_missing("IP in IP is not served by the kernel itself",
						 BIT(GRO_OPT_F_encap));
	}
}
