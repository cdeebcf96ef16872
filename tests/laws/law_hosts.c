/* SPDX-License-Identifier: MIT */
/* Laws about hosts: filters in their memory, payloads alone, slices of images, pages, calls that
 * they stop, bytes that they vouch for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tamis_pages.h"
#include "tests/laws/laws.h"
#include "tests/support/seal.h"

enum { N = 600, TWICE = 2 * N, CACHE_LINE = 64 };

static size_t round_up(size_t size) {
    return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static uint8_t *host_memory(size_t size) {
    uint8_t *memory = aligned_alloc(CACHE_LINE, round_up(size));
    if (!memory) abort();
    memset(memory, 0x5a, round_up(size)); /* what was there before must not matter */
    return memory;
}

static bool is_image_of(const uint8_t *memory, const tamis *f) {
    size_t size;
    uint8_t *image = test_image(f, &size);
    const bool is_same = memcmp(memory, image, size) == 0;
    free(image);
    return is_same;
}

/* ---- An image in memory of the host ---------------------------------------------------------- */

/* Two handles, one after the other, and the bytes of a filter that has memory of its own. */
static const char *changed_in_place(const subject *s, uint8_t *memory, size_t size) {
    const struct tamis_options *options = secret_options(s->options);
    tamis *own = make(s, N, 0.01, NULL), *f;
    const char *what = NULL;
    if (tamis_create_at(&f, memory, size, spec_of(s, N, 0.01, NULL), options)) return tamis_why();
    if (!is_image_of(memory, own)) what = "an empty one is another image than elsewhere";
    add_keys(f, 0, N / 2);
    add_keys(own, 0, N / 2);
    if (tamis_set_note(f, "comment", "at a host") || tamis_set_note(own, "comment", "at a host"))
        abort();
    if (!what && (tamis_sync(f) || !is_image_of(memory, own))) what = "after a sync it is another";
    tamis_free(f);
    if (what) goto done;
    if (tamis_attach(&f, memory, size, options)) {
        what = wrong("it cannot be attached to: %s", tamis_why());
        goto done;
    }
    add_keys(f, N / 2, N);
    add_keys(own, N / 2, N);
    if (tamis_sync(f) || !is_image_of(memory, own)) what = "after a second handle it is another";
    if (!what && !same_answers(f, own, 0, TWICE)) what = "it answers otherwise";
    tamis_free(f);
done:
    tamis_free(own);
    return what;
}

/* As many as fit: then TAMIS_FULL, and a valid image of those that did. */
static const char *full_at_the_end(const subject *s, uint8_t *memory, size_t size) {
    const struct tamis_options *options = secret_options(s->options);
    tamis *f, *loaded = NULL;
    const char *what = NULL;
    if (tamis_create_at(&f, memory, size, spec_of(s, N, 0.01, NULL), options)) return tamis_why();
    const uint64_t taken = add_keys(f, 0, 20 * N);
    if (tamis_sync(f) || tamis_load_with(&loaded, memory, (size_t)tamis_image_size(f), options))
        what = wrong("what is full is no image: %s", tamis_why());
    else if (tamis_image_size(f) > size)
        what = "it is larger than the memory";
    else if (!(s->can & TAMIS_AGES) && count_keys(loaded, 0, taken) != taken)
        what = "keys are lost where memory ends";
    for (size_t i = size; i < round_up(size) && !what; i++)
        if (memory[i] != 0x5a) what = "it wrote past the memory";
    tamis_free(loaded);
    tamis_free(f);
    return what;
}

static const char *memory_of_a_host_is_enough(const subject *s) {
    enum { ROOM = 40 };
    struct tamis_plan plan = test_plan(spec_of(s, N, 0.01, NULL));
    const size_t size = (size_t)plan.stored_bytes;
    uint8_t *memory = host_memory(ROOM * size + 4096);
    tamis *f;
    const char *what = changed_in_place(s, memory, ROOM * size + 4096);
    free(memory);
    memory = host_memory(size);
    if (!what) what = full_at_the_end(s, memory, size);
    if (!what && tamis_create_at(&f, memory, size - 1, spec_of(s, N, 0.01, NULL),
                                 secret_options(s->options)) != TAMIS_FULL)
        what = "memory that is too small is taken";
    free(memory);
    return what;
}

/* Any image can be attached to, also one of a kind that is built. */
static const char *attached_equals_loaded(const subject *s) {
    const struct tamis_options *options = secret_options(s->options);
    tamis *own = filled(s, N, 0.01, NULL, 0, N), *f = NULL;
    size_t size;
    uint8_t *image = test_image(own, &size), *memory = host_memory(size + 100);
    const char *what = NULL;
    memcpy(memory, image, size);
    if (tamis_attach(&f, memory, size + 100, options))
        what = wrong("an image is refused: %s", tamis_why());
    else if (!same_answers(f, own, 0, TWICE))
        what = "it answers otherwise";
    else if (tamis_sync(f) || memcmp(memory, image, size) != 0)
        what = "a sync without a change changes bytes";
    tamis_free(f);
    memory[size - 1] ^= 1;
    if (!what && (tamis_attach(&f, memory, size, options) != TAMIS_CORRUPT || f))
        what = "damage is attached to";
    free(memory);
    free(image);
    tamis_free(own);
    return what;
}

/* ---- A payload alone ------------------------------------------------------------------------- */

static const char *payload_alone_is_enough(const subject *s) {
    const struct tamis_options *options = secret_options(s->options);
    const char *spec = spec_of(s, N, 0.01, NULL);
    tamis *a = filled(s, N, 0.01, NULL, 0, N / 2), *b = filled(s, N, 0.01, NULL, N / 2, N), *f;
    uint64_t size, other_size;
    const void *first = tamis_payload(a, &size), *second = tamis_payload(b, &other_size);
    const char *what = NULL;
    tamis_status rc = tamis_view_payload(&f, spec, first, (size_t)size, options);
    if (rc == TAMIS_UNSUPPORTED && s->can & TAMIS_IS_BUILT) goto done;
    if (rc == TAMIS_CORRUPT && size != test_plan(spec).payload_bytes) goto done; /* it has grown */
    if (rc)
        what = wrong("a payload is refused: %s", tamis_why());
    else if (!same_answers(f, a, 0, TWICE))
        what = "a payload alone answers otherwise";
    else if (tamis_add(f, "x", 1) != TAMIS_READONLY)
        what = "a view can be changed";
    else if (tamis_set_payload(f, second, (size_t)size - 1) != TAMIS_CORRUPT ||
             !same_answers(f, a, 0, TWICE))
        what = "a payload of another size is taken";
    else if (size == other_size &&
             (tamis_set_payload(f, second, (size_t)size) || !same_answers(f, b, 0, TWICE)))
        what = "the second payload answers otherwise";
    tamis_free(f);
done:
    tamis_free(a);
    tamis_free(b);
    return what;
}

/* ---- A slice of an image --------------------------------------------------------------------- */

/* By a copy of the slice alone, whose end memory checkers know. */
static const char *asked_by_slice(const tamis *f, const uint8_t *image, size_t size,
                                  const struct tamis_options *options, struct tamis_key key) {
    struct tamis_slice slice = TAMIS_SLICE_INIT;
    uint64_t payload;
    const char *what = NULL;
    (void)tamis_payload(f, &payload);
    if (tamis_slice_find(&slice, image, size, options, key.bytes, key.len)) return tamis_why();
    if (slice.offset < TEST_HEADER_BYTES || slice.size > payload ||
        slice.offset - TEST_HEADER_BYTES > payload - slice.size)
        return "a slice is not in the payload";
    uint8_t *bytes = malloc(slice.size ? (size_t)slice.size : 1);
    if (!bytes) abort();
    memcpy(bytes, image + slice.offset, (size_t)slice.size);
    if (tamis_slice_has(&slice, bytes) != tamis_has(f, key.bytes, key.len))
        what = "a slice answers otherwise";
    if (slice.items != test_info(f).items || slice.notes_offset + slice.notes_size != size)
        what = "a slice says other things of its image";
    free(bytes);
    return what;
}

/* As with the whole image: its header is checked. */
static const char *slices_of_forged(uint8_t *image, size_t size,
                                    const struct tamis_options *options) {
    struct tamis_slice slice = TAMIS_SLICE_INIT;
    for (size_t i = 0; i < TEST_HEADER_BYTES; i++) {
        image[i] ^= 1;
        const tamis_status rc = tamis_slice_find(&slice, image, size, options, "x", 1);
        image[i] ^= 1;
        if (rc == TAMIS_OK) return wrong("byte %zu of the header of a slice is not checked", i);
    }
    if (tamis_slice_find(&slice, image, size - 1, options, "x", 1) != TAMIS_CORRUPT ||
        tamis_slice_find(&slice, image, TEST_HEADER_BYTES - 1, options, "x", 1) != TAMIS_CORRUPT ||
        tamis_slice_find(&slice, image, 0, options, "x", 1) != TAMIS_CORRUPT)
        return "a slice of an image that is cut short";
    return slice.size || slice.offset ? "a slice that was refused is filled in" : NULL;
}

static const char *slice_equals_whole(const subject *s) {
    const struct tamis_options *options = secret_options(s->options);
    struct tamis_slice slice = TAMIS_SLICE_INIT;
    tamis *f = filled(s, N, 0.01, NULL, 0, N);
    size_t size;
    char buffer[32];
    const char *value = "", *what = NULL;
    if (tamis_set_note(f, "encoding", "utf8")) abort();
    uint8_t *image = test_image(f, &size);
    const tamis_status rc = tamis_slice_find(&slice, image, size, options, "", 0);
    if (rc == TAMIS_UNSUPPORTED) goto done;
    if (rc) what = tamis_why();
    for (uint64_t i = 0; i < TWICE && !what; i++)
        what = asked_by_slice(f, image, size, options, key_at(i, buffer));
    if (!what) what = slices_of_forged(image, size, options);
    if (!what && (tamis_slice_note(image + slice.notes_offset, (size_t)slice.notes_size, "encoding",
                                   &value) ||
                  !value || strcmp(value, "utf8") != 0))
        what = "the notes of a slice are not those of its image";
done:
    free(image);
    tamis_free(f);
    return what;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

typedef struct page {
    uint8_t *bytes;
    size_t size;
} page;

static bool take_page(void *ctx, const void *bytes, size_t size) {
    page *p = ctx;
    p->bytes = realloc(p->bytes, p->size + size);
    if (!p->bytes) abort();
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
    return true;
}

/* N keys as a list. */
static const struct tamis_key *list_of_keys(void) {
    static char buffer[N][32];
    static struct tamis_key list[N];
    for (uint64_t i = 0; i < N; i++) list[i] = key_at(i, buffer[i]);
    return list;
}

/* The same keys in a filter. */
static tamis *with_list(const subject *s, const struct tamis_key *list) {
    tamis *f;
    tamis_status rc;
    if (s->can & TAMIS_IS_BUILT) {
        intake in = open_builder(s, spec_of(s, N, 0.01, NULL), NULL);
        rc = tamis_builder_add_many(in.builder, list, N);
        if (!rc) rc = tamis_builder_finish(in.builder, &f);
        tamis_builder_free(in.builder);
    } else {
        f = make(s, N, 0.01, NULL);
        rc = tamis_add_many(f, list, N);
    }
    if (rc) abort();
    return f;
}

/* Any bytes: memory checkers see whether others are read. */
static const char *hostile_pages(const tamis_page_policy *policy, const page *p) {
    for (size_t size = 0; size < p->size; size += size < 64 ? 1 : p->size / 64 + 1) {
        uint8_t *cut = malloc(size ? size : 1);
        if (!cut) abort();
        memcpy(cut, p->bytes + p->size - size, size);
        if (!tamis_page_has(policy, cut, size, "x", 1)) return "the end of a page is a page";
        free(cut);
    }
    for (unsigned change = 1; change < 256; change += 18)
        for (size_t i = 0; i < p->size; i += i + 100 < p->size ? p->size / 50 + 1 : 1) {
            p->bytes[i] ^= (uint8_t)change;
            (void)tamis_page_has(policy, p->bytes, p->size, "x", 1);
            p->bytes[i] ^= (uint8_t)change;
        }
    return NULL;
}

/* By a copy of its own, whose end memory checkers know. */
static const char *answers_of_a_page(const tamis_page_policy *policy, const page *p,
                                     const tamis *f) {
    char buffer[32];
    for (uint64_t i = 0; i < TWICE; i++) {
        const struct tamis_key key = key_at(i, buffer);
        if (tamis_page_has(policy, p->bytes, p->size, key.bytes, key.len) !=
            tamis_has(f, key.bytes, key.len))
            return "a page answers otherwise";
    }
    return NULL;
}

static const char *page_equals_filter(const subject *s) {
    char spec[160];
    tamis_page_policy *policy;
    page p = {NULL, 0};
    const char *what = NULL;
    snprintf(spec, sizeof spec, "%s:fpr=0.01%s", s->kind.name, s->options);
    const tamis_status rc = tamis_page_policy_create(&policy, spec, secret_options(spec));
    if (rc == TAMIS_UNSUPPORTED && s->can & (TAMIS_OWN_HASH | TAMIS_IS_SKETCH)) return NULL;
    if (rc == TAMIS_INVALID && needs_capacity(s)) return NULL;
    if (rc) return wrong("no pages: %s", tamis_why());
    const struct tamis_key *list = list_of_keys();
    if (tamis_page_make(policy, list, N, take_page, &p)) {
        what = wrong("no page: %s", tamis_why());
    } else {
        tamis *f = with_list(s, list);
        what = answers_of_a_page(policy, &p, f);
        if (!what) what = hostile_pages(policy, &p);
        tamis_free(f);
    }
    free(p.bytes);
    tamis_page_policy_free(policy);
    return what;
}

/* ---- Calls that are stopped ------------------------------------------------------------------ */

typedef struct patience {
    uint64_t asked, max;
} patience;

static bool is_enough(void *ctx) {
    patience *p = ctx;
    return ++p->asked > p->max;
}

/* Changes that bring everything to a new payload. */
static tamis_status change(const subject *s, tamis *f, int way) {
    static char buffer[20 * N][32];
    static struct tamis_key keys[20 * N];
    tamis *more;
    tamis_status rc = TAMIS_OK;
    if (way == 0 && s->can & TAMIS_CAN_RESIZE) rc = tamis_resize(f, 10 * N);
    if (way == 1 && s->can & TAMIS_CAN_FOLD) rc = tamis_fold(f, 2);
    if (way == 2 && s->can & TAMIS_CAN_ADD && s->can & TAMIS_CAN_GROW) {
        for (uint64_t i = 0; i < 20 * N; i++) keys[i] = key_at(i, buffer[i]);
        rc = tamis_add_many(f, keys, 20 * N);
    }
    if (way == 3 && s->can & TAMIS_IS_BUILT && s->can & TAMIS_CAN_MERGE) {
        more = filled(s, N, 0.01, NULL, N, TWICE);
        rc = tamis_merge(f, more);
        tamis_free(more);
    }
    return rc;
}

static const char *stopped_at(const subject *s, const uint8_t *image, size_t size,
                              struct tamis_options *options, int way) {
    patience *p = options->stop_ctx;
    tamis *f, *copy;
    const char *what = NULL;
    *p = (patience){.max = UINT64_MAX};
    if (tamis_load_with(&f, image, size, options)) return tamis_why();
    p->max = p->asked;
    if (tamis_copy(&copy, f) != TAMIS_CANCELLED || copy) what = "a copy is not stopped";
    for (uint64_t later = 0; later < 3 && !what; later++) {
        p->max = p->asked + later;
        const tamis_status rc = change(s, f, way);
        if (rc != TAMIS_CANCELLED) break; /* done, or not for this kind */
        if (!is_image_of(image, f)) what = wrong("way %d was stopped and left half done", way);
    }
    tamis_free(f);
    return what;
}

static const char *stopping_changes_nothing(const subject *s) {
    struct tamis_options options = *secret_options(s->options);
    patience p = {0};
    tamis *own = filled(s, N, 0.01, NULL, 0, N), *f;
    size_t size;
    uint8_t *image = test_image(own, &size);
    const char *what = NULL;
    options.should_stop = is_enough;
    options.stop_ctx = &p;
    if (tamis_load_with(&f, image, size, &options) != TAMIS_CANCELLED || f)
        what = "loading is not stopped";
    p = (patience){0};
    if (!what && (tamis_view_with(&f, image, size, &options) != TAMIS_CANCELLED || f))
        what = "viewing is not stopped";
    for (int way = 0; way < 4 && !what; way++) what = stopped_at(s, image, size, &options, way);
    free(image);
    tamis_free(own);
    return what;
}

/* Whenever it is asked. The same builder goes on each time. */
static const char *a_builder_can_be_stopped(const subject *s) {
    struct tamis_options options = *secret_options(s->options);
    patience p = {0};
    const struct tamis_builder_options how = {.struct_size = sizeof how, .filter = &options};
    options.should_stop = is_enough;
    options.stop_ctx = &p;
    intake in = open_builder(s, spec_of(s, N, 0.01, NULL), &how);
    take_in_keys(&in, 0, N);
    tamis *own = filled(s, N, 0.01, NULL, 0, N), *f;
    const char *what = NULL;
    while (!what && tamis_builder_finish(in.builder, &f) == TAMIS_CANCELLED) {
        if (f) what = "a stopped builder returns a filter";
        p = (patience){.max = p.max + 1};
    }
    if (!what && !f) what = wrong("a stopped builder cannot go on: %s", tamis_why());
    if (!what && p.max == 0) what = "finishing is not stopped";
    if (!what && !same_payload(f, own)) what = "a stopped builder makes other bytes";
    tamis_free(f);
    tamis_free(own);
    tamis_builder_free(in.builder);
    return what;
}

/* A copy is stopped by what its original was made with. */
static bool forgets_to_ask(tamis *f, patience *p) {
    tamis *copy = NULL;
    p->max = p->asked;
    const bool is_stopped = tamis_copy(&copy, f) == TAMIS_CANCELLED;
    p->max = UINT64_MAX;
    tamis_free(copy);
    tamis_free(f);
    return !is_stopped;
}

static const char *stopping_is_kept_however_made(const subject *s) {
    struct tamis_options options = *secret_options(s->options);
    patience p = {.max = UINT64_MAX};
    const struct tamis_builder_options how = {.struct_size = sizeof how, .filter = &options};
    tamis *own = filled(s, N, 0.01, NULL, 0, N), *f;
    const char *what = NULL;
    size_t size;
    uint8_t *image = test_image(own, &size);
    options.should_stop = is_enough;
    options.stop_ctx = &p;
    intake in = open_builder(s, spec_of(s, N, 0.01, NULL), &how);
    take_in_keys(&in, 0, N);
    if (forgets_to_ask(taken(&in), &p)) what = "what is built cannot be stopped";
    if (s->can & TAMIS_CAN_ADD &&
        (tamis_create_with(&f, spec_of(s, N, 0.01, NULL), &options) || forgets_to_ask(f, &p)))
        what = "what is created cannot be stopped";
    if (tamis_load_with(&f, image, size, &options) || forgets_to_ask(f, &p))
        what = "what is loaded cannot be stopped";
    if (tamis_view_with(&f, image, size, &options) || forgets_to_ask(f, &p))
        what = "what is viewed cannot be stopped";
    if (tamis_copy_with(&f, own, &options) || forgets_to_ask(f, &p))
        what = "what is copied cannot be stopped";
    free(image);
    tamis_free(own);
    return what;
}

/* ---- Bytes that passed before ---------------------------------------------------------------- */

/* What is trusted is not summed; its header is checked as ever. */
static const char *trust_is_for_content_alone(const subject *s) {
    struct tamis_options options = *secret_options(s->options);
    tamis *own = filled(s, N, 0.01, NULL, 0, N), *f;
    size_t size;
    uint8_t *image = test_image(own, &size);
    const char *what = NULL;
    options.is_trusted = true;
    if (tamis_view_with(&f, image, size, &options) || !same_answers(f, own, 0, TWICE))
        what = "a trusted view answers otherwise";
    tamis_free(f);
    image[size - 1] ^= 0x80; /* not to be asked: only whether it is looked at */
    if (!what && tamis_view_with(&f, image, size, &options)) what = "trusted content is checked";
    tamis_free(f);
    if (!what && tamis_load_with(&f, image, size, secret_options(s->options)) != TAMIS_CORRUPT)
        what = "trust lasts longer than a call";
    image[size - 1] ^= 0x80;
    for (size_t i = 0; i < TEST_HEADER_BYTES && !what; i++) {
        image[i] ^= 1;
        if (tamis_view_with(&f, image, size, &options) == TAMIS_OK)
            what = wrong("byte %zu of a trusted header is not checked", i);
        tamis_free(f);
        image[i] ^= 1;
    }
    if (!what && tamis_view_with(&f, image, size - 1, &options) != TAMIS_CORRUPT)
        what = "a trusted image may be cut short";
    free(image);
    tamis_free(own);
    return what;
}

const law host_laws[] = {
    {"memory_of_a_host_is_enough", TAMIS_CAN_ADD, memory_of_a_host_is_enough, TAMIS_IS_BUILT},
    {"attached_equals_loaded", 0, attached_equals_loaded, 0},
    {"payload_alone_is_enough", 0, payload_alone_is_enough, 0},
    {"slice_equals_whole", 0, slice_equals_whole, 0},
    {"page_equals_filter", 0, page_equals_filter, 0},
    {"stopping_changes_nothing", 0, stopping_changes_nothing, 0},
    {"a_builder_can_be_stopped", TAMIS_IS_BUILT, a_builder_can_be_stopped, 0},
    {"stopping_is_kept_however_made", 0, stopping_is_kept_however_made, 0},
    {"trust_is_for_content_alone", 0, trust_is_for_content_alone, 0},
    {NULL, 0, NULL, 0},
};
