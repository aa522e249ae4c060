// SPDX-License-Identifier: GPL-2.0-only
/*
 * groctl prom: metrics in the text format that node_exporter's textfile collector
 * reads.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "groctl.h"

#define EVENTS "gro_opt_events_total"

static void usage(FILE *out)
{
	fputs("Usage: groctl prom [-o FILE]\n\n"
	      "  -o, --output FILE  whose name ends in .prom; replaced as a whole\n",
	      out);
}

static void print_state(FILE *out)
{
	static const char *const states[] = {
		"off", "passthrough", "on", "faulted" };
	char *state = need_file("state");
	size_t i;

	fputs("# HELP gro_opt_state What the module does, 1 for the one that holds.\n"
	      "# TYPE gro_opt_state gauge\n", out);
	for (i = 0; i < 4; i++)
		fprintf(out, "gro_opt_state{state=\"%s\"} %d\n", states[i],
			!strcmp(states[i], state));
	free(state);
}

static void print_number(FILE *out, const char *name, const char *type,
			 const char *help, const char *file)
{
	char *text = need_file(file);

	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name,
		type, name, text);
	free(text);
}

static void print_active(FILE *out, char **features)
{
	char path[128], *text;
	size_t i;

	fputs("# HELP gro_opt_feature_active Whether the feature acts.\n"
	      "# TYPE gro_opt_feature_active gauge\n", out);
	for (i = 0; features[i]; i++) {
		snprintf(path, sizeof(path), "features/%s/active", features[i]);
		text = need_file(path);
		fprintf(out, "gro_opt_feature_active{feature=\"%s\"} %s\n",
			features[i], text);
		free(text);
	}
}

static void print_counters(FILE *out, const char *feature)
{
	static const char *const handlers[] = { "stock", "opt" };
	struct table *t = need_counters(feature);
	size_t row, i;

	for (row = 0; row < t->rows; row++)
		for (i = 0; i < 2; i++)
			if (i || !strcmp(t->label[row], "packets"))
				fprintf(out, EVENTS
					"{feature=\"%s\",event=\"%s\",handler=\"%s\"} %.0f\n",
					feature, t->label[row], handlers[i],
					table_get(t, row, handlers[i]));
	table_free(t);
}

static void print_all(FILE *out)
{
	size_t nr, i;
	char **features = list_folder("features", &nr);

	print_state(out);
	print_number(out, "gro_opt_changes_total", "counter",
		     "Completed changes of state, features, devices, and faults.",
		     "enable_seq");
	print_active(out, features);
	fputs("# HELP " EVENTS
	      " What happened to packets, by feature and by whose handler.\n"
	      "# TYPE " EVENTS " counter\n", out);
	for (i = 0; i < nr; i++)
		print_counters(out, features[i]);
	free_list(features);
}

/* For node_exporter, which is another user, whatever the umask is. */
static void write_all(const char *path)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	print_all(out);
	fclose(out);
	replace_file(path, text, 0644, NULL);
	free(text);
}

int cmd_prom(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	const char *path = NULL;
	int opt;

	while ((opt = getopt_long(argc, argv, "o:h", longs, NULL)) != -1) {
		switch (opt) {
		case 'o':
			path = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_OK;
		default:
			return usage_error("prom", "no such option");
		}
	}
	if (optind < argc)
		return usage_error("prom", "what is '%s'?", argv[optind]);
	need_module();
	if (path)
		write_all(path);
	else
		print_all(stdout);
	return EXIT_OK;
}
