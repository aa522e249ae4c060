// SPDX-License-Identifier: GPL-2.0-only
/* A dst counts who holds it in another way since 6.4. */
#include <net/dst.h>

unsigned int probe(struct dst_entry *dst);
unsigned int probe(struct dst_entry *dst)
{
	return rcuref_read(&dst->__rcuref);
}
