/* SPDX-License-Identifier: MIT */
/* count_top_list.c: the candidates, a heap by count and a table by hash. */
#include "cli/verbs/count_top.h"
#include "tamis_engine.h"

#include <stdlib.h>
#include <string.h>

/* A line that is longer is kept, and printed, only so far: memory must not depend on lines. */
enum { MAX_TEXT = 64 * 1024 };

bool candidates_make(struct candidates *all, size_t max, tamis *sketch) {
    *all = (struct candidates){.max = max, .slots = 2, .sketch = sketch};
    while (all->slots < 2 * max) all->slots *= 2;
    all->list = calloc(max, sizeof *all->list);
    all->heap = calloc(max, sizeof *all->heap);
    all->slot = calloc(all->slots, sizeof *all->slot);
    return all->list && all->heap && all->slot;
}

void candidates_free(struct candidates *all) {
    for (size_t i = 0; all->list && i < all->n; i++) free(all->list[i].text);
    free(all->list);
    free(all->heap);
    free(all->slot);
    tamis_free(all->sketch);
    *all = (struct candidates){0};
}

/* ---- By hash ---- */

/* The table's size is far below 2^32, and hashes are well mixed. */
static size_t home_of(const struct candidates *all, uint64_t hash) {
    return (size_t)(hash & (all->slots - 1));
}

/* The slot of a hash, or the free one where it belongs. */
static size_t find(const struct candidates *all, uint64_t hash) {
    size_t at = home_of(all, hash);
    while (all->slot[at] && all->list[all->slot[at] - 1].hash != hash)
        at = (at + 1) & (all->slots - 1);
    return at;
}

/* Those after it move up, unless that would bring them before their home. */
static void unlist(struct candidates *all, uint64_t hash) {
    const size_t mask = all->slots - 1;
    size_t hole = find(all, hash);
    all->slot[hole] = 0;
    for (size_t at = (hole + 1) & mask; all->slot[at]; at = (at + 1) & mask) {
        const size_t home = home_of(all, all->list[all->slot[at] - 1].hash);
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        all->slot[hole] = all->slot[at];
        all->slot[at] = 0;
        hole = at;
    }
}

/* ---- By count ---- */

static uint64_t count_at(const struct candidates *all, size_t place) {
    return all->list[all->heap[place]].count;
}

static void swap_places(struct candidates *all, size_t a, size_t b) {
    const size_t number = all->heap[a];
    all->heap[a] = all->heap[b];
    all->heap[b] = number;
    all->list[all->heap[a]].in_heap = a;
    all->list[all->heap[b]].in_heap = b;
}

static void sink(struct candidates *all, size_t place) {
    for (;;) {
        size_t low = place, left = 2 * place + 1;
        for (size_t child = left; child < left + 2 && child < all->n; child++)
            if (count_at(all, child) < count_at(all, low)) low = child;
        if (low == place) return;
        swap_places(all, place, low);
        place = low;
    }
}

static void rise(struct candidates *all, size_t place) {
    for (; place && count_at(all, place) < count_at(all, (place - 1) / 2); place = (place - 1) / 2)
        swap_places(all, place, (place - 1) / 2);
}

/* ---- Coming and going ---- */

static bool keep_text(struct candidate *one, const struct tamis_key *text) {
    const size_t len = text->len < MAX_TEXT ? text->len : MAX_TEXT;
    if (len >= one->room) {
        char *larger = realloc(one->text, len + 1);
        if (!larger) return false;
        one->text = larger;
        one->room = len + 1;
    }
    if (len) memcpy(one->text, text->bytes, len);
    one->text[len] = '\0';
    one->len = len;
    one->is_cut = len < text->len;
    return true;
}

static void enter(struct candidates *all, size_t number, uint64_t hash, uint64_t count) {
    struct candidate *one = &all->list[number];
    one->hash = hash;
    one->count = one->first = count;
    all->slot[find(all, hash)] = number + 1;
}

/* Its count goes where that of all others is. */
static tamis_status replace_lowest(struct candidates *all, uint64_t hash, uint64_t count,
                                   const struct tamis_key *text) {
    const size_t number = all->heap[0];
    struct candidate *one = &all->list[number];
    const tamis_status status =
        tamis_add_times_hash(all->sketch, one->hash, one->count - one->first);
    if (status) return status;
    unlist(all, one->hash);
    all->lost++;
    if (!keep_text(one, text)) return TAMIS_NOMEM;
    enter(all, number, hash, count);
    sink(all, 0);
    return TAMIS_OK;
}

static tamis_status add_candidate(struct candidates *all, uint64_t hash, uint64_t count,
                                  const struct tamis_key *text) {
    const size_t number = all->n;
    if (!keep_text(&all->list[number], text)) return TAMIS_NOMEM;
    all->n++;
    enter(all, number, hash, count);
    all->heap[number] = all->list[number].in_heap = number;
    rise(all, number);
    return TAMIS_OK;
}

tamis_status candidates_take(struct candidates *all, uint64_t hash, const struct tamis_key *text) {
    const size_t known = all->slot[find(all, hash)];
    if (known) {
        struct candidate *one = &all->list[known - 1];
        one->count++;
        sink(all, one->in_heap);
        return TAMIS_OK;
    }
    const tamis_status status = tamis_add_hash(all->sketch, hash);
    if (status) return status;
    const uint64_t count = tamis_count_hash(all->sketch, hash);
    if (all->n < all->max) return add_candidate(all, hash, count, text);
    if (count <= count_at(all, 0)) return TAMIS_OK;
    return replace_lowest(all, hash, count, text);
}

/* While there is room none is left out. */
uint64_t candidates_rest(const struct candidates *all) {
    return all->n < all->max ? 0 : count_at(all, 0);
}

static int by_count(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    if (one->count != other->count) return one->count < other->count ? 1 : -1;
    const size_t len = one->len < other->len ? one->len : other->len;
    const int order = len ? memcmp(one->text, other->text, len) : 0;
    return order ? order : one->len < other->len ? -1 : one->len > other->len;
}

void candidates_sort(struct candidates *all) {
    qsort(all->list, all->n, sizeof *all->list, by_count);
}
