/* SPDX-License-Identifier: MIT */
/* tamis_pages.h: many small filters of one spec, for storage engines that keep them in files of
 * their own.
 *
 * A table of a storage engine has a filter for each block, or one for all of it. A header of 192
 * bytes would often be more than the filter. A page is what is left when the kind, its options and
 * the hash are kept elsewhere, once for all: a payload and its shape, some bytes at its end.
 *
 *     rc = tamis_page_policy_create(&policy, "ribbon:fpr=1%", NULL);
 *     rc = tamis_page_make(policy, keys, n, put, ctx);        for each block that is written
 *     if (tamis_page_has(policy, page, size, key, len)) ...   then the block is read
 *
 * A page has no checksum and no secret: the host guards its files. Whatever the bytes are, a query
 * reads nothing else, and answers maybe for what is no page. For that it checks all of a page in
 * most kinds; it is soon done with blocked, split, classic, ribbon and fuse. */
#ifndef TAMIS_PAGES_H
#define TAMIS_PAGES_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What pages have in common. */
typedef struct tamis_page_policy tamis_page_policy;

/* Reads a spec without a capacity: each page is as large as its keys need. TAMIS_UNSUPPORTED for
 * kinds that answer no queries or hash keys their own way, TAMIS_SECRET for a keyed hash without a
 * secret in the options. These give the allocator and max_bytes too, and with is_trusted contents
 * of pages are not checked. On failure *policy is NULL. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_page_policy_create(
    tamis_page_policy **policy, const char *spec, const struct tamis_options *options);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_page_policy_free(tamis_page_policy *policy);

/* The name by which a host recognises pages that these can read: of the kind, and of the hash where
 * it is another than xxh3 without a seed. Options of the kind, such as the rate, may differ. Valid
 * until tamis_page_policy_free. Threads: any. */
TAMIS_API const char *tamis_page_policy_name(const tamis_page_policy *policy);

/* Makes a page of `n` keys and hands its bytes to `put`, in one piece or several; false makes it
 * fail with TAMIS_IO. Equal keys count as one, or as several at no cost but memory. Threads: any,
 * where the allocator allows it. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_page_make(const tamis_page_policy *policy,
                                                        const struct tamis_key *keys, size_t n,
                                                        tamis_write_fn *put, void *ctx);

/* False: the key is certainly not in the page. Threads: any. */
TAMIS_API bool tamis_page_has(const tamis_page_policy *policy, const void *page, size_t size,
                              const void *key, size_t len);

#ifdef __cplusplus
}
#endif

#endif
