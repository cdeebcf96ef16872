/* SPDX-License-Identifier: MIT */
/* Only for the files of the bench: what they share.
 *
 *     main.c      the command line, one event after the other
 *     event.c     one event: build, check, query in rounds
 *     floor.c     what the machine can do at best
 *     ours.c      our kinds, each in its ways        peers.c   the others, from shared objects
 *     keys.c      keys and lists of queries          clock.c   time, medians, one processor
 *     machine.c   the machine it runs on             table.c   json.c   the results
 *
 * A *contestant* is one filter used in one way. An *event* is a number of keys, their length and a
 * number of threads. In each *round* of an event every contestant answers a sample of every list of
 * queries in turn; figures are medians over rounds, and ratios are taken inside a round. */
#ifndef TAMIS_BENCH_BENCH_H
#define TAMIS_BENCH_BENCH_H

#include <stdio.h>

#include "bench/peer.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* The upper half of the product: scales a random x to a number below n. */
__extension__ typedef unsigned __int128 bench_wide;
static inline uint64_t scaled(uint64_t x, uint64_t n) {
    return (uint64_t)(((bench_wide)x * n) >> 64);
}

enum question { MISS, MIXED, HIT, CHASE, QUESTIONS };
extern const char *const question_names[QUESTIONS];

enum { MAX_ROUNDS = 201, MAX_BUILDS = 31, MAX_CONTESTANTS = 160, STRING_BYTES = 32 };

/* ---- Contestants ---------------------------------------------------------------------------- */

enum side { FLOOR, OURS, PEER };

/* What was built; contestants that build in the same way share it. */
struct filter {
    void *handle; /* NULL: not built, or it failed */
    const struct contestant *maker;
    size_t bytes, large_bytes; /* in all, and of these on large pages */
    size_t builds;
    double build_ns[MAX_BUILDS]; /* per key */
};

struct contestant {
    const struct bench_contestant *calls;
    enum side side;
    char name[72];                    /* as printed in tables; of ours: the spec as given */
    struct filter *filter;            /* of this event */
    double fpr_expected;              /* ours: by the plan; else 0 */
    uint64_t checked, lost;           /* members queried, and those not found */
    uint64_t nonmembers, yes;         /* non-members queried, and those answered yes */
    double ns[QUESTIONS][MAX_ROUNDS]; /* per key */
};

/* How a contestant is used: "one", "batch", ... */
static inline const char *way_of(const struct contestant *c) {
    return c->calls->api;
}

/* ---- Settings and events -------------------------------------------------------------------- */

struct settings {
    size_t rounds, builds; /* 0 builds: as many as the number of keys allows */
    const char *reference; /* what the table compares with, as in is_named */
    bool asks[QUESTIONS];
    bool checks_all; /* every member; else a million of them */
    size_t chunk;    /* keys of a sample */
};

struct event {
    size_t keys;
    unsigned key_bytes, threads;
    int cpu; /* that everything runs on; -1 with several threads */
    struct settings set;
    struct contestant *all;
    size_t count;
    struct filter *filters; /* as many as contestants, most of them unused */
    double read_gbs, write_gbs;
};

/* Runs one event; everything stays built until event_end. False: none could be built. */
bool event_run(struct event *e);
void event_end(struct event *e);

/* Figures of an event. Of the variants of a floor the best one counts; NULL when there is none. */
const struct contestant *floor_of(const struct event *e, enum question q, const char *name);
bool was_asked(const struct event *e, const struct contestant *c, enum question q);
double median_ns(const struct event *e, const struct contestant *c, enum question q);
double best_ns(const struct event *e, const struct contestant *c, enum question q);
double ratio_to_floor(const struct event *e, const struct contestant *c, enum question q,
                      const char *name);
double ratio_to(const struct event *e, const struct contestant *c, const struct contestant *other,
                enum question q);
double build_median(const struct filter *f);
double build_best(const struct filter *f);
double build_ratio(const struct filter *f, const struct filter *other);

/* ---- Contestants ----------------------------------------------------------------------------- */

/* bench/ours_inline.c, which is compiled for this processor. */
void inline_has(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit);
void push_has(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit);
uint64_t inline_chase(const void *filter, uint64_t key, size_t n);

/* Appends contestants; returns the new count. `spec` may omit the capacity, `ways` is a
 * comma-separated list. Ends the program with a message when the spec is not valid. */
size_t ours_enter(struct contestant *all, size_t count, const char *spec, const char *ways);
void *ours_build(const struct contestant *c, const uint64_t *keys, size_t n, unsigned threads);
void *ours_build_strings(const char *spec, const uint8_t *keys, size_t len, size_t n,
                         unsigned threads);
double ours_rate(const char *spec, size_t n);
bool ours_is_built_once(const char *spec);
bool ours_are_built_alike(const struct contestant *a, const struct contestant *b);

/* `wanted` as in is_named. An object that cannot be loaded is reported on stderr. */
size_t peers_enter(struct contestant *all, size_t count, const char *file, const char *wanted);
size_t peers_enter_dir(struct contestant *all, size_t count, const char *dir, const char *wanted);

extern const char floor_line[], floor_keys[], floor_three[], floor_change[];
size_t floor_enter(struct contestant *all, size_t count);
void *floor_make(size_t bytes, size_t max_keys);
/* Computes the lines of a list outside the measured time; only for floor_line. */
void floor_prepare(void *floor, const uint64_t *keys, size_t n);
void floor_bandwidth(void *floor, double *read_gbs, double *write_gbs);

/* Is `name` in a comma-separated list? NULL holds everything. */
bool is_listed(const char *list, const char *name);
/* Is one of the words of a list a part of "name way", in any case? NULL matches all. */
bool is_named(const char *list, const struct contestant *c);

/* ---- Keys ------------------------------------------------------------------------------------ */

struct keys {
    size_t n, questions;
    uint64_t *members;
    uint64_t *ask[CHASE]; /* lists of queries */
    uint8_t *strings;     /* the members as strings, for keys of 32 bytes */
    uint8_t *ask_strings[CHASE];
};

bool keys_make(struct keys *k, size_t n, unsigned key_bytes);
void keys_free(struct keys *k);
void keys_spell(const uint64_t *keys, size_t n, uint8_t *strings);
uint64_t mix64(uint64_t x); /* a fixed bijection of 64 bits */

/* ---- Time ------------------------------------------------------------------------------------ */

double wall_ns(void);
double cpu_ns(void);                     /* of the whole process */
double median(double *values, size_t n); /* sorts */
/* Pins one thread to the last of its CPUs, and returns which; several threads may use all of them,
 * and it returns -1. */
int pin(unsigned threads);

/* ---- Results --------------------------------------------------------------------------------- */

void table_print(const struct event *e);
void json_begin(FILE *out, const struct settings *set);
void json_event(FILE *out, const struct event *e, bool is_first);
void json_end(FILE *out);
void json_machine(FILE *out);
size_t memory_available(void); /* bytes; 0: unknown */
size_t large_page_bytes(void); /* that this process has now */
void json_text(FILE *out, const char *text);

/* Counts instructions of every query under callgrind. */
void count_instructions(struct event *e);

#endif
