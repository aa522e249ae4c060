// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run of the kernel's A/B engine, round by round, and what its figures say.
 * The rounds are differences between reads of ab/result, which has their number in
 * it, so debugfs is not needed.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "groctl.h"
#include "sample.h"

/* --- a run ---------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static struct table *read_result(void)
{
	return need_table("ab/result");
}

static json_object *columns_of(const struct table *t)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < t->columns; i++)
		json_object_array_add(list, json_object_new_string(t->name[i]));
	return list;
}

/* A row of now, less what it was; the arm's letter stays out. */
static json_object *row_since(const struct table *now, const struct table *then,
			      size_t row)
{
	json_object *list = json_object_new_array();
	size_t i, at;

	for (i = 0; i < now->columns; i++) {
		at = row * now->columns + i;
		push_count(list, now->cell[at] - (then ? then->cell[at] : 0));
	}
	return list;
}

static void add_round(json_object *rounds, const struct table *now,
		      const struct table *then)
{
	json_object *pair = json_object_new_array();

	json_object_array_add(pair, row_since(now, then, 0));
	json_object_array_add(pair, row_since(now, then, 1));
	json_object_array_add(rounds, pair);
}

static void progress(const char *what, double done, unsigned int rounds,
		     double seconds)
{
	double left = (rounds - done) * seconds / rounds;
	static double shown = -1;

	if (!isatty(STDERR_FILENO) || done == shown)
		return;
	shown = done;
	fprintf(stderr, "\r%s: round %.0f of %u, %d:%02d left ", what, done,
		rounds, (int)left / 60, (int)left % 60);
	if (done >= rounds)
		fputs("\r\033[K", stderr);
	fflush(stderr);
}

static bool still_running(void)
{
	char *text = need_file("ab/run");
	bool running = !strncmp(text, "running", 7);

	if (!running && strcmp(text, "done"))
		die(EXIT_FAILED, "groctl status; dmesg | grep gro_opt",
		    "the run ended early: %s", text);
	free(text);
	return running;
}

static void stop_if_interrupted(void)
{
	if (!interrupted)
		return;
	write_quietly("ab/run", "stop");
	die(EXIT_FAILED, NULL, "interrupted; the run is stopped and the state is as it was");
}

/* Takes @then. */
static struct table *look(struct table *then, json_object *rounds)
{
	struct table *now = read_result();

	if (table_get(now, 0, "rounds") > table_get(then, 0, "rounds"))
		add_round(rounds, now, then);
	table_free(then);
	return now;
}

/*
 * Start a run with the settings as they are and collect its rounds. Two rounds
 * that were over between two looks are one. Returns an exit code.
 */
int rounds_run(const char *what, unsigned int rounds, double seconds,
	       json_object *into)
{
	const double per_round = seconds / rounds;
	const struct timespec wait = {
		.tv_sec = per_round / 4,
		.tv_nsec = fmod(per_round / 4, 1) * 1e9,
	};
	json_object *list = json_object_new_array();
	struct table *last;
	char number[16];
	bool running;

	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	snprintf(number, sizeof(number), "%u", rounds);
	write_file("ab/rounds", number);
	write_file("ab/run", "start");
	last = read_result();
	json_object_object_add(into, "columns", columns_of(last));
	do {
		nanosleep(&wait, NULL);
		stop_if_interrupted();
		running = still_running();
		last = look(last, list);
		progress(what, table_get(last, 0, "rounds"), rounds, seconds);
	} while (running);
	table_free(last);
	json_object_object_add(into, "rounds", list);
	return EXIT_OK;
}

/* --- figures -------------------------------------------------------------- */

/**
 * struct row - one arm in one round
 * @columns: names
 * @values: of the row
 */
struct row {
	json_object *columns;
	json_object *values;
};

static double get(const struct row *row, const char *name)
{
	json_object *column;
	size_t i;

	for (i = 0; i < json_object_array_length(row->columns); i++) {
		column = json_object_array_get_idx(row->columns, i);
		if (strcmp(name, json_object_get_string(column)))
			continue;
		column = json_object_array_get_idx(row->values, i);
		return json_object_get_double(column);
	}
	return 0;
}

static double per(const struct row *row, const char *sum, const char *count)
{
	double n = get(row, count);

	return n > 0 ? get(row, sum) / n : 0;
}

static double receive(const struct row *row)
{
	return per(row, "receive_cycles", "timed");
}

static double complete(const struct row *row)
{
	return per(row, "complete_cycles", "completes");
}

/* Both, a packet: an aggregate is completed once for all of its packets. */
static double handlers(const struct row *row)
{
	return receive(row) +
	       complete(row) * per(row, "aggregates", "packets");
}

static double poll_time(const struct row *row)
{
	return per(row, "poll_ns", "timed_packets");
}

static double segments(const struct row *row)
{
	double skbs = get(row, "packets") - get(row, "segments") +
		      get(row, "aggregates");

	return skbs > 0 ? get(row, "packets") / skbs : 0;
}

static double chained(const struct row *row)
{
	return 100 * per(row, "chained", "aggregates");
}

static const struct metric {
	const char *name;
	const char *unit;
	double (*of)(const struct row *row);
	bool more_is_better;
} metrics[] = {
	{ "handlers", "cycles/packet", handlers, false },
	{ "receive", "cycles/packet", receive, false },
	{ "complete", "cycles/aggregate", complete, false },
	{ "poll", "ns/packet", poll_time, false },
	{ "segments", "packets/skb", segments, true },
	{ "frag_list", "% of aggregates", chained, false },
};

#define METRICS (sizeof(metrics) / sizeof(*metrics))

static size_t nr_rounds(json_object *run)
{
	json_object *list = json_object_object_get(run, "rounds");

	return list ? json_object_array_length(list) : 0;
}

/* The figure of one arm in all rounds; the caller frees it. */
static double *figures(json_object *run, const struct metric *metric, int arm)
{
	json_object *list = json_object_object_get(run, "rounds");
	struct row row = { json_object_object_get(run, "columns"), NULL };
	size_t nr = nr_rounds(run), i;
	double *x = calloc(nr + 1, sizeof(*x));
	json_object *pair;

	if (!x)
		abort();
	for (i = 0; i < nr; i++) {
		pair = json_object_array_get_idx(list, i);
		row.values = json_object_array_get_idx(pair, arm);
		x[i] = metric->of(&row);
	}
	return x;
}

static struct verdict judge_run(json_object *run, const struct metric *metric,
				double band, unsigned long long seed)
{
	double *a = figures(run, metric, 0), *b = figures(run, metric, 1);
	struct verdict v = judge(a, b, nr_rounds(run), band,
				 metric->more_is_better, seed);

	free(a);
	free(b);
	return v;
}

static double median_of(json_object *run, const struct metric *metric, int arm)
{
	double *x = figures(run, metric, arm);
	double at = median(x, nr_rounds(run));

	free(x);
	return at;
}

static void add_number(json_object *object, const char *name, double value)
{
	json_object_object_add(object, name, json_object_new_double(value));
}

static json_object *judge_metric(json_object *aa, json_object *ab,
				 const struct metric *m,
				 unsigned long long seed)
{
	struct verdict same = judge_run(aa, m, 0, seed);
	double band = band_of(&same, nr_rounds(ab));
	struct verdict v = judge_run(ab, m, band, seed + 1);
	json_object *object = json_object_new_object();

	add_string(object, "metric", m->name);
	add_string(object, "unit", m->unit);
	add_number(object, "a", median_of(ab, m, 0));
	add_number(object, "b", median_of(ab, m, 1));
	add_number(object, "ratio", v.ratio.at);
	add_number(object, "low", v.ratio.low);
	add_number(object, "high", v.ratio.high);
	add_number(object, "aa_ratio", same.n ? same.ratio.at : 1);
	add_number(object, "aa_band", exp(band) - 1);
	add_number(object, "p", v.p);
	add_number(object, "drift", v.drift);
	add_number(object, "drift_p", v.drift_p);
	add_count(object, "n", v.n);
	add_string(object, "verdict", v.n ? v.word : "-");
	return object;
}

json_object *rounds_judge(json_object *aa, json_object *ab,
			  unsigned long long seed)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < METRICS; i++)
		json_object_array_add(list, judge_metric(aa, ab, &metrics[i],
							 seed));
	return list;
}

/* From the noise of an A/A run: of the handlers, or of polls if it has no other. */
unsigned int rounds_plan(json_object *aa, double effect)
{
	const struct metric *m = &metrics[0];
	double *a = figures(aa, m, 0), *b, *ratio, sd;
	size_t nr = nr_rounds(aa), used = 0, i;

	if (!(median(a, nr) > 0))
		m = &metrics[3];
	free(a);
	a = figures(aa, m, 0);
	b = figures(aa, m, 1);
	ratio = calloc(nr + 1, sizeof(*ratio));
	for (i = 0; ratio && i < nr; i++)
		if (a[i] > 0 && b[i] > 0)
			ratio[used++] = log(b[i] / a[i]);
	sd = deviation(ratio, used);
	free(ratio);
	free(b);
	free(a);
	return plan_rounds(sd, effect);
}

/* Ratio of the handlers in each round, 0 where there is none; to be freed. */
double *rounds_ratios(json_object *run, size_t *nr)
{
	double *a = figures(run, &metrics[0], 0);
	double *b = figures(run, &metrics[0], 1);
	size_t i;

	*nr = nr_rounds(run);
	for (i = 0; i < *nr; i++)
		a[i] = a[i] > 0 ? b[i] / a[i] : 0;
	free(b);
	return a;
}

/* A column's sum over all rounds, in percent of the samples. */
double rounds_share(json_object *run, int arm, const char *column)
{
	json_object *list = json_object_object_get(run, "rounds"), *pair;
	struct row row = { json_object_object_get(run, "columns"), NULL };
	double sum = 0, samples = 0;
	size_t i;

	for (i = 0; i < nr_rounds(run); i++) {
		pair = json_object_array_get_idx(list, i);
		row.values = json_object_array_get_idx(pair, arm);
		sum += get(&row, column);
		samples += get(&row, "samples");
	}
	return samples > 0 ? 100 * sum / samples : 0;
}

/* --- for people ----------------------------------------------------------- */

static double number(json_object *object, const char *name)
{
	return json_object_get_double(json_object_object_get(object, name));
}

static const char *colour_of(const char *word)
{
	if (!strcmp(word, "better"))
		return paint(GREEN);
	return paint(strcmp(word, "worse") ? "" : RED);
}

static const char *text(json_object *object, const char *name)
{
	return json_object_get_string(json_object_object_get(object, name));
}

static void print_result(json_object *r)
{
	const char *word = text(r, "verdict");

	printf("%-10s %9.1f %9.1f  ", text(r, "metric"), number(r, "a"),
	       number(r, "b"));
	if (!number(r, "n")) {
		printf("no figures (%s)\n", text(r, "unit"));
		return;
	}
	printf("%.3f  %.3f-%.3f  +-%.1f%%  %7.2g  %3.0f  %s%-6s%s %s%s\n",
	       number(r, "ratio"), number(r, "low"), number(r, "high"),
	       100 * number(r, "aa_band"), number(r, "p"), number(r, "n"),
	       colour_of(word), word, paint(PLAIN), text(r, "unit"),
	       number(r, "drift_p") < 0.01 ? "; drifts" : "");
}

void rounds_print(json_object *results)
{
	size_t i;

	puts("figure             a         b  ratio   95 %        A/A band     p     n  verdict");
	for (i = 0; i < json_object_array_length(results); i++)
		print_result(json_object_array_get_idx(results, i));
}
