/* SPDX-License-Identifier: MIT */
/* uniq.h: only the files of `tamis uniq` include this.
 *
 *     uniq.c         the verb, what it prints and says
 *     uniq_sieve.c   has this key been here? From filters that grow, with an account of the loss
 *     uniq_window.c  the same about the last lines, or the last minutes
 *     uniq_exact.c   the same without any loss, from the keys themselves
 *     uniq_tally.c   how often every line occurs, at the end
 */
#ifndef TAMIS_CLI_UNIQ_H
#define TAMIS_CLI_UNIQ_H

#include "cli/cli.h"
#include "cli/keys/line_times.h"

/* ==== How many lines may be lost ============================================================
 *
 * A new key is lost when it is taken for one that was here. With a rate r that happens to a share r
 * of the new keys, and 1 - r of them are printed: for each printed one there are r / (1 - r) lost
 * ones on average. Adding that up over what was printed gives the expected number of lost ones
 * without bias, whatever the rates were on the way. */
struct loss {
    double about;    /* the expected number of lost lines */
    double at_worst; /* the same with the highest rate of each step */
    double odds;     /* the highest r / (1 - r) so far */
};

double odds_of(double rate); /* r / (1 - r) */

/* `keys` new ones were printed, at odds of `about` on average and of `worst` at most. */
void loss_add(struct loss *loss, double keys, double about, double worst);

/* No more than this many are lost, with 99.9 % confidence; `all` when nothing better can be
 * said. */
uint64_t loss_at_most(const struct loss *loss, uint64_t all);

/* The rate without --fpr. */
extern const double uniq_usual_fpr;

/* ==== Filters that grow ===================================================================== */

enum { MAX_STAGES = 32 };

struct sieve {
    const struct args *args;
    tamis *stage[MAX_STAGES]; /* the newest takes the adds */
    size_t stages;
    double fpr;           /* of all stages together */
    uint64_t memory;      /* that they may take ... */
    uint64_t bytes;       /* ... and take */
    uint64_t capacity;    /* of the newest stage */
    uint64_t taken;       /* keys that it has */
    uint64_t keys;        /* that all have */
    bool is_full;         /* no memory for another stage */
    uint64_t input_bytes; /* how long the input is; 0: unknown */
    uint64_t read_bytes;  /* of it so far */
    uint8_t secret[SECRET_BYTES];

    struct loss loss;
    double old_rate;     /* of the stages before the newest */
    double newest_odds;  /* of the newest at the last look ... */
    double rate;         /* ... and the rate of all together */
    uint64_t looked_at;  /* keys of the newest stage then */
    uint64_t look_again; /* at this number of them */
};

/* sieve_close is due also after a failure. */
int sieve_open(struct sieve *sieve, const struct args *args, uint64_t memory, uint64_t input_bytes);
void sieve_close(struct sieve *sieve);

/* Asks about the keys one after the other and adds those that are new: hit[i] becomes 1 for what
 * was here, also earlier in the list. */
int sieve_take(struct sieve *sieve, const uint64_t *hash, size_t n, uint8_t *hit);

/* Brings the account of the loss up to now. */
void sieve_account(struct sieve *sieve);

/* ==== A window ============================================================================== */

struct window {
    const struct args *args;
    tamis *filter;
    uint64_t capacity;  /* lines that it is planned for */
    int64_t tick_us;    /* between two steps of its clock; 0: it is counted in lines */
    uint64_t max_ticks; /* after these nothing is left in it */
    int64_t next_tick;  /* on the clock */
    bool has_times;     /* its clock is the times of the lines, not ours: */
    struct line_times times;
    bool is_started; /* a line had a time */
    int64_t newest;  /* the latest so far */
    uint64_t late;   /* lines that came after one that is a whole window later */
    struct human first_late;
    uint64_t since; /* lines since the last look at the rate ... */
    uint64_t news;  /* ... and those of them that were new */
    double rate;    /* at the last look */
    struct loss loss;
};

/* The keys are open. window_close is due also after a failure. */
int window_open(struct window *window, struct keys *keys);
void window_close(struct window *window);
int window_take(struct window *window, struct batch *batch);
void window_account(struct window *window);

/* Warns of lines without a time, of those that came late, and when the time may be part of the key
 * by mistake. */
void window_warn(const struct window *window, uint64_t repeats);

/* ==== Exact ================================================================================= */

struct uniq {
    const struct args *args;
    struct keys *keys;
    struct sieve *sieve; /* one of the two, or neither with --exact and counts */
    struct window *window;
    uint64_t memory;
    uint64_t lines, printed, keyless;
    uint64_t distinct; /* of those who count */
    bool has_failed;   /* not only to read a file, after which it goes on */
    uint64_t rounds, spilled_bytes, exact_bytes; /* of --exact */
};

/* Prints the i-th line of the batch when it is wanted, and counts. */
void uniq_print(struct uniq *uniq, struct batch *batch, size_t i);

/* Reads all keys. */
int uniq_exact(struct uniq *uniq);

/* Whether counts are asked for: -c, -d or -u; and what answers that. */
bool uniq_has_tally(const struct args *args);
int uniq_tally(struct uniq *uniq);

/* A filter that only hashes keys. Says what goes wrong. In uniq_exact.c. */
int uniq_hasher(struct uniq *uniq, tamis **hasher);

#endif
