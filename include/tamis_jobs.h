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

/* ==== Aggregation: a sum over a network in which nobody counts twice ========================== */

#ifdef __cplusplus
}
#endif

#endif
