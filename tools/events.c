// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's tracepoints, by an instance of tracefs of our own: nobody else's
 * events are switched or taken away. The kernel's text is read and no library used
 * for it: the events are ours, and so is how they are printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "groctl.h"

#define TRACEFS "/sys/kernel/tracing"

static char instance[64];

/* Of our instance. */
char *events_path(const char *file)
{
	char *path;

	if (asprintf(&path, "%s/%s", instance, file) < 0)
		abort();
	return path;
}

static void set(const char *file, const char *value)
{
	char *path = events_path(file);

	if (!write_quietly(path, value))
		die(EXIT_UNSUPPORTED, "groctl doctor: lockdown closes tracefs",
		    "cannot write %s: %s", path, strerror(errno));
	free(path);
}

void events_switch(const char *event, bool on)
{
	char file[64];

	snprintf(file, sizeof(file), "events/gro_opt/%s/enable", event);
	set(file, on ? "1" : "0");
}

/* What there was is not to be seen any more. */
void events_clear(void)
{
	set("trace", "\n");
}

static void events_end(void)
{
	char *path = events_path("events/gro_opt/enable");

	write_quietly(path, "0");
	free(path);
	path = full_path(instance);
	rmdir(path);
	free(path);
}

static bool is_there(const char *path)
{
	char *full = full_path(path);
	bool there = !access(full, F_OK);

	free(full);
	return there;
}

/* Until the program ends. */
void events_begin(void)
{
	char *full;

	need_module();
	need_root("tracefs");
	if (!is_there(TRACEFS "/events"))
		die(EXIT_UNSUPPORTED, "mount -t tracefs none " TRACEFS,
		    "there is no tracefs in " TRACEFS);
	if (!is_there(TRACEFS "/events/gro_opt"))
		die(EXIT_UNSUPPORTED, "a gro_opt as new as this groctl",
		    "the module has no tracepoints");
	snprintf(instance, sizeof(instance), TRACEFS "/instances/groctl-%d",
		 (int)getpid());
	full = full_path(instance);
	if (mkdir(full, 0700))
		die(EXIT_UNSUPPORTED, "groctl doctor: lockdown closes tracefs",
		    "cannot make %s: %s", instance, strerror(errno));
	free(full);
	atexit(events_end);
}

/* --- what a line says ----------------------------------------------------- */

static void take_word(struct event *e, const char *name, const char *value)
{
	if (!strcmp(name, "dev"))
		snprintf(e->dev, sizeof(e->dev), "%s", value);
	else if (!strcmp(name, "reason"))
		snprintf(e->reason, sizeof(e->reason), "%s", value);
	else if (!strcmp(name, "src"))
		snprintf(e->src, sizeof(e->src), "%s", value);
	else if (!strcmp(name, "dst"))
		snprintf(e->dst, sizeof(e->dst), "%s", value);
	else if (!strcmp(name, "segments"))
		e->segments = atoi(value);
	else if (!strcmp(name, "held"))
		e->held = *value == '1';
	else if (!strcmp(name, "proto"))
		e->proto = atoi(value);
}

/*
 * "TASK-PID [CPU] FLAGS TIME: gro_opt_x: name=value ...". Returns where the words
 * begin, or NULL for a line that is none of ours.
 */
char *event_words(char *line, char *name, size_t size)
{
	char *at = strstr(line, ": gro_opt_"), *end;

	end = at ? strstr(at + 2, ": ") : NULL;
	if (!end)
		return NULL;
	snprintf(name, size, "%.*s", (int)(end - at - 2), at + 2);
	return end + 2;
}

bool event_parse(char *line, struct event *e)
{
	char *rest = event_words(line, e->name, sizeof(e->name));
	char *word, *equals;

	if (!rest)
		return false;
	*e->dev = *e->reason = *e->src = *e->dst = '\0';
	e->segments = 0;
	e->held = 0;
	e->proto = 0;
	while ((word = strsep(&rest, "\n "))) {
		equals = strchr(word, '=');
		if (!equals)
			continue;
		*equals = '\0';
		take_word(e, word, equals + 1);
	}
	return true;
}
