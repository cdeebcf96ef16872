/* SPDX-License-Identifier: MIT */
/* aggregate.c: the mean of a thousand values, known everywhere, without a centre.
 *
 * A thousand nodes each have a value, and each wants the mean of all. In every round a node sends
 * its value to a few others that it meets by chance. Values change all the time: a tenth of them in
 * every tenth round. A node keeps no list of who sent what; a filter remembers what it has counted,
 * so that no value is counted twice and a new value replaces the old one.
 *
 * Measured: how far the means are from the truth, how many values false positives lost, compared
 * with an exact table, and the memory. First with a good filter, then with a bad one, to see what
 * that costs.
 *
 * Build it with:  cc aggregate.c $(pkg-config --cflags --libs tamis) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis_jobs.h>

enum { NODES = 1000, MEETINGS = 25, ROUNDS = 120, CHANGE_EVERY = 10, CHANGES = NODES / 10 };
enum { MAX_EARLIER = 12 }; /* values that a source remembers of itself */

typedef struct source {
    double value, earlier[MAX_EARLIER]; /* the latest first */
    size_t earlier_count;
} source;

static source sources[NODES];
static tamis_aggregate *nodes[NODES];

/* Known only to the simulation: the value that each node should have of each source. */
static double told[NODES][NODES];
static unsigned char is_told[NODES][NODES];

/* A small generator of our own, so that every machine sees the same network. */
static uint64_t draw(uint64_t below) {
    static uint64_t x = 2013;
    x = x * 6364136223846793005u + 1442695040888963407u;
    return (x >> 33) % below;
}

static void must(tamis_status status) {
    if (status == TAMIS_OK) return;
    fprintf(stderr, "aggregate: %s\n", tamis_why());
    exit(2);
}

static double new_value(void) {
    return (double)draw(10000) / 100; /* 0 to 100, as a meter reads */
}

static void change(source *s) {
    if (s->earlier_count < MAX_EARLIER) s->earlier_count++;
    memmove(s->earlier + 1, s->earlier, (s->earlier_count - 1) * sizeof *s->earlier);
    s->earlier[0] = s->value;
    s->value = new_value();
}

/* A source meets a node: this is all that goes over the wire. */
static void meet(uint64_t from, uint64_t to) {
    const source *s = &sources[from];
    must(tamis_aggregate_take(nodes[to], &from, sizeof from, s->value, s->earlier, s->earlier_count,
                              NULL));
    told[to][from] = s->value;
    is_told[to][from] = 1;
}

/* ---- Results -------------------------------------------------------------------------------- */

static double true_mean(void) {
    double sum = 0;
    for (int i = 0; i < NODES; i++) sum += sources[i].value;
    return sum / NODES;
}

typedef struct state {
    double error;          /* of the mean, root mean square over all nodes */
    double error_by_table; /* the same if nodes had tables instead of filters */
    double known;          /* share of sources that a node has counted */
    double lost;           /* values that were sent and are not counted, by node */
    double lost_expected;  /* the nodes' own upper estimate */
    double sum_off;        /* deviation of sums from those of a table, as a share */
    uint64_t bytes;
} state;

static void look_at(int node, double truth, state *all) {
    struct tamis_total total = TAMIS_TOTAL_INIT;
    double sum = 0;
    int count = 0;
    tamis_aggregate_total(nodes[node], &total);
    for (int i = 0; i < NODES; i++) {
        if (!is_told[node][i]) continue;
        sum += told[node][i];
        count++;
    }
    all->error += (total.mean - truth) * (total.mean - truth);
    all->error_by_table += (sum / count - truth) * (sum / count - truth);
    all->known += (double)total.count / NODES;
    all->lost += (double)count - (double)total.count;
    all->lost_expected += total.lost.value;
    all->sum_off += fabs(sum - total.sum) / sum;
    all->bytes += total.bytes;
}

static state look(void) {
    state all = {0};
    for (int i = 0; i < NODES; i++) look_at(i, true_mean(), &all);
    all.error = sqrt(all.error / NODES);
    all.error_by_table = sqrt(all.error_by_table / NODES);
    all.known /= NODES;
    all.lost /= NODES;
    all.lost_expected /= NODES;
    all.sum_off /= NODES;
    all.bytes /= NODES;
    return all;
}

/* ---- The network ---------------------------------------------------------------------------- */

static void run_round(int round) {
    if (round % CHANGE_EVERY == 0)
        for (int i = 0; i < CHANGES; i++) change(&sources[draw(NODES)]);
    for (uint64_t from = 0; from < NODES; from++)
        for (int i = 0; i < MEETINGS; i++) meet(from, draw(NODES));
}

static void simulate(const char *spec) {
    memset(is_told, 0, sizeof is_told);
    for (int i = 0; i < NODES; i++) {
        must(tamis_aggregate_create_with(&nodes[i], spec, NULL));
        sources[i] = (source){.value = new_value()};
    }
    printf("%s\n", spec);
    printf("round   known   error of the mean   by tables   lost of 1000   told   sum off\n");
    for (int round = 1; round <= ROUNDS; round++) {
        run_round(round);
        if (round != 1 && round != 10 && round != 30 && round % 40 != 0) continue;
        const state s = look();
        printf("%5d   %4.1f %%   %17.3f   %9.3f   %12.3f   %4.2f   %5.2f %%\n", round,
               100 * s.known, s.error, s.error_by_table, s.lost, s.lost_expected, 100 * s.sum_off);
        if (round == ROUNDS)
            printf("%llu bytes for each node; a table of names and values would have %zu\n\n",
                   (unsigned long long)s.bytes, NODES * 2 * sizeof(double));
    }
    for (int i = 0; i < NODES; i++) tamis_aggregate_free(nodes[i]);
}

int main(void) {
    printf("%d nodes, each telling %d others in a round; the true mean is near 50\n\n", NODES,
           MEETINGS);
    simulate("quotient:capacity=1000,fpr=1e-5");
    simulate("quotient:capacity=1000,fpr=5%");
    return 0;
}
