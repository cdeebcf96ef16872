/* SPDX-License-Identifier: MIT */
/* For gcs.c and its vector kernels.
 *
 * A bucket is read window by window: 8 bytes from the current position, of which 57 bits are sure
 * to be there. From each window a fixed number of gaps is taken, as many as nearly always fit, and
 * nothing is decided before its end. So a round of windows, one for each open query, has no
 * unpredictable branch, and queries overlap. Queries near their answer, or unlucky ones, continue
 * gap by gap from where the window began. */
#ifndef TAMIS_KINDS_GCS_H
#define TAMIS_KINDS_GCS_H

#include "kinds/coded.h"

enum { TAMIS_GCS_GROUP = 256, TAMIS_GCS_LANES = 8, TAMIS_GCS_WINDOW = 57 };
enum { TAMIS_GCS_ROOM = TAMIS_GCS_GROUP + TAMIS_GCS_LANES };

/* Queries and their positions. Kernels read and write eight at a time: after the last one there are
 * dummy places to read, and room to write. */
typedef struct tamis_gcs_list {
    uint64_t at[TAMIS_GCS_ROOM];   /* the next bit to read, in the payload */
    uint64_t left[TAMIS_GCS_ROOM]; /* bits of the bucket from there on */
    int64_t rest[TAMIS_GCS_ROOM];  /* cells between the last number and the queried one */
    uint16_t who[TAMIS_GCS_ROOM];
    size_t n;
} tamis_gcs_list;

typedef struct tamis_gcs_asked {
    tamis_gcs_list open, late;      /* to read by windows, and by gaps */
    uint16_t found[TAMIS_GCS_ROOM]; /* whose answer is already yes */
    size_t found_count;
} tamis_gcs_asked;

/* Gaps taken from a window: room for 6 ones each, where 1 or 2 are usual. */
static inline unsigned tamis__gcs_gaps(unsigned rice) {
    return TAMIS_GCS_WINDOW / (rice + 7);
}

/* One window for each open query. */
typedef void tamis_gcs_round(const uint8_t *bytes, unsigned rice, tamis_gcs_asked *);

extern tamis_gcs_round *const tamis__gcs_avx2, *const tamis__gcs_avx512;

/* ---- The portable round --------------------------------------------------------------------- */

/* Takes the gaps of one window, when all of them are before the queried number: then true, with
 * *rest less and *used as many bits. A gap has some ones, a zero and its low bits. Inverted, the
 * ones and the zero are the head: the bits up to the lowest that is set; and the low bits are
 * 2^rice - 1 minus what is read. */
TAMIS_HOT bool tamis__gcs_window(const uint8_t *bytes, unsigned rice, unsigned gaps, uint64_t at,
                                 uint64_t left, int64_t *rest, uint64_t *used) {
    const uint64_t low_bits = tamis__coded_mask(rice), top = (uint64_t)1 << 63;
    uint64_t window = ~(tamis__get64(bytes + (at >> 3)) >> (at & 7)), heads = 0, any = 0;
    for (unsigned i = 0; i < gaps; i++) {
        const unsigned head = (unsigned)__builtin_ctzll(window | top) + 1;
        *rest += (int64_t)((window >> (head & 63) & low_bits) - ((uint64_t)head << rice));
        heads += head;
        any |= head;
        window >>= (head + rice) & 63;
    }
    *used = heads + gaps * rice;
    return (*rest >= 0) & (*used <= TAMIS_GCS_WINDOW) & (*used <= left) & (any < TAMIS_CODED_FAR);
}

TAMIS_HOT void tamis__gcs_put(tamis_gcs_list *l, size_t i, uint64_t at, uint64_t left, int64_t rest,
                              uint16_t who) {
    l->at[i] = at;
    l->left[i] = left;
    l->rest[i] = rest;
    l->who[i] = who;
}

TAMIS_HOT void tamis__gcs_round_of(const uint8_t *bytes, unsigned rice, unsigned gaps,
                                   tamis_gcs_asked *q) {
    tamis_gcs_list *open = &q->open, *late = &q->late;
    size_t stay = 0, leave = late->n;
    for (size_t j = 0; j < open->n; j++) {
        const uint64_t at = open->at[j], left = open->left[j];
        const int64_t rest = open->rest[j];
        const uint16_t who = open->who[j];
        int64_t then = rest;
        uint64_t used;
        const bool is_passed = tamis__gcs_window(bytes, rice, gaps, at, left, &then, &used);
        tamis__gcs_put(late, leave, at, left, rest, who);
        tamis__gcs_put(open, stay, at + used, left - used, then, who);
        leave += !is_passed;
        stay += is_passed;
    }
    open->n = stay;
    late->n = leave;
}

/* The usual rates have four gaps in a window; as a constant, that took a fifth less time. */
TAMIS_HOT void tamis__gcs_plain_round(const uint8_t *bytes, unsigned rice, tamis_gcs_asked *q) {
    const unsigned gaps = tamis__gcs_gaps(rice);
    if (gaps == 4)
        tamis__gcs_round_of(bytes, rice, 4, q);
    else
        tamis__gcs_round_of(bytes, rice, gaps, q);
}

#endif
