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

/* ==== Aggregation: a sum over a network in which nobody counts twice ========================== */

#ifdef __cplusplus
}
#endif

#endif
