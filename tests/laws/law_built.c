/* SPDX-License-Identifier: MIT */
/* Laws about building: one set of keys is one filter, however it came in, and what is built once
 * keeps what it was built with: values, labels, and keys that must be answered no. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tamis_engine.h"
#include "tests/laws/laws.h"
#include "tests/support/building.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

enum { N = 2600 }; /* three segments of the smallest size */

/* The spec without a capacity: the builder counts. Kinds with a hash of their own that take adds
 * are filled as keys come, and cannot wait for the last one; a part does not see the keys of the
 * whole. */
static const char *open_spec(const subject *s, char spec[256]) {
    if ((s->can & TAMIS_OWN_HASH && !(s->can & TAMIS_IS_BUILT)) || needs_capacity(s))
        snprintf(spec, 256, "%s", spec_of(s, N, 0.01, NULL));
    else
        snprintf(spec, 256, "%s:fpr=0.01%s", s->kind.name, s->options);
    return spec;
}

/* ---- One set, one filter -------------------------------------------------------------------- */

/* Ways to the same set. `spills` repeats some keys so often that a partition does not fit in the
 * memory that is left, and `twice` has every key twice. */
typedef struct way {
    const char *name;
    unsigned threads;
    bool is_reversed, is_twice, spills;
} way;

static tamis *built_by(const subject *s, const char *spec, const way *w) {
    enum { LIMIT = 64 << 20, TIMES = 9000 }; /* a quarter of it is one block for each partition */
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .filter = secret_options(spec),
                                                  .threads = w->threads,
                                                  .memory_limit = w->spills ? LIMIT : 0};
    intake in = open_builder(s, spec, &options);
    if (w->is_reversed)
        for (uint64_t i = N; i-- > 0;) take_in_keys(&in, i, i + 1);
    else
        take_in_keys(&in, 0, N);
    if (w->is_twice) take_in_keys(&in, 0, N);
    for (int i = 0; w->spills && i < TIMES; i++) take_in_keys(&in, 1, 3);
    return taken(&in);
}

/* The header of kinds that count has the number of adds, so only their payload is equal. Keys of
 * other systems go straight in, in order of arrival. */
static const char *one_set_is_one_filter(const subject *s) {
    /* Kinds with their own hash are filled as keys come, and may depend on their order. */
    if ((s->can & (TAMIS_OWN_HASH | TAMIS_ANY_ORDER)) == TAMIS_OWN_HASH) return NULL;
    static const way first = {"in order", 0, false, false, false};
    static const way ways[] = {{"in reverse", 1, true, false, false},
                               {"on three threads", 3, false, false, false},
                               {"every key twice", 2, false, true, false},
                               {"on disk", 3, true, false, true}};
    /* Kinds of other systems do as their origin does, and their traits say what that is. */
    const bool is_own = s->can & TAMIS_OWN_HASH;
    const bool is_set = s->can & TAMIS_ADDS_ONCE || (s->can & TAMIS_IS_BUILT && !is_own);
    char spec[256];
    open_spec(s, spec);
    tamis *f = built_by(s, spec, &first);
    const char *what = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !what; i++) {
        if ((ways[i].is_twice || ways[i].spills) && !is_set) continue;
        if (ways[i].is_reversed && is_own && !(s->can & TAMIS_ANY_ORDER)) continue;
        tamis *g = built_by(s, spec, &ways[i]);
        if (!(s->can & TAMIS_IS_BUILT ? test_is_same_image(f, g) : same_payload(f, g)))
            what = wrong("%s it gives other bytes", ways[i].name);
        tamis_free(g);
    }
    tamis_free(f);
    return what;
}

/* With and without a capacity: every key is found, and where the payload follows from the adds it
 * is the one that adds make. */
static const char *every_kind_can_be_built(const subject *s) {
    char spec[256];
    const char *what = NULL;
    for (int is_open = 0; is_open < 2 && !what; is_open++) {
        snprintf(spec, sizeof spec, "%s", spec_of(s, N, 0.01, NULL));
        if (is_open) open_spec(s, spec);
        intake in = open_builder(s, spec, NULL);
        if (take_in_keys(&in, 0, N) != N) what = "it is full";
        tamis *f = taken(&in), *added = NULL;
        if (!what && !(s->can & TAMIS_AGES) && count_keys(f, 0, N) != N)
            what = wrong("%s lacks keys", spec);
        if (s->can & TAMIS_CAN_ADD) {
            added = filled(s, N, 0.01, NULL, 0, N);
            if (!what && s->can & (TAMIS_ANY_ORDER | TAMIS_AGES) && !same_payload(f, added))
                what = wrong("%s is not what adds give", spec);
            if (!what && test_info(f).items != test_info(added).items)
                what = wrong("%s counts items otherwise", spec);
        }
        tamis_free(f);
        tamis_free(added);
    }
    return what;
}

/* The spec of a filter makes it again. */
static const char *spec_builds_it_again(const subject *s) {
    char text[600];
    const char *what = NULL;
    intake in = open_builder(s, spec_of(s, N, 0.01, NULL), NULL);
    take_in_keys(&in, 0, N);
    tamis *f = taken(&in);
    tamis_spec(f, text, sizeof text);
    in = open_builder(s, text, NULL);
    take_in_keys(&in, 0, N);
    tamis *g = taken(&in);
    if (!test_is_same_image(f, g)) what = wrong("%s makes another filter", text);
    tamis_free(f);
    tamis_free(g);
    return what;
}

/* ---- Finishing ------------------------------------------------------------------------------ */

static bool file_has(const char *path, const uint8_t *image, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *room = malloc(size + 1);
    if (!file || !room) abort();
    const bool is_same = fread(room, 1, size + 1, file) == size && memcmp(room, image, size) == 0;
    fclose(file);
    free(room);
    return is_same;
}

/* To a file or to memory, with every key verified: the same image, and it can be mapped. */
static const char *file_is_the_image(const subject *s) {
    char dir[] = "/tmp/tamis-laws-XXXXXX", path[64], spec[256];
    open_spec(s, spec);
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .filter = secret_options(spec),
                                                  .threads = 2,
                                                  .verify = !(s->can & TAMIS_AGES)};
    if (!mkdtemp(dir)) abort();
    snprintf(path, sizeof path, "%s/built.tamis", dir);
    intake one = open_builder(s, spec, &options), two = open_builder(s, spec, &options);
    const char *what = NULL;
    take_in_keys(&one, 0, N);
    take_in_keys(&two, 0, N);
    tamis_builder_set_note(one.builder, "comment", "laws");
    tamis_builder_set_note(two.builder, "comment", "laws");
    tamis *f = NULL, *map = NULL;
    if (tamis_builder_finish(one.builder, &f) || tamis_builder_finish_to(two.builder, path) ||
        tamis_map(&map, path)) {
        what = wrong("%s", tamis_why());
    } else {
        size_t size;
        uint8_t *image = test_image(f, &size);
        if (!file_has(path, image, size)) what = "the file is not the image";
        if (!same_answers(f, map, 0, 2 * N)) what = "the file answers otherwise";
        free(image);
    }
    tamis_builder_free(one.builder);
    tamis_builder_free(two.builder);
    tamis_free(f);
    tamis_free(map);
    unlink(path);
    if (rmdir(dir)) what = "something is left beside the file";
    return what;
}

/* ---- A limit on memory ---------------------------------------------------------------------- */

typedef struct tight_build {
    uint64_t limit, n;
    unsigned threads;
} tight_build;

/* Builds to a file within a limit, and watches the memory held. Kinds that are made in one piece
 * hold the filter as well, and may refuse, but only before the first key. */
static const char *build_tightly(const subject *s, const tight_build *t, const char *path) {
    const bool is_whole = s->can & TAMIS_OWN_HASH;
    const char *spec = spec_of(s, t->n ? t->n : 1, 0.01, NULL), *what = NULL;
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    struct tamis_options filter = *secret_options(spec);
    filter.allocator = &allocator;
    const struct tamis_builder_options options = {.struct_size = sizeof options,
                                                  .filter = &filter,
                                                  .threads = t->threads,
                                                  .memory_limit = t->limit,
                                                  .verify = true};
    tamis_builder *b;
    const tamis_status rc = tamis_builder_create_with(&b, spec, &options);
    tamis_builder_free(b);
    unlink(path);
    if (rc == TAMIS_NOMEM && is_whole) return NULL;
    if (rc) return wrong("%s", tamis_why());
    failing = (test_failing_allocator){0};
    intake in = open_builder(s, spec, &options);
    take_in_keys(&in, 0, t->n);
    if (tamis_builder_finish_to(in.builder, path)) what = wrong("%s", tamis_why());
    tamis_builder_free(in.builder);
    tamis *f = NULL;
    if (!what && tamis_map(&f, path)) what = wrong("%s", tamis_why());
    if (!what && failing.max_bytes > t->limit + (is_whole ? tamis_image_size(f) + 8192 : 0))
        what = wrong("%llu keys on %u threads took %zu of %llu bytes", (unsigned long long)t->n,
                     t->threads, failing.max_bytes, (unsigned long long)t->limit);
    if (!what && count_keys(f, 0, t->n) != t->n) what = "keys are missing";
    tamis_free(f);
    return what;
}

static bool same_files(const char *a, const char *b) {
    tamis *f = NULL, *g = NULL;
    const bool is_there = access(a, F_OK) == 0;
    if (is_there != (access(b, F_OK) == 0)) return false;
    const bool is_same =
        !is_there || (!tamis_map(&f, a) && !tamis_map(&g, b) && test_is_same_image(f, g));
    tamis_free(f);
    tamis_free(g);
    return is_same;
}

/* From the minimum limit: no more memory than that, no failure after the last key, no key lost, and
 * the number of threads leaves no trace. Of 70,000 keys the hashes alone are half of the minimum:
 * kinds that hold all of them refuse, and every other has to make its segments smaller. */
static const char *memory_limit_is_kept(const subject *s) {
    static const struct {
        uint64_t mib, n;
    } trials[] = {{1, 0},     {1, 1},     {1, 1000},   {3, 1000},
                  {1, 20000}, {3, 20000}, {64, 20000}, {1, 70000}};
    enum { TRIALS = sizeof trials / sizeof *trials };
    char dir[] = "/tmp/tamis-laws-XXXXXX", path[2][64];
    const char *what = NULL;
    if (!mkdtemp(dir)) abort();
    for (int i = 0; i < 2; i++) snprintf(path[i], sizeof *path, "%s/%d.tamis", dir, i);
    for (size_t i = 0; i < TRIALS && !what; i++) {
        tight_build t = {trials[i].mib << 20, trials[i].n, 1};
        what = build_tightly(s, &t, path[0]);
        t.threads = 4;
        if (!what) what = build_tightly(s, &t, path[1]);
        if (!what && !same_files(path[0], path[1])) what = "other bytes on four threads";
    }
    for (int i = 0; i < 2; i++) unlink(path[i]);
    rmdir(dir);
    return what;
}

/* Filters of one set can be merged whatever memory they were built in. */
static const char *cut_otherwise_it_merges(const subject *s) {
    if (s->can & TAMIS_OWN_HASH || strstr(s->options, "segment=")) return NULL;
    tamis *a = filled(s, N, 0.01, NULL, 0, N / 2),
          *b = filled(s, N, 0.01, ",segment=1024", N / 2, N);
    tamis *c = filled(s, N, 0.01, NULL, N / 2, N), *same;
    const char *what = NULL;
    if (tamis_copy(&same, a)) abort();
    if (tamis_merge(a, b) || tamis_merge(same, c)) what = wrong("%s", tamis_why());
    if (!what && count_keys(a, 0, N) != N) what = "keys are missing";
    if (!what && !same_payload(a, same)) what = "it is not what segments of one size give";
    tamis_free(a);
    tamis_free(b);
    tamis_free(c);
    tamis_free(same);
    return what;
}

/* ---- What is built once --------------------------------------------------------------------- */

static const char *built_once(const subject *s) {
    tamis *f = NULL, *old;
    const char *what = NULL;
    if (tamis_create(&f, spec_of(s, N, 0.01, NULL)) != TAMIS_UNSUPPORTED || f || !*tamis_why())
        return "it is made without its keys";
    f = filled(s, N, 0.01, NULL, 0, N);
    if (tamis_copy(&old, f)) abort();
    bool is_new;
    if (tamis_add(f, "x", 1) != TAMIS_UNSUPPORTED || tamis_add_hash(f, 1) != TAMIS_UNSUPPORTED ||
        tamis_add_new(f, "x", 1, &is_new) != TAMIS_UNSUPPORTED)
        what = "a key is added to what was built";
    if (!test_is_same_image(f, old)) what = "what was refused changed it";
    tamis_free(f);
    tamis_free(old);
    return what;
}

/* Keys added later are as good as those added first. */
static const char *going_on_is_building_at_once(const subject *s) {
    tamis *first = filled(s, 2 * N, 0.01, NULL, 0, N), *f;
    tamis *whole = filled(s, 2 * N, 0.01, NULL, 0, 2 * N);
    const struct tamis_builder_options options = {.struct_size = sizeof options, .threads = 2};
    const char *what = NULL;
    intake in = {.subject = s};
    if (tamis_set_note(first, "comment", "kept")) abort();
    if (tamis_builder_continue(&in.builder, first, &options)) {
        what = wrong("%s", tamis_why());
    } else {
        take_in_keys(&in, N - 100, 2 * N);
        f = taken(&in);
        if (!same_payload(f, whole)) what = "going on gives other bytes than building at once";
        if (!tamis_note(f, "comment")) what = "notes are lost";
        tamis_free(f);
    }
    tamis_free(first);
    tamis_free(whole);
    return what;
}

/* Every listed key is found, each once, and a filter built from the list is the same. */
static const char *list_builds_it_again(const subject *s) {
    tamis *f = filled(s, N, 0.01, NULL, 0, N), *g;
    intake in = open_builder(s, spec_of(s, N, 0.01, NULL), NULL);
    const char *what = NULL;
    const uint64_t items = test_info(f).items;
    uint64_t cursor = 0, hash, label, listed = 0;
    while (!what && tamis_next(f, &cursor, &hash, &label)) {
        if (!tamis_has_hash(f, hash)) what = "what is listed is not there";
        if (++listed > items) what = "the list does not end";
        if (!what && s->can & TAMIS_CAN_LABEL &&
            tamis_builder_label(in.builder, tamis_label_name(f, label)))
            what = wrong("%s", tamis_why());
        if (!what && tamis_builder_add_hash(in.builder, hash)) what = wrong("%s", tamis_why());
    }
    g = taken(&in);
    /* Two keys that the filter cannot distinguish may be one of the list. */
    if (!what && !is_rare(items - listed, items, 0.01))
        what = wrong("%llu keys are listed as %llu", (unsigned long long)items,
                     (unsigned long long)listed);
    if (!what && !same_payload(f, g)) what = "a filter made from the list differs";
    tamis_free(f);
    tamis_free(g);
    return what;
}

/* ---- Values --------------------------------------------------------------------------------- */

static uint64_t hash_at(const tamis *f, uint64_t i) {
    char buffer[32];
    const struct tamis_key key = key_at(i, buffer);
    return tamis_hash(f, key.bytes, key.len);
}

/* Where a value of 0 means none, there is none. */
static uint64_t value_at(const tamis *f, uint64_t i, uint64_t max) {
    const uint64_t value = value_of(hash_at(f, i), max);
    return value ? value : 1;
}

/* Kinds that take values later get half of them that way, and half from a builder before. */
static tamis *with_values(const subject *s) {
    if (s->can & TAMIS_IS_BUILT) return filled(s, N, 0.01, NULL, 0, N);
    intake in = open_builder(s, spec_of(s, N, 0.01, NULL), NULL);
    tamis *hasher = filled(s, N, 0.01, NULL, 0, 0);
    const uint64_t max = in.max_value;
    for (uint64_t i = 0; i < N / 2; i++)
        if (tamis_builder_put_hash(in.builder, hash_at(hasher, i), value_at(hasher, i, max)))
            abort();
    tamis_free(hasher);
    tamis *f = taken(&in);
    for (uint64_t i = N / 2; i < N; i++)
        if (tamis_put_hash(f, hash_at(f, i), value_at(f, i, max))) abort();
    return f;
}

/* One by one and in batches, by key and by hash. What was built is exact; kinds that take values
 * later return no less than what was put, and more only at the false-positive rate. */
static const char *values_come_back(const subject *s) {
    tamis *f = with_values(s);
    const uint64_t max = max_value_of(f);
    const bool is_exact = s->can & TAMIS_IS_BUILT;
    static uint64_t hashes[4 * N], values[4 * N];
    static uint8_t hit[4 * N];
    const char *what = NULL;
    uint64_t over = 0;
    for (uint64_t i = 0; i < 4 * N; i++) hashes[i] = hash_at(f, i), values[i] = i;
    tamis_get_hashes(f, hashes, 4 * N, values, hit);
    for (uint64_t i = 0; i < 4 * N && !what; i++) {
        char buffer[32];
        const struct tamis_key key = key_at(i, buffer);
        const uint64_t put = is_exact ? value_of(hashes[i], max) : value_at(f, i, max);
        uint64_t value = i;
        const bool has = tamis_get(f, key.bytes, key.len, &value);
        if (has != hit[i] || value != values[i]) what = "a batch gets other values";
        if (has != tamis_has(f, key.bytes, key.len)) what = "get and has disagree";
        if (!has && value != i) what = "a value is written for a key that is not there";
        if (i >= N) continue;
        if (!has) what = "a value is missing";
        if (value < put || (is_exact && value != put) || value > max)
            what = wrong("key %llu has %llu, not %llu", (unsigned long long)i,
                         (unsigned long long)value, (unsigned long long)put);
        over += value > put;
    }
    if (!what && !is_rare(over, N, 0.01))
        what = wrong("%llu of %d values are too high", (unsigned long long)over, N);
    tamis_free(f);
    return what;
}

/* A value that is set later is found; the others stay, and so does everything when it is
 * refused. */
static const char *put_changes_one_value(const subject *s) {
    tamis *f = filled(s, N, 0.001, NULL, 0, N), *old;
    const uint64_t max = max_value_of(f);
    const char *what = NULL;
    for (uint64_t i = 0; i < N && !what; i += 2)
        if (tamis_put_hash(f, hash_at(f, i), max - value_of(hash_at(f, i), max)))
            what = wrong("%s", tamis_why());
    for (uint64_t i = 0; i < N && !what; i++) {
        const uint64_t first = value_of(hash_at(f, i), max), want = i % 2 ? first : max - first;
        uint64_t value;
        if (!tamis_get_hash(f, hash_at(f, i), &value) || value != want)
            what = wrong("key %llu has another value", (unsigned long long)i);
    }
    if (tamis_copy(&old, f)) abort();
    for (uint64_t i = N; i < 2 * N && !what; i++)
        if (!count_keys(f, i, i + 1) && tamis_put_hash(f, hash_at(f, i), 1) != TAMIS_NOT_FOUND)
            what = "a stranger gets a value";
    if (!what && max < UINT64_MAX && tamis_put_hash(f, hash_at(f, 1), max + 1) != TAMIS_INVALID)
        what = "a value is taken that does not fit";
    if (!what && !test_is_same_image(f, old)) what = "what was refused changed the filter";
    tamis_free(f);
    tamis_free(old);
    return what;
}

/* Two values for one key: the builder reports which, and makes nothing. */
static const char *conflicts_are_told(const subject *s) {
    const bool has_good = takes_good(s), has_values = s->can & TAMIS_CAN_GET;
    intake in = open_intake(s, N, 0.01, NULL);
    const char *what = NULL;
    tamis *f = NULL;
    take_in_keys(&in, 0, N);
    const uint64_t hash = tamis_builder_hash(in.builder, "twice, 8", 8);
    tamis_status second = TAMIS_UNSUPPORTED;
    if (tamis_builder_add(in.builder, "twice, 8", 8)) what = tamis_why();
    if (has_good) second = tamis_builder_exclude(in.builder, "twice, 8", 8);
    if (has_values) second = tamis_builder_put(in.builder, "twice, 8", 8, in.max_value);
    const tamis_status rc = tamis_builder_finish(in.builder, &f);
    if (!has_good && tamis_builder_exclude_hash(in.builder, hash) == TAMIS_OK)
        what = "a kind without known-good keys takes one";
    if ((has_good || has_values) != (second == TAMIS_OK)) what = "a second word is refused";
    if ((has_good || has_values) != (rc == TAMIS_CONFLICT) || (rc && f))
        what = wrong("finishing gives %s", tamis_status_name(rc));
    if (!what && rc && tamis_builder_conflict(in.builder) != hash) what = "another key is blamed";
    tamis_builder_free(in.builder);
    tamis_free(f);
    return what;
}

/* ---- Known-good keys, labels ---------------------------------------------------------------- */

/* No is as certain as yes, for every key that the builder was given. */
static const char *known_good_stay_out(const subject *s) {
    static const uint64_t sizes[] = {1, 2, 100, N, 20000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && takes_good(s); k++) {
        tamis *f = filled(s, sizes[k], 0.01, NULL, 0, sizes[k]);
        uint64_t wrong_yes = 0, wrong_no = sizes[k] - count_keys(f, 0, sizes[k]);
        for (uint64_t i = 0; i < sizes[k]; i++)
            for (unsigned j = 0; j < GOOD_FOR_EACH; j++)
                wrong_yes += tamis_has_hash(f, good_of(hash_at(f, i), j));
        tamis_free(f);
        if (wrong_yes || wrong_no)
            return wrong("%llu of %llu good keys get a yes, %llu members a no",
                         (unsigned long long)wrong_yes,
                         (unsigned long long)sizes[k] * GOOD_FOR_EACH,
                         (unsigned long long)wrong_no);
    }
    return NULL;
}

static const char *names_are_kept(const tamis *f) {
    if (tamis_label_count(f) != LABELS) return "there are not as many labels as were named";
    for (uint64_t i = 0; i < LABELS; i++)
        if (strcmp(tamis_label_name(f, i), label_names[i]) != 0) return "a label has another name";
    return tamis_label_name(f, LABELS) ? "there is a label too many" : NULL;
}

/* A key has the labels it was given, and the other only at the false-positive rate. */
static const char *members_have_their_labels(const subject *s) {
    tamis *f = filled(s, N, 0.01, NULL, 0, N);
    const char *what = names_are_kept(f);
    uint64_t more = 0;
    for (uint64_t i = 0; i < 3 * N && !what; i++) {
        const uint64_t hash = hash_at(f, i);
        uint64_t labels[LABELS] = {LABELS, LABELS}, first = LABELS;
        const size_t n = tamis_labels_hash(f, hash, labels, LABELS);
        if (n > LABELS || (n == LABELS && labels[0] >= labels[1])) what = "labels are out of order";
        if ((n > 0) != tamis_has_hash(f, hash)) what = "labels and has disagree";
        if (tamis_labels_hash(f, hash, &first, 1) != n || (n && first != labels[0]))
            what = "in a small room there are other labels";
        if (n < LABELS && labels[n] != LABELS) what = "more labels are written than there are";
        if (i >= N) continue;
        if (n < 1u + has_second_label(hash) || labels[0] != 0)
            what = wrong("key %llu has lost a label", (unsigned long long)i);
        more += n > 1u + has_second_label(hash);
    }
    if (!what && !is_rare(more, N, tamis_fpr_now(f)))
        what = wrong("%llu of %d keys have a label of others", (unsigned long long)more, N);
    tamis_free(f);
    return what;
}

/* ---- Forged payloads ------------------------------------------------------------------------ */

/* All queries, on what the gate accepted. */
static void ask_everything(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    uint64_t hashes[40], values[40], labels[4], cursor = 0, hash, count;
    uint8_t hit[40];
    for (uint64_t i = 0; i < 40; i++) hashes[i] = i < 20 ? hash_at(f, i) : test_number(51, i);
    hashes[38] = 0, hashes[39] = UINT64_MAX;
    tamis_has_hashes(f, hashes, 40, hit);
    tamis_get_hashes(f, hashes, 40, values, hit);
    for (size_t i = 0; i < 40; i++) tamis_labels_hash(f, hashes[i], labels, 4);
    for (uint64_t i = 0; i < 4; i++) tamis_label_name(f, i);
    for (int i = 0; i < 4 * N && tamis_next(f, &cursor, &hash, &count);) i++;
    tamis_measure(f, &info);
}

/* Every word of the payload (of a large one its ends, where counts and offsets are, and some
 * between) gets values that such things break on, with matching checksums. What is accepted gets
 * all queries, before a guard page, and against a clock. */
static size_t next_to_forge(size_t at, size_t size) {
    enum { ENDS = 512, STRIDE = 9 * 8 };
    const bool is_large = size > 8 * ENDS;
    return at + (is_large && at > TEST_HEADER_BYTES + ENDS && at + ENDS < size ? STRIDE : 8);
}

static void try_forgeries(uint8_t *image, size_t size) {
    tamis *g;
    for (size_t at = TEST_HEADER_BYTES; at + 8 <= size; at = next_to_forge(at, size)) {
        uint64_t old, half;
        memcpy(&old, image + at, sizeof old);
        memcpy(&half, (const uint32_t[]){1, UINT32_MAX}, sizeof half);
        const uint64_t evil[] = {0,
                                 UINT64_MAX,
                                 ~old,
                                 old + 1,
                                 old - 1,
                                 old + 8,
                                 old - 8,
                                 size - 8,
                                 old + (1 << 20),
                                 half,
                                 old ^ test_number(52, at)};
        for (size_t i = 0; i < sizeof evil / sizeof *evil; i++) {
            memcpy(image + at, &evil[i], sizeof *evil);
            test_reseal(image, size);
            if (tamis_view(&g, image, size)) continue;
            ask_everything(g);
            tamis_free(g);
        }
        memcpy(image + at, &old, sizeof old);
    }
}

/* Processor time, so that a busy machine does not matter. */
static void limit_time(void) {
    const struct itimerval limit = {.it_value.tv_sec = effort(20) < 20 ? 200 : 5};
    signal(SIGVTALRM, SIG_DFL);
    if (setitimer(ITIMER_VIRTUAL, &limit, NULL)) abort();
}

static const char *forged_payloads_are_safe(const subject *s) {
    tamis *f = filled(s, N, 0.05, NULL, 0, N);
    const size_t size = (size_t)tamis_image_size(f), page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = (size / page + 1) * page;
    uint8_t *room =
        mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + pages, page, PROT_NONE)) abort();
    if (tamis_serialize(f, room + pages - size, size)) abort();
    tamis_free(f);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        signal(SIGFPE, SIG_DFL);
        limit_time();
        try_forgeries(room + pages - size, size);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) abort();
    munmap(room, pages + page);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM ? "a question does not end"
                                                                : "a forged payload is believed";
}

const law built_laws[] = {
    {"one_set_is_one_filter", 0, one_set_is_one_filter, TAMIS_AGES},
    {"every_kind_can_be_built", 0, every_kind_can_be_built, 0},
    {"spec_builds_it_again", 0, spec_builds_it_again, 0},
    {"file_is_the_image", 0, file_is_the_image, 0},
    {"memory_limit_is_kept", TAMIS_IS_BUILT, memory_limit_is_kept, 0},
    {"cut_otherwise_it_merges", TAMIS_IS_BUILT | TAMIS_CAN_MERGE, cut_otherwise_it_merges, 0},
    {"built_once", TAMIS_IS_BUILT, built_once, 0},
    {"going_on_is_building_at_once", TAMIS_IS_BUILT | TAMIS_CAN_LIST, going_on_is_building_at_once,
     0},
    {"list_builds_it_again", TAMIS_IS_BUILT | TAMIS_CAN_LIST, list_builds_it_again, 0},
    {"values_come_back", TAMIS_CAN_GET, values_come_back, 0},
    {"put_changes_one_value", TAMIS_IS_BUILT | TAMIS_CAN_PUT, put_changes_one_value, 0},
    {"conflicts_are_told", TAMIS_IS_BUILT, conflicts_are_told, 0},
    {"known_good_stay_out", TAMIS_IS_BUILT, known_good_stay_out, 0},
    {"members_have_their_labels", TAMIS_CAN_LABEL, members_have_their_labels, 0},
    {"forged_payloads_are_safe", TAMIS_IS_BUILT, forged_payloads_are_safe, 0},
    {NULL, 0, NULL, 0},
};
