/* SPDX-License-Identifier: MIT */
/* For core and tests: a spec, parsed and planned. */
#ifndef TAMIS_CORE_SPEC_H
#define TAMIS_CORE_SPEC_H

#include "hash/hash.h"
#include "kinds/kind.h"

typedef struct tamis_parsed_spec {
    const tamis_entry *entry;
    tamis_params params;
    bool has_capacity, has_fpr, has_bits, has_hash;
    bool is_unasked; /* options of the kind give the size, and no rate was requested */
    tamis_hash_mode mode;
    tamis_key_place key_place;
} tamis_parsed_spec;

tamis_status tamis__spec_parse(const char *text, tamis_parsed_spec *);

/* Parts of it, for formats, which have parameters of the same form: the index of a word in "a|b|c",
 * or -1; a part without the spaces around it, false when it is too long; and the value of an
 * option, false with an error message. */
int tamis__choice_index(const char *choices, const char *word);
bool tamis__copy_trimmed(char *to, size_t max, const char *from, size_t len);
bool tamis__parse_option(const struct tamis_option *, const char *value, uint64_t *out);

/* Has the option neither choices nor a range? */
bool tamis__is_text(const struct tamis_option *);

/* tamis__spec_parse for a builder, which can count: the capacity may be missing. */
tamis_status tamis__spec_parse_open(const char *text, tamis_parsed_spec *);

/* Mode, seed and secret for this spec; `secret` may be NULL. */
tamis_status tamis__make_hasher(const tamis_parsed_spec *, const uint8_t *secret, tamis_hasher *);

/* What a spec leads to: every number that is known before allocation. */
typedef struct tamis_shape {
    uint64_t capacity;
    double fpr; /* requested; 0 when the spec or options of the kind gave a size */
    uint64_t word[TAMIS_WORDS];
    uint64_t size;
} tamis_shape;

tamis_status tamis__request_plan(const tamis_parsed_spec *, tamis_shape *);

/* The bytes that a requested size is about: those of the whole, where a payload of these words is a
 * part; else `size`, the payload's. */
uint64_t tamis__wished_size(const tamis_kind *, const uint64_t word[], uint64_t size);

/* Counts up to this are never too low; 0 when the shape cannot count. */
uint64_t tamis__reliable_count(const tamis_kind *, const uint64_t word[]);

/* The kind's formula, and the floor that 64-bit hashes set for every rate. */
double tamis__expected_rate(const tamis_kind *, const uint64_t word[], uint64_t items);

/* The same at capacity, as plans and infos report it. */
double tamis__planned_rate(const tamis_kind *, const uint64_t word[], uint64_t capacity);

#endif
