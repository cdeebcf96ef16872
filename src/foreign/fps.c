/* SPDX-License-Identifier: MIT */
/* FPS, the text in which chemistry tools exchange fingerprints (Dalke 2010):
 *
 *     #FPS1
 *     #num_bits=166
 *     #type=OpenBabel-MACCS/1
 *     000000000000000000000200001002000004009508<tab>ethanol
 *
 * Two hex digits are a byte, and bit 0 is the lowest bit of the first byte, as in our rows.
 * All head lines are optional; without num_bits the first fingerprint gives the number, in whole
 * bytes. Lines end in LF or CR LF, and empty ones are skipped. What follows a second tab is not
 * part of the id, and is dropped.
 *
 * The head is kept as the image's note "head", and rows remember their order, so that the output
 * equals the input: with LF, lower-case digits, and the two first lines always there. */
#include "kinds/fingerprint.h"

#include <stdio.h>

#include "foreign/bytes.h"
#include "foreign/format.h"

#define NAME        "fps"
#define VERSION     "#FPS1"
#define NUMBER      "#num_bits="
#define MAX_HEAD    ((uint64_t)1 << 16)
#define ANY_VERSION "#FPS"

/* ---- Lines ---------------------------------------------------------------------------------- */

typedef struct lines {
    const tamis_input *in;
    uint64_t at, number; /* of the line that was read last, from 1 */
    const uint8_t *line;
    uint64_t size; /* without its end */
} lines;

static bool next_line(lines *l) {
    if (l->at >= l->in->size) return false;
    l->line = l->in->bytes + l->at;
    const uint64_t left = l->in->size - l->at;
    const uint8_t *end = memchr(l->line, '\n', (size_t)left);
    l->size = end ? (uint64_t)(end - l->line) : left;
    l->at += l->size + (end != NULL);
    if (l->size && l->line[l->size - 1] == '\r') l->size--;
    l->number++;
    return true;
}

static tamis_status not_line(const lines *l, const char *what) {
    return tamis__bad_format(NAME, "line %llu: %s", (unsigned long long)l->number, what);
}

static bool starts_with(const uint8_t *line, uint64_t size, const char *text) {
    const size_t len = strlen(text);
    return size >= len && memcmp(line, text, len) == 0;
}

/* ---- The head ------------------------------------------------------------------------------- */

static tamis_status read_number(const lines *l, uint64_t *width) {
    uint64_t number = 0, at = strlen(NUMBER), end = l->size;
    while (at < end && l->line[at] == ' ') at++;
    while (end > at && l->line[end - 1] == ' ') end--;
    const uint64_t from = at;
    for (; at < end && l->line[at] >= '0' && l->line[at] <= '9'; at++)
        if (number <= TAMIS_PRINT_MAX_BITS) number = number * 10 + (l->line[at] - '0');
    if (at == from || at < end || number < 1 || number > TAMIS_PRINT_MAX_BITS)
        return tamis__bad_format(NAME, "line %llu: num_bits is a number from 1 to %d",
                                 (unsigned long long)l->number, TAMIS_PRINT_MAX_BITS);
    if (*width) return not_line(l, "duplicate num_bits");
    *width = number;
    return TAMIS_OK;
}

static tamis_status read_head_line(const lines *l, uint64_t *width) {
    if (starts_with(l->line, l->size, ANY_VERSION) &&
        (l->number > 1 || l->size != strlen(VERSION) || l->line[4] != '1'))
        return not_line(l, "only " VERSION " is known, and only as the first line");
    if (memchr(l->line, '\0', (size_t)l->size)) return not_line(l, "it contains a NUL");
    return starts_with(l->line, l->size, NUMBER) ? read_number(l, width) : TAMIS_OK;
}

/* ---- Fingerprints --------------------------------------------------------------------------- */

static uint64_t digits_of(const lines *l) {
    uint64_t n = 0;
    while (n < l->size && tamis__hex_digit(l->line[n]) >= 0) n++;
    return n;
}

/* The id after `digits` digits. */
static tamis_input id_of(const lines *l, uint64_t digits) {
    tamis_input id = {l->line + digits, l->size - digits, NULL};
    if (id.size) id.bytes++, id.size--;
    const uint8_t *tab = id.size ? memchr(id.bytes, '\t', (size_t)id.size) : NULL;
    if (tab) id.size = (uint64_t)(tab - id.bytes);
    return id;
}

static uint8_t byte_at(const lines *l, uint64_t i) {
    return (uint8_t)(tamis__hex_digit(l->line[2 * i]) << 4 | tamis__hex_digit(l->line[2 * i + 1]));
}

static uint64_t set_bits_of(const lines *l, uint64_t bytes) {
    uint64_t set = 0;
    for (uint64_t i = 0; i < bytes; i++) set += tamis__popcount64(byte_at(l, i));
    return set;
}

static tamis_status check_print(const lines *l, uint64_t *width) {
    const uint64_t digits = digits_of(l);
    if (*width == 0 && digits % 2 == 0 && digits <= 2 * TAMIS_PRINT_MAX_BYTES) *width = digits * 4;
    const uint64_t bytes = tamis__fingerprint_bytes(*width);
    if (digits == 0) return not_line(l, "it does not start with the hex digits of a fingerprint");
    if (*width == 0)
        return tamis__bad_format(
            NAME, "line %llu: %llu hex digits are not whole bytes, or over %d of them",
            (unsigned long long)l->number, (unsigned long long)digits, TAMIS_PRINT_MAX_BYTES);
    if (digits != 2 * bytes)
        return tamis__bad_format(
            NAME, "line %llu: a fingerprint of %llu bits has %llu hex digits, not %llu",
            (unsigned long long)l->number, (unsigned long long)*width,
            (unsigned long long)bytes * 2, (unsigned long long)digits);
    if (digits < l->size && l->line[digits] != '\t')
        return not_line(l, "a tab and the id must follow the hex digits");
    if (*width % 8 && byte_at(l, bytes - 1) >> *width % 8)
        return tamis__bad_format(NAME, "line %llu: a bit after the %llu of num_bits is set",
                                 (unsigned long long)l->number, (unsigned long long)*width);
    const tamis_input id = id_of(l, digits);
    for (uint64_t i = 0; i < id.size; i++)
        if (id.bytes[i] < TAMIS_PRINT_MIN_LETTER)
            return not_line(l, "the id contains a control character");
    return TAMIS_OK;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* One pass over everything checks and counts. */
static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    (void)args;
    lines l = {.in = in};
    uint64_t width = 0, rows = 0, ids = 0, head = 0;
    tamis_status rc = TAMIS_OK;
    while (!rc && next_line(&l)) {
        if (l.size == 0) continue;
        if (l.line[0] == '#' && rows) return not_line(&l, "a head line follows a fingerprint");
        if (l.line[0] == '#') {
            rc = read_head_line(&l, &width);
            head = l.at;
            continue;
        }
        rc = check_print(&l, &width);
        if (rc) return rc;
        if (++rows > TAMIS_PRINT_MAX_ROWS) return not_line(&l, "over 2^32 - 1 fingerprints");
        ids += id_of(&l, 2 * tamis__fingerprint_bytes(width)).size + 1;
    }
    if (rc) return rc;
    if (width == 0) return tamis__bad_format(NAME, "it has neither #num_bits= nor a fingerprint");
    if (head > MAX_HEAD)
        return tamis__bad_format(NAME, "its head has %llu bytes, over %llu",
                                 (unsigned long long)head, (unsigned long long)MAX_HEAD);
    out->kind = TAMIS_FINGERPRINT;
    out->word[TAMIS_PRINT_WIDTH] = width;
    out->word[TAMIS_PRINT_ROWS] = rows;
    out->word[TAMIS_PRINT_IDS] = ids;
    out->hash = TAMIS_HASH_XXH3;
    out->capacity = out->items = rows;
    out->head = (tamis_input){in->bytes, head, NULL};
    return TAMIS_OK;
}

/* The next line with a fingerprint. */
static bool next_print(lines *l) {
    while (next_line(l))
        if (l->size && l->line[0] != '#') return true;
    return false;
}

static tamis_status load(const tamis_input *in, const tamis_import_result *arrival, tamis_body *f) {
    (void)arrival;
    const uint64_t bytes = tamis__fingerprint_bytes(f->word[TAMIS_PRINT_WIDTH]);
    for (lines l = {.in = in}; next_print(&l);)
        tamis__fingerprints_tally(f, set_bits_of(&l, bytes));
    tamis__fingerprints_open(f);
    uint64_t row = 0;
    for (lines l = {.in = in}; next_print(&l); row++) {
        const tamis_input id = id_of(&l, 2 * bytes);
        uint8_t *to = tamis__fingerprints_place(f, row, set_bits_of(&l, bytes), id.bytes, id.size);
        for (uint64_t i = 0; i < bytes; i++) to[i] = byte_at(&l, i);
    }
    tamis__fingerprints_close(f);
    return TAMIS_OK;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* The lines of the head beyond those always written. Users may have changed the note: only valid
 * head lines are written. */
static tamis_status write_head(const tamis_export_source *out) {
    char first[64];
    const tamis_input in = {(const uint8_t *)out->head, out->head ? strlen(out->head) : 0, NULL};
    const int len = snprintf(first, sizeof first, VERSION "\n" NUMBER "%llu\n",
                             (unsigned long long)out->body->word[TAMIS_PRINT_WIDTH]);
    tamis_status rc = tamis__export_write(out, first, (uint64_t)len);
    for (lines l = {.in = &in}; !rc && next_line(&l);) {
        if (!starts_with(l.line, l.size, "#") || starts_with(l.line, l.size, NUMBER) ||
            starts_with(l.line, l.size, ANY_VERSION))
            continue;
        while (l.line[l.size - 1] <= ' ') l.size--; /* it starts with # */
        rc = tamis__export_write(out, l.line, l.size);
        if (!rc) rc = tamis__export_write(out, "\n", 1);
    }
    return rc;
}

static tamis_status write_hex(const tamis_export_source *out, const uint8_t *print,
                              uint64_t bytes) {
    enum { AT_ONCE = 512 };
    char text[2 * AT_ONCE];
    tamis_status rc = TAMIS_OK;
    for (uint64_t from = 0, n; !rc && from < bytes; from += n) {
        n = bytes - from < AT_ONCE ? bytes - from : AT_ONCE;
        for (uint64_t i = 0; i < n; i++) {
            text[2 * i] = "0123456789abcdef"[print[from + i] >> 4];
            text[2 * i + 1] = "0123456789abcdef"[print[from + i] & 15];
        }
        rc = tamis__export_write(out, text, 2 * n);
    }
    return rc;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    (void)args;
    const tamis_body *f = out->body;
    const uint64_t bytes = tamis__fingerprint_bytes(f->word[TAMIS_PRINT_WIDTH]);
    tamis_status rc = write_head(out);
    for (uint64_t row = 0; !rc && row < f->word[TAMIS_PRINT_ROWS]; row++) {
        const char *id;
        const uint8_t *print;
        tamis__fingerprints_at(f, row, &id, &print);
        rc = write_hex(out, print, bytes);
        if (!rc) rc = tamis__export_write(out, "\t", 1);
        if (!rc) rc = tamis__export_write(out, id, strlen(id));
        if (!rc) rc = tamis__export_write(out, "\n", 1);
    }
    return rc;
}

const tamis_format tamis__format_fps = {
    .name = NAME,
    .system = "fingerprints of molecules: Open Babel, chemfp, RDKit",
    .kinds = TAMIS_FINGERPRINT,
    .keys = "bytes",
    .limits = "1 to 65536 bits; what follows an id is dropped",
    .read = read,
    .load = load,
    .write = write,
};
