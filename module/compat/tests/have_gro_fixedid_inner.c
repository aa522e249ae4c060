// SPDX-License-Identifier: GPL-2.0-only
/* 6.18 keeps apart whether outer and inner IP-ID are constant. */
#include <linux/skbuff.h>
#include <net/gro.h>

int probe(void);
int probe(void)
{
	return SKB_GSO_TCP_FIXEDID_INNER;
}
