/* SPDX-License-Identifier: MIT */
/* Measures the false-positive rate of every kind at three loads (kinds that are built once: with
 * three numbers of keys) and holds it against the kind's own formula, from both sides. Prints a
 * table in Markdown for each kind, which tools/tables puts into docs/kinds/NAME.md; `make tables`
 * does both.
 *
 *     tables [KIND]... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "core/spec.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

enum { KEYS = 1000000, GROUP = 65536 };

/* Larger payloads take a larger machine: one probe with n/p bits at 2^-16 has 8 GB. */
static const uint64_t max_payload = (uint64_t)256 << 20;

typedef struct params {
    const char *text;
    double fpr;
    uint64_t probes;
} params;

/* The smaller the rate, the more probes it takes to see enough hits. */
static const params params[] = {{"1%", 0.01, 10000000}, {"2^-16", 0x1p-16, 40000000}};

/* Where old keys leave, a load is a number of adds: the last one is far beyond the first fill. */
static const double loads[] = {0.5, 0.8, 1.0}, loads_of_ageing[] = {0.5, 1.0, 5.0};

/* What is built once is always full, and as large as its keys need: there a load is a number of
 * keys. */
static const struct {
    uint64_t keys;
    const char *text;
} sets[] = {{10000, "10^4"}, {1000000, "10^6"}, {10000000, "10^7"}};

/* For kinds that take known-good keys, as many as keys, which are no strangers. */
#define GOOD_ONES (TEST_STRANGERS / 2)

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tamis_why());
    exit(1);
}

static void fill(tamis *f, uint64_t from, uint64_t to) {
    static uint64_t keys[GROUP], hashes[GROUP];
    for (uint64_t i = from; i < to; i += GROUP) {
        const size_t n = (size_t)(to - i < GROUP ? to - i : GROUP);
        for (size_t j = 0; j < n; j++) keys[j] = test_number(3, i + j);
        tamis_hash_u64s(f, keys, n, hashes);
        if (tamis_add_hashes(f, hashes, n)) die("add");
    }
}

static uint64_t hits_among_nonmembers(const tamis *f, uint64_t probes) {
    static uint64_t keys[GROUP], hashes[GROUP];
    static uint8_t hit[GROUP];
    uint64_t hits = 0;
    for (uint64_t i = 0; i < probes; i += GROUP) {
        const size_t n = (size_t)(probes - i < GROUP ? probes - i : GROUP);
        for (size_t j = 0; j < n; j++) keys[j] = test_number(3, TEST_STRANGERS + i + j);
        tamis_hash_u64s(f, keys, n, hashes);
        tamis_has_hashes(f, hashes, n, hit);
        for (size_t j = 0; j < n; j++) hits += hit[j];
    }
    return hits;
}

/* Nothing between the two exact bounds at 10^-9 is surprising, once the formula itself may be off
 * by two in a hundred: formulas are means, and this is one filter. */
static bool agrees(uint64_t hits, uint64_t probes, double formula) {
    const double measured = (double)hits / (double)probes;
    const double nearest = fmin(fmax(measured, formula * 0.98), formula * 1.02);
    return test_is_possible(hits, probes, nearest, TEST_ALPHA);
}

/* A line of a table: what was asked, at which load, and a filter with `keys` keys inside that was
 * planned for `planned`. */
typedef struct line {
    const params *params;
    const char *load;
    uint64_t keys, planned;
} line;

static unsigned row(const tamis_entry *entry, const line *l, tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    const double formula = tamis__expected_rate(entry->kind, info.word, l->keys);
    const uint64_t probes = l->params->probes, hits = hits_among_nonmembers(f, probes);
    const double measured = (double)hits / (double)probes;
    const double error = sqrt((double)hits) / (double)probes;
    const bool is_fine = agrees(hits, probes, formula);
    printf("| %s | %s | %.2f | %.4g | %.4g ± %.2g | %.4g | %llu |%s\n", l->params->text, l->load,
           (double)info.payload_bytes * 8 / (double)l->planned, formula, measured, 2 * error,
           info.fpr_now, (unsigned long long)hits, is_fine ? "" : " **off**");
    return !is_fine;
}

/* Is there a filter for the spec, and can we hold it? A wish that cannot be had becomes a line of
 * the table that says why. */
static bool can_have(const char *spec, const params *w, const char *load) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan)) {
        printf("| %s | %s | – | – | %s | – | – |\n", w->text, load, tamis_why());
        return false;
    }
    return plan.payload_bytes <= max_payload;
}

/* ---- Kinds that take adds ------------------------------------------------------------------- */

static unsigned rows_by_load(const tamis_entry *entry, const params *w, const double *at) {
    char spec[128], load[16];
    tamis *f;
    unsigned off = 0;
    uint64_t adds = 0;
    snprintf(spec, sizeof spec, "%s:capacity=%d,fpr=%s", entry->kind->name, KEYS, w->text);
    if (!can_have(spec, w, "–")) return 0;
    if (tamis_create(&f, spec)) die(spec);
    for (size_t l = 0; l < 3; l++) {
        const uint64_t next = (uint64_t)(at[l] * KEYS + 0.5);
        fill(f, adds, next);
        adds = next;
        snprintf(load, sizeof load, "%.0f %%", at[l] * 100);
        off += row(entry, &(line){w, load, adds, KEYS}, f);
    }
    tamis_free(f);
    return off;
}

/* ---- Kinds that are built once -------------------------------------------------------------- */

static tamis *build(const tamis_entry *entry, const char *spec, uint64_t keys) {
    const struct tamis_builder_options options = {.struct_size = sizeof options, .threads = 2};
    tamis_builder *b;
    tamis *f;
    if (tamis_builder_create_with(&b, spec, &options)) die(spec);
    for (uint64_t i = 0; i < keys; i++)
        if (tamis_builder_add_u64(b, test_number(3, i))) die("add");
    for (uint64_t i = 0; i < keys && entry->kind->build->member; i++) {
        uint8_t good[8];
        tamis__put64(good, test_number(3, GOOD_ONES + i));
        if (tamis_builder_exclude(b, good, sizeof good)) die("good");
    }
    if (tamis_builder_finish(b, &f)) die("finish");
    tamis_builder_free(b);
    return f;
}

static unsigned rows_by_keys(const tamis_entry *entry, const params *w) {
    unsigned off = 0;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        const uint64_t keys = sets[s].keys;
        char spec[128];
        snprintf(spec, sizeof spec, "%s:capacity=%llu,fpr=%s", entry->kind->name,
                 (unsigned long long)keys, w->text);
        if (!can_have(spec, w, sets[s].text)) continue;
        tamis *f = build(entry, spec, keys);
        off += row(entry, &(line){w, sets[s].text, keys, keys}, f);
        tamis_free(f);
    }
    return off;
}

/* ---- Tables --------------------------------------------------------------------------------- */

static unsigned table(const struct tamis_kind_info *kind) {
    const tamis_entry *entry = tamis__kind_by_name(kind->name, strlen(kind->name));
    const double *at = kind->abilities & TAMIS_AGES ? loads_of_ageing : loads;
    unsigned off = 0;
    printf("== %s\n", kind->name);
    printf("| asked | %s | bits per key | formula | measured | by the payload | hits |\n"
           "|---|---|---|---|---|---|---|\n",
           entry->kind->build ? "keys" : "load");
    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        off += entry->kind->build ? rows_by_keys(entry, &params[i])
                                  : rows_by_load(entry, &params[i], at);
    return off;
}

int main(int argc, char **argv) {
    unsigned off = 0;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        bool is_wanted = argc == 1;
        tamis_kind_at(i, &kind);
        for (int a = 1; a < argc; a++) is_wanted |= strcmp(argv[a], kind.name) == 0;
        if (!is_wanted || !(kind.abilities & (TAMIS_CAN_ADD | TAMIS_IS_BUILT)) ||
            kind.abilities & TAMIS_OWN_HASH)
            continue;
        off += table(&kind);
        fflush(stdout);
    }
    if (off) fprintf(stderr, "%u rows are off\n", off);
    return off != 0;
}
