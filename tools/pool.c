// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several files of one host: their rounds are one run's, if arms, mode, kernel and
 * columns are the same. Hosts are never mixed: each has its own noise.
 */
#include <stdlib.h>
#include <string.h>

#include "groctl.h"

static json_object *member(json_object *object, const char *name)
{
	return json_object_object_get(object, name);
}

static bool same_text(json_object *a, json_object *b, const char *part,
		      const char *name)
{
	const char *x = json_object_get_string(member(member(a, part), name));
	const char *y = json_object_get_string(member(member(b, part), name));

	return x && y && !strcmp(x, y);
}

/* Columns that one of two modules does not have would be read as others. */
static bool same_columns(json_object *a, json_object *b, const char *run)
{
	return json_object_equal(member(member(a, run), "columns"),
				 member(member(b, run), "columns"));
}

static bool may_pool(json_object *a, json_object *b)
{
	return same_text(a, b, "machine", "host") &&
	       same_text(a, b, "machine", "kernel") &&
	       same_text(a, b, "settings", "mode") &&
	       same_text(a, b, "settings", "arm_a") &&
	       same_text(a, b, "settings", "arm_b") &&
	       same_columns(a, b, "aa") && same_columns(a, b, "ab");
}

static void append(json_object *to, json_object *from, const char *run)
{
	json_object *list = member(member(to, run), "rounds");
	json_object *more = member(member(from, run), "rounds");
	size_t i;

	for (i = 0; more && i < json_object_array_length(more); i++) {
		json_object *round = json_object_array_get_idx(more, i);

		json_object_array_add(list, json_object_get(round));
	}
}

static long long cell(json_object *row, size_t i)
{
	return json_object_get_int64(json_object_array_get_idx(row, i));
}

/* Rows "from a b" of the same histogram. */
static void add_hist(json_object *to, json_object *from, const char *name)
{
	json_object *rows = member(member(to, "hist"), name);
	json_object *more = member(member(from, "hist"), name), *a, *b;
	size_t i;

	if (!rows || !more || json_object_array_length(rows) !=
			      json_object_array_length(more))
		return;
	for (i = 0; i < json_object_array_length(rows); i++) {
		a = json_object_array_get_idx(rows, i);
		b = json_object_array_get_idx(more, i);
		json_object_array_put_idx(a, 1,
					  json_object_new_int64(cell(a, 1) + cell(b, 1)));
		json_object_array_put_idx(a, 2,
					  json_object_new_int64(cell(a, 2) + cell(b, 2)));
	}
}

/* Takes @from. */
static void pool(json_object *to, json_object *from)
{
	json_object *seed = member(member(to, "settings"), "seed");
	int files = json_object_get_int(member(to, "files"));

	append(to, from, "aa");
	append(to, from, "ab");
	add_hist(to, from, "segs_per_skb");
	add_hist(to, from, "cycles_per_packet");
	add_count(to, "files", (files ? files : 1) + 1);
	json_object_object_add(to, "results",
			       rounds_judge(member(to, "aa"), member(to, "ab"),
					    json_object_get_int64(seed)));
	json_object_put(from);
}

/* The files, in their order, with those of one host in its first. */
size_t pool_hosts(json_object **files, size_t nr)
{
	size_t kept = 0, i, k;

	for (i = 0; i < nr; i++) {
		for (k = 0; k < kept; k++)
			if (may_pool(files[k], files[i]))
				break;
		if (k < kept)
			pool(files[k], files[i]);
		else
			files[kept++] = files[i];
	}
	return kept;
}
