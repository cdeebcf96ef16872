/* SPDX-License-Identifier: MIT */
/* The module's files may include this: the value stored at a key.
 *
 * A value is a filter and what its family must know beside it. Whatever the server does with values
 * (files, replication, copies) it does with the image of the filter; the family's facts are in
 * a note of it, "redis", so that an image is all there is. */
#ifndef TAMIS_REDIS_VALUE_H
#define TAMIS_REDIS_VALUE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engines/redis/api.h"
#include "tamis.h"

/* From this size on work is done elsewhere: about a millisecond. */
enum { LARGE_BYTES = 4 << 20 };

/* Whose commands may use a value. TAMIS.* may use all. */
typedef enum family {
    FAMILY_TAMIS = 1,
    FAMILY_BF = 2,
    FAMILY_CF = 4,
    FAMILY_CMS = 8,
    ANY_FAMILY = 15,
} family;

/* What the commands of RedisBloom tell about a filter that ours has no word for. */
typedef struct facts {
    family family;
    uint64_t expansion;   /* as it was asked for; 0: does not scale */
    uint64_t buckets;     /* CF: that RedisBloom would have begun with */
    uint64_t bucket_size; /* CF */
    uint64_t iterations;  /* CF */
    uint64_t filters;     /* CF: 1, and one more for each time it was enlarged */
    uint64_t deleted;     /* CF: items that were taken out */
    uint64_t every;       /* milliseconds from tick to tick; 0: nothing ticks by itself */
    uint64_t ticked;      /* when it ticked last, in milliseconds since 1970 */
} facts;

/* In which form bytes come in chunks. */
typedef enum chunk_form { FORM_IMAGE, FORM_REDISBLOOM, FORM_REDISCUCKOO, FORMS } chunk_form;
extern const char *const form_names[FORMS];

/* A filter that comes in chunks, from front to back. It is kept in pieces, so that no chunk makes
 * the server copy what came before; all but the last have ARRIVAL_PIECE bytes. */
enum { ARRIVAL_PIECE = 1 << 20 };
typedef struct arrival {
    chunk_form form;
    uint64_t total, have; /* bytes */
    uint64_t room;        /* that the pieces have: less than one more than what has come */
    uint8_t **piece;
    size_t slots; /* that `piece` has */
} arrival;

struct job;

typedef struct value {
    tamis *filter;    /* NULL until the first one is whole */
    arrival *arrival; /* NULL when none is coming; the filter goes on answering meanwhile */
    facts facts;
    family counted_as;  /* in `counters` */
    bool hashes_itself; /* the filter is of another system: it takes keys, not hashes */
    bool knows_time;    /* keys leave it as time goes on, or as others are added */
    bool is_turning;    /* a part of what makes room for the next add is cleared: see clock.h */
    struct job *job;    /* that reads the filter: it may not change before that has ended */
    bool owes_tick;     /* that was begun when the key had another name: see clock.h */
    bool is_stuck;      /* there was no memory for a filter of its own */
    atomic_uint users;
} value;

/* The types under which values are stored: ours, and those of RedisBloom for its own filters.
 * Filled in when the module is loaded. */
typedef struct types {
    redis_type *tamis, *bloom, *cuckoo, *countmin;
} types;
extern types value_types;

/* Which of them a value belongs to, now: RedisBloom's as long as it is one of its filters and
 * whole. */
redis_type *value_type(const value *);

/* ---- Life ------------------------------------------------------------------------------------ */

/* A value that owns the filter (NULL: none yet), with the facts that its note tells. NULL when
 * there is no memory; the filter is the caller's then. */
value *value_new(tamis *filter);

/* One user more or less; the last one frees. */
value *value_hold(value *);
void value_release(value *);

/* Puts another filter in place of the present one, which is freed, or returned. The facts stay. */
void value_replace(value *, tamis *filter);
tamis *value_swap(value *, tamis *filter);

/* A copy of a large filter is at first the same filter, which both values have: whoever is to
 * change one of them has it copied before (alter.h). False when there is no memory to note that. */
bool filter_share(tamis *);
bool filter_is_shared(const tamis *);

/* The shape word of that name; `otherwise` where the kind has none. */
uint64_t filter_word(const tamis *, const char *name, uint64_t otherwise);

/* Frees it, unless another value has it too. */
void filter_release(tamis *);

/* Other facts; whoever writes them himself leaves the family alone. */
void value_set_facts(value *, const facts *);

/* Bytes that it holds. */
size_t value_bytes(const value *);

/* Brings the note in line with the facts, before the image goes anywhere. */
void value_note_facts(value *);

/* ---- Facts ----------------------------------------------------------------------------------- */

enum { MAX_FACTS = 256 };

/* As the note has them, "bf expansion=2"; and back. Without a note, or with one that is not
 * ours, a filter belongs to the family that its kind is of in RedisBloom, or to TAMIS. */
void facts_write(const facts *, char text[MAX_FACTS]);
facts facts_of(const tamis *);

/* ---- Memory and limits ----------------------------------------------------------------------- */

/* The server's memory, which may say no; under the setting max-filter-bytes. The secret, 16 bytes
 * or NULL, is only looked at while a filter is made. */
struct tamis_options value_options(const uint8_t *secret);

/* Headers and notes come on top of what the setting allows. */
enum { BESIDE_PAYLOAD = 2 << 20 };

/* Memory that may be refused, for sizes that a client chose. */
void *try_alloc(size_t size);

static inline uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- Arrivals -------------------------------------------------------------------------------- */

/* Takes a chunk; NULL, or the sentence why not. A chunk that is there already may come again. */
const char *arrival_take(value *, chunk_form, uint64_t offset, uint64_t total, const void *bytes,
                         size_t size);

/* What has come, in as many parts as there are pieces. */
typedef void piece_taker(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size);
void arrival_each(const arrival *, piece_taker *, void *ctx);

/* All has come: through the gate. The pieces are gathered for it; at the last use, when the
 * arrival has no other user, each is freed as it is copied, and none are left. */
tamis_status arrival_finish(arrival *, bool is_last_use, tamis **filter);
void arrival_free(arrival *);

/* Memory that it holds; NULL: none. */
size_t arrival_bytes(const arrival *);

/* ---- Counters -------------------------------------------------------------------------------- */

/* For INFO. Those that are atomic change on other threads too. */
extern struct counters {
    atomic_ullong values[FAMILY_CMS + 1]; /* by family */
    atomic_ullong clocks;                 /* values that age by the clock */
    atomic_ullong owed;                   /* those that owe a tick */
    atomic_ullong shared;                 /* filters that several values have */
    atomic_ullong bytes;                  /* of all filters */
    atomic_ullong refused;                /* images that the gate refused */
    atomic_ullong frees_waiting;          /* filters that are about to be freed */
    unsigned long long items[2];          /* that were asked, that were changed */
    unsigned long long jobs_active, jobs_done, job_steps;
    unsigned long long pauses; /* of commands of the primary, to let others in */
} counters;

/* Does any filter belong to several values? */
static inline bool filters_are_shared(void) {
    return atomic_load(&counters.shared) > 0;
}

#endif
