// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's files, and what to say when they are not there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "groctl.h"

#define MODULE "/sys/kernel/gro_opt"
#define DEBUG "/sys/kernel/debug/gro_opt"

/* For tests, and for looking at what another machine had. */
static const char *prefix(void)
{
	const char *root = getenv("GROCTL_ROOT");

	return root ? root : "";
}

static char *join(const char *a, const char *b, const char *c)
{
	char *path;

	if (asprintf(&path, "%s%s%s", a, b, c) < 0)
		abort();
	return path;
}

char *full_path(const char *path)
{
	if (*path == '/')
		return join(prefix(), path, "");
	return join(prefix(), MODULE "/", path);
}

char *debug_path(const char *path)
{
	return join(DEBUG, "/", path);
}

static char *read_all(int fd)
{
	size_t size = 0, room = 4096;
	char *text = malloc(room + 1);
	ssize_t got;

	while (text && (got = read(fd, text + size, room - size)) > 0) {
		size += got;
		if (size == room)
			text = realloc(text, (room *= 2) + 1);
	}
	if (!text)
		abort();
	text[size] = '\0';
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	return text;
}

/* Its text without the last end of line; NULL and errno if it cannot be read. */
char *read_file(const char *path)
{
	char *full = full_path(path);
	int fd = open(full, O_RDONLY | O_CLOEXEC), err = errno;
	char *text = NULL;

	free(full);
	if (fd >= 0) {
		text = read_all(fd);
		close(fd);
	}
	errno = err;
	return text;
}

void need_module(void)
{
	char *full = full_path("state");
	bool there = !access(full, F_OK);

	free(full);
	if (!there)
		die(EXIT_UNSUPPORTED, "modprobe gro_opt",
		    "the module gro_opt is not loaded");
}

void need_root(const char *what)
{
	if (geteuid())
		die(EXIT_NOT_ROOT, "sudo groctl ...",
		    "%s needs root (CAP_NET_ADMIN)", what);
}

char *need_file(const char *path)
{
	char *text;

	need_module();
	text = read_file(path);
	if (!text && errno == EACCES)
		die(EXIT_NOT_ROOT, "sudo groctl ...", "cannot read %s", path);
	if (!text)
		die(EXIT_UNSUPPORTED, "a gro_opt as new as this groctl",
		    "there is no %s", path);
	return text;
}

static int try_write(const char *path, const char *value)
{
	char *full = full_path(path);
	int fd = open(full, O_WRONLY | O_CLOEXEC), err = 0;

	free(full);
	if (fd < 0)
		return errno;
	if (write(fd, value, strlen(value)) < 0)
		err = errno;
	close(fd);
	return err;
}

bool write_quietly(const char *path, const char *value)
{
	return !try_write(path, value);
}

void write_file(const char *path, const char *value)
{
	int err;

	need_module();
	err = try_write(path, value);
	if (!err)
		return;
	if (err == EACCES || err == EPERM)
		need_root(path);
	die(err == EOPNOTSUPP ? EXIT_UNSUPPORTED : EXIT_FAILED,
	    "dmesg | grep gro_opt: the last line says what would be right",
	    "%s does not take '%s': %s", path, value, strerror(err));
}

static bool put_file(const char *path, const char *text, mode_t mode)
{
	FILE *out = fopen(path, "we");
	bool good;

	if (!out)
		return false;
	good = fputs(text, out) >= 0 && (!mode || !fchmod(fileno(out), mode));
	return !fclose(out) && good;
}

/*
 * Written beside its place and renamed: no reader sees half, whoever it is that
 * stops us. @mode: 0 for what the umask leaves.
 */
void replace_file(const char *path, const char *text, mode_t mode,
		  const char *hint)
{
	char *tmp;
	int err;

	if (asprintf(&tmp, "%s.%d", path, (int)getpid()) < 0)
		abort();
	if (!put_file(tmp, text, mode) || rename(tmp, path)) {
		err = errno;
		unlink(tmp);
		die(EXIT_FAILED, hint, "cannot write %s: %s", path,
		    strerror(err));
	}
	free(tmp);
}

/* --- folders -------------------------------------------------------------- */

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Names in it, sorted, NULL behind the last; an empty list if there is none. */
char **list_folder(const char *path, size_t *nr)
{
	char *full = full_path(path), **list;
	struct dirent **entries = NULL;
	int found = scandir(full, &entries, not_hidden, alphasort), i;

	free(full);
	*nr = found > 0 ? found : 0;
	list = calloc(*nr + 1, sizeof(*list));
	if (!list)
		abort();
	for (i = 0; i < found; i++) {
		list[i] = strdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return list;
}

void free_list(char **list)
{
	size_t i;

	for (i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* --- tables --------------------------------------------------------------- */

static size_t split(char *line, char **words, size_t max)
{
	size_t nr = 0;
	char *word, *rest = line;

	while ((word = strtok_r(rest, " \t", &rest)) && nr < max)
		words[nr++] = strdup(word);
	return nr;
}

static void table_add(struct table *t, char *line)
{
	char *word, *rest = line, *end;
	size_t i;

	t->cell = reallocarray(t->cell, (t->rows + 1) * t->columns,
			       sizeof(*t->cell));
	t->label = reallocarray(t->label, t->rows + 1, sizeof(*t->label));
	if (!t->cell || !t->label)
		abort();
	t->label[t->rows] = NULL;
	for (i = 0; i < t->columns; i++) {
		double *cell = &t->cell[t->rows * t->columns + i];

		*cell = 0;
		word = strtok_r(rest, " \t", &rest);
		if (!word)
			continue;
		*cell = strtod(word, &end);
		if (*end && strcmp(word, "-") && !t->label[t->rows])
			t->label[t->rows] = strdup(word);
	}
	t->rows++;
}

struct table *table_parse(const char *text)
{
	struct table *t = calloc(1, sizeof(*t));
	char *copy = strdup(text), *rest = copy, *line;

	if (!t || !copy)
		abort();
	t->name = calloc(256, sizeof(*t->name));
	line = strtok_r(rest, "\n", &rest);
	if (line && t->name)
		t->columns = split(line, t->name, 255);
	while (t->columns && (line = strtok_r(rest, "\n", &rest)))
		table_add(t, line);
	free(copy);
	return t;
}

struct table *need_table(const char *path)
{
	char *text = need_file(path);
	struct table *t = table_parse(text);

	free(text);
	return t;
}

struct table *need_counters(const char *feature)
{
	char path[128];

	snprintf(path, sizeof(path), "features/%s/counters", feature);
	return need_table(path);
}

void table_free(struct table *t)
{
	size_t i;

	for (i = 0; i < t->rows; i++)
		free(t->label[i]);
	free_list(t->name);
	free(t->label);
	free(t->cell);
	free(t);
}

int table_column(const struct table *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->columns; i++)
		if (!strcmp(t->name[i], name))
			return i;
	return -1;
}

/* 0 where there is no such column. */
double table_get(const struct table *t, size_t row, const char *column)
{
	int at = table_column(t, column);

	return at < 0 || row >= t->rows ? 0 : t->cell[row * t->columns + at];
}
