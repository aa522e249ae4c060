// SPDX-License-Identifier: GPL-2.0-only
/*
 * groctl ab report --html: one file, with its pictures in it as SVG and nothing to
 * be fetched. Light or dark as the reader has it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groctl.h"

#define WIDTH	640
#define HEIGHT	180
#define LEFT	56
#define RIGHT	12

static const char style[] =
	"<meta charset=utf-8><meta name=viewport content='width=device-width'>\n"
	"<title>gro_opt A/B</title>\n<style>\n"
	":root{color-scheme:light dark;--a:#8a5a00;--b:#0060b0;--dim:#767676}\n"
	"@media(prefers-color-scheme:dark){:root{--a:#e0a030;--b:#60b0ff;--dim:#9a9a9a}}\n"
	"body{font:16px/1.5 system-ui,sans-serif;max-width:54rem;margin:2rem auto;padding:0 1rem}\n"
	"b.a{color:var(--a)}b.b{color:var(--b)}td{white-space:nowrap}\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th,td{text-align:right;padding:.25rem .5rem;border-bottom:1px solid var(--dim)}\n"
	"th:first-child,td:first-child,td.text{text-align:left}\n"
	".scroll{overflow-x:auto}svg{width:100%;height:auto}\n"
	"svg text{font-size:12px;fill:currentColor}.a{fill:var(--a)}.b{fill:var(--b)}\n"
	".line{stroke:var(--dim)}.band{fill:var(--dim);opacity:.25}\n"
	"</style>\n";

/* --- text ----------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

static json_object *member(json_object *object, const char *name)
{
	return json_object_object_get(object, name);
}

static const char *text(json_object *object, const char *name)
{
	const char *value = json_object_get_string(member(object, name));

	return value ? value : "?";
}

static double number(json_object *object, const char *name)
{
	return json_object_get_double(member(object, name));
}

static void put_cell(FILE *out, const char *value)
{
	fputs("<td class=text>", out);
	put_text(out, value);
	fputs("</td>", out);
}

static void put_row(FILE *out, const char *name, const char *value)
{
	fputs("<tr>", out);
	put_cell(out, name);
	put_cell(out, value);
	fputs("</tr>\n", out);
}

/* --- the table of results ------------------------------------------------- */

static void put_result(FILE *out, json_object *r)
{
	if (!number(r, "n"))
		return;
	fputs("<tr>", out);
	put_cell(out, text(r, "metric"));
	fprintf(out, "<td>%.1f</td><td>%.1f</td><td>%.3f</td><td>%.3f-%.3f</td>",
		number(r, "a"), number(r, "b"), number(r, "ratio"),
		number(r, "low"), number(r, "high"));
	fprintf(out, "<td>&plusmn;%.1f&nbsp;%%</td><td>%.2g</td><td>%.0f</td><td><b>",
		100 * number(r, "aa_band"), number(r, "p"), number(r, "n"));
	put_text(out, text(r, "verdict"));
	fputs("</b></td>", out);
	put_cell(out, text(r, "unit"));
	fputs("</tr>\n", out);
}

static void put_results(FILE *out, json_object *list)
{
	size_t i;

	fputs("<div class=scroll><table>\n<tr><th>figure<th>a<th>b<th>ratio\n"
	      "<th>95 %<th>A/A band<th>p<th>rounds<th>verdict<th>unit</tr>\n",
	      out);
	for (i = 0; i < json_object_array_length(list); i++)
		put_result(out, json_object_array_get_idx(list, i));
	fputs("</table></div>\n", out);
}

/* --- pictures ------------------------------------------------------------- */

struct axis {
	double low;
	double high;
};

static double y_of(const struct axis *axis, double value)
{
	double part = (value - axis->low) / (axis->high - axis->low);

	return HEIGHT - 20 - part * (HEIGHT - 40);
}

static void svg_begin(FILE *out, const char *label)
{
	fprintf(out, "<svg viewBox='0 0 %d %d' role=img aria-label='%s'>\n",
		WIDTH, HEIGHT, label);
}

static void svg_level(FILE *out, const struct axis *axis, double value)
{
	fprintf(out, "<line class=line x1=%d x2=%d y1=%.1f y2=%.1f />",
		LEFT, WIDTH - RIGHT, y_of(axis, value), y_of(axis, value));
	fprintf(out, "<text x=%d y=%.1f text-anchor=end>%.4g</text>\n",
		LEFT - 6, y_of(axis, value) + 4, value);
}

static void axis_take(struct axis *axis, double value)
{
	if (!(value > 0))
		return;
	if (value < axis->low)
		axis->low = value;
	if (value > axis->high)
		axis->high = value;
}

/* Ratio of the handlers in each round, with the band of A/A and the interval. */
static void put_rounds(FILE *out, json_object *file)
{
	size_t n, nr = 0, i;
	double *ratio = rounds_ratios(member(file, "ab"), &nr);
	json_object *first = json_object_array_get_idx(member(file, "results"),
						       0);
	double band = number(first, "aa_band");
	struct axis axis = { 0.95, 1.05 };

	for (i = 0; i < nr; i++)
		axis_take(&axis, ratio[i]);
	svg_begin(out, "ratio b to a in each round");
	fprintf(out, "<rect class=band x=%d width=%d y=%.1f height=%.1f />\n",
		LEFT, WIDTH - LEFT - RIGHT, y_of(&axis, fmin(1 + band, axis.high)),
		y_of(&axis, fmax(1 / (1 + band), axis.low)) -
		y_of(&axis, fmin(1 + band, axis.high)));
	svg_level(out, &axis, 1);
	svg_level(out, &axis, number(first, "low"));
	svg_level(out, &axis, number(first, "high"));
	n = nr > 1 ? nr - 1 : 1;
	for (i = 0; i < nr; i++)
		if (ratio[i] > 0)
			fprintf(out, "<circle class=b r=3 cx=%.1f cy=%.1f />\n",
				LEFT + 6 + (double)i / n * (WIDTH - LEFT - RIGHT - 12),
				y_of(&axis, ratio[i]));
	fputs("</svg>\n", out);
	free(ratio);
}

/* Intervals of all figures, one line each, on one scale. */
static void put_interval(FILE *out, const char *label, json_object *r, int y,
			 double reach)
{
	const double middle = LEFT + 60 + (WIDTH - LEFT - 60 - RIGHT) / 2.0;
	const double scale = (WIDTH - LEFT - 60 - RIGHT) / 2.0 / reach;
	double low = middle + scale * log(number(r, "low"));
	double high = middle + scale * log(number(r, "high"));

	fprintf(out, "<text x=4 y=%d>", y + 4);
	put_text(out, label);
	fputs("</text>", out);
	fprintf(out, "<line class=line x1=%.1f x2=%.1f y1=%d y2=%d />", middle,
		middle, y - 12, y + 12);
	fprintf(out, "<rect class=b x=%.1f width=%.1f y=%d height=6 />", low,
		fmax(high - low, 2), y - 3);
	fprintf(out, "<text x=%.1f y=%d text-anchor=middle>%.3f</text>\n",
		middle + scale * log(number(r, "ratio")), y - 6,
		number(r, "ratio"));
}

static bool has_ratio(json_object *r)
{
	return number(r, "n") > 0 && number(r, "low") > 0;
}

/* How far a ratio's interval gets from 1, or what that was so far. */
static double farther(double reach, json_object *r)
{
	if (!has_ratio(r))
		return reach;
	return fmax(reach, fmax(fabs(log(number(r, "low"))),
				fabs(log(number(r, "high")))));
}

static void put_intervals(FILE *out, json_object *list)
{
	size_t nr = json_object_array_length(list), i;
	double reach = 0.05;
	json_object *r;
	int y = 24;

	svg_begin(out, "ratios with their intervals");
	for (i = 0; i < nr; i++)
		reach = farther(reach, json_object_array_get_idx(list, i));
	for (i = 0; i < nr; i++) {
		r = json_object_array_get_idx(list, i);
		if (!has_ratio(r))
			continue;
		put_interval(out, text(r, "metric"), r, y, 1.1 * reach);
		y += 26;
	}
	fputs("</svg>\n", out);
}

/* Bars of both arms side by side: names, values of a and b. */
static void put_bars(FILE *out, const char *label, char **name, const double *a,
		     const double *b, size_t nr)
{
	double most = 0, width = (double)(WIDTH - LEFT - RIGHT) / (nr ? nr : 1);
	struct axis axis = { 0, 1 };
	size_t i;

	for (i = 0; i < nr; i++)
		most = fmax(most, fmax(a[i], b[i]));
	if (!(most > 0))
		return;
	axis.high = most;
	fprintf(out, "<h3>%s</h3>\n", label);
	svg_begin(out, label);
	svg_level(out, &axis, most);
	for (i = 0; i < nr; i++) {
		double x = LEFT + i * width, base = y_of(&axis, 0);

		fprintf(out, "<rect class=a x=%.1f width=%.1f y=%.1f height=%.1f />",
			x + width * .1, width * .38, y_of(&axis, a[i]),
			base - y_of(&axis, a[i]));
		fprintf(out, "<rect class=b x=%.1f width=%.1f y=%.1f height=%.1f />",
			x + width * .5, width * .38, y_of(&axis, b[i]),
			base - y_of(&axis, b[i]));
		fprintf(out, "<text x=%.1f y=%d text-anchor=middle>%s</text>\n",
			x + width / 2, HEIGHT - 4, name[i]);
	}
	fputs("</svg>\n", out);
}

/* Why held packets ended with a sampled one: a share of the samples, in percent. */
static void put_reasons(FILE *out, json_object *file)
{
	json_object *columns = member(member(file, "ab"), "columns");
	double a[32], b[32], share;
	const char *column;
	char *name[32];
	size_t nr = 0, i;

	for (i = 0; i < json_object_array_length(columns) && nr < 32; i++) {
		json_object *entry = json_object_array_get_idx(columns, i);

		column = json_object_get_string(entry);
		if (strncmp(column, "ended_", 6))
			continue;
		a[nr] = rounds_share(member(file, "ab"), 0, column);
		b[nr] = rounds_share(member(file, "ab"), 1, column);
		share = fmax(a[nr], b[nr]);
		name[nr] = (char *)column + 6;
		nr += share > 0;
	}
	put_bars(out, "Why aggregates ended, % of sampled packets", name, a, b,
		 nr);
}

static void put_hist(FILE *out, json_object *file, const char *which,
		     const char *label)
{
	json_object *list = member(member(file, "hist"), which), *row;
	double a[70], b[70];
	char *name[70];
	size_t nr = 0, i;

	if (!list)
		return;
	for (i = 0; i < json_object_array_length(list) && nr < 70; i++) {
		row = json_object_array_get_idx(list, i);
		a[nr] = json_object_get_double(json_object_array_get_idx(row, 1));
		b[nr] = json_object_get_double(json_object_array_get_idx(row, 2));
		if (!a[nr] && !b[nr])
			continue;
		row = json_object_array_get_idx(row, 0);
		name[nr++] = strdup(json_object_get_string(row));
	}
	put_bars(out, label, name, a, b, nr);
	for (i = 0; i < nr; i++)
		free(name[i]);
}

/* --- the machine ---------------------------------------------------------- */

static void put_device(FILE *out, json_object *device)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "%s, MTU %s, gro_flush_timeout %s, napi_defer_hard_irqs %s",
		 text(device, "driver"), text(device, "mtu"),
		 text(device, "gro_flush_timeout"),
		 text(device, "napi_defer_hard_irqs"));
	put_row(out, text(device, "name"), line);
}

static void put_machine(FILE *out, json_object *file)
{
	json_object *machine = member(file, "machine");
	json_object *devices = member(machine, "devices");
	size_t i;

	fputs("<details><summary>Machine and settings</summary><div class=scroll><table>\n", out);
	put_row(out, "time", text(machine, "time"));
	put_row(out, "kernel", text(machine, "kernel"));
	put_row(out, "processor", text(machine, "cpu"));
	put_row(out, "processors", text(machine, "cpus"));
	put_row(out, "SMT", text(machine, "smt"));
	put_row(out, "governor", text(machine, "governor"));
	put_row(out, "gro_opt", text(machine, "module"));
	for (i = 0; devices && i < json_object_array_length(devices); i++)
		put_device(out, json_object_array_get_idx(devices, i));
	json_object_object_foreach(member(machine, "mitigations"), key, value) {
		put_row(out, key, json_object_get_string(value));
	}
	json_object_object_foreach(member(file, "settings"), name, setting) {
		put_row(out, name, json_object_get_string(setting));
	}
	fputs("</table></div></details>\n", out);
}

/* --- all of it ------------------------------------------------------------ */

static void put_file(FILE *out, json_object *file)
{
	json_object *settings = member(file, "settings");

	fputs("<h2>", out);
	put_text(out, text(member(file, "machine"), "host"));
	fputs("</h2>\n<p><b class=a>a</b> ", out);
	put_text(out, text(settings, "arm_a"));
	fputs(", <b class=b>b</b> ", out);
	put_text(out, text(settings, "arm_b"));
	fputs(", by ", out);
	put_text(out, text(settings, "mode"));
	if (member(file, "files"))
		fprintf(out, ", rounds of %.0f files", number(file, "files"));
	fputs("</p>\n", out);
	put_results(out, member(file, "results"));
	fputs("<h3>Ratio b to a, 1 is no difference</h3>\n", out);
	put_intervals(out, member(file, "results"));
	fputs("<h3>Handlers, round by round; grey is what A/A gave</h3>\n", out);
	put_rounds(out, file);
	put_hist(out, file, "segs_per_skb", "Aggregates by number of packets");
	put_hist(out, file, "cycles_per_packet",
		 "Sampled packets by cycles in receive");
	put_reasons(out, file);
	put_machine(out, file);
}

static json_object *first_result(json_object *file)
{
	return json_object_array_get_idx(member(file, "results"), 0);
}

/* Handlers of each host on one scale. */
static void put_hosts(FILE *out, json_object **files, size_t nr)
{
	double reach = 0.05;
	json_object *r;
	char host[18];
	size_t i;

	fputs("<h2>All hosts</h2>\n"
	      "<p>Cycles in the handlers, ratio b to a; 1 is no difference.</p>\n",
	      out);
	fprintf(out, "<svg viewBox='0 0 %d %zu' role=img aria-label='hosts'>\n",
		WIDTH, 26 * nr + 12);
	for (i = 0; i < nr; i++)
		reach = farther(reach, first_result(files[i]));
	for (i = 0; i < nr; i++) {
		r = first_result(files[i]);
		snprintf(host, sizeof(host), "%s",
			 text(member(files[i], "machine"), "host"));
		if (has_ratio(r))
			put_interval(out, host, r, 24 + 26 * i, 1.1 * reach);
	}
	fputs("</svg>\n", out);
}

static void put_all(FILE *out, json_object **files, size_t nr)
{
	size_t i;

	fputs("<!doctype html>\n<html lang=en>\n", out);
	fputs(style, out);
	fputs("<h1>gro_opt: two arms on live traffic</h1>\n", out);
	if (nr > 1)
		put_hosts(out, files, nr);
	for (i = 0; i < nr; i++)
		put_file(out, files[i]);
	fputs("<p>Cycles are those of sampled packets, interrupts trimmed.\n"
	      "better and worse are said only where the 95&nbsp;% interval leaves\n"
	      "out 1 and the ratio is outside of the A/A band. See groctl(8).</p>\n"
	      "</html>\n",
	      out);
}

void html_write(const char *path, json_object **files, size_t nr)
{
	char *page;
	size_t size;
	FILE *out = open_memstream(&page, &size);

	if (!out)
		abort();
	put_all(out, files, nr);
	fclose(out);
	replace_file(path, page, 0, NULL);
	free(page);
}
