/* SPDX-License-Identifier: MIT */
/* One law: random programs. A filter and an exact model of its contents go through the same
 * thousands of random steps: adds of one and of many, removes, merges, resizes, copies, trips
 * through an image. After each, every promise of the contract is checked. tests/proof/programs.sh
 * runs the same with millions of steps (TAMIS_STEPS is the number for each subject). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tests/laws/laws.h"
#include "tests/support/keys.h"

enum { UNIVERSE = 400, CAPACITY = 1200, MAX_HISTORY = CAPACITY };

typedef enum fate { ALIVE, DEAD } fate; /* of a key: dead once a composite filter removed it */

typedef struct model {
    uint64_t truth[UNIVERSE]; /* adds that were not removed */
    uint64_t floor[UNIVERSE]; /* what a count must reach; less than truth after some merges */
    fate fate[UNIVERSE];
    uint64_t items;
    uint64_t history[MAX_HISTORY], adds; /* the last adds, for kinds that age */
    uint64_t lost;                       /* false negatives of kinds that may forget */
} model;

typedef struct life {
    const subject *subject;
    tamis *filter;
    model m;
    uint64_t step, luck, capacity;
    const char *what;
} life;

/* ---- Randomness and keys -------------------------------------------------------------------- */

static uint64_t draw(life *l, uint64_t below) {
    return test_number(91, l->luck++) % below;
}

/* Small numbers more often, so that some keys are added many times and others hardly ever. */
static uint64_t draw_key(life *l) {
    const uint64_t a = draw(l, UNIVERSE), b = draw(l, UNIVERSE);
    return a < b ? a : b;
}

static uint64_t hash_of(const life *l, uint64_t key) {
    char buffer[32];
    const struct tamis_key k = key_at(key, buffer);
    return tamis_hash(l->filter, k.bytes, k.len);
}

static void blame(life *l, const char *what, uint64_t key) {
    if (!l->what)
        l->what = wrong("step %llu, key %llu: %s", (unsigned long long)l->step,
                        (unsigned long long)key, what);
}

/* ---- Promises ------------------------------------------------------------------------------- */

static bool must_have(const life *l, uint64_t key) {
    if (!(l->subject->can & TAMIS_AGES)) return l->m.truth[key] > 0;
    const uint64_t kept = l->m.adds < l->capacity ? l->m.adds : l->capacity;
    for (uint64_t i = 0; i < kept; i++)
        if (l->m.history[(l->m.adds - 1 - i) % MAX_HISTORY] == key) return true;
    return false;
}

static void check_key(life *l, uint64_t key) {
    const unsigned can = l->subject->can;
    char buffer[32];
    const struct tamis_key k = key_at(key, buffer);
    const bool has = tamis_has(l->filter, k.bytes, k.len);
    if (!has && must_have(l, key)) {
        l->m.lost++;
        if (!(can & TAMIS_MAY_FORGET)) blame(l, "a key is missing", key);
    }
    if (can & TAMIS_CAN_COUNT) {
        struct tamis_info info = TAMIS_INFO_INIT;
        tamis_measure(l->filter, &info);
        const uint64_t count = tamis_count(l->filter, k.bytes, k.len);
        if (count < l->m.floor[key] && count < info.reliable_count)
            blame(l, "counted too low", key);
        if ((count > 0) != has) blame(l, "count and has disagree", key);
    }
}

/* A sketch answers all keys alike; but it must be the sketch of the model's keys. */
static void check_sketch(life *l) {
    const unsigned is_set = TAMIS_IS_SKETCH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER;
    if ((l->subject->can & is_set) != is_set) return;
    tamis *fresh = make(l->subject, CAPACITY, 0.01, NULL);
    for (uint64_t key = 0; key < UNIVERSE; key++)
        if (l->m.truth[key]) tamis_add_hash(fresh, hash_of(l, key));
    if (!same_payload(l->filter, fresh)) blame(l, "it is not the sketch of its keys", 0);
    tamis_free(fresh);
}

static void check_all(life *l) {
    struct tamis_info info = TAMIS_INFO_INIT;
    check_sketch(l);
    for (uint64_t key = 0; key < UNIVERSE; key++) check_key(l, key);
    tamis_measure(l->filter, &info);
    if (info.items != l->m.items) blame(l, "items are not adds less removes", info.items);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void note_add(life *l, uint64_t key) {
    l->m.truth[key]++;
    l->m.floor[key]++;
    l->m.items++;
    l->m.history[l->m.adds++ % MAX_HISTORY] = key;
}

static void refused(life *l, tamis_status rc, uint64_t key) {
    const bool may_be_dead = l->subject->can & TAMIS_MAY_FORGET;
    if (rc != TAMIS_FULL && !(rc == TAMIS_TOMBSTONED && may_be_dead)) blame(l, tamis_why(), key);
}

static void step_add(life *l) {
    const uint64_t key = draw_key(l);
    const tamis_status rc = tamis_add_hash(l->filter, hash_of(l, key));
    if (rc)
        refused(l, rc, key);
    else if (l->m.fate[key] == DEAD)
        blame(l, "a removed key came back", key);
    else
        note_add(l, key);
    check_key(l, key);
}

static void step_add_many(life *l) {
    uint64_t hashes[40], keys[40];
    const size_t n = (size_t)draw(l, 41);
    for (size_t i = 0; i < n; i++) hashes[i] = hash_of(l, keys[i] = draw_key(l));
    const tamis_status rc = tamis_add_hashes(l->filter, hashes, n);
    if (rc)
        refused(l, rc, n);
    else
        for (size_t i = 0; i < n; i++) note_add(l, keys[i]);
    for (size_t i = 0; i < n; i++) check_key(l, keys[i]);
}

/* The caller keeps its promise: only present keys are removed. Keys that are answered no are tried
 * as well. */
static void step_remove(life *l) {
    const uint64_t key = draw_key(l), hash = hash_of(l, key);
    const bool has = tamis_has_hash(l->filter, hash);
    if (l->m.truth[key] == 0 && has) return; /* a false positive: do not touch */
    const tamis_status rc = tamis_remove_hash(l->filter, hash);
    if (!has) {
        if (rc != TAMIS_NOT_FOUND) blame(l, "an absent key is removed", key);
    } else if (rc) {
        blame(l, tamis_why(), key);
    } else if (l->subject->can & TAMIS_ADDS_ONCE) {
        l->m.truth[key] = l->m.floor[key] = 0;
        l->m.fate[key] = DEAD;
        l->m.items -= l->m.items > 0;
    } else {
        l->m.truth[key]--;
        l->m.floor[key] -= l->m.floor[key] > 0;
        l->m.items--;
    }
}

static void step_add_new(life *l) {
    const uint64_t key = draw_key(l), hash = hash_of(l, key);
    bool is_new;
    if (l->subject->can & TAMIS_IS_SKETCH) return;
    /* A false positive would drop the key, at the caller's risk; here it is not taken. */
    if (l->m.truth[key] == 0 && tamis_has_hash(l->filter, hash)) return;
    const tamis_status rc = tamis_add_new_hash(l->filter, hash, &is_new);
    if (rc)
        refused(l, rc, key);
    else if (is_new || l->subject->can & TAMIS_AGES)
        note_add(l, key);
    check_key(l, key);
}

/* With a second filter that had adds of its own. Where nothing can be removed, a count after a
 * merge must only reach the larger of the two. */
static void step_merge(life *l) {
    const bool adds_up = l->subject->can & TAMIS_CAN_REMOVE;
    life other = {.subject = l->subject, .luck = l->luck, .capacity = l->capacity};
    other.filter = make(l->subject, CAPACITY, 0.01, NULL);
    if (tamis_mismatch(l->filter, other.filter)) { /* grown, folded, or another secret */
        tamis_free(other.filter);
        return;
    }
    for (uint64_t n = draw(l, 30); n > 0; n--) step_add(&other);
    l->luck = other.luck;
    const tamis_status rc = tamis_merge(l->filter, other.filter);
    if (rc && rc != TAMIS_FULL) blame(l, tamis_why(), 0);
    for (uint64_t key = 0; key < UNIVERSE && !rc; key++) {
        const uint64_t more = other.m.floor[key], floor = l->m.floor[key];
        if (l->m.fate[key] == DEAD) continue;
        l->m.truth[key] += other.m.truth[key];
        l->m.floor[key] = adds_up ? floor + more : floor > more ? floor : more;
    }
    if (!rc) l->m.items += other.m.items;
    if (other.what && !l->what) l->what = other.what;
    tamis_free(other.filter);
    check_all(l);
}

static void step_resize(life *l) {
    static const uint64_t sizes[] = {CAPACITY, 2 * CAPACITY, 4 * CAPACITY};
    const tamis_status rc = tamis_resize(l->filter, sizes[draw(l, 3)]);
    if (rc && rc != TAMIS_FULL && rc != TAMIS_INVALID) blame(l, tamis_why(), 0);
    check_all(l);
}

static void step_copy(life *l) {
    tamis *copy;
    if (tamis_copy(&copy, l->filter)) abort();
    tamis_free(l->filter);
    l->filter = copy;
}

static void step_save_and_load(life *l) {
    size_t size;
    uint8_t *image = test_image(l->filter, &size);
    tamis *loaded;
    if (tamis_load(&loaded, image, size)) {
        blame(l, tamis_why(), size);
    } else {
        if (!same_payload(l->filter, loaded)) blame(l, "a trip through an image changed it", size);
        tamis_free(l->filter);
        l->filter = loaded;
    }
    free(image);
    check_all(l);
}

typedef struct move {
    unsigned needs, share; /* share of a thousand steps */
    void (*take)(life *);
} move;

static const move moves[] = {
    {TAMIS_CAN_ADD, 400, step_add},       {TAMIS_CAN_ADD, 20, step_add_many},
    {TAMIS_CAN_REMOVE, 500, step_remove}, {TAMIS_CAN_ADD, 60, step_add_new},
    {TAMIS_CAN_MERGE, 3, step_merge},     {TAMIS_CAN_RESIZE, 4, step_resize},
    {TAMIS_CAN_ADD, 5, step_copy},        {TAMIS_CAN_ADD, 8, step_save_and_load},
};

static void take_step(life *l) {
    uint64_t at = draw(l, 1000);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (at < moves[i].share) {
            if ((l->subject->can & moves[i].needs) == moves[i].needs) moves[i].take(l);
            return;
        }
        at -= moves[i].share;
    }
}

/* ---- The law -------------------------------------------------------------------------------- */

static uint64_t steps_wanted(void) {
    const char *text = getenv("TAMIS_STEPS");
    return text ? strtoull(text, NULL, 10) : effort(4000);
}

/* A kind that may forget must report it once it has. */
static void check_losses(life *l) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(l->filter, &info);
    if (l->m.lost && !info.caveat[0] && !(l->subject->can & TAMIS_AGES))
        blame(l, "lost keys are not reported", l->m.lost);
}

static const char *programs_agree_with_a_model(const subject *s) {
    life l = {.subject = s, .capacity = CAPACITY, .filter = make(s, CAPACITY, 0.01, NULL)};
    const uint64_t steps = steps_wanted();
    for (l.step = 0; l.step < steps && !l.what; l.step++) take_step(&l);
    check_all(&l);
    check_losses(&l);
    /* At the end everything is removed. */
    for (uint64_t key = 0; s->can & TAMIS_CAN_REMOVE && key < UNIVERSE && !l.what; key++)
        for (; l.m.truth[key] > 0 && !l.what; l.m.truth[key]--) {
            const tamis_status rc = tamis_remove_hash(l.filter, hash_of(&l, key));
            if (rc && !(s->can & TAMIS_MAY_FORGET)) blame(&l, tamis_why(), key);
            if (s->can & TAMIS_ADDS_ONCE) l.m.truth[key] = 1;
        }
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(l.filter, &info);
    if (!l.what && s->can & TAMIS_CAN_REMOVE && !(s->can & TAMIS_MAY_FORGET) && !info.affected &&
        (info.fpr_now > 0 || info.items))
        blame(&l, "something is left after the last remove", info.items);
    tamis_free(l.filter);
    return l.what;
}

const law program_laws[] = {
    {"programs_agree_with_a_model", TAMIS_CAN_ADD, programs_agree_with_a_model, TAMIS_OWN_HASH},
    {NULL, 0, NULL, 0},
};
