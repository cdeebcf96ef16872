/* SPDX-License-Identifier: MIT */
/* tamis.h: one sieve for every set.
 *
 * A filter answers one question about a set of keys: "is this key in it?" *No* is certain; *yes* is
 * wrong with a small probability that you choose. It takes about ten bits per key, whatever the
 * keys are.
 *
 * A minimal program:
 *
 *     #include <tamis.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         tamis *f;
 *         if (tamis_create(&f, "blocked:capacity=1M,fpr=1%")) {
 *             fprintf(stderr, "%s\n", tamis_why());
 *             return 2;
 *         }
 *         tamis_add(f, "cat", 3);
 *         printf("cat: %s\n", tamis_has(f, "cat", 3) ? "maybe" : "no");
 *         printf("dog: %s\n", tamis_has(f, "dog", 3) ? "maybe" : "no");
 *         tamis_free(f);
 *         return 0;
 *     }
 *
 * Compile with:  cc cat.c $(pkg-config --cflags --libs tamis)
 *
 * This header is what nine of ten programs need, and its own manual. The others:
 *
 *     tamis_edit.h      files that several programs change
 *     tamis_inline.h    one key without a call, for inner loops
 *     tamis_engine.h    for hosts of many filters: hashes instead of keys, memory, work in steps
 *     tamis_formats.h   other systems' filters
 *     tamis_parts.h     one filter on many machines: shards and patches
 *     tamis_special.h   what only a few kinds can do
 *     tamis_jobs.h      protocols and small machines built on filters
 *     tamis_math.h      rates and sizes as functions
 *
 * Terms, the same in the headers, the command, files and servers:
 *
 *     key       your bytes, of any length, including zero
 *     hash      64 bits computed from a key; all that a filter works on
 *     kind      a named data structure: classic, blocked, split, universal, ...
 *     spec      a filter specification, such as "blocked:capacity=1M,fpr=1%"
 *     capacity  the number of keys you plan to add; items: the number of adds so far
 *     fpr       false-positive rate: the share of non-members answered yes
 *     payload   the flat bytes that hold the bits
 *     image     header + payload + notes: what is saved, mapped, stored and sent
 *
 * Every function follows these rules:
 *
 *  - Queries (tamis_has, ...) return the answer and cannot fail: a handle is always valid.
 *  - Calls that create, load or change return a status. 0 is success; after anything else,
 *    tamis_why() names the parameter and its range, or the byte.
 *  - A failed call changes nothing: the filter is as it was, a new handle is NULL, no file is
 *    half-written, nothing leaks.
 *  - Arguments are never retained, except by tamis_view and its like, whose bytes must outlive the
 *    handle, and callbacks in options.
 *  - Untrusted bytes pass one gate (tamis_load, _view, _map, _read). What it accepts is valid;
 *    damaged input never becomes a handle.
 *  - Sizes are 64-bit and named for their unit (_bytes, _bits); other numbers are counts.
 *  - The library never prints, exits, aborts, or touches errno, locale or signals.
 *  - Each comment ends with its thread rule. "Readers or one writer": any number of threads may
 *    query one filter at the same time, as long as none changes it.
 */
#ifndef TAMIS_H
#define TAMIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAMIS_API        __attribute__((visibility("default")))
#define TAMIS_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TAMIS_API
#define TAMIS_MUST_CHECK
#endif

/* The version of this header, in parts and as one number for #if: 102 is 0.1.2, 20304 is 2.3.4. */
#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0
#define TAMIS_VERSION_NUMBER \
    (TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH)

/* The version of the linked library, such as "0.1.0", and as one number. Threads: any. */
TAMIS_API const char *tamis_version(void);
TAMIS_API unsigned tamis_version_number(void);

/* Which instructions of this processor answer queries: "plain", "avx2", "avx512" or
 * "neon". The environment variable TAMIS_CPU can lower it, to "plain" or "avx2". Results are the
 * same with all of them. Threads: any. */
TAMIS_API const char *tamis_cpu(void);

/* A filter. Everything inside is private. */
typedef struct tamis tamis;

/* Structs that later versions may extend begin with struct_size, which their _INIT macro sets:
 *
 *     struct tamis_info info = TAMIS_INFO_INIT;
 *     tamis_get_info(filter, &info);
 *
 * A program that was compiled with a shorter struct stays valid: nothing is written past its end,
 * and options that it does not know are off. In a longer struct the fields that this library does
 * not know become zero; options there must be zero. A struct without a valid struct_size is left
 * as it is, with TAMIS_INVALID where the call returns a status and false where it returns bool. All
 * other structs never change. */
#ifdef __cplusplus
extern "C++" {
template <class T> inline T tamis_init_struct() {
    T made = T();
    made.struct_size = sizeof(T);
    return made;
}
}
#define TAMIS_INIT(type) tamis_init_struct<type>()
#else
/* clang-format off */
#define TAMIS_INIT(type) {.struct_size = sizeof(type)}
/* clang-format on */
#endif

/* ==== Status ================================================================================ */

/* One list makes the enum, the texts and the constants of bindings: X(NAME, value, text). */
#define TAMIS_STATUS_MAP(X)                                     \
    X(OK, 0, "success")                                         \
    X(NOMEM, -1, "out of memory")                               \
    X(FULL, -2, "the filter is full")                           \
    X(INVALID, -3, "a parameter is not allowed")                \
    X(MISMATCH, -4, "the two filters do not match")             \
    X(CORRUPT, -5, "the stored filter is damaged")              \
    X(TOO_NEW, -6, "the stored filter needs a newer version")   \
    X(UNSUPPORTED, -7, "this kind cannot do that")              \
    X(SECRET, -8, "the secret key is missing or wrong")         \
    X(READONLY, -9, "the filter is read-only")                  \
    X(IO, -10, "a file could not be read or written")           \
    X(TOO_LARGE, -11, "the filter would be too large")          \
    X(SATURATED, -12, "the filter is too full for an estimate") \
    X(NOT_FOUND, -13, "the key is not in the filter")           \
    X(TOMBSTONED, -14, "the key was removed for good")          \
    X(CANCELLED, -15, "stopped on request")                     \
    X(CONFLICT, -16, "one key has two values")                  \
    X(PARTIAL, -17, "only a part could be listed")              \
    X(BUSY, -18, "another process is changing the file")        \
    X(CHANGED, -19, "the file was changed by somebody else")

typedef enum tamis_status {
#define TAMIS_STATUS_ENUM(name, value, text) TAMIS_##name = value,
    TAMIS_STATUS_MAP(TAMIS_STATUS_ENUM)
#undef TAMIS_STATUS_ENUM
} tamis_status;

/* The text of a status in a few words; "unknown status" for an unknown value. Threads: any. */
TAMIS_API const char *tamis_status_text(tamis_status status);

/* The name of a status as in this header, "TAMIS_NOMEM"; NULL for an unknown value.
 * Threads: any. */
TAMIS_API const char *tamis_status_name(tamis_status status);

/* The message of the last call on this thread that returned a status other than TAMIS_OK: which
 * parameter, what is allowed, which byte. Never NULL; valid until the next such failure on
 * this thread. Threads: any, each has its own. */
TAMIS_API const char *tamis_why(void);

/* Every constant of the headers by name, for bindings: the i-th of them, "TAMIS_NOMEM" and -1, such
 * as statuses, abilities and limits. False when there are fewer. Threads: any. */
TAMIS_API bool tamis_constant_at(size_t i, const char **name, int64_t *value);

/* ==== Making ================================================================================
 *
 * A spec is  kind:name=value,name=value,...  The kind may be left out ("capacity=1M" is blocked).
 * Names that every kind knows:
 *
 *     capacity=N   keys to plan for, from 0 to 2^56
 *     fpr=P        target rate at capacity, from 1e-12 to below 1 (default: 1% without size)
 *     size=BYTES   payload at most this large; two of capacity, fpr and size fix the third
 *     bits=N       the same in bits; classic and universal take exactly that many
 *     hash=xxh3    the default; or xxh64 (Parquet's and Arrow's), mix8 (xxh3 with a shorter
 *                  hash of 8-byte keys: integers), or sip13 (keyed, see below)
 *     seed=N       another hash function of the same family; 0 when not given
 *     key=inside   with hash=sip13: the image holds the secret; or key=outside: only its 8-byte id
 *
 * Each kind may have options of its own (tamis_kind_named and "tamis kinds" list them). An unknown
 * name is refused with the list of known ones.
 *
 * Numbers are written as people type them. Counts: 1000000, 10M, 1e6, 1.5G, 64Ki, 2^33. Bytes:
 * 4096, 64KiB, 2G (= 2 GiB), 10MB (= 10^7). Rates: 0.01, 1%, 1e-6, 1/1000, 2^-16.
 *
 * A keyed hash is for keys that an attacker may choose: without the secret, nobody can compute
 * which keys collide. hash=sip13 alone draws a random secret and keeps it inside the image, which
 * protects while the image itself stays private. key=outside keeps it out of the image: then the
 * secret goes into the options here and at every load. */

/* Memory of one filter, for callers that count or place it themselves. `alloc` returns `size` bytes
 * aligned for any type, or NULL; `free` is given the same size. The library clears what `alloc`
 * returns, which touches every page, unless it `is_zeroed`: then creating a large filter is
 * instant, and pages are touched as keys arrive. Never changes. */
struct tamis_allocator {
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *memory, size_t size);
    void *ctx;
    bool is_zeroed; /* what `alloc` returns is all zeros */
};

/* Large pages make queries of a large filter up to twice as fast, because the processor translates
 * an address sooner. The system grants them where it can; the first touch of
 * each then takes 2 MiB at once.
 *
 * Giant ones have 1 GiB and are faster again from a few GiB on. Their administrator has set them
 * aside for programs that ask: a payload of 1 GiB or more takes as many as hold it, all of their
 * memory at once, and large ones where there are too few. */
enum tamis_pages {
    TAMIS_PAGES_LARGE = 0, /* ask for large ones from 4 MiB on */
    TAMIS_PAGES_PLAIN = 1, /* leave it to the system */
    TAMIS_PAGES_GIANT = 2  /* take giant ones from 1 GiB on; else as large */
};

/* Asked now and then during a call that takes long; true stops it. */
typedef bool tamis_stop_fn(void *ctx);

/* Everything optional when creating and loading: start from TAMIS_OPTIONS_INIT, then set what you
 * need. */
#define TAMIS_OPTIONS_INIT TAMIS_INIT(struct tamis_options)

struct tamis_options {
    size_t struct_size;
    const struct tamis_allocator *allocator; /* NULL: malloc and free */
    const uint8_t *secret;                   /* 16 bytes for hash=sip13, or NULL */
    uint64_t max_bytes;                      /* refuse payloads larger than this, also when
                                                they would grow; 0: no limit */
    unsigned threads;                        /* that one call with many keys may use; 0 and 1: only
                                                the caller's. Answers and bytes stay the same */
    enum tamis_pages pages; /* of payloads that nobody else allocates, and of maps */

    /* Stops loading, copying, saving, resizing, folding, growing, building and merging what was
     * built, with TAMIS_CANCELLED and nothing changed. It is kept with the filter, and asked on
     * the caller's thread and on those of a builder, one at a time. NULL: never. */
    tamis_stop_fn *should_stop;
    void *stop_ctx;

    /* The image has passed the gate before, and nobody could change it since: its payload is
     * neither summed nor audited, so that mapping it is instant. The header and the notes are
     * checked as ever. A damaged payload then gives wrong answers, or worse. */
    bool is_trusted;
};

/* Creates an empty filter from a spec. On failure *filter is NULL. Free it with tamis_free.
 * TAMIS_UNSUPPORTED for kinds that are built once: they come out of a builder (see Building).
 * Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_create(tamis **filter, const char *spec);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_create_with(tamis **filter, const char *spec,
                                                          const struct tamis_options *options);

/* Frees a filter, after wiping its secret. NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_free(tamis *filter);

/* Copies a filter: same kind, shape, hash, notes and keys. The copy owns its bytes even when
 * `filter` is a view. Threads: readers or one writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_copy(tamis **copy, const tamis *filter);

/* ==== Planning ============================================================================== */

enum { TAMIS_WORDS = 8 }; /* a shape has at most this many named words */

/* The result of planning a spec. Rates are fractions: 0.01 is one per cent. */
#define TAMIS_PLAN_INIT TAMIS_INIT(struct tamis_plan)

struct tamis_plan {
    size_t struct_size;
    const char *kind;
    uint64_t capacity;
    double fpr_asked;    /* 0 when the spec gave a size instead */
    double fpr_expected; /* by the kind's own formula, with `capacity` keys inside; or at worst */
    double bits_per_key; /* of payload; 0 for capacity 0 */
    uint64_t payload_bytes;
    uint64_t stored_bytes;              /* the image without notes */
    uint64_t probes;                    /* bits or cells that a query reads, at most; where
                                           nothing bounds them, on average when full */
    uint64_t word[TAMIS_WORDS];         /* the shape ... */
    const char *word_name[TAMIS_WORDS]; /* ... and its names; NULL for unused words */
    unsigned abilities;                 /* of enum tamis_ability, with these options */
    uint64_t reliable_count;            /* as in struct tamis_info */
};

/* Plans a spec without allocating anything, however large the filter. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_plan_spec(const char *spec, struct tamis_plan *plan);

/* The rate that a filter of this spec has after `items` adds, by the formula of its kind: while it
 * fills up, or beyond its capacity. TAMIS_FULL beyond the capacity of kinds that need not take more
 * keys. On failure *fpr stays as it was. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_plan_fpr(const char *spec, uint64_t items,
                                                       double *fpr);

/* One option of a spec, as written there. */
#define TAMIS_SPEC_OPTION_INIT TAMIS_INIT(struct tamis_spec_option)

struct tamis_spec_option {
    size_t struct_size;
    char kind[32]; /* the kind that the spec names; "" when it leaves it out */
    char name[32]; /* "" after the last option */
    char value[96];
};

/* Reads the i-th option of a spec, from 0 on, and with any `i` its kind. Only the form is checked:
 * whether the kind exists, knows the option and takes the value is for tamis_plan_spec. On failure
 * *option stays as it was. Threads: any. */
TAMIS_API tamis_status tamis_spec_read(const char *spec, size_t i,
                                       struct tamis_spec_option *option);

/* Writes a spec with one option changed, or added where it has none of the name, to `text` (always
 * terminated, cut at `size`); with NULL for `name` the kind is changed, and options stay. Returns
 * the length of the whole text, or 0, see tamis_why(), for what is not a spec, a
 * name or a value by its form. `text` may not overlap the others. Threads: any. */
TAMIS_API size_t tamis_spec_set(const char *spec, const char *name, const char *value, char *text,
                                size_t size);

/* ==== Querying ==============================================================================
 *
 * Calls come in forms for the keys at hand. Many keys at once are faster, and of a call that can
 * fail all keys are taken or none:
 *
 *                            key   _u64  _u64s  _many  _packed    _hash  _hashes
 *     tamis_has               x     x      x      x       x         x       x
 *     tamis_add               x     x      x      x       x         x       x
 *     tamis_count             x     x      x      x       x         x       x
 *     tamis_get               x     x      x      x       x         x       x
 *     tamis_builder_add       x     x      x      x       x         x       x
 *     tamis_builder_put       x     x      x      x       x         x       x
 *     tamis_put               x     x                               x
 *     tamis_remove            x     x                               x
 *     tamis_add_new           x                                     x
 *     tamis_builder_exclude   x                                     x
 *
 * _u64 takes an integer, hashed as its 8 little-endian bytes; _many a list of pointers and lengths;
 * _packed keys of one width, stored contiguously: digests, addresses, identifiers. The forms on
 * hashes are in tamis_engine.h. */

/* A key for the calls that take many. Never changes: lists of it are the caller's. */
struct tamis_key {
    const void *bytes;
    size_t len;
};

/* False: the key is certainly not in the set. True: it is, or this is a false positive. (Kinds
 * whose keys expire, or that may forget, say so in their contract.) Threads: readers or one writer;
 * see tamis_add_shared. */
TAMIS_API bool tamis_has(const tamis *filter, const void *key, size_t len);

/* Queries `n` keys at once, which is faster: hit[i] becomes 1 or 0 for keys[i].
 * Threads: as tamis_has. */
TAMIS_API void tamis_has_many(const tamis *filter, const struct tamis_key *keys, size_t n,
                              uint8_t *hit);

/* The same for integers. Threads: as tamis_has. */
TAMIS_API bool tamis_has_u64(const tamis *filter, uint64_t key);
TAMIS_API void tamis_has_u64s(const tamis *filter, const uint64_t *keys, size_t n, uint8_t *hit);

/* The same for `n` keys of `width` bytes each, stored contiguously. Faster than a list of pointers
 * to them. Threads: as tamis_has. */
TAMIS_API void tamis_has_packed(const tamis *filter, const void *keys, size_t width, size_t n,
                                uint8_t *hit);

/* How often the key was added and not removed, for kinds with TAMIS_CAN_COUNT. Never too low up to
 * reliable_count of tamis_measure, too high as rarely as a false positive occurs. Other kinds
 * return 1 for what they have and 0 for the rest. Threads: as tamis_has. */
TAMIS_API uint64_t tamis_count(const tamis *filter, const void *key, size_t len);
TAMIS_API uint64_t tamis_count_u64(const tamis *filter, uint64_t key);

/* counts[i] becomes that of the i-th of `n` keys. Threads: as tamis_has. */
TAMIS_API void tamis_count_many(const tamis *filter, const struct tamis_key *keys, size_t n,
                                uint64_t *counts);
TAMIS_API void tamis_count_u64s(const tamis *filter, const uint64_t *keys, size_t n,
                                uint64_t *counts);
TAMIS_API void tamis_count_packed(const tamis *filter, const void *keys, size_t width, size_t n,
                                  uint64_t *counts);

/* Kinds with TAMIS_CAN_GET map keys to values. False: the key is not in the map, and *value stays.
 * True: *value is the key's value; or, for a key that is not in the map, anything, as rarely as a
 * false positive occurs (always, for a map without guard bits). What approximator returns is an
 * upper bound. Threads: as tamis_has. */
TAMIS_API bool tamis_get(const tamis *filter, const void *key, size_t len, uint64_t *value);
TAMIS_API bool tamis_get_u64(const tamis *filter, uint64_t key, uint64_t *value);

/* hit[i] becomes 1 or 0 for the i-th of `n` keys, and values[i] its value where that is 1.
 * Threads: as tamis_has. */
TAMIS_API void tamis_get_many(const tamis *filter, const struct tamis_key *keys, size_t n,
                              uint64_t *values, uint8_t *hit);
TAMIS_API void tamis_get_u64s(const tamis *filter, const uint64_t *keys, size_t n, uint64_t *values,
                              uint8_t *hit);
TAMIS_API void tamis_get_packed(const tamis *filter, const void *keys, size_t width, size_t n,
                                uint64_t *values, uint8_t *hit);

/* Kinds with TAMIS_CAN_LABEL hold many named sets. Writes the numbers of the sets that have the
 * key, ascending, to `labels`, at most `room` of them, and returns how many there are in all.
 * Threads: as tamis_has. */
TAMIS_API size_t tamis_labels(const tamis *filter, const void *key, size_t len, uint64_t *labels,
                              size_t room);

/* How many labels there are, 0 for other kinds, and what they are called; NULL for a number that
 * is too large. Names are valid until the filter changes. Threads: as tamis_has. */
TAMIS_API uint64_t tamis_label_count(const tamis *filter);
TAMIS_API const char *tamis_label_name(const tamis *filter, uint64_t label);

/* ==== Changing ============================================================================== */

/* Adds a key. Adding it again is harmless, but kinds without TAMIS_ADDS_ONCE count or store it once
 * more. Fails with TAMIS_READONLY on a view or map, with TAMIS_UNSUPPORTED for kinds that are built
 * once, with TAMIS_FULL for kinds of fixed capacity, with TAMIS_INVALID for an empty key where
 * TAMIS_NO_EMPTY_KEY says so. Threads: one writer, and no readers. */
TAMIS_API tamis_status tamis_add(tamis *filter, const void *key, size_t len);
TAMIS_API tamis_status tamis_add_u64(tamis *filter, uint64_t key);

/* Adds `n` keys: all of them, or none when it fails. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_add_many(tamis *filter, const struct tamis_key *keys, size_t n);
TAMIS_API tamis_status tamis_add_u64s(tamis *filter, const uint64_t *keys, size_t n);
TAMIS_API tamis_status tamis_add_packed(tamis *filter, const void *keys, size_t width, size_t n);

/* Adds a key `times` times in one call, with the result of that many calls of tamis_add; 0 changes
 * nothing. For kinds that need one step per add, all but countmin and rediscms, the maximum is
 * 65,536 (else TAMIS_INVALID). Threads: as tamis_add. */
TAMIS_API tamis_status tamis_add_times(tamis *filter, const void *key, size_t len, uint64_t times);

/* Adds a key unless it is already there, and reports which: *is_new is false for a key that was
 * there or is a false positive. Kinds with TAMIS_AGES refresh it in both cases. If keys are removed
 * later, use tamis_add: a key that a false positive kept out would be lost once that other key is
 * removed. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_add_new(tamis *filter, const void *key, size_t len, bool *is_new);

/* Undoes one add of a key. You must know that the key was added and not removed since: removing a
 * false positive would damage another key.
 * TAMIS_NOT_FOUND, and nothing changed, when the filter can tell that the key is not there.
 * Threads: as tamis_add. */
TAMIS_API tamis_status tamis_remove(tamis *filter, const void *key, size_t len);
TAMIS_API tamis_status tamis_remove_u64(tamis *filter, uint64_t key);

/* Sets the value of a key, for kinds with TAMIS_CAN_PUT. approximator takes any key and keeps the
 * join of what was put (the larger number, or all bits of both). bloomier with update=yes changes
 * the value of a key that it was built with; you must know that the key is there. TAMIS_NOT_FOUND,
 * and nothing changed, when the filter can tell that it is not. TAMIS_INVALID for a value that does
 * not fit the width. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_put(tamis *filter, const void *key, size_t len, uint64_t value);
TAMIS_API tamis_status tamis_put_u64(tamis *filter, uint64_t key, uint64_t value);

/* Empties the filter, keeping its present shape and its notes. TAMIS_UNSUPPORTED for kinds that
 * grow, whose first shape is gone, and for those that are built once. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_clear(tamis *filter);

/* Advances time by one step, for kinds with TAMIS_CAN_TICK: keys older than their guarantee expire.
 * Threads: as tamis_add. */
TAMIS_API tamis_status tamis_tick(tamis *filter);

/* Resizes the filter for `capacity` keys in all, more or fewer than now, without needing the keys.
 * No answer changes; but fingerprint bits become address bits, so a filter that was doubled and
 * then filled has twice the rate. Only kinds with TAMIS_CAN_RESIZE. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_resize(tamis *filter, uint64_t capacity);

/* How many more adds fit into the memory that the filter has now: UINT64_MAX where any number
 * fits. Kinds with TAMIS_CAN_GROW take more by moving to more memory; the others return TAMIS_FULL.
 * Where adding a key again does nothing, only new keys need room. Threads: as tamis_has. */
TAMIS_API uint64_t tamis_remaining(const tamis *filter);

/* Adds from many threads: any number of them may call the _shared functions and query at the same
 * time, without locks. A key is found by every query that starts after its add returned; a query
 * during the add may return either. Only kinds with TAMIS_CAN_SHARE. Queries here are tamis_hash,
 * tamis_has, tamis_count, tamis_get and tamis_trace, with their forms for many keys, numbers and
 * hashes, and those of tamis_inline.h. Calls that read the whole filter (tamis_measure, tamis_copy,
 * tamis_save, tamis_overlap, ...) must wait until the adds are done. All of it is clean under
 * -fsanitize=thread, which builds the library without vector kernels. Threads: any number of
 * tamis_add_shared, tamis_add_hashes_shared and queries. */
TAMIS_API tamis_status tamis_add_shared(tamis *filter, const void *key, size_t len);

/* ==== Building ==============================================================================
 *
 * The smallest and fastest kinds (fuse, ribbon, gcs, bloomier, cascade, labels) are made from all
 * their keys at once. A builder takes the keys as a stream, in any order and with repeats, keeps 8
 * bytes of each (16 with a value), on disk when memory runs out, and then makes the filter in
 * parallel, segment by segment. Every other kind can be built too, and a capacity that the spec
 * leaves out is counted. The same set of keys gives the same bytes, whatever the order and the
 * number of threads (for kinds that age, order is time and is kept), and whatever the memory limit
 * as long as it is large enough for one segment: see tamis_builder_get_info.
 *
 *     tamis_builder *b;
 *     tamis_status rc = tamis_builder_create(&b, "fuse:fpr=1/256", 512 << 20, "/var/tmp");
 *     while (!rc && next_key(&key, &len)) rc = tamis_builder_add(b, key, len);
 *     if (!rc) rc = tamis_builder_finish_to(b, "words.tamis");
 *     tamis_builder_free(b); */
typedef struct tamis_builder tamis_builder;

enum tamis_stage {
    TAMIS_STAGE_SORT,  /* counts sorted records */
    TAMIS_STAGE_BUILD, /* counts records in the filter */
    TAMIS_STAGE_VERIFY /* counts records that were queried */
};

/* Everything optional: start from TAMIS_BUILDER_OPTIONS_INIT. */
#define TAMIS_BUILDER_OPTIONS_INIT TAMIS_INIT(struct tamis_builder_options)

struct tamis_builder_options {
    size_t struct_size;
    const struct tamis_options *filter; /* allocator, secret, max_bytes of the filter; or NULL */
    uint64_t memory_limit;              /* bytes that the builder may use, at least 1 MiB; 0: no
                                           limit. The filter that tamis_builder_finish returns, and
                                           one that keys are added to, are not counted */
    const char *temp_dir;               /* for the rest; NULL: $TMPDIR or /tmp */
    unsigned threads;                   /* to use; 0 and 1: only the caller's */
    bool verify;                        /* query every key before returning the filter, for kinds
                                           that do not forget */

    /* Called while finishing, at the start and the end of each stage and in between, by one thread
     * at a time; false makes the call fail with TAMIS_CANCELLED. NULL: none. Keys that are added to
     * a filter directly have no stages. */
    bool (*progress)(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total);
    void *progress_ctx;
};

/* Creates a builder. A spec that cannot work is refused here, as is one whose capacity needs more
 * memory than the limit (TAMIS_NOMEM, naming the minimum). The capacity may be omitted; then adding
 * fails as soon as there are more keys than the limit allows. On failure *builder
 * is NULL. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_builder_create(tamis_builder **builder,
                                                             const char *spec,
                                                             uint64_t memory_limit,
                                                             const char *temp_dir);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_builder_create_with(
    tamis_builder **builder, const char *spec, const struct tamis_builder_options *options);

/* Creates a builder that continues from a filter: same kind, shape, hash, notes, labels and keys.
 * Use it to add keys and labels to what was built before. The shape was planned for the first keys,
 * so with many more the rate rises. Only kinds with TAMIS_IS_BUILT and TAMIS_CAN_LIST. Threads: as
 * tamis_has. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_builder_continue(
    tamis_builder **builder, const tamis *filter, const struct tamis_builder_options *options);

/* The same with other labels: one entry per label of the filter, in their order. Labels that get
 * the same name become one. NULL for `labels` keeps them all. Threads: as tamis_has. */
struct tamis_relabel {
    const char *name; /* from now on; NULL: the label is gone, and its keys with it */
    bool is_emptied;  /* its keys are gone, its name and its place stay */
};

TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_builder_continue_labels(
    tamis_builder **builder, const tamis *filter, const struct tamis_relabel *labels,
    const struct tamis_builder_options *options);

/* Frees a builder and what it keeps in memory and on disk. NULL is allowed.
 * Threads: one, with no other user. */
TAMIS_API void tamis_builder_free(tamis_builder *builder);

/* Takes keys. For kinds with values a key without one has the value 0 (approximator: 1); for
 * cascade it is a member; for labels it belongs to the label of the last tamis_builder_label.
 * TAMIS_IO when the temporary directory is full. Of many keys all are taken, or none when it fails:
 * then the call may be repeated. Threads: one. */
TAMIS_API tamis_status tamis_builder_add(tamis_builder *builder, const void *key, size_t len);
TAMIS_API tamis_status tamis_builder_add_many(tamis_builder *builder, const struct tamis_key *keys,
                                              size_t n);
TAMIS_API tamis_status tamis_builder_add_u64(tamis_builder *builder, uint64_t key);
TAMIS_API tamis_status tamis_builder_add_u64s(tamis_builder *builder, const uint64_t *keys,
                                              size_t n);
TAMIS_API tamis_status tamis_builder_add_packed(tamis_builder *builder, const void *keys,
                                                size_t width, size_t n);

/* Takes a key with its value (TAMIS_CAN_GET). A key may come again with the same value; with
 * another one, finishing fails with TAMIS_CONFLICT, except that approximator joins them.
 * Threads: one. */
TAMIS_API tamis_status tamis_builder_put(tamis_builder *builder, const void *key, size_t len,
                                         uint64_t value);
TAMIS_API tamis_status tamis_builder_put_u64(tamis_builder *builder, uint64_t key, uint64_t value);
TAMIS_API tamis_status tamis_builder_put_many(tamis_builder *builder, const struct tamis_key *keys,
                                              const uint64_t *values, size_t n);
TAMIS_API tamis_status tamis_builder_put_u64s(tamis_builder *builder, const uint64_t *keys,
                                              const uint64_t *values, size_t n);
TAMIS_API tamis_status tamis_builder_put_packed(tamis_builder *builder, const void *keys,
                                                size_t width, const uint64_t *values, size_t n);

/* Takes a key that must be answered no, for cascade. A key on both lists makes finishing fail with
 * TAMIS_CONFLICT. Threads: one. */
TAMIS_API tamis_status tamis_builder_exclude(tamis_builder *builder, const void *key, size_t len);

/* Keys that follow belong to this label, new or existing; for labels. Names are UTF-8
 * of 1 to 255 bytes without control characters. Threads: one. */
TAMIS_API tamis_status tamis_builder_label(tamis_builder *builder, const char *name);

/* Sets a note of the future filter. Threads: one. */
TAMIS_API tamis_status tamis_builder_set_note(tamis_builder *builder, const char *name,
                                              const char *value);

/* Makes the filter: as a handle, or as an image that replaces `path`, written piece by piece so
 * that it need not fit into memory. Whatever happens, `path` is the old file or the whole new one.
 * After a failure, and after tamis_builder_finish_to, the builder can finish again, to another path
 * say, but takes no more keys. Threads: one; it starts those it needs. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_builder_finish(tamis_builder *builder,
                                                             tamis **filter);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_builder_finish_to(tamis_builder *builder,
                                                                const char *path);

/* How the last filter was cut into segments, for kinds with TAMIS_IS_BUILT; all 0 for the others.
 * Segments are smaller than requested when the memory limit requires it, which costs about
 * `bits_more` bits per key. Threads: one. */
#define TAMIS_BUILDER_INFO_INIT TAMIS_INIT(struct tamis_builder_info)

struct tamis_builder_info {
    size_t struct_size;
    uint64_t records;       /* distinct */
    uint64_t segments;      /* that the payload was made in */
    uint64_t segment;       /* planned keys of each ... */
    uint64_t segment_asked; /* ... and without the memory limit */
    double bits_more;
};

TAMIS_API void tamis_builder_get_info(const tamis_builder *builder,
                                      struct tamis_builder_info *info);

/* After TAMIS_CONFLICT: the hash that has two values. Threads: one. */
TAMIS_API uint64_t tamis_builder_conflict(const tamis_builder *builder);

/* ==== Sets ================================================================================== */

/* NULL when the two filters can be merged, intersected and compared; otherwise a message naming the
 * first difference (kind, shape, hash, seed, secret), the same as from tamis_why. Threads: readers
 * or one writer. */
TAMIS_API const char *tamis_mismatch(const tamis *a, const tamis *b);

/* `into` becomes the filter of both sets: with TAMIS_ANY_ORDER bit for bit what adding all keys to
 * one filter would have given, otherwise one that has every key of both. Filters that differ only
 * in size are merged where the kind can: into the larger size for blocked, split, universal and
 * most of classic, with a higher rate than of one size, because the smaller filter does not say
 * where its keys would be (see tamis_fpr_now); into the smaller size where the larger filter folds
 * to exactly that. `into` then has the capacity and the target rate of that size. TAMIS_FULL, and
 * nothing changed, when a kind of fixed capacity has no room for both. Threads: one writer of
 * `into`, readers of `from`. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_merge(tamis *into, const tamis *from);

/* `into` keeps what both have: every key that was added to both, and a few more false positives
 * than a filter of those keys alone. So tamis_items_now refuses from then on, and the caveat of
 * tamis_measure says why: call tamis_overlap first. Threads: as tamis_merge. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_intersect(tamis *into, const tamis *from);

/* `into`, which may be one of them, becomes the sum of `n` sketches, each times its weight: weights
 * 1 and -1 give the counts since a copy was made, for example. With n = 0 it becomes empty.
 * TAMIS_FULL, and nothing changed, when a counter would be negative or overflow, or items would be
 * negative or over 2^63-1. For kinds whose counters add up: countmin with update=plain, and
 * rediscms. Threads: one writer of `into`, readers of all `from`. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_merge_weighted(tamis *into, const tamis *const *from,
                                                             const int64_t *weights, size_t n);

/* Makes the filter `by` times smaller: it keeps every key, and its rate rises. A filter that was
 * planned too large is cut to size without its keys. `by` must divide the filter's number of blocks
 * (or bits): plan with size=2^N to fold by any power of two. Threads: one writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_fold(tamis *filter, uint64_t by);

/* Keeps only `keep` bits, 1 to 16, of each number of a sketch, to send or store millions of them:
 * minhash. It can still be compared, less precisely, with sketches that were shrunk to the same
 * number, but takes no more keys and cannot be merged. Only kinds with TAMIS_CAN_SHRINK. Threads:
 * one writer. */
TAMIS_API tamis_status tamis_shrink(tamis *filter, unsigned keep);

/* ==== Measuring ============================================================================= */

/* A number with its standard error: the truth is within 2 errors in about 95 of 100 cases. Never
 * changes: other structs contain it. */
struct tamis_estimate {
    double value;
    double error;
};

/* What a filter is and how full. Rates are fractions. */
#define TAMIS_INFO_INIT TAMIS_INIT(struct tamis_info)

struct tamis_info {
    size_t struct_size;
    const char *kind;
    const char *contract; /* what the kind promises, in one line */
    uint32_t kind_id;
    bool is_view;
    bool is_saturated; /* so full that most non-members are answered yes: fpr_now is above one half,
                          and halfway from what was asked to 1 */
    bool is_degraded;  /* fpr_now is more than twice what was asked */
    uint64_t capacity;
    uint64_t items; /* adds so far; an upper bound of the distinct keys */
    uint64_t payload_bytes;
    uint64_t stored_bytes; /* the whole image with notes */
    uint64_t probes;
    double fpr_asked;                /* 0 when the spec gave a size instead */
    double fpr_expected;             /* by formula, with `capacity` keys; in the long run for kinds
                                        that age, with its items for one that has grown */
    double fpr_now;                  /* from the bits that are set now */
    double fill;                     /* share of bits that are set */
    struct tamis_estimate items_now; /* distinct keys, estimated; value is infinite if saturated */
    const char *hash;      /* "xxh3", "xxh64", "mix8", "sip13"; "own" for imported kinds */
    const char *key_place; /* "none", "inside", "outside" */
    uint64_t seed;
    uint64_t key_id; /* 0 without a secret */
    uint64_t word[TAMIS_WORDS];
    const char *word_name[TAMIS_WORDS];
    unsigned abilities;      /* of enum tamis_ability, with this filter's options */
    uint64_t reliable_count; /* up to this tamis_count is never too low; 0 for kinds that cannot */
    uint64_t affected;       /* how many counters, cells or keys the caveat is about */
    char caveat[128];        /* what is no longer guaranteed, as a sentence; "" for nothing */

    /* By how much tamis_count may be too high now, except with probability count_error_prob:
     * countmin. Both are 0 for other kinds, whose counts are too high as rarely as fpr_now says. */
    double count_error, count_error_prob;

    /* Some bits belong to no key, after tamis_intersect and after tamis_merge of two sizes:
     * items_now is then too high, and tamis_items_now, tamis_overlap and tamis_similarity
     * refuse. */
    bool has_stray_bits;

    /* How many adds until one advances time by itself, as tamis_tick does: window by adds. 0: the
     * next one. UINT64_MAX: none ever does. */
    uint64_t adds_to_tick;
};

/* Describes a filter, reading its whole payload. Threads: readers or one writer. */
TAMIS_API void tamis_measure(const tamis *filter, struct tamis_info *info);

/* Describes a filter at once, without reading its payload: fpr_expected and what follows from the
 * bits (fpr_now, fill, items_now, is_saturated, is_degraded, affected, caveat) are zero.
 * Threads: readers or one writer. */
TAMIS_API void tamis_get_info(const tamis *filter, struct tamis_info *info);

/* The current false-positive rate, from the bits that are set. Threads: readers or one writer. */
TAMIS_API double tamis_fpr_now(const tamis *filter);

/* Estimates the number of distinct keys from the bits. TAMIS_SATURATED when too few bits are left.
 * Threads: readers or one writer. */
TAMIS_API tamis_status tamis_items_now(const tamis *filter, struct tamis_estimate *items);

/* How many keys two filters have in common, and the Jaccard similarity of their sets (common keys
 * over all keys, 0 to 1). The filters must match. Compare a small value with its error. Threads:
 * readers or one writer. */
TAMIS_API tamis_status tamis_overlap(const tamis *a, const tamis *b, struct tamis_estimate *common);
TAMIS_API tamis_status tamis_similarity(const tamis *a, const tamis *b,
                                        struct tamis_estimate *jaccard);

/* The secret of hash=sip13, inside the image or outside; false when the filter has none. Anyone who
 * has it can choose keys that collide. Threads: readers or one writer. */
TAMIS_API bool tamis_secret(const tamis *filter, uint8_t secret[16]);

/* Writes the spec of an empty filter like this one to `text` (always terminated, truncated to
 * `size`) and returns its full length. Threads: readers or one writer. */
TAMIS_API size_t tamis_spec(const tamis *filter, char *text, size_t size);

/* ==== Bytes =================================================================================
 *
 * An image is the same everywhere: in a file, a database value, a message. All four loaders check
 * all of it (lengths, checksums, shape, stray bits) before they return a handle. */

/* Bytes of the image, with notes. Threads: readers or one writer. */
TAMIS_API uint64_t tamis_image_size(const tamis *filter);

/* Writes the image to `image`, whose `size` is at least tamis_image_size. Threads: readers or one
 * writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_serialize(const tamis *filter, void *image,
                                                        size_t size);

/* Writes `size` bytes of the image from `offset` on, to send or store it in pieces: of a filter
 * that does not change in between, they make up the image. Only a piece that overlaps the header,
 * the first 192 bytes, reads the whole payload, for the checksum. TAMIS_INVALID past the end of the
 * image. Threads: readers or one writer. */
TAMIS_API tamis_status tamis_serialize_at(const tamis *filter, uint64_t offset, void *bytes,
                                          size_t size);

/* A pointer to the payload (with split and hash=xxh64 these are Parquet's filter bytes), valid
 * until the filter changes. Threads: readers or one writer. */
TAMIS_API const void *tamis_payload(const tamis *filter, uint64_t *size_bytes);

/* A filter from an image in memory: every byte is copied once, and the copy is checked. So others
 * may write to the image during the call: the filter is valid, or the call fails. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_load(tamis **filter, const void *image, size_t size);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_load_with(tamis **filter, const void *image,
                                                        size_t size,
                                                        const struct tamis_options *options);

/* A read-only filter on an image in memory, at any alignment. The bytes are borrowed: they are
 * checked once, and must not change until tamis_free. If others may write to them, use tamis_load.
 * Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_view(tamis **filter, const void *image, size_t size);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_view_with(tamis **filter, const void *image,
                                                        size_t size,
                                                        const struct tamis_options *options);

/* A read-only filter on a mapped file, shared between processes through the page cache. The file
 * must not be changed or truncated while it is mapped: the answers would come from bytes that were
 * never checked, and a read past the new end raises SIGBUS. (tamis_save replaces the name and is
 * safe.) Where others may do that, use tamis_read. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_map(tamis **filter, const char *path);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_map_with(tamis **filter, const char *path,
                                                       const struct tamis_options *options);

/* A filter from a file, read once into memory, ready to change. TAMIS_IO when the file becomes
 * shorter or longer during the call; if it is overwritten, the result is the old filter, the new
 * one, or TAMIS_CORRUPT by its checksum. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_read(tamis **filter, const char *path);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_read_with(tamis **filter, const char *path,
                                                        const struct tamis_options *options);

/* Saves the image: writes it beside `path`, flushes it to disk and renames it. Whatever happens,
 * `path` is the old file or the whole new one, with the owner, group and permissions of the old one
 * where the system allows it; a new image with a secret inside is readable by its owner only. If
 * two programs read, change and save one file, the changes of one are lost: use an edit
 * (tamis_edit.h). options.should_stop is asked until the flush, which is the system's. Threads:
 * readers or one writer. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_save(const tamis *filter, const char *path);

/* Notes are pairs of text in the image: comment, source, how keys were normalised. Names are 1 to
 * 64 characters of a-z 0-9 . _ - and values UTF-8 text without NUL, 1 MiB in all. */

/* The value of a note, valid until notes change; NULL when there is none. Threads: readers or one
 * writer. */
TAMIS_API const char *tamis_note(const tamis *filter, const char *name);

/* The i-th note in the order of names, false when there are fewer. Threads: readers or one
 * writer. */
TAMIS_API bool tamis_note_at(const tamis *filter, size_t i, const char **name, const char **value);

/* Sets a note; NULL as value removes it. Threads: one writer. */
TAMIS_API tamis_status tamis_set_note(tamis *filter, const char *name, const char *value);

/* Receives output in pieces, in order; false stops the writer. */
typedef bool tamis_write_fn(void *ctx, const void *bytes, size_t size);

/* ==== Kinds ================================================================================= */

/* What a kind can do besides answering queries, and how it behaves. */
enum tamis_ability {
    TAMIS_CAN_ADD = 1 << 0,
    TAMIS_CAN_SHARE = 1 << 1, /* many threads may add at once */
    TAMIS_CAN_MERGE = 1 << 2,
    TAMIS_CAN_INTERSECT = 1 << 3,
    TAMIS_CAN_FOLD = 1 << 4,
    TAMIS_CAN_GROW = 1 << 5, /* takes more than its capacity and keeps its rate */
    TAMIS_OWN_HASH = 1 << 6, /* imported: hashes keys itself, no calls on hashes */
    TAMIS_CAN_REMOVE = 1 << 7,
    TAMIS_CAN_COUNT = 1 << 8,
    TAMIS_CAN_TICK = 1 << 9, /* knows time: tamis_tick */
    TAMIS_CAN_LIST = 1 << 10,
    TAMIS_CAN_RESIZE = 1 << 11,
    TAMIS_CAN_LOG = 1 << 12,     /* lists which bits changed: tamis_next_change */
    TAMIS_CAN_LEVEL = 1 << 13,   /* has a set for each distance: tamis_level */
    TAMIS_CAN_RETOUCH = 1 << 14, /* clears bits to answer no: tamis_retouch */
    TAMIS_CAN_GET = 1 << 20,     /* maps keys to values: tamis_get */
    TAMIS_CAN_PUT = 1 << 21,     /* values can be set: tamis_put */
    TAMIS_CAN_LABEL = 1 << 22,   /* many named sets: tamis_labels */
    TAMIS_IS_BUILT = 1 << 23,    /* made once from all its keys, by a builder */
    TAMIS_CAN_DIFFER = 1 << 25,  /* lists what differs between two sets: tamis_difference */
    TAMIS_CAN_TRACE = 1 << 26,   /* finds excerpts of what was stored: tamis_trace */
    TAMIS_CAN_SEARCH = 1 << 27,  /* holds prints, which are searched: tamis_fingerprints_similar */
    TAMIS_CAN_SHRINK = 1 << 29,  /* can keep fewer bits of each number: tamis_shrink */

    /* How it behaves. */
    TAMIS_ADDS_ONCE = 1 << 16,    /* adding a key again changes nothing */
    TAMIS_ANY_ORDER = 1 << 17,    /* the same adds in any order make the same bytes */
    TAMIS_AGES = 1 << 18,         /* old keys expire as new ones are added */
    TAMIS_MAY_FORGET = 1 << 19,   /* a no may be wrong: the contract says when */
    TAMIS_NO_EMPTY_KEY = 1 << 24, /* a key of no bytes is refused, and never there */
    TAMIS_IS_SKETCH = 1 << 28     /* knows sets, not keys: every query is answered maybe */
};

/* An option of a spec: name=value. Never changes: the library gives lists of it. */
struct tamis_option {
    const char *name;
    const char *choices;       /* "a|b|c" for a word; NULL for a number */
    uint64_t min, max;         /* of a whole number; both 0 for a rate or a text */
    const char *default_value; /* as a value, or in words */
    const char *help;          /* one line */
};

#define TAMIS_KIND_INFO_INIT TAMIS_INIT(struct tamis_kind_info)

struct tamis_kind_info {
    size_t struct_size;
    const char *name;
    uint32_t id;                        /* as written in images */
    const char *contract;               /* what it promises, in one line */
    unsigned abilities;                 /* of enum tamis_ability */
    const struct tamis_option *options; /* its own, beside the common ones */
    size_t option_count;
};

/* How many kinds this library has. Threads: any. */
TAMIS_API size_t tamis_kind_count(void);

/* Describes the i-th kind, or the one of that name; false when there is none. Threads: any. */
TAMIS_API bool tamis_kind_at(size_t i, struct tamis_kind_info *info);
TAMIS_API bool tamis_kind_named(const char *name, struct tamis_kind_info *info);

/* The options of every kind: capacity, fpr, size, bits, hash, seed, key. Kinds with TAMIS_OWN_HASH
 * take only those before hash, and may have their own options by the names of the others.
 * Threads: any. */
TAMIS_API const struct tamis_option *tamis_common_options(size_t *count);

/* ==== Numbers as people type them =========================================================== */

/* Parse a whole text; false when it is not such a number (see tamis_why). Counts and bytes are up
 * to 2^64-1, rates from 1e-12 to below 1. Threads: any. */
TAMIS_API bool tamis_parse_count(const char *text, uint64_t *count);
TAMIS_API bool tamis_parse_bytes(const char *text, uint64_t *bytes);
TAMIS_API bool tamis_parse_rate(const char *text, double *rate);

/* Whether `typed` may be a slip of the hand for `name`, for "did you mean": the words differ in few
 * letters for their length. `*distance` is then how many letters were added, dropped, changed or
 * swapped with their neighbour. Threads: any. */
TAMIS_API bool tamis_is_slip(const char *typed, const char *name, size_t *distance);

#ifdef __cplusplus
}
#endif

#endif
