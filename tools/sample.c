// SPDX-License-Identifier: GPL-2.0-only
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define LEVEL 0.95
/* Exact tests of signed ranks: up to so many pairs. */
#define EXACT 50

static void *xmalloc(size_t size)
{
	void *mem = malloc(size ? size : 1);

	if (!mem)
		abort();
	return mem;
}

/* --- order ---------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(const double *sorted, size_t n)
{
	if (!n)
		return 0;
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static double *sorted_copy(const double *x, size_t n)
{
	double *copy = xmalloc(n * sizeof(*copy));

	memcpy(copy, x, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), by_value);
	return copy;
}

double median(const double *x, size_t n)
{
	double *copy = sorted_copy(x, n);
	double at = middle(copy, n);

	free(copy);
	return at;
}

double deviation(const double *x, size_t n)
{
	double *away = xmalloc(n * sizeof(*away));
	double at = median(x, n), mad;
	size_t i;

	for (i = 0; i < n; i++)
		away[i] = fabs(x[i] - at);
	mad = median(away, n);
	free(away);
	return 1.482602218505602 * mad;
}

/* Ranks from 1, equal ones share theirs. Returns the sum of t^3 - t of ties. */
static double rank_all(const double *x, size_t n, double *ranks)
{
	size_t below, equal, i, k;
	double ties = 0;

	for (i = 0; i < n; i++) {
		below = 0;
		equal = 0;
		for (k = 0; k < n; k++) {
			below += x[k] < x[i];
			equal += x[k] == x[i];
		}
		ranks[i] = below + (equal + 1) / 2.0;
		ties += (double)equal * equal - 1;
	}
	return ties;
}

/* --- random numbers: splitmix64 ------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t n)
{
	return (size_t)(((next_random(state) >> 32) * n) >> 32);
}

/* --- bootstrap ------------------------------------------------------------ */

/*
 * The median of a resample needs no sorting: of sorted values, count how often
 * each is drawn and walk to the middle.
 */
static double resample(const double *sorted, size_t n, unsigned int *drawn,
		       uint64_t *state)
{
	size_t i, seen = 0, first = (n - 1) / 2, second = n / 2;
	double low = 0;

	memset(drawn, 0, n * sizeof(*drawn));
	for (i = 0; i < n; i++)
		drawn[below(state, n)]++;
	for (i = 0; i < n; i++) {
		if (seen <= first && first < seen + drawn[i])
			low = sorted[i];
		if (second < seen + drawn[i])
			return (low + sorted[i]) / 2;
		seen += drawn[i];
	}
	return low;
}

static double *resamples_of(const double *x, size_t n, uint64_t seed,
			    unsigned int nr)
{
	unsigned int *drawn = xmalloc(n * sizeof(*drawn)), i;
	double *at = xmalloc(nr * sizeof(*at));
	double *sorted = sorted_copy(x, n);

	for (i = 0; i < nr; i++)
		at[i] = resample(sorted, n, drawn, &seed);
	qsort(at, nr, sizeof(*at), by_value);
	free(sorted);
	free(drawn);
	return at;
}

struct interval bootstrap_median(const double *x, size_t n, double level,
				 unsigned long long seed, unsigned int nr)
{
	struct interval result = { median(x, n), 0, 0 };
	double *at;

	if (!n || !nr)
		return result;
	at = resamples_of(x, n, seed, nr);
	result.low = at[(size_t)((1 - level) / 2 * (nr - 1))];
	result.high = at[(size_t)ceil((1 + level) / 2 * (nr - 1))];
	free(at);
	return result;
}

double bootstrap_error(const double *x, size_t n, unsigned long long seed,
		       unsigned int nr)
{
	double *at = resamples_of(x, n, seed, nr), mean = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		mean += at[i] / nr;
	for (i = 0; i < nr; i++)
		sum += (at[i] - mean) * (at[i] - mean);
	free(at);
	return sqrt(sum / (nr - 1));
}

/* --- tails ---------------------------------------------------------------- */

double normal_tail(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = DBL_MIN;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f, step;
	int m;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (m = 1; m < 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x /
			     ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 + even * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + even / c;
		f *= d * c;
		d = 1 + odd * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + odd / c;
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 16 * DBL_EPSILON)
			break;
	}
	return f;
}

static double beta_below(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
		    b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_tail(double t, double df)
{
	return beta_below(df / 2, 0.5, df / (df + t * t));
}

/* --- tests ---------------------------------------------------------------- */

/* Chance of a sum of signed ranks of at most @v, by counting all of them. */
static double signed_ranks_below(size_t n, double v)
{
	size_t max = n * (n + 1) / 2, i, k;
	double *ways = calloc(max + 1, sizeof(*ways)), sum = 0;

	if (!ways)
		abort();
	ways[0] = 1;
	for (i = 1; i <= n; i++)
		for (k = max; k >= i; k--)
			ways[k] += ways[k - i];
	for (k = 0; k <= max && k <= v; k++)
		sum += ways[k];
	free(ways);
	return sum / exp2(n);
}

static double wilcoxon_exact(size_t n, double v)
{
	double max = n * (n + 1) / 2.0;
	double p = 2 * signed_ranks_below(n, v < max - v ? v : max - v);

	return p < 1 ? p : 1;
}

static double wilcoxon_normal(size_t n, double v, double ties)
{
	double mean = n * (n + 1) / 4.0;
	double var = n * (n + 1.0) * (2 * n + 1) / 24 - ties / 48;
	double off = fabs(v - mean) - 0.5;

	return var > 0 && off > 0 ? normal_tail(off / sqrt(var)) : 1;
}

double wilcoxon(const double *x, size_t n, double *v)
{
	double *away = xmalloc(n * sizeof(*away)), *sign, *ranks;
	double sum = 0, ties;
	size_t i, nr = 0;

	if (v)
		*v = 0;

	sign = xmalloc(n * sizeof(*sign));
	ranks = xmalloc(n * sizeof(*ranks));
	for (i = 0; i < n; i++) {
		if (x[i] == 0)
			continue;
		away[nr] = fabs(x[i]);
		sign[nr++] = x[i];
	}
	ties = nr ? rank_all(away, nr, ranks) : 0;
	for (i = 0; i < nr; i++)
		sum += sign[i] > 0 ? ranks[i] : 0;
	free(ranks);
	free(sign);
	free(away);
	if (v)
		*v = sum;
	if (!nr)
		return 1;
	return nr <= EXACT && ties == 0 && nr == n ?
	       wilcoxon_exact(nr, sum) : wilcoxon_normal(nr, sum, ties);
}

static double correlation(const double *x, const double *y, size_t n)
{
	double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		mx += x[i] / n;
		my += y[i] / n;
	}
	for (i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		yy += (y[i] - my) * (y[i] - my);
		xy += (x[i] - mx) * (y[i] - my);
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

double spearman(const double *x, const double *y, size_t n, double *p)
{
	double *rx = xmalloc(n * sizeof(*rx)), *ry = xmalloc(n * sizeof(*ry));
	double rho;

	rank_all(x, n, rx);
	rank_all(y, n, ry);
	rho = correlation(rx, ry, n);
	free(rx);
	free(ry);
	if (p && (n < 3 || fabs(rho) >= 1))
		*p = n < 3 ? 1 : 0;
	else if (p)
		*p = student_tail(rho * sqrt((n - 2) / (1 - rho * rho)), n - 2);
	return rho;
}

/* --- rounds --------------------------------------------------------------- */

/*
 * Two-sided 5 % and a power of 90 % are 1.96 and 1.28 standard errors; that of a
 * median is 1.25 times a mean's. The effect has to be out of the A/A band as
 * well, which is itself an estimate: half as many rounds again.
 */
unsigned int plan_rounds(double sd, double effect)
{
	double errors = (1.959964 + 1.281552) * 1.253314;
	double n = 1.5 * pow(errors * sd / log1p(effect), 2);

	if (n < 20)
		return 20;
	return n > 10000 ? 10000 : (unsigned int)ceil(n);
}

/*
 * What is chance in it shrinks with the number of rounds; what is not, because
 * the interval does not hold 1, does not.
 */
double band_of(const struct verdict *aa, size_t n)
{
	double low = log(aa->ratio.low), high = log(aa->ratio.high);
	double bias = low > 0 || high < 0 ? fabs(log(aa->ratio.at)) : 0;

	if (!aa->n || !n)
		return 0;
	return bias + (high - low) / 2 * sqrt((double)aa->n / n);
}

static const char *word_of(const struct interval *log_ratio, double band,
			   bool more_is_better)
{
	if (log_ratio->low <= 0 && log_ratio->high >= 0)
		return "~";
	if (fabs(log_ratio->at) <= band)
		return "~";
	return (log_ratio->at > 0) == more_is_better ? "better" : "worse";
}

struct verdict judge(const double *a, const double *b, size_t n, double band,
		     bool more_is_better, unsigned long long seed)
{
	double *ratio = xmalloc(n * sizeof(*ratio));
	double *round = xmalloc(n * sizeof(*round));
	struct verdict v = { .p = 1, .drift_p = 1 };
	struct interval log_ratio;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(a[i] > 0) || !(b[i] > 0))
			continue;
		round[v.n] = i;
		ratio[v.n++] = log(b[i] / a[i]);
	}
	log_ratio = bootstrap_median(ratio, v.n, LEVEL, seed, RESAMPLES);
	v.ratio.at = exp(log_ratio.at);
	v.ratio.low = exp(log_ratio.low);
	v.ratio.high = exp(log_ratio.high);
	v.p = wilcoxon(ratio, v.n, NULL);
	v.drift = spearman(round, ratio, v.n, &v.drift_p);
	/* Of five or fewer no interval means anything. */
	v.word = v.n > 5 ? word_of(&log_ratio, band, more_is_better) : "~";
	free(ratio);
	free(round);
	return v;
}
