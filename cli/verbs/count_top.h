/* SPDX-License-Identifier: MIT */
/* count_top.h: only count.c and count_top*.c include this. The most frequent lines of a stream.
 *
 *     line --is it a candidate?--> its own counter                        exact from now on
 *          \--> countmin: at least how often so far? --more than the last candidate--> takes its
 *          place
 *
 * A few candidates have counters of their own. Every other line goes into a sketch, which never
 * says too little; when it says more than the lowest candidate has, the two change places, and what
 * the loser was counted since goes into the sketch. So (Roy, Khan and Alonso 2016) frequent
 * lines neither cost much nor spoil the sketch for the others. Three things are certain, whatever
 * the stream is:
 *
 *   - a count is never too low: the sketch was not, and the counter is exact;
 *   - it is too high by at most what the sketch said when the line came in, less the one that it
 *     then came: nothing, when it said 1;
 *   - no line that is not among the candidates came more often than the lowest of them: the lowest
 *     count never falls. */
#ifndef TAMIS_CLI_COUNT_TOP_H
#define TAMIS_CLI_COUNT_TOP_H

#include "cli/cli.h"

struct candidate {
    uint64_t hash;
    uint64_t count;
    uint64_t first; /* what the sketch said when it came in */
    char *text;     /* on the heap, with a NUL after it; it only grows */
    size_t len, room;
    bool is_cut;    /* the text is only the start of it */
    size_t in_heap; /* where its number stands there */
};

struct candidates {
    struct candidate *list;
    size_t n, max;
    size_t *heap;  /* numbers of candidates; the lowest count is first */
    size_t *slot;  /* number + 1 by hash, linear probing; 0: free */
    size_t slots;  /* a power of two, at least twice `max` */
    uint64_t lost; /* how often a line had to leave */
    tamis *sketch;
};

/* Room for `max`, beside a sketch that belongs to the candidates from now on. False: no memory;
 * candidates_free is due in both cases. */
bool candidates_make(struct candidates *all, size_t max, tamis *sketch);
void candidates_free(struct candidates *all);

/* One more line of this hash. TAMIS_NOMEM, or what an add to the sketch says. */
tamis_status candidates_take(struct candidates *all, uint64_t hash, const struct tamis_key *text);

/* How often a line came at most that is no candidate. */
uint64_t candidates_rest(const struct candidates *all);

/* The highest counts first, equal ones by their text. The candidates can only be read
 * afterwards. */
void candidates_sort(struct candidates *all);

/* `tamis count --top`. */
int count_top(const struct args *args);

#endif
