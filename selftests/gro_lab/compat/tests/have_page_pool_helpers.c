// SPDX-License-Identifier: GPL-2.0-only
/* net/page_pool.h was split into two headers in 6.6 (a9ca9f9ceff3). */
#include <net/page_pool/helpers.h>

struct page *probe(struct page_pool *pool);
struct page *probe(struct page_pool *pool)
{
	return page_pool_dev_alloc_pages(pool);
}
