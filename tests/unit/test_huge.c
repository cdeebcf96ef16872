/* SPDX-License-Identifier: MIT */
/* Payloads of more than 2^32 bytes, in untouched virtual memory: a 32-bit index, size or product
 * loses keys, or puts all of them into one part of the payload. Covers every kind of the registry
 * that grows with its capacity; `make big` fills such filters to capacity, in minutes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/spec.h"
#include "tests/support/keys.h"

enum { KEYS = 512, SLICES = 16 };
#define MIN_BYTES   (((uint64_t)1 << 32) + ((uint64_t)1 << 30))
#define MAX_BYTES   ((uint64_t)1 << 40)
#define SMALL_BYTES ((uint64_t)1 << 20)

/* ---- Bodies without core, which would read every byte ---------------------------------------- */

/* Plans for the smallest power of two of keys whose payload has at least `min` bytes. */
static bool plan(const tamis_kind *kind, uint64_t min, tamis_shape *shape) {
    for (int e = 10; e < 48; e++) {
        char spec[128];
        tamis_parsed_spec request;
        snprintf(spec, sizeof spec, "%s:capacity=%llu", kind->name, 1ull << e);
        if (tamis__spec_parse(spec, &request) || tamis__request_plan(&request, shape)) return false;
        if (shape->size >= min) return shape->size <= MAX_BYTES;
    }
    return false;
}

static tamis_body empty_body(const tamis_kind *kind, const tamis_shape *shape) {
    tamis_body f = {.kind = kind, .size = shape->size};
    memcpy(f.word, shape->word, sizeof f.word);
    f.bytes = mmap(NULL, (size_t)f.size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(f.bytes, MAP_FAILED);
    madvise(f.bytes, (size_t)f.size, MADV_NOHUGEPAGE);
    if (kind->start) kind->start(&f);
    return f;
}

/* Hashes, and keys for the kinds that hash keys themselves. */
static uint64_t hash[KEYS];
static struct tamis_key key[KEYS];

static tamis_batch batch_for(const tamis_kind *kind) {
    return tamis__hashes_itself(kind) ? tamis__keys(key, KEYS) : tamis__hashes(hash, KEYS);
}

static tamis_status add(const tamis_kind *kind, tamis_body *f) {
    return kind->add(f, batch_for(kind));
}

static unsigned found(const tamis_kind *kind, const tamis_body *f) {
    uint8_t hit[KEYS];
    unsigned n = 0;
    kind->query(f, batch_for(kind), hit);
    for (int i = 0; i < KEYS; i++) n += hit[i];
    return n;
}

/* ---- Where the keys went --------------------------------------------------------------------- */

static unsigned touched_pages(const tamis_body *f, unsigned char *page, size_t pages) {
    bool slice[SLICES] = {false};
    unsigned n = 0;
    assert_int_equal(mincore(f->bytes, (size_t)f->size, page), 0);
    for (size_t i = 0; i < pages; i++)
        if (page[i] & 1) slice[i * SLICES / pages] = true;
    for (int i = 0; i < SLICES; i++) n += slice[i];
    return n;
}

/* The number of slices of the payload with a page that was read or written. */
static unsigned slices_of_pages(const tamis_body *f) {
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE),
                 pages = (size_t)((f->size + bytes - 1) / bytes);
    unsigned char *page = malloc(pages);
    assert_non_null(page);
    const unsigned n = touched_pages(f, page, pages);
    free(page);
    return n;
}

/* The number of slices of a small payload with a byte that differs from the empty one. */
static unsigned slices_of_bytes(const tamis_body *f, const tamis_body *empty) {
    bool slice[SLICES] = {false};
    unsigned n = 0;
    for (uint64_t i = 0; i < f->size; i++)
        if (f->bytes[i] != empty->bytes[i]) slice[i * SLICES / f->size] = true;
    for (int i = 0; i < SLICES; i++) n += slice[i];
    return n;
}

/* Kinds with several parts fill the first one first; a small filter shows how far keys spread. */
static unsigned spread_of_small(const tamis_kind *kind) {
    tamis_shape shape;
    assert_true(plan(kind, SMALL_BYTES, &shape));
    tamis_body f = empty_body(kind, &shape);
    const tamis_body empty = empty_body(kind, &shape);
    assert_int_equal(add(kind, &f), TAMIS_OK);
    const unsigned n = slices_of_bytes(&f, &empty);
    munmap(f.bytes, (size_t)f.size);
    munmap(empty.bytes, (size_t)empty.size);
    return n;
}

static bool try_kind(const tamis_kind *kind) {
    tamis_shape shape;
    if (!kind->add || !kind->query) return false;
    if (!plan(kind, MIN_BYTES, &shape)) return false;
    tamis_body f = empty_body(kind, &shape);
    assert_int_equal(add(kind, &f), TAMIS_OK);
    const unsigned spread = slices_of_pages(&f), in_small = spread_of_small(kind),
                   n = found(kind, &f);
    if (n < KEYS) fail_msg("%s loses %u of %d keys", kind->name, KEYS - n, KEYS);
    if (spread < in_small)
        fail_msg("%s puts keys into %u of %d slices, and into %u of a small one", kind->name,
                 spread, SLICES, in_small);
    assert_int_equal(munmap(f.bytes, (size_t)f.size), 0);
    return true;
}

static void places_have_64_bits(void **state) {
    (void)state;
    unsigned tried = 0;
    if (sizeof(size_t) < 8) skip();
    for (uint64_t i = 0; i < KEYS; i++) {
        hash[i] = test_number(3, i);
        key[i] = (struct tamis_key){&hash[i], sizeof hash[i]};
    }
    for (size_t i = 0; i < tamis__kind_count(); i++) tried += try_kind(tamis__kind_at(i)->kind);
    print_message("# %u kinds\n", tried);
    assert_true(tried >= 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_have_64_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
