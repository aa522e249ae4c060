// SPDX-License-Identifier: GPL-2.0-only
/*
 * groctl top: why does my traffic not aggregate? In each round the tracepoints are
 * on for a moment, and what passed then is sorted by device and by flow. So the
 * flows are a sample, by time, and the machine pays for that moment alone.
 */
#include <getopt.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "groctl.h"

/* As the events name them; then what no event is there for. */
static const char *const reasons[] = {
	"hdr", "id", "length", "flags", "ack", "options", "size", "seq",
	"push", "short", "other", "poll", "alone", "passed",
};

#define REASONS (sizeof(reasons) / sizeof(*reasons))
#define ALONE (REASONS - 2)
#define PASSED (REASONS - 1)

static const char *const meaning[REASONS] = {
	"IP headers differ: TTL, TOS, DF or their IPv6 counterparts",
	"IP-IDs neither stay nor count up",
	"the IP header says another length than there is",
	"TCP flags or window differ",
	"another number acknowledged",
	"TCP options differ, mostly timestamps",
	"a segment longer than the first one",
	"segments lost or out of order",
	"the sender has set PSH, RST or FIN",
	"a short segment, the last one of what was sent",
	"another reason",
	"the poll was over: more packets a poll with gro_flush_timeout and napi_defer_hard_irqs",
	"held, and no other came in the same poll: as for poll",
	"GRO does not hold such a packet: no payload, a flag, or no handler for it",
};

/**
 * struct flow - packets and what became of them, of a flow or of a device
 * @key: what it is called
 * @held: packets that began an aggregate
 * @ended: aggregates whose end was seen
 * @segments: of these
 * @by: how often for which reason
 */
struct flow {
	char key[192];
	unsigned long held;
	unsigned long ended;
	unsigned long segments;
	unsigned long by[REASONS];
};

/* Those of a round: a tree to find them, a list to sort them. */
struct flows {
	void *tree;
	struct flow **list;
	size_t nr;
	size_t room;
};

struct options {
	unsigned int rounds;
	unsigned int seconds;
	unsigned int window;
	unsigned int flows;
};

static void usage(FILE *out)
{
	fputs("Usage: groctl top [OPTIONS]\n\n"
	      "Devices, and flows with the fewest segments per skb, and why their aggregates\n"
	      "end.\n\n"
	      "  -n, --rounds N      stop after N of them\n"
	      "  -d, --delay S       one in so many seconds (2)\n"
	      "  -w, --window MS     and of that so much is looked at (500)\n"
	      "  -f, --flows N       at most so many flows (10)\n", out);
}

/* --- what passed ---------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct flow *)a)->key,
		      ((const struct flow *)b)->key);
}

static void flows_append(struct flows *all, struct flow *flow)
{
	if (all->nr == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		all->list = realloc(all->list,
				    all->room * sizeof(*all->list));
	}
	if (!all->list)
		abort();
	all->list[all->nr++] = flow;
}

static struct flow *flow_named(struct flows *all, const char *key)
{
	struct flow *flow = calloc(1, sizeof(*flow)), **found;

	if (!flow)
		abort();
	snprintf(flow->key, sizeof(flow->key), "%s", key);
	found = tsearch(flow, &all->tree, by_key);
	if (!found)
		abort();
	if (*found == flow)
		flows_append(all, flow);
	else
		free(flow);
	return *found;
}

static void forget(void *flow)
{
	free(flow);
}

static void flows_free(struct flows *all)
{
	tdestroy(all->tree, forget);
	free(all->list);
	memset(all, 0, sizeof(*all));
}

static void count(struct flow *flow, const struct event *e)
{
	size_t i;

	if (!strcmp(e->name, "gro_opt_hold")) {
		if (e->held)
			flow->held++;
		else
			flow->by[PASSED]++;
		return;
	}
	flow->ended++;
	flow->segments += e->segments;
	for (i = 0; i < ALONE; i++)
		if (!strcmp(reasons[i], e->reason))
			flow->by[i]++;
}

static const char *proto_name(int proto, char *number, size_t size)
{
	if (proto == 6)
		return "tcp";
	if (proto == 17)
		return "udp";
	snprintf(number, size, "proto %d", proto);
	return number;
}

static void take(struct flows *devices, struct flows *flows,
		 const struct event *e)
{
	char key[192], number[16];

	count(flow_named(devices, e->dev), e);
	snprintf(key, sizeof(key), "%s %s %s > %s", e->dev,
		 proto_name(e->proto, number, sizeof(number)), e->src, e->dst);
	count(flow_named(flows, key), e);
}

/* What was held and is not seen to end was alone when the poll ended. */
static void settle(struct flows *all)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		struct flow *f = all->list[i];

		if (f->held > f->ended)
			f->by[ALONE] = f->held - f->ended;
	}
}

static unsigned long skbs(const struct flow *f)
{
	return f->ended + f->by[ALONE] + f->by[PASSED];
}

static unsigned long packets(const struct flow *f)
{
	return f->segments + f->by[ALONE] + f->by[PASSED];
}

static double per_skb(const struct flow *f)
{
	return skbs(f) ? (double)packets(f) / skbs(f) : 0;
}

/* Each skb more than there need be costs the same, whatever has ended it. */
static size_t worst_reason(const struct flow *f)
{
	size_t worst = 0, i;

	for (i = 1; i < REASONS; i++)
		if (f->by[i] > f->by[worst])
			worst = i;
	return worst;
}

/* Few segments per skb first; of equals those with many skbs. */
static int by_merit(const void *a, const void *b)
{
	const struct flow *x = *(struct flow *const *)a;
	const struct flow *y = *(struct flow *const *)b;

	if (per_skb(x) != per_skb(y))
		return per_skb(x) < per_skb(y) ? -1 : 1;
	return skbs(x) < skbs(y) ? 1 : skbs(x) > skbs(y) ? -1 :
	       strcmp(x->key, y->key);
}

/* --- a round -------------------------------------------------------------- */

static void look(unsigned int window)
{
	events_clear();
	events_switch("gro_opt_hold", true);
	events_switch("gro_opt_flush", true);
	usleep(1000UL * window);
	events_switch("gro_opt_flush", false);
	events_switch("gro_opt_hold", false);
}

/* "# entries-in-buffer/entries-written: 12/15": how many were too many. */
static unsigned long lost_of(const char *line)
{
	const char *at = strstr(line, "entries-written:");
	unsigned long in, written;

	if (!at || sscanf(at, "entries-written: %lu/%lu", &in, &written) != 2)
		return 0;
	return written - in;
}

static unsigned long gather(struct flows *devices, struct flows *flows)
{
	char *path = events_path("trace"), *text = read_file(path);
	char *rest = text, *line;
	unsigned long lost = 0;
	struct event e;

	while ((line = strsep(&rest, "\n"))) {
		if (*line == '#')
			lost += lost_of(line);
		else if (event_parse(line, &e) && *e.dev)
			take(devices, flows, &e);
	}
	free(text);
	free(path);
	return lost;
}

static json_object *flow_json(const struct flow *f)
{
	json_object *object = json_object_new_object();
	json_object *by = json_object_new_object();
	size_t i;

	add_string(object, "name", f->key);
	add_count(object, "packets", packets(f));
	add_count(object, "skbs", skbs(f));
	json_object_object_add(object, "segs_per_skb",
			       json_object_new_double(per_skb(f)));
	add_string(object, "worst", reasons[worst_reason(f)]);
	for (i = 0; i < REASONS; i++)
		if (f->by[i])
			add_count(by, reasons[i], f->by[i]);
	json_object_object_add(object, "ended_by", by);
	return object;
}

static json_object *flows_json(const struct flows *all, size_t most)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < all->nr && i < most; i++)
		json_object_array_add(list, flow_json(all->list[i]));
	return list;
}

static void flows_print(const char *title, const struct flows *all,
			size_t most, bool *named)
{
	size_t i, worst;

	printf("%s%-60s %9s %9s %9s  %s%s\n", paint(BOLD), title, "packets",
	       "skbs", "segs/skb", "ended by", paint(PLAIN));
	for (i = 0; i < all->nr && i < most; i++) {
		const struct flow *f = all->list[i];

		worst = worst_reason(f);
		named[worst] = true;
		printf("%-60s %9lu %9lu %9.2f  %s %.0f %%\n", f->key,
		       packets(f), skbs(f), per_skb(f), reasons[worst],
		       skbs(f) ? 100.0 * f->by[worst] / skbs(f) : 0);
	}
}

static void show(const struct options *o, const struct flows *devices,
		 const struct flows *flows, unsigned long lost)
{
	bool named[REASONS] = {};
	size_t i;

	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	flows_print("device", devices, devices->nr, named);
	flows_print("flow", flows, o->flows, named);
	for (i = 0; i < REASONS; i++)
		if (named[i])
			printf("%s: %s\n", reasons[i], meaning[i]);
	if (!devices->nr)
		puts("nothing came in");
	if (lost)
		printf("%lu events more did not fit: a shorter --window\n",
		       lost);
	putchar('\n');
}

static void show_json(const struct options *o, const struct flows *devices,
		      const struct flows *flows, unsigned long lost)
{
	json_object *answer = new_answer("top");

	add_count(answer, "window_ms", o->window);
	add_count(answer, "lost", lost);
	json_object_object_add(answer, "devices",
			       flows_json(devices, devices->nr));
	json_object_object_add(answer, "flows", flows_json(flows, o->flows));
	print_json(answer);
}

static void sort(struct flows *all)
{
	settle(all);
	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), by_merit);
}

static void one_round(const struct options *o)
{
	struct flows devices = {}, flows = {};
	unsigned long lost;

	look(o->window);
	lost = gather(&devices, &flows);
	sort(&devices);
	sort(&flows);
	if (json_wanted)
		show_json(o, &devices, &flows, lost);
	else
		show(o, &devices, &flows, lost);
	fflush(stdout);
	flows_free(&devices);
	flows_free(&flows);
}

static int run(const struct options *o)
{
	char *state = need_file("state");
	unsigned int i;

	events_begin();
	if (!strcmp(state, "off"))
		die(EXIT_FAILED, "groctl on, or groctl passthrough to look at stock",
		    "the state is off, so no packet comes by");
	free(state);
	catch_signals();
	for (i = 0; !was_stopped() && (!o->rounds || i < o->rounds); i++) {
		if (i && 1000 * o->seconds > o->window)
			usleep(1000UL * (1000 * o->seconds - o->window));
		if (!was_stopped())
			one_round(o);
	}
	return EXIT_OK;
}

static bool parse_one(int opt, struct options *o)
{
	switch (opt) {
	case 'n':
		return parse_number(optarg, &o->rounds);
	case 'd':
		return parse_number(optarg, &o->seconds);
	case 'w':
		return parse_number(optarg, &o->window);
	case 'f':
		return parse_number(optarg, &o->flows);
	default:
		return false;
	}
}

int cmd_top(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "rounds", required_argument, NULL, 'n' },
		{ "delay", required_argument, NULL, 'd' },
		{ "window", required_argument, NULL, 'w' },
		{ "flows", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	struct options o = { .seconds = 2, .window = 500, .flows = 10 };
	int opt;

	while ((opt = getopt_long(argc, argv, "n:d:w:f:h", longs,
				  NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return EXIT_OK;
		}
		if (opt == '?')
			return usage_error("top", "no such option");
		if (!parse_one(opt, &o))
			return usage_error("top", "'%s' makes no sense here",
					   optarg);
	}
	if (optind < argc)
		return usage_error("top", "what is '%s'?", argv[optind]);
	return run(&o);
}
