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

/* ==== Difference streams: symbols without end, of which a few more than differ are enough ===== */

/* ==== Reconciling: a conversation at whose end both know what they lack ======================= */

/* ==== Approximate reconciliation: filters instead of lists ==================================== */

/* ==== Features: vectors of any words in a fixed number of places ============================== */

/* ==== Summary Cache: who of the neighbours may have it? =======================================
 *
 * Caches that stand side by side tell each other what they hold, as filters of 8 to 16 bits for each
 * document, and on a miss ask only those neighbours that may have it (Fan, Cao, Almeida and Broder
 * 1998). Every cache keeps a filter of its own documents, in a kind with TAMIS_CAN_LOG, and a copy of
 * what each neighbour last told:
 *
 *     tamis_add, tamis_remove ─▶ own filter ──tamis_announce──▶ messages ──▶ tamis_neighbours_hear
 *                                                                                    │
 *     neighbours that may have it ◀──tamis_neighbours_ask──── copies of all neighbours ┘
 *
 * The own filter is "counting:capacity=N,bits=B,hashes=4,log=yes", whose messages have the compact
 * form, or "icp:capacity=N,bits=B", whose messages are those of ICP (ICP_OP_DIRUPDATE) and whose
 * positions come from MD5; B is 6 bits for each position, of which a document should have 8 to 16.
 * docs/caches.md has both forms byte by byte, and what each choice costs.
 *
 * A message says what bits *are*, not that they flip, so that one that is lost or comes twice does no
 * harm beyond the bits it tells. Messages are numbered: who hears them knows when some are missing.
 * Whatever a copy answers is a hint: the neighbour may have dropped the document since. */

/* How far the neighbours are behind. */
struct tamis_staleness {
    uint64_t positions;            /* bits of the summary */
    uint64_t set, cleared;         /* that flipped since the last announcement */
    uint64_t documents;            /* in the filter now */
    struct tamis_estimate unknown; /* documents of which neighbours have not heard, by the bits */
};

/* Looks at every position. `staleness_size` is sizeof *staleness. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_staleness(const tamis *filter, struct tamis_staleness *staleness,
                                       size_t staleness_size);

/* Whether it is time to announce: the documents that neighbours have not heard of are at least this
 * share of the documents, or of those that were there when all have gone. The paper takes 1% to 10%;
 * a threshold of 0 is due with the first bit that flipped. A cache that counts its adds need not ask
 * before that many came. Threads: as tamis_has. */
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

/* Tells what changed since the last announcement: `put` gets the messages one by one, each a datagram
 * or a piece of a stream. The first time, and where it takes fewer bytes, every bit is told. Without changes there is one message, without records: a sign of life. When
 * `put` has taken all of them the changes are told. When it returns false: TAMIS_CANCELLED; the changes
 * will be told again, by messages with new numbers. The note "announced" of the filter keeps the
 * number of the last message. `announced` may be NULL. TAMIS_CANNOT for filters without a log, and
 * for keyed hashes. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_announce(tamis *filter, const struct tamis_announce_options *options,
                                      struct tamis_announced *announced, size_t announced_size,
                                      tamis_writer *put, void *ctx);

/* The length of the message that starts here; 0, with the sentence in tamis_why, when it is none or
 * not whole. Threads: any. */
TAMIS_API size_t tamis_message_size(const void *bytes, size_t size);

/* What a message did to a copy, and how good the copy is now. */
struct tamis_heard {
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

/* Takes one message into *copy, a filter that answers what the sender has; NULL: a new one. Where the
 * message has another shape than *copy, that is freed and a new one takes its place. The copy is
 * classic, or icp with copy=yes, at most 16 MiB or what options->max_bytes allows, and its note
 * "heard" keeps the number of the last message and how many are missing. All of the message is looked
 * at before anything changes: TAMIS_CORRUPT with the sentence that names what is wrong. `heard` may be
 * NULL. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_hear(tamis **copy, const void *message, size_t size,
                                  const struct tamis_options *options, struct tamis_heard *heard,
                                  size_t heard_size);

/* How good a copy is: sequence, missing and positions. False for a filter that is no copy.
 * Threads: as tamis_has. */
TAMIS_API bool tamis_was_heard(const tamis *copy, struct tamis_heard *heard, size_t heard_size);

/* A table of neighbours, each with a name of 1 to 255 bytes and a copy. */
typedef struct tamis_neighbours tamis_neighbours;

enum { TAMIS_MOST_NEIGHBOURS = 4096, TAMIS_MOST_NEIGHBOUR_NAME = 255 };

/* Makes an empty table. Of the options, allocator and max_bytes count, the latter for each copy.
 * `most` neighbours are allowed, at most 4096. Threads: any. */
TAMIS_API tamis_status tamis_neighbours_create(tamis_neighbours **table, size_t most,
                                               const struct tamis_options *options);

/* Frees the table and all copies. NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_neighbours_free(tamis_neighbours *table);

/* Takes a message from `peer`, as tamis_hear; who is not in the table comes in. TAMIS_FULL when there
 * are `most` others. Threads: one writer. */
TAMIS_API tamis_status tamis_neighbours_hear(tamis_neighbours *table, const char *peer,
                                             const void *message, size_t size,
                                             struct tamis_heard *heard, size_t heard_size);

/* Puts a copy into the table, or in place of the one that is there, as one that was saved; the table
 * owns it from then on, unless the call fails. TAMIS_MISMATCH for what is not a copy.
 * Threads: one writer. */
TAMIS_API tamis_status tamis_neighbours_put(tamis_neighbours *table, const char *peer, tamis *copy);

/* Forgets a neighbour, as when it is down. TAMIS_NOT_FOUND when there is none of that name.
 * Threads: one writer. */
TAMIS_API tamis_status tamis_neighbours_forget(tamis_neighbours *table, const char *peer);

/* Which neighbours may have this document? Writes their indices, in order, to `peers`, which has room
 * for `room`, and returns how many there are. Who is not among them did not have it when it last
 * announced. Threads: readers or one writer. */
TAMIS_API size_t tamis_neighbours_ask(const tamis_neighbours *table, const void *url, size_t len,
                                      size_t *peers, size_t room);

/* The i-th neighbour, in the order of names: its name and its copy; false when there are fewer. Both
 * are the table's, and valid until it changes. Threads: readers or one writer. */
TAMIS_API bool tamis_neighbours_at(const tamis_neighbours *table, size_t i, const char **peer,
                                   const tamis **copy);

/* ==== Admission: what is asked for a second time ============================================== */

/* ==== Aggregation: a sum over a network in which nobody counts twice ========================== */

#ifdef __cplusplus
}
#endif

#endif
