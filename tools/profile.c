// SPDX-License-Identifier: GPL-2.0-only
/*
 * groctl profile: what /etc/gro_opt says goes into the kernel, for the machine or
 * for a device that has just appeared. All files are read and understood before
 * anything is written.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "groctl.h"

#define FOLDER "/etc/gro_opt"
#define BLANKS " \t,"

/* In the order in which they are applied. */
enum key {
	KEY_DEVICE,
	KEY_DRIVER,
	KEY_ONLY,
	KEY_FLUSH,
	KEY_DEFER,
	KEY_DEVICES,
	KEY_FEATURES,
	KEY_STATE,
	KEYS
};

/**
 * struct profile - a file
 * @path: of it
 * @value: of each key, or NULL
 * @line: where that stands
 */
struct profile {
	char *path;
	char *value[KEYS];
	unsigned int line[KEYS];
};

static struct profile *profiles;
static size_t nr_profiles;
/* Features that were asked for and cannot be had. */
static unsigned int missing;

static void usage(FILE *out)
{
	fputs("Usage: groctl profile apply [FILE|DEVICE]...\n"
	      "       groctl profile check [FILE]...\n\n"
	      "apply puts into force what " FOLDER "/*.conf says: all of it, or one file,\n"
	      "or what is for one device. check reads and changes nothing.\n", out);
}

/* --- what a value may be -------------------------------------------------- */

static bool is_number(const char *value)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	return isdigit(*value) && !*end && !errno && number <= 0x7fffffff;
}

static bool is_state(const char *value)
{
	return !strcmp(value, "off") || !strcmp(value, "on") ||
	       !strcmp(value, "passthrough");
}

static bool is_yes_or_no(const char *value)
{
	return !strcmp(value, "yes") || !strcmp(value, "no");
}

static bool is_list(const char *value)
{
	return value[strspn(value, BLANKS)];
}

static const struct {
	const char *name;
	bool (*good)(const char *value);
	const char *want;
} keys[KEYS] = {
	[KEY_DEVICE] = { "device", is_list, "device names or patterns" },
	[KEY_DRIVER] = { "driver", is_list, "driver names or patterns" },
	[KEY_ONLY] = { "only", is_yes_or_no, "yes or no" },
	[KEY_FLUSH] = { "gro_flush_timeout", is_number, "a number of ns" },
	[KEY_DEFER] = { "napi_defer_hard_irqs", is_number, "a number of polls" },
	[KEY_DEVICES] = { "devices", is_list, "device names or patterns, or *" },
	[KEY_FEATURES] = { "features", is_list, "names of features, or all" },
	[KEY_STATE] = { "state", is_state, "off, passthrough or on" },
};

/* --- reading -------------------------------------------------------------- */

static char *stripped(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

static enum key key_named(const struct profile *p, unsigned int nr,
			  const char *name)
{
	enum key key;

	for (key = 0; key < KEYS; key++)
		if (!strcmp(keys[key].name, name))
			return key;
	die(EXIT_FAILED,
	    "take one of device, driver, only, gro_flush_timeout, napi_defer_hard_irqs, devices, features, state",
	    "%s:%u: there is no setting '%s'", p->path, nr, name);
}

static void take_line(struct profile *p, unsigned int nr, char *line)
{
	char *equals, *value;
	enum key key;

	line[strcspn(line, "#")] = '\0';
	line = stripped(line);
	if (!*line)
		return;
	equals = strchr(line, '=');
	if (!equals)
		die(EXIT_FAILED, "write: setting = value",
		    "%s:%u: '%s' is no setting", p->path, nr, line);
	*equals = '\0';
	key = key_named(p, nr, stripped(line));
	value = stripped(equals + 1);
	if (!keys[key].good(value))
		die(EXIT_FAILED, "groctl(8), PROFILES, has an example",
		    "%s:%u: %s = '%s' is not %s", p->path, nr, keys[key].name,
		    value, keys[key].want);
	if (p->value[key])
		die(EXIT_FAILED, "leave one of the two",
		    "%s:%u: %s stands in line %u as well", p->path, nr,
		    keys[key].name, p->line[key]);
	p->value[key] = strdup(value);
	p->line[key] = nr;
}

static bool for_devices(const struct profile *p)
{
	return p->value[KEY_DEVICE] || p->value[KEY_DRIVER];
}

/* What is a device's needs one. */
static void check_scope(const struct profile *p)
{
	enum key key;

	for (key = KEY_ONLY; key <= KEY_DEFER; key++)
		if (p->value[key] && !for_devices(p))
			die(EXIT_FAILED, "add a line: device = NAME",
			    "%s:%u: %s is of a device, and there is no device or driver",
			    p->path, p->line[key], keys[key].name);
}

/* Takes the path. */
static void read_profile(char *path)
{
	char *text = read_file(path), *rest = text, *line;
	struct profile *p;
	unsigned int nr = 0;

	if (!text)
		die(errno == EACCES ? EXIT_NOT_ROOT : EXIT_FAILED,
		    "profiles are files in " FOLDER " whose names end in .conf",
		    "cannot read %s: %s", path, strerror(errno));
	profiles = realloc(profiles, (nr_profiles + 1) * sizeof(*profiles));
	if (!profiles)
		abort();
	p = &profiles[nr_profiles++];
	memset(p, 0, sizeof(*p));
	p->path = path;
	while ((line = strsep(&rest, "\n")))
		take_line(p, ++nr, line);
	check_scope(p);
	free(text);
}

static bool is_profile(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, ".conf");
}

static void read_folder(void)
{
	size_t nr, i;
	char **names = list_folder(FOLDER, &nr), *path;

	for (i = 0; i < nr; i++) {
		if (!is_profile(names[i]))
			continue;
		if (asprintf(&path, FOLDER "/%s", names[i]) < 0)
			abort();
		read_profile(path);
	}
	free_list(names);
}

/* --- whose ---------------------------------------------------------------- */

/* Does one of the patterns match? */
static bool matches(const char *patterns, const char *name)
{
	char *copy = strdup(patterns), *rest = copy, *word;
	bool found = false;

	while (!found && (word = strsep(&rest, BLANKS)))
		found = *word && !fnmatch(word, name, 0);
	free(copy);
	return found;
}

static bool is_for(const struct profile *p, const char *device)
{
	char *driver;
	bool found;

	if (p->value[KEY_DEVICE] && matches(p->value[KEY_DEVICE], device))
		return true;
	if (!p->value[KEY_DRIVER])
		return false;
	driver = driver_of(device);
	found = driver && matches(p->value[KEY_DRIVER], driver);
	free(driver);
	return found;
}

/* --- writing -------------------------------------------------------------- */

/* Two devices that appear at once would write each other's list away. */
static void lock(void)
{
	char *full = full_path(FOLDER);
	int fd = open(full, O_RDONLY | O_CLOEXEC);

	/* Held until the end; without a folder a file is applied by hand. */
	if (fd >= 0)
		flock(fd, LOCK_EX);
	free(full);
}

/* The first device alone, each other one in addition. */
static void only_these(const char *device)
{
	char *list = need_file("devices"), *longer;

	if (!strcmp(list, "*")) {
		write_file("devices", device);
	} else if (!matches(list, device)) {
		if (asprintf(&longer, "%s %s", list, device) < 0)
			abort();
		write_file("devices", longer);
		free(longer);
	}
	free(list);
}

static void set_attribute(const char *device, const char *name,
			  const char *value)
{
	char *path;

	if (asprintf(&path, "/sys/class/net/%s/%s", device, name) < 0)
		abort();
	write_file(path, value);
	free(path);
}

static bool to_be_had(const struct profile *p, const char *feature)
{
	char path[128], *reason;
	bool fine;

	snprintf(path, sizeof(path), "features/%s/reason", feature);
	reason = need_file(path);
	fine = !strcmp(reason, "ok");
	if (!fine) {
		warn("%s:%u: %s cannot be had here, the rest is applied: %s",
		     p->path, p->line[KEY_FEATURES], feature, reason);
		missing++;
	}
	free(reason);
	return fine;
}

static void check_features(const struct profile *p)
{
	char *copy = strdup(p->value[KEY_FEATURES]), *rest = copy, *word;

	while ((word = strsep(&rest, BLANKS)))
		if (*word && strcmp(word, "all") && !feature_exists(word))
			die(EXIT_FAILED, "groctl feature show has their names",
			    "%s:%u: there is no feature '%s'", p->path,
			    p->line[KEY_FEATURES], word);
	free(copy);
}

/* Those named and no others. All means all that this kernel can have. */
static void set_features(const struct profile *p)
{
	const char *list = p->value[KEY_FEATURES];
	bool all = matches(list, "all"), want;
	size_t nr, i;
	char **names = list_folder("features", &nr), *path;

	for (i = 0; i < nr; i++) {
		want = matches(list, names[i]);
		if (want)
			want = to_be_had(p, names[i]);
		if (asprintf(&path, "features/%s/enabled", names[i]) < 0)
			abort();
		if (!all)
			write_file(path, want ? "1" : "0");
		else
			write_quietly(path, "1");
		free(path);
	}
	free_list(names);
}

static void put_into_force(const struct profile *p, const char *device)
{
	const char *const *value = (const char *const *)p->value;

	if (device && value[KEY_ONLY] && !strcmp(value[KEY_ONLY], "yes"))
		only_these(device);
	if (device && value[KEY_FLUSH])
		set_attribute(device, keys[KEY_FLUSH].name, value[KEY_FLUSH]);
	if (device && value[KEY_DEFER])
		set_attribute(device, keys[KEY_DEFER].name, value[KEY_DEFER]);
	if (value[KEY_DEVICES])
		write_file("devices", value[KEY_DEVICES]);
	if (value[KEY_FEATURES])
		set_features(p);
	if (value[KEY_STATE])
		write_file("state", value[KEY_STATE]);
}

static void tell(json_object *list, const struct profile *p,
		 const char *device)
{
	json_object *object = json_object_new_object();

	if (!json_wanted)
		printf("%s%s%s\n", p->path, device ? ": " : "",
		       device ? device : "");
	add_string(object, "file", p->path);
	if (device)
		add_string(object, "device", device);
	json_object_array_add(list, object);
}

/* --- commands ------------------------------------------------------------- */

static bool device_exists(const char *name)
{
	char path[128], *full;
	bool there;

	snprintf(path, sizeof(path), "/sys/class/net/%s", name);
	full = full_path(path);
	there = !access(full, F_OK);
	free(full);
	return there;
}

static void apply_to(json_object *list, const char *device)
{
	size_t i;

	for (i = 0; i < nr_profiles; i++) {
		if (!for_devices(&profiles[i]) ||
		    !is_for(&profiles[i], device))
			continue;
		put_into_force(&profiles[i], device);
		tell(list, &profiles[i], device);
	}
}

static void apply_all(json_object *list)
{
	size_t nr, i;
	char **names;

	for (i = 0; i < nr_profiles; i++) {
		if (for_devices(&profiles[i]))
			continue;
		put_into_force(&profiles[i], NULL);
		tell(list, &profiles[i], NULL);
	}
	names = list_folder("/sys/class/net", &nr);
	for (i = 0; i < nr; i++)
		apply_to(list, names[i]);
	free_list(names);
}

static bool names_file(const char *word)
{
	return strchr(word, '/') || is_profile(word);
}

/* Files that are named, or else those of the folder. */
static void read_all(int argc, char **argv)
{
	int i, files = 0;

	for (i = 1; i < argc; i++) {
		if (!names_file(argv[i]))
			continue;
		/* One that does not begin with a / would be of the module's. */
		read_profile(realpath(argv[i], NULL) ?: strdup(argv[i]));
		files++;
	}
	if (!files)
		read_folder();
	if (!nr_profiles)
		die(EXIT_FAILED, "write one: groctl(8), PROFILES",
		    "there is no profile in " FOLDER);
}

static int apply(int argc, char **argv)
{
	json_object *answer, *list;
	size_t k;
	int i, devices = 0;

	need_module();
	need_root("profile apply");
	lock();
	read_all(argc, argv);
	for (k = 0; k < nr_profiles; k++)
		if (profiles[k].value[KEY_FEATURES])
			check_features(&profiles[k]);
	for (i = 1; i < argc; i++)
		if (!names_file(argv[i]) && !device_exists(argv[i]))
			die(EXIT_FAILED, "ip link has their names",
			    "there is no device '%s'", argv[i]);
	answer = new_answer("profile apply");
	list = json_object_new_array();
	json_object_object_add(answer, "applied", list);
	for (i = 1; i < argc; i++) {
		if (names_file(argv[i]))
			continue;
		apply_to(list, argv[i]);
		devices++;
	}
	if (!devices)
		apply_all(list);
	if (json_wanted)
		print_json(answer);
	else
		json_object_put(answer);
	return missing ? EXIT_UNSUPPORTED : EXIT_OK;
}

static int check(int argc, char **argv)
{
	json_object *answer = new_answer("profile check");
	json_object *list = json_object_new_array();
	size_t i;

	read_all(argc, argv);
	for (i = 0; i < nr_profiles; i++)
		tell(list, &profiles[i], NULL);
	json_object_object_add(answer, "sound", list);
	if (json_wanted)
		print_json(answer);
	else
		json_object_put(answer);
	return EXIT_OK;
}

int cmd_profile(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "apply", apply, NULL, NULL },
		{ "check", check, NULL, NULL },
		{}
	};

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return EXIT_OK;
	}
	return find_command(commands, argc - 1, argv + 1, "profile");
}
