// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gro_opt.h"

#define X(name) DEFINE_STATIC_KEY_FALSE(gro_opt_key_##name);
GRO_OPT_FEATURES(X)
#undef X

struct gro_opt_feature gro_opt_features[GRO_OPT_NR_FEATURES] = {
#define X(_name) [GRO_OPT_F_##_name] = { .name = #_name },
	GRO_OPT_FEATURES(X)
#undef X
};

static struct static_key_false *const gro_opt_keys[GRO_OPT_NR_FEATURES] = {
#define X(name) [GRO_OPT_F_##name] = &gro_opt_key_##name,
	GRO_OPT_FEATURES(X)
#undef X
};

/* Index of the feature called @name, or -EINVAL. */
int gro_opt_feature_find(const char *name)
{
	int id;

	for (id = 0; id < GRO_OPT_NR_FEATURES; id++)
		if (!strcmp(gro_opt_features[id].name, name))
			return id;
	return -EINVAL;
}

/* Does any of them act? The first thing a packet asks. */
DEFINE_STATIC_KEY_FALSE(gro_opt_key_acting);
bool gro_opt_acts __read_mostly;
DEFINE_STATIC_KEY_FALSE(gro_opt_key_detour);
DEFINE_STATIC_KEY_FALSE(gro_opt_key_seen);

static void gro_opt_key_set(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

static void gro_opt_acting_set(bool acts)
{
	if (acts == gro_opt_acts)
		return;
	if (acts)
		static_branch_inc(&gro_opt_key_acting);
	else
		static_branch_dec(&gro_opt_key_acting);
	WRITE_ONCE(gro_opt_acts, acts);
}

/* Does it act, once the state is @state? During an A/B run its arms say so. */
static bool gro_opt_feature_acts(enum gro_opt_feature_id id,
				 enum gro_opt_state state)
{
	if (gro_opt_features[id].reason)
		return false;
	if (gro_opt_ab_running())
		return gro_opt_ab_features() & BIT(id);
	return state == GRO_OPT_ON && gro_opt_features[id].enabled;
}

/**
 * gro_opt_features_prepare - put in place what features need to act
 * @state: the state that is to come
 *
 * Context: may sleep, gro_opt_mutex held; before gro_opt_features_apply().
 *
 * Return: 0, or an error with all as it was.
 */
int gro_opt_features_prepare(enum gro_opt_state state)
{
	if (gro_opt_feature_acts(GRO_OPT_F_encap, state))
		return gro_opt_protocols_take();
	return 0;
}

/* What no feature needs any more: encap's entries cost the packets in tunnels. */
static int gro_opt_features_clean(void)
{
	int err = 0;

	if (!gro_opt_features[GRO_OPT_F_encap].active)
		err = gro_opt_protocols_return();
	if (err)
		gro_opt_fault_foreign();
	return err;
}

/**
 * gro_opt_features_apply - bring the static keys in line with state and wishes
 *
 * Context: may sleep, gro_opt_mutex held.
 *
 * Return: 0, or -EBUSY, a fault by now, if an entry to take out is not ours.
 */
int gro_opt_features_apply(void)
{
	bool acting = gro_opt_ab_running();
	int id;

	lockdep_assert_held(&gro_opt_mutex);
	for (id = 0; id < GRO_OPT_NR_FEATURES; id++) {
		struct gro_opt_feature *f = &gro_opt_features[id];
		bool act = gro_opt_feature_acts(id, gro_opt_state);

		acting |= act;
		if (act == f->active)
			continue;
		gro_opt_key_set(gro_opt_keys[id], act);
		WRITE_ONCE(f->active, act);
	}
	gro_opt_acting_set(acting);
	return gro_opt_features_clean();
}

/**
 * gro_opt_feature_set - enable or disable a feature
 * @id: feature
 * @enable: wish; it acts while the state is on
 *
 * Context: may sleep, gro_opt_mutex held.
 *
 * Return: 0; -EOPNOTSUPP if this kernel cannot have it; -EBUSY while faulted or
 * if somebody else stands where it needs an entry; -ENOMEM by injection.
 */
int gro_opt_feature_set(enum gro_opt_feature_id id, bool enable)
{
	struct gro_opt_feature *f = &gro_opt_features[id];
	int err;

	lockdep_assert_held(&gro_opt_mutex);
	if (gro_opt_state == GRO_OPT_FAULTED) {
		pr_err("feature %s stays as it is: the state is faulted (%s); write off to state first\n",
		       f->name, gro_opt_fault_reason());
		return -EBUSY;
	}
	if (enable && f->reason) {
		pr_err("feature %s cannot be enabled here: %s\n", f->name,
		       f->reason);
		return -EOPNOTSUPP;
	}
	if (f->enabled == enable)
		return 0;
	WRITE_ONCE(f->enabled, enable);
	err = gro_opt_features_prepare(gro_opt_state);
	if (err) {
		WRITE_ONCE(f->enabled, !enable);
		pr_err("feature %s stays as it is, error %d\n", f->name, err);
		return err;
	}
	err = gro_opt_features_apply();
	gro_opt_enable_seq++;
	return err;
}

/**
 * gro_opt_features_parse - take the features= parameter
 * @list: names separated by commas, or "all"
 *
 * Context: module load, may sleep.
 *
 * Return: 0, -EINVAL for an unknown name, -ENOMEM.
 */
int gro_opt_features_parse(const char *list)
{
	char *copy, *rest, *name;
	int id, err = 0;

	copy = kstrdup(list, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = copy;
	while ((name = strsep(&rest, ",\n "))) {
		if (!*name)
			continue;
		if (!strcmp(name, "all")) {
			for (id = 0; id < GRO_OPT_NR_FEATURES; id++)
				gro_opt_features[id].enabled = true;
			continue;
		}
		id = gro_opt_feature_find(name);
		if (id < 0) {
			pr_err("features=%s: there is no feature '%s'; known are "
			       GRO_OPT_FEATURE_NAMES "all\n", list, name);
			err = id;
			break;
		}
		gro_opt_features[id].enabled = true;
	}
	kfree(copy);
	return err;
}

/* Mark the features in the bit mask @ids as not to be had, with the reason. */
void gro_opt_features_missing(const char *reason, unsigned long ids)
{
	unsigned int id;

	for_each_set_bit(id, &ids, GRO_OPT_NR_FEATURES)
		if (!gro_opt_features[id].reason)
			gro_opt_features[id].reason = reason;
}

/* Bit mask of those that this kernel cannot have. */
unsigned long gro_opt_features_without(void)
{
	unsigned long ids = 0;
	int id;

	for (id = 0; id < GRO_OPT_NR_FEATURES; id++)
		if (gro_opt_features[id].reason)
			ids |= BIT(id);
	return ids;
}

/* A write to a feature's "enabled", from sysfs and debugfs alike. */
ssize_t gro_opt_enabled_write(enum gro_opt_feature_id id, const char *buf,
			      size_t len)
{
	bool enable;
	int err;

	if (!gro_opt_may_write(gro_opt_features[id].name))
		return -EPERM;
	err = kstrtobool(buf, &enable);
	/* It looks at the first character alone, unless that is an o. */
	if (!err && strcspn(buf, "\n") > 1 && tolower(buf[0]) != 'o')
		err = -EINVAL;
	if (err) {
		pr_err("feature %s: '%.*s' is neither 0 nor 1\n",
		       gro_opt_features[id].name, gro_opt_shown(buf), buf);
		return err;
	}
	mutex_lock(&gro_opt_mutex);
	err = gro_opt_ab_busy(gro_opt_features[id].name) ? -EBUSY :
	      gro_opt_feature_set(id, enable);
	mutex_unlock(&gro_opt_mutex);
	return err ?: len;
}

/**
 * gro_opt_features_force - flip all keys, for the self-check at load
 * @act: on or off
 *
 * Context: module load, state off: nothing but the self-check calls our
 * handlers. May sleep.
 */
void gro_opt_features_force(bool act)
{
	int id;

	for (id = 0; id < GRO_OPT_NR_FEATURES; id++)
		gro_opt_key_set(gro_opt_keys[id], act);
	gro_opt_acting_set(act);
}
