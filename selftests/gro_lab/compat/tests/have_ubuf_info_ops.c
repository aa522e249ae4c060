// SPDX-License-Identifier: GPL-2.0-only
/* Zero-copy owners have a table of functions. Since 6.10 (7ab4f16f9e24). */
#include <linux/skbuff.h>

unsigned long probe(struct ubuf_info *uarg);
unsigned long probe(struct ubuf_info *uarg)
{
	return (unsigned long)uarg->ops->complete;
}
