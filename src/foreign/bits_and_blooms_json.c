/* SPDX-License-Identifier: MIT */
/* Filters of bits-and-blooms as JSON:
 *
 *     {"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAiAAAQ=="}
 *
 * where b is base64 of the length of the set of bits and of its words, 8 bytes each. Spaces and any
 * order of the three are accepted; the output is what Go writes. */
#include <stdio.h>
#include <string.h>

#include "foreign/base64.h"
#include "foreign/bits_and_blooms.h"

#define NAME "bits-and-blooms-json"

enum { SAID_ORDER, SAID_BASE64 };

static const struct tamis_option params[] = {
    {"order", "big|little", 0, 0, "big", "of the set of bits, when the process had switched it"},
    {"base64", "url|standard", 0, 0, "url", "alphabet, when the process had switched it"},
};

/* ---- A little JSON -------------------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *bytes;
    uint64_t at, size;
} cursor;

static void skip_space(cursor *c) {
    while (c->at < c->size && c->bytes[c->at] && strchr(" \t\r\n", c->bytes[c->at])) c->at++;
}

static bool take(cursor *c, char letter) {
    skip_space(c);
    if (c->at == c->size || c->bytes[c->at] != (uint8_t)letter) return false;
    c->at++;
    return true;
}

static bool take_number(cursor *c, uint64_t *x) {
    skip_space(c);
    const uint64_t from = c->at;
    *x = 0;
    for (; c->at < c->size && c->bytes[c->at] >= '0' && c->bytes[c->at] <= '9'; c->at++) {
        const uint64_t digit = (uint64_t)(c->bytes[c->at] - '0');
        if (*x > (UINT64_MAX - digit) / 10) return false;
        *x = *x * 10 + digit;
    }
    return c->at > from && (c->bytes[from] != '0' || c->at == from + 1);
}

static bool take_string(cursor *c, tamis_input *text) {
    if (!take(c, '"')) return false;
    text->bytes = c->bytes + c->at;
    const uint64_t from = c->at;
    while (c->at < c->size && c->bytes[c->at] != '"' && c->bytes[c->at] != '\\') c->at++;
    text->size = c->at - from;
    return take(c, '"');
}

typedef struct members {
    bool has_m, has_k, has_b;
    uint64_t m, k;
    tamis_input b;
} members;

static bool take_member(cursor *c, members *all) {
    tamis_input name;
    if (!take_string(c, &name) || name.size != 1 || !take(c, ':')) return false;
    bool *has = *name.bytes == 'm' ? &all->has_m : *name.bytes == 'k' ? &all->has_k : &all->has_b;
    if (*has || !strchr("mkb", *name.bytes) || !*name.bytes) return false;
    *has = true;
    if (*name.bytes == 'b') return take_string(c, &all->b);
    return take_number(c, *name.bytes == 'm' ? &all->m : &all->k);
}

static bool take_object(const tamis_input *in, members *all) {
    cursor c = {in->bytes, 0, in->size};
    bool is_right = take(&c, '{') && take_member(&c, all);
    while (is_right && take(&c, ',')) is_right = take_member(&c, all);
    is_right = is_right && take(&c, '}') && all->has_m && all->has_k && all->has_b;
    skip_space(&c);
    return is_right && c.at == c.size;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Decodes the bytes of the set; false when some are not base64. */
static bool decode(const tamis_input *text, int alphabet, uint64_t max, uint8_t *to) {
    for (uint64_t i = 0, at = 0; i < text->size && at < max; i += 4) {
        uint8_t three[3];
        const int n = tamis__base64_get(text->bytes + i, alphabet, i + 4 == text->size, three);
        if (n == 0) return false;
        for (int j = 0; j < n && at < max; j++) to[at++] = three[j];
    }
    return true;
}

static tamis_status read(const tamis_input *in, const tamis_format_args *args,
                         tamis_import_result *out) {
    const int alphabet = (int)args->number[SAID_BASE64];
    members all = {0};
    uint8_t length[8];
    uint64_t size;
    if (!take_object(in, &all))
        return tamis__bad_format(NAME, "it should be {\"m\":bits,\"k\":hashes,\"b\":\"base64\"}");
    if (!tamis__base64_size(all.b.bytes, all.b.size, &size) || size < 8 || size % 8)
        return tamis__bad_format(NAME, "b is not base64 of words of 8 bytes");
    if (!decode(&all.b, alphabet, sizeof length, length))
        return tamis__bad_format(NAME, "b has letters that are not base64");
    const tamis_status rc = tamis__bnb_arrive(
        NAME, all.m, all.k, tamis__bnb_get(length, args->number[SAID_ORDER]), size / 8 - 1, out);
    if (rc) return rc;
    out->at[0] = args->number[SAID_ORDER];
    out->at[1] = (uint64_t)alphabet;
    out->at[2] = (uint64_t)(all.b.bytes - in->bytes);
    out->at[3] = all.b.size;
    return TAMIS_OK;
}

static tamis_status load(const tamis_input *in, const tamis_import_result *arrival, tamis_body *f) {
    const tamis_input text = {in->bytes + arrival->at[2], arrival->at[3], NULL};
    uint8_t *to = f->bytes + TAMIS_BNB_AT_LENGTH;
    uint64_t size;
    tamis__base64_size(text.bytes, text.size, &size);
    tamis__bnb_put(f->bytes, TAMIS_BNB_BIG, f->word[TAMIS_BNB_BITS]);
    tamis__bnb_put(f->bytes + 8, TAMIS_BNB_BIG, f->word[TAMIS_BNB_HASHES]);
    if (!decode(&text, (int)arrival->at[1], size, to))
        return tamis__bad_format(NAME, "b has letters that are not base64");
    for (uint64_t i = 0; i < size; i += 8)
        tamis__bnb_put(to + i, TAMIS_BNB_BIG, tamis__bnb_get(to + i, arrival->at[0]));
    return TAMIS_OK;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* Three words make 32 letters; only the last group may be shorter, and is padded. */
enum { WORDS = 3, LETTERS = 32 };

static uint64_t encode(const uint8_t *from, uint64_t words, const tamis_format_args *args,
                       uint8_t *text) {
    uint8_t bytes[8 * WORDS];
    uint64_t at = 0;
    for (uint64_t i = 0; i < words; i++)
        tamis__bnb_put(bytes + 8 * i, args->number[SAID_ORDER],
                       tamis__bnb_get(from + 8 * i, TAMIS_BNB_BIG));
    for (uint64_t i = 0; i < 8 * words; i += 3, at += 4) {
        const uint64_t n = 8 * words - i < 3 ? 8 * words - i : 3;
        tamis__base64_put(bytes + i, (size_t)n, (int)args->number[SAID_BASE64], text + at);
    }
    return at;
}

static tamis_status write(const tamis_export_source *out, const tamis_format_args *args) {
    const tamis_body *f = out->body;
    const uint64_t words = tamis__bnb_words(f) + 1;
    char head[80];
    uint8_t text[64 * LETTERS];
    const int len = snprintf(head, sizeof head, "{\"m\":%llu,\"k\":%llu,\"b\":\"",
                             (unsigned long long)f->word[TAMIS_BNB_BITS],
                             (unsigned long long)f->word[TAMIS_BNB_HASHES]);
    tamis_status rc = tamis__export_write(out, head, (uint64_t)len);
    for (uint64_t i = 0, at = 0; !rc && i < words; i += WORDS) {
        const uint64_t n = words - i < WORDS ? words - i : WORDS;
        at += encode(f->bytes + TAMIS_BNB_AT_LENGTH + 8 * i, n, args, text + at);
        if (at < sizeof text && i + n < words) continue;
        rc = tamis__export_write(out, text, at);
        at = 0;
    }
    return rc ? rc : tamis__export_write(out, "\"}", 2);
}

const tamis_format tamis__format_bits_and_blooms_json = {
    .name = NAME,
    .system = "Go bits-and-blooms/bloom as JSON",
    .kinds = "bits-and-blooms",
    .keys = "utf8 bytes",
    .limits = "at most 255 hashes",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .read = read,
    .load = load,
    .write = write,
};
