/* SPDX-License-Identifier: MIT */
/* tamis_special.h: what only a few kinds can do; others return TAMIS_UNSUPPORTED. */
#ifndef TAMIS_SPECIAL_H
#define TAMIS_SPECIAL_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Special abilities ====================================================================== */

/* Kinds with TAMIS_CAN_LOG (counting with log=yes) know which bits of their summary, the plain
 * filter that peers keep a copy of, have changed since the last announcement. Start with *cursor =
 * 0; each call returns a position and the value of its bit now, until it returns false. Threads: as
 * tamis_has. */
TAMIS_API bool tamis_next_change(const tamis *filter, uint64_t *cursor, uint64_t *position,
                                 bool *is_set);

/* All changes have been announced: empties the log. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_clear_changes(tamis *filter);

/* Kinds with TAMIS_CAN_DIFFER (iblt) list what differs between two sets, in a size that depends
 * only on the difference. `take` receives each hash that only one of the two has, and whether that
 * is the first; returning false ends the listing with TAMIS_CANCELLED. TAMIS_PARTIAL when the
 * difference is larger than the tables can list: then what `take` received is right, but not all,
 * and tamis_difference_size estimates how large a table is needed. The filters must match, and
 * neither may hold a key twice. Threads: as tamis_has, for both. */
typedef bool tamis_difference_fn(void *ctx, uint64_t hash, bool is_first);
TAMIS_API tamis_status tamis_difference(const tamis *first, const tamis *second,
                                        tamis_difference_fn *take, void *ctx);

/* Estimates how many keys only one of two sets has, without listing them: kinds with
 * TAMIS_CAN_DIFFER whose options keep an estimator. Threads: as tamis_has, for both. */
TAMIS_API tamis_status tamis_difference_size(const tamis *first, const tamis *second,
                                             struct tamis_estimate *keys);

/* Kinds with TAMIS_CAN_SEARCH (fingerprint) hold fingerprints: rows of equal length, each with an
 * id, made from molecules or from any sets of features. The similarity of two fingerprints is the
 * share of their set bits that both have (Tanimoto's coefficient, Jaccard's index); two without any
 * bit are equal. Bit i of a fingerprint is bit i%8 of its byte i/8, and bits past the end are 0.
 * Rows are numbered from 0, in the order in which they were added. */

/* A maker of such filters, for fingerprints of 1 to 65,536 bits. `options` may be NULL. Threads:
 * one for each maker. */
typedef struct tamis_fingerprints tamis_fingerprints;
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_fingerprints_create(
    tamis_fingerprints **maker, uint64_t bits, const struct tamis_options *options);

/* Adds a row: `print` has exactly as many bytes as its bits need. Ids need not be distinct, and may
 * not contain bytes below 32 (NUL, tab, newline). Threads: one for each maker. */
TAMIS_API tamis_status tamis_fingerprints_add(tamis_fingerprints *maker, const char *id,
                                              size_t id_len, const void *print, size_t print_bytes);

/* Makes the filter of all rows so far; free the maker afterwards. Threads: one for each maker. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_fingerprints_finish(tamis_fingerprints *maker,
                                                                  tamis **filter);

/* NULL is allowed. Threads: one, with no other user. */
TAMIS_API void tamis_fingerprints_free(tamis_fingerprints *maker);

/* Sets `times` bits of a fingerprint for a feature, chosen by the XXH3 hash of its bytes. To make a
 * fingerprint of any set (words of a text, paths of a molecule), start with zeros and call this for
 * each feature. Threads: one for each fingerprint. */
TAMIS_API void tamis_fingerprint_feature(void *print, uint64_t bits, unsigned times,
                                         const void *feature, size_t len);

/* The number of rows, and of bits in each; 0 for other kinds. Threads: readers or one writer. */
TAMIS_API uint64_t tamis_fingerprint_count(const tamis *filter);
TAMIS_API uint64_t tamis_fingerprint_bits(const tamis *filter);

/* The id of a row, and its fingerprint unless `print` is NULL, as pointers into the filter; NULL
 * when there is no such row. Threads: readers or one writer. */
TAMIS_API const char *tamis_fingerprint_at(const tamis *filter, uint64_t row, const void **print);

/* A row that was found, with the bits that both fingerprints have, and that at least one has. */
struct tamis_match {
    uint64_t row;
    uint32_t common, either;
    double similarity; /* common / either, rounded to double; 1 for 0 / 0 */
};

/* What a search cost: rows compared in full, rows ruled out by the number of their bits, and rows
 * of the rest ruled out by a fold of their bits, which is shorter. The sum is all rows. */
struct tamis_search_stats {
    uint64_t rows_compared, rows_skipped, rows_folded;
};

/* Receives one row at a time; returning false ends the search with TAMIS_CANCELLED. */
typedef bool tamis_match_fn(void *ctx, const struct tamis_match *match);

/* Finds every row with a similarity of at least `min`, from 0 to 1, in no particular order: 7 of 10
 * bits are found with 0.7. `searched` may be NULL. Threads: readers or one writer. */
TAMIS_API tamis_status tamis_fingerprints_similar(const tamis *filter, const void *print,
                                                  size_t print_bytes, double min,
                                                  tamis_match_fn *take, void *ctx,
                                                  struct tamis_search_stats *searched);

/* Finds the most similar rows, the best first, and of equals those that were added first: at most
 * `room`, all with a similarity of at least `min`. *found is their number. Threads: readers or one
 * writer. */
TAMIS_API tamis_status tamis_fingerprints_nearest(const tamis *filter, const void *print,
                                                  size_t print_bytes, double min,
                                                  struct tamis_match *matches, size_t room,
                                                  size_t *found,
                                                  struct tamis_search_stats *searched);

/* Finds every row that has all bits of the fingerprint, and so may contain the substructure it was
 * made from. Threads: readers or one writer. */
TAMIS_API tamis_status tamis_fingerprints_screen(const tamis *filter, const void *print,
                                                 size_t print_bytes, tamis_match_fn *take,
                                                 void *ctx, struct tamis_search_stats *searched);

/* Kinds with TAMIS_CAN_TRACE (hierarchical) remember payloads, such as connections, files or lines
 * of a log, well enough to find later where an excerpt came from. A payload belongs to a flow,
 * which is any name; NULL for none. The filter stores its blocks with their offsets: blocks of 64
 * bytes, of 128, and so on, as set by `block` and `levels` of the spec. A payload adds up to 2 keys
 * for each block of the smallest size, twice that with a flow: plan a capacity of 4 * bytes /
 * block.
 *
 * A payload may come in pieces, each with its offset: only blocks entirely within a piece are
 * stored. Pieces that begin at multiples of the largest block, block * 2^(levels-1), are equivalent
 * to the whole. TAMIS_INVALID for a payload that would end past 2^48 bytes. Threads: as
 * tamis_add. */
TAMIS_API tamis_status tamis_record(tamis *filter, const void *flow, size_t flow_len,
                                    uint64_t offset, const void *bytes, size_t len);

/* Where an excerpt may come from. The library makes it, and a later one may append fields. */
struct tamis_traced {
    size_t flow;     /* index in the list of flows; SIZE_MAX when there was no list */
    uint64_t offset; /* of the first byte of the excerpt in the payload */
    uint64_t blocks; /* that matched; each by chance with probability tamis_fpr_now */
};

/* Receives one result at a time, by offset, then by flow; returning false stops. */
typedef bool tamis_traces(void *ctx, const struct tamis_traced *traced);

/* Finds an excerpt: reports every flow of the list, and every offset up to max_offset, where it was
 * recorded, and as many false ones as tamis_false_traces expects. Without flows (flow_count 0) only
 * offsets are reported. An excerpt has at least 2 * block - 1 bytes, so that it contains a whole
 * block wherever it was; TAMIS_INVALID for shorter ones. Makes one query for each offset up to the
 * end of the longest payload, one for each flow where that is a yes, and then one for each block of
 * the excerpt. TAMIS_CANCELLED when `take` returns false. Threads: as tamis_has. */
TAMIS_API tamis_status tamis_trace(const tamis *filter, const void *excerpt, size_t len,
                                   const struct tamis_key *flows, size_t flow_count,
                                   uint64_t max_offset, tamis_traces *take, void *ctx);

/* The expected number of false results of tamis_trace for an excerpt that was never recorded, from
 * tamis_fpr_now, the offsets and the number of flows to be tried, 0 for none. NaN where tamis_trace
 * would refuse. Threads: as tamis_has. */
TAMIS_API double tamis_false_traces(const tamis *filter, size_t len, uint64_t flow_count,
                                    uint64_t max_offset);

/* Kinds with TAMIS_CAN_LEVEL (attenuated) belong to a link of a network: level 1 has the keys of
 * the neighbour itself, level 2 those one hop beyond it, and so on. tamis_add adds to level 1.
 * Returns the nearest level, from 1, that may have the key; 0 when none has. Threads: as
 * tamis_has. */
TAMIS_API unsigned tamis_level(const tamis *filter, const void *key, size_t len);
TAMIS_API unsigned tamis_level_hash(const tamis *filter, uint64_t hash);

/* Adds what a link reaches, one hop farther: level 2 of `into` merges level 1 of `from`, level 3
 * level 2, and so on; the last level of `from` is beyond the horizon. The filters must match.
 * (tamis_merge merges level by level.) Threads: as tamis_merge. */
TAMIS_API tamis_status tamis_merge_farther(tamis *into, const tamis *from);

/* A link for tamis_route: the neighbour at its other end, and the filter of what it reaches. Never
 * changes. */
struct tamis_link {
    uint64_t neighbour;
    const tamis *filter;
};

/* Which of `n` links to follow for a key: the one with the nearest level, the first of equals,
 * among neighbours that are not on the list of visited ones. Returns its index, and its level
 * through `level` unless that is NULL; returns n when no link knows the key: then go back one step,
 * or fall back to another way of routing. The answer is a hint, like every yes: add each node to
 * the list, and stop when the list is as long as your patience. Threads: as tamis_has. */
TAMIS_API size_t tamis_route(const struct tamis_link *links, size_t n, const uint64_t *visited,
                             size_t visited_count, const void *key, size_t len, unsigned *level);

/* Kinds with TAMIS_CAN_RETOUCH (retouched) clear set bits so that chosen false positives are
 * answered no, at the price of losing some keys. Nothing is final: tamis_retouch_undo restores all
 * bits. */
enum tamis_retouch_policy {
    TAMIS_RETOUCH_RANDOM,  /* any set bit of the troublesome key */
    TAMIS_RETOUCH_KEYS,    /* the bit that the fewest keys need */
    TAMIS_RETOUCH_TROUBLE, /* the bit that the most troublesome keys share */
    TAMIS_RETOUCH_RATIO    /* the best ratio of the two */
};

/* What a retouching did. Never changes. */
struct tamis_retouch_stats {
    uint64_t bits_cleared;
    uint64_t trouble_cleared; /* troublesome keys that were answered yes, and now no */
    uint64_t keys_lost;       /* of the given keys, those no longer found */
};

/* Clears a bit for each of the `trouble_count` hashes that is still answered yes; afterwards none
 * is. `keys` are hashes that the filter should keep, if you have them: TAMIS_RETOUCH_KEYS and
 * _RATIO need them, and keys_lost is counted only with them. `seed` makes random choices
 * repeatable. `report` may be NULL. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_retouch(tamis *filter, enum tamis_retouch_policy way,
                                     const uint64_t *trouble, size_t trouble_count,
                                     const uint64_t *keys, size_t key_count, uint64_t seed,
                                     struct tamis_retouch_stats *report);

/* Clears a share of all set bits, each with the same probability; share is from 0 to 1. Threads: as
 * tamis_add. */
TAMIS_API tamis_status tamis_retouch_share(tamis *filter, double share, uint64_t seed,
                                           struct tamis_retouch_stats *report);

/* Restores every bit that was cleared. Threads: as tamis_add. */
TAMIS_API tamis_status tamis_retouch_undo(tamis *filter);

#ifdef __cplusplus
}
#endif

#endif
