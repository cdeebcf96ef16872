/* SPDX-License-Identifier: MIT */
/* Patches: turn one image into another. docs/format.md specifies them.
 *
 *       0  magic         8     32  checksum of the base      8
 *       8  version       2     40  checksum of the result    8
 *      10  coding        1     48  body size                 8
 *      11  zero          5     56  checksum of body + this   8
 *      16  base size     8     64  body
 *      24  result size   8
 *
 * A few added keys flip a few bits of many. So the body lists the positions of flipped bits: both
 * images are split into lines of 64 bytes, the number of equal lines up to the next changed one is
 * coded, and that line is halved, and its halves again, until each changed bit is found:
 *
 *     512 bits:  changed on the left? yes.   on the right? no.
 *     256 bits:    on the left? no.          (then on the right)
 *     ...
 *
 * Every decision has its own adaptive probability (ranges.h). In blocked filters a changed line has
 * a bit in nearly every word, in classic ones it has one bit, in counting ones the lowest bit of
 * four changes most often: after a few lines each kind has a code made for it, and nothing here
 * knows any kind. Nothing is allocated, and a patch takes two passes: the first finds its length.
 *
 * Where nearly everything changed, the result itself is the body. */
#include <string.h>

#include "base/status.h"
#include "base/structs.h"
#include "base/sums.h"
#include "bits/bits.h"
#include "file/ranges.h"
#include "hash/hash.h"
#include "tamis.h"
#include "tamis_parts.h"

enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_CODING = 10,
    AT_ZERO = 11,
    AT_BASE_SIZE = 16,
    AT_RESULT_SIZE = 24,
    AT_BASE_SUM = 32,
    AT_RESULT_SUM = 40,
    AT_BODY_SIZE = 48,
    AT_PATCH_SUM = 56,
    HEADER_BYTES = 64
};

enum { VERSION = 1 };
enum coding { WHOLE, CHANGES, CODINGS };
enum { LINE_BYTES = 64, LINE_BITS = 8 * LINE_BYTES, LINE_WORDS = LINE_BYTES / 8, LEVELS = 9 };

/* No image is larger. */
#define MAX_SIZE ((uint64_t)1 << 57)

/* Coded changes may expand to at most this multiple of the bytes at hand: a small patch cannot
 * demand all memory. */
enum { MAX_GROWTH = 4 };

static const uint8_t magic[8] = {0xd6, 'p', 'a', 't', 'c', 'h', 0x1a, 0x0a};

/* A run of bytes. */
typedef struct span {
    const uint8_t *at;
    uint64_t size;
} span;

static uint64_t sum_of(span bytes) {
    return tamis__checksum(bytes.at, (size_t)bytes.size, NULL, 0);
}

/* ---- The model ------------------------------------------------------------------------------- */

/* How a part of a line was reached: as half of a part whose other half did not change, or one of
 * two that did. */
enum origin { ALONE, LEFT_OF_TWO, RIGHT_OF_TWO, ORIGINS };

enum { LENGTH_BITS = 6, LENGTHS = 1 << LENGTH_BITS };

typedef struct model {
    tamis_chance left[LEVELS][ORIGINS], right[LEVELS][ORIGINS];
    tamis_chance length[LENGTHS];   /* the number of bits of a gap: a walk down a tree */
    tamis_chance upper[LENGTHS][4]; /* its two bits below the highest, likewise */
} model;

static void start(model *m) {
    tamis_chance *c = (tamis_chance *)m;
    for (size_t i = 0; i < sizeof *m / sizeof *c; i++) c[i] = (tamis_chance){TAMIS_CHANCE_HALF, 0};
}

/* ---- Numbers and lines: each function both writes and reads ---------------------------------- */

/* `bits` bits of a number, highest first; tree[1] predicts the first. */
static unsigned code_tree(tamis_ranges *r, tamis_chance *tree, unsigned number, unsigned bits) {
    unsigned node = 1;
    while (bits--) node = node << 1 | tamis__decide(r, &tree[node], number >> bits & 1);
    return node;
}

/* A number below 2^63: the length of number + 1, its next two bits, and the others as they are. */
static uint64_t code_number(tamis_ranges *r, model *m, uint64_t number) {
    const uint64_t more = number + 1;
    unsigned length = r->is_reader ? 0 : tamis__log2_floor(more);
    length = code_tree(r, m->length, length, LENGTH_BITS) - LENGTHS;
    const unsigned upper = length < 2 ? length : 2, lower = length - upper;
    uint64_t value = code_tree(r, m->upper[length], (unsigned)(more >> lower & 3), upper);
    value = value << lower | tamis__decide_bits(r, more, lower);
    return value - 1;
}

static bool is_any(const uint64_t word[LINE_WORDS], unsigned first, unsigned bits) {
    if (bits < 64) return word[first / 64] >> first % 64 & (((uint64_t)1 << bits) - 1);
    uint64_t any = 0;
    for (unsigned i = first / 64; i < (first + bits) / 64; i++) any |= word[i];
    return any != 0;
}

/* The changed bits of a part with at least one. */
static void code_part(tamis_ranges *r, model *m, uint64_t word[LINE_WORDS], unsigned first,
                      unsigned level, enum origin origin) {
    if (level == LEVELS) {
        word[first / 64] |= (uint64_t)1 << first % 64;
        return;
    }
    const unsigned half = (unsigned)LINE_BITS >> (level + 1);
    const bool left = tamis__decide(r, &m->left[level][origin], is_any(word, first, half));
    const bool right =
        !left || tamis__decide(r, &m->right[level][origin], is_any(word, first + half, half));
    if (left) code_part(r, m, word, first, level + 1, right ? LEFT_OF_TWO : ALONE);
    if (right) code_part(r, m, word, first + half, level + 1, left ? RIGHT_OF_TWO : ALONE);
}

/* ---- Lines of an image, padded with zeros past its end --------------------------------------- */

static uint64_t line_count(uint64_t size) {
    return (size + LINE_BYTES - 1) / LINE_BYTES;
}

static void load_line(span image, uint64_t line, uint64_t word[LINE_WORDS]) {
    const uint64_t at = line * LINE_BYTES;
    uint8_t padded[LINE_BYTES] = {0};
    const bool is_inside = at < image.size && image.size - at >= LINE_BYTES;
    if (!is_inside && at < image.size) memcpy(padded, image.at + at, (size_t)(image.size - at));
    const uint8_t *bytes = is_inside ? image.at + at : padded;
    for (int i = 0; i < LINE_WORDS; i++) word[i] = tamis__get64(bytes + 8 * i);
}

/* Computes which bits differ; false when none does. */
static bool load_change(span base, span result, uint64_t line, uint64_t word[LINE_WORDS]) {
    uint64_t old[LINE_WORDS], any = 0;
    load_line(base, line, old);
    load_line(result, line, word);
    for (int i = 0; i < LINE_WORDS; i++) any |= word[i] ^= old[i];
    return any != 0;
}

/* ---- Making a patch -------------------------------------------------------------------------- */

/* A base that is longer than the result is truncated, which takes nothing in the patch. */
static span cut(span base, uint64_t size) {
    if (base.size > size) base.size = size;
    return base;
}

/* Writes the changes to `put`; false when that stops. */
static bool write_changes(tamis_ranges *r, span base, span result, tamis_write_fn *put, void *ctx) {
    model m;
    uint64_t word[LINE_WORDS], gap = 0;
    const uint64_t lines = line_count(result.size);
    base = cut(base, result.size);
    start(&m);
    tamis__ranges_write(r, put, ctx);
    for (uint64_t line = 0; line < lines && !r->is_bad; line++) {
        if (!load_change(base, result, line, word)) {
            gap++;
            continue;
        }
        code_number(r, &m, gap);
        code_part(r, &m, word, 0, 0, ALONE);
        gap = 0;
    }
    if (gap) code_number(r, &m, gap);
    return tamis__ranges_end(r);
}

/* The first pass counts, and stops when the result itself would be shorter. */
typedef struct counting {
    tamis_sum sum;
    uint64_t left;
} counting;

static bool count_bytes(void *ctx, const void *bytes, size_t size) {
    counting *c = ctx;
    if (size >= c->left) return false;
    c->left -= size;
    tamis__sum_more(&c->sum, bytes, size);
    return true;
}

/* Two unrelated images differ in every second bit, or a few less where both have empty places.
 * Coding such an image would save a tenth at 0.2 s per megabyte; counting the bits takes a
 * hundredth of that. */
static bool is_all_new(span base, span result) {
    const uint64_t lines = line_count(result.size);
    uint64_t word[LINE_WORDS], changed = 0;
    base = cut(base, result.size);
    for (uint64_t line = 0; line < lines; line++)
        if (load_change(base, result, line, word))
            for (int i = 0; i < LINE_WORDS; i++) changed += tamis__popcount64(word[i]);
    const uint64_t bits = 8 * result.size;
    return changed > bits / 3 && changed < bits / 3 * 2;
}

static void write_header(uint8_t h[HEADER_BYTES], enum coding coding, span base, span result) {
    memset(h, 0, HEADER_BYTES);
    memcpy(h + AT_MAGIC, magic, sizeof magic);
    tamis__put16(h + AT_VERSION, VERSION);
    h[AT_CODING] = (uint8_t)coding;
    tamis__put64(h + AT_BASE_SIZE, base.size);
    tamis__put64(h + AT_RESULT_SIZE, result.size);
    tamis__put64(h + AT_BASE_SUM, sum_of(base));
    tamis__put64(h + AT_RESULT_SUM, sum_of(result));
}

/* Whether a patch of `patch_size` bytes may make a result of that size by changes. */
static bool may_grow(uint64_t base_size, uint64_t patch_size, uint64_t result_size) {
    return result_size / MAX_GROWTH <= base_size + patch_size;
}

/* Chooses the coding, and completes the header. */
static enum coding plan_patch(tamis_ranges *r, span base, span result, uint8_t h[HEADER_BYTES]) {
    counting c = {.left = result.size};
    tamis__sum_start(&c.sum);
    const bool is_coded = !is_all_new(base, result) &&
                          write_changes(r, base, result, count_bytes, &c) &&
                          may_grow(base.size, HEADER_BYTES + r->written, result.size);
    write_header(h, is_coded ? CHANGES : WHOLE, base, result);
    if (!is_coded) {
        tamis__sum_start(&c.sum);
        tamis__sum_more(&c.sum, result.at, (size_t)result.size);
    }
    tamis__put64(h + AT_BODY_SIZE, is_coded ? r->written : result.size);
    tamis__sum_more(&c.sum, h, AT_PATCH_SUM);
    tamis__put64(h + AT_PATCH_SUM, tamis__sum_end(&c.sum));
    return is_coded ? CHANGES : WHOLE;
}

static tamis_status tell(const uint8_t h[HEADER_BYTES], struct tamis_patch_info *info) {
    const struct tamis_patch_info known = {
        .patch_bytes = HEADER_BYTES + tamis__get64(h + AT_BODY_SIZE),
        .base_bytes = tamis__get64(h + AT_BASE_SIZE),
        .result_bytes = tamis__get64(h + AT_RESULT_SIZE),
        .base_sum = tamis__get64(h + AT_BASE_SUM),
        .result_sum = tamis__get64(h + AT_RESULT_SUM),
        .is_whole = h[AT_CODING] == WHOLE,
    };
    return tamis__fill_struct(info, &known, sizeof known, "patch_info");
}

tamis_status tamis_patch_make(const void *base, size_t base_size, const void *result,
                              size_t result_size, struct tamis_patch_info *info,
                              tamis_write_fn *put, void *ctx) {
    const span from = {base, base_size}, to = {result, result_size};
    tamis_ranges ranges;
    uint8_t header[HEADER_BYTES];
    if (from.size > MAX_SIZE || to.size > MAX_SIZE)
        return tamis__fail(TAMIS_TOO_LARGE, "images of a patch have at most 2^57 bytes");
    const enum coding coding = plan_patch(&ranges, from, to, header);
    const tamis_status rc = tell(header, info);
    if (rc || !put) return rc;
    bool is_done = put(ctx, header, sizeof header);
    if (is_done && coding == WHOLE)
        is_done = to.size == 0 || put(ctx, to.at, to.size);
    else if (is_done)
        is_done = write_changes(&ranges, from, to, put, ctx);
    return is_done ? TAMIS_OK : tamis__fail(TAMIS_CANCELLED, "the writer cancelled");
}

/* ---- Reading a patch ------------------------------------------------------------------------- */

static tamis_status corrupt(const char *what) {
    return tamis__fail(TAMIS_CORRUPT, "damaged: %s", what);
}

/* The caller's bytes may change while we read: checks work on a copy of the header. */
static tamis_status check_start(span patch, uint8_t h[HEADER_BYTES]) {
    if (patch.size >= HEADER_BYTES) memcpy(h, patch.at, HEADER_BYTES);
    if (patch.size < HEADER_BYTES || memcmp(h + AT_MAGIC, magic, sizeof magic) != 0)
        return tamis__fail(TAMIS_CORRUPT, "not a Tamis patch: wrong magic bytes");
    if (tamis__get16(h + AT_VERSION) == 0) return corrupt("patch version 0 is invalid");
    if (tamis__get16(h + AT_VERSION) > VERSION)
        return tamis__fail(TAMIS_TOO_NEW, "patch version %d needs a newer Tamis than %s",
                           tamis__get16(h + AT_VERSION), tamis_version());
    return TAMIS_OK;
}

/* Checks every number of the header against the bytes at hand. */
static tamis_status check_sizes(span patch, const uint8_t h[HEADER_BYTES]) {
    static const uint8_t zero[AT_BASE_SIZE - AT_ZERO];
    const uint64_t base = tamis__get64(h + AT_BASE_SIZE), result = tamis__get64(h + AT_RESULT_SIZE),
                   body = tamis__get64(h + AT_BODY_SIZE);
    if (body > patch.size - HEADER_BYTES) return corrupt("the patch is truncated");
    if (!tamis__sums_match(tamis__get64(h + AT_PATCH_SUM),
                           tamis__checksum(patch.at + HEADER_BYTES, (size_t)body, h, AT_PATCH_SUM)))
        return corrupt("the patch's checksum is wrong");
    if (h[AT_CODING] >= CODINGS)
        return tamis__fail(TAMIS_TOO_NEW, "coding %d of a patch needs a newer Tamis than %s",
                           h[AT_CODING], tamis_version());
    if (memcmp(h + AT_ZERO, zero, sizeof zero) != 0)
        return corrupt("bytes 11 to 15 of the patch are not zero");
    if (base > MAX_SIZE || result > MAX_SIZE) return corrupt("an image cannot be that large");
    if (h[AT_CODING] == WHOLE && body != result)
        return corrupt("the sizes of the patch do not add up");
    if (h[AT_CODING] == CHANGES && !may_grow(base, HEADER_BYTES + body, result))
        return corrupt("the result is too large for its patch");
    return TAMIS_OK;
}

tamis_status tamis_patch_get_info(const void *patch, size_t patch_size,
                                  struct tamis_patch_info *info) {
    const span bytes = {patch, patch_size};
    uint8_t header[HEADER_BYTES];
    tamis_status rc = check_start(bytes, header);
    if (!rc) rc = check_sizes(bytes, header);
    return rc ? rc : tell(header, info);
}

tamis_status tamis_patch_fits(const void *base, size_t base_size,
                              const struct tamis_patch_info *info) {
    const span from = {base, base_size};
    struct tamis_patch_info known;
    const tamis_status rc = tamis__read_struct(info, &known, sizeof known, "patch_info");
    if (rc) return rc;
    const uint64_t sum = sum_of(from);
    if (base_size == known.base_bytes && tamis__sums_match(known.base_sum, sum)) return TAMIS_OK;
    if (base_size == known.result_bytes && sum == known.result_sum)
        return tamis__fail(TAMIS_MISMATCH,
                           "the patch is already applied: the image with checksum %016llx is its "
                           "result",
                           (unsigned long long)sum);
    return tamis__fail(TAMIS_MISMATCH,
                       "the patch is for another image, with checksum %016llx; this "
                       "one has %016llx",
                       (unsigned long long)known.base_sum, (unsigned long long)sum);
}

/* ---- Applying a patch ------------------------------------------------------------------------ */

/* The result starts as the base, padded with zeros. */
static void start_result(span base, uint8_t *result, uint64_t size) {
    const uint64_t shared = base.size < size ? base.size : size;
    if (shared) memcpy(result, base.at, (size_t)shared);
    if (size > shared) memset(result + shared, 0, (size_t)(size - shared));
}

/* Flips the bits of a line; false when one is past the end. */
static bool change_line(uint8_t *result, uint64_t size, uint64_t line,
                        const uint64_t word[LINE_WORDS]) {
    const uint64_t at = line * LINE_BYTES;
    const uint64_t here = size - at < LINE_BYTES ? size - at : LINE_BYTES;
    uint8_t flips[LINE_BYTES];
    for (int i = 0; i < LINE_WORDS; i++) tamis__put64(flips + 8 * i, word[i]);
    for (uint64_t i = 0; i < here; i++) result[at + i] ^= flips[i];
    for (uint64_t i = here; i < LINE_BYTES; i++)
        if (flips[i]) return false;
    return true;
}

static bool read_changes(span body, uint8_t *result, uint64_t size) {
    tamis_ranges r;
    model m;
    const uint64_t lines = line_count(size);
    start(&m);
    tamis__ranges_read(&r, body.at, (size_t)body.size);
    for (uint64_t line = 0; line < lines; line++) {
        const uint64_t gap = code_number(&r, &m, 0);
        if (r.is_bad || gap > lines - line) return false;
        line += gap;
        if (line == lines) break;
        uint64_t word[LINE_WORDS] = {0};
        code_part(&r, &m, word, 0, 0, ALONE);
        if (r.is_bad || !change_line(result, size, line, word)) return false;
    }
    return tamis__ranges_end(&r);
}

tamis_status tamis_patch_apply(const void *base, size_t base_size, const void *patch,
                               size_t patch_size, void *result, size_t result_size) {
    const span from = {base, base_size};
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    tamis_status rc = tamis_patch_get_info(patch, patch_size, &info);
    if (!rc && info.patch_bytes != patch_size) rc = corrupt("extra bytes after the patch");
    if (!rc) rc = tamis_patch_fits(base, base_size, &info);
    if (rc) return rc;
    if (info.result_bytes != result_size)
        return tamis__fail(TAMIS_INVALID, "the result has %llu bytes, the room is for %zu",
                           (unsigned long long)info.result_bytes, result_size);

    const span body = {(const uint8_t *)patch + HEADER_BYTES, info.patch_bytes - HEADER_BYTES};
    uint8_t *made = result;
    bool is_good = true;
    if (info.is_whole) {
        if (result_size) memcpy(made, body.at, result_size);
    } else {
        start_result(from, made, result_size);
        is_good = read_changes(body, made, result_size);
    }
    if (!is_good) return corrupt("the changes in the patch are invalid");
    if (!tamis__sums_match(info.result_sum, sum_of((span){made, result_size})))
        return corrupt("the result does not match its checksum");
    return TAMIS_OK;
}
