/* SPDX-License-Identifier: MIT */
/* The receiving side of Summary Cache: copies of what neighbours announced, and a table of them.
 *
 *     message ─▶ form ─▶ all of it valid? ─▶ number: late, next, some missing? ─▶ bits ─▶ copy
 *
 * A copy is an ordinary filter of the kind whose positions are those of the sender, with its bits
 * in the payload from the first one on: classic for counting, icp with copy=yes for icp. It can be
 * saved, queried and inspected like any other. Its note "heard" has two numbers: the last message,
 * and how many are missing since every bit was sent.
 *
 * Late messages are ignored: a newer message that was taken already may have sent their bits again.
 * A message far before the last one is not late: its sender has restarted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bits/packed.h"
#include "core/filter.h"
#include "jobs/wire.h"
#include "tamis_engine.h"

enum { LATE = 1024 };                             /* messages that may be overtaken on the way */
enum { SCHEME = 2, FUNCTION_BITS = 2, COPY = 3 }; /* parameters of classic, and of icp */
#define USUAL_LIMIT ((uint64_t)16 << 20)

static const char note[] = "heard";
static const tamis_wire *const wires[] = {&tamis__wire_compact, &tamis__wire_icp};
enum { WIRES = sizeof wires / sizeof *wires };

/* ---- Messages ------------------------------------------------------------------------------- */

tamis_status tamis__array_is_legal(const tamis_wire *wire, const tamis_tidings *t) {
    const uint64_t groups = tamis__groups_of(t->positions);
    if (t->body_size / TAMIS_GROUP_BYTES != t->count || t->body_size % TAMIS_GROUP_BYTES)
        return tamis__fail(TAMIS_CORRUPT, "%lu words of an array do not fit in %llu bytes",
                           (unsigned long)t->count, (unsigned long long)t->body_size);
    if (t->first % TAMIS_GROUP || t->first / TAMIS_GROUP > groups ||
        t->count > groups - t->first / TAMIS_GROUP)
        return tamis__fail(TAMIS_CORRUPT,
                           "%lu words from bit %llu on are not within an array of %llu bits",
                           (unsigned long)t->count, (unsigned long long)t->first,
                           (unsigned long long)t->positions);
    const uint64_t last = t->first + ((uint64_t)t->count - 1) * TAMIS_GROUP;
    if (t->count &&
        !tamis__group_is_clean(t->positions, last,
                               wire->get_group(t->body + t->body_size - TAMIS_GROUP_BYTES)))
        return tamis__fail(TAMIS_CORRUPT, "a bit is set past the last of %llu",
                           (unsigned long long)t->positions);
    return TAMIS_OK;
}

/* The form of a message whose header is here, and the size given in the header. */
static const tamis_wire *wire_of(const uint8_t *bytes, size_t size, size_t *length) {
    for (size_t i = 0; i < WIRES; i++) {
        if (!wires[i]->begins(bytes, size)) continue;
        *length = wires[i]->size(bytes, size);
        if (*length) return wires[i];
        tamis__fail(TAMIS_CORRUPT, "%llu bytes are less than a message header",
                    (unsigned long long)size);
        return NULL;
    }
    tamis__fail(TAMIS_CORRUPT, "not a message about a summary: wrong magic bytes");
    return NULL;
}

size_t tamis_message_size(const void *bytes, size_t size) {
    size_t length;
    const tamis_wire *wire = wire_of(bytes, size, &length);
    if (!wire) return 0;
    if (length <= size && length >= wire->min_bytes && length <= wire->max_bytes) return length;
    tamis__fail(TAMIS_CORRUPT,
                "the header gives a length of %llu bytes (allowed: %llu to %llu; received: %llu)",
                (unsigned long long)length, (unsigned long long)wire->min_bytes,
                (unsigned long long)wire->max_bytes, (unsigned long long)size);
    return 0;
}

static tamis_status parse(const uint8_t *bytes, size_t size, const tamis_wire **wire,
                          tamis_tidings *t) {
    size_t length;
    const size_t whole = tamis_message_size(bytes, size);
    if (!whole) return TAMIS_CORRUPT;
    if (whole != size)
        return tamis__fail(TAMIS_CORRUPT, "%llu extra bytes after the message",
                           (unsigned long long)(size - whole));
    *wire = wire_of(bytes, size, &length);
    return (*wire)->read(bytes, size, t);
}

/* ---- Copies --------------------------------------------------------------------------------- */

static bool is_copy(const tamis *f) {
    const uint64_t *word = f->image.body.word;
    if (strcmp(f->kind->name, "classic") == 0) return word[SCHEME] == 0;
    return strcmp(f->kind->name, "icp") == 0 && word[COPY];
}

static bool fits(const tamis *copy, const tamis_wire *wire, const tamis_tidings *t) {
    const uint64_t *word = copy->image.body.word;
    if (strcmp(copy->kind->name, wire->kind_of_copy) != 0 || word[0] != t->positions ||
        word[1] != t->hashes)
        return false;
    if (wire == &tamis__wire_icp) return word[FUNCTION_BITS] == t->function_bits;
    return copy->image.hasher.mode == t->hash && copy->image.hasher.seed == t->seed;
}

/* A copy with no bit set. The limit is checked before anything is allocated. */
static tamis_status new_copy(tamis **copy, const tamis_wire *wire, const tamis_tidings *t,
                             const struct tamis_options *options) {
    struct tamis_options o;
    char spec[200];
    tamis_status rc = tamis__read_options(options, &o);
    *copy = NULL;
    if (rc) return rc;
    if (!o.max_bytes) o.max_bytes = USUAL_LIMIT;
    o.struct_size = sizeof o;
    const double capacity = (double)t->positions * log(2) / (double)t->hashes;
    const int len = snprintf(spec, sizeof spec, "%s:capacity=%llu,bits=%llu,hashes=%llu",
                             wire->kind_of_copy, (unsigned long long)capacity,
                             (unsigned long long)t->positions, (unsigned long long)t->hashes);
    if (wire == &tamis__wire_icp)
        snprintf(spec + len, sizeof spec - (size_t)len, ",function_bits=%llu,copy=yes",
                 (unsigned long long)t->function_bits);
    else
        snprintf(spec + len, sizeof spec - (size_t)len, ",hash=%s,seed=%llu",
                 tamis__hash_name(t->hash), (unsigned long long)t->seed);
    return tamis_create_with(copy, spec, &o);
}

bool tamis_was_received(const tamis *copy, struct tamis_receive_info *received) {
    const char *text = copy ? tamis_note(copy, note) : NULL;
    struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
    char *end;
    if (!text || !is_copy(copy)) return false;
    h.sequence = (uint32_t)strtoul(text, &end, 10);
    h.missing = (uint32_t)strtoul(end, NULL, 10);
    h.positions = copy->image.body.word[0];
    return !tamis__fill_struct(received, &h, sizeof h, "receive_info");
}

static tamis_status write_down(tamis *copy, const struct tamis_receive_info *h) {
    char text[32];
    snprintf(text, sizeof text, "%lu %lu", (unsigned long)h->sequence, (unsigned long)h->missing);
    return tamis_set_note(copy, note, text);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static bool is_late(uint32_t sequence, uint32_t last) {
    return sequence && last && (uint32_t)(last - sequence) < LATE;
}

/* The number of messages missing between the two; of a sender that restarted, at least the one in
 * which it sent everything. Numbers skip 0. */
static uint32_t between(uint32_t sequence, uint32_t last) {
    const uint32_t step = sequence - last - (sequence < last);
    if (!sequence) return 0;
    return step < UINT32_C(1) << 31 ? step - 1 : 1;
}

static uint32_t sum(uint32_t a, uint32_t b) {
    return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

/* Updates the numbers, which so far are those of the copy. */
static void count(const tamis_tidings *t, struct tamis_receive_info *h) {
    h->is_whole = t->is_array && t->first == 0;
    h->is_late = !h->is_whole && is_late(t->sequence, h->sequence);
    if (h->is_late) return;
    h->missing = h->is_whole ? 0 : sum(h->missing, between(t->sequence, h->sequence));
    h->sequence = t->sequence;
}

/* ---- Receiving ------------------------------------------------------------------------------ */

static uint64_t take_changes(tamis *copy, const tamis_wire *wire, const tamis_tidings *t) {
    uint64_t next = 0, position;
    size_t at = 0;
    bool is_set;
    for (uint32_t i = 0; i < t->count; i++) {
        wire->get(t, &at, &next, &position, &is_set);
        tamis__bits_put(copy->image.body.bytes, position, 1, is_set);
    }
    return t->count;
}

static uint64_t take_array(tamis *copy, const tamis_wire *wire, const tamis_tidings *t) {
    uint64_t at = t->first;
    for (uint32_t i = 0; i < t->count; i++, at += TAMIS_GROUP) {
        const uint64_t left = t->positions - at;
        tamis__bits_put(copy->image.body.bytes, at,
                        left < TAMIS_GROUP ? (unsigned)left : TAMIS_GROUP,
                        wire->get_group(t->body + (size_t)i * TAMIS_GROUP_BYTES));
    }
    return (at < t->positions ? at : t->positions) - t->first;
}

/* Into a copy that has the shape of the message already. */
static tamis_status receive_more(tamis *copy, const tamis_wire *wire, const tamis_tidings *t,
                                 struct tamis_receive_info *h) {
    if (!tamis_was_received(copy, h)) h->positions = t->positions;
    count(t, h);
    tamis_status rc = tamis__writable(copy);
    if (!rc) rc = write_down(copy, h);
    if (!rc && !h->is_late)
        h->told = t->is_array ? take_array(copy, wire, t) : take_changes(copy, wire, t);
    return rc;
}

tamis_status tamis_receive(tamis **copy, const void *message, size_t size,
                           const struct tamis_options *options,
                           struct tamis_receive_info *received) {
    struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
    const tamis_wire *wire = NULL;
    tamis_tidings t;
    tamis *into = *copy;
    tamis_status rc = tamis__check_struct(received, "receive_info");
    if (!rc) rc = parse(message, size, &wire, &t);
    if (rc) return rc;
    h.is_new = !into || !fits(into, wire, &t);
    if (h.is_new) rc = new_copy(&into, wire, &t, options);
    if (!rc) rc = receive_more(into, wire, &t, &h);
    if (rc) {
        if (into != *copy) tamis_free(into);
        return rc;
    }
    if (into != *copy) tamis_free(*copy);
    *copy = into;
    return tamis__fill_struct(received, &h, sizeof h, "receive_info");
}

/* ---- The table ------------------------------------------------------------------------------ */

typedef struct neighbour {
    tamis *copy;
    char name[TAMIS_MAX_NEIGHBOUR_NAME + 1];
} neighbour;

/* Sorted by name. */
struct tamis_neighbours {
    struct tamis_allocator allocator;
    struct tamis_options options;
    tamis_block self, list;
    neighbour *neighbours;
    size_t n, max;
};

tamis_status tamis_neighbours_create(tamis_neighbours **table, size_t max,
                                     const struct tamis_options *options) {
    struct tamis_options o;
    tamis_block self = {NULL, 0}, list = {NULL, 0};
    tamis_status rc = tamis__read_options(options, &o);
    *table = NULL;
    if (!rc && (max < 1 || max > TAMIS_MAX_NEIGHBOURS))
        rc = tamis__fail(TAMIS_INVALID, "a table has room for 1 to %d neighbours, not %llu",
                         TAMIS_MAX_NEIGHBOURS, (unsigned long long)max);
    if (rc) return rc;
    const struct tamis_allocator a = tamis__allocator(&o);
    tamis_neighbours *t = tamis__get(&a, sizeof *t, &self);
    if (!t) return TAMIS_NOMEM;
    neighbour *neighbours = tamis__get(&a, max * sizeof *neighbours, &list);
    if (!neighbours) {
        tamis__block_free(&a, &self);
        return TAMIS_NOMEM;
    }
    *t = (tamis_neighbours){a, o, self, list, neighbours, 0, max};
    t->options.allocator = &t->allocator;
    t->options.struct_size = sizeof t->options;
    *table = t;
    return TAMIS_OK;
}

void tamis_neighbours_free(tamis_neighbours *t) {
    if (!t) return;
    const struct tamis_allocator a = t->allocator;
    tamis_block self = t->self;
    for (size_t i = 0; i < t->n; i++) tamis_free(t->neighbours[i].copy);
    tamis__block_free(&a, &t->list);
    tamis__block_free(&a, &self);
}

/* The index of a name, or where to insert it. */
static size_t place_of(const tamis_neighbours *t, const char *name, bool *is_there) {
    size_t low = 0, high = t->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(t->neighbours[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *is_there = low < t->n && strcmp(t->neighbours[low].name, name) == 0;
    return low;
}

/* The same for a peer that may be added. */
static tamis_status place_for(const tamis_neighbours *t, const char *name, size_t *place,
                              bool *is_there) {
    const size_t len = strlen(name);
    if (len < 1 || len > TAMIS_MAX_NEIGHBOUR_NAME)
        return tamis__fail(TAMIS_INVALID, "the name of a neighbour has 1 to %d bytes, not %llu",
                           TAMIS_MAX_NEIGHBOUR_NAME, (unsigned long long)len);
    *place = place_of(t, name, is_there);
    if (*is_there || t->n < t->max) return TAMIS_OK;
    return tamis__fail(TAMIS_FULL, "the table is full: %llu neighbours", (unsigned long long)t->n);
}

static void come_in(tamis_neighbours *t, size_t place, const char *name, tamis *copy) {
    neighbour *at = &t->neighbours[place];
    memmove(at + 1, at, (t->n - place) * sizeof *at);
    *at = (neighbour){.copy = copy};
    memcpy(at->name, name, strlen(name) + 1);
    t->n++;
}

tamis_status tamis_neighbours_receive(tamis_neighbours *t, const char *peer, const void *message,
                                      size_t size, struct tamis_receive_info *received) {
    size_t place;
    bool is_there;
    tamis *copy = NULL;
    tamis_status rc = place_for(t, peer, &place, &is_there);
    if (rc) return rc;
    tamis **into = is_there ? &t->neighbours[place].copy : &copy;
    rc = tamis_receive(into, message, size, &t->options, received);
    if (!rc && !is_there) come_in(t, place, peer, copy);
    return rc;
}

tamis_status tamis_neighbours_put(tamis_neighbours *t, const char *peer, tamis *copy) {
    size_t place;
    bool is_there;
    const tamis_status rc = place_for(t, peer, &place, &is_there);
    if (rc) return rc;
    if (!is_copy(copy) || !tamis_note(copy, note))
        return tamis__fail(TAMIS_MISMATCH, "%s is not a copy of a neighbour's summary",
                           copy->kind->name);
    if (is_there) {
        tamis_free(t->neighbours[place].copy);
        t->neighbours[place].copy = copy;
    } else {
        come_in(t, place, peer, copy);
    }
    return TAMIS_OK;
}

tamis_status tamis_neighbours_forget(tamis_neighbours *t, const char *peer) {
    bool is_there;
    const size_t place = place_of(t, peer, &is_there);
    neighbour *at = &t->neighbours[place];
    if (!is_there) return tamis__fail(TAMIS_NOT_FOUND, "unknown neighbour '%.100s'", peer);
    tamis_free(at->copy);
    memmove(at, at + 1, (t->n - place - 1) * sizeof *at);
    t->n--;
    return TAMIS_OK;
}

/* ---- Asking --------------------------------------------------------------------------------- */

/* Whether both filters hash a key alike. */
static bool hash_alike(const tamis *a, const tamis *b) {
    return a->image.hasher.mode == b->image.hasher.mode &&
           a->image.hasher.seed == b->image.hasher.seed;
}

size_t tamis_neighbours_ask(const tamis_neighbours *t, const void *url, size_t len, size_t *peers,
                            size_t room) {
    const tamis *hashed = NULL;
    uint64_t hash = 0;
    size_t found = 0;
    for (size_t i = 0; i < t->n; i++) {
        const tamis *copy = t->neighbours[i].copy;
        bool has;
        if (tamis__hashes_itself(copy->kind)) {
            has = tamis_has(copy, url, len);
        } else {
            if (!hashed || !hash_alike(hashed, copy)) hash = tamis_hash(copy, url, len);
            hashed = copy;
            has = tamis_has_hash(copy, hash);
        }
        if (!has) continue;
        if (found < room) peers[found] = i;
        found++;
    }
    return found;
}

bool tamis_neighbours_at(const tamis_neighbours *t, size_t i, const char **peer,
                         const tamis **copy) {
    if (i >= t->n) return false;
    *peer = t->neighbours[i].name;
    *copy = t->neighbours[i].copy;
    return true;
}
