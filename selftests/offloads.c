// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints what stands in the running kernel's offload tables: the list that
 * dev_add_offload() adds to, inet_offloads[] and inet6_offloads[]. One line an
 * entry, in the kernel's order:
 *
 *	packet 0800 ENTRY gso=FUNCTION receive=FUNCTION complete=FUNCTION
 *
 * ENTRY is the object's own symbol; a symbol of a module has the module's name
 * behind it in brackets, as in /proc/kallsyms.
 *
 * It takes nobody's word for it: addresses of the tables are those of
 * /proc/kallsyms, members are where the kernel's BTF says, and memory is read
 * through /proc/kcore. Exit code 4 if one of these cannot be had, as under
 * lockdown.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ENTRIES	64
#define NR_PROTOCOLS	256

static void __attribute__((noreturn, format(printf, 2, 3)))
die(int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("offloads: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	exit(status);
}

/* --- /proc/kcore ------------------------------------------------------------ */

static int kcore = -1;
static Elf64_Phdr segments[64];
static unsigned int nr_segments;

static void open_kcore(void)
{
	Elf64_Ehdr head;

	kcore = open("/proc/kcore", O_RDONLY);
	if (kcore < 0)
		die(4, "/proc/kcore: %s", strerror(errno));
	if (pread(kcore, &head, sizeof(head), 0) != sizeof(head))
		die(4, "/proc/kcore has no ELF header");
	nr_segments = head.e_phnum;
	if (nr_segments > 64)
		die(1, "/proc/kcore has %u segments", nr_segments);
	if (pread(kcore, segments, nr_segments * sizeof(*segments),
		  head.e_phoff) < 0)
		die(4, "/proc/kcore: %s", strerror(errno));
}

static void peek(uint64_t addr, void *buf, size_t len)
{
	unsigned int i;

	for (i = 0; i < nr_segments; i++) {
		const Elf64_Phdr *ph = &segments[i];

		if (ph->p_type != PT_LOAD || addr < ph->p_vaddr ||
		    addr - ph->p_vaddr + len > ph->p_memsz)
			continue;
		if (pread(kcore, buf, len, ph->p_offset + addr - ph->p_vaddr) ==
		    (ssize_t)len)
			return;
		die(1, "cannot read %zu bytes at %#llx", len,
		    (unsigned long long)addr);
	}
	die(1, "%#llx is in no segment of /proc/kcore",
	    (unsigned long long)addr);
}

static uint64_t peek64(uint64_t addr)
{
	uint64_t value;

	peek(addr, &value, sizeof(value));
	return value;
}

/* --- BTF -------------------------------------------------------------------- */

static const struct btf_header *btf;

static void open_btf(void)
{
	static const char file[] = "/sys/kernel/btf/vmlinux";
	int fd = open(file, O_RDONLY);
	struct stat st;
	size_t done = 0;
	ssize_t got;
	char *buf;

	if (fd < 0 || fstat(fd, &st))
		die(4, "%s: %s", file, strerror(errno));
	buf = malloc(st.st_size);
	if (!buf)
		die(1, "no memory");
	while ((got = read(fd, buf + done, st.st_size - done)) > 0)
		done += got;
	btf = (const void *)buf;
	if (done != (size_t)st.st_size || btf->magic != BTF_MAGIC)
		die(4, "%s is not as expected", file);
	close(fd);
}

static const char *btf_name(uint32_t off)
{
	return (const char *)btf + btf->hdr_len + btf->str_off + off;
}

/* Bytes that follow a type. */
static size_t btf_more(const struct btf_type *t)
{
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return 8 * BTF_INFO_VLEN(t->info);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return 12 * BTF_INFO_VLEN(t->info);
	}
	return 0;
}

static const struct btf_type *btf_struct(const char *name)
{
	const char *at = (const char *)btf + btf->hdr_len + btf->type_off;
	const char *end = at + btf->type_len;

	while (at < end) {
		const struct btf_type *t = (const void *)at;

		if (BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT &&
		    !strcmp(btf_name(t->name_off), name))
			return t;
		at += sizeof(*t) + btf_more(t);
	}
	die(1, "the kernel has no struct %s", name);
}

/* Offset of a member in bytes. */
static unsigned int member(const char *structure, const char *name)
{
	const struct btf_type *t = btf_struct(structure);
	const struct btf_member *m = (const void *)(t + 1);
	unsigned int i;

	for (i = 0; i < BTF_INFO_VLEN(t->info); i++)
		if (!strcmp(btf_name(m[i].name_off), name))
			return BTF_MEMBER_BIT_OFFSET(m[i].offset) / 8;
	die(1, "struct %s has no member %s", structure, name);
}

/* --- symbols ---------------------------------------------------------------- */

/* What stands at an address: filled in by one pass over /proc/kallsyms. */
struct symbol {
	uint64_t addr;
	uint64_t base;
	const char *name;	/* in kallsyms, to the end of the line */
};

static struct symbol symbols[4 * (MAX_ENTRIES + 2 * NR_PROTOCOLS)];
static unsigned int nr_symbols;

/* All of /proc/kallsyms: the kernel takes long to print it. */
static char *kallsyms;

static void read_kallsyms(void)
{
	int fd = open("/proc/kallsyms", O_RDONLY);
	size_t size = 32 << 20, done = 0;
	ssize_t got;

	kallsyms = malloc(size);
	if (fd < 0 || !kallsyms)
		die(4, "/proc/kallsyms: %s", strerror(errno));
	while ((got = read(fd, kallsyms + done, size - done - 1)) > 0)
		done += got;
	if (got < 0 || done == size - 1)
		die(1, "cannot read all of /proc/kallsyms");
	kallsyms[done] = '\0';
	close(fd);
}

/* "ADDRESS TYPE NAME\n" or, of a module, "ADDRESS TYPE NAME\t[MODULE]\n" */
static const char *parse_line(const char *line, uint64_t *addr,
			      const char **name)
{
	char *end;

	*addr = strtoull(line, &end, 16);
	*name = end + 3;
	return strchr(*name, '\n') + 1;
}

/* Address of a symbol of the kernel itself, or 0. */
static uint64_t address(const char *want)
{
	const size_t len = strlen(want);
	const char *at, *name;
	uint64_t addr;

	for (at = kallsyms; *at;) {
		at = parse_line(at, &addr, &name);
		if (!strncmp(name, want, len) && name[len] == '\n')
			return addr;
	}
	return 0;
}

static unsigned int remember(uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < nr_symbols; i++)
		if (symbols[i].addr == addr)
			return i;
	if (nr_symbols == sizeof(symbols) / sizeof(*symbols))
		die(1, "too many entries");
	symbols[nr_symbols].addr = addr;
	return nr_symbols++;
}

static void name_symbols(void)
{
	const char *at, *name;
	unsigned int i;
	uint64_t addr;

	for (at = kallsyms; *at;) {
		at = parse_line(at, &addr, &name);
		for (i = 0; i < nr_symbols; i++) {
			struct symbol *s = &symbols[i];

			if (addr > s->addr || addr <= s->base)
				continue;
			s->base = addr;
			s->name = name;
		}
	}
}

/* "name", "name [module]", "-" for a null pointer. */
static const char *symbol(unsigned int id)
{
	static char text[4][256];
	static unsigned int turn;
	const struct symbol *s = &symbols[id];
	char *to = text[turn++ % 4], *tab;

	if (!s->addr)
		return "-";
	if (!s->name)
		return "?";
	snprintf(to, sizeof(text[0]), "%.*s", (int)strcspn(s->name, "\n"),
		 s->name);
	tab = strchr(to, '\t');
	if (tab)
		*tab = ' ';
	return to;
}

/* --- the tables ------------------------------------------------------------- */

struct entry {
	const char *table;
	unsigned int key;
	unsigned int object, gso, receive, complete;
};

static struct entry entries[MAX_ENTRIES + 2 * NR_PROTOCOLS];
static unsigned int nr_entries;

/* Where the members are that are read; offsets in bytes. */
static struct {
	unsigned int list, type, packet, protocol, gso, receive, complete;
} offset;

static void find_members(void)
{
	offset.list = member("packet_offload", "list");
	offset.type = member("packet_offload", "type");
	offset.packet = member("packet_offload", "callbacks");
	offset.protocol = member("net_offload", "callbacks");
	offset.gso = member("offload_callbacks", "gso_segment");
	offset.receive = member("offload_callbacks", "gro_receive");
	offset.complete = member("offload_callbacks", "gro_complete");
}

static void add_entry(const char *table, unsigned int key, uint64_t object,
		      uint64_t callbacks)
{
	struct entry *e = &entries[nr_entries++];

	e->table = table;
	e->key = key;
	e->object = remember(object);
	e->gso = remember(peek64(callbacks + offset.gso));
	e->receive = remember(peek64(callbacks + offset.receive));
	e->complete = remember(peek64(callbacks + offset.complete));
}

static uint64_t list_head(void)
{
	uint64_t addr = address("offload_base");

	if (addr)
		return addr;
	addr = address("net_hotdata");
	if (!addr)
		die(4, "/proc/kallsyms shows no addresses or not enough");
	return addr + member("net_hotdata", "offload_base");
}

static void read_packet_offloads(void)
{
	const uint64_t head = list_head();
	uint8_t key[2];
	uint64_t at;

	for (at = peek64(head); at != head; at = peek64(at)) {
		const uint64_t object = at - offset.list;

		if (nr_entries == MAX_ENTRIES)
			die(1, "the list does not end");
		peek(object + offset.type, key, sizeof(key));
		add_entry("packet", key[0] << 8 | key[1], object,
			  object + offset.packet);
	}
}

static void read_protocols(const char *table)
{
	const uint64_t addr = address(table);
	uint64_t object;
	unsigned int i;

	if (!addr)
		die(4, "/proc/kallsyms has no symbol %s", table);
	for (i = 0; i < NR_PROTOCOLS; i++) {
		object = peek64(addr + 8 * i);
		if (object)
			add_entry(table, i, object, object + offset.protocol);
	}
}

int main(void)
{
	unsigned int i;

	open_btf();
	open_kcore();
	read_kallsyms();
	find_members();
	read_packet_offloads();
	read_protocols("inet_offloads");
	read_protocols("inet6_offloads");
	name_symbols();
	for (i = 0; i < nr_entries; i++) {
		const struct entry *e = &entries[i];

		printf(*e->table == 'p' ? "%s %04x" : "%s %u", e->table, e->key);
		printf(" %s gso=%s", symbol(e->object), symbol(e->gso));
		printf(" receive=%s complete=%s\n", symbol(e->receive),
		       symbol(e->complete));
	}
	return 0;
}
