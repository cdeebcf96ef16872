/* SPDX-License-Identifier: MIT */
/* pieces.c: a key of a gigabyte, a piece at a time.
 *
 * Such a key lies in a mapping of a file. A page that was looked at stays in memory until the
 * system needs it elsewhere; saying that it is no longer wanted keeps us small.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "cli/keys/block.h"

enum { PIECE = 1024 * 1024 };

struct pieces pieces_of(const struct tamis_key *key) {
    const char *bytes = key->bytes;
    return (struct pieces){.at = bytes, .end = bytes + key->len, .from = bytes};
}

/* Whole pages between two places. Only long keys come in pieces, and those are in a mapping. */
static void let_go(const char *from, const char *to) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)from + page - 1) / page * page;
    const uintptr_t last = (uintptr_t)to / page * page;
    if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
}

const void *next_piece(void *ctx, size_t *len) {
    struct pieces *pieces = ctx;
    let_go(pieces->from, pieces->at);
    pieces->from = pieces->at;
    const size_t left = (size_t)(pieces->end - pieces->at);
    if (left == 0) return NULL;
    *len = left < PIECE ? left : PIECE;
    pieces->at += *len;
    return pieces->from;
}
