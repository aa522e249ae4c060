// SPDX-License-Identifier: GPL-2.0-only
/* groctl status, on, off, passthrough, feature. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "groctl.h"

static const char *const status_files[] = {
	"version", "state", "enable_seq", "fault_reason", "devices", "ab/run",
};

/* "?" for what cannot be read. */
static char *file_or_mark(const char *path)
{
	char *text = read_file(path);

	return text ? text : strdup("?");
}

static char *feature_file(const char *feature, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "features/%s/%s", feature, file);
	return file_or_mark(path);
}

static json_object *feature_describe(const char *feature)
{
	json_object *object = json_object_new_object();

	add_string(object, "name", feature);
	add_text(object, "enabled", feature_file(feature, "enabled"));
	add_text(object, "active", feature_file(feature, "active"));
	add_text(object, "reason", feature_file(feature, "reason"));
	return object;
}

static json_object *features_describe(void)
{
	json_object *list = json_object_new_array();
	size_t nr, i;
	char **names = list_folder("features", &nr);

	for (i = 0; i < nr; i++)
		json_object_array_add(list, feature_describe(names[i]));
	free_list(names);
	return list;
}

static const char *text_of(json_object *object, const char *name)
{
	return json_object_get_string(json_object_object_get(object, name));
}

static void features_print(json_object *list)
{
	size_t i;

	printf("%-12s %-8s %-7s %s\n", "feature", "enabled", "active",
	       "reason");
	for (i = 0; i < json_object_array_length(list); i++) {
		json_object *f = json_object_array_get_idx(list, i);
		bool active = !strcmp(text_of(f, "active"), "1");

		printf("%-12s %-8s %s%-7s%s %s\n", text_of(f, "name"),
		       strcmp(text_of(f, "enabled"), "1") ? "no" : "yes",
		       paint(active ? GREEN : ""), active ? "yes" : "no",
		       paint(active ? PLAIN : ""), text_of(f, "reason"));
	}
}

/* Takes the answer. */
static int features_show(json_object *answer)
{
	if (json_wanted) {
		print_json(answer);
		return EXIT_OK;
	}
	features_print(json_object_object_get(answer, "features"));
	json_object_put(answer);
	return EXIT_OK;
}

int cmd_status(int argc, char **argv)
{
	json_object *answer;
	size_t i;

	if (help_wanted(argc, argv, "Usage: groctl status"))
		return EXIT_OK;
	if (argc > 1)
		return usage_error("status", "what is '%s'?", argv[1]);
	need_module();
	answer = new_answer("status");
	for (i = 0; i < sizeof(status_files) / sizeof(*status_files); i++) {
		char *text = file_or_mark(status_files[i]);

		if (!json_wanted)
			printf("%-13s %s\n", status_files[i], text);
		add_text(answer, status_files[i], text);
	}
	json_object_object_add(answer, "features", features_describe());
	return features_show(answer);
}

int cmd_state(int argc, char **argv)
{
	json_object *answer;

	if (help_wanted(argc, argv, "Usage: groctl on|off|passthrough"))
		return EXIT_OK;
	if (argc > 1)
		return usage_error(argv[0], "what is '%s'?", argv[1]);
	write_file("state", argv[0]);
	if (json_wanted) {
		answer = new_answer(argv[0]);
		add_text(answer, "state", file_or_mark("state"));
		print_json(answer);
	}
	return EXIT_OK;
}

static int feature_list(int argc, char **argv)
{
	json_object *answer;

	if (argc > 1)
		return usage_error("feature", "what is '%s'?", argv[1]);
	need_module();
	answer = new_answer("feature");
	json_object_object_add(answer, "features", features_describe());
	return features_show(answer);
}

bool feature_exists(const char *feature)
{
	size_t nr, i;
	char **names = list_folder("features", &nr);
	bool there = false;

	for (i = 0; i < nr; i++)
		there |= !strcmp(names[i], feature);
	free_list(names);
	return there;
}

static int feature_switch(int argc, char **argv)
{
	const char *value = !strcmp(argv[0], "enable") ? "1" : "0";
	char path[128];
	int i;

	if (argc < 2)
		return usage_error("feature", "%s which feature?", argv[0]);
	need_module();
	for (i = 1; i < argc; i++)
		if (!feature_exists(argv[i]))
			return usage_error("feature",
					   "there is no feature '%s'", argv[i]);
	for (i = 1; i < argc; i++) {
		snprintf(path, sizeof(path), "features/%s/enabled", argv[i]);
		write_file(path, value);
	}
	return json_wanted ? feature_list(1, argv) : EXIT_OK;
}

int cmd_feature(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "show", feature_list, NULL, NULL },
		{ "enable", feature_switch, NULL, NULL },
		{ "disable", feature_switch, NULL, NULL },
		{}
	};

	if (help_wanted(argc, argv,
			"Usage: groctl feature show | enable FEATURE... | disable FEATURE..."))
		return EXIT_OK;
	return find_command(commands, argc - 1, argv + 1, "feature");
}
