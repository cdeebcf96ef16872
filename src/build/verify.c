/* SPDX-License-Identifier: MIT */
/* The last stage of finishing: queries every record. */
#include "build/stages.h"

/* Reports progress now and then: often enough to stop soon, rarely enough to cost nothing. */
enum { REPORT_EVERY = 1 << 16 };

/* Records that are queried together. */
typedef struct questions {
    const tamis *f;
    uint64_t hash[TAMIS_BATCH], value[TAMIS_BATCH];
    size_t n;
    uint64_t *labels; /* of one hash, for kinds that have them: room for all */
} questions;

static bool has_label(const uint64_t *label, size_t n, uint64_t wanted) {
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (label[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && label[low] == wanted;
}

/* The index of the first record that the filter does not answer for; n when there is none. The
 * records of one hash are adjacent, and it is queried once for all of them. */
static size_t first_wrong_label(const questions *q) {
    const tamis_label_facet *labels = q->f->kind->special->labels;
    const tamis_body *body = &q->f->image.body;
    const size_t room = (size_t)labels->count(body);
    size_t found = 0;
    for (size_t i = 0; i < q->n; i++) {
        if (i == 0 || q->hash[i] != q->hash[i - 1])
            found = labels->find(body, q->hash[i], q->labels, room);
        if (!has_label(q->labels, found < room ? found : room, q->value[i])) return i;
    }
    return q->n;
}

static bool is_right(const tamis_kind *kind, bool hit, uint64_t got, uint64_t value) {
    if (kind->values && kind->build) return hit && got == value;
    if (kind->values) return value == 0 || (hit && got >= value); /* joins only grow */
    return hit == !(kind->build && kind->build->member && value == 0);
}

static size_t first_wrong(const questions *q) {
    const tamis_kind *kind = q->f->kind;
    uint64_t got[TAMIS_BATCH] = {0};
    uint8_t hit[TAMIS_BATCH];
    if (q->f->can & TAMIS_CAN_LABEL) return first_wrong_label(q);
    if (kind->values)
        kind->values->get(&q->f->image.body, tamis__hashes(q->hash, q->n), got, hit);
    else
        kind->query(&q->f->image.body, tamis__hashes(q->hash, q->n), hit);
    for (size_t i = 0; i < q->n; i++)
        if (!is_right(kind, hit[i], got[i], q->value[i])) return i;
    return q->n;
}

static tamis_status ask(const questions *q) {
    const size_t wrong = first_wrong(q);
    if (wrong == q->n) return TAMIS_OK;
    return tamis__fail(TAMIS_CORRUPT,
                       "the filter that was built does not answer for hash %016llx: is the memory "
                       "of this machine sound?",
                       (unsigned long long)q->hash[wrong]);
}

static tamis_status ask_all(tamis_builder *b, questions *q, uint64_t *room) {
    const uint64_t total = tamis__records_count(b->records);
    tamis_record_cursor cursor = {0};
    tamis_status rc = tamis__report(b, TAMIS_STAGE_VERIFY, 0, total), read = TAMIS_OK;
    for (uint64_t done = 0; !rc && done < total; done += q->n) {
        q->n =
            tamis__records_read(b->records, &cursor, room, TAMIS_BATCH, q->hash, q->value, &read);
        rc = read ? read : ask(q);
        const uint64_t now = done + q->n;
        if (!rc && (now == total || now % REPORT_EVERY == 0))
            rc = tamis__report(b, TAMIS_STAGE_VERIFY, now, total);
    }
    return rc;
}

tamis_status tamis__verify(tamis_builder *b, const tamis *f) {
    if (!f->kind->query) return TAMIS_OK; /* a sketch cannot be queried for keys */
    const struct tamis_allocator *allocator = &b->filter->allocator;
    /* Kinds that forget owe no answer. */
    if (b->filter->can & (TAMIS_AGES | TAMIS_MAY_FORGET)) return TAMIS_OK;
    tamis_block room, labels = {0};
    questions q = {.f = f};
    tamis_status rc = TAMIS_NOMEM;
    uint64_t *here = tamis__get(allocator, TAMIS_RECORDS_ROOM, &room);
    if (here) q.labels = tamis__get(allocator, b->labels.count * sizeof *q.labels, &labels);
    if (q.labels) rc = ask_all(b, &q, here);
    tamis__block_free(allocator, &labels);
    tamis__block_free(allocator, &room);
    return rc;
}
