// SPDX-License-Identifier: GPL-2.0-only
/* Runs episodes in the arms, compares, and shrinks what differs. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "compare.h"

#define ETH_LEN		14
/* Frames shown of a difference that does not shrink. */
#define PRINT_MAX	12

#define FEATURES "/sys/kernel/gro_opt/features/"

const char *const mode_names[MODES] = {
	"stock", "passthrough", "on", "mixed", "coin", "ab",
};

/* --- episodes ------------------------------------------------------------- */

void episode_init(struct episode *e, unsigned int max)
{
	memset(e, 0, sizeof(*e));
	e->max = max;
	e->frames = xalloc(max * sizeof(*e->frames));
	e->bytes = xalloc(max * sizeof(*e->bytes));
	e->cut = xalloc(max * sizeof(*e->cut));
	e->features = xalloc(max * sizeof(*e->features));
	e->pkts = xalloc(max * sizeof(*e->pkts));
}

void episode_add_frame(struct episode *e, const struct gro_lab_frame *frame,
		       const __u8 *bytes)
{
	if (e->nr == e->max)
		die("an episode of more than %u frames", e->max);
	e->frames[e->nr] = *frame;
	e->bytes[e->nr] = xalloc(frame->len);
	memcpy(e->bytes[e->nr], bytes, frame->len);
	e->nr++;
}

/* All of it in one page, or headers in a page of their own, as cards split. */
static void frame_split(struct gro_lab_frame *frame, const struct pkt *pkt)
{
	unsigned int first = pkt->frag0;

	if (!first && pkt->shape == SHAPE_HEADERS)
		first = frame->linear;
	frame->flags &= ~GRO_LAB_F_RAW;
	frame->linear = 0;
	frame->nr_frags = 0;
	frame->nr_members = 0;
	if (first < ETH_LEN || first >= frame->len)
		return;
	frame->nr_frags = 2;
	frame->frag_len[0] = first;
	frame->frag_len[1] = frame->len - first;
}

void episode_add(struct episode *e, const struct pkt *pkt)
{
	struct gro_lab_frame frame;
	__u8 buf[FRAME_ROOM];

	pkt_build(pkt, buf, &frame);
	if (e->frags)
		frame_split(&frame, pkt);
	e->pkts[e->nr] = *pkt;
	episode_add_frame(e, &frame, buf);
}

void episode_end(struct episode *e)
{
	unsigned int i;

	for (i = 0; i < e->nr; i++)
		free(e->bytes[i]);
	free(e->frames);
	free(e->bytes);
	free(e->cut);
	free(e->features);
	free(e->pkts);
	memset(e, 0, sizeof(*e));
}

/* Frames @skip says nothing about; their cuts are kept. */
static void episode_part(struct episode *part, const struct episode *e,
			 const bool *skip)
{
	unsigned int i;
	bool cut = false;

	episode_init(part, e->nr);
	part->seed = e->seed;
	part->frags = e->frags;
	part->flush_each = e->flush_each;
	part->deliver = e->deliver;
	part->between = e->between;
	part->entry = e->entry;
	part->settle = e->settle;
	part->gro_max_size = e->gro_max_size;
	part->gro_ipv4_max_size = e->gro_ipv4_max_size;
	for (i = 0; i < e->nr; i++) {
		cut |= e->cut[i];
		if (skip[i])
			continue;
		part->pkts[part->nr] = e->pkts[i];
		episode_add_frame(part, &e->frames[i], e->bytes[i]);
		part->cut[part->nr - 1] = cut;
		part->features[part->nr - 1] = e->features[i];
		cut = false;
	}
}

/* --- running -------------------------------------------------------------- */

static void outcome_add(struct outcome *out, unsigned int at,
			const struct gro_lab_result *result)
{
	const __u8 *verdicts = (const __u8 *)(result + 1);
	size_t pad = (result->frames + 7) & ~7UL;
	size_t size = result->size - sizeof(*result) - pad;

	memcpy(out->verdicts + at, verdicts, result->frames);
	if (!size)
		return;
	out->records = xrealloc(out->records, out->size + size);
	memcpy(out->records + out->size, verdicts + pad, size);
	out->size += size;
	out->skbs += result->skbs;
}

/* One that this kernel can have. */
static int is_feature(const struct dirent *entry)
{
	char path[sizeof(FEATURES) + 256 + 16], reason[64];

	if (entry->d_name[0] == '.')
		return 0;
	snprintf(path, sizeof(path), FEATURES "%s/reason", entry->d_name);
	return file_read(path, reason, sizeof(reason)) &&
	       !strcmp(reason, "ok");
}

/* What the module has, asked once. */
static const struct dirent *feature_at(unsigned int i, unsigned int *nr)
{
	static struct dirent **list;
	static int found;

	if (!list)
		found = scandir(FEATURES, &list, is_feature, alphasort);
	if (found < 0)
		die("no features in " FEATURES ": is gro_opt.ko loaded?");
	*nr = found;
	return found ? list[i % found] : NULL;
}

/* The n-th feature, if there is any. Returns how many there are. */
static unsigned int feature_set(unsigned int i, bool enable)
{
	char path[sizeof(FEATURES) + 256 + 16];
	const struct dirent *entry;
	unsigned int nr;

	entry = feature_at(i, &nr);
	if (!entry)
		return 0;
	snprintf(path, sizeof(path), FEATURES "%s/enabled", entry->d_name);
	if (!file_write(path, enable ? "1" : "0"))
		die("%s: %s", path, strerror(errno));
	return nr;
}

static void feature_flip(__u64 *rng)
{
	unsigned int i = rnd(rng);

	feature_set(i, one_in(rng, 2));
}

static void features_reset(void)
{
	unsigned int i, nr = 1;

	for (i = 0; i < nr; i++)
		nr = feature_set(i, true);
}

/* Between two batches, with packets held. */
static void mix(enum run_mode mode, __u64 *rng)
{
	if (mode == MODE_MIXED && one_in(rng, 3))
		arm_set(rnd(rng) % ARMS);
	else
		feature_flip(rng);
}

static void mode_set(enum run_mode mode)
{
	static const enum arm arms[MODES] = {
		ARM_STOCK, ARM_PASSTHROUGH, ARM_ON, ARM_ON, ARM_ON, ARM_ON,
	};

	arm_set(arms[mode]);
}

/* How the coin fell in all episodes of the program. */
struct gro_lab_coin coin_total;

static void coin_start(int fd, __u64 seed)
{
	static bool learned;

	if (!learned) {
		arm_set(ARM_STOCK);
		if (ioctl(fd, GRO_LAB_COIN_LEARN))
			die("GRO_LAB_COIN_LEARN: %s", strerror(errno));
		learned = true;
	}
	mode_set(MODE_COIN);
	seed |= 1;
	if (ioctl(fd, GRO_LAB_COIN_ON, &seed))
		die("GRO_LAB_COIN_ON: %s", strerror(errno));
}

static void coin_stop(int fd)
{
	struct gro_lab_coin count;

	if (ioctl(fd, GRO_LAB_COIN_OFF, &count))
		die("GRO_LAB_COIN_OFF: %s", strerror(errno));
	coin_total.stock += count.stock;
	coin_total.front += count.front;
}

/* --- an A/B run ----------------------------------------------------------- */

static bool ab_on;

static void ab_write(const char *file, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/gro_opt/ab/%s", file);
	if (!file_write(path, value))
		die("%s <- %s: %s", path, value, strerror(errno));
}

static void ab_stop(void)
{
	if (ab_on)
		ab_write("run", "stop");
	ab_on = false;
}

/* No run can be had with a feature that the kernel, or the self-check, refuses. */
static bool ab_has(const char *feature)
{
	char path[64], reason[64];

	snprintf(path, sizeof(path), FEATURES "%s/reason", feature);
	return file_read(path, reason, sizeof(reason)) && !strcmp(reason, "ok");
}

/* What there is to choose from; the first is there whatever is refused. */
static const struct {
	const char *mode;
	const char *arm;
	const char *needs[2];
} ab_runs[] = {
	{ "flow", "passthrough", {} },
	{ "time", "passthrough", {} },
	{ "flow", "opt:tcp4,udp6", { "tcp4", "udp6" } },
	{ "flow", "opt:exthdr,udp4", { "exthdr", "udp4" } },
	{ "time", "opt:tcp6,udp4", { "tcp6", "udp4" } },
	{ "flow", "opt:encap,tcp4", { "encap", "tcp4" } },
	{ "time", "opt:encap", { "encap" } },
	{ "flow", "opt:tcp4,tcp6", { "tcp4", "tcp6" } },
};

static unsigned int ab_choose(__u64 seed)
{
	unsigned int i = seed % ARRAY_SIZE(ab_runs), j;

	for (j = 0; j < ARRAY_SIZE(ab_runs[i].needs); j++)
		if (ab_runs[i].needs[j] && !ab_has(ab_runs[i].needs[j]))
			return 0;
	return i;
}

/* Goes on until another mode is wanted: arms of several kinds, by the seed. */
static void ab_start(__u64 seed)
{
	static bool known;
	unsigned int i = ab_choose(seed);

	if (!known)
		atexit(ab_stop);
	known = true;
	ab_write("mode", ab_runs[i].mode);
	ab_write("arm_a", ab_runs[i].arm);
	ab_write("arm_b", "opt");
	ab_write("slice_ms", "10");
	ab_write("settle_ms", "0");
	ab_write("rounds", "10000");
	ab_write("sample", "3");
	ab_write("run", "start");
	ab_on = true;
}

static void mode_begin(int fd, enum run_mode mode, __u64 seed)
{
	if (mode == MODE_AB && ab_on)
		return;
	ab_stop();
	if (mode == MODE_COIN)
		coin_start(fd, seed);
	else
		mode_set(mode);
	if (mode == MODE_AB)
		ab_start(rnd(&seed));
}

static void mode_end(int fd, enum run_mode mode)
{
	if (mode == MODE_COIN)
		coin_stop(fd);
	if (mode == MODE_MIXED || mode == MODE_COIN)
		features_reset();
}

static __u32 episode_flags(const struct episode *e)
{
	return (e->frags ? GRO_LAB_B_FRAGS : 0) |
	       (e->deliver ? GRO_LAB_B_DELIVER : 0);
}

/*
 * napi_gro_frags() hands the skb of a merged frame to the next one, stale
 * fields and all. A frame that GRO leaves alone takes what the last run left.
 */
static void wash(int fd, __u32 flags)
{
	static const __u8 bytes[60] = { 2, [5] = 1, [12] = 0x88, [13] = 0xb5 };
	const struct gro_lab_frame frame = { .len = sizeof(bytes) };
	struct lab_batch batch = {};

	lab_begin(&batch, flags | GRO_LAB_B_FRAGS | GRO_LAB_B_FLUSH);
	lab_add(&batch, &frame, bytes);
	lab_write(fd, &batch);
	free(lab_read(fd));
	lab_end(&batch);
}

/* What the batch that begins with frame @from says besides its frames. */
static void batch_describe(struct lab_batch *batch, const struct episode *e,
			   unsigned int from, bool last)
{
	struct gro_lab_batch *head = &batch->head;

	head->flags |= last || e->flush_each ? GRO_LAB_B_FLUSH :
					       GRO_LAB_B_HOLD;
	if (e->settle)
		head->flags |= GRO_LAB_B_SETTLE;
	head->features = e->features[from] & ~NOT_LAB;
	head->entry = e->entry;
	head->gro_max_size = e->gro_max_size;
	head->gro_ipv4_max_size = e->gro_ipv4_max_size;
}

void episode_run(int fd, const struct episode *e, enum run_mode mode,
		 struct outcome *out)
{
	static bool washed;
	struct lab_batch batch = {};
	struct gro_lab_result *result;
	__u64 rng = e->seed ^ 0x9e3779b97f4a7c15ULL;
	unsigned int i, from = 0;

	memset(out, 0, sizeof(*out));
	out->verdicts = xalloc(e->nr + 1);
	/* Whoever ran before may have ended with packets held. */
	if (e->frags || !washed)
		wash(fd, episode_flags(e));
	washed = true;
	mode_begin(fd, mode, rng);
	lab_begin(&batch, episode_flags(e));
	for (i = 0; i < e->nr; i++) {
		lab_add(&batch, &e->frames[i], e->bytes[i]);
		if (i + 1 < e->nr && !e->cut[i + 1])
			continue;
		batch_describe(&batch, e, from, i + 1 == e->nr);
		xdp_set(e->features[from] & DEV_XDP);
		network_swap(e->features[from] & SOCKS_SWAP);
		network_late(e->features[from] & SOCKS_LATE);
		lab_write(fd, &batch);
		result = lab_read(fd);
		outcome_add(out, from, result);
		free(result);
		from = i + 1;
		lab_begin(&batch, episode_flags(e));
		if (e->between && from < e->nr)
			e->between();
		if ((mode == MODE_MIXED || mode == MODE_COIN) && from < e->nr)
			mix(mode, &rng);
	}
	mode_end(fd, mode);
	lab_end(&batch);
	out->verdicts[e->nr] = 0xff;
}

void outcome_end(struct outcome *out)
{
	free(out->verdicts);
	free(out->records);
	memset(out, 0, sizeof(*out));
}

static unsigned int verdicts_len(const struct outcome *out)
{
	unsigned int n = 0;

	while (out->verdicts[n] != 0xff)
		n++;
	return n;
}

bool outcome_equal(const struct outcome *a, const struct outcome *b)
{
	unsigned int n = verdicts_len(a);

	return n == verdicts_len(b) && a->size == b->size &&
	       !memcmp(a->verdicts, b->verdicts, n) &&
	       !memcmp(a->records, b->records, a->size);
}

/* --- showing -------------------------------------------------------------- */

static void bytes_print(const char *what, const __u8 *bytes, size_t len)
{
	size_t i;

	printf("#   %s", what);
	for (i = 0; i < len && i < 160; i++)
		printf("%s%02x", i % 16 ? "" : " ", bytes[i]);
	printf("%s\n", i < len ? " ..." : "");
}

static void record_print(const char *who, const __u8 *record)
{
	const struct gro_lab_skb *s = (const void *)record;

	printf("#   %s: len %u data_len %u truesize %u gso %u/%u/%#x",
	       who, s->len, s->data_len, s->truesize, s->gso_size, s->gso_segs,
	       s->gso_type);
	printf(" summed %u level %u csum %#x start %u/%u headers %d %d %d",
	       s->ip_summed, s->csum_level, s->csum, s->csum_start,
	       s->csum_offset, s->mac_header, s->network_header,
	       s->transport_header);
	printf(" inner %d %d %d headroom %u frags %u members %u hash %#x",
	       s->inner_mac_header, s->inner_network_header,
	       s->inner_transport_header, s->headroom, s->nr_frags,
	       s->nr_members, s->hash);
	printf(" vlan %u/%u encap %u flags %#x head_frag %u",
	       s->vlan_present, s->vlan_tci, s->encapsulation,
	       s->shinfo_flags, s->head_frag);
	printf(" recycle %u extras %u/%u/%u/%u slow %u\n", s->pp_recycle,
	       s->dst, s->sk, s->ct, s->tc, s->slow_gro);
	bytes_print("bytes", record + sizeof(*s) +
		    s->nr_members * sizeof(struct gro_lab_member), s->bytes);
}

static void first_record(const struct outcome *stock,
			 const struct outcome *ours)
{
	const struct gro_lab_skb *a, *b;
	unsigned int nr = 0;
	size_t at = 0;

	for (; at < stock->size && at < ours->size; at += a->size, nr++) {
		a = (const void *)(stock->records + at);
		b = (const void *)(ours->records + at);
		if (a->size == b->size && !memcmp(a, b, a->size))
			continue;
		printf("#  skb %u differs:\n", nr);
		record_print("stock", stock->records + at);
		record_print("ours ", ours->records + at);
		return;
	}
	if (stock->size != ours->size)
		printf("#  %u skbs from stock, %u from ours\n", stock->skbs,
		       ours->skbs);
}

static void episode_print(const struct episode *e,
			  const struct outcome *stock,
			  const struct outcome *ours)
{
	static const char *const verdicts[] = {
		"merged", "merged_free", "held", "normal", "consumed", "queued",
	};
	unsigned int i;

	for (i = 0; i < e->nr && i < PRINT_MAX; i++) {
		printf("#  frame %u%s dev %u stock %s ours %s: ", i,
		       e->cut[i] ? " (new batch)" : "", e->features[i],
		       verdicts[stock->verdicts[i]],
		       verdicts[ours->verdicts[i]]);
		if (e->pkts[i].l3)
			pkt_print(stdout, &e->pkts[i]);
		else
			printf("len %u linear %u\n", e->frames[i].len,
			       e->frames[i].linear);
		bytes_print("in", e->bytes[i], e->frames[i].len < 120 ?
			    e->frames[i].len : 120);
	}
}

static bool differs(int fd, const struct episode *e, enum run_mode mode)
{
	struct outcome stock, ours;
	bool equal;

	episode_run(fd, e, MODE_STOCK, &stock);
	episode_run(fd, e, mode, &ours);
	equal = outcome_equal(&stock, &ours);
	outcome_end(&stock);
	outcome_end(&ours);
	return !equal;
}

/* Leave out all that can be left out with the difference still there. */
static void shrink(int fd, const struct episode *e, enum run_mode mode, bool *skip)
{
	struct episode part;
	bool *try = xalloc(e->nr);
	unsigned int size, i;

	for (size = e->nr / 2; size; size /= 2) {
		for (i = 0; i < e->nr; i += size) {
			memcpy(try, skip, e->nr);
			memset(try + i, 1, size < e->nr - i ? size :
			       e->nr - i);
			episode_part(&part, e, try);
			if (part.nr && differs(fd, &part, mode))
				memcpy(skip, try, e->nr);
			episode_end(&part);
		}
	}
	free(try);
}

void difference_print(int fd, const struct episode *e, enum run_mode mode,
		      const struct outcome *stock, const struct outcome *ours)
{
	bool *skip = xalloc(e->nr);
	struct outcome a, b;
	struct episode part;

	printf("# stock and %s differ, seed %llu, %u frames, entry %u%s\n",
	       mode_names[mode], (unsigned long long)e->seed, e->nr, e->entry,
	       e->frags ? ", napi_gro_frags" : "");
	first_record(stock, ours);
	shrink(fd, e, mode, skip);
	episode_part(&part, e, skip);
	episode_run(fd, &part, MODE_STOCK, &a);
	episode_run(fd, &part, mode, &b);
	printf("# the same with %u frames:\n", part.nr);
	episode_print(&part, &a, &b);
	first_record(&a, &b);
	outcome_end(&a);
	outcome_end(&b);
	episode_end(&part);
	free(skip);
	fflush(stdout);
}
