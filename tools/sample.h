/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics of paired rounds. Nothing here reads or prints anything. */
#ifndef _GROCTL_SAMPLE_H
#define _GROCTL_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* Resamples of a bootstrap, unless said otherwise. */
#define RESAMPLES 10000

/**
 * struct interval - an estimate and what it may as well be
 * @at: estimate
 * @low: lower end
 * @high: upper end
 */
struct interval {
	double at;
	double low;
	double high;
};

/* Of the middle two, the mean; 0 of nothing. */
double median(const double *x, size_t n);
/* Spread: the median of distances from the median, as of a normal one's. */
double deviation(const double *x, size_t n);

/* Median, with the percentile bootstrap's interval of @level, say 0.95. */
struct interval bootstrap_median(const double *x, size_t n, double level,
				 unsigned long long seed,
				 unsigned int resamples);
/* Standard deviation of bootstrap medians. */
double bootstrap_error(const double *x, size_t n, unsigned long long seed,
		       unsigned int resamples);

/**
 * wilcoxon - signed-rank test, two-sided
 * @x: differences of pairs; zeroes are left out
 * @n: how many
 * @v: sum of the ranks of those above zero, or NULL
 *
 * Exact up to 50 without ties, else the normal approximation with corrections
 * for ties and continuity.
 *
 * Return: p; 1 if there is nothing to compare.
 */
double wilcoxon(const double *x, size_t n, double *v);

/**
 * spearman - rank correlation
 * @x: one
 * @y: and the other
 * @n: how many
 * @p: two-sided, by the t distribution, or NULL
 *
 * Return: rho; 0 where it is not defined.
 */
double spearman(const double *x, const double *y, size_t n, double *p);

/* Two-sided tail of Student's t with @df degrees of freedom. */
double student_tail(double t, double df);
double normal_tail(double z);

/*
 * Rounds, so that an effect of @effect (0.02 for 2 %) is found nine times in ten
 * where log ratios of rounds spread by @sd.
 */
unsigned int plan_rounds(double sd, double effect);

/**
 * struct verdict - what paired rounds say
 * @ratio: b over a, with its 95 % interval
 * @p: wilcoxon()
 * @drift: rho of round and difference
 * @drift_p: p of that
 * @n: pairs
 * @word: "better" (less of it), "worse" or "~"
 */
struct verdict {
	struct interval ratio;
	double p;
	double drift;
	double drift_p;
	size_t n;
	const char *word;
};

/**
 * judge - compare arm b with arm a
 * @a: figure of a in each round
 * @b: of b; pairs in which either is not above zero are left out
 * @n: rounds
 * @band: what an A/A run gave: log ratios this far from 0 mean nothing
 * @more_is_better: of this figure
 * @seed: of the bootstrap
 */
struct verdict judge(const double *a, const double *b, size_t n, double band,
		     bool more_is_better, unsigned long long seed);

/* How far from 0 a log ratio of @n rounds may be and mean nothing. */
double band_of(const struct verdict *aa, size_t n);

#endif /* _GROCTL_SAMPLE_H */
