/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * groctl, private. json-c makes and reads JSON: it is small, in every
 * distribution, and knows more of the format's corners than we would.
 */
#ifndef _GROCTL_H
#define _GROCTL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Of everything that -j prints; grows when a member changes its meaning. */
#define SCHEMA 1

enum {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
	EXIT_UNSUPPORTED,
	EXIT_NOT_ROOT,
};

/**
 * struct command - one of groctl's
 * @name: as typed
 * @run: its main(); argv[0] is the name
 * @words: what may follow, for the completion
 * @help: one line
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *words;
	const char *help;
};

extern bool json_wanted;
extern bool colour_wanted;

/* groctl.c */
void die(int status, const char *hint, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
int usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void print_json(json_object *object);
json_object *new_answer(const char *command);
void add_string(json_object *object, const char *name, const char *value);
void add_text(json_object *object, const char *name, char *text);
void add_count(json_object *object, const char *name, long long value);
void push_count(json_object *list, long long value);
bool help_wanted(int argc, char **argv, const char *text);
const char *paint(const char *colour);
int find_command(const struct command *commands, int argc, char **argv,
		 const char *prefix);

#define RED	"\033[31m"
#define GREEN	"\033[32m"
#define BOLD	"\033[1m"
#define PLAIN	"\033[0m"

/* files.c; paths without a leading / are below the module's in sysfs */
char *full_path(const char *path);
char *read_file(const char *path);
char *need_file(const char *path);
void write_file(const char *path, const char *value);
bool write_quietly(const char *path, const char *value);
void replace_file(const char *path, const char *text, mode_t mode,
		  const char *hint);
void need_module(void);
void need_root(const char *what);
char *debug_path(const char *path);
char **list_folder(const char *path, size_t *nr);
void free_list(char **list);

/**
 * struct table - columns of numbers with a header line, as the kernel shows them
 * @columns: how many
 * @name: of each
 * @rows: how many
 * @cell: rows times columns
 * @label: first word of each row that is no number, or NULL
 */
struct table {
	size_t columns;
	char **name;
	size_t rows;
	double *cell;
	char **label;
};

struct table *table_parse(const char *text);
struct table *need_table(const char *path);
struct table *need_counters(const char *feature);
void table_free(struct table *t);
int table_column(const struct table *t, const char *name);
double table_get(const struct table *t, size_t row, const char *column);

/* one file for each */
int cmd_status(int argc, char **argv);
int cmd_state(int argc, char **argv);
int cmd_feature(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_hist(int argc, char **argv);
int cmd_ab(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_prom(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_top(int argc, char **argv);

/* status.c */
bool feature_exists(const char *feature);

/* machine.c */
json_object *machine_describe(void);
char *driver_of(const char *device);

/* rounds.c: what a run gave, and what it means */
int rounds_run(const char *what, unsigned int rounds, double seconds,
	       json_object *into);
json_object *rounds_judge(json_object *aa, json_object *ab,
			  unsigned long long seed);
unsigned int rounds_plan(json_object *aa, double effect);
void rounds_print(json_object *results);
double *rounds_ratios(json_object *run, size_t *nr);
double rounds_share(json_object *run, int arm, const char *column);

/* counters.c */
json_object *hist_read(void);

/**
 * struct event - one of the module's tracepoints
 * @name: of the tracepoint
 * @dev, @reason, @src, @dst: as far as it has them
 * @segments: of flush
 * @held: of hold: held, and not passed on
 * @proto: transport protocol
 */
struct event {
	char name[32];
	char dev[16];
	char reason[64];
	char src[64];
	char dst[64];
	int segments;
	int held;
	int proto;
};

/* events.c */
void events_begin(void);
void events_switch(const char *event, bool on);
void events_clear(void);
char *events_path(const char *file);
char *event_words(char *line, char *name, size_t size);
bool event_parse(char *line, struct event *e);

/* trace.c */
void catch_signals(void);
bool was_stopped(void);
bool parse_number(const char *text, unsigned int *number);

/* pool.c */
size_t pool_hosts(json_object **files, size_t nr);

/* html.c */
void html_write(const char *path, json_object **files, size_t nr);

#endif /* _GROCTL_H */
