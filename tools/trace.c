// SPDX-License-Identifier: GPL-2.0-only
/* groctl trace: the module's events as they come. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "groctl.h"

#define EVENTS_MAX 8

struct options {
	const char *event[EVENTS_MAX];
	unsigned int nr;
	const char *reason;
	unsigned int times;
	unsigned int seconds;
};

static volatile sig_atomic_t stop;

static void usage(FILE *out)
{
	fputs("Usage: groctl trace [OPTIONS]\n\n"
	      "  -e, --event NAME      flush, hold, merge, ab_switch or fault, more than once for\n"
	      "                        more of them (flush, ab_switch, fault)\n"
	      "  -r, --reason REASON   of flush: no others\n"
	      "  -n, --times N         stop after N events\n"
	      "  -t, --seconds N       stop after so many\n", out);
}

static void on_signal(int nr)
{
	(void)nr;
	stop = 1;
}

/* Whoever stops us, the instance goes. */
void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
}

bool was_stopped(void)
{
	return stop;
}

bool parse_number(const char *text, unsigned int *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*number = value;
	return *text >= '0' && *text <= '9' && !*end && value >= 1 &&
	       value <= 1000000;
}

static json_object *words_json(const char *name, char *words)
{
	json_object *object = json_object_new_object();
	char *word, *equals;

	add_count(object, "schema", SCHEMA);
	add_string(object, "event", name);
	while ((word = strsep(&words, "\n "))) {
		equals = strchr(word, '=');
		if (!equals)
			continue;
		*equals = '\0';
		add_string(object, word, equals + 1);
	}
	return object;
}

/* One line for each in JSON too, for programs that read along. */
static void show(char *line)
{
	char name[32], *words;
	json_object *object;

	if (!json_wanted) {
		fputs(line, stdout);
		return;
	}
	words = event_words(line, name, sizeof(name));
	object = words_json(name, words);
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

static bool wanted(const struct options *o, const char *line)
{
	char word[32];

	if (!strstr(line, ": gro_opt_"))
		return false;
	if (!o->reason)
		return true;
	snprintf(word, sizeof(word), " reason=%s ", o->reason);
	return strstr(line, word);
}

/* A poll at a time, so that neither signal nor time is waited for in vain. */
static bool is_ready(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 200) > 0;
}

/* Shows what is whole of @text, and moves the rest to its beginning. */
static size_t take_lines(const struct options *o, char *text, size_t len,
			 unsigned int *seen)
{
	char *at = text, *end;
	char line[512];

	text[len] = '\0';
	while ((end = strchr(at, '\n')) &&
	       (!o->times || *seen < o->times)) {
		snprintf(line, sizeof(line), "%.*s\n", (int)(end - at), at);
		at = end + 1;
		if (!wanted(o, line))
			continue;
		show(line);
		++*seen;
	}
	len -= at - text;
	memmove(text, at, len);
	return len;
}

static void follow(const struct options *o, int fd)
{
	const time_t until = time(NULL) + o->seconds;
	unsigned int seen = 0;
	char text[8192];
	size_t len = 0;
	ssize_t got;

	while (!stop && (!o->times || seen < o->times) &&
	       (!o->seconds || time(NULL) < until)) {
		if (!is_ready(fd))
			continue;
		if (len > sizeof(text) / 2)
			len = 0;
		got = read(fd, text + len, sizeof(text) - 1 - len);
		if (got > 0)
			len = take_lines(o, text, len + got, &seen);
		fflush(stdout);
	}
}

static int run(const struct options *o)
{
	char name[64], *path, *full;
	unsigned int i;
	int fd;

	events_begin();
	catch_signals();
	path = events_path("trace_pipe");
	full = full_path(path);
	fd = open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		die(EXIT_UNSUPPORTED, "groctl doctor: lockdown closes tracefs",
		    "cannot read %s: %s", path, strerror(errno));
	free(full);
	free(path);
	for (i = 0; i < o->nr; i++) {
		snprintf(name, sizeof(name), "gro_opt_%s", o->event[i]);
		events_switch(name, true);
	}
	follow(o, fd);
	close(fd);
	return EXIT_OK;
}

static bool is_event(const char *name)
{
	static const char *const names[] = {
		"flush", "hold", "merge", "ab_switch", "fault" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool parse_one(int opt, struct options *o)
{
	switch (opt) {
	case 'e':
		if (o->nr == EVENTS_MAX || !is_event(optarg))
			return false;
		o->event[o->nr++] = optarg;
		return true;
	case 'r':
		o->reason = optarg;
		return true;
	case 'n':
		return parse_number(optarg, &o->times);
	case 't':
		return parse_number(optarg, &o->seconds);
	default:
		return false;
	}
}

int cmd_trace(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "event", required_argument, NULL, 'e' },
		{ "reason", required_argument, NULL, 'r' },
		{ "times", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	struct options o = {};
	int opt;

	while ((opt = getopt_long(argc, argv, "e:r:n:t:h", longs,
				  NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return EXIT_OK;
		}
		if (opt == '?')
			return usage_error("trace", "no such option");
		if (!parse_one(opt, &o))
			return usage_error("trace", "'%s' makes no sense here",
					   optarg);
	}
	if (optind < argc)
		return usage_error("trace", "what is '%s'?", argv[optind]);
	if (!o.nr) {
		o.event[o.nr++] = "flush";
		o.event[o.nr++] = "ab_switch";
		o.event[o.nr++] = "fault";
	}
	return run(&o);
}
