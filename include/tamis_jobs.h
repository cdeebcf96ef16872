/* tamis_jobs.h: jobs that take more than one filter, or a filter and a conversation.
 *
 * tamis.h is about one set. Here are protocols and small machines on top of it: two hosts that find
 * out what differs between their sets, caches that tell each other what they hold, a cache that
 * admits what is asked for twice, nodes that add up a value without counting anybody twice. Each is
 * a handle of its own, works on bytes and keys that it is given, and never opens a file, a socket or
 * a thread: who calls it does.
 *
 * Statuses, tamis_why, allocators and options are those of tamis.h. Whoever makes a handle frees it;
 * a call that fails changes nothing. */
#ifndef TAMIS_JOBS_H
#define TAMIS_JOBS_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Difference streams: symbols without end, of which a few more than differ are enough =====
 *
 * Two sets of hashes, on two hosts. One makes coded symbols of its set, one after the other, for as
 * long as somebody wants more; the other takes its own set out of them. What is left is about the
 * hashes that only one side has, and as soon as there are about 1.4 symbols for each of these (1.7
 * when they are few), all of them come out: nobody needs to know before how many there are.
 * (Yang, Gilad and Alizadeh, "Practical Rateless Set Reconciliation", 2024; docs/reconcile.md.)
 *
 *     one host:    tamis_symbols_create(&s, hashes, n, key, NULL);
 *                  for (;;) tamis_symbols_next(s, &symbol, 1), send(symbol);
 *     the other:   tamis_peeler_create(&d, hashes, n, key, NULL);
 *                  while (!tamis_peeler_is_whole(d)) receive(&symbol), tamis_peeler_take(d, &symbol, 1);
 *                  while (tamis_peeler_next(d, &cursor, &hash, &is_ours)) ...
 *
 * Who wants messages, limits and lists on both sides takes a conversation (below) instead. */
typedef struct tamis_symbols tamis_symbols;
typedef struct tamis_peeler tamis_peeler;

enum { TAMIS_STREAM_KEY_BYTES = 16 };

/* One coded symbol: hashes of the set that it covers. Symbol 0 covers all of them, symbol i each
 * with chance 1 / (1 + i/2). */
struct tamis_symbol {
    uint64_t sum;   /* xor of the hashes */
    uint64_t check; /* xor of 40 bits of a keyed hash of each of them; the rest is 0 */
    int64_t count;  /* how many there are */
};

/* What two sets are told apart by: their number and 128 bits of a keyed sum over them. */
struct tamis_digest {
    uint64_t n;
    uint64_t sum[2];
};

/* The symbols of `n` distinct hashes, which are copied; in any order. `key` is 16 bytes that both
 * sides share, or NULL for zeros: without knowing it nobody can prepare keys whose symbols never
 * come apart. TAMIS_INVALID for a hash that is there twice, and for more than 2^31. Of `options` only
 * the memory counts. Threads: any. */
TAMIS_API tamis_status tamis_symbols_create(tamis_symbols **symbols, const uint64_t *hashes,
                                            size_t n, const uint8_t *key,
                                            const struct tamis_options *options);

/* Writes the next `n` symbols to `list`. TAMIS_TOO_LARGE behind the 2^32nd symbol.
 * Threads: one writer. */
TAMIS_API tamis_status tamis_symbols_next(tamis_symbols *symbols, struct tamis_symbol *list,
                                          size_t n);

/* The digest of the set under the stream's key. Threads: readers or one writer. */
TAMIS_API struct tamis_digest tamis_symbols_digest(const tamis_symbols *symbols);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_symbols_free(tamis_symbols *symbols);

/* The receiving side, with its own `n` distinct hashes and the same key. Threads: any. */
TAMIS_API tamis_status tamis_peeler_create(tamis_peeler **peeler, const uint64_t *hashes, size_t n,
                                           const uint8_t *key, const struct tamis_options *options);

/* Takes the next `n` symbols of the other side and works out what they tell. Symbols behind the one
 * that made it whole are ignored. TAMIS_CORRUPT, for this and every later call, when no two sets can
 * have made these symbols. Threads: one writer. */
TAMIS_API tamis_status tamis_peeler_take(tamis_peeler *peeler, const struct tamis_symbol *list,
                                         size_t n);

/* True when every symbol so far is explained: the list is then the whole difference, except by a
 * chance of about 2^-40 for each symbol, which tamis_peeler_digest rules out. Threads: readers or
 * one writer. */
TAMIS_API bool tamis_peeler_is_whole(const tamis_peeler *peeler);

/* The digest of our set with what was found so far put right: that of the other side, when all is
 * well. Threads: readers or one writer. */
TAMIS_API struct tamis_digest tamis_peeler_digest(const tamis_peeler *peeler);

/* How many symbols were taken, the last needed one included. Threads: readers or one writer. */
TAMIS_API uint64_t tamis_peeler_symbols(const tamis_peeler *peeler);

/* Lists what differs, as far as it is known: start with *cursor = 0; false behind the last. `is_ours`:
 * only we have it; otherwise only the other side. Threads: readers or one writer. */
TAMIS_API bool tamis_peeler_next(const tamis_peeler *peeler, uint64_t *cursor, uint64_t *hash,
                                 bool *is_ours);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_peeler_free(tamis_peeler *peeler);

/* So many symbols are enough for `differences` hashes that differ, all but once in a thousand times:
 * for streams that are written to the end before anybody reads them. Threads: any. */
TAMIS_API uint64_t tamis_symbols_enough(uint64_t differences);

/* ==== Reconciling: a conversation at whose end both know what they lack =======================
 *
 * The stream above as messages between two sides that need not trust each other's bytes. One side
 * tells (it sends symbols), the other asks (it works out the difference and says when it is enough).
 * A talk is a machine over bytes: what it gives goes to the other side, what comes from there it
 * takes, in pieces of any size; files, pipes and sockets are the caller's. Both sides do:
 *
 *     tamis_talk_create(&talk, TAMIS_ASKS, hashes, n, &options);
 *     while (!tamis_talk_is_over(talk)) {
 *         while ((size = tamis_talk_give(talk, buffer, sizeof buffer)) > 0) send(buffer, size);
 *         if (tamis_talk_is_over(talk)) break;
 *         size = receive(buffer);
 *         rc = size ? tamis_talk_take(talk, buffer, size) : tamis_talk_end(talk);
 *         if (rc) break;                      (tamis_why has the sentence)
 *     }
 *     rc = tamis_talk_end(talk);              (TAMIS_OK, TAMIS_PARTIAL, or what went wrong)
 *     while (tamis_talk_next(talk, &cursor, &item)) ...
 *
 * After a failure one more round of tamis_talk_give tells the other side why. A list that is whole is
 * right, except by a chance of 2^-128: number and digest of the other set are checked at the end.
 * Nothing here encrypts, and nothing proves who the other side is (docs/reconcile.md: what a shared
 * key protects). */
typedef struct tamis_talk tamis_talk;

enum tamis_side {
    TAMIS_TELLS = 1, /* sends symbols */
    TAMIS_ASKS = 2   /* finds what differs */
};

/* What a side wants to know in the end. */
enum tamis_wants {
    TAMIS_WANTS_HASHES = 0, /* which hashes only one side has */
    TAMIS_WANTS_KEYS = 1,   /* that, and the bytes of the keys it lacks */
    TAMIS_WANTS_NOTHING = 2 /* saves the list on the way to a side that tells */
};

/* Everything optional. Start from {.struct_size = sizeof options}. Limits that are 0 have the presets
 * that stand beside them. */
struct tamis_talk_options {
    size_t struct_size;
    const struct tamis_options *memory; /* allocator; or NULL */
    const char *hash;     /* how keys were hashed, in words that must be the same on both sides, at
                             most 255 bytes: "xxh3", "xxh3 seed=7", "sip13 key=1f0e..." ; or NULL */
    const uint8_t *nonce; /* 16 bytes that are never used again; NULL: the system draws them */
    bool is_one_way;      /* the side that tells writes `symbols` of them, the other only reads */
    uint64_t symbols;     /* one way: so many; 0: those enough for 1 % of the set, 1000 at least */
    enum tamis_wants wants; /* one way: keys cannot be had */

    /* The bytes of a key of ours, when the other side wants keys: false when there is none. They are
     * copied before the next call. NULL: we do not give keys. */
    bool (*key_of)(void *ctx, uint64_t hash, const void **key, size_t *len);
    /* How a key is hashed, so that one that was not asked for is refused; TAMIS_WANTS_KEYS needs it. */
    uint64_t (*hash_of)(void *ctx, const void *key, size_t len);
    void *ctx;

    uint64_t most_symbols; /* taken or sent; 2 for each hash of both sides and 1024, at most 2^25 */
    uint64_t most_keys;    /* that the other side may have; 2^31 */
    uint64_t most_key_bytes; /* of one key; 1 MiB */
    uint64_t most_bytes;     /* that are taken in all, and that keys may need; 4 GiB */
};

/* A talk of `n` distinct hashes, which are copied. Threads: any. */
TAMIS_API tamis_status tamis_talk_create(tamis_talk **talk, enum tamis_side side,
                                         const uint64_t *hashes, size_t n,
                                         const struct tamis_talk_options *options);

/* Takes bytes of the other side, all of them. A failure is for ever: every later call says the same.
 * TAMIS_CORRUPT for what is damaged or against the protocol, TAMIS_NEWER for a version we do not know,
 * TAMIS_MISMATCH when the sides do not fit together, TAMIS_TOO_LARGE over a limit, TAMIS_CANCELLED when
 * the other side gave up. Threads: one writer. */
TAMIS_API tamis_status tamis_talk_take(tamis_talk *talk, const void *bytes, size_t size);

/* Writes at most `room` bytes for the other side and returns how many; 0: there is nothing to say
 * until more was taken, or at all. Threads: one writer. */
TAMIS_API size_t tamis_talk_give(tamis_talk *talk, void *bytes, size_t room);

/* True when nothing more will be said or heard, after a failure too. Threads: readers or one writer. */
TAMIS_API bool tamis_talk_is_over(const tamis_talk *talk);

/* No more bytes will come. TAMIS_OK: the list is whole. TAMIS_PARTIAL: the limit on symbols, or the end
 * of a one-way stream, came before the list was whole; what is listed was found, with a chance of 2^-40
 * for each of being wrong. Otherwise what went wrong, an end in the middle included. Threads: one
 * writer. */
TAMIS_API tamis_status tamis_talk_end(tamis_talk *talk);

/* One hash that only one side has. */
struct tamis_talk_item {
    uint64_t hash;
    bool is_ours;    /* only we have it; otherwise only they */
    const void *key; /* of theirs, when we wanted keys; NULL otherwise. Valid as long as the talk */
    size_t len;
};

/* Lists what differs, once the talk is over: start with *cursor = 0; false behind the last, and for a
 * talk that failed. Threads: readers or one writer. */
TAMIS_API bool tamis_talk_next(const tamis_talk *talk, uint64_t *cursor,
                               struct tamis_talk_item *item);

struct tamis_talk_info {
    uint64_t ours, theirs;   /* hashes that only we, only they have, as far as known */
    uint64_t our_n, their_n; /* sizes of the sets; theirs is 0 until their hello came */
    uint64_t symbols;        /* sent or taken */
    uint64_t symbols_needed; /* of them; 0: not whole, or not told */
    uint64_t bytes_sent, bytes_taken;
    uint64_t symbol_bytes; /* of these, for symbols */
    double bound_bits;     /* what the asking side has to learn at least, if all sets that differ
                                  so much are alike: docs/reconcile.md */
    bool is_whole, is_partial; /* both false: not over, or failed */
};

/* How it went. `info_size` is sizeof *info. Threads: readers or one writer. */
TAMIS_API void tamis_talk_info(const tamis_talk *talk, struct tamis_talk_info *info,
                               size_t info_size);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_talk_free(tamis_talk *talk);

/* ==== Approximate reconciliation: filters instead of lists ==================================== */

/* How many keys only they have, and how many only we have, by a filter of their keys and the hashes
 * of ours, as the filter hashes them (tamis_hash), each once. Their filter must hold each key once,
 * too. Any kind that answers to hashes and does not forget will do: TAMIS_CANNOT for others,
 * TAMIS_SATURATED when it answers yes to everything. With the rate f of the filter the error of both
 * is sqrt(f / (1 - f)) of the root of what only we have. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_difference_by_filter(const tamis *theirs, const uint64_t *ours,
                                                  size_t n, struct tamis_estimate *only_theirs,
                                                  struct tamis_estimate *only_ours);

/* ==== Features: vectors of any words in a fixed number of places ============================== */

/* ==== Summary Cache: who of the neighbours may have it? ======================================= */

/* ==== Admission: what is asked for a second time ============================================== */

/* Three of four things that are asked of a cache are never asked for again. Writing them to disk is
 * work for nothing, and takes the place of what would be asked for. So a cache admits what is asked
 * for a second time (Maggs and Sitaraman 2015), and for that it has to know what it was asked for
 * lately, in a few bits for each:
 *
 *     if (in_cache(url)) serve(url);
 *     else if (tamis_admission_ask(a, url, len)) fetch_and_keep(url);
 *     else fetch_only(url);
 *
 * Two filters, generations: what is asked for goes into the young one; when that has `capacity`
 * keys, the old one is emptied and becomes the young one. A key that was asked for is recognised
 * until `capacity` other keys have been asked for since, without fail, and forgotten after twice as
 * many at the latest. A key that is new is taken for known at a rate of at most the sum of both
 * generations' rates: twice the fpr of the spec, as rarely when both are full. */
typedef struct tamis_admission tamis_admission;

/* Makes one that remembers nothing yet. The spec is that of one generation, with a capacity from 1
 * on: "capacity=1M,fpr=0.1%" is two blocked filters. TAMIS_CANNOT for kinds that grow, age, forget,
 * are built once, do not know keys or hash them their own way. `options` may be NULL.
 * Threads: any. */
TAMIS_API tamis_status tamis_admission_create(tamis_admission **admission, const char *spec,
                                              const struct tamis_options *options);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_admission_free(tamis_admission *admission);

/* Was this asked for lately? From now on it was. One step, whoever else asks: of any number of first
 * requests for a key at the same moment exactly one is answered false. A kind of fixed room that is
 * full before its capacity changes generations then.
 * Threads: any number; those that ask about different keys of kinds with TAMIS_CAN_SHARE do not wait
 * for each other. */
TAMIS_API bool tamis_admission_ask(tamis_admission *admission, const void *key, size_t len);
TAMIS_API bool tamis_admission_ask_hash(tamis_admission *admission, uint64_t hash);

/* A filter that hashes as this does, for tamis_hash and its like; nothing else may be done with it.
 * Threads: any number. */
TAMIS_API const tamis *tamis_admission_hasher(const tamis_admission *admission);

/* What happened so far. */
struct tamis_admission_info {
    uint64_t capacity;      /* of a generation */
    uint64_t asked;         /* since it was made or loaded */
    uint64_t recognised;    /* of these */
    uint64_t turns;         /* how often the generations have changed since then */
    uint64_t young, old;    /* keys in each of them */
    uint64_t payload_bytes; /* of both */
    double fpr_now;         /* how often a new key is taken for known */
    const char *kind;
};

/* Reads both payloads. `info_size` is sizeof *info. Threads: any number; others wait. */
TAMIS_API void tamis_admission_info(tamis_admission *admission, struct tamis_admission_info *info,
                                    size_t info_size);

/* Its memory as bytes, so that a cache that starts again knows what it knew: how many they are, and
 * the bytes; TAMIS_INVALID when `size` is another number. Both generations are images inside.
 * Threads: any number; others wait meanwhile. */
TAMIS_API uint64_t tamis_admission_size(tamis_admission *admission);
TAMIS_API tamis_status tamis_admission_bytes(tamis_admission *admission, void *bytes, size_t size);

/* Makes one from such bytes, which may come from anywhere: what is damaged is refused with
 * TAMIS_CORRUPT, and the limit of `options` on bytes holds for each generation. Threads: any. */
TAMIS_API tamis_status tamis_admission_load(tamis_admission **admission, const void *bytes,
                                            size_t size, const struct tamis_options *options);

/* ==== Aggregation: a sum over a network in which nobody counts twice ==========================
 *
 * Nodes of a network want to know the sum, the mean or the extremes of values that all of them have,
 * and that change, without a centre (DIAS: Pournaras, Warnier and Brazier 2013). Sources tell their
 * value to whomever they meet, again and again. A node remembers in a filter which value of which
 * source it has counted: what it has it skips, what is new it counts, and where it has an earlier
 * value of that source it puts the new one in its place. It takes a few bytes for each source.
 *
 *     tamis_aggregate *node;
 *     rc = tamis_aggregate_create(&node, 10000);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 21.5, NULL, 0, NULL);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 22.0, (double[]){21.5}, 1, NULL);
 *     tamis_aggregate_total(node, &total, sizeof total);         count 1, sum 22
 */
typedef struct tamis_aggregate tamis_aggregate;

/* Makes a node for so many sources, which it remembers in a quotient filter with a rate of 1e-5; or
 * in one of this spec, of a kind that can add and remove and never forgets by itself, such as
 * "counting:capacity=10K,fpr=1e-4" or "cuckoo:capacity=10K,fpr=1e-6". `options` may be NULL. On
 * failure *node is NULL. Threads: any. */
TAMIS_API tamis_status tamis_aggregate_create(tamis_aggregate **node, uint64_t sources);
TAMIS_API tamis_status tamis_aggregate_create_with(tamis_aggregate **node, const char *spec,
                                                   const struct tamis_options *options);

/* Frees a node; NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_aggregate_free(tamis_aggregate *node);

enum tamis_aggregated {
    TAMIS_AGGREGATE_COUNTED,  /* for the first time */
    TAMIS_AGGREGATE_REPLACED, /* an earlier value of the same source was counted, and is no longer */
    TAMIS_AGGREGATE_SKIPPED   /* it was counted already; or, seldom, it seems so */
};

/* Takes the value of a source, a finite number. `earlier` are values that the source had before, the
 * latest first, as far back as this node may have met it: the first of them that was counted here is
 * replaced. Without them a source that changed would be counted twice. What happened goes to `what`
 * unless that is NULL. TAMIS_FULL, and nothing changed, when the filter has no room for one more.
 *
 * By accident a value seems to be counted, and is skipped, as often as the filter says yes wrongly;
 * an earlier value seems so as often, and then that is taken off which never was there.
 * Threads: one. */
TAMIS_API tamis_status tamis_aggregate_take(tamis_aggregate *node, const void *source, size_t len,
                                            double value, const double *earlier,
                                            size_t earlier_count, enum tamis_aggregated *what);

/* What a node knows. */
struct tamis_total {
    uint64_t count;      /* sources that are counted */
    double sum, mean;    /* of their values; the mean of none is 0 */
    double min, max;     /* none is smaller, none is larger; 0 without sources */
    bool is_min_counted; /* whether a source surely has it: one that had it may have changed since */
    bool is_max_counted;
    uint64_t counted, replaced, skipped; /* calls */
    double fpr;                          /* of the filter, now */

    /* Sources that were met and are missing, because their value was skipped by accident. At most
     * so many are expected: the rate was lower when they came. */
    struct tamis_estimate lost;
    double sum_lost;   /* that the sum is short of for these, if they are like the others */
    double mean_error; /* standard error of the mean for these */
    uint64_t bytes;    /* of the node, with its filter */
};

/* Tells it; reads the whole filter. `total_size` is sizeof *total. Threads: one. */
TAMIS_API void tamis_aggregate_total(const tamis_aggregate *node, struct tamis_total *total,
                                     size_t total_size);

#ifdef __cplusplus
}
#endif

#endif
