// SPDX-License-Identifier: GPL-2.0-only
/* groctl ab: run, report, stop. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "groctl.h"

#define KIND "gro_opt-ab"

struct options {
	const char *mode;
	const char *arm_a;
	const char *arm_b;
	const char *slice;
	const char *settle;
	const char *split;
	const char *sample;
	const char *seed;
	const char *output;
	unsigned int rounds;
	unsigned int aa_rounds;
	unsigned int max_rounds;
	double effect;
};

static void usage(FILE *out)
{
	fputs("Usage: groctl ab run [OPTIONS]\n"
	      "       groctl ab report [--html FILE] FILE...\n"
	      "       groctl ab stop\n\n"
	      "run compares two arms on the traffic that there is: first arm a with itself,\n"
	      "which tells the noise and how many rounds are needed, then a with b, once.\n\n"
	      "  -m, --mode MODE      flow (default), time or cpu\n"
	      "  -a, --arm-a ARM      passthrough (default), native, opt, opt:FEATURE,...\n"
	      "  -b, --arm-b ARM      opt (default)\n"
	      "  -e, --effect N       percent that shall be found (2)\n"
	      "  -n, --rounds N       so many, instead of as many as that takes\n"
	      "      --aa-rounds N    of a with itself (30)\n"
	      "      --max-rounds N   never more than so many (500)\n"
	      "      --slice MS       half of a round (200)\n"
	      "      --settle MS      left out after each change (20)\n"
	      "      --split N        permille of flows for b (500)\n"
	      "      --sample N       one packet in N is timed (64)\n"
	      "      --seed N         of all that is random (1)\n"
	      "  -o, --output FILE    keep everything, for report\n",
	      out);
}

/* --- options -------------------------------------------------------------- */

enum {
	OPT_AA = 256, OPT_MAX, OPT_SLICE, OPT_SETTLE, OPT_SPLIT, OPT_SAMPLE,
	OPT_SEED, OPT_HTML,
};

static const struct option run_options[] = {
	{ "mode", required_argument, NULL, 'm' },
	{ "arm-a", required_argument, NULL, 'a' },
	{ "arm-b", required_argument, NULL, 'b' },
	{ "effect", required_argument, NULL, 'e' },
	{ "rounds", required_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' },
	{ "aa-rounds", required_argument, NULL, OPT_AA },
	{ "max-rounds", required_argument, NULL, OPT_MAX },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "settle", required_argument, NULL, OPT_SETTLE },
	{ "split", required_argument, NULL, OPT_SPLIT },
	{ "sample", required_argument, NULL, OPT_SAMPLE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "help", no_argument, NULL, 'h' },
	{}
};

static bool parse_count(const char *text, unsigned int *count)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*count = value;
	return *text && !*end && *text != '-' && value >= 1 && value <= 10000;
}

static bool parse_effect(const char *text, double *effect)
{
	char *end;

	*effect = strtod(text, &end) / 100;
	if (*end == '%')
		end++;
	return *text && !*end && *effect > 0 && *effect < 1;
}

static bool parse_one(int opt, struct options *o)
{
	switch (opt) {
	case 'm':
		o->mode = optarg;
		return !strcmp(optarg, "flow") || !strcmp(optarg, "time") ||
		       !strcmp(optarg, "cpu");
	case 'a':
		o->arm_a = optarg;
		return true;
	case 'b':
		o->arm_b = optarg;
		return true;
	case 'e':
		return parse_effect(optarg, &o->effect);
	case 'n':
		return parse_count(optarg, &o->rounds);
	case 'o':
		o->output = optarg;
		return true;
	case OPT_AA:
		return parse_count(optarg, &o->aa_rounds);
	case OPT_MAX:
		return parse_count(optarg, &o->max_rounds);
	case OPT_SLICE:
		o->slice = optarg;
		return true;
	case OPT_SETTLE:
		o->settle = optarg;
		return true;
	case OPT_SPLIT:
		o->split = optarg;
		return true;
	case OPT_SAMPLE:
		o->sample = optarg;
		return true;
	case OPT_SEED:
		o->seed = optarg;
		return true;
	default:
		return false;
	}
}

/* -1 to go on, or an exit code. */
static int parse(int argc, char **argv, struct options *o)
{
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "m:a:b:e:n:o:h", run_options,
				  NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return EXIT_OK;
		}
		if (opt == '?')
			return usage_error("ab", "no such option");
		if (!parse_one(opt, o))
			return usage_error("ab", "'%s' makes no sense here",
					   optarg);
	}
	if (optind < argc)
		return usage_error("ab", "what is '%s'?", argv[optind]);
	if (strcmp(o->mode, "time") && (!strcmp(o->arm_a, "native") ||
					!strcmp(o->arm_b, "native")))
		return usage_error("ab", "native needs --mode time");
	return -1;
}

/* --- settings, which are put back ----------------------------------------- */

static const char *const setting_files[] = {
	"ab/mode", "ab/arm_a", "ab/arm_b", "ab/split_permille", "ab/seed",
	"ab/slice_ms", "ab/settle_ms", "ab/sample", "ab/rounds",
};

#define SETTINGS (sizeof(setting_files) / sizeof(*setting_files))

static char *were[SETTINGS];

static void settings_restore(void)
{
	size_t i;

	for (i = 0; i < SETTINGS; i++)
		if (were[i])
			write_quietly(setting_files[i], were[i]);
}

static void settings_apply(const struct options *o)
{
	const char *const values[SETTINGS] = {
		o->mode, o->arm_a, o->arm_b, o->split, o->seed, o->slice,
		o->settle, o->sample, NULL,
	};
	size_t i;

	for (i = 0; i < SETTINGS; i++)
		were[i] = need_file(setting_files[i]);
	atexit(settings_restore);
	for (i = 0; i < SETTINGS; i++)
		if (values[i])
			write_file(setting_files[i], values[i]);
}

static json_object *settings_describe(void)
{
	json_object *object = json_object_new_object();
	size_t i;

	for (i = 0; i < SETTINGS; i++)
		add_text(object, setting_files[i] + 3,
			 need_file(setting_files[i]));
	return object;
}

/* Of so many rounds and the one that goes first. */
static double seconds_of(unsigned int rounds)
{
	char *slice = need_file("ab/slice_ms");
	char *settle = need_file("ab/settle_ms");
	double ms = 2 * (atof(slice) + atof(settle) + 8);

	free(slice);
	free(settle);
	return (rounds + 1) * ms / 1000;
}

/* --- files ---------------------------------------------------------------- */

static void save(const char *path, json_object *object)
{
	const int flags = JSON_C_TO_STRING_PLAIN |
			  JSON_C_TO_STRING_NOSLASHESCAPE;

	replace_file(path, json_object_to_json_string_ext(object, flags), 0,
		     "another place: --output");
}

static json_object *load(const char *path)
{
	json_object *file = json_object_from_file(path);
	const char *kind;

	if (!file)
		die(EXIT_FAILED, "a file of groctl ab run --output",
		    "cannot read %s", path);
	kind = json_object_get_string(json_object_object_get(file, "kind"));
	if (!kind || strcmp(kind, KIND))
		die(EXIT_FAILED, "a file of groctl ab run --output",
		    "%s is no result of an A/B run", path);
	if (json_object_get_int(json_object_object_get(file, "schema")) > SCHEMA)
		die(EXIT_UNSUPPORTED, "a newer groctl",
		    "%s is of a newer format", path);
	return file;
}

static const char *text_in(json_object *file, const char *part,
			   const char *name)
{
	json_object *object = json_object_object_get(file, part);
	const char *text;

	text = json_object_get_string(json_object_object_get(object, name));
	return text ? text : "?";
}

static void show(json_object *file)
{
	int files = json_object_get_int(json_object_object_get(file, "files"));

	printf("%s%s%s: kernel %s, %s\n", paint(BOLD),
	       text_in(file, "machine", "host"), paint(PLAIN),
	       text_in(file, "machine", "kernel"),
	       text_in(file, "machine", "cpu"));
	printf("a %s, b %s, by %s", text_in(file, "settings", "arm_a"),
	       text_in(file, "settings", "arm_b"),
	       text_in(file, "settings", "mode"));
	if (files)
		printf(", rounds of %d files", files);
	putchar('\n');
	rounds_print(json_object_object_get(file, "results"));
}

/* --- run ------------------------------------------------------------------ */

/* A with itself. Native cannot be had but by time; so can its noise. */
static void run_aa(const struct options *o, json_object *file)
{
	json_object *aa = json_object_new_object();

	write_file("ab/arm_b", o->arm_a);
	rounds_run("A/A", o->aa_rounds, seconds_of(o->aa_rounds), aa);
	write_file("ab/arm_b", o->arm_b);
	json_object_object_add(file, "aa", aa);
}

static unsigned int plan(const struct options *o, json_object *aa)
{
	unsigned int n = o->rounds ? o->rounds : rounds_plan(aa, o->effect);

	if (!o->rounds && n > o->max_rounds) {
		warn("an effect of %g %% takes %u rounds; these are %u, so it may be missed",
		     100 * o->effect, n, o->max_rounds);
		n = o->max_rounds;
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%u rounds, %.0f s\n", n, seconds_of(n));
	return n;
}

static int finish(const struct options *o, json_object *file)
{
	const char *path = o->output;
	unsigned long long seed = strtoull(o->seed, NULL, 0);
	json_object *results;

	results = rounds_judge(json_object_object_get(file, "aa"),
			       json_object_object_get(file, "ab"), seed);
	json_object_object_add(file, "results", results);
	if (path)
		save(path, file);
	if (json_wanted) {
		print_json(file);
		return EXIT_OK;
	}
	show(file);
	json_object_put(file);
	return EXIT_OK;
}

static int ab_run(int argc, char **argv)
{
	struct options o = {
		.mode = "flow", .arm_a = "passthrough", .arm_b = "opt",
		.slice = "200", .settle = "20", .split = "500", .sample = "64",
		.seed = "1", .aa_rounds = 30, .max_rounds = 500, .effect = 0.02,
	};
	json_object *file, *ab;
	unsigned int n;
	int status = parse(argc, argv, &o);

	if (status >= 0)
		return status;
	need_module();
	need_root("ab run");
	settings_apply(&o);
	file = new_answer("ab run");
	add_string(file, "kind", KIND);
	json_object_object_add(file, "machine", machine_describe());
	json_object_object_add(file, "settings", settings_describe());
	run_aa(&o, file);
	n = plan(&o, json_object_object_get(file, "aa"));
	json_object_object_add(file, "planned", json_object_new_int(n));
	ab = json_object_new_object();
	rounds_run("A/B", n, seconds_of(n), ab);
	json_object_object_add(file, "ab", ab);
	json_object_object_add(file, "hist", hist_read());
	return finish(&o, file);
}

static int ab_stop(int argc, char **argv)
{
	if (argc > 1)
		return usage_error("ab", "what is '%s'?", argv[1]);
	write_file("ab/run", "stop");
	return EXIT_OK;
}

/* --- report --------------------------------------------------------------- */

static void report_json(json_object **files, size_t nr)
{
	json_object *answer = new_answer("ab report");
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < nr; i++)
		json_object_array_add(list, files[i]);
	json_object_object_add(answer, "runs", list);
	print_json(answer);
}

static int report(char **paths, size_t nr, const char *html)
{
	json_object **files = calloc(nr, sizeof(*files));
	size_t i;

	if (!files)
		abort();
	for (i = 0; i < nr; i++)
		files[i] = load(paths[i]);
	nr = pool_hosts(files, nr);
	if (html)
		html_write(html, files, nr);
	if (json_wanted) {
		report_json(files, nr);
		free(files);
		return EXIT_OK;
	}
	for (i = 0; i < nr; i++) {
		if (i)
			putchar('\n');
		show(files[i]);
		json_object_put(files[i]);
	}
	free(files);
	return EXIT_OK;
}

static int ab_report(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "html", required_argument, NULL, OPT_HTML },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	const char *html = NULL;
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (opt) {
		case OPT_HTML:
			html = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_OK;
		default:
			return usage_error("ab", "no such option");
		}
	}
	if (optind == argc)
		return usage_error("ab", "report of which files?");
	return report(argv + optind, argc - optind, html);
}

int cmd_ab(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "run", ab_run, NULL, NULL },
		{ "report", ab_report, NULL, NULL },
		{ "stop", ab_stop, NULL, NULL },
		{}
	};

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return EXIT_OK;
	}
	return find_command(commands, argc - 1, argv + 1, "ab");
}
