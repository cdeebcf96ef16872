/* SPDX-License-Identifier: MIT */
/* pile: an exact set of hashes that grows; a sample of the growing half of the descriptor. shelf is
 * the same without growth: it is full at its capacity, and says so.
 *
 * A table of 64-bit hashes, zero for empty, by ordered linear probing: the hash scaled to the
 * slots says where to start, and runs are kept in ascending order, so that one set has one layout
 * whatever the order of adds. Half of the slots may be used; then core is asked for a larger
 * table. A tail of spare slots takes what runs over the end.
 *
 *     [ used | slot 0 | slot 1 | ... | slot n-1 | tail ]        8 bytes each
 */
#include <math.h>
#include <string.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/kind.h"

enum { SLOTS };
enum { TAIL = 512 };
#define MAX_SLOTS ((uint64_t)1 << 40)

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    word[SLOTS] = params->bits ? params->bits / 64 : 2 * (params->capacity ? params->capacity : 1);
    if (params->bits && word[SLOTS] < TAIL + 3)
        return tamis__fail(TAMIS_INVALID, "size must be over %d bytes for pile", 8 * (TAIL + 3));
    if (params->bits) word[SLOTS] = (word[SLOTS] - TAIL - 1) & ~(uint64_t)1;
    if (word[SLOTS] > MAX_SLOTS) return tamis__fail(TAMIS_TOO_LARGE, "pile is for small sets");
    word[SLOTS] += word[SLOTS] % 2;
    return TAMIS_OK;
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    if (word[SLOTS] < 2 || word[SLOTS] > MAX_SLOTS)
        return tamis__fail(TAMIS_CORRUPT, "pile cannot have %llu slots",
                           (unsigned long long)word[SLOTS]);
    *size = (1 + word[SLOTS] + TAIL) * 8;
    return TAMIS_OK;
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return 1;
}

static double rate(const uint64_t word[], uint64_t items) {
    (void)word, (void)items;
    return 0;
}

static uint64_t value_of(uint64_t hash) {
    const uint64_t mixed =
        tamis__mix(hash); /* so that keys may come in the order of their hashes */
    return mixed ? mixed : 1;
}

static uint64_t used_of(const tamis_body *f) {
    return tamis__load64(f->bytes);
}

static uint64_t slot(const tamis_body *f, uint64_t i) {
    return tamis__load64(f->bytes + 8 + 8 * i);
}

/* Ascending over the whole table, no farther from its start than a run explains, and as many as
 * the shape says: then every search ends inside. */
static tamis_status audit(const tamis_body *f) {
    uint64_t used = 0, last = 0;
    for (uint64_t i = 0; i < f->word[SLOTS] + TAIL; i++) {
        const uint64_t v = slot(f, i);
        if (!v) continue;
        const uint64_t start = tamis__range(v, f->word[SLOTS]);
        if (v <= last || start > i || (start < i && !slot(f, i - 1)))
            return tamis__fail(TAMIS_CORRUPT, "slot %llu of a pile is out of order",
                               (unsigned long long)i);
        last = v;
        used++;
    }
    if (used != used_of(f) || used > f->word[SLOTS] / 2 || slot(f, f->word[SLOTS] + TAIL - 1))
        return tamis__fail(TAMIS_CORRUPT, "a pile has %llu slots in use, not %llu",
                           (unsigned long long)used, (unsigned long long)used_of(f));
    return TAMIS_OK;
}

static uint64_t find(const tamis_body *f, uint64_t value) {
    uint64_t i = tamis__range(value, f->word[SLOTS]);
    while (slot(f, i) && slot(f, i) < value) i++;
    return i;
}

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) {
        const uint64_t value = value_of(b.hash[j]);
        hit[j] = slot(f, find(f, value)) == value;
    }
}

static tamis_status add(tamis_body *f, tamis_batch b) {
    for (size_t j = 0; j < b.n; j++) {
        uint64_t value = value_of(b.hash[j]);
        uint64_t i = find(f, value);
        if (slot(f, i) == value) continue;
        tamis__put64(f->bytes, used_of(f) + 1);
        for (; value; i++) {
            const uint64_t next = slot(f, i);
            tamis__put64(f->bytes + 8 + 8 * i, value);
            value = next;
        }
    }
    return TAMIS_OK;
}

static uint64_t room(const tamis_body *f) {
    return f->word[SLOTS] / 2 - used_of(f);
}

static tamis_status grow(const tamis_body *f, uint64_t need, uint64_t word[]) {
    if (need > MAX_SLOTS / 4 - used_of(f)) return tamis__fail(TAMIS_FULL, "pile is for small sets");
    word[SLOTS] = 4 * (used_of(f) + need);
    return TAMIS_OK;
}

static tamis_status move(tamis_body *to, const tamis_body *from) {
    for (uint64_t i = 0; i < from->word[SLOTS] + TAIL; i++) {
        const uint64_t value = slot(from, i), hash = tamis__unmix(value);
        if (value) add(to, tamis__hashes(&hash, 1));
    }
    return TAMIS_OK;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    uint64_t used = used_of(f);
    for (uint64_t i = 0; other && i < other->word[SLOTS] + TAIL; i++) {
        const uint64_t value = slot(other, i), hash = tamis__unmix(value);
        uint8_t hit = 1;
        if (value) query(f, tamis__hashes(&hash, 1), &hit);
        used += !hit;
    }
    *out =
        (tamis_measurement){.bits_set = used * 64, .bits = f->size * 8, .items = {(double)used, 0}};
}

const tamis_kind tamis__pile = {
    .name = "pile",
    .contract = "a sample: exact, and grows",
    .word = {"slots"},
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .room = room,
    .reshape = &(const tamis_reshape){.grow = grow, .move = move},
};

const tamis_kind tamis__shelf = {
    .name = "shelf",
    .contract = "a sample: exact, and full at its capacity",
    .word = {"slots"},
    .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER,
    .plan = plan,
    .check = check,
    .probes = probes,
    .rate = rate,
    .audit = audit,
    .measure = measure,
    .query = query,
    .add = add,
    .room = room,
};
