// SPDX-License-Identifier: GPL-2.0-only
/* What a result is worth nothing without: the machine it is from. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "groctl.h"

static char *cpu_model(void)
{
	char *text = read_file("/proc/cpuinfo"), *at, *model = NULL;

	at = text ? strstr(text, "model name") : NULL;
	at = at ? strchr(at, ':') : NULL;
	if (at)
		model = strndup(at + 2, strcspn(at + 2, "\n"));
	free(text);
	return model;
}

#define CPU "/sys/devices/system/cpu/"

static json_object *mitigations(void)
{
	static const char folder[] = CPU "vulnerabilities";
	json_object *object = json_object_new_object();
	char path[128];
	size_t nr, i;
	char **names = list_folder(folder, &nr);

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		add_text(object, names[i], read_file(path));
	}
	free_list(names);
	return object;
}

/* Of those that are behind no bus, as veth, it is not in sysfs. */
static char *ask_driver(const char *device)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq ifr = { .ifr_data = (char *)&info };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return NULL;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", device);
	err = ioctl(fd, SIOCETHTOOL, &ifr);
	close(fd);
	return err ? NULL : strdup(info.driver);
}

/* NULL if nobody knows. */
char *driver_of(const char *device)
{
	char path[128], target[256], *full, *slash;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/class/net/%s/device/driver", device);
	full = full_path(path);
	len = readlink(full, target, sizeof(target) - 1);
	free(full);
	if (len <= 0)
		return ask_driver(device);
	target[len] = '\0';
	slash = strrchr(target, '/');
	return strdup(slash ? slash + 1 : target);
}

static json_object *device_describe(const char *device)
{
	static const char *const files[] = {
		"mtu", "gro_flush_timeout", "napi_defer_hard_irqs", "threaded",
		"speed", "operstate",
	};
	json_object *object = json_object_new_object();
	char path[128];
	size_t i;

	add_string(object, "name", device);
	add_text(object, "driver", driver_of(device));
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/%s", device,
			 files[i]);
		add_text(object, files[i], read_file(path));
	}
	return object;
}

static json_object *devices(void)
{
	json_object *list = json_object_new_array();
	size_t nr, i;
	char **names = list_folder("/sys/class/net", &nr);

	for (i = 0; i < nr; i++)
		if (strcmp(names[i], "lo"))
			json_object_array_add(list, device_describe(names[i]));
	free_list(names);
	return list;
}

json_object *machine_describe(void)
{
	json_object *object = json_object_new_object();
	struct utsname uts;
	char now[32];
	time_t t = time(NULL);

	uname(&uts);
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
	add_string(object, "time", now);
	add_string(object, "host", uts.nodename);
	add_string(object, "kernel", uts.release);
	add_text(object, "cpu", cpu_model());
	add_count(object, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	add_text(object, "smt", read_file(CPU "smt/active"));
	add_text(object, "governor",
		 read_file(CPU "cpu0/cpufreq/scaling_governor"));
	add_text(object, "module", read_file("version"));
	json_object_object_add(object, "mitigations", mitigations());
	json_object_object_add(object, "devices", devices());
	return object;
}
