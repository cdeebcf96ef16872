/* SPDX-License-Identifier: MIT */
/* Only for tests/laws.
 *
 * A law is a statement that every kind must satisfy. It takes a subject, a kind with one choice of
 * its options, and returns NULL when the law holds, else what went wrong. Laws look at abilities,
 * not at names: there is no list to edit when a kind is added. */
#ifndef TAMIS_TESTS_LAWS_H
#define TAMIS_TESTS_LAWS_H

#include "tamis.h"
#include "tests/support/filters.h"

typedef struct subject {
    char spec[96]; /* "kind:capacity=%llu,fpr=...": made by subject_spec */
    char name[64]; /* "classic/scheme=double", for reports */
    char options[64];
    struct tamis_kind_info kind;
    unsigned can; /* abilities with these options */
} subject;

typedef const char *law_fn(const subject *);

typedef struct law {
    const char *name;
    unsigned needs; /* abilities without which there is nothing to test */
    law_fn *holds;
    unsigned unless; /* abilities any of which excuses a kind */
} law;

/* Kinds of other systems: their plans have the size that their origin would choose. */
bool is_foreign(const subject *);

/* Every file adds its laws to this list. */
extern const law membership_laws[], byte_laws[], set_laws[], failure_laws[], thread_laws[],
    change_laws[], key_laws[], program_laws[], built_laws[], difference_laws[], trace_laws[],
    growth_laws[], small_laws[], form_laws[], host_laws[];

/* How often to try: `times`, or a twentieth in a build that checks every access and is that much
 * slower (TAMIS_QUICK is set). Bounds are exact for any number of probes. */
uint64_t effort(uint64_t times);

/* Is an event of probability `rate` no more frequent than chance allows, in `count` of `n`? */
bool is_rare(uint64_t count, uint64_t n, double rate);

/* A description of what went wrong; the text is valid until the next call. */
const char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Making subjects ---- */

/* The subject's spec with a capacity, a rate and more, such as ",seed=3". */
const char *spec_of(const subject *, uint64_t capacity, double fpr, const char *more);

/* A filter, or a failed test: these specs must work. All with sip13 have the same secret, so that
 * no test depends on luck, and two of the same spec can be merged. */
tamis *make(const subject *, uint64_t capacity, double fpr, const char *more);

/* The shortest key that the subject takes: empty, or one zero byte with TAMIS_NO_EMPTY_KEY. */
struct tamis_key min_key(void);

/* Keys of a test: the i-th is a text or an integer by its parity, and the 0th is the shortest; all
 * are integers for kinds that take nothing else. */
extern bool only_numbers; /* the running law is about keys of 8 bytes */
struct tamis_key key_at(uint64_t i, char buffer[32]);

/* ---- Making filters with keys ----
 *
 * Some kinds take adds, others are built. An intake is either: the filter, or the builder of one.
 * Where keys have values, each has one that follows from its hash; where they have labels, all have
 * the first and some the second, so that the rate is that of the first; where a kind takes
 * known-good keys, each key adds two of them. */
typedef struct intake {
    const subject *subject;
    tamis *filter; /* one of the two */
    tamis_builder *builder;
    uint64_t max_value;
} intake;

intake open_intake(const subject *, uint64_t capacity, double fpr, const char *more);

/* A builder, of any kind; without `options` there is only the secret. */
intake open_builder(const subject *, const char *spec, const struct tamis_builder_options *options);

/* TAMIS_FULL for kinds of fixed room; any other failure ends the test. */
tamis_status take_in(intake *, const void *key, size_t len);
uint64_t take_in_keys(intake *, uint64_t from, uint64_t to);

/* Ends the intake and returns the filter. */
tamis *taken(intake *);

/* All in one: a filter with the keys [from, to), or with as many as there is room for. */
tamis *filled(const subject *, uint64_t capacity, double fpr, const char *more, uint64_t from,
              uint64_t to);

/* The secret, for creating a filter or a builder directly. */
const struct tamis_options *secret_options(const char *spec);

/* What an intake added for a hash. */
enum { LABELS = 2, GOOD_FOR_EACH = 2 };
extern const char *const label_names[LABELS];
uint64_t value_of(uint64_t hash, uint64_t max_value);
bool has_second_label(uint64_t hash);
uint64_t good_of(uint64_t hash, unsigned i);

/* The largest value that a filter holds; 0 for kinds without values. */
uint64_t max_value_of(const tamis *);

/* Does the kind take keys that it must answer no? */
bool takes_good(const subject *);

/* Is it a part of a whole, whose keys it cannot count? */
bool needs_capacity(const subject *);

/* Adds keys [from, to) and returns how many: fewer only when the filter is full. */
uint64_t add_keys(tamis *, uint64_t from, uint64_t to);

/* Counts those of the keys [from, to) that are found. */
uint64_t count_keys(const tamis *, uint64_t from, uint64_t to);

bool same_payload(const tamis *, const tamis *);

/* The same answers to keys [from, to), members and non-members. Of sketches, which answer all keys
 * alike, the same bytes. */
bool same_answers(const tamis *, const tamis *, uint64_t from, uint64_t to);

#endif
