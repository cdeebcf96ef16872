/* SPDX-License-Identifier: MIT */
/* What the gate and every foreign reader decide about each byte of a valid file, pinned.
 *
 *     tests/golden/decisions.txt: SUBJECT FILE ENDS MAP DIGEST
 *
 * SUBJECT is "image" or a format; FILE is a golden image, exported to that format, or a file of
 * tests/vectors. Each of the first and last ENDS bytes is changed to twelve other values: each bit
 * flipped, one more, one less, 0 and 255. Long files are long by their bits; sizes and names are at
 * the ends, and some imports take milliseconds. In the MAP, "-12" means twelve bytes that must not
 * change, "+8" eight that may be anything, "3" a byte for which three of the twelve values are
 * accepted; after the slash is the number of accepted lengths, of those within ENDS of either end
 * and one more. The DIGEST covers all answers: the status, and the header of what was accepted,
 * with its payload checksum. The SUBJECT "shape" covers only the words of an image: the min and max
 * of each, with the step between them if it is not 1. A field that is no longer checked, or only
 * half read, changes the line. Checksums are off in this program, so that the later checks show.
 *
 *     UPDATE=1 build/tests/unit/test_decisions     rewrites the lines; read the diff
 *     build/tests/unit/test_decisions NAME         only the lines that contain NAME */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bits/bits.h"
#include "hash/hash.h"
#include "kinds/kind.h"
#include "tamis_formats.h"
#include "tests/support/foreign.h"
#include "tests/support/seal.h"

#define TABLE "tests/golden/decisions.txt"

enum { LINE = 1 << 15, VALUES = 12 };

/* As in tests/golden/make: bytes 0, 1, ... 15. */
static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};

/* ---- One decision ---------------------------------------------------------------------------- */

static bool stir_found(void *ctx, const struct tamis_found *found) {
    uint64_t *digest = ctx;
    const uint64_t place[2] = {found->offset, found->size};
    *digest = tamis__checksum((const uint8_t *)found->choose, strlen(found->choose), place,
                              sizeof place) +
              31 * *digest;
    return true;
}

/* Whether the bytes are accepted; all that comes of them goes into the digest. */
static bool decide(const char *subject, const uint8_t *bytes, size_t size, uint64_t *digest) {
    tamis *f;
    uint8_t header[TEST_HEADER_BYTES] = {0};
    tamis_status rc;
    if (strcmp(subject, "image") == 0) {
        rc = tamis_view_with(&f, bytes, size, &options);
    } else {
        *digest += (uint64_t)(int64_t)tamis_format_scan(subject, bytes, size, stir_found, digest);
        rc = tamis_import_with(&f, subject, bytes, size, &options);
    }
    if (!rc) assert_int_equal(tamis_serialize_at(f, 0, header, sizeof header), TAMIS_OK);
    tamis_free(f);
    const int64_t status = rc;
    *digest = tamis__checksum(header, sizeof header, &status, sizeof status) + 31 * *digest;
    return !rc;
}

/* ---- A file ---------------------------------------------------------------------------------- */

typedef struct map {
    char text[LINE];
    size_t len;
    char sign; /* of the pending run */
    size_t run;
} map;

static void end_run(map *m) {
    if (m->run) m->len += (size_t)sprintf(m->text + m->len, "%c%zu ", m->sign, m->run);
    m->run = 0;
}

static void note(map *m, unsigned let_in) {
    assert_true(m->len < LINE - 64);
    const char sign = let_in == 0 ? '-' : let_in == VALUES ? '+' : 0;
    if (sign != m->sign || !sign) end_run(m);
    m->sign = sign;
    if (sign)
        m->run++;
    else
        m->len += (size_t)sprintf(m->text + m->len, "%u ", let_in);
}

static uint8_t value_of(uint8_t byte, unsigned which) {
    if (which < 8) return (uint8_t)(byte ^ 1u << which);
    const uint8_t others[] = {(uint8_t)(byte + 1), (uint8_t)(byte - 1), 0, 255};
    const uint8_t value = others[which - 8];
    return value == byte ? byte ^ 0x55 : value;
}

static bool is_near_an_end(size_t at, size_t size, size_t ends) {
    return at < ends || at + ends >= size;
}

static uint64_t sweep(const char *subject, test_file file, size_t ends, map *m) {
    uint64_t digest = 0;
    size_t lengths = 0;
    uint8_t *bytes = malloc(file.size + 1);
    assert_non_null(bytes);
    memcpy(bytes, file.bytes, file.size);
    bytes[file.size] = 0;
    if (!decide(subject, bytes, file.size, &digest)) fail_msg("%s: %s", subject, tamis_why());
    for (size_t i = 0; i < file.size; i++) {
        if (!is_near_an_end(i, file.size, ends)) continue;
        unsigned let_in = 0;
        for (unsigned which = 0; which < VALUES; which++) {
            bytes[i] = value_of(file.bytes[i], which);
            let_in += decide(subject, bytes, file.size, &digest);
        }
        bytes[i] = file.bytes[i];
        note(m, let_in);
    }
    end_run(m);
    for (size_t size = 0; size <= file.size + 1; size++)
        if (size != file.size && is_near_an_end(size, file.size, ends))
            lengths += decide(subject, bytes, size, &digest);
    sprintf(m->text + m->len, "/%zu", lengths);
    free(bytes);
    return digest;
}

static test_file read_whole(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is not there", path);
    test_file file = {malloc(1 << 20), 0};
    assert_non_null(file.bytes);
    file.size = fread(file.bytes, 1, 1 << 20, f);
    fclose(f);
    return file;
}

/* A golden image, as it is or exported to a format; or a file of another system. */
static test_file sound_file(const char *subject, const char *name) {
    char path[512];
    const char *dot = strrchr(name, '.');
    if (!dot || strcmp(dot, ".tamis") != 0) return test_vector(name);
    snprintf(path, sizeof path, "tests/golden/%s", name);
    const test_file image = read_whole(path);
    if (strcmp(subject, "image") == 0 || strcmp(subject, "shape") == 0) return image;
    tamis *f;
    if (tamis_load_with(&f, image.bytes, image.size, &options))
        fail_msg("%s: %s", path, tamis_why());
    const test_file file = test_export(f, subject);
    tamis_free(f);
    free(image.bytes);
    return file;
}

/* ---- A shape --------------------------------------------------------------------------------- */

/* The words of an image, as its kind checks them. Bisection, in the kind's steps, finds the min and
 * max of a word; values around every power of two go into the digest, with payload sizes. */
typedef struct shape_trial {
    const tamis_kind *kind;
    uint64_t word[TAMIS_WORDS];
    uint64_t digest;
} shape_trial;

static bool is_legal(shape_trial *t, int at, uint64_t value) {
    const uint64_t right = t->word[at];
    uint64_t said[2] = {0, 0};
    t->word[at] = value;
    said[0] = (uint64_t)(int64_t)t->kind->check(t->word, &said[1]);
    if (said[0]) said[1] = 0;
    t->word[at] = right;
    t->digest = tamis__checksum(said, sizeof said, &value, sizeof value) + 31 * t->digest;
    return !said[0];
}

static uint64_t step_of(shape_trial *t, int at) {
    for (uint64_t step = 1; step <= 512; step *= 2)
        if (is_legal(t, at, t->word[at] + step) || is_legal(t, at, t->word[at] - step)) return step;
    return 1;
}

/* The farthest legal value in a direction, by bisection; with gaps, the end of some range. */
static uint64_t farthest(shape_trial *t, int at, uint64_t step, bool is_up) {
    const uint64_t from = t->word[at];
    uint64_t good = 0, bad = (is_up ? UINT64_MAX - from : from) / step + 1;
    while (bad - good > 1) {
        const uint64_t middle = good + (bad - good) / 2;
        if (is_legal(t, at, is_up ? from + middle * step : from - middle * step))
            good = middle;
        else
            bad = middle;
    }
    return is_up ? from + good * step : from - good * step;
}

static uint64_t limits(test_file image, map *m) {
    const tamis_entry *entry = tamis__kind_by_id(tamis__get32(image.bytes + 12));
    shape_trial t = {.kind = entry->kind};
    for (int i = 0; i < TAMIS_WORDS; i++)
        t.word[i] = tamis__get64(image.bytes + TEST_WORDS_AT + 8 * i);
    for (int i = 0; i < TAMIS_WORDS; i++) {
        if (!t.kind->word[i]) continue;
        const uint64_t step = step_of(&t, i), min = farthest(&t, i, step, false),
                       max = farthest(&t, i, step, true);
        m->len += (size_t)sprintf(m->text + m->len, "%s=%llu..%llu", t.kind->word[i],
                                  (unsigned long long)min, (unsigned long long)max);
        m->len += (size_t)sprintf(m->text + m->len, step > 1 ? "/%u " : " ", (unsigned)step);
        for (int e = 0; e < 64; e++)
            for (uint64_t more = 0; more < 3; more++)
                is_legal(&t, i, ((uint64_t)1 << e) + more - 1);
    }
    if (m->len) m->text[m->len - 1] = '\0';
    return t.digest;
}

/* ---- The table ------------------------------------------------------------------------------- */

enum { WORD = 128 };

typedef struct subject {
    char name[WORD], file[WORD];
    size_t ends;
} subject;

static subject read_subject(const char *line) {
    subject s;
    if (sscanf(line, "%127s %127s %zu", s.name, s.file, &s.ends) != 3)
        fail_msg("a line of no subject: %s", line);
    return s;
}

static bool is_wanted(const subject *s, const char *word) {
    return strstr(s->name, word) || strstr(s->file, word);
}

/* The line of the table as of now. */
static void decide_all(const subject *s, char line[2 * LINE]) {
    static map m;
    const test_file file = sound_file(s->name, s->file);
    m = (map){.len = 0};
    const bool is_shape = strcmp(s->name, "shape") == 0;
    const uint64_t digest = is_shape ? limits(file, &m) : sweep(s->name, file, s->ends, &m);
    snprintf(line, 2 * LINE, "%s %s %zu %s %016llx", s->name, s->file, s->ends, m.text,
             (unsigned long long)digest);
    free(file.bytes);
}

static void decisions_are_as_they_were(void **state) {
    static char line[2 * LINE], now[2 * LINE];
    const bool updates = getenv("UPDATE");
    unsigned changed = 0, subjects = 0;
    FILE *table = fopen(TABLE, "r"), *updated = updates ? fopen(TABLE ".new", "w") : NULL;
    assert_true(table && (!updates || updated));
    while (fgets(line, sizeof line, table)) {
        line[strcspn(line, "\n")] = '\0';
        const subject s = read_subject(line);
        const bool is_asked = is_wanted(&s, *state);
        if (is_asked) decide_all(&s, now);
        subjects += is_asked;
        if (updated) fprintf(updated, "%s\n", is_asked ? now : line);
        if (updated || !is_asked || strcmp(line, now) == 0) continue;
        print_message("# was %s\n# now %s\n", line, now);
        changed++;
    }
    fclose(table);
    if (updated) assert_true(fclose(updated) == 0 && rename(TABLE ".new", TABLE) == 0);
    assert_true(subjects > 0);
    assert_int_equal(changed, 0);
}

/* 2^32 more bytes, before or after: 32-bit lengths would see the valid image. The pages are never
 * written, and a view takes no memory for them; an import would copy them all. */
static void a_length_has_64_bits(void **state) {
    static char line[2 * LINE];
    const uint64_t more = (uint64_t)1 << 32;
    FILE *table = fopen(TABLE, "r");
    assert_non_null(table);
    while (sizeof(size_t) > 4 && fgets(line, sizeof line, table)) {
        const subject s = read_subject(line);
        if (strcmp(s.name, "image") != 0 || !is_wanted(&s, *state)) continue;
        const test_file file = sound_file(s.name, s.file);
        const size_t size = file.size + (size_t)more;
        uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_ptr_not_equal(bytes, MAP_FAILED);
        for (int at_end = 0; at_end < 2; at_end++) {
            tamis *f;
            memset(bytes, 0, file.size);
            memcpy(bytes + (at_end ? more : 0), file.bytes, file.size);
            if (!tamis_view_with(&f, bytes, size, &options))
                fail_msg("%s: 4 GiB more are let in", s.file);
        }
        assert_int_equal(munmap(bytes, size), 0);
        free(file.bytes);
    }
    fclose(table);
}

int main(int argc, char **argv) {
    char none[] = "", *wanted = argc > 1 ? argv[1] : none;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(decisions_are_as_they_were, wanted),
        cmocka_unit_test_prestate(a_length_has_64_bits, wanted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
