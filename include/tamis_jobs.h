/* SPDX-License-Identifier: MIT */
/* tamis_jobs.h: jobs that take more than one filter, or a filter and a conversation.
 *
 * tamis.h is about one set. Here are protocols and small machines on top of it: two hosts that find
 * out what differs between their sets, caches that tell each other what they hold, a cache that
 * admits what is asked for twice, nodes that add up a value without counting anybody twice. Each is
 * a handle of its own, works on bytes and keys that it is given, and never opens a file, a socket
 * or a thread: who calls it does.
 *
 * Statuses, tamis_why, allocators and options are those of tamis.h. Whoever makes a handle frees
 * it; a call that fails changes nothing. */
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
 *                  while (!tamis_peeler_is_whole(d)) receive(&symbol), tamis_peeler_take(d,
 *                  &symbol, 1);
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
 * come apart. TAMIS_INVALID for a hash that is there twice, TAMIS_TOO_LARGE for more than 2^31. Of
 * `options` only the memory counts. Threads: any. */
TAMIS_API tamis_status tamis_symbols_create(tamis_symbols **symbols, const uint64_t *hashes,
                                            size_t n, const uint8_t *key,
                                            const struct tamis_options *options);

/* Writes the next `n` symbols to `list`. TAMIS_TOO_LARGE behind the 2^32nd symbol. After a failure,
 * TAMIS_NOMEM included, there are no more. Threads: one writer. */
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
 * that made it whole are ignored. TAMIS_CORRUPT when no two sets can have made these symbols. A
 * failure is for ever. Threads: one writer. */
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

/* Lists what differs, as far as it is known: start with *cursor = 0; false behind the last.
 * `is_ours`: only we have it; otherwise only the other side. Threads: readers or one writer. */
TAMIS_API bool tamis_peeler_next(const tamis_peeler *peeler, uint64_t *cursor, uint64_t *hash,
                                 bool *is_ours);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_peeler_free(tamis_peeler *peeler);

/* So many symbols are enough for `differences` hashes that differ, all but once in a thousand
 * times: for streams that are written to the end before anybody reads them. Threads: any. */
TAMIS_API uint64_t tamis_symbols_enough(uint64_t differences);

/* ==== Reconciling: a conversation at whose end both know what they lack =======================
 *
 * The stream above as messages between two sides that need not trust each other's bytes. One side
 * tells (it sends symbols), the other asks (it works out the difference and says when it is
 * enough). A talk is a machine over bytes: what it gives goes to the other side, what comes from
 * there it takes, in pieces of any size; files, pipes and sockets are the caller's. Both sides do:
 *
 *     tamis_session_create(&talk, TAMIS_RECEIVER, hashes, n, &options);
 *     while (!tamis_session_is_over(talk)) {
 *         while ((size = tamis_session_output(talk, buffer, sizeof buffer)) > 0) send(buffer,
 *         size);
 *         if (tamis_session_is_over(talk)) break;
 *         size = receive(buffer);
 *         rc = size ? tamis_session_input(talk, buffer, size) : tamis_session_finish(talk);
 *         if (rc) break;                      (tamis_why has the sentence)
 *     }
 *     rc = tamis_session_finish(talk);              (TAMIS_OK, TAMIS_PARTIAL, or what went wrong)
 *     while (tamis_session_next(talk, &cursor, &item)) ...
 *
 * After a failure one more round of tamis_session_output tells the other side why. A list that is
 * whole is right, except by a chance of 2^-128: number and digest of the other set are checked at
 * the end. Nothing here encrypts, and nothing proves who the other side is (docs/reconcile.md: what
 * a shared key protects). */
typedef struct tamis_session tamis_session;

enum tamis_side {
    TAMIS_SENDER = 1,  /* sends symbols */
    TAMIS_RECEIVER = 2 /* finds what differs */
};

/* What a side wants to know in the end. */
enum tamis_wants {
    TAMIS_WANTS_HASHES = 0, /* which hashes only one side has */
    TAMIS_WANTS_KEYS = 1,   /* that, and the bytes of the keys it lacks */
    TAMIS_WANTS_NOTHING = 2 /* saves the list on the way to a side that tells */
};

/* Everything optional. Start from {.struct_size = sizeof options}. Limits that are 0 have the
 * presets that stand beside them. */
struct tamis_session_options {
    size_t struct_size;
    const struct tamis_options *memory; /* allocator; or NULL */
    const char *hash;     /* how keys were hashed, in words that must be the same on both sides, at
                             most 255 bytes: "xxh3", "xxh3 seed=7", "sip13 key=1f0e..." ; or NULL */
    const uint8_t *nonce; /* 16 bytes that are never used again; NULL: the system draws them */
    bool is_one_way;      /* the side that tells writes `symbols` of them, the other only reads */
    uint64_t symbols;     /* one way: so many; 0: those enough for 1 % of the set, 1000 at least */
    enum tamis_wants wants; /* one way: keys cannot be had */

    /* The bytes of a key of ours, when the other side wants keys: false when there is none. They
     * are copied before the next call. NULL: we do not give keys. */
    bool (*key_of)(void *ctx, uint64_t hash, const void **key, size_t *len);
    /* How a key is hashed, so that one that was not asked for is refused; TAMIS_WANTS_KEYS needs
     * it. */
    uint64_t (*hash_of)(void *ctx, const void *key, size_t len);
    void *ctx;

    uint64_t max_symbols; /* taken or sent; 2 for each hash of both sides and 1024, at most 2^25 */
    uint64_t max_keys;    /* that the other side may have; 2^31 */
    uint64_t max_key_bytes; /* of one key; 1 MiB */
    uint64_t max_bytes;     /* that are taken in all, and that keys may need; 4 GiB */
};

/* A talk of `n` distinct hashes, which are copied. Threads: any. */
TAMIS_API tamis_status tamis_session_create(tamis_session **session, enum tamis_side side,
                                            const uint64_t *hashes, size_t n,
                                            const struct tamis_session_options *options);

/* Takes bytes of the other side, all of them. A failure is for ever: every later call says the
 * same. TAMIS_CORRUPT for what is damaged or against the protocol, TAMIS_TOO_NEW for a version we
 * do not know, TAMIS_MISMATCH when the sides do not fit together, TAMIS_TOO_LARGE over a limit,
 * TAMIS_CANCELLED when the other side gave up. Threads: one writer. */
TAMIS_API tamis_status tamis_session_input(tamis_session *session, const void *bytes, size_t size);

/* Writes at most `room` bytes for the other side and returns how many; 0: there is nothing to say
 * until more was taken, or at all. Threads: one writer. */
TAMIS_API size_t tamis_session_output(tamis_session *session, void *bytes, size_t room);

/* True when nothing more will be said or heard, after a failure too. Threads: readers or one
 * writer. */
TAMIS_API bool tamis_session_is_over(const tamis_session *session);

/* No more bytes will come. TAMIS_OK: the list is whole. TAMIS_PARTIAL: the limit on symbols, or the
 * end of a one-way stream, came before the list was whole; what is listed was found, with a chance
 * of 2^-40 for each of being wrong. Otherwise what went wrong, an end in the middle included.
 * Threads: one writer. */
TAMIS_API tamis_status tamis_session_finish(tamis_session *session);

/* One hash that only one side has. */
struct tamis_session_item {
    uint64_t hash;
    bool is_ours;    /* only we have it; otherwise only they */
    const void *key; /* of theirs, when we wanted keys; NULL otherwise. Valid as long as the talk */
    size_t len;
};

/* Lists what differs, once the talk is over: start with *cursor = 0; false behind the last, and for
 * a talk that failed. Threads: readers or one writer. */
TAMIS_API bool tamis_session_next(const tamis_session *session, uint64_t *cursor,
                                  struct tamis_session_item *item);

struct tamis_session_info {
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
TAMIS_API void tamis_session_get_info(const tamis_session *session, struct tamis_session_info *info,
                                      size_t info_size);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_session_free(tamis_session *session);

/* ==== Approximate reconciliation: filters instead of lists ====================================
 *
 * Which of our keys does somebody else probably lack? The plain way is a filter of their keys, and
 * a query for each of ours: it misses a lacking key as often as the filter says a wrong yes, and
 * takes as many queries as we have keys. A tree takes few when few differ (Byers et al. 2004):
 * both sides see their hashes as the leaves of one binary tree, in which a node's value is made of
 * all hashes below it. They send a filter of their values; we go down from the root, and leave out
 * every subtree whose value they have, because then all below it is theirs too.
 *
 * A wrong yes prunes a subtree that differs. `correction` asks for more: only after correction + 1
 * nodes in a row, each with its value there, is a subtree left out. With f the rate of the filter,
 * a key whose leaf is L nodes below the root is found with the chance that no correction + 1 of L
 * coins in a row are wrong, times 1 - f. What is listed is really lacking, unless 64-bit values
 * collide. */

/* The filter of a tree: of `n` hashes, ascending and different, as tamis_hash gives them. It takes
 * bits_per_key (1 to 256) bits for each; a tree has nearly two nodes for each key. `seed` makes
 * another filter, so that what was missed once may be found the second time. On failure *filter is
 * NULL. Threads: any. */
TAMIS_API tamis_status tamis_tree_summary(tamis **filter, const uint64_t *hashes, size_t n,
                                          double bits_per_key, uint64_t seed,
                                          const struct tamis_options *options);

/* What a walk took and found. */
struct tamis_tree_walk {
    uint64_t asked;   /* nodes, of which the filter was asked */
    uint64_t lacking; /* hashes that were listed */
};

/* Gets a hash of ours that the other side probably lacks; false ends the walk with
 * TAMIS_CANCELLED. */
typedef bool tamis_missing_fn(void *ctx, uint64_t hash);

/* Lists which of our `n` hashes, ascending and different, are not among those that the filter was
 * made of; correction is from 0 to 16. `walk` may be NULL, and so may options.
 * Threads: as tamis_has for the filter. */
TAMIS_API tamis_status tamis_tree_missing(const tamis *filter, const uint64_t *hashes, size_t n,
                                          unsigned correction, tamis_missing_fn *take, void *ctx,
                                          struct tamis_tree_walk *walk,
                                          const struct tamis_options *options);

/* How many keys only they have, and how many only we have, by a filter of their keys and the hashes
 * of ours, as the filter hashes them (tamis_hash), each once. Their filter must hold each key once,
 * too. Any kind that answers to hashes and does not forget will do: TAMIS_UNSUPPORTED for others,
 * TAMIS_SATURATED when it answers yes to everything. With the rate f of the filter the error of
 * both is sqrt(f / (1 - f)) of the root of what only we have. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_difference_by_filter(const tamis *theirs, const uint64_t *ours,
                                                  size_t n, struct tamis_estimate *only_theirs,
                                                  struct tamis_estimate *only_ours);

/* ==== Features: vectors of any words in a fixed number of places ==============================
 *
 * Feature hashing, for learning from texts without a dictionary: each key chooses one of `places`
 * by its hash, and its weight is added there, with a sign by another bit of the hash when is_signed
 * is set. Keys that meet in a place then cancel out on average:
 *
 *     E <x', y'> = <x, y>,    variance at most (<x, y>^2 + |x|^2 |y|^2) / places
 *
 * for the products of vectors x and y that had a place for every key (Weinberger et al. 2009).
 * Without signs a product is too large by about sum(x) sum(y) / places. Vectors of one shape, seed
 * and signs add up. */

struct tamis_features {
    uint64_t places; /* from 1 to 2^32 */
    uint64_t seed;   /* another hash function; XXH3, as filters with this seed hash */
    bool is_signed;
};

/* Where a key belongs, and 1 or -1 through `sign`, which may be NULL. A shape without places has
 * none: 0. Threads: any. */
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

/* The same with whole numbers, which stop at the ends of their range.
 * Threads: as tamis_features_add. */
TAMIS_API void tamis_features_count(const struct tamis_features *shape, int32_t *vector,
                                    const void *key, size_t len, int32_t times);

/* ==== Summary Cache: who of the neighbours may have it? =======================================
 *
 * Caches that stand side by side tell each other what they hold, as filters of 8 to 16 bits for
 * each document, and on a miss ask only those neighbours that may have it (Fan, Cao, Almeida and
 * Broder 1998). Every cache keeps a filter of its own documents, in a kind with TAMIS_CAN_LOG, and
 * a copy of what each neighbour last told:
 *
 *     tamis_add, tamis_remove ─▶ own filter ─tamis_announce─▶ messages ─▶ tamis_neighbours_receive
 *                                                                                │
 *     neighbours that may have it ◀──tamis_neighbours_ask── copies of all neighbours ┘
 *
 * The own filter is "counting:capacity=N,bits=B,hashes=4,log=yes", whose messages have the compact
 * form, or "icp:capacity=N,bits=B", whose messages are those of ICP (ICP_OP_DIRUPDATE) and whose
 * positions come from MD5; B is 6 bits for each position, of which a document should have 8 to 16.
 * docs/caches.md has both forms byte by byte, and what each choice costs.
 *
 * A message says what bits *are*, not that they flip, so that one that is lost or comes twice does
 * no harm beyond the bits it tells. Messages are numbered: who hears them knows when some are
 * missing. Whatever a copy answers is a hint: the neighbour may have dropped the document since. */

/* How far the neighbours are behind. */
struct tamis_staleness {
    uint64_t positions;            /* bits of the summary */
    uint64_t set, cleared;         /* that flipped since the last announcement */
    uint64_t documents;            /* in the filter now */
    struct tamis_estimate unknown; /* documents of which neighbours have not heard, by the bits */
};

/* Looks at every position. `staleness_size` is sizeof *staleness. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_get_staleness(const tamis *filter, struct tamis_staleness *staleness,
                                           size_t staleness_size);

/* Whether it is time to announce: the documents that neighbours have not heard of are at least this
 * share of all documents, or all have gone. The paper takes 1% to 10%; with a threshold of 0 it is
 * time with the first bit that flipped. Looks at every position: a cache that counts its adds need
 * not ask before that many came. Threads: as tamis_has. */
TAMIS_API bool tamis_is_due(const tamis *filter, double threshold);

/* Everything optional about an announcement. Start from {.struct_size = sizeof options}. */
struct tamis_announce_options {
    size_t struct_size;     /* sizeof(struct tamis_announce_options) of your header */
    uint32_t message_bytes; /* at most; 0: 65507, or 16384 in the form of ICP; at least 64 */
    uint32_t sender;        /* IPv4 address of the sender, in the form of ICP */
    bool is_whole;          /* tell every bit, for neighbours that are new or have missed some */
    bool only_changes;      /* never tell every bit: for receivers that know only the paper */
};

/* What was announced. */
struct tamis_announced {
    uint64_t messages, bytes;
    uint64_t changes;  /* bits that were told to have flipped */
    uint32_t sequence; /* number of the last message */
    bool is_whole;     /* every bit was told, asked for or because it takes fewer bytes */
};

/* Tells what changed since the last announcement: `put` gets the messages one by one, each a
 * datagram or a piece of a stream. The first time, and where it takes fewer bytes, every bit is
 * told. Without changes there is one message without records: a sign of life. When `put` has taken
 * all of them the changes are told. When it returns false: TAMIS_CANCELLED; the changes will be
 * told again, by messages with new numbers. The note "announced" of the filter keeps the number of
 * the last message. `announced` may be NULL. TAMIS_UNSUPPORTED for filters without a log, and for
 * keyed hashes. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_announce(tamis *filter, const struct tamis_announce_options *options,
                                      struct tamis_announced *announced, size_t announced_size,
                                      tamis_write_fn *put, void *ctx);

/* The length of the message that starts here; 0, with the sentence in tamis_why, when it is none or
 * not whole. Threads: any. */
TAMIS_API size_t tamis_message_size(const void *bytes, size_t size);

/* What a message did to a copy, and how good the copy is now. */
struct tamis_receive_info {
    uint32_t sequence; /* of the last message that was taken; 0: the sender does not number them */
    uint32_t
        missing; /* messages that did not come since every bit was told; 0: the copy is what the
                          sender announced */
    uint64_t positions;
    uint64_t told; /* bits that this message told */
    bool is_new;   /* the copy is new: the first message, or one of another shape */
    bool is_late;  /* a newer one was here before it: left out */
    bool is_whole; /* this message began to tell every bit */
};

/* Takes one message into *copy, a filter that answers what the sender has; NULL: a new one. Where
 * the message has another shape than *copy, that is freed and a new one takes its place. The copy
 * is classic, or icp with copy=yes, at most 16 MiB or what options->max_bytes allows, and its note
 * "heard" keeps the number of the last message and how many are missing. All of the message is
 * looked at before anything changes: TAMIS_CORRUPT with the sentence that names what is wrong.
 * `received` may be NULL. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_receive(tamis **copy, const void *message, size_t size,
                                     const struct tamis_options *options,
                                     struct tamis_receive_info *received, size_t received_size);

/* How good a copy is: sequence, missing and positions. False for a filter that is no copy.
 * Threads: as tamis_has. */
TAMIS_API bool tamis_was_received(const tamis *copy, struct tamis_receive_info *received,
                                  size_t received_size);

/* A table of neighbours, each with a name of 1 to 255 bytes and a copy. */
typedef struct tamis_neighbours tamis_neighbours;

enum { TAMIS_MAX_NEIGHBOURS = 4096, TAMIS_MAX_NEIGHBOUR_NAME = 255 };

/* Makes an empty table. Of the options, allocator and max_bytes count, the latter for each copy.
 * `max` neighbours are allowed, at most 4096. Threads: any. */
TAMIS_API tamis_status tamis_neighbours_create(tamis_neighbours **table, size_t max,
                                               const struct tamis_options *options);

/* Frees the table and all copies. NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_neighbours_free(tamis_neighbours *table);

/* Takes a message from `peer`, as tamis_receive; who is not in the table comes in. TAMIS_FULL when
 * there are `max` others. Threads: one writer. */
TAMIS_API tamis_status tamis_neighbours_receive(tamis_neighbours *table, const char *peer,
                                                const void *message, size_t size,
                                                struct tamis_receive_info *received,
                                                size_t received_size);

/* Puts a copy into the table, or in place of the one that is there, as one that was saved; the
 * table owns it from then on, unless the call fails. TAMIS_MISMATCH for what is not a copy.
 * Threads: one writer. */
TAMIS_API tamis_status tamis_neighbours_put(tamis_neighbours *table, const char *peer, tamis *copy);

/* Forgets a neighbour, as when it is down. TAMIS_NOT_FOUND when there is none of that name.
 * Threads: one writer. */
TAMIS_API tamis_status tamis_neighbours_forget(tamis_neighbours *table, const char *peer);

/* Which neighbours may have this document? Writes their indices, in order, to `peers`, which has
 * room for `room`, and returns how many there are. Who is not among them did not have it when it
 * last announced. Threads: readers or one writer. */
TAMIS_API size_t tamis_neighbours_ask(const tamis_neighbours *table, const void *url, size_t len,
                                      size_t *peers, size_t room);

/* The i-th neighbour, in the order of names: its name and its copy; false when there are fewer.
 * Both are the table's, and valid until it changes. Threads: readers or one writer. */
TAMIS_API bool tamis_neighbours_at(const tamis_neighbours *table, size_t i, const char **peer,
                                   const tamis **copy);

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
 * on: "capacity=1M,fpr=0.1%" is two blocked filters. TAMIS_UNSUPPORTED for kinds that grow, age,
 * forget, are built once, do not know keys or hash them their own way. `options` may be NULL.
 * Threads: any. */
TAMIS_API tamis_status tamis_admission_create(tamis_admission **admission, const char *spec,
                                              const struct tamis_options *options);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_admission_free(tamis_admission *admission);

/* Was this asked for lately? From now on it was. One step, whoever else asks: of any number of
 * first requests for a key at the same moment exactly one is answered false. A kind of fixed room
 * that is full before its capacity changes generations then. Threads: any number; those that ask
 * about different keys of kinds with TAMIS_CAN_SHARE do not wait for each other. */
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
TAMIS_API void tamis_admission_get_info(tamis_admission *admission,
                                        struct tamis_admission_info *info, size_t info_size);

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
 * Nodes of a network want to know the sum, the mean or the extremes of values that all of them
 * have, and that change, without a centre (DIAS: Pournaras, Warnier and Brazier 2013). Sources tell
 * their value to whomever they meet, again and again. A node remembers in a filter which value of
 * which source it has counted: what it has it skips, what is new it counts, and where it has an
 * earlier value of that source it puts the new one in its place. It takes a few bytes for each
 * source.
 *
 *     tamis_aggregate *node;
 *     rc = tamis_aggregate_create(&node, 10000);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 21.5, NULL, 0, NULL);
 *     rc = tamis_aggregate_take(node, "sensor 7", 8, 22.0, (double[]){21.5}, 1, NULL);
 *     tamis_aggregate_total(node, &total, sizeof total);         count 1, sum 22 */
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
    TAMIS_AGGREGATE_COUNTED, /* for the first time */
    /* an earlier value of the same source was counted, and is no longer */
    TAMIS_AGGREGATE_REPLACED,
    TAMIS_AGGREGATE_SKIPPED /* it was counted already; or, seldom, it seems so */
};

/* Takes the value of a source, a finite number. `earlier` are values that the source had before,
 * the latest first, as far back as this node may have met it: the first of them that was counted
 * here is replaced. Without them a source that changed would be counted twice. What happened goes
 * to `what` unless that is NULL. TAMIS_FULL, and nothing changed, when the filter has no room for
 * one more.
 *
 * By accident a value seems to be counted, and is skipped, as often as the filter says yes wrongly;
 * an earlier value seems so as often, and then that is taken off which never was there.
 * Threads: one. */
TAMIS_API tamis_status tamis_aggregate_take(tamis_aggregate *node, const void *source, size_t len,
                                            double value, const double *earlier,
                                            size_t earlier_count, enum tamis_aggregated *what);

/* What a node knows. */
struct tamis_total {
    uint64_t count;   /* sources that are counted */
    double sum, mean; /* of their values; the mean of none is 0 */
    double min, max;  /* none is smaller, none is larger; 0 without sources */
    bool
        is_min_counted; /* whether a source surely has it: one that had it may have changed since */
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
