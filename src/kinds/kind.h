/* SPDX-License-Identifier: MIT */
/* For kinds, core, build, file and tests: the contract between core and a kind.
 *
 * A filter is a kind, a few shape words and one flat payload. Core owns memory, hashing and files;
 * a kind knows shapes and bits, and nothing else. */
#ifndef TAMIS_KINDS_KIND_H
#define TAMIS_KINDS_KIND_H

#include "base/status.h"
#include "tamis.h"
#include "tamis_inline.h"
#include "tamis_special.h"

/* No payload is larger, so sums of a few sizes never overflow 64 bits. */
#define TAMIS_MAX_PAYLOAD_BYTES ((uint64_t)1 << 56)
#define TAMIS_MAX_CAPACITY      ((uint64_t)1 << 56)

/* The data of a kind; core owns the memory. A body knows its kind, so that one function can serve a
 * family of kinds: kind->own has what differs. */
typedef struct tamis_body {
    const struct tamis_kind *kind;
    uint64_t word[TAMIS_WORDS]; /* shape: named by the kind, stored in the image */
    uint64_t items;             /* adds so far; kept by core */
    uint64_t size;              /* bytes of payload, always what check() returns */
    uint8_t *bytes;             /* little-endian; aligned to 64 if core's, to nothing in a view */
    const void *kept;           /* what speed->keep made of the bytes, or NULL */
} tamis_body;

/* What a query or a change works on; a single key is a batch of one. Kinds take hashes; those of
 * other systems hash keys themselves (TAMIS_OWN_HASH) and get the keys. No kind gets both, so the
 * two share a pointer, and a batch fits in two registers. */
typedef struct tamis_batch {
    union {
        const uint64_t *hash;
        const struct tamis_key *key;
    };
    size_t n;
} tamis_batch;

static inline tamis_batch tamis__hashes(const uint64_t *hash, size_t n) {
    return (tamis_batch){.hash = hash, .n = n};
}

static inline tamis_batch tamis__keys(const struct tamis_key *key, size_t n) {
    return (tamis_batch){.key = key, .n = n};
}

/* A spec after parsing. Exactly one of fpr and bits is not zero when a kind sees it. */
typedef struct tamis_params {
    uint64_t capacity;
    double fpr;
    uint64_t bits; /* maximum of the payload */
    uint64_t seed;
    uint64_t option[TAMIS_WORDS]; /* by index of the kind's options; choices as their index */
    bool has_option[TAMIS_WORDS];
} tamis_params;

/* The value of an option, or its default. */
static inline uint64_t tamis__chosen(const tamis_params *params, unsigned option,
                                     uint64_t otherwise) {
    return params->has_option[option] ? params->option[option] : otherwise;
}

/* What the bits show, measured in one pass. `bits_set` of `bits` is the fill; kinds with counters
 * or slots count those instead. */
typedef struct tamis_measurement {
    uint64_t bits_set, bits;
    double fpr;
    struct tamis_estimate items; /* distinct keys; infinite when saturated */
    uint64_t affected;           /* the number of things the caveat is about; 0 and "" from core */
    char caveat[128];            /* what the contract promises and this body no longer can */
} tamis_measurement;

/* ==== Groups: one idea each, absent where a kind lacks the whole idea ======================= */

/* Kinds that are not sized by capacity and rate alone. */
typedef struct tamis_sizing {
    /* Do the kind's own options determine its size? Then capacity may be missing, and is 0. */
    bool (*is_sized)(const tamis_params *);

    /* Reads the value of the i-th option, where that is a text (no choices, no range), and stores
     * what it means in the params, as other options. */
    tamis_status (*read_text)(tamis_params *, size_t i, const char *value);

    /* For kinds whose body is a part of a whole: the params, bits and options, that lead to these
     * words. Capacity, rate and size are those of the whole, which a part cannot count. */
    void (*whole)(const uint64_t word[], tamis_params *);
} tamis_sizing;

/* Functions for one key, chosen once for a shape and this processor, so that no key asks about them
 * again. NULL: the general ones. */
typedef struct tamis_one {
    bool (*has)(const tamis_body *, uint64_t hash);

    /* False, and nothing changed, where adding takes more than usual, such as growth or an error
     * message: core then goes by add. Never takes more than there is room for. */
    bool (*add)(tamis_body *, uint64_t hash);

    bool (*has_number)(const tamis_body *, uint64_t number, uint64_t flip); /* under XXH3 */
} tamis_one;

/* The same work done faster: every answer and every byte is that of query and add. */
typedef struct tamis_speed {
    /* Bytes of a unit, where add cannot fail and touches only one unit of the payload, whose place
     * never falls as the hash grows: then core may reorder adds, and let threads add to different
     * units at once. 0: no such promise. */
    uint32_t unit;

    /* Are adds in ascending order of hashes much cheaper? Kinds that store everything in that order
     * move less. Only where any order is allowed. */
    bool prefers_sorted;

    bool (*has)(const tamis_body *, uint64_t hash); /* one key, faster than a batch of one */

    /* Functions that suit bodies of these words and this processor; the payload may not be there
     * yet. */
    tamis_one (*one)(const uint64_t word[]);

    /* One key, queried and added in one pass, for kinds where a second add does nothing and that do
     * not age. *is_new tells; TAMIS_FULL, and nothing has changed, when it is new and the present
     * shape has no room for it. */
    tamis_status (*add_new)(tamis_body *, uint64_t hash, bool *is_new);

    /* What the kind would otherwise find in the payload again for each key: its size, 0 where it
     * gains nothing, and making it. It holds until the shape changes or the bytes move; core may
     * lack the memory for it. */
    size_t (*kept_size)(const uint64_t word[]);
    void (*keep)(const tamis_body *, void *kept);

    /* Fetches the memory that query will read, for large payloads, while the next keys are
     * hashed. */
    void (*prefetch)(const tamis_body *, tamis_batch);

    /* Integers under XXH3, hashed and queried in one loop; false where that is not faster than two.
     * `flip` is what the hash starts with (bits/eight_avx512.h). */
    bool (*query_numbers)(const tamis_body *, uint64_t flip, const uint64_t *numbers, size_t n,
                          uint8_t *hit);

    /* Fills in the rule of a view for inlined code, and what that needs; bytes are the payload's.
     * False when this shape has none. */
    bool (*inline_view)(const tamis_body *, struct tamis_inline *);

    /* The part of a payload that decides on a hash, as a body of its own that answers as all of it
     * would. *part is the body, whose bytes are not there; becomes that part but for its bytes.
     * Returns where they begin. A part of size 0: the answer is maybe, whatever the bytes are. */
    uint64_t (*slice)(const tamis_body *, uint64_t hash, tamis_body *part);

    /* Adds from many threads, concurrently with query. */
    void (*add_shared)(tamis_body *, tamis_batch);

    /* A batch of one, added `times` times, at least once, for less than that many adds. Never
     * fails, and leaves what the adds would have left. */
    void (*add_times)(tamis_body *, tamis_batch, uint64_t times);
} tamis_speed;

/* How often keys were added and not removed. */
typedef struct tamis_counts {
    void (*count)(const tamis_body *, tamis_batch, uint64_t *count);

    /* Counts up to this are never too low; NULL: none is. */
    uint64_t (*reliable_count)(const uint64_t word[]);

    /* By how much a count may be too high after `items` adds, except with probability *prob; for
     * kinds whose counts are worse than their rate. */
    double (*count_error)(const uint64_t word[], uint64_t items, double *prob);
} tamis_counts;

/* A value for each key. get leaves value[i] unchanged where hit[i] becomes 0; put of many is all or
 * nothing. */
typedef struct tamis_values {
    void (*get)(const tamis_body *, tamis_batch, uint64_t *value, uint8_t *hit);
    tamis_status (*put)(tamis_body *, tamis_batch, const uint64_t *value);
    uint64_t (*max_value)(const uint64_t word[]);
} tamis_values;

/* Progress of a step of time that is made in parts, and which one. */
typedef struct tamis_leaving {
    uint64_t step, done;
} tamis_leaving;

/* Steps of time, after which old keys expire. */
typedef struct tamis_ageing {
    void (*tick)(tamis_body *);

    /* The same in parts, where a step takes long: clears up to `bytes` more of what expires; true
     * when all of it is gone and time has advanced. Until then the body is as before the step,
     * except for what expires with it. */
    bool (*tick_part)(tamis_body *, uint64_t bytes, tamis_leaving *);

    uint64_t (*adds_to_tick)(const tamis_body *); /* before one ticks by itself; NULL: none does */
} tamis_ageing;

/* Other shapes, given the current one in word[]: core makes a zeroed body of the new shape and
 * calls move() to transfer everything. A stack of bodies in one payload grows the same way, by a
 * stage. */
typedef struct tamis_reshape {
    tamis_status (*grow)(const tamis_body *, uint64_t need, uint64_t word[]); /* `need` more adds */
    tamis_status (*fold)(const tamis_body *, uint64_t by, uint64_t word[]); /* `by` times smaller */
    tamis_status (*resize)(const tamis_body *, uint64_t capacity, uint64_t word[]);
    tamis_status (*shrink)(const tamis_body *, uint64_t keep, uint64_t word[]); /* bits of each */
    tamis_status (*move)(tamis_body *to, const tamis_body *from);

    /* May a body of these words be moved to a larger one of `wider`? Every key is found there, and
     * more bits are set than adding the keys would have set: all that the smaller one left open.
     * Where a body can grow, `wider` has grown as far, and no bit is in doubt. */
    bool (*stretch)(const uint64_t word[], const uint64_t wider[]);

    bool loses_rate; /* by growing: then it lacks TAMIS_CAN_GROW, which promises to keep it */
} tamis_reshape;

/* Two bodies. Core guarantees that both have the same words and the same hash. */
typedef struct tamis_sets {
    tamis_status (*merge)(tamis_body *into, const tamis_body *from);
    tamis_status (*intersect)(tamis_body *into, const tamis_body *from);

    /* For counters that add up: into, which may be one of them, becomes the sum of bodies, each
     * times its weight. TAMIS_FULL when a counter would not fit (kinds/rows.h). */
    tamis_status (*merge_weighted)(tamis_body *into, const tamis_body *const *from,
                                   const int64_t *weight, size_t n);

    /* Do the bits of both together show what they share? For kinds where that depends on their
     * contents; NULL: always. */
    tamis_status (*may_compare)(const tamis_body *, const tamis_body *);

    /* The share of all keys of two bodies that both have, for kinds that know it better than from
     * three counts of keys. */
    tamis_status (*similarity)(const tamis_body *, const tamis_body *, struct tamis_estimate *);
} tamis_sets;

/* ==== Building ============================================================================== */

/* Kinds that are built once, from all their keys. The builder brings distinct records in ascending
 * order, split into segments; the kind makes the bytes of one segment after the other, on any
 * thread. Their payloads are those of kinds/segments.h: segments, a tail, and where each segment
 * starts. */
enum tamis_record_rule {
    TAMIS_RECORDS_KEYS,   /* hashes alone */
    TAMIS_RECORDS_VALUES, /* with a value each: a second value for a hash is a conflict */
    TAMIS_RECORDS_LABELS  /* with a label: a hash may have several */
};

/* Counts of all distinct records. */
typedef struct tamis_census {
    uint64_t records;
    uint64_t keys;    /* distinct hashes; of records with values only */
    uint64_t zeros;   /* records with value 0 */
    uint64_t max;     /* the largest value */
    uint64_t largest; /* records of the largest label; of labels only */
    uint64_t leader;  /* the number of that label, the first of equals */
    uint64_t labels;  /* number of labels */
    uint64_t names;   /* bytes of their names, each with its NUL */
} tamis_census;

/* Whether work that takes long is to end: asked every few milliseconds of it. */
typedef struct tamis_stop {
    tamis_stop_fn *should; /* NULL: never */
    void *ctx;
} tamis_stop;

static inline bool tamis__must_stop(tamis_stop stop) {
    return stop.should && stop.should(stop.ctx);
}

typedef struct tamis_segment {
    const uint64_t *hash;  /* ascending */
    const uint64_t *value; /* NULL for keys alone */
    size_t n;
    uint64_t index;
    tamis_stop stop;
} tamis_segment;

/* Kinds of other systems have one piece of payload, whose bytes their origin defines. The builder
 * keeps the origin's hash of every key in memory, and the kind makes all of it at once. The hashes
 * are ascending and distinct where the kind has TAMIS_ADDS_ONCE; otherwise all of them, in the
 * order of adds. */
typedef struct tamis_build_whole {
    size_t key_bytes; /* that every key has, where others cannot be added; 0: any number */

    /* The origin's hash of a key; anything for a key of other than key_bytes. */
    uint64_t (*hash)(const uint64_t word[], const struct tamis_key *);

    /* The words for these hashes. plan() has made word[] from the params, whose capacity is at
     * least n: only words that are made may change. */
    tamis_status (*fit)(const tamis_params *, const uint64_t *hash, uint64_t n, uint64_t word[]);

    /* Working memory, zeroed; NULL: none. The body is zeros of the size that fit() led to; words
     * that are made and do not bear on its size may still change. */
    uint64_t (*work)(const uint64_t word[], uint64_t n);
    tamis_status (*make)(tamis_body *, const uint64_t *hash, uint64_t n, uint8_t *work);

    /* query for hashed keys, to verify what was built. */
    void (*query)(const tamis_body *, tamis_batch, uint8_t *hit);
} tamis_build_whole;

/* Instead of add; merging then goes by next and build. */
typedef struct tamis_build {
    unsigned made; /* a bit for each word that follows from the records, not from the params */
    unsigned cut;  /* and for each that only describes how the payload is cut into segments */
    enum tamis_record_rule rule;

    /* The value of a key that comes without one. When it is not 0, the kind takes known-good keys
     * too, with value 0, and answers no to them. */
    uint64_t member;

    /* The words for what was counted. plan() has made word[] from the params, whose capacity is at
     * least the number of records (labels: of the largest label; with known-good keys: of the
     * members). Without params the words are those of a filter that gets more records: only words
     * that are made may change. */
    tamis_status (*fit)(const tamis_params *, const tamis_census *, uint64_t word[]);

    /* Which segment a hash belongs to; never falls as the hash grows. */
    uint64_t (*segment)(const uint64_t word[], uint64_t hash);

    /* For a segment of n records: working memory, and the maximum bytes. */
    uint64_t (*work)(const uint64_t word[], uint64_t n);
    uint64_t (*max)(const uint64_t word[], uint64_t n);

    /* Makes one segment; *size becomes its bytes, a multiple of 8. `work` and `out` are aligned to
     * 64 and hold whatever was there before. The same records give the same bytes. TAMIS_CANCELLED
     * when it must stop. */
    tamis_status (*make)(const uint64_t word[], const tamis_segment *, uint8_t *work, uint8_t *out,
                         uint64_t *size);

    const tamis_build_whole *whole; /* of another system's kind; then all else but `made` is 0 */
} tamis_build;

/* ==== Abilities of a few kinds ============================================================== */

/* Two arrays of `n` bits in a payload, by the bit where each begins: what neighbours should know of
 * a set, and what was sent to them. */
typedef struct tamis_logged {
    uint64_t n, summary, told;
} tamis_logged;

/* Which bits of a summary flipped since `forget`. */
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

/* Bits cleared on purpose. Core gives `scratch` counters, zeroed, one list for the troublesome keys
 * and one for the others, and has checked that the policy has the lists it needs. */
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

/* Differences of two sets. Core guarantees that both match, and gives zeroed memory. */
typedef struct tamis_differ_facet {
    uint64_t (*scratch)(const uint64_t word[]); /* bytes that list() needs */
    tamis_status (*list)(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                         tamis_difference_fn *take, void *ctx);

    /* TAMIS_UNSUPPORTED for shapes without an estimator. */
    tamis_status (*size)(const tamis_body *first, const tamis_body *second, uint8_t *scratch,
                         struct tamis_estimate *keys);
} tamis_differ_facet;

/* A fingerprint to search for: its bytes as rows have them, zeros past its width. */
typedef struct tamis_fingerprint_query {
    const uint8_t *bytes;
    uint64_t set; /* bits that are 1 */
} tamis_fingerprint_query;

/* Rows of bits, each with an id, that are compared with a fingerprint. Rows are numbered in the
 * order in which they were added. */
typedef struct tamis_fingerprint_facet {
    unsigned made; /* as in tamis_build */
    void (*at)(const tamis_body *, uint64_t row, const char **id, const uint8_t **print);
    bool (*similar)(const tamis_body *, const tamis_fingerprint_query *, double min,
                    tamis_match_fn *take, void *ctx, struct tamis_search_stats *);
    size_t (*nearest)(const tamis_body *, const tamis_fingerprint_query *, double min,
                      struct tamis_match *matches, size_t room, struct tamis_search_stats *);
    bool (*screen)(const tamis_body *, const tamis_fingerprint_query *, tamis_match_fn *take,
                   void *ctx, struct tamis_search_stats *);
} tamis_fingerprint_facet;

/* Payloads of traffic, stored as the blocks they are cut into. Core cuts, hashes
 * (core/attribution.c), adds and queries. */
#define TAMIS_LONGEST_PAYLOAD ((uint64_t)1 << 48)

typedef struct tamis_trace_facet {
    uint64_t (*block)(const uint64_t word[]);  /* bytes of the smallest blocks */
    unsigned (*levels)(const uint64_t word[]); /* sizes of blocks, each twice the one before */
    uint64_t (*longest)(const tamis_body *);   /* where the longest payload so far ends */
    void (*reach)(tamis_body *, uint64_t end); /* one that ends there was recorded */
} tamis_trace_facet;

typedef struct tamis_special {
    const tamis_log_facet *log;
    const tamis_level_facet *levels;
    const tamis_retouch_facet *retouch;
    const tamis_label_facet *labels;
    const tamis_differ_facet *differ;
    const tamis_fingerprint_facet *prints;
    const tamis_trace_facet *trace;
} tamis_special;

/* ==== The descriptor ======================================================================== */

/* A NULL entry means "unsupported", a NULL group that the whole idea is: abilities are derived from
 * the entries and stored nowhere else. An entry that returns a status must change nothing when it
 * fails, and may set the error message with tamis__fail. */
typedef struct tamis_kind {
    const char *name;     /* one word, used in CLI, SQL, files, docs and tests; never changes */
    const char *contract; /* the promise in one line */
    const char *word[TAMIS_WORDS];      /* names of shape words; unnamed words are zero in images */
    const struct tamis_option *options; /* its own, at most TAMIS_WORDS; ends with {0} */

    /* What no entry shows: TAMIS_OWN_HASH, and TAMIS_ADDS_ONCE and later of enum tamis_ability. */
    unsigned traits;
    unsigned (*lacks)(const uint64_t word[]); /* abilities that some shapes of the kind lack */
    const void *own; /* a table of the kind's family, for functions that several kinds share */

    /* Shape: params to words, pure arithmetic; words to bytes, the gate; what the words mean. */
    tamis_status (*plan)(const tamis_params *, uint64_t word[]);
    tamis_status (*check)(const uint64_t word[], uint64_t *size);
    uint64_t (*probes)(const uint64_t word[]);
    double (*rate)(const uint64_t word[], uint64_t items); /* expected fpr after `items` adds */

    /* Contents. start makes an empty body of zeros; NULL: zeros are empty. audit is the rest of the
     * gate: is the payload valid? Words are checked already, and the payload has the size that
     * check() returned; NULL: every payload of that size is valid. measure shows what the bits
     * show; with `other`, what both together do, of which core uses only the items. Kinds that
     * cannot merge are never called with `other`. */
    void (*start)(tamis_body *);
    tamis_status (*audit)(const tamis_body *);
    void (*measure)(const tamis_body *, const tamis_body *other, tamis_measurement *);

    /* Work. A kind without query is a sketch: it knows facts about a set, not about a key, and core
     * answers maybe for it. A long batch keeps many cache misses in flight, and prefetches only
     * payloads larger than tamis__near_bytes().
     *
     * remove takes a batch of one and undoes one add of it, or returns TAMIS_NOT_FOUND when the
     * body shows that there was none. Kinds with TAMIS_OWN_HASH may leave a smaller body: fewer
     * bytes of the same memory, and the words that say so.
     *
     * next lists what is stored, one by one: a hash that the body cannot distinguish from the one
     * that was added. *cursor is 0 at first, then whatever the kind left there; false at the end.
     * With labels, the count is the label.
     *
     * room is how many more adds the body takes in its current shape; NULL: any number. With
     * TAMIS_ADDS_ONCE only new keys need room. Core never adds more: it grows the body first, or
     * answers TAMIS_FULL. Kinds with TAMIS_OWN_HASH that grow answer TAMIS_FULL to the key for
     * which their origin would grow, and core grows the body for that key; their room is how many
     * they take for certain. */
    void (*query)(const tamis_body *, tamis_batch, uint8_t *hit);
    tamis_status (*add)(tamis_body *, tamis_batch);
    tamis_status (*remove)(tamis_body *, tamis_batch);
    bool (*next)(const tamis_body *, uint64_t *cursor, uint64_t *hash, uint64_t *count);
    uint64_t (*room)(const tamis_body *);

    const tamis_sizing *sizing;
    const tamis_speed *speed;
    const tamis_counts *counts;
    const tamis_values *values;
    const tamis_ageing *ageing;
    const tamis_reshape *reshape;
    const tamis_sets *sets;
    const tamis_build *build; /* instead of add */
    const tamis_special *special;
} tamis_kind;

/* An entry of a group that may be missing: NULL, false or 0 where either is. */
#define TAMIS_ENTRY(kind, group, entry) ((kind)->group ? (kind)->group->entry : 0)

static inline bool tamis__hashes_itself(const tamis_kind *kind) {
    return kind->traits & TAMIS_OWN_HASH;
}

static inline bool tamis__builds_whole(const tamis_kind *kind) {
    return TAMIS_ENTRY(kind, build, whole);
}

/* ==== Entries that several kinds share ====================================================== */

static inline uint64_t tamis__one_probe(const uint64_t word[]) {
    (void)word;
    return 1;
}

/* Where the second word is the number of hashes of a key. */
static inline uint64_t tamis__hash_probes(const uint64_t word[]) {
    return word[1];
}

/* Every non-member is answered maybe. */
static inline double tamis__always_maybe(const uint64_t word[], uint64_t items) {
    (void)word, (void)items;
    return 1;
}

/* There is always room; the entry tells core that adds may fail, and must not be split. */
static inline uint64_t tamis__any_room(const tamis_body *f) {
    (void)f;
    return UINT64_MAX;
}

/* Options that are missing have defaults. */
static inline bool tamis__always_sized(const tamis_params *params) {
    (void)params;
    return true;
}

/* For check: false, with an error message, when `n` things are not within min to max. */
bool tamis__may_have(const char *kind, uint64_t n, const char *things, uint64_t min, uint64_t max);

/* ==== All kinds ============================================================================= */

size_t tamis__option_count(const tamis_kind *);

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

/* The entry of a kind of ours that core itself is about; TAMIS_UNSUPPORTED where it is left out. */
tamis_status tamis__kind_require(const char *name, const tamis_entry **entry);

/* For an id that tamis__kind_by_id does not know: TAMIS_TOO_NEW. For a name that
 * tamis__kind_by_name does not: TAMIS_INVALID, with the `names` it does know. Both say when this
 * build leaves the kind out (make KINDS=...). */
tamis_status tamis__kind_refuse(uint32_t id);
tamis_status tamis__kind_refuse_name(const char *name, const char *names);

#endif
