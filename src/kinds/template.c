/* SPDX-License-Identifier: MIT */
/* template: a working minimal kind to copy. Not in kinds.def; the tests run every law on it.
 *
 * Start your file like this one: what the kind is, who described it, when to use it, and a picture
 * of its bits. Then shape and formulas, low-level access, operations, the descriptor last.
 *
 *     hash ──range──▶ position                     one bit per key, in capacity/fpr bits
 *
 *     0 0 0 1 0 0 0 0 0 1 0 0 ...
 *
 * To add a kind: this file under its own name, one line in kinds.def, docs/kinds/NAME.md, and a
 * golden image (make golden). Build, command, images and every law of tests/laws find it. */
#include <math.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/bitmap.h"
#include "kinds/kind.h"
#include "tamis_math.h"

/* Shape words by name; the descriptor below names them for users. */
enum { BITS };
#define MAX_BITS (TAMIS_MAX_PAYLOAD_BYTES * 8)

/* Params to shape: pure arithmetic. Either fpr or bits is given, never both. */
static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    const double keys = params->capacity ? (double)params->capacity : 1;
    if (params->bits) {
        word[BITS] = params->bits;
        return TAMIS_OK;
    }
    const double bits = ceil(keys / params->fpr);
    word[BITS] = bits < (double)MAX_BITS ? tamis__round_up((uint64_t)bits, 64, MAX_BITS) : 0;
    return word[BITS] ? TAMIS_OK : tamis__fail(TAMIS_TOO_LARGE, "template needs over 2^56 bytes");
}

/* The gate: is this shape valid, and how many bytes does it have? Words may come from a forged
 * file, so trust nothing and let no arithmetic overflow. */
static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[BITS] == 0 || word[BITS] > MAX_BITS)
        return tamis__fail(TAMIS_CORRUPT, "template cannot have %llu bits",
                           (unsigned long long)word[BITS]);
    *size = tamis__bitmap_size(word[BITS]);
    return TAMIS_OK;
}

/* The expected rate, which the laws compare with measured hits, both ways. */
static double rate(const uint64_t word[], uint64_t items) {
    return tamis_rate_finite((double)items, (double)word[BITS], 1);
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++)
        hit[i] = tamis__bit_get(f->bytes, tamis__range(b.hash[i], f->word[BITS]));
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++)
        tamis__bit_set(f->bytes, tamis__range(b.hash[i], f->word[BITS]));
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    tamis__bitmap_measure(f, other, f->word[BITS], 1, out);
}

/* Entries that are missing here are NULL: the kind lacks that ability. */
const tamis_kind tamis__template = {
    .name = "template",
    .contract = "a minimal kind to copy: one bit per key",
    .word = {"bits"},
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = tamis__one_probe,
    .rate = rate,
    .audit = tamis__bits_audit, /* the gate again: what must be true inside the payload? */
    .measure = measure,
    .query = query,
    .add = add,
    .sets = &(const tamis_sets){.merge = tamis__bitmap_merge},
};
