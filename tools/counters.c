// SPDX-License-Identifier: GPL-2.0-only
/* groctl stats and hist. The kernel's counters only grow; differences are made here. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "groctl.h"

#define FEATURES_MAX 32

static void usage(FILE *out)
{
	fputs("Usage: groctl stats [-w [SECONDS]] [-n TIMES]\n\n"
	      "  -w, --watch[=SECONDS]  what changes in so many seconds (1), again and again\n"
	      "  -n, --times N          stop after N of them\n"
	      "  -a, --all              also what is zero\n",
	      out);
}

/**
 * struct snapshot - the counters of all features
 * @nr: features
 * @name: of each
 * @table: counters file of each
 */
struct snapshot {
	size_t nr;
	char **name;
	struct table *table[FEATURES_MAX];
};

static void snapshot_take(struct snapshot *s)
{
	size_t i;

	s->name = list_folder("features", &s->nr);
	if (s->nr > FEATURES_MAX)
		s->nr = FEATURES_MAX;
	for (i = 0; i < s->nr; i++)
		s->table[i] = need_counters(s->name[i]);
}

static void snapshot_free(struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		table_free(s->table[i]);
	free_list(s->name);
	memset(s, 0, sizeof(*s));
}

static double since(const struct snapshot *now, const struct snapshot *then,
		    size_t feature, size_t row, const char *column)
{
	double value = table_get(now->table[feature], row, column);

	if (then)
		value -= table_get(then->table[feature], row, column);
	return value;
}

static void print_feature(const struct snapshot *now,
			  const struct snapshot *then, size_t i, bool all)
{
	const struct table *t = now->table[i];
	double stock, opt;
	size_t row;

	for (row = 0; row < t->rows; row++) {
		stock = since(now, then, i, row, "stock");
		opt = since(now, then, i, row, "opt");
		if (all || stock > 0 || opt > 0)
			printf("%-10s %-16s %14.0f %14.0f\n", now->name[i],
			       t->label[row], stock, opt);
	}
}

static json_object *feature_json(const struct snapshot *now,
				 const struct snapshot *then, size_t i)
{
	json_object *object = json_object_new_object(), *pair;
	const struct table *t = now->table[i];
	size_t row;

	for (row = 0; row < t->rows; row++) {
		pair = json_object_new_object();
		add_count(pair, "stock", since(now, then, i, row, "stock"));
		add_count(pair, "opt", since(now, then, i, row, "opt"));
		json_object_object_add(object, t->label[row], pair);
	}
	return object;
}

static void print_snapshot(const struct snapshot *now,
			   const struct snapshot *then, bool all)
{
	json_object *answer, *features;
	size_t i;

	if (!json_wanted) {
		printf("%-10s %-16s %14s %14s\n", "feature", "counter",
		       "stock", "ours");
		for (i = 0; i < now->nr; i++)
			print_feature(now, then, i, all);
		return;
	}
	answer = new_answer("stats");
	features = json_object_new_object();
	for (i = 0; i < now->nr; i++)
		json_object_object_add(features, now->name[i],
				       feature_json(now, then, i));
	json_object_object_add(answer, "features", features);
	print_json(answer);
}

static int watch(unsigned int seconds, unsigned int times, bool all)
{
	struct snapshot then, now;
	unsigned int i;

	snapshot_take(&then);
	for (i = 0; !times || i < times; i++) {
		sleep(seconds);
		snapshot_take(&now);
		print_snapshot(&now, &then, all);
		fflush(stdout);
		snapshot_free(&then);
		then = now;
	}
	snapshot_free(&then);
	return EXIT_OK;
}

int cmd_stats(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "watch", optional_argument, NULL, 'w' },
		{ "times", required_argument, NULL, 'n' },
		{ "all", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	unsigned int seconds = 0, times = 0;
	struct snapshot now;
	bool all = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "w::n:ah", longs, NULL)) != -1) {
		switch (opt) {
		case 'w':
			seconds = optarg ? atoi(optarg) : 1;
			if (!seconds)
				return usage_error("stats", "'%s' are no seconds",
						   optarg);
			break;
		case 'n':
			times = atoi(optarg);
			break;
		case 'a':
			all = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_OK;
		default:
			return usage_error("stats", "no such option");
		}
	}
	if (optind < argc)
		return usage_error("stats", "what is '%s'?", argv[optind]);
	need_module();
	if (seconds)
		return watch(seconds, times, all);
	snapshot_take(&now);
	print_snapshot(&now, NULL, all);
	snapshot_free(&now);
	return EXIT_OK;
}

/* --- hist ----------------------------------------------------------------- */

static char *need_debug(const char *file)
{
	char *path = debug_path(file), *text;

	need_module();
	need_root("debugfs");
	text = read_file(path);
	if (!text)
		die(EXIT_UNSUPPORTED, errno == EPERM ?
		    "nothing: lockdown closes debugfs; ab report has the medians" :
		    "mount -t debugfs none /sys/kernel/debug",
		    "cannot read %s: %s", path, strerror(errno));
	free(path);
	return text;
}

static void hist_bar(double value, double most)
{
	int width = most > 0 ? (int)(30 * value / most + 0.5) : 0;

	while (width--)
		putchar('#');
}

static void hist_print(const char *title, const struct table *t)
{
	double most = 0;
	size_t i;

	printf("%s%-10s %10s %10s%s\n", paint(BOLD), title, "a", "b",
	       paint(PLAIN));
	for (i = 0; i < t->rows; i++)
		if (t->cell[3 * i + 2] > most)
			most = t->cell[3 * i + 2];
	for (i = 0; i < t->rows; i++) {
		if (!t->cell[3 * i + 1] && !t->cell[3 * i + 2])
			continue;
		printf("%10.0f %10.0f %10.0f  ", t->cell[3 * i],
		       t->cell[3 * i + 1], t->cell[3 * i + 2]);
		hist_bar(t->cell[3 * i + 2], most);
		putchar('\n');
	}
}

static json_object *hist_json(const struct table *t)
{
	json_object *list = json_object_new_array(), *row;
	size_t i, k;

	for (i = 0; i < t->rows; i++) {
		row = json_object_new_array();
		for (k = 0; k < 3; k++)
			push_count(row, t->cell[3 * i + k]);
		json_object_array_add(list, row);
	}
	return list;
}

static const char *const hist_files[] = {
	"cycles_per_packet", "segs_per_skb" };

/* A histogram's text with a line that names the columns. */
static struct table *hist_table(const char *text)
{
	struct table *t;
	char *headed;

	if (asprintf(&headed, "from a b\n%s", text) < 0)
		abort();
	t = table_parse(headed);
	free(headed);
	return t;
}

/* Those of the last run, as far as they can be read. */
json_object *hist_read(void)
{
	json_object *object = json_object_new_object();
	char name[64], *path, *text;
	struct table *t;
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "hist/%s", hist_files[i]);
		path = debug_path(name);
		text = read_file(path);
		free(path);
		if (!text)
			continue;
		t = hist_table(text);
		json_object_object_add(object, hist_files[i], hist_json(t));
		table_free(t);
		free(text);
	}
	return object;
}

int cmd_hist(int argc, char **argv)
{
	json_object *answer;
	char path[64], *text;
	struct table *t;
	size_t i;

	if (argc > 1 && strcmp(argv[1], "--help"))
		return usage_error("hist", "what is '%s'?", argv[1]);
	if (argc > 1) {
		puts("Usage: groctl hist\n\nHistograms of the last A/B run: from, arm a, arm b.");
		return EXIT_OK;
	}
	answer = new_answer("hist");
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "hist/%s", hist_files[i]);
		text = need_debug(path);
		t = hist_table(text);
		if (!json_wanted)
			hist_print(hist_files[i], t);
		json_object_object_add(answer, hist_files[i], hist_json(t));
		table_free(t);
		free(text);
	}
	if (json_wanted)
		print_json(answer);
	else
		json_object_put(answer);
	return EXIT_OK;
}
