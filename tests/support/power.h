/* SPDX-License-Identifier: MIT */
/* For one file of a test program: a disk that loses power.
 *
 * Of a journal that is cut off anywhere, this may be left:
 *
 *     data      what was there at the last fsync of the file; of every write since then all,
 *               nothing, the first half, or zeros of its length, each by itself
 *     names     what was there at the last fsync of the directory; of what happened to names since
 *               (created, renamed, removed) any part
 *
 * Nothing is killed and nothing is written: it is simulated in memory. A name must then lead to
 * what it led to before, or to the whole of what it was given with one of the renames so far; and
 * when the last call has returned, to its current target. Files without a name before and after do
 * not count. */
#ifndef TAMIS_TESTS_SUPPORT_POWER_H
#define TAMIS_TESTS_SUPPORT_POWER_H

#include "tests/support/journal.h"

/* What becomes of unflushed writes. MIXED and all numbers above it: each by itself. */
enum { LOST, KEPT, HALF, ZEROS, MIXED };

/* The bytes of a file after the first `n` entries; `fate` decides those after its last flush. */
static disk file_after(const op *ops, int n, int file, int fate) {
    disk d = {NULL, 0, 0};
    int flushed = -1;
    uint64_t seed = (uint64_t)n * 8191 + (uint64_t)fate;
    disk_put(&d, 0, journal.base[file].bytes, journal.base[file].size);
    for (int i = 0; i < n; i++)
        if (ops[i].what == SYNC && ops[i].file == file) flushed = i;
    for (int i = 0; i < n; i++) {
        const op *o = &ops[i];
        if (o->what != WRITE || o->file != file) continue;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int now = i < flushed ? KEPT : fate >= MIXED ? (int)(seed >> 33) % MIXED : fate;
        if (now == KEPT) disk_put(&d, o->at, o->bytes, o->size);
        if (now == HALF) disk_put(&d, o->at, o->bytes, o->size / 2);
        if (now == ZEROS) disk_put(&d, o->at, NULL, o->size);
    }
    return d;
}

static bool is_same(const disk *a, const disk *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool is_about_name(const op *o) {
    return o->what == CREATE || o->what == MAKE_FOLDER || o->what == RENAME || o->what == UNLINK;
}

/* Entries about names after the last flush of their directory, up to `max` of them. */
static int open_names(const op *ops, int n, int *which, int max) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        bool is_open = is_about_name(&ops[i]);
        for (int j = i + 1; j < n && is_open; j++)
            is_open = !(ops[j].what == SYNC_FOLDER && ops[j].name == journal.dir_of[ops[i].name]);
        if (is_open && count == max) abort();
        if (is_open) which[count++] = i;
    }
    return count;
}

/* The targets of all names when of the open entries those in `kept` lasted. */
static void names_after(const op *ops, int n, const int *open, int count, unsigned kept,
                        int leads_to[NAMES]) {
    memcpy(leads_to, journal.before, sizeof journal.before);
    for (int i = 0; i < n; i++) {
        bool lasts = is_about_name(&ops[i]);
        for (int j = 0; j < count; j++)
            if (open[j] == i) lasts = kept >> j & 1;
        if (!lasts) continue;
        leads_to[ops[i].what == RENAME ? ops[i].to : ops[i].name] = ops[i].file;
        if (ops[i].what == RENAME) leads_to[ops[i].name] = NOTHING;
    }
    /* A directory has a lower number than what is in it. */
    for (int i = 1; i < journal.names; i++)
        if (leads_to[journal.dir_of[i]] != FOLDER) leads_to[i] = NOTHING;
}

/* ---- Allowed targets of a name --------------------------------------------------------------- */

enum { VERSIONS = 16 };

typedef struct version {
    int since; /* number of entries */
    int leads_to;
    disk bytes; /* of a file */
} version;

typedef struct history {
    bool is_ours; /* the name existed before, or exists now */
    int count;
    version versions[VERSIONS];
} history;

static void add_version(history *h, const op *ops, int since, int leads_to, int written) {
    if (h->count == VERSIONS) abort();
    version *v = &h->versions[h->count++];
    *v = (version){since, leads_to, {NULL, 0, 0}};
    if (leads_to >= 0) v->bytes = file_after(ops, written, leads_to, KEPT);
}

/* A file that is written under its own name is complete with its last byte. */
static void write_history(history *all, const op *ops, int count) {
    for (int i = 0; i < journal.names; i++) {
        all[i] = (history){.is_ours = journal.before[i] != NOTHING || journal.now[i] != NOTHING};
        add_version(&all[i], ops, 0, journal.before[i], 0);
    }
    for (int i = 0; i < count; i++) {
        if (!is_about_name(&ops[i])) continue;
        const bool is_rename = ops[i].what == RENAME;
        if (is_rename) add_version(&all[ops[i].name], ops, i + 1, NOTHING, 0);
        add_version(&all[is_rename ? ops[i].to : ops[i].name], ops, i + 1, ops[i].file,
                    is_rename ? i : count);
    }
}

static void forget_history(history *all) {
    for (int i = 0; i < journal.names; i++)
        for (int v = 0; v < all[i].count; v++) free(all[i].versions[v].bytes.bytes);
}

/* Whether it is the last version, or one of those so far. */
static bool may_lead_to(const history *h, int n, int all, int leads_to, const disk *bytes) {
    for (int i = n == all ? h->count - 1 : 0; i < h->count; i++) {
        const version *v = &h->versions[i];
        if (v->since > n) break;
        if ((v->leads_to < 0 || leads_to < 0) ? v->leads_to == leads_to : is_same(&v->bytes, bytes))
            return true;
    }
    return false;
}

/* ---- All outcomes ---------------------------------------------------------------------------- */

typedef struct outcome {
    uint64_t points, states;
    int bad_at; /* entries that lasted when a name led to something else; -1: never */
    const char *bad_name;
} outcome;

/* After `n` of `all` entries, and with this fate of writes. */
static void lose_power_at(outcome *out, const op *ops, int n, int all, const history *names,
                          int fate) {
    int open[12], leads_to[NAMES];
    disk left[FILES] = {{NULL, 0, 0}};
    bool is_read[FILES] = {false};
    const int count = open_names(ops, n, open, 12);
    for (unsigned kept = 0; kept < 1u << count; kept++, out->states++) {
        names_after(ops, n, open, count, kept, leads_to);
        for (int i = 0; i < journal.names && out->bad_at < 0; i++) {
            const int file = leads_to[i];
            if (!names[i].is_ours) continue;
            if (file >= 0 && !is_read[file]) {
                left[file] = file_after(ops, n, file, fate);
                is_read[file] = true;
            }
            if (may_lead_to(&names[i], n, all, file, file >= 0 ? &left[file] : NULL)) continue;
            out->bad_at = n;
            out->bad_name = journal.name[i];
        }
    }
    for (int i = 0; i < FILES; i++) free(left[i].bytes);
}

/* `mixes`: how often writes have mixed fates. */
static outcome lose_power(const op *ops, int all, int mixes) {
    static history names[NAMES];
    outcome out = {.bad_at = -1};
    write_history(names, ops, all);
    for (int n = 0; n <= all && out.bad_at < 0; n++, out.points++)
        for (int fate = 0; fate < MIXED + mixes; fate++)
            lose_power_at(&out, ops, n, all, names, fate);
    forget_history(names);
    return out;
}

/* ---- The test can fail ----------------------------------------------------------------------- */

/* A journal without the entry `i`, or, where that is -1, without all that are `what`. */
static bool is_safe_without(int i, int what) {
    static op less[OPS];
    int count = 0;
    for (int j = 0; j < journal.count; j++)
        if (i < 0 ? (int)journal.ops[j].what != what : j != i) less[count++] = journal.ops[j];
    return lose_power(less, count, 1).bad_at < 0;
}

/* A journal with one entry moved. */
static bool is_safe_moved(int from, int to) {
    static op other[OPS];
    memcpy(other, journal.ops, (size_t)journal.count * sizeof *other);
    const op moved = other[from];
    if (from < to)
        memmove(other + from, other + from + 1, (size_t)(to - from) * sizeof *other);
    else
        memmove(other + to + 1, other + to, (size_t)(from - to) * sizeof *other);
    other[to] = moved;
    return lose_power(other, journal.count, 1).bad_at < 0;
}

static bool is_entry(int i, int what, int file) {
    return (int)journal.ops[i].what == what && journal.ops[i].file == file;
}

/* Whether a file could as well be flushed before its last write, which may be that of its header,
 * or after its rename. */
static bool is_safe_in_other_order(void) {
    for (int i = 0; i < journal.count; i++) {
        int write = i, name = i;
        if (journal.ops[i].what != SYNC) continue;
        while (write > 0 && !is_entry(write, WRITE, journal.ops[i].file)) write--;
        while (name < journal.count && !is_entry(name, RENAME, journal.ops[i].file)) name++;
        if (is_safe_moved(i, write) || (name < journal.count && is_safe_moved(i, name)))
            return true;
    }
    return false;
}

/* ---- The journal is complete ----------------------------------------------------------------- */

static const char *unseen;

static void compare_one(const char *path, bool is_dir) {
    const int name = name_number(path), now = journal.now[name];
    if (is_dir ? now == FOLDER : now >= 0) {
        if (is_dir) return;
        disk is = disk_read(path), should = file_after(journal.ops, journal.count, now, KEPT);
        const bool is_right = is_same(&is, &should);
        free(is.bytes), free(should.bytes);
        if (is_right) return;
    }
    unseen = journal.name[name];
}

/* Replays the journal: it must result in the current directory. Otherwise some call bypasses the
 * layer; returns a name that shows where. */
static const char *journal_misses(void) {
    unseen = NULL;
    for (int i = 0; i < journal.names && !unseen; i++)
        if (journal.now[i] != NOTHING && access(journal.name[i], F_OK) < 0)
            unseen = journal.name[i];
    if (!unseen) for_all_below(journal.name[0], compare_one);
    return unseen;
}

#endif
