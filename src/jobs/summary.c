/* SPDX-License-Identifier: MIT */
/* The sending side of Summary Cache: what neighbours do not know yet, and messages for them.
 *
 * All state is in the filter: the log in its payload, and the number of the last message in a note.
 * An announcement is split into messages in one pass over the log (or over the whole summary). To
 * keep it short, a dry run of that pass first compares the size of the changes with that of the
 * array. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bits/packed.h"
#include "core/filter.h"
#include "jobs/wire.h"

static const char note[] = "announced";

static bool can_log(const tamis *f) {
    return f->can & TAMIS_CAN_LOG;
}

/* ---- Staleness ------------------------------------------------------------------------------ */

/* New documents set bits among those not announced. With t of m bits announced, n such documents of
 * k probes each leave (m - t) (1 - 1/m)^(k n) of the others clear. Documents that have gone do not
 * count, and those that came and went left nothing. */
static struct tamis_estimate unknown(double m, double told, double set, double k) {
    const double clear = m - told;
    const double share = clear > 0 ? set / clear : 1;
    if (set == 0) return (struct tamis_estimate){0, 0};
    if (share >= 1) return (struct tamis_estimate){HUGE_VAL, HUGE_VAL};
    const double documents = -m / k * log1p(-share);
    /* Each of the k n probes hits a clear bit or not; bits set twice are of second order. */
    const double spread = sqrt(set * (1 - clear / m + share)) * m / (k * clear * (1 - share));
    return (struct tamis_estimate){documents, spread};
}

tamis_status tamis_get_staleness(const tamis *f, struct tamis_staleness *out) {
    if (!can_log(f)) return tamis__cannot(f, "log changes");
    const tamis_body *body = &f->image.body;
    const tamis_logged at = f->kind->special->log->arrays(body);
    struct tamis_staleness s = {.positions = at.n, .documents = body->items};
    uint64_t told = 0;
    for (uint64_t i = 0; i < at.n; i += 64) {
        const unsigned run = at.n - i < 64 ? (unsigned)(at.n - i) : 64;
        const uint64_t now = tamis__bits_get(body->bytes, at.summary + i, run);
        const uint64_t then = tamis__bits_get(body->bytes, at.told + i, run);
        s.set += tamis__popcount64(now & ~then);
        s.cleared += tamis__popcount64(then & ~now);
        told += tamis__popcount64(then);
    }
    s.unknown =
        unknown((double)at.n, (double)told, (double)s.set, (double)f->kind->probes(body->word));
    return tamis__fill_struct(out, &s, sizeof s, "staleness");
}

bool tamis_is_due(const tamis *f, double threshold) {
    struct tamis_staleness s = TAMIS_STALENESS_INIT;
    if (tamis_get_staleness(f, &s) || s.set + s.cleared == 0) return false;
    /* An empty cache has nothing new, and still something to announce. */
    return s.documents == 0 || s.unknown.value >= threshold * (double)s.documents;
}

/* ---- Splitting into messages ---------------------------------------------------------------- */

/* One announcement in progress. Without `put` it is only counted. */
typedef struct outgoing {
    const tamis_wire *wire;
    tamis_tidings tidings; /* of the current message */
    uint8_t *message;
    size_t used, max;
    uint64_t next; /* one past the last position in it */
    tamis_write_fn *put;
    void *ctx;
    bool is_refused;
    struct tamis_announced sum;
} outgoing;

static void begin(outgoing *out, uint64_t first) {
    out->tidings.first = first;
    out->tidings.count = 0;
    out->next = 0;
    out->used = out->wire->start(out->message, &out->tidings);
}

/* Numbers wrap around and skip 0, which means none. */
static uint32_t number_after(uint32_t sequence) {
    return sequence == UINT32_MAX ? 1 : sequence + 1;
}

static void send(outgoing *out) {
    out->used += out->wire->end_bytes;
    out->sum.messages++;
    out->sum.bytes += out->used;
    out->sum.sequence = out->tidings.sequence;
    out->tidings.sequence = number_after(out->tidings.sequence);
    if (!out->put || out->is_refused) return;
    out->wire->finish(out->message, out->used, out->tidings.count);
    out->is_refused = !out->put(out->ctx, out->message, out->used);
}

static bool has_room(const outgoing *out, size_t bytes) {
    return out->used + bytes + out->wire->end_bytes <= out->max;
}

static void tell_changes(outgoing *out, const tamis *f) {
    uint64_t cursor = 0, position;
    bool is_set;
    out->tidings.is_array = false;
    begin(out, 0);
    while (!out->is_refused && tamis_next_change(f, &cursor, &position, &is_set)) {
        if (!has_room(out, TAMIS_MAX_RECORD)) {
            send(out);
            begin(out, 0);
        }
        out->used += out->wire->put(out->message + out->used, out->next, position, is_set);
        out->next = position + 1;
        out->tidings.count++;
        out->sum.changes++;
    }
    send(out);
}

static void tell_all(outgoing *out, const tamis *f) {
    const tamis_logged at = f->kind->special->log->arrays(&f->image.body);
    out->tidings.is_array = out->sum.is_whole = true;
    begin(out, 0);
    for (uint64_t i = 0; i < at.n && !out->is_refused; i += TAMIS_GROUP) {
        const unsigned run = at.n - i < TAMIS_GROUP ? (unsigned)(at.n - i) : TAMIS_GROUP;
        if (!has_room(out, TAMIS_GROUP_BYTES)) {
            send(out);
            begin(out, i);
        }
        const uint64_t bits = tamis__bits_get(f->image.body.bytes, at.summary + i, run);
        out->wire->put_group(out->message + out->used, (uint32_t)bits);
        out->used += TAMIS_GROUP_BYTES;
        out->tidings.count++;
    }
    send(out);
}

/* ---- Announcing ----------------------------------------------------------------------------- */

static tamis_status wire_of(const tamis *f, const tamis_wire **wire) {
    static const tamis_wire *const wires[] = {&tamis__wire_compact, &tamis__wire_icp};
    if (!can_log(f)) return tamis__cannot(f, "log changes");
    if (f->image.hasher.mode == TAMIS_HASH_SIP13)
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "neighbours cannot query a summary with a keyed hash: they "
                           "would need the secret; use xxh3 or xxh64");
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
        if (strcmp(wires[i]->kind, f->kind->name) == 0) return *wire = wires[i], TAMIS_OK;
    return tamis__fail(TAMIS_UNSUPPORTED, "no message format for %s, only for counting and icp",
                       f->kind->name);
}

/* Both kinds have their hashes in the second parameter, icp the bits of its functions in the
 * third. */
static tamis_tidings tidings_of(const tamis *f, const tamis_wire *wire, uint32_t sender) {
    const uint64_t *word = f->image.body.word;
    return (tamis_tidings){.positions = f->kind->special->log->arrays(&f->image.body).n,
                           .hashes = word[1],
                           .function_bits = wire == &tamis__wire_icp ? word[2] : 0,
                           .hash = f->image.hasher.mode,
                           .seed = f->image.hasher.seed,
                           .sender = sender};
}

static uint32_t last_number(const tamis *f) {
    const char *text = tamis_note(f, note);
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Numbers are used up before they are sent: after a cancelled announcement, no later message has
 * the number of an earlier one. */
static tamis_status use_up(tamis *f, uint32_t sequence) {
    char text[16];
    snprintf(text, sizeof text, "%lu", (unsigned long)sequence);
    return tamis_set_note(f, note, text);
}

static tamis_status limit_of(const tamis_wire *wire, uint32_t wanted, size_t *max) {
    *max = wanted ? wanted : wire->max_bytes;
    if (*max >= TAMIS_MIN_MESSAGE && *max <= wire->max_bytes) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "a message of %s has %d to %llu bytes at most, not %lu",
                       wire->kind, TAMIS_MIN_MESSAGE, (unsigned long long)wire->max_bytes,
                       (unsigned long)wanted);
}

/* Which of the two is shorter, by a dry run. */
static bool array_is_cheaper(const outgoing *out, const tamis *f) {
    outgoing changes = *out, array = *out;
    changes.put = array.put = NULL;
    tell_changes(&changes, f);
    tell_all(&array, f);
    return array.sum.bytes < changes.sum.bytes;
}

/* The first announcement is whole: a neighbour may remember an earlier cache of this name, and
 * takes low numbers for late. */
static tamis_status tell(outgoing *out, tamis *f, const struct tamis_announce_options *o) {
    const bool is_whole =
        o->is_whole || (!o->only_changes && (!last_number(f) || array_is_cheaper(out, f)));
    void (*const how)(outgoing *, const tamis *) = is_whole ? tell_all : tell_changes;
    outgoing plan = *out;
    plan.put = NULL;
    how(&plan, f);
    const tamis_status rc = use_up(f, plan.sum.sequence);
    if (rc) return rc;
    how(out, f);
    if (out->is_refused) return tamis__fail(TAMIS_CANCELLED, "the writer cancelled");
    return tamis_clear_changes(f);
}

tamis_status tamis_announce(tamis *f, const struct tamis_announce_options *options,
                            struct tamis_announced *announced, tamis_write_fn *put, void *ctx) {
    struct tamis_announce_options o;
    tamis_block block = {NULL, 0};
    outgoing out = {.put = put, .ctx = ctx};
    tamis_status rc = tamis__read_struct(options, &o, sizeof o, "announce_options");
    if (!rc) rc = tamis__check_struct(announced, "announced");
    if (!rc && o.is_whole && o.only_changes)
        rc = tamis__fail(TAMIS_INVALID, "only_changes and is_whole cannot be combined");
    if (!rc) rc = wire_of(f, &out.wire);
    if (!rc) rc = tamis__writable(f);
    if (!rc) rc = limit_of(out.wire, o.message_bytes, &out.max);
    if (!rc && !(out.message = tamis__get(&f->allocator, out.max, &block))) rc = TAMIS_NOMEM;
    if (!rc) {
        out.tidings = tidings_of(f, out.wire, o.sender);
        out.tidings.sequence = number_after(last_number(f));
        rc = tell(&out, f, &o);
    }
    tamis__block_free(&f->allocator, &block);
    return rc ? rc : tamis__fill_struct(announced, &out.sum, sizeof out.sum, "announced");
}
