// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics against published examples, and by simulation: how often do two
 * equal arms differ, and how often is a difference of 2 % found with the rounds
 * planned for it? TAP.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define NR(x) (sizeof(x) / sizeof((x)[0]))
#define RUNS 400
#define MOST 2000

static unsigned int tests, failed;

static void is_near(const char *what, double got, double want, double by)
{
	bool good = fabs(got - want) <= by;

	tests++;
	failed += !good;
	printf("%sok %u %s: %g, published %g\n", good ? "" : "not ", tests,
	       what, got, want);
}

static void is_true(const char *what, bool good, double figure)
{
	tests++;
	failed += !good;
	printf("%sok %u %s: %g\n", good ? "" : "not ", tests, what, figure);
}

/* --- published ------------------------------------------------------------ */

/* Hollander and Wolfe, 1973, page 29: depression; as in R's wilcox.test. */
static void depression(void)
{
	static const double x[] = {
		1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
	static const double y[] = {
		0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	double d[NR(x)], v, p;
	size_t i;

	for (i = 0; i < NR(x); i++)
		d[i] = x[i] - y[i];
	p = wilcoxon(d, NR(d), &v);
	is_near("Wilcoxon, depression, V", v, 40, 0);
	/* One-sided there: 0.01953. */
	is_near("Wilcoxon, depression, p", p, 2 * 0.01953, 0.00002);
}

/* Student, 1908: sleep; ties and a zero, so the normal approximation. */
static void sleep_data(void)
{
	static const double d[] = {
		-1.2, -2.4, -1.3, -1.3, 0, -1.0, -1.8, -0.8, -4.6, -1.4 };
	double v, p = wilcoxon(d, NR(d), &v);

	is_near("Wilcoxon, sleep, V", v, 0, 0);
	is_near("Wilcoxon, sleep, p", p, 0.009091, 0.000001);
}

/* Critical values of the tables: 5 % two-sided is 8 for 10 pairs, 52 for 20. */
static void critical(size_t n, double most)
{
	char what[64];
	double d[64], v, above, p;
	size_t i;

	/* Ranks 1 to n; those that sum up to @most are negative. */
	for (i = 0; i < n; i++)
		d[i] = i + 1;
	for (v = most, i = n; i > 0; i--)
		if (i <= v) {
			d[i - 1] = -d[i - 1];
			v -= i;
		}
	p = wilcoxon(d, n, NULL);
	/* One rank sum more is not significant. */
	above = most + 1;
	for (i = 0; i < n; i++)
		d[i] = i + 1;
	for (i = n; i > 0; i--)
		if (i <= above) {
			d[i - 1] = -d[i - 1];
			above -= i;
		}
	snprintf(what, sizeof(what), "Wilcoxon, critical value for n=%zu", n);
	is_true(what, p <= 0.05 && wilcoxon(d, n, NULL) > 0.05, p);
}

/* IQ and hours of television, as in textbooks and Wikipedia. */
static void television(void)
{
	static const double iq[] = {
		106, 100, 86, 101, 99, 103, 97, 113, 112, 110 };
	static const double tv[] = { 7, 27, 2, 50, 28, 29, 20, 12, 6, 17 };
	double p, rho = spearman(iq, tv, NR(iq), &p);

	is_near("Spearman, television, rho", rho, -29.0 / 165, 0.000001);
	is_near("Spearman, television, p", p, 0.627188, 0.000001);
}

/* Efron and Tibshirani, 1993, table 2.1: the treated mice. */
static void mice(void)
{
	static const double x[] = { 94, 197, 16, 38, 99, 141, 23 };

	is_near("bootstrap, mice, median", median(x, NR(x)), 94, 0);
	is_near("bootstrap, mice, standard error",
		bootstrap_error(x, NR(x), 1, 200000), 37.83, 0.3);
}

static void tails(void)
{
	is_near("normal, 1.959964", normal_tail(1.959964), 0.05, 0.000001);
	/* Tables of Student's t: 5 % two-sided. */
	is_near("Student, 10 degrees", student_tail(2.228139, 10), 0.05, 0.000001);
	is_near("Student, 1 degree", student_tail(12.7062, 1), 0.05, 0.000001);
}

static void same_seed(void)
{
	static const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14 };
	struct interval a = bootstrap_median(x, NR(x), 0.95, 7, 5000);
	struct interval b = bootstrap_median(x, NR(x), 0.95, 7, 5000);

	is_true("bootstrap, the same seed gives the same",
		!memcmp(&a, &b, sizeof(a)), a.low);
}

/* --- simulated ------------------------------------------------------------ */

static uint64_t rng = 20260;

static double uniform(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return ((rng * 0x2545f4914f6cdd1dULL) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/*
 * A round's log ratio as hosts have it: load drifts through both arms, either has
 * noise of its own, and one in twenty meets something else.
 */
static void rounds(double *a, double *b, unsigned int n, double sd,
		   double effect)
{
	double load = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		load = 0.9 * load + 0.05 * normal();
		a[i] = 300 * exp(load + sd / M_SQRT2 * normal());
		b[i] = 300 * exp(load + effect + sd / M_SQRT2 * normal());
		if (uniform() < 0.05)
			b[i] *= 1 + 0.2 * uniform();
		if (uniform() < 0.05)
			a[i] *= 1 + 0.2 * uniform();
	}
}

/* A/A with 40 rounds, the plan, then the run. */
static bool experiment(double sd, double effect, const char *want)
{
	static double a[MOST], b[MOST], d[MOST];
	struct verdict aa, ab;
	unsigned int n = 40, i;

	rounds(a, b, n, sd, 0);
	aa = judge(a, b, n, 0, false, 1);
	for (i = 0; i < n; i++)
		d[i] = log(b[i] / a[i]);
	n = plan_rounds(deviation(d, n), 0.02);
	if (n > MOST)
		n = MOST;
	rounds(a, b, n, sd, effect);
	ab = judge(a, b, n, band_of(&aa, n), false, 2);
	return !strcmp(ab.word, want);
}

static double share(double sd, double effect, const char *want)
{
	unsigned int i, hits = 0;

	for (i = 0; i < RUNS; i++)
		hits += experiment(sd, effect, want);
	return (double)hits / RUNS;
}

static void simulate(double sd)
{
	char what[80];
	double alarms = 1 - share(sd, 0, "~");
	double found = share(sd, log(0.98), "better");

	snprintf(what, sizeof(what), "A/A at noise of %g: false alarms", sd);
	is_true(what, alarms <= 0.05, alarms);
	snprintf(what, sizeof(what), "2 %% less at noise of %g: found", sd);
	is_true(what, found >= 0.80, found);
}

/* Without a band: the interval alone holds what it promises. */
static void interval_alone(void)
{
	static double a[MOST], b[MOST];
	unsigned int i, outside = 0;

	for (i = 0; i < RUNS; i++) {
		rounds(a, b, 40, 0.03, 0);
		outside += strcmp(judge(a, b, 40, 0, false, i).word, "~") != 0;
	}
	is_true("95 % interval of 40 rounds: misses", outside <= 0.075 * RUNS,
		(double)outside / RUNS);
}

static void drift(void)
{
	static double a[100], b[100];
	struct verdict v;
	int i;

	for (i = 0; i < 100; i++) {
		a[i] = 1;
		b[i] = exp(0.001 * i + 0.01 * normal());
	}
	v = judge(a, b, 100, 0, false, 1);
	is_true("a drift is seen", v.drift > 0.5 && v.drift_p < 0.001, v.drift);
}

int main(void)
{
	puts("TAP version 13");
	depression();
	sleep_data();
	critical(10, 8);
	critical(20, 52);
	television();
	mice();
	tails();
	same_seed();
	interval_alone();
	drift();
	simulate(0.01);
	simulate(0.04);
	simulate(0.08);
	printf("1..%u\n%u passed, %u failed\n", tests, tests - failed, failed);
	return failed > 0;
}
