/* SPDX-License-Identifier: MIT */
/* Whoever makes, runs or tests kinds may include this: kinds, file, core, tests.
 *
 * A filter is a kind, a few shape words and one flat payload. This header is the contract between
 * core, which owns memory, hashing and files, and a kind, which only knows shapes and bits. */
#ifndef TAMIS_KINDS_KIND_H
#define TAMIS_KINDS_KIND_H

#include "base/status.h"
#include "tamis.h"
#include "tamis_inline.h"
#include "tamis_special.h"

/* No payload is larger: sums of a few sizes then never overflow 64 bits. */
#define TAMIS_MAX_PAYLOAD_BYTES ((uint64_t)1 << 56)
#define TAMIS_MAX_CAPACITY      ((uint64_t)1 << 56)

/* How far a step of time has come that is made in parts, and which one. */
typedef struct tamis_leaving {
    uint64_t step, done;
} tamis_leaving;

/* What every kind works on; core owns the memory. A body knows its kind, so that one function can
 * serve a family of kinds: kind->own has what differs. */
typedef struct tamis_body {
    const struct tamis_kind *kind;
    uint64_t word[TAMIS_WORDS]; /* shape: named by the kind, stored in the image */
    uint64_t items;             /* adds so far; kept by core */
    uint64_t size;              /* bytes of payload, always what check() says */
    uint8_t *bytes;             /* little-endian; aligned to 64 if core's, to nothing in a view */
} tamis_body;

/* A wish after parsing. Exactly one of fpr and bits is not zero when a kind gets to see it. */
typedef struct tamis_params {
    uint64_t capacity;
    double fpr;
    uint64_t bits; /* the payload may have at most */
    uint64_t seed;
    uint64_t option[TAMIS_WORDS]; /* by index of the kind's options; choices as their index */
    bool has_option[TAMIS_WORDS];
} tamis_params;

/* What the bits tell, measured in one pass. `bits_set` of `bits` is the fill; kinds with counters
 * or slots count those instead. */
typedef struct tamis_measurement {
    uint64_t bits_set, bits;
    double fpr;
    struct tamis_estimate items; /* distinct keys; infinite when saturated */
    uint64_t affected;           /* how many things the caveat is about; 0 and "" from core */
    char caveat[128];            /* what the contract promises and this body no longer can */
} tamis_measurement;

/* Rare abilities, a few entries each. */

/* Two arrays of so many bits in a payload, by the bit where each begins: what neighbours are to
 * know of a set, and what they were told. */
typedef struct tamis_logged {
    uint64_t n, summary, told;
} tamis_logged;

/* Which bits of a summary flipped since `forget`, and where it lies. */
typedef struct tamis_log_facet {
    bool (*next)(const tamis_body *, uint64_t *cursor, uint64_t *position, bool *is_set);
    void (*forget)(tamis_body *);
    tamis_logged (*arrays)(const tamis_body *);
} tamis_log_facet;

/* A set for each distance. */
typedef struct tamis_level_facet {
    unsigned (*level)(const tamis_body *, uint64_t hash); /* the nearest, from 1; 0: none */
    void (*merge_farther)(tamis_body *into, const tamis_body *from);
} tamis_level_facet;

/* Bits given up on purpose. Core gives `scratch` counters, zeroed, one list for the troublesome
 * and one for the keys, and has checked that the way has the lists it needs. */
typedef struct tamis_retouch_task {
    enum tamis_retouch_policy way;
    const uint64_t *trouble, *keys;
    size_t trouble_count, key_count;
    uint64_t seed;
    uint32_t *trouble_at, *keys_at;
} tamis_retouch_task;

typedef struct tamis_retouch_facet {
    uint64_t (*scratch)(const uint64_t word[]);
    void (*clear)(tamis_body *, const tamis_retouch_task *, struct tamis_retouch_stats *);
    void (*clear_share)(tamis_body *, double share, uint64_t seed, struct tamis_retouch_stats *);
    void (*undo)(tamis_body *);
} tamis_retouch_facet;

/* Many named sets. */
typedef struct tamis_label_facet {
    size_t (*find)(const tamis_body *, uint64_t hash, uint64_t *label, size_t room);
    uint64_t (*count)(const tamis_body *);
    const char *(*name)(const tamis_body *, uint64_t label);
} tamis_label_facet;

/* What differs between two sets. Core has made sure that both match, and gives zeroed memory. */
typedef struct tamis_differ_facet {
    uint64_t (*scratch)(const uint64_t word[]); /* bytes that list() needs */
    tamis_status (*list)(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                         tamis_difference_fn *take, void *ctx);

    /* TAMIS_UNSUPPORTED for shapes that keep no estimator. */
    tamis_status (*size)(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                         struct tamis_estimate *keys);
} tamis_differ_facet;

/* A print that is looked for: its bytes as rows have them, zeros behind its width. */
typedef struct tamis_fingerprint_query {
    const uint8_t *bytes;
    uint64_t set; /* bits that are 1 */
} tamis_fingerprint_query;

/* Rows of bits, each with an id, that are compared with a print. Rows are numbered in the order in
 * which they were added. */
typedef struct tamis_fingerprint_facet {
    unsigned made; /* as in tamis_build_facet */
    void (*at)(const tamis_body *, uint64_t row, const char **id, const uint8_t **print);
    bool (*similar)(const tamis_body *, const tamis_fingerprint_query *, double min,
                    tamis_match_fn *take, void *ctx, struct tamis_search_stats *);
    size_t (*nearest)(const tamis_body *, const tamis_fingerprint_query *, double min,
                      struct tamis_match *matches, size_t room, struct tamis_search_stats *);
    bool (*screen)(const tamis_body *, const tamis_fingerprint_query *, tamis_match_fn *take,
                   void *ctx, struct tamis_search_stats *);
} tamis_fingerprint_facet;

/* Payloads, kept as the blocks they are cut into. Core cuts, hashes (core/attribution.c), adds and
 * asks. */
#define TAMIS_LONGEST_PAYLOAD ((uint64_t)1 << 48)

typedef struct tamis_trace_facet {
    uint64_t (*block)(const uint64_t word[]);  /* bytes of the smallest blocks */
    unsigned (*levels)(const uint64_t word[]); /* sizes of blocks, each twice the one before */
    uint64_t (*longest)(const tamis_body *);   /* where the longest payload so far ends */
    void (*reach)(tamis_body *, uint64_t end); /* one that ends there was recorded */
} tamis_trace_facet;

/* Kinds that are made once, from all their keys. The builder brings records in ascending order,
 * distinct, cut into segments; the kind makes the bytes of one segment after the other, on any
 * thread. Their payloads are those of kinds/segments.h: segments, a tail, and where each segment
 * starts. */
enum tamis_record_rule {
    TAMIS_RECORDS_KEYS,   /* hashes alone */
    TAMIS_RECORDS_VALUES, /* with a value each: a second value for a hash is a conflict */
    TAMIS_RECORDS_LABELS  /* with a label: a hash may have several */
};

/* What was counted once all records are there and distinct. */
typedef struct tamis_census {
    uint64_t records;
    uint64_t keys;    /* distinct hashes; of records with values only */
    uint64_t zeros;   /* records with value 0 */
    uint64_t max;     /* the largest value */
    uint64_t largest; /* records of the label that has most; of labels only */
    uint64_t leader;  /* the number of that label, the first of equals */
    uint64_t labels;  /* how many there are */
    uint64_t names;   /* bytes of their names, each with its NUL */
} tamis_census;

typedef struct tamis_segment {
    const uint64_t *hash;  /* ascending */
    const uint64_t *value; /* NULL for keys alone */
    size_t n;
    uint64_t index;
} tamis_segment;

typedef struct tamis_build_facet {
    enum tamis_record_rule rule;
    unsigned made; /* a bit for each word that follows from the records, not from the wish */
    unsigned cut;  /* and for each that only says how the payload is cut into segments */

    /* The value of a key that comes without one. When it is not 0, the kind takes known-good keys
     * too, with value 0, and answers no to them. */
    uint64_t member;

    /* The words for what was counted. plan() has made word[] from the wish, whose capacity is at
     * least the number of records (labels: of the largest label; with known-good keys: of the
     * members). Without a wish the words are those of a filter that gets more records: only words
     * that are made may change. */
    tamis_status (*fit)(const tamis_params *, const tamis_census *, uint64_t word[]);

    /* Which segment a hash belongs to; never falls as the hash grows. */
    uint64_t (*segment)(const uint64_t word[], uint64_t hash);

    /* For a segment of n records: working memory, and bytes that it can have at most. */
    uint64_t (*work)(const uint64_t word[], uint64_t n);
    uint64_t (*max)(const uint64_t word[], uint64_t n);

    /* Makes one segment; *size becomes its bytes, a multiple of 8. `work` and `out` are aligned to
     * 64 and hold whatever was there before. The same records give the same bytes. */
    tamis_status (*make)(const uint64_t word[], const tamis_segment *, uint8_t *work, uint8_t *out,
                         uint64_t *size);
} tamis_build_facet;

/* Kinds of other systems that are made once: their origin hashes keys its own way and has one piece
 * of payload, whose bytes are given. The builder keeps 8 bytes of every key, in memory, and the
 * kind makes all of it at once. The hashes are ascending and distinct where the kind has
 * TAMIS_ADDS_ONCE, else they come in the order in which they were added, all of them. */
typedef struct tamis_press_facet {
    unsigned made;    /* as in tamis_build_facet */
    size_t key_bytes; /* that every key has, where others cannot be added; 0: any number */

    /* What the origin makes of a key first; of a key with other than key_bytes, anything. */
    uint64_t (*hash)(const uint64_t word[], const struct tamis_key *);

    /* The words for these hashes. plan() has made word[] from the wish, whose capacity is at least
     * n: only words that are made may change. */
    tamis_status (*fit)(const tamis_params *, const uint64_t *hash, uint64_t n, uint64_t word[]);

    /* Working memory, zeroed; NULL: none. The payload in zeros that fit() led to; words that are
     * made and do not bear on its size may still change. */
    uint64_t (*work)(const uint64_t word[], uint64_t n);
    tamis_status (*make)(tamis_body *, const uint64_t *hash, uint64_t n, uint8_t *work);

    /* query_keys for keys that were hashed, so that what was built can be verified. */
    void (*query)(const tamis_body *, const uint64_t *hash, size_t n, uint8_t *hit);
} tamis_press_facet;

/* A NULL entry is the statement "cannot": abilities are derived from it and kept nowhere else.
 * Work comes in batches of hashes; one key is a batch of one. Entries that return a status must
 * change nothing when they fail, and may leave a sentence with tamis__fail. */
typedef struct tamis_kind {
    const char *name;     /* one word, used in CLI, SQL, files, docs and tests; never changes */
    const char *contract; /* the promise in one line */
    const char *word[TAMIS_WORDS];      /* names of shape words; unnamed words are zero in images */
    const struct tamis_option *options; /* extra wishes as data, at most TAMIS_WORDS of them */
    size_t option_count;
    unsigned traits; /* what no entry shows: of enum tamis_ability, TAMIS_ADDS_ONCE and later */

    /* Abilities that some shapes of the kind lack, for kinds whose options decide. */
    unsigned (*lacks)(const uint64_t word[]);

    const void *own; /* a table of the kind's family, for functions that several kinds share */

    /* Takes the value of the i-th option, where that is a text (no choices, no range), and puts
     * what it means into the wish, as other options. */
    tamis_status (*read_text)(tamis_params *, size_t i, const char *value);

    /* Do the kind's own options say how large it is? Then capacity may be missing, and is 0. */
    bool (*is_sized)(const tamis_params *);

    /* Shape: wish to words, pure arithmetic; words to bytes, the gate; what the words mean. */
    tamis_status (*plan)(const tamis_params *, uint64_t word[]);
    tamis_status (*check)(const uint64_t word[], uint64_t *size);
    uint64_t (*probes)(const uint64_t word[]);
    double (*rate)(const uint64_t word[], uint64_t items); /* expected fpr after so many adds */

    /* For kinds whose body is a part of a whole: the wish, bits and options, that leads to these
     * words. Capacity, rate and size are those of the whole, which a part cannot count. NULL: a
     * body is all there is. */
    void (*whole)(const uint64_t word[], tamis_params *);

    /* Makes an empty body of zeros, for kinds whose empty payload is not all zeros; or NULL. */
    void (*start)(tamis_body *);

    /* The rest of the gate: is what lies inside the payload legal? Words are checked already, and
     * the payload has the size that check() demanded. NULL: every payload of that size is legal. */
    tamis_status (*audit)(const tamis_body *);

    /* Asking and adding. A kind with neither query nor query_keys is a sketch: it knows what is
     * true of a set, not of a key, and core answers maybe for it. add_shared may run on many
     * threads, beside query. A long batch keeps many cache misses under way, and prefetches only
     * payloads beyond TAMIS_NEAR_BYTES. */
    void (*query)(const tamis_body *, const uint64_t *hash, size_t n, uint8_t *hit);
    tamis_status (*add)(tamis_body *, const uint64_t *hash, size_t n);
    void (*add_shared)(tamis_body *, const uint64_t *hash, size_t n);

    /* One key `times` times, at least once, where that is less work than so many adds. Never
     * fails, and leaves what the adds would have left. */
    void (*add_times)(tamis_body *, uint64_t hash, uint64_t times);

    /* Bytes of a unit, where add cannot fail and touches one unit of the payload alone, whose place
     * never falls as the hash grows: then core may change the order of adds, and let threads add to
     * different units at once. 0: none of this is so. */
    uint32_t unit;

    /* Whether adds in ascending order of hashes, which any order may be brought to, cost much less:
     * kinds that keep everything in that order move less out of the way. */
    bool prefers_sorted;

    /* Asks the machine for the memory that these will look at, and goes on; for payloads that are
     * far, while the next keys are hashed. */
    void (*prefetch)(const tamis_body *, const uint64_t *hash, size_t n);

    /* One key, where that can be had faster than as a batch of one; the same answer. */
    bool (*has)(const tamis_body *, uint64_t hash);

    /* Integers under XXH3, hashed and asked in one loop; false where that is not faster than in
     * two. `flip` is what the hash starts with (bits/eight_avx512.h). */
    bool (*query_numbers)(const tamis_body *, uint64_t flip, const uint64_t *numbers, size_t n,
                          uint8_t *hit);

    /* Fills in blocks and rule of a view for inlined code; false when this shape has none. */
    bool (*fast)(const tamis_body *, struct tamis_inline *);

    /* Kinds of other systems hash keys their own way; these replace query, add, remove and count.
     * One that grows answers TAMIS_FULL to the key for which its origin would grow, and core lets
     * grow() make room for that key alone; room() then is how many it takes for certain. remove_key
     * may leave a smaller body: fewer bytes of the same memory, and the words that say so. */
    void (*query_keys)(const tamis_body *, const struct tamis_key *, size_t n, uint8_t *hit);
    tamis_status (*add_keys)(tamis_body *, const struct tamis_key *, size_t n);
    tamis_status (*remove_key)(tamis_body *, const struct tamis_key *);
    void (*count_keys)(const tamis_body *, const struct tamis_key *, size_t n, uint64_t *count);
    void (*add_key_times)(tamis_body *, const struct tamis_key *,
                          uint64_t times); /* as add_times */

    /* One key: takes back one add of it, or TAMIS_NOT_FOUND when the body shows there was none. */
    tamis_status (*remove)(tamis_body *, uint64_t hash);

    /* How often each was added and not removed; never too low up to reliable_count (NULL: ever). */
    void (*count)(const tamis_body *, const uint64_t *hash, size_t n, uint64_t *count);
    uint64_t (*reliable_count)(const uint64_t word[]);

    /* By how much a count may be too high after so many adds, but for a chance of *doubt; for kinds
     * whose counts are worse than their rate says. */
    double (*count_error)(const uint64_t word[], uint64_t items, double *doubt);

    /* Values. get leaves value[i] alone where hit[i] becomes 0. put of many is all or none. */
    void (*get)(const tamis_body *, const uint64_t *hash, size_t n, uint64_t *value, uint8_t *hit);
    tamis_status (*put)(tamis_body *, const uint64_t *hash, const uint64_t *value, size_t n);
    uint64_t (*max_value)(const uint64_t word[]); /* that fits */

    /* A step of time. In parts, where it takes long: clears up to `bytes` more of what leaves; true
     * when all has left and time has moved on. Until then the body is as before the step, but for
     * what leaves with it. */
    void (*tick)(tamis_body *);
    bool (*tick_part)(tamis_body *, uint64_t bytes, tamis_leaving *);
    uint64_t (*adds_to_tick)(const tamis_body *); /* before one ticks by itself; NULL: none does */

    /* What is stored, one by one: a hash that the body cannot tell from the one that was added.
     * *cursor is 0 at first, then whatever the kind left there; false at the end. With labels the
     * count is the label. */
    bool (*next)(const tamis_body *, uint64_t *cursor, uint64_t *hash, uint64_t *count);

    /* How many more adds the body takes in its present shape; NULL: any number. With
     * TAMIS_ADDS_ONCE only keys that are new need room. Core never adds more than that: it grows
     * the body first, or answers TAMIS_FULL. */
    uint64_t (*room)(const tamis_body *);

    /* New shapes, given the present one in word[]: one with room for `need` more adds, one `by`
     * times smaller, and one for `capacity` keys in all. Core then makes a zeroed body of that
     * shape and lets move() bring everything over. A stack of bodies in one payload grows the same
     * way, by a storey. */
    tamis_status (*grow)(const tamis_body *, uint64_t need, uint64_t word[]);
    tamis_status (*fold)(const tamis_body *, uint64_t by, uint64_t word[]);
    tamis_status (*resize)(const tamis_body *, uint64_t capacity, uint64_t word[]);
    tamis_status (*move)(tamis_body *to, const tamis_body *from);
    tamis_status (*shrink)(const tamis_body *, uint64_t keep,
                           uint64_t word[]); /* bits of a number */

    /* May a body of these words be moved to a larger one of `wider`? Every key is found there, and
     * more bits are set than adding the keys would have set: all that the smaller one left open.
     * Where a body can grow, it is one that has grown as far, and no bit is in doubt. */
    bool (*stretch)(const uint64_t word[], const uint64_t wider[]);
    bool loses_rate; /* by growing: TAMIS_CAN_GROW, which promises to keep it, is not said then */

    /* Sets. Core has made sure that both bodies have the same words and the same hash. */
    tamis_status (*merge)(tamis_body *into, const tamis_body *from);
    tamis_status (*intersect)(tamis_body *into, const tamis_body *from);

    /* For counters that add up: into, which may be one of them, becomes the sum of bodies, each
     * times its weight. TAMIS_FULL when a counter would not be one (kinds/rows.h). */
    tamis_status (*weigh)(tamis_body *into, const tamis_body *const *from, const int64_t *weight,
                          size_t n);

    /* Whether the bits of two bodies together tell what they share, for kinds where that depends on
     * what lies in them; NULL: always. */
    tamis_status (*may_compare)(const tamis_body *, const tamis_body *);

    /* What the bits tell; with `other`, what the bits of both together tell, of which core looks at
     * the items alone. Kinds that cannot merge are never asked with `other`. */
    void (*measure)(const tamis_body *, const tamis_body *other, tamis_measurement *);

    /* The share of all keys of two bodies that both have, for kinds that know it better than from
     * three counts of keys. */
    tamis_status (*similarity)(const tamis_body *, const tamis_body *, struct tamis_estimate *);

    const tamis_log_facet *log;
    const tamis_level_facet *levels;
    const tamis_retouch_facet *retouch;
    const tamis_label_facet *labels;
    const tamis_differ_facet *differ;
    const tamis_fingerprint_facet *prints;
    const tamis_trace_facet *trace;
    const tamis_build_facet *build; /* instead of add; merging then goes by next and build */
    const tamis_press_facet *press; /* instead of add_keys */
} tamis_kind;

/* Made once, by a builder? */
static inline bool tamis__is_built(const tamis_kind *kind) {
    return kind->build || kind->press;
}

/* What bodies of these words can do and are like: derived from the entries, the traits and what
 * this shape lacks. */
unsigned tamis__abilities(const tamis_kind *, const uint64_t word[]);

/* The registry: every line of kinds.def, in order. The id is what images carry. */
typedef struct tamis_entry {
    uint32_t id;
    const tamis_kind *kind;
} tamis_entry;

/* Kinds of other systems have ids from here on; those of tests are far above. */
enum { TAMIS_FOREIGN_FROM = 1000, TAMIS_FOREIGN_END = 2000 };

size_t tamis__kind_count(void);
const tamis_entry *tamis__kind_at(size_t i);
const tamis_entry *tamis__kind_by_id(uint32_t id); /* NULL when there is none */
const tamis_entry *tamis__kind_by_name(const char *name, size_t len);

/* A small build has only some kinds (make KINDS=...). The id of one that Tamis has and this build
 * leaves out; 0 for all other names. */
uint32_t tamis__kind_left_out(const char *name);

/* The entry of a kind of ours that core itself is about; TAMIS_UNSUPPORTED where it is left out. */
tamis_status tamis__kind_require(const char *name, const tamis_entry **entry);

/* TAMIS_TOO_NEW for an id that tamis__kind_by_id does not know: left out, or not yet known. */
tamis_status tamis__kind_refuse(uint32_t id);

#endif
