// SPDX-License-Identifier: GPL-2.0-only
/*
 * groctl doctor: what would spoil a comparison. ethtool's ioctl tells of offloads,
 * as any kernel has it; programs on devices are rtnetlink's to tell, which ip does.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "groctl.h"

static struct json_object *findings;
static unsigned int bad;

/* One finding: is it well, what, and what to do about it. */
static void find(bool well, const char *what, const char *detail,
		 const char *advice)
{
	json_object *object = json_object_new_object();

	bad += !well;
	json_object_object_add(object, "ok", json_object_new_boolean(well));
	add_string(object, "what", what);
	add_string(object, "detail", detail);
	if (!well && advice)
		add_string(object, "hint", advice);
	json_object_array_add(findings, object);
	if (json_wanted)
		return;
	printf("%s%-5s%s %s: %s\n", paint(well ? GREEN : RED),
	       well ? "ok" : "LOOK", paint(PLAIN), what, detail);
	if (!well && advice)
		printf("      do: %s\n", advice);
}

/* --- the module and the kernel -------------------------------------------- */

static void look_at_module(void)
{
	char *state = read_file("state"), *fault;

	if (!state) {
		find(false, "module", "not loaded", "modprobe gro_opt");
		return;
	}
	fault = read_file("fault_reason");
	find(strcmp(state, "faulted"), "state", state,
	     fault ? fault : "echo off >/sys/kernel/gro_opt/state");
	free(fault);
	free(state);
}

static void look_at_features(void)
{
	char path[128], *reason;
	size_t nr, i;
	char **names = list_folder("features", &nr);

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "features/%s/reason", names[i]);
		reason = read_file(path);
		if (reason)
			find(!strcmp(reason, "ok"), names[i], reason,
			     "nothing: this kernel cannot have it");
		free(reason);
	}
	free_list(names);
}

static void look_at_lockdown(void)
{
	char *text = read_file("/sys/kernel/security/lockdown");
	bool locked = text && !strstr(text, "[none]");

	find(true, "lockdown", locked ? "on: no debugfs, so no hist" :
	     text ? "off" : "unknown", NULL);
	free(text);
}

static void look_at_mitigations(void)
{
	char *text = read_file("/sys/devices/system/cpu/vulnerabilities/spectre_v2");

	find(true, "mitigations", text ? text : "unknown", NULL);
	free(text);
}

static void look_at_livepatch(void)
{
	size_t nr;
	char **names = list_folder("/sys/kernel/livepatch", &nr);

	find(!nr, "livepatch", nr ? names[0] : "none",
	     "see whether it patches GRO: then stock is not stock");
	free_list(names);
}

static bool is_gro(const char *line)
{
	return strstr(line, "gro_receive") || strstr(line, "gro_complete");
}

/* Probes on stock's functions cost stock alone, for ours do not go through them. */
static void look_at_probes(void)
{
	char *text = read_file("/sys/kernel/tracing/enabled_functions");
	char *rest = text, *line;
	unsigned int nr = 0;

	if (!text) {
		find(true, "probes", geteuid() ? "unknown, needs root" :
		     "unknown, no tracefs", NULL);
		return;
	}
	while ((line = strtok_r(rest, "\n", &rest)))
		nr += is_gro(line);
	find(!nr, "probes", nr ? "on GRO functions of stock" : "none on GRO",
	     "detach them: they cost stock and not ours");
	free(text);
}

/* --- devices -------------------------------------------------------------- */

static int ask(int sock, const char *device, void *request)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", device);
	ifr.ifr_data = request;
	return ioctl(sock, SIOCETHTOOL, &ifr);
}

static bool has_flag(int sock, const char *device, unsigned int flag)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GFLAGS };

	return !ask(sock, device, &value) && (value.data & flag);
}

static bool has_gro(int sock, const char *device)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GGRO };

	return !ask(sock, device, &value) && value.data;
}

static bool is_up(const char *device)
{
	char path[128], *text;
	bool up;

	snprintf(path, sizeof(path), "/sys/class/net/%s/flags", device);
	text = read_file(path);
	up = text && (strtoul(text, NULL, 16) & IFF_UP);
	free(text);
	return up;
}

static void look_at_device(int sock, const char *device)
{
	char what[64];

	snprintf(what, sizeof(what), "%s gro", device);
	find(has_gro(sock, device), what, has_gro(sock, device) ? "on" : "off",
	     "ethtool -K DEVICE gro on");
	snprintf(what, sizeof(what), "%s lro", device);
	find(!has_flag(sock, device, ETH_FLAG_LRO), what,
	     has_flag(sock, device, ETH_FLAG_LRO) ? "on" : "off",
	     "ethtool -K DEVICE lro off: hardware merges before GRO can");
}

static void look_at_devices(void)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t nr, i;
	char **names = list_folder("/sys/class/net", &nr);

	for (i = 0; sock >= 0 && i < nr; i++)
		if (strcmp(names[i], "lo") && is_up(names[i]))
			look_at_device(sock, names[i]);
	if (sock >= 0)
		close(sock);
	free_list(names);
}

/* What a command prints that says @word, first line of it. */
static void look_at_output(const char *what, const char *command,
			   const char *word, const char *advice)
{
	FILE *pipe = popen(command, "r");
	char line[512], found[512] = "";
	int status;

	while (pipe && fgets(line, sizeof(line), pipe))
		if (!*found && strstr(line, word)) {
			line[strcspn(line, "\n")] = '\0';
			strcpy(found, line);
		}
	status = pipe ? pclose(pipe) : -1;
	if (status && !*found)
		find(true, what, "unknown, needs iproute2", NULL);
	else
		find(!*found, what, *found ? found : "none", advice);
}

static void look_at_programs(void)
{
	look_at_output("XDP", "ip -d link show 2>/dev/null", "prog/xdp",
		       "packets it takes or changes are not GRO's; detach it to compare");
	look_at_output("tc ingress", "tc filter show 2>/dev/null", "bpf",
		       "it costs both arms the same, but adds noise");
}

int cmd_doctor(int argc, char **argv)
{
	json_object *answer;

	if (help_wanted(argc, argv, "Usage: groctl doctor\n\n"
			"What would spoil a comparison; exit code 1 if there is anything."))
		return EXIT_OK;
	if (argc > 1)
		return usage_error("doctor", "what is '%s'?", argv[1]);
	findings = json_object_new_array();
	look_at_module();
	look_at_features();
	look_at_lockdown();
	look_at_mitigations();
	look_at_livepatch();
	look_at_probes();
	look_at_devices();
	look_at_programs();
	if (json_wanted) {
		answer = new_answer("doctor");
		json_object_object_add(answer, "findings", findings);
		print_json(answer);
	} else {
		json_object_put(findings);
	}
	return bad ? EXIT_FAILED : EXIT_OK;
}
