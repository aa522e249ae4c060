// SPDX-License-Identifier: GPL-2.0-only
/* groctl: the module gro_opt for people. See groctl(8). */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "groctl.h"

#ifndef GROCTL_VERSION
#define GROCTL_VERSION "unknown"
#endif

bool json_wanted;
bool colour_wanted;

static int cmd_completion(int argc, char **argv);
static int cmd_help(int argc, char **argv);

static const struct command commands[] = {
	{ "status", cmd_status, "", "what is on, and why what is not is not" },
	{ "on", cmd_state, "", "enabled features act" },
	{ "off", cmd_state, "", "stock entries only" },
	{ "passthrough", cmd_state, "", "ours in the tables, calling stock" },
	{ "feature", cmd_feature, "show enable disable",
	  "show, enable or disable features" },
	{ "stats", cmd_stats, "-w --watch", "counters; -w what changes" },
	{ "ab", cmd_ab, "run report stop",
	  "compare two arms on live traffic" },
	{ "top", cmd_top, "--rounds --delay --window --flows",
	  "why does my traffic not aggregate" },
	{ "trace", cmd_trace, "--event --reason --times --seconds",
	  "the tracepoints' events as they come" },
	{ "hist", cmd_hist, "", "histograms of the last A/B run" },
	{ "doctor", cmd_doctor, "", "what would spoil a comparison" },
	{ "profile", cmd_profile, "apply check",
	  "put into force what /etc/gro_opt says" },
	{ "prom", cmd_prom, "--output", "metrics for Prometheus" },
	{ "completion", cmd_completion, "bash", "completion for bash" },
	{ "help", cmd_help, "", "this text" },
	{}
};

/* --- messages ------------------------------------------------------------- */

static void print_error(const char *hint, const char *format, va_list args)
{
	json_object *answer;
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	if (!json_wanted) {
		fprintf(stderr, "groctl: %s\n", text);
		if (hint)
			fprintf(stderr, "  do: %s\n", hint);
		return;
	}
	answer = json_object_new_object();
	add_count(answer, "schema", SCHEMA);
	add_string(answer, "error", text);
	if (hint)
		add_string(answer, "hint", hint);
	print_json(answer);
}

void die(int status, const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_error(hint, format, args);
	va_end(args);
	exit(status);
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("groctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

int usage_error(const char *command, const char *format, ...)
{
	char hint[64];
	va_list args;

	snprintf(hint, sizeof(hint), "groctl %s --help", command);
	va_start(args, format);
	print_error(hint, format, args);
	va_end(args);
	return EXIT_USAGE;
}

/* Takes the object. */
void print_json(json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

json_object *new_answer(const char *command)
{
	json_object *answer = json_object_new_object();

	add_count(answer, "schema", SCHEMA);
	add_string(answer, "command", command);
	return answer;
}

void add_string(json_object *object, const char *name, const char *value)
{
	json_object_object_add(object, name, json_object_new_string(value));
}

/* Takes the text; nothing is added if there is none. */
void add_text(json_object *object, const char *name, char *text)
{
	if (text)
		add_string(object, name, text);
	free(text);
}

void add_count(json_object *object, const char *name, long long value)
{
	json_object_object_add(object, name, json_object_new_int64(value));
}

void push_count(json_object *list, long long value)
{
	json_object_array_add(list, json_object_new_int64(value));
}

const char *paint(const char *colour)
{
	return colour_wanted ? colour : "";
}

/* --- commands ------------------------------------------------------------- */

/* For those without options of their own. */
bool help_wanted(int argc, char **argv, const char *text)
{
	if (argc < 2 || (strcmp(argv[1], "--help") && strcmp(argv[1], "-h")))
		return false;
	puts(text);
	return true;
}

/* Run the one that argv[0] names. */
int find_command(const struct command *list, int argc, char **argv,
		 const char *prefix)
{
	const struct command *c;

	for (c = list; argc && c->name; c++)
		if (!strcmp(c->name, argv[0]))
			return c->run(argc, argv);
	if (argc)
		return usage_error(prefix, "there is no command '%s%s%s'",
				   prefix, *prefix ? " " : "", argv[0]);
	return usage_error(prefix, "which command?");
}

static void usage(FILE *out)
{
	const struct command *c;

	fputs("Usage: groctl [-j] [--no-colour] COMMAND [ARGUMENTS]\n\n", out);
	for (c = commands; c->name; c++)
		fprintf(out, "  %-12s %s\n", c->name, c->help);
	fputs("\n  -j, --json       answers as JSON, with a schema version\n"
	      "      --no-colour  as where the output is no terminal\n"
	      "  -h, --help       this text; COMMAND --help for one of them\n"
	      "  -V, --version    of groctl\n\n"
	      "Exit code: 0 well, 1 failed, 2 wrong arguments, 3 this kernel or machine\n"
	      "cannot, 4 needs root.\n", out);
}

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	usage(stdout);
	return EXIT_OK;
}

static int cmd_completion(int argc, char **argv)
{
	const struct command *c;

	if (argc != 2 || strcmp(argv[1], "bash"))
		return usage_error("completion", "say: groctl completion bash");
	puts("# bash completion for groctl\n"
	     "_groctl() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
	     "\tcase ${COMP_CWORD}:${COMP_WORDS[1]} in");
	fputs("\t1:*) words=\"-j --json", stdout);
	for (c = commands; c->name; c++)
		printf(" %s", c->name);
	puts("\" ;;");
	for (c = commands; c->name; c++)
		if (*c->words)
			printf("\t*:%s) words=\"%s --help\" ;;\n", c->name,
			       c->words);
	puts("\tesac\n"
	     "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	     "}\n"
	     "complete -o default -F _groctl groctl");
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "no-colour", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{}
	};
	int opt, at;

	colour_wanted = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	while ((opt = getopt_long(argc, argv, "+jhV", longs, NULL)) != -1) {
		switch (opt) {
		case 'j':
			json_wanted = true;
			break;
		case 'n':
			colour_wanted = false;
			break;
		case 'h':
			usage(stdout);
			return EXIT_OK;
		case 'V':
			puts("groctl " GROCTL_VERSION);
			return EXIT_OK;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	at = optind;
	optind = 0;
	return find_command(commands, argc - at, argv + at, "");
}
