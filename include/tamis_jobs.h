/* SPDX-License-Identifier: MIT */
/* tamis_jobs.h: jobs for several filters, or for two hosts.
 *
 * tamis.h is about one set. This header has protocols and small machines on top of it: two hosts
 * find what differs between their sets, caches announce what they hold, a cache admits what is
 * requested twice, nodes add up values without counting any twice. Each is a handle of its own and
 * works on bytes and keys that you give it. It never opens a file, a socket or a thread.
 *
 * Statuses, tamis_why, allocators and options are those of tamis.h. Free each handle that you
 * create; a call that fails changes nothing. */
#ifndef TAMIS_JOBS_H
#define TAMIS_JOBS_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Difference streams: an endless stream of symbols, of which few are needed ===============
 *
 * Two hosts have a set of hashes each. One makes coded symbols of its set, as many as needed; the
 * other subtracts its own set from them. The rest depends only on the hashes that one side has, and
 * about 1.4 symbols for each of these (1.7 when they are few) are enough to list them all. Neither
 * side needs to know their number in advance. (Yang, Gilad and Alizadeh, "Practical Rateless Set
 * Reconciliation", 2024; docs/reconcile.md.)
 *
 *     one host:    tamis_symbols_create(&s, hashes, n, key, NULL);
 *                  for (;;) tamis_symbols_next(s, &symbol, 1), send(symbol);
 *     the other:   tamis_peeler_create(&d, hashes, n, key, NULL);
 *                  while (!tamis_peeler_is_whole(d)) receive(&symbol), tamis_peeler_take(d,
 *                  &symbol, 1);
 *                  while (tamis_peeler_next(d, &cursor, &hash, &is_ours)) ...
 *
 * For messages, limits and lists on both sides, use a session (below) instead. */
typedef struct tamis_symbols tamis_symbols;
typedef struct tamis_peeler tamis_peeler;

enum { TAMIS_STREAM_KEY_BYTES = 16 };

/* One coded symbol, over the hashes of the set that it covers. Symbol 0 covers all of them, symbol
 * i each with probability 1 / (1 + i/2). Never changes. */
struct tamis_symbol {
    uint64_t sum;   /* xor of the hashes */
    uint64_t check; /* xor of 40 bits of a keyed hash of each; other bits are 0 */
    int64_t count;  /* number of hashes */
};

/* Identifies a set: its size and a 128-bit keyed sum over it. */
struct tamis_digest {
    uint64_t n;
    uint64_t sum[2];
};

/* Creates the symbols of `n` distinct hashes, in any order, which are copied. `key` is 16 bytes
 * that both sides share, or NULL for zeros: without it, nobody can prepare keys whose symbols never
 * decode. TAMIS_INVALID for a duplicate hash, TAMIS_TOO_LARGE for more than 2^31. Of `options` only
 * the memory counts. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_symbols_create(tamis_symbols **symbols,
                                                             const uint64_t *hashes, size_t n,
                                                             const uint8_t *key,
                                                             const struct tamis_options *options);

/* Writes the next `n` symbols to `list`. TAMIS_TOO_LARGE after 2^32 symbols. A failure, TAMIS_NOMEM
 * included, is permanent. Threads: one writer. */
TAMIS_API tamis_status tamis_symbols_next(tamis_symbols *symbols, struct tamis_symbol *list,
                                          size_t n);

/* The digest of the set under the stream's key. Threads: readers or one writer. */
TAMIS_API struct tamis_digest tamis_symbols_digest(const tamis_symbols *symbols);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_symbols_free(tamis_symbols *symbols);

/* Creates the receiving side, with its own `n` distinct hashes and the same key. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_peeler_create(tamis_peeler **peeler,
                                                            const uint64_t *hashes, size_t n,
                                                            const uint8_t *key,
                                                            const struct tamis_options *options);

/* Takes the next `n` symbols of the other side and decodes what it can. Symbols after the last one
 * needed are ignored. TAMIS_CORRUPT when no two sets can have made these symbols. A failure is
 * permanent. Threads: one writer. */
TAMIS_API tamis_status tamis_peeler_take(tamis_peeler *peeler, const struct tamis_symbol *list,
                                         size_t n);

/* True when every symbol so far is explained. The list is then the whole difference, except with
 * probability of about 2^-40 per symbol, which tamis_peeler_digest rules out. Threads: readers or
 * one writer. */
TAMIS_API bool tamis_peeler_is_whole(const tamis_peeler *peeler);

/* The digest of our set after applying the differences found so far: when all is well, that of the
 * other side. Threads: readers or one writer. */
TAMIS_API struct tamis_digest tamis_peeler_digest(const tamis_peeler *peeler);

/* The number of symbols taken, up to the last one needed. Threads: readers or one writer. */
TAMIS_API uint64_t tamis_peeler_symbols(const tamis_peeler *peeler);

/* Lists the differences known so far: start with *cursor = 0; returns false after the last.
 * `is_ours`: only we have it; otherwise only the other side. Threads: readers or one writer. */
TAMIS_API bool tamis_peeler_next(const tamis_peeler *peeler, uint64_t *cursor, uint64_t *hash,
                                 bool *is_ours);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_peeler_free(tamis_peeler *peeler);

/* Symbols needed for `differences` hashes that differ, 999 times in 1000: for streams that are
 * written in full before anyone reads them. Threads: any. */
TAMIS_API uint64_t tamis_symbols_enough(uint64_t differences);

/* ==== Reconciling: a session after which both sides know what they lack =======================
 *
 * The stream above as messages between two sides that need not trust each other's bytes. The sender
 * sends symbols; the receiver works out the difference and reports when it has enough. A session is
 * a state machine over bytes: send its output to the other side, and pass in what you receive, in
 * pieces of any size; files, pipes and sockets are the caller's. Both sides do:
 *
 *     tamis_session_create(&talk, TAMIS_RECEIVER, hashes, n, &options);
 *     while (!tamis_session_is_over(talk)) {
 *         while ((size = tamis_session_output(talk, buffer, sizeof buffer)) > 0) send(buffer,
 *         size);
 *         if (tamis_session_is_over(talk)) break;
 *         size = receive(buffer);
 *         rc = size ? tamis_session_input(talk, buffer, size) : tamis_session_finish(talk);
 *         if (rc) break;                      (see tamis_why)
 *     }
 *     rc = tamis_session_finish(talk);              (TAMIS_OK, TAMIS_PARTIAL, or what went wrong)
 *     while (tamis_session_next(talk, &cursor, &item)) ...
 *
 * After a failure, one more round of tamis_session_output sends the reason to the other side. A
 * whole list is right, except with probability 2^-128: the size and the digest of the other set are
 * checked at the end. Sessions neither encrypt nor authenticate (docs/reconcile.md: what a shared
 * key protects). */
typedef struct tamis_session tamis_session;

enum tamis_side {
    TAMIS_SENDER = 1,  /* sends symbols */
    TAMIS_RECEIVER = 2 /* finds what differs */
};

/* What a side wants to learn. */
enum tamis_wants {
    TAMIS_WANTS_HASHES = 0, /* which hashes only one side has */
    TAMIS_WANTS_KEYS = 1,   /* that, and the bytes of the keys it lacks */
    TAMIS_WANTS_NOTHING = 2 /* saves sending the list to a sender */
};

/* Every field is optional. Start from TAMIS_SESSION_OPTIONS_INIT. A limit of 0 means the default
 * given next to it. */
#define TAMIS_SESSION_OPTIONS_INIT TAMIS_INIT(struct tamis_session_options)

struct tamis_session_options {
    size_t struct_size;
    const struct tamis_options *memory; /* allocator; or NULL */
    const char *hash;       /* how keys were hashed, in words that must be equal on both sides, at
                             most 255 bytes: "xxh3", "xxh3 seed=7", "sip13 key=1f0e..."; or NULL */
    const uint8_t *nonce;   /* 16 bytes, never to be used again; NULL: random */
    bool is_one_way;        /* the sender writes `symbols` of them, the receiver only reads */
    uint64_t symbols;       /* one way: how many; 0: enough for 1 % of the set, at least 1000 */
    enum tamis_wants wants; /* one way: keys are not available */

    /* Returns the bytes of one of our keys, when the other side wants keys; false when there is
     * none. They are copied before the next call. NULL: we do not send keys. */
    bool (*key_of)(void *ctx, uint64_t hash, const void **key, size_t *len);
    /* Hashes a key, so that a key that we did not request is refused; TAMIS_WANTS_KEYS needs it. */
    uint64_t (*hash_of)(void *ctx, const void *key, size_t len);
    void *ctx;

    uint64_t max_symbols;   /* taken or sent; 2 per hash of both sides + 1024, at most 2^25 */
    uint64_t max_keys;      /* of the other side; 2^31 */
    uint64_t max_key_bytes; /* of one key; 1 MiB */
    uint64_t max_bytes;     /* received in all, and memory for keys; 4 GiB */
};

/* Creates a session of `n` distinct hashes, which are copied. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status
tamis_session_create(tamis_session **session, enum tamis_side side, const uint64_t *hashes,
                     size_t n, const struct tamis_session_options *options);

/* Takes bytes from the other side, all of them. A failure is permanent: every later call returns
 * the same. TAMIS_CORRUPT for damaged bytes or a breach of protocol, TAMIS_TOO_NEW for an unknown
 * version, TAMIS_MISMATCH when the sides do not match, TAMIS_TOO_LARGE above a limit,
 * TAMIS_CANCELLED when the other side cancelled. Threads: one writer. */
TAMIS_API tamis_status tamis_session_input(tamis_session *session, const void *bytes, size_t size);

/* Writes at most `room` bytes for the other side and returns how many; 0: nothing to send until
 * more input arrives, or ever. Threads: one writer. */
TAMIS_API size_t tamis_session_output(tamis_session *session, void *bytes, size_t room);

/* True when nothing more will be sent or received, after a failure too. Threads: readers or one
 * writer. */
TAMIS_API bool tamis_session_is_over(const tamis_session *session);

/* No more bytes will come. TAMIS_OK: the list is whole. TAMIS_PARTIAL: the limit on symbols, or the
 * end of a one-way stream, came first; each hash listed is wrong with probability 2^-40. Otherwise
 * the error, including a truncated stream. Threads: one writer. */
TAMIS_API tamis_status tamis_session_finish(tamis_session *session);

/* One hash that only one side has. Never changes. */
struct tamis_session_item {
    uint64_t hash;
    bool is_ours;    /* only we have it; otherwise only the other side */
    const void *key; /* of theirs, if we want keys, or NULL; valid as long as the session */
    size_t len;
};

/* Lists the differences once the session is over: start with *cursor = 0; returns false after the
 * last, and for a session that failed. Threads: readers or one writer. */
TAMIS_API bool tamis_session_next(const tamis_session *session, uint64_t *cursor,
                                  struct tamis_session_item *item);

#define TAMIS_SESSION_INFO_INIT TAMIS_INIT(struct tamis_session_info)

struct tamis_session_info {
    size_t struct_size;
    uint64_t ours, theirs;   /* hashes that only we, only they have, as far as known */
    uint64_t our_n, their_n; /* sizes of the sets; their_n is 0 until their hello arrives */
    uint64_t symbols;        /* sent or taken */
    uint64_t symbols_needed; /* of them; 0: not whole, or not reported */
    uint64_t bytes_sent, bytes_taken;
    uint64_t symbol_bytes;     /* of these, for symbols */
    double bound_bits;         /* least that the receiver must learn: docs/reconcile.md */
    bool is_whole, is_partial; /* both false: not over, or failed */
};

/* Statistics of the session. Threads: readers or one writer. */
TAMIS_API void tamis_session_get_info(const tamis_session *session,
                                      struct tamis_session_info *info);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_session_free(tamis_session *session);

/* ==== Approximate reconciliation: filters instead of lists ====================================
 *
 * Which of our keys does a peer probably lack? The plain way is a filter of their keys and a query
 * for each of ours. It misses a lacking key at the filter's false-positive rate and takes one query
 * per key. A tree takes few when few differ (Byers et al. 2004): both sides see their hashes as the
 * leaves of one binary tree, in which a node's value is made of all hashes below it. They send a
 * filter of their values; we descend from the root and skip every subtree whose value they have,
 * because then they have all of it.
 *
 * A false positive prunes a subtree that differs. `correction` demands more: a subtree is skipped
 * only after correction + 1 nodes in a row were found. With f the rate of the filter, a key whose
 * leaf is L nodes below the root is found with the probability that no correction + 1 of L coins in
 * a row are wrong, times 1 - f. Listed keys are really lacking, unless 64-bit values collide. */

/* Makes the filter of a tree from `n` hashes, ascending and distinct, as tamis_hash returns them.
 * It takes bits_per_key (1 to 256) bits for each; a tree has nearly two nodes per key. Another
 * `seed` makes another filter, which may find what the first one missed. On failure *filter is
 * NULL. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_tree_summary(tamis **filter, const uint64_t *hashes,
                                                           size_t n, double bits_per_key,
                                                           uint64_t seed,
                                                           const struct tamis_options *options);

/* What a walk cost and found. Never changes. */
struct tamis_tree_walk {
    uint64_t asked;   /* nodes queried */
    uint64_t lacking; /* hashes listed */
};

/* Receives a hash of ours that the other side probably lacks; returning false ends the walk with
 * TAMIS_CANCELLED. */
typedef bool tamis_missing_fn(void *ctx, uint64_t hash);

/* Lists which of our `n` hashes, ascending and distinct, are not among those of the filter;
 * correction is from 0 to 16. `walk` and `options` may be NULL. Threads: as tamis_has for the
 * filter. */
TAMIS_API tamis_status tamis_tree_missing(const tamis *filter, const uint64_t *hashes, size_t n,
                                          unsigned correction, tamis_missing_fn *take, void *ctx,
                                          struct tamis_tree_walk *walk,
                                          const struct tamis_options *options);

/* Estimates how many keys only they have, and how many only we have, from a filter of their keys
 * and the hashes of ours (tamis_hash of that filter). Both must contain each key once. Works with
 * any kind that answers to hashes and does not forget: TAMIS_UNSUPPORTED for others,
 * TAMIS_SATURATED when it answers yes to everything. With the rate f of the filter, the error of
 * both is sqrt(f / (1 - f)) of the root of what only we have. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_difference_by_filter(const tamis *theirs, const uint64_t *ours,
                                                  size_t n, struct tamis_estimate *only_theirs,
                                                  struct tamis_estimate *only_ours);

/* ==== Features: vectors of fixed dimension for any words ======================================
 *
 * Feature hashing, for learning from texts without a dictionary: each key chooses one of `places`
 * by its hash, and its weight is added there, with a sign by another bit of the hash when is_signed
 * is set. Keys that collide then cancel out on average:
 *
 *     E <x', y'> = <x, y>,    variance at most (<x, y>^2 + |x|^2 |y|^2) / places
 *
 * for the products of vectors x and y with a place for every key (Weinberger et al. 2009). Without
 * signs a product is too large by about sum(x) sum(y) / places. Vectors with the same shape, seed
 * and signs can be added. The struct never changes. */

struct tamis_features {
    uint64_t places; /* from 1 to 2^32 */
    uint64_t seed;   /* selects another hash function: XXH3, as filters with this seed */
    bool is_signed;
};

/* The place of a key, and 1 or -1 through `sign`, which may be NULL; 0 for a shape without places.
 * Threads: any. */
TAMIS_API uint64_t tamis_features_place(const struct tamis_features *shape, const void *key,
                                        size_t len, int *sign);

/* Adds `weight` for a key to the vector, which has `places` numbers. Threads: one for each
 * vector. */
TAMIS_API void tamis_features_add(const struct tamis_features *shape, float *vector,
                                  const void *key, size_t len, double weight);

/* Adds `n` keys; a weight for each, or 1 where weights is NULL. Threads: as tamis_features_add. */
TAMIS_API void tamis_features_add_many(const struct tamis_features *shape, float *vector,
                                       const struct tamis_key *keys, const double *weights,
                                       size_t n);

/* The same with integers, which saturate. Threads: as tamis_features_add. */
TAMIS_API void tamis_features_count(const struct tamis_features *shape, int32_t *vector,
                                    const void *key, size_t len, int32_t times);

/* ==== Summary Cache: which neighbours may have it? ============================================
 *
 * Neighbouring caches announce what they hold, as filters of 8 to 16 bits per document, and on a
 * miss query only the neighbours that may have it (Fan, Cao, Almeida and Broder 1998). Every cache
 * keeps a filter of its own documents, of a kind with TAMIS_CAN_LOG, and a copy of what each
 * neighbour last announced:
 *
 *     tamis_add, tamis_remove ─▶ own filter ─tamis_announce─▶ messages ─▶ tamis_neighbours_receive
 *                                                                                │
 *     neighbours that may have it ◀──tamis_neighbours_ask── copies of all neighbours ┘
 *
 * The own filter is "counting:capacity=N,bits=B,hashes=4,log=yes", whose messages have the compact
 * form, or "icp:capacity=N,bits=B", whose messages are those of ICP (ICP_OP_DIRUPDATE) and whose
 * positions come from MD5; B is 6 bits per position, and a document should have 8 to 16 positions.
 * docs/caches.md describes both forms byte by byte, and what each choice costs.
 *
 * A message contains what bits *are*, not that they flip, so a lost or repeated one affects only
 * the bits it contains. Messages are numbered, so the receiver knows when some are missing. Every
 * answer of a copy is a hint: the neighbour may have dropped the document since. */

/* How stale the neighbours' copies are. */
#define TAMIS_STALENESS_INIT TAMIS_INIT(struct tamis_staleness)

struct tamis_staleness {
    size_t struct_size;
    uint64_t positions;            /* bits of the summary */
    uint64_t set, cleared;         /* that flipped since the last announcement */
    uint64_t documents;            /* in the filter now */
    struct tamis_estimate unknown; /* documents not yet announced, estimated from the bits */
};

/* Reads every position. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_get_staleness(const tamis *filter, struct tamis_staleness *staleness);

/* True when it is time to announce: documents not yet announced are at least this share of all
 * documents, or all have gone. The paper uses 1% to 10%; with a threshold of 0, one flipped bit is
 * enough. Reads every position: a cache that counts its adds need not call before that many came.
 * Threads: as tamis_has. */
TAMIS_API bool tamis_is_due(const tamis *filter, double threshold);

/* Options of an announcement. Start from TAMIS_ANNOUNCE_OPTIONS_INIT. */
#define TAMIS_ANNOUNCE_OPTIONS_INIT TAMIS_INIT(struct tamis_announce_options)

struct tamis_announce_options {
    size_t struct_size;
    uint32_t message_bytes; /* maximum, at least 64; 0: 65507, or 16384 for ICP */
    uint32_t sender;        /* IPv4 address of the sender, for ICP */
    bool is_whole;          /* send every bit, for neighbours that are new or missed some */
    bool only_changes;      /* never send every bit: for receivers that know only the paper */
};

/* What was announced. */
#define TAMIS_ANNOUNCED_INIT TAMIS_INIT(struct tamis_announced)

struct tamis_announced {
    size_t struct_size;
    uint64_t messages, bytes;
    uint64_t changes;  /* bits sent as flipped */
    uint32_t sequence; /* number of the last message */
    bool is_whole;     /* every bit was sent, as requested or because it is shorter */
};

/* Sends what changed since the last announcement: `put` receives the messages one by one, each a
 * datagram or a piece of a stream. The first time, and where that is shorter, every bit is sent.
 * Without changes there is one message without records, as a sign of life. Once `put` has taken all
 * messages, the change log is empty. When it returns false: TAMIS_CANCELLED; the changes will be
 * sent again, with new numbers. The note "announced" of the filter keeps the number of the last
 * message. `announced` may be NULL. TAMIS_UNSUPPORTED for filters without a log, and for keyed
 * hashes. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_announce(tamis *filter, const struct tamis_announce_options *options,
                                      struct tamis_announced *announced, tamis_write_fn *put,
                                      void *ctx);

/* The length of the message that starts here; 0 when it is invalid or truncated: see tamis_why().
 * Threads: any. */
TAMIS_API size_t tamis_message_size(const void *bytes, size_t size);

/* What a message did to a copy, and how good the copy is now. */
#define TAMIS_RECEIVE_INFO_INIT TAMIS_INIT(struct tamis_receive_info)

struct tamis_receive_info {
    size_t struct_size;
    uint32_t sequence; /* of the last message taken; 0: the sender does not number them */
    uint32_t missing;  /* messages lost since every bit was sent; 0: an exact copy */
    uint64_t positions;
    uint64_t told; /* bits in this message */
    bool is_new;   /* the copy is new: the first message, or another shape */
    bool is_late;  /* a newer one was taken before: ignored */
    bool is_whole; /* this message is the first of those with every bit */
};

/* Takes one message into *copy, a filter of what the sender has; NULL: a new one. If the message
 * has another shape than *copy, that is freed and replaced. The copy is classic, or icp with
 * copy=yes, at most 16 MiB or options->max_bytes, and its note "heard" keeps the number of the last
 * message and how many are missing. The whole message is checked before anything changes:
 * TAMIS_CORRUPT, and tamis_why() names the fault. `received` may be NULL. Threads: as tamis_add. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_receive(tamis **copy, const void *message,
                                                      size_t size,
                                                      const struct tamis_options *options,
                                                      struct tamis_receive_info *received);

/* How good a copy is: sequence, missing and positions. False for a filter that is not a copy.
 * Threads: as tamis_has. */
TAMIS_API bool tamis_was_received(const tamis *copy, struct tamis_receive_info *received);

/* A table of neighbours, each with a name of 1 to 255 bytes and a copy. */
typedef struct tamis_neighbours tamis_neighbours;

enum { TAMIS_MAX_NEIGHBOURS = 4096, TAMIS_MAX_NEIGHBOUR_NAME = 255 };

/* Creates an empty table for `max` neighbours, at most 4096. Of the options, allocator and
 * max_bytes count, the latter for each copy. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status
tamis_neighbours_create(tamis_neighbours **table, size_t max, const struct tamis_options *options);

/* Frees the table and all copies. NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_neighbours_free(tamis_neighbours *table);

/* Takes a message from `peer`, as tamis_receive; an unknown peer is added. TAMIS_FULL when there
 * are `max` others. Threads: one writer. */
TAMIS_API tamis_status tamis_neighbours_receive(tamis_neighbours *table, const char *peer,
                                                const void *message, size_t size,
                                                struct tamis_receive_info *received);

/* Stores a copy in the table, such as one that was saved, replacing any that is there. The table
 * then owns it, unless the call fails. TAMIS_MISMATCH for a filter that is not a copy. Threads: one
 * writer. */
TAMIS_API tamis_status tamis_neighbours_put(tamis_neighbours *table, const char *peer, tamis *copy);

/* Removes a neighbour, for instance when it is down. TAMIS_NOT_FOUND for an unknown name. Threads:
 * one writer. */
TAMIS_API tamis_status tamis_neighbours_forget(tamis_neighbours *table, const char *peer);

/* Which neighbours may have this document? Writes their indices, in order, to `peers`, at most
 * `room`, and returns how many there are. The others did not have it when they last announced.
 * Threads: readers or one writer. */
TAMIS_API size_t tamis_neighbours_ask(const tamis_neighbours *table, const void *url, size_t len,
                                      size_t *peers, size_t room);

/* The i-th neighbour, in order of names: its name and its copy; false when there are fewer. Both
 * belong to the table and are valid until it changes. Threads: readers or one writer. */
TAMIS_API bool tamis_neighbours_at(const tamis_neighbours *table, size_t i, const char **peer,
                                   const tamis **copy);

/* ==== Admission: what is requested a second time ============================================== */

/* Three of four objects requested from a cache are never requested again. Writing them to disk is
 * wasted and evicts others that would be. So a cache admits what is requested a second time (Maggs
 * and Sitaraman 2015). For that it must know recent requests, in a few bits each:
 *
 *     if (in_cache(url)) serve(url);
 *     else if (tamis_admission_ask(a, url, len)) fetch_and_keep(url);
 *     else fetch_only(url);
 *
 * There are two filters, generations: requests go into the young one; when that has `capacity`
 * keys, the old one is emptied and becomes the young one. A key is always recognised until
 * `capacity` other keys have been requested, and forgotten after twice as many at the latest. A new
 * key is taken for known at a rate of at most the sum of both generations' rates: twice the fpr of
 * the spec when both are full. */
typedef struct tamis_admission tamis_admission;

/* Creates one that remembers nothing yet. The spec is that of one generation, with a capacity of at
 * least 1: "capacity=1M,fpr=0.1%" is two blocked filters. TAMIS_UNSUPPORTED for kinds that grow,
 * age, forget, are built once, do not know keys or hash them their own way. `options` may be NULL.
 * Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_admission_create(tamis_admission **admission,
                                                               const char *spec,
                                                               const struct tamis_options *options);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_admission_free(tamis_admission *admission);

/* Was this key requested lately? From now on it was. This is atomic: of any number of concurrent
 * first requests for a key exactly one is answered false. A kind of fixed room that is full before
 * its capacity changes generations then. Threads: any number; calls with different keys of kinds
 * with TAMIS_CAN_SHARE do not wait for each other. */
TAMIS_API bool tamis_admission_ask(tamis_admission *admission, const void *key, size_t len);
TAMIS_API bool tamis_admission_ask_hash(tamis_admission *admission, uint64_t hash);

/* A filter that hashes as this does, only for tamis_hash and similar calls. Threads: any number. */
TAMIS_API const tamis *tamis_admission_hasher(const tamis_admission *admission);

/* Statistics so far. */
#define TAMIS_ADMISSION_INFO_INIT TAMIS_INIT(struct tamis_admission_info)

struct tamis_admission_info {
    size_t struct_size;
    uint64_t capacity;      /* of a generation */
    uint64_t asked;         /* since it was created or loaded */
    uint64_t recognised;    /* of these */
    uint64_t turns;         /* changes of generation since then */
    uint64_t young, old;    /* keys in each of them */
    uint64_t payload_bytes; /* of both */
    double fpr_now;         /* rate at which new keys are taken for known */
    const char *kind;
};

/* Reads both payloads. Threads: any number; others wait. */
TAMIS_API void tamis_admission_get_info(tamis_admission *admission,
                                        struct tamis_admission_info *info);

/* Its state as bytes, so that a cache remembers after a restart: their number, and the bytes;
 * TAMIS_INVALID when `size` is another number. Both generations are images inside. Threads: any
 * number; others wait. */
TAMIS_API uint64_t tamis_admission_size(tamis_admission *admission);
TAMIS_API tamis_status tamis_admission_bytes(tamis_admission *admission, void *bytes, size_t size);

/* Creates one from such bytes, which may come from anywhere: damaged bytes are TAMIS_CORRUPT, and
 * the limit of `options` on bytes holds for each generation. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_admission_load(tamis_admission **admission,
                                                             const void *bytes, size_t size,
                                                             const struct tamis_options *options);

/* ==== Aggregation: a sum over a network that counts no value twice ============================
 *
 * Nodes of a network want the sum, the mean or the extremes of values that each of them has, and
 * that change, without a centre (DIAS: Pournaras, Warnier and Brazier 2013). Sources send their
 * value to every node they meet, again and again. A node remembers in a filter which value of which
 * source it has counted: it skips what it has, counts what is new, and replaces an earlier value of
 * the same source. It takes a few bytes per source.
 *
 *     tamis_aggregate *node;
 *     rc = tamis_aggregate_create(&node, 10000);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 21.5, NULL, 0, NULL);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 22.0, (double[]){21.5}, 1, NULL);
 *     tamis_aggregate_total(node, &total);                       count 1, sum 22 */
typedef struct tamis_aggregate tamis_aggregate;

/* Creates a node for `sources` sources, which it remembers in a quotient filter with a rate of
 * 1e-5; or in a filter of this spec, of a kind that can add and remove and never forgets by itself,
 * such as "counting:capacity=10K,fpr=1e-4" or "cuckoo:capacity=10K,fpr=1e-6". `options` may be
 * NULL. On failure *node is NULL. Threads: any. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_aggregate_create(tamis_aggregate **node,
                                                               uint64_t sources);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_aggregate_create_with(
    tamis_aggregate **node, const char *spec, const struct tamis_options *options);

/* Frees a node; NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_aggregate_free(tamis_aggregate *node);

enum tamis_aggregated {
    TAMIS_AGGREGATE_COUNTED, /* the first time */
    /* replaces an earlier value of the same source */
    TAMIS_AGGREGATE_REPLACED,
    TAMIS_AGGREGATE_SKIPPED /* already counted, or, rarely, a false positive */
};

/* Takes the value of a source, a finite number. `earlier` are previous values of the source, the
 * latest first, as far back as this node may have met it: the first of them that was counted here
 * is replaced. Without them a source that changed is counted twice. The outcome goes to `what`
 * unless that is NULL. TAMIS_FULL, with nothing changed, when the filter has no room for another.
 *
 * At the filter's false-positive rate, a value seems to be counted and is skipped; at the same
 * rate, an earlier value seems to be counted, and is then subtracted although it never was.
 * Threads: one. */
TAMIS_API tamis_status tamis_aggregate_take(tamis_aggregate *node, const void *source, size_t len,
                                            double value, const double *earlier,
                                            size_t earlier_count, enum tamis_aggregated *what);

/* The state of a node. */
#define TAMIS_TOTAL_INIT TAMIS_INIT(struct tamis_total)

struct tamis_total {
    size_t struct_size;
    uint64_t count;      /* sources counted */
    double sum, mean;    /* of their values; the mean of none is 0 */
    double min, max;     /* bounds of all values; 0 without sources */
    bool is_min_counted; /* a source surely has it; false: it may have changed since */
    bool is_max_counted;
    uint64_t counted, replaced, skipped; /* calls */
    double fpr;                          /* of the filter, now */

    /* Sources that are missing because their value was skipped by a false positive. This is an
     * upper estimate: the rate was lower when they came. */
    struct tamis_estimate lost;
    double sum_lost;   /* missing from the sum for these, if they are like the others */
    double mean_error; /* standard error of the mean for these */
    uint64_t bytes;    /* of the node, with its filter */
};

/* Reads the whole filter. Threads: one. */
TAMIS_API void tamis_aggregate_total(const tamis_aggregate *node, struct tamis_total *total);

#ifdef __cplusplus
}
#endif

#endif
