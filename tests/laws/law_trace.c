/* SPDX-License-Identifier: MIT */
/* Laws of kinds that remember payloads: what was recorded is found, wherever an excerpt begins. */
#include <stdlib.h>
#include <string.h>

#include "tamis_special.h"
#include "tests/laws/laws.h"
#include "tests/support/keys.h"

enum { FLOWS = 3, TRIES = 200 };

/* The smallest block of a shape, and so the shortest excerpt. */
static size_t block_of(const tamis *f) {
    const struct tamis_info info = test_info(f);
    for (int w = 0; w < TAMIS_WORDS; w++)
        if (info.word_name[w] && strcmp(info.word_name[w], "block") == 0)
            return (size_t)info.word[w];
    return 0;
}

typedef struct payloads {
    size_t len[FLOWS];
    uint8_t *bytes[FLOWS];
    struct tamis_key name[FLOWS];
} payloads;

/* The longest first, so that the last to come is not the one that reaches farthest. */
static payloads make_payloads(size_t block) {
    static const char *const names[FLOWS] = {"one", "two", "three"};
    payloads p;
    for (size_t i = 0; i < FLOWS; i++) {
        p.len[i] = block * (9 - 3 * i) + block / 2;
        p.bytes[i] = malloc(p.len[i]);
        if (!p.bytes[i]) abort();
        for (size_t j = 0; j < p.len[i]; j++) p.bytes[i][j] = (uint8_t)test_number(77 + i, j);
        p.name[i] = (struct tamis_key){names[i], strlen(names[i])};
    }
    return p;
}

static void free_payloads(payloads *p) {
    for (size_t i = 0; i < FLOWS; i++) free(p->bytes[i]);
}

static tamis_status record(tamis *f, const payloads *p, size_t i) {
    return tamis_record(f, p->name[i].bytes, p->name[i].len, 0, p->bytes[i], p->len[i]);
}

typedef struct wanted {
    size_t flow;
    uint64_t offset;
    bool is_found;
} wanted;

static bool look(void *ctx, const struct tamis_traced *traced) {
    wanted *w = ctx;
    w->is_found |= traced->flow == w->flow && traced->offset == w->offset;
    return true;
}

static const char *find_all(const tamis *f, const payloads *p) {
    const size_t min = 2 * block_of(f) - 1;
    for (uint64_t t = 0; t < effort(TRIES); t++) {
        const size_t i = (size_t)(test_number(80, t) % FLOWS);
        const size_t len = min + (size_t)(test_number(81, t) % (p->len[i] - min + 1));
        wanted w = {i, test_number(82, t) % (p->len[i] - len + 1), false};
        const uint8_t *excerpt = p->bytes[i] + w.offset;
        if (tamis_trace(f, excerpt, len, p->name, FLOWS, UINT64_MAX, look, &w)) return tamis_why();
        if (!w.is_found)
            return wrong("%zu bytes at %llu of payload %zu are not found", len,
                         (unsigned long long)w.offset, i);
        wanted bare = {SIZE_MAX, w.offset, false};
        if (tamis_trace(f, excerpt, len, NULL, 0, UINT64_MAX, look, &bare)) return tamis_why();
        if (!bare.is_found) return "an excerpt is found with its flow, and not without";
    }
    return NULL;
}

static const char *excerpts_are_traced(const subject *s) {
    tamis *f = make(s, 2000, 0.01, NULL);
    payloads p = make_payloads(block_of(f));
    const char *what = NULL;
    for (size_t i = 0; i < FLOWS && !what; i++)
        if (record(f, &p, i)) what = tamis_why();
    if (!what) what = find_all(f, &p);
    free_payloads(&p);
    tamis_free(f);
    return what;
}

/* Whichever of the two had the longest payload. */
static const char *merged_excerpts_are_traced(const subject *s) {
    const char *what = NULL;
    for (size_t alone = 0; alone < FLOWS && !what; alone++) {
        tamis *f = make(s, 2000, 0.01, NULL), *g = make(s, 2000, 0.01, NULL);
        payloads p = make_payloads(block_of(f));
        for (size_t i = 0; i < FLOWS && !what; i++)
            if (record(i == alone ? f : g, &p, i)) what = tamis_why();
        if (!what && tamis_merge(f, g)) what = tamis_why();
        if (!what) what = find_all(f, &p);
        free_payloads(&p);
        tamis_free(f);
        tamis_free(g);
    }
    return what;
}

const law trace_laws[] = {
    {"excerpts_are_traced", TAMIS_CAN_ADD | TAMIS_CAN_TRACE, excerpts_are_traced, 0},
    {"merged_excerpts_are_traced", TAMIS_CAN_ADD | TAMIS_CAN_TRACE | TAMIS_CAN_MERGE,
     merged_excerpts_are_traced, 0},
    {NULL, 0, NULL, 0},
};
