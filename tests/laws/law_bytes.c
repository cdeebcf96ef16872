/* SPDX-License-Identifier: MIT */
/* Laws about bytes: an image is the filter, at any address, and nothing else is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "tests/laws/laws.h"
#include "tests/support/seal.h"

enum { N = 500, STRANGERS = 3000 };

static tamis *with_notes(const subject *s) {
    tamis *f = filled(s, N, 0.05, NULL, 0, N);
    if (tamis_set_note(f, "comment", "one sieve") || tamis_set_note(f, "a.source", "laws")) abort();
    return f;
}

static const char *save_load_same(const subject *s) {
    tamis *f = with_notes(s), *g = NULL, *h = NULL;
    size_t size, again_size = 0;
    uint8_t *image = test_image(f, &size), *again = NULL;
    const char *what = NULL;
    if (tamis_load(&g, image, size) || tamis_copy(&h, f)) {
        what = wrong("%s", tamis_why());
    } else {
        again = test_image(g, &again_size);
        if (again_size != size || memcmp(image, again, size) != 0)
            what = "load and save give other bytes";
        else if (!same_answers(f, g, 0, STRANGERS) || !same_answers(f, h, 0, STRANGERS))
            what = "a loaded filter or a copy answers otherwise";
        else if (strcmp(tamis_note(g, "comment"), "one sieve") != 0 || tamis_note(g, "other"))
            what = "notes are lost";
    }
    free(image);
    free(again);
    tamis_free(f);
    tamis_free(g);
    tamis_free(h);
    return what;
}

static const char *view_at_any_alignment(const subject *s) {
    tamis *f = with_notes(s);
    size_t size;
    uint8_t *image = test_image(f, &size), *room = malloc(size + 64);
    const char *what = NULL;
    for (size_t shift = 0; shift < 17 && !what; shift++) {
        tamis *view;
        memcpy(room + shift, image, size);
        if (tamis_view(&view, room + shift, size)) {
            what = wrong("view at %zu: %s", shift, tamis_why());
            break;
        }
        if (!same_answers(f, view, 0, STRANGERS))
            what = wrong("a view at offset %zu answers otherwise", shift);
        if (tamis_add(view, "x", 1) != TAMIS_READONLY) what = "a view lets itself be changed";
        if (s->can & TAMIS_CAN_PUT && tamis_put(view, "x", 1, 1) != TAMIS_READONLY)
            what = "a value of a view changed";
        if (tamis_set_note(view, "a", "b") != TAMIS_READONLY) what = "notes of a view changed";
        if (memcmp(room + shift, image, size) != 0) what = "the borrowed bytes changed";
        tamis_free(view);
    }
    free(image);
    free(room);
    tamis_free(f);
    return what;
}

/* The image ends at a guard page: one byte too far is a crash. In a child, because liars do
 * crash. */
static const char *reads_stay_inside(const subject *s) {
    tamis *f = with_notes(s);
    size_t size;
    uint8_t *image = test_image(f, &size);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size / page + 1) * page;
    uint8_t *room =
        mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + pages, page, PROT_NONE)) abort();
    memcpy(room + pages - size, image, size);
    /* Without notes, so that the payload itself touches the page. */
    const pid_t child = fork();
    if (child == 0) {
        tamis *view, *bare;
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        if (tamis_view(&view, room + pages - size, size) || !same_answers(f, view, 0, STRANGERS))
            _exit(1);
        if (tamis_set_note(f, "comment", NULL) || tamis_set_note(f, "a.source", NULL)) _exit(1);
        const size_t bare_size = (size_t)tamis_image_size(f);
        if (tamis_serialize(f, room + pages - bare_size, bare_size)) _exit(1);
        if (tamis_view(&bare, room + pages - bare_size, bare_size) ||
            !same_answers(f, bare, 0, STRANGERS))
            _exit(1);
        tamis_fpr_now(bare);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) abort();
    munmap(room, pages + page);
    free(image);
    tamis_free(f);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "a read went beyond the image";
}

/* Every bit flipped, every prefix, one byte more: all refused. Of large images only some, since
 * each is read whole; the stride is odd, so that no byte, and no bit of a byte, is always
 * skipped. */
static const char *damage_refused(const subject *s) {
    tamis *f = filled(s, 40, 0.05, NULL, 0, 40), *g;
    if (tamis_set_note(f, "comment", "short")) abort();
    size_t size;
    uint8_t *image = test_image(f, &size), *room = malloc(size + 1);
    const char *what = NULL;
    tamis_free(f);
    const size_t step = size / 65536 * 31 | 1;
    for (size_t i = 0; i < size * 8 && !what; i += step) {
        image[i / 8] ^= (uint8_t)(1 << i % 8);
        if (tamis_load(&g, image, size) == TAMIS_OK) what = wrong("bit %zu flipped is accepted", i);
        if (g) what = "a refused image left a handle";
        image[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t n = 0; n < size && !what; n += step) {
        /* In memory of exactly that length, so that a checked build sees every byte too far. */
        uint8_t *prefix = malloc(n ? n : 1);
        memcpy(prefix, image, n);
        if (tamis_load(&g, prefix, n) == TAMIS_OK) what = wrong("a prefix of %zu is accepted", n);
        free(prefix);
    }
    for (size_t at = 0; at <= size && !what; at += step) {
        memcpy(room, image, at);
        room[at] = 0;
        memcpy(room + at + 1, image + at, size - at);
        if (tamis_load(&g, room, size + 1) == TAMIS_OK) what = wrong("a byte more at %zu", at);
    }
    free(image);
    free(room);
    return what;
}

/* With matching checksums, a changed header may be a valid one; then the filter must be sound
 * enough to be queried, measured, and written again. Anything else is refused. */
static const char *forged_headers_are_safe(const subject *s) {
    tamis *f = filled(s, 40, 0.05, NULL, 0, 40), *g;
    size_t size;
    uint8_t *image = test_image(f, &size);
    const char *what = NULL;
    tamis_free(f);
    const int step = effort(256) < 256 ? 15 : 1; /* both ends, and some between */
    for (size_t at = 0; at < 176 && !what; at++)
        for (int value = 0; value < 256 && !what; value += step) {
            const uint8_t old = image[at];
            image[at] = (uint8_t)value;
            test_reseal(image, size);
            if (tamis_view(&g, image, size) == TAMIS_OK) {
                struct tamis_info info = TAMIS_INFO_INIT;
                char spec[256];
                count_keys(g, 0, 10);
                if (value % 8 == 0) tamis_measure(g, &info);
                if (value % 64 == 0) tamis_spec(g, spec, sizeof spec); /* plans: milliseconds */
                if (tamis_image_size(g) != size) what = wrong("byte %zu: another size", at);
                tamis_free(g);
            }
            image[at] = old;
        }
    free(image);
    return what;
}

/* Bits of the last word that no position reaches must be zero. */
static const char *stray_bits_refused(const subject *s) {
    char spec[128];
    tamis *f, *g;
    struct tamis_info info = TAMIS_INFO_INIT;
    snprintf(spec, sizeof spec, "%s:capacity=50,bits=1000%s", s->kind.name, s->options);
    if (tamis_create(&f, spec)) return NULL; /* this choice needs whole words */
    tamis_measure(f, &info);
    size_t size;
    uint8_t *image = test_image(f, &size);
    const char *what = NULL;
    tamis_free(f);
    for (int w = 0; w < TAMIS_WORDS; w++) {
        if (!info.word_name[w] || strcmp(info.word_name[w], "bits") != 0) continue;
        for (uint64_t i = info.word[w]; i < info.payload_bytes * 8 && !what; i++) {
            uint8_t *byte = image + TEST_HEADER_BYTES + i / 8;
            *byte ^= (uint8_t)(1 << i % 8);
            test_reseal(image, size);
            if (tamis_load(&g, image, size) == TAMIS_OK) {
                what = wrong("bit %llu of %llu is accepted", (unsigned long long)i,
                             (unsigned long long)info.word[w]);
                tamis_free(g);
            }
            *byte ^= (uint8_t)(1 << i % 8);
        }
    }
    free(image);
    return what;
}

/* Every subset of the CPU's features makes the same payload and the same answers. */
static const char *same_bytes_on_every_cpu(const subject *s) {
    const uint32_t features[] = {TAMIS_CPU_AVX2, TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512, TAMIS_CPU_NEON,
                                 TAMIS_CPU_TEST};
    const char *what = NULL;
    tamis__cpu_set(0);
    tamis *plain = filled(s, 3000, 0.05, NULL, 0, 3000);
    for (size_t i = 0; i < sizeof features / sizeof *features && !what; i++) {
        tamis__cpu_set(features[i]);
        tamis *other = filled(s, 3000, 0.05, NULL, 0, 3000);
        if (!same_payload(plain, other)) what = wrong("feature %zu gives other bytes", i);
        for (uint64_t k = 0; k < 9000 && !what; k++) {
            tamis__cpu_set(features[i]);
            const uint64_t a = count_keys(plain, k, k + 1);
            tamis__cpu_set(0);
            if (a != count_keys(plain, k, k + 1)) what = wrong("feature %zu answers otherwise", i);
        }
        tamis_free(other);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
    tamis_free(plain);
    return what;
}

const law byte_laws[] = {
    {"save_load_same", 0, save_load_same, 0},
    {"view_at_any_alignment", 0, view_at_any_alignment, 0},
    {"reads_stay_inside", 0, reads_stay_inside, 0},
    {"damage_refused", 0, damage_refused, 0},
    {"forged_headers_are_safe", 0, forged_headers_are_safe, 0},
    {"stray_bits_refused", 0, stray_bits_refused, TAMIS_OWN_HASH},
    {"same_bytes_on_every_cpu", 0, same_bytes_on_every_cpu, 0},
    {NULL, 0, NULL, 0},
};
