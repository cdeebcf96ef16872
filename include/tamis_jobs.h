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

/* ==== Aggregation: a sum over a network in which nobody counts twice ========================== */

#ifdef __cplusplus
}
#endif

#endif
