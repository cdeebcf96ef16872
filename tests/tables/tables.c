/* Measures the false-positive rate of every kind at three loads and holds it against the kind's own
 * formula, from both sides. Prints a table in Markdown for each kind, which tools/tables puts into
 * docs/kinds/NAME.md; `make tables` does both.
 *
 *     tables [KIND]... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec.h"
#include "tamis.h"
#include "tests/help/bounds.h"
#include "tests/help/keys.h"

enum { KEYS = 1000000, GROUP = 65536 };

/* Larger payloads take a larger machine: one probe with n/p bits at 2^-16 has 8 GB. */
static const uint64_t most_payload = (uint64_t)256 << 20;

typedef struct wish {
    const char *text;
    double fpr;
    uint64_t probes;
} wish;

/* The smaller the rate, the more probes it takes to see enough hits. */
static const wish wishes[] = {{"1%", 0.01, 10000000}, {"2^-16", 0x1p-16, 40000000}};

/* Where old keys leave, a load is a number of adds: the last one is far beyond the first fill. */
static const double loads[] = {0.5, 0.8, 1.0}, loads_of_ageing[] = {0.5, 1.0, 5.0};

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

static uint64_t hits_among_strangers(const tamis *f, uint64_t probes) {
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

static unsigned row(const tamis_entry *entry, const wish *w, tamis *f, double load, uint64_t adds) {
    struct tamis_info info;
    tamis_info(f, &info, sizeof info);
    const double formula = tamis__expected_rate(entry->kind, info.word, adds);
    const uint64_t hits = hits_among_strangers(f, w->probes);
    const double measured = (double)hits / (double)w->probes;
    const double error = sqrt((double)hits) / (double)w->probes;
    const bool is_fine = agrees(hits, w->probes, formula);
    printf("| %s | %.0f %% | %.2f | %.4g | %.4g ± %.2g | %.4g | %llu |%s\n", w->text, load * 100,
           (double)info.payload_bytes * 8 / KEYS, formula, measured, 2 * error, info.fpr_now,
           (unsigned long long)hits, is_fine ? "" : " **off**");
    return !is_fine;
}

static unsigned table(const struct tamis_kind_info *kind) {
    const tamis_entry *entry = tamis__kind_by_name(kind->name, strlen(kind->name));
    const double *at = kind->abilities & TAMIS_AGES ? loads_of_ageing : loads;
    unsigned off = 0;
    printf("== %s\n", kind->name);
    printf("| asked | load | bits per key | formula | measured | by the payload | hits |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        char spec[128];
        struct tamis_plan plan;
        tamis *f;
        snprintf(spec, sizeof spec, "%s:capacity=%d,fpr=%s", kind->name, KEYS, wishes[i].text);
        if (tamis_plan(spec, &plan, sizeof plan)) {
            printf("| %s | – | – | – | %s | – | – |\n", wishes[i].text, tamis_why());
            continue;
        }
        if (plan.payload_bytes > most_payload) continue;
        if (tamis_create(&f, spec)) die(spec);
        uint64_t adds = 0;
        for (size_t l = 0; l < 3; l++) {
            const uint64_t next = (uint64_t)(at[l] * KEYS + 0.5);
            fill(f, adds, next);
            adds = next;
            off += row(entry, &wishes[i], f, at[l], adds);
        }
        tamis_free(f);
    }
    return off;
}

int main(int argc, char **argv) {
    unsigned off = 0;
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind;
        bool is_wanted = argc == 1;
        tamis_kind_at(i, &kind, sizeof kind);
        for (int a = 1; a < argc; a++) is_wanted |= strcmp(argv[a], kind.name) == 0;
        if (!is_wanted || !(kind.abilities & TAMIS_CAN_ADD) || kind.abilities & TAMIS_OWN_HASH)
            continue;
        off += table(&kind);
        fflush(stdout);
    }
    if (off) fprintf(stderr, "%u rows are off\n", off);
    return off != 0;
}
