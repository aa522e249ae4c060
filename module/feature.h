/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _GRO_OPT_FEATURE_H
#define _GRO_OPT_FEATURE_H

#include <linux/jump_label.h>
#include <linux/types.h>

/*
 * One list, from which come the keys, the names and the sysfs directories.
 *
 * tcp4:	single pass over the held packets for TCP over IPv4
 * tcp6:	the same over IPv6
 * exthdr:	IPv6 extension headers in front of TCP walked at most once, in receive;
 *		complete takes the length from the offsets on record
 * udp4:	one pass for UDP over IPv4 where datagrams may be merged; where
 *		not, L3 only
 * udp6:	the same over IPv6
 * encap:	TCP behind an outer and an inner L3 header; both headers compared
 *		in the same pass, with the packet that matches
 */
#define GRO_OPT_FEATURES(X)	\
	X(tcp4)			\
	X(tcp6)			\
	X(exthdr)		\
	X(udp4)			\
	X(udp6)			\
	X(encap)

enum gro_opt_feature_id {
#define X(name) GRO_OPT_F_##name,
	GRO_OPT_FEATURES(X)
#undef X
	GRO_OPT_NR_FEATURES
};

/* "tcp4, tcp6, ": each with a comma behind it. */
#define GRO_OPT_FEATURE_NAME(name) #name ", "
#define GRO_OPT_FEATURE_NAMES GRO_OPT_FEATURES(GRO_OPT_FEATURE_NAME)

/**
 * struct gro_opt_feature - one thing that can be switched
 * @name: as in sysfs
 * @enabled: what the user asked for
 * @active: whether it acts now; only changed with the static key
 * @reason: NULL, or why this kernel cannot have it
 */
struct gro_opt_feature {
	const char *name;
	bool enabled;
	bool active;
	const char *reason;
};

extern struct gro_opt_feature gro_opt_features[GRO_OPT_NR_FEATURES];

#define X(name) DECLARE_STATIC_KEY_FALSE(gro_opt_key_##name);
GRO_OPT_FEATURES(X)
#undef X

/* Counts: features that act, and those who trace packets. */
DECLARE_STATIC_KEY_FALSE(gro_opt_key_acting);
/* Counts who wants to see packets first: a list of devices, an A/B run, tracing. */
DECLARE_STATIC_KEY_FALSE(gro_opt_key_detour);
/* Counts the first and the last of these: an A/B run alone has no use for them. */
DECLARE_STATIC_KEY_FALSE(gro_opt_key_seen);
/* Whether anything but tracing holds gro_opt_key_acting. */
extern bool gro_opt_acts;

int gro_opt_feature_find(const char *name);
int gro_opt_feature_set(enum gro_opt_feature_id id, bool enable);
int gro_opt_features_parse(const char *list);
void gro_opt_features_missing(const char *reason, unsigned long ids);
unsigned long gro_opt_features_without(void);
int gro_opt_features_apply(void);
void gro_opt_features_force(bool act);
ssize_t gro_opt_enabled_write(enum gro_opt_feature_id id, const char *buf,
			      size_t len);

#endif /* _GRO_OPT_FEATURE_H */
