// SPDX-License-Identifier: GPL-2.0-only
/* GRO's lists are in a struct of their own, in the napi_struct. Since 6.15. */
#include <linux/netdevice.h>

unsigned long probe(struct napi_struct *napi);
unsigned long probe(struct napi_struct *napi)
{
	return napi->gro.bitmask;
}
