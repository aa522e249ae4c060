/* SPDX-License-Identifier: GPL-2.0-only */
/* Included ahead of everything: one prefix for every line in the log. */
#ifndef _GRO_OPT_LOG_H
#define _GRO_OPT_LOG_H

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#endif /* _GRO_OPT_LOG_H */
