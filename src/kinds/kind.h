/* Whoever makes, runs or tests kinds may include this: kinds, file, core, tests.
 *
 * A filter is a kind, a few shape words and one flat payload. This header is the contract between
 * core, which owns memory, hashing and files, and a kind, which only knows shapes and bits. */
#ifndef TAMIS_KINDS_KIND_H
#define TAMIS_KINDS_KIND_H

#include "base/status.h"
#include "tamis.h"

/* No payload is larger: sums of a few sizes then never overflow 64 bits. */
#define TAMIS_MAX_PAYLOAD_BYTES ((uint64_t)1 << 56)
#define TAMIS_MOST_CAPACITY     ((uint64_t)1 << 56)

/* What every kind works on; core owns the memory. */
typedef struct tamis_body {
    uint64_t word[TAMIS_WORDS]; /* shape: named by the kind, stored in the image */
    uint64_t items;             /* adds so far; kept by core */
    uint64_t size;              /* bytes of payload, always what check() says */
    uint8_t *bytes;             /* little-endian; aligned to 64 if core's, to nothing in a view */
} tamis_body;

/* A wish after parsing. Exactly one of fpr and bits is not zero when a kind gets to see it. */
typedef struct tamis_wish {
    uint64_t capacity;
    double fpr;
    uint64_t bits; /* the payload may have at most */
    uint64_t seed;
    uint64_t option[TAMIS_WORDS]; /* by index of the kind's options; choices as their index */
    bool has_option[TAMIS_WORDS];
} tamis_wish;

/* What the bits tell, measured in one pass. */
typedef struct tamis_measure {
    uint64_t bits_set, bits;
    double fpr;
    struct tamis_estimate items; /* infinite when saturated */
} tamis_measure;

/* A NULL entry is the statement "cannot": abilities are derived from it and kept nowhere else.
 * Work comes in batches of hashes; one key is a batch of one. Entries that return a status must
 * change nothing when they fail, and may leave a sentence with tamis__fail. */
typedef struct tamis_kind {
    const char *name;     /* one word, used in CLI, SQL, files, docs and tests; never changes */
    const char *contract; /* the promise in one line */
    const char *word[TAMIS_WORDS];      /* names of shape words; unnamed words are zero in images */
    const struct tamis_option *options; /* extra wishes as data, at most TAMIS_WORDS of them */
    size_t option_count;

    /* Shape: wish to words, pure arithmetic; words to bytes, the gate; what the words mean. */
    tamis_status (*plan)(const tamis_wish *, uint64_t word[]);
    tamis_status (*check)(const uint64_t word[], uint64_t *size);
    uint64_t (*probes)(const uint64_t word[]);
    double (*rate)(const uint64_t word[], uint64_t items); /* expected fpr, by formula */

    /* The rest of the gate: is what lies inside the payload legal? Words are checked already, and
     * the payload has the size that check() demanded. NULL: every payload of that size is legal. */
    tamis_status (*audit)(const tamis_body *);

    /* Asking and adding. add_shared may run on many threads, beside query. */
    void (*query)(const tamis_body *, const uint64_t *hash, size_t n, uint8_t *hit);
    tamis_status (*add)(tamis_body *, const uint64_t *hash, size_t n);
    void (*add_shared)(tamis_body *, const uint64_t *hash, size_t n);

    /* Kinds of other systems hash keys their own way; these two replace query and add. */
    void (*query_keys)(const tamis_body *, const struct tamis_key *, size_t n, uint8_t *hit);
    tamis_status (*add_keys)(tamis_body *, const struct tamis_key *, size_t n);

    /* How many more adds the body takes in its present shape; NULL: any number. Core never adds
     * more than that: it grows the body first, or answers TAMIS_FULL. */
    uint64_t (*room)(const tamis_body *);

    /* New shapes, given the present one in word[]: one with room for `need` more adds, and one
     * `by` times smaller. Core then makes a zeroed body of that shape and lets move() bring
     * everything over. A stack of bodies in one payload grows the same way, by a storey. */
    tamis_status (*grow)(const tamis_body *, uint64_t need, uint64_t word[]);
    tamis_status (*fold)(const tamis_body *, uint64_t by, uint64_t word[]);
    tamis_status (*move)(tamis_body *to, const tamis_body *from);

    /* Sets. Core has made sure that both bodies have the same words and the same hash. */
    tamis_status (*merge)(tamis_body *into, const tamis_body *from);
    tamis_status (*intersect)(tamis_body *into, const tamis_body *from);

    /* What the bits tell; with `other`, what the bits of both together tell. */
    void (*measure)(const tamis_body *, const tamis_body *other, tamis_measure *);
} tamis_kind;

/* The registry: every line of kinds.def, in order. The id is what images carry. */
typedef struct tamis_entry {
    uint32_t id;
    const tamis_kind *kind;
} tamis_entry;

size_t tamis__kind_count(void);
const tamis_entry *tamis__kind_at(size_t i);
const tamis_entry *tamis__kind_by_id(uint32_t id); /* NULL when there is none */
const tamis_entry *tamis__kind_by_name(const char *name, size_t len);

#endif
