// SPDX-License-Identifier: GPL-2.0-only
/*
 * Before anything is switched: ask the stock handlers what they do where
 * headers do not tell, then run the same packets through stock's and ours and
 * compare all that comes out. A feature that disagrees is left out.
 *
 * Stable updates change gro.c under the same headers, so this is what keeps a
 * module that was built for one update honest on the next.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <linux/tcp.h>

#include "simulate.h"

struct gro_opt_sim_case {
	const char *name;
	unsigned int nr;
	struct gro_opt_sim_seg segs[GRO_OPT_SIM_MAX - 1];
};

#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define PSH 0x08
#define URG 0x20
#define ECE 0x40
#define CWR 0x80

#define CASE(_name, ...) {						\
	.name = _name,							\
	.segs = { __VA_ARGS__ },					\
	.nr = ARRAY_SIZE(((struct gro_opt_sim_seg[]){ __VA_ARGS__ })),	\
}

static const struct gro_opt_sim_case gro_opt_sim_cases[] = {
	CASE("plain", {}, {}, {}, {}),
	CASE("push ends", {}, {}, { .flags = PSH }, {}),
	CASE("push first", { .flags = PSH }, {}, {}),
	CASE("fin", {}, { .flags = FIN }, {}),
	CASE("syn", {}, { .flags = SYN }, {}),
	CASE("rst", {}, { .flags = RST }, {}),
	CASE("urg", {}, { .flags = URG }, {}),
	CASE("ece", {}, { .flags = ECE }, { .flags = ECE }),
	CASE("cwr all", { .flags = CWR }, { .flags = CWR }, { .flags = CWR }),
	CASE("cwr first", { .flags = CWR }, {}, {}),
	CASE("cwr second", {}, { .flags = CWR }, {}),
	CASE("short last", {}, { .len = -50 }, {}),
	CASE("longer", {}, { .len = 20 }, {}),
	CASE("empty", {}, { .len = -GRO_OPT_SIM_MSS }, {}),
	CASE("gap", {}, { .seq_gap = 100 }, {}),
	CASE("again", {}, { .seq_gap = -100 }, {}),
	CASE("ack", {}, { .ack = 1 }, { .ack = 1 }),
	CASE("options", {}, { .opt = 1 }, { .opt = 1 }),
	CASE("ports", {}, { .port = 1 }, {}, { .port = 1 }),
	CASE("extension header", {}, { .ext = 1 }, { .ext = 1 }, {}),
	CASE("ttl", {}, { .ttl = 1 }, { .ttl = 1 }),
	CASE("tos", {}, { .tos = 4 }, { .tos = 4 }),
	CASE("ecn", {}, { .tos = 3 }, {}),
	CASE("id fixed", {}, { .id_gap = -1 }, { .id_gap = -1 }),
	CASE("id fixed, then not", {}, { .id_gap = -1 }, {}),
	CASE("id counts, then fixed", {}, {}, { .id_gap = -1 }),
	CASE("id jumps", {}, { .id_gap = 5 }, {}),
	CASE("no df", { .nodf = 1 }, { .nodf = 1 }, { .nodf = 1 }),
	CASE("no df, id fixed", { .nodf = 1 }, { .nodf = 1, .id_gap = -1 },
	     { .nodf = 1, .id_gap = -1 }),
	CASE("df changes", {}, { .nodf = 1 }, {}),
	CASE("trailer", {}, { .trailer = 6 }, {}),
	CASE("csum none", { .csum = GRO_OPT_SIM_NONE },
	     { .csum = GRO_OPT_SIM_NONE }, { .csum = GRO_OPT_SIM_NONE }),
	CASE("csum complete", { .csum = GRO_OPT_SIM_COMPLETE },
	     { .csum = GRO_OPT_SIM_COMPLETE }),
	CASE("csum bad", {}, { .csum = GRO_OPT_SIM_BAD }, {}),
	CASE("linear", { .shape = GRO_OPT_SIM_LINEAR },
	     { .shape = GRO_OPT_SIM_LINEAR }, { .shape = GRO_OPT_SIM_LINEAR }),
	CASE("kmalloc", { .shape = GRO_OPT_SIM_KMALLOC },
	     { .shape = GRO_OPT_SIM_KMALLOC }, { .shape = GRO_OPT_SIM_KMALLOC }),
	CASE("mixed", {}, { .shape = GRO_OPT_SIM_KMALLOC },
	     { .shape = GRO_OPT_SIM_HEADERS }, { .shape = GRO_OPT_SIM_LINEAR },
	     {}),
	CASE("no checksum", {}, { .nosum = true }, {}),
	CASE("frag0", { .shape = GRO_OPT_SIM_FRAG0 },
	     { .shape = GRO_OPT_SIM_FRAG0 }, {}),
};

/* Of outer headers, in front of whatever is in them. */
static const struct gro_opt_sim_case gro_opt_sim_tunnel_cases[] = {
	CASE("outer ttl", {}, { .outer_ttl = 1 }, { .outer_ttl = 1 }),
	CASE("outer id fixed", {}, { .outer_id_gap = -1 },
	     { .outer_id_gap = -1 }),
	CASE("outer id jumps", {}, { .outer_id_gap = 5 }, {}),
	CASE("outer id jumps, no df", { .outer_nodf = 1 },
	     { .outer_nodf = 1, .outer_id_gap = 5 }, { .outer_nodf = 1 }),
	CASE("outer no df", { .outer_nodf = 1 }, { .outer_nodf = 1 },
	     { .outer_nodf = 1 }),
	CASE("outer no df, ids fixed", { .outer_nodf = 1 },
	     { .outer_nodf = 1, .outer_id_gap = -1, .id_gap = -1 },
	     { .outer_nodf = 1, .outer_id_gap = -1, .id_gap = -1 }),
	CASE("outer no df, inner id fixed", { .outer_nodf = 1 },
	     { .outer_nodf = 1, .id_gap = -1 },
	     { .outer_nodf = 1, .id_gap = -1 }),
	CASE("outer df changes", {}, { .outer_nodf = 1 }, {}),
};

struct gro_opt_sim_plan {
	enum gro_opt_feature_id feature;
	const char *headers;
};

static const struct gro_opt_sim_plan gro_opt_sim_plans[GRO_OPT_SIM_KINDS] = {
	[GRO_OPT_SIM_V4] = { GRO_OPT_F_tcp4, "IPv4" },
	[GRO_OPT_SIM_V6] = { GRO_OPT_F_tcp6, "IPv6" },
	[GRO_OPT_SIM_V6_HOP] = { GRO_OPT_F_exthdr, "IPv6, hop-by-hop" },
	[GRO_OPT_SIM_V6_DEST] = { GRO_OPT_F_exthdr, "IPv6, destination" },
	[GRO_OPT_SIM_V6_ROUTING] = { GRO_OPT_F_exthdr, "IPv6, routing" },
	[GRO_OPT_SIM_V4_UDP] = { GRO_OPT_F_udp4, "UDP over IPv4" },
	[GRO_OPT_SIM_V6_UDP] = { GRO_OPT_F_udp6, "UDP over IPv6" },
	[GRO_OPT_SIM_4IN4] = { GRO_OPT_F_encap, "IPv4 in IPv4" },
	[GRO_OPT_SIM_6IN4] = { GRO_OPT_F_encap, "IPv6 in IPv4" },
	[GRO_OPT_SIM_4IN6] = { GRO_OPT_F_encap, "IPv4 in IPv6" },
	[GRO_OPT_SIM_6IN6] = { GRO_OPT_F_encap, "IPv6 in IPv6" },
	[GRO_OPT_SIM_INNER4] = { GRO_OPT_F_encap, "inner IPv4" },
	[GRO_OPT_SIM_INNER6] = { GRO_OPT_F_encap, "inner IPv6" },
	[GRO_OPT_SIM_IPIP] = { GRO_OPT_F_encap, "IPv4 for IPv4" },
	[GRO_OPT_SIM_SIT] = { GRO_OPT_F_encap, "IPv6 for IPv4" },
	[GRO_OPT_SIM_IP4IP6] = { GRO_OPT_F_encap, "IPv4 for IPv6" },
	[GRO_OPT_SIM_IP6IP6] = { GRO_OPT_F_encap, "IPv6 for IPv6" },
};

/* Text of a "reason" that had to be put together; freed at exit. */
static char *gro_opt_reasons[GRO_OPT_NR_FEATURES];

/* Two simulations, too large for the stack. */
struct gro_opt_sim_pair {
	struct gro_opt_sim stock, ours;
};

/* What is seen of a packet first: a protocol of the list, or one of a table. */
static __be16 gro_opt_sim_type(enum gro_opt_sim_kind kind)
{
	switch (kind) {
	case GRO_OPT_SIM_V4:
	case GRO_OPT_SIM_V4_UDP:
	case GRO_OPT_SIM_4IN4:
	case GRO_OPT_SIM_6IN4:
	case GRO_OPT_SIM_INNER4:
	case GRO_OPT_SIM_IPIP:
	case GRO_OPT_SIM_SIT:
		return htons(ETH_P_IP);
	default:
		return htons(ETH_P_IPV6);
	}
}

static int gro_opt_sim_set_stock(struct gro_opt_sim *sim,
				 enum gro_opt_sim_kind kind)
{
	const struct offload_callbacks *stock;

	sim->kind = kind;
	sim->type = gro_opt_sim_type(kind);
	if (kind >= GRO_OPT_SIM_IPIP)
		stock = gro_opt_protocol_stock(kind - GRO_OPT_SIM_IPIP);
	else
		stock = gro_opt_shim_stock(sim->type);
	if (!stock)
		return -ENOENT;
	sim->receive = stock->gro_receive;
	sim->complete = stock->gro_complete;
	return 0;
}

static void gro_opt_sim_set_ours(struct gro_opt_sim *sim,
				 enum gro_opt_sim_kind kind)
{
	sim->kind = kind;
	sim->type = gro_opt_sim_type(kind);
	if (kind >= GRO_OPT_SIM_IPIP) {
		const struct offload_callbacks *ours =
			gro_opt_protocol_ours(kind - GRO_OPT_SIM_IPIP);

		sim->receive = ours->gro_receive;
		sim->complete = ours->gro_complete;
	} else if (sim->type == htons(ETH_P_IP)) {
		sim->receive = gro_opt_inet_receive;
		sim->complete = gro_opt_inet_complete;
	} else {
		sim->receive = gro_opt_ipv6_receive;
		sim->complete = gro_opt_ipv6_complete;
	}
}

/* Does stock make one packet of these? Negative on error. */
static int gro_opt_stock_merges(struct gro_opt_sim *sim,
				enum gro_opt_sim_kind kind,
				const struct gro_opt_sim_seg *segs,
				unsigned int nr)
{
	int err = gro_opt_sim_set_stock(sim, kind);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = gro_opt_sim_run(sim, segs, nr);
	return err ?: sim->nr_out == 1;
}

/* Fill gro_opt_rules from what stock does. */
static int gro_opt_learn(struct gro_opt_sim *sim)
{
	static const struct gro_opt_sim_seg cwr[] = {
		{ .flags = CWR }, { .flags = CWR },
	};
	static const struct gro_opt_sim_seg fixed[] = {
		{ .nodf = true }, { .nodf = true, .id_gap = -1 },
	};
	static const struct gro_opt_sim_seg jump[] = {
		{}, { .outer_id_gap = 5 },
	};
	static const struct gro_opt_sim_seg plain[2];
	__be32 equal[2] = { ~(__be32)0, ~(TCP_FLAG_FIN | TCP_FLAG_PSH) };
	int merges;

	merges = gro_opt_stock_merges(sim, GRO_OPT_SIM_V4, cwr, 2);
	if (merges < 0)
		return merges;
	if (!merges) {
		gro_opt_rules.tcp_new_flush = TCP_FLAG_CWR;
		equal[1] &= ~TCP_FLAG_CWR;
	}
	gro_opt_rules.tcp_last = GRO_OPT_TCP_LAST |
				 gro_opt_rules.tcp_new_flush;
	memcpy(&gro_opt_rules.tcp_equal, equal, sizeof(equal));

	merges = gro_opt_stock_merges(sim, GRO_OPT_SIM_V4, fixed, 2);
	if (merges < 0)
		return merges;
	gro_opt_rules.any_fixedid = merges;

	merges = gro_opt_stock_merges(sim, GRO_OPT_SIM_V6_HOP, plain, 2);
	if (merges < 0)
		return merges;
	gro_opt_rules.hop_walked = merges;

	merges = gro_opt_stock_merges(sim, GRO_OPT_SIM_4IN4, jump, 2);
	if (merges < 0)
		return merges;
	gro_opt_rules.outer_id_free = merges;
	return 0;
}

static void gro_opt_disagree(const struct gro_opt_sim_plan *plan,
			     const struct gro_opt_sim_case *c)
{
	char *text;

	pr_err("self-check: %s, case '%s': ours and stock disagree\n",
	       plan->headers, c->name);
	if (gro_opt_features[plan->feature].reason)
		return;
	text = kasprintf(GFP_KERNEL, "self-check differs from stock: %s, %s",
			 plan->headers, c->name);
	gro_opt_reasons[plan->feature] = text;
	gro_opt_features_missing(text ?: "self-check differs from stock",
				 BIT(plan->feature));
}

static int gro_opt_compare_case(struct gro_opt_sim_pair *pair,
				enum gro_opt_sim_kind kind,
				const struct gro_opt_sim_case *c)
{
	int err;

	err = gro_opt_sim_set_stock(&pair->stock, kind);
	if (err)
		return err == -ENOENT ? 0 : err;
	gro_opt_sim_set_ours(&pair->ours, kind);
	err = gro_opt_sim_run(&pair->stock, c->segs, c->nr);
	if (err)
		return err;
	err = gro_opt_sim_run(&pair->ours, c->segs, c->nr);
	if (err)
		return err;
	if (pair->stock.nr_out != pair->ours.nr_out ||
	    memcmp(pair->stock.out, pair->ours.out, sizeof(pair->ours.out)))
		gro_opt_disagree(&gro_opt_sim_plans[kind], c);
	return 0;
}

static int gro_opt_compare_cases(struct gro_opt_sim_pair *pair,
				 enum gro_opt_sim_kind kind,
				 const struct gro_opt_sim_case *cases,
				 unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = gro_opt_compare_case(pair, kind, &cases[i]);
	return err;
}

static int gro_opt_compare_kind(struct gro_opt_sim_pair *pair,
				enum gro_opt_sim_kind kind)
{
	int err;

	err = gro_opt_compare_cases(pair, kind, gro_opt_sim_cases,
				    ARRAY_SIZE(gro_opt_sim_cases));
	if (err || !gro_opt_sim_tunnel(kind))
		return err;
	return gro_opt_compare_cases(pair, kind, gro_opt_sim_tunnel_cases,
				     ARRAY_SIZE(gro_opt_sim_tunnel_cases));
}

/* What is missing is not called: it may stand on something that is not there. */
static int gro_opt_compare(struct gro_opt_sim_pair *pair)
{
	unsigned long missing = gro_opt_features_without();
	unsigned int kind;
	int err = 0;

	gro_opt_features_force(true);
	for (kind = 0; kind < GRO_OPT_SIM_KINDS && !err; kind++)
		if (!(missing & BIT(gro_opt_sim_plans[kind].feature)))
			err = gro_opt_compare_kind(pair, kind);
	gro_opt_features_force(false);
	gro_opt_counters_clear();
	return err;
}

/* Never registered. Datagrams that are nobody's are merged on it. */
static struct net_device *gro_opt_sim_device(void)
{
	struct net_device *dev;

	dev = alloc_netdev(0, "gro_opt-check", NET_NAME_UNKNOWN, ether_setup);
	if (dev)
		dev->features = NETIF_F_GRO_UDP_FWD;
	return dev;
}

/**
 * gro_opt_selfcheck - learn from stock, then compare with it
 * @compare: false to learn only (selfcheck=0)
 *
 * Context: module load, state off, may sleep.
 *
 * Return: 0, also if features were left out; -ENOMEM.
 */
int gro_opt_selfcheck(bool compare)
{
	struct gro_opt_sim_pair *pair;
	struct net_device *dev;
	int err = -ENOMEM;

	dev = gro_opt_sim_device();
	if (!dev)
		return -ENOMEM;
	pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	if (!pair)
		goto free_device;
	pair->stock.dev = dev;
	pair->ours.dev = dev;
	err = gro_opt_learn(&pair->stock);
	if (!err && compare)
		err = gro_opt_compare(pair);
	kfree(pair);
free_device:
	free_netdev(dev);
	return err;
}

/* Module exit, or a failed load: nobody reads the reasons any more. */
void gro_opt_selfcheck_exit(void)
{
	int id;

	for (id = 0; id < GRO_OPT_NR_FEATURES; id++)
		kfree(gro_opt_reasons[id]);
}
