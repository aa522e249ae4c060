// SPDX-License-Identifier: GPL-2.0-only
/* Generic XDP on the lab's device: a program that lets everything pass. */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compare.h"

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int load(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = (unsigned long)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/* It is there as long as the link is open. */
static int attach(int prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog;
	attr.link_create.target_ifindex = if_nametoindex("lab0");
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_SKB_MODE;
	return bpf(BPF_LINK_CREATE, &attr);
}

void xdp_set(bool on)
{
	static int prog = -1, link = -1;

	if (!on && link >= 0) {
		close(link);
		link = -1;
	}
	if (!on || link >= 0)
		return;
	if (prog < 0)
		prog = load();
	link = prog < 0 ? -1 : attach(prog);
	if (link < 0)
		die("cannot attach XDP to lab0: %s", strerror(errno));
}
