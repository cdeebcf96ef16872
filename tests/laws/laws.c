/* SPDX-License-Identifier: MIT */
/* Every law on every kind of the registry, with every choice of its options; and every lying kind
 * of tests/broken against the law that must catch it. */
#include "tests/laws/laws.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/kind.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"

/* ---- Words ---------------------------------------------------------------------------------- */

const char *wrong(const char *format, ...) {
    static char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return text;
}

static bool is_quick(void) {
    return getenv("TAMIS_QUICK") != NULL;
}

uint64_t effort(uint64_t times) {
    return is_quick() ? times / 20 + 1 : times;
}

bool is_rare(uint64_t count, uint64_t n, double rate) {
    return (double)count <= rate * (double)n || test_is_possible(count, n, rate, TEST_ALPHA);
}

bool is_foreign(const subject *s) {
    return s->kind.id >= TAMIS_FOREIGN_FROM && s->kind.id < TAMIS_FOREIGN_END;
}

/* ---- Filters and keys ----------------------------------------------------------------------- */

static void demand(tamis_status rc, const char *what) {
    if (rc == TAMIS_OK) return;
    fprintf(stderr, "%s: %s\n", what, tamis_why());
    abort();
}

const char *spec_of(const subject *s, uint64_t capacity, double fpr, const char *more) {
    static char text[256];
    snprintf(text, sizeof text, "%s:capacity=%llu,fpr=%.9g%s%s", s->kind.name,
             (unsigned long long)capacity, fpr, s->options, more ? more : "");
    return text;
}

const struct tamis_options *secret_options(const char *spec) {
    static const uint8_t secret[16] = "known to laws...";
    static const struct tamis_options with = {.struct_size = sizeof with, .secret = secret};
    static const struct tamis_options without = {.struct_size = sizeof without};
    return strstr(spec, "sip13") ? &with : &without;
}

tamis *make(const subject *s, uint64_t capacity, double fpr, const char *more) {
    tamis *f;
    const char *spec = spec_of(s, capacity, fpr, more);
    demand(tamis_create_with(&f, spec, secret_options(spec)), spec);
    return f;
}

static size_t min_len; /* of keys that the current subject takes */
bool only_numbers;

struct tamis_key min_key(void) {
    return (struct tamis_key){"", min_len};
}

struct tamis_key key_at(uint64_t i, char buffer[32]) {
    if (i == 0 && !only_numbers) return min_key();
    if (i % 2 == 0 || only_numbers) {
        const uint64_t x = test_number(7, i);
        memcpy(buffer, &x, sizeof x);
        return (struct tamis_key){buffer, sizeof x};
    }
    const int len = snprintf(buffer, 32, "key number %llu", (unsigned long long)i);
    return (struct tamis_key){buffer, (size_t)len};
}

uint64_t add_keys(tamis *f, uint64_t from, uint64_t to) {
    intake in = {.filter = f};
    return take_in_keys(&in, from, to);
}

/* In batches, which equal the answers one by one: batch_equals_single. Some kinds of other systems
 * read all they hold for a query, and then only once for a batch. */
uint64_t count_keys(const tamis *f, uint64_t from, uint64_t to) {
    enum { AT_ONCE = 500 };
    char buffer[AT_ONCE][32];
    struct tamis_key keys[AT_ONCE];
    uint8_t hit[AT_ONCE];
    uint64_t found = 0;
    for (uint64_t now; from < to; from += now) {
        now = to - from < AT_ONCE ? to - from : AT_ONCE;
        for (uint64_t i = 0; i < now; i++) keys[i] = key_at(from + i, buffer[i]);
        tamis_has_many(f, keys, (size_t)now, hit);
        for (uint64_t i = 0; i < now; i++) found += hit[i];
    }
    return found;
}

bool same_payload(const tamis *a, const tamis *b) {
    uint64_t m, n;
    const void *p = tamis_payload(a, &m), *q = tamis_payload(b, &n);
    return m == n && memcmp(p, q, (size_t)m) == 0;
}

bool same_answers(const tamis *a, const tamis *b, uint64_t from, uint64_t to) {
    if (test_info(a).abilities & TAMIS_IS_SKETCH) return same_payload(a, b);
    for (uint64_t i = from; i < to; i++)
        if (count_keys(a, i, i + 1) != count_keys(b, i, i + 1)) return false;
    return true;
}

/* ---- Filters with keys ---------------------------------------------------------------------- */

static const tamis_kind *kind_of(const char *name) {
    return tamis__kind_by_name(name, strlen(name))->kind;
}

uint64_t value_of(uint64_t hash, uint64_t max_value) {
    const uint64_t value = test_number(41, hash);
    return max_value == UINT64_MAX ? value : value % (max_value + 1);
}

bool has_second_label(uint64_t hash) {
    return test_number(42, hash) % 2;
}

uint64_t good_of(uint64_t hash, unsigned i) {
    return test_number(43 + i, hash);
}

uint64_t max_value_of(const tamis *f) {
    const struct tamis_info info = test_info(f);
    const tamis_kind *kind = kind_of(info.kind);
    return TAMIS_ENTRY(kind, values, max_value) ? kind->values->max_value(info.word) : 0;
}

bool takes_good(const subject *s) {
    const tamis_kind *kind = kind_of(s->kind.name);
    return kind->build && kind->build->member;
}

bool needs_capacity(const subject *s) {
    return TAMIS_ENTRY(kind_of(s->kind.name), sizing, whole);
}

const char *const label_names[LABELS] = {"one", "two"};

/* Both labels are set from the start, so that their numbers are the same in any order of keys. */
static void open_labels(intake *in) {
    for (size_t i = 0; in->subject->can & TAMIS_CAN_LABEL && i < LABELS; i++)
        demand(tamis_builder_label(in->builder, label_names[i]), "label");
}

intake open_builder(const subject *s, const char *spec,
                    const struct tamis_builder_options *options) {
    const struct tamis_builder_options plain = {.struct_size = sizeof plain,
                                                .filter = secret_options(spec)};
    const tamis_kind *kind = kind_of(s->kind.name);
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    intake in = {.subject = s};
    demand(tamis_builder_create_with(&in.builder, spec, options ? options : &plain), spec);
    if (TAMIS_ENTRY(kind, values, max_value)) {
        char planned[256]; /* the width of values does not depend on how many there are */
        const bool has_capacity = strstr(spec, "capacity=") != NULL;
        snprintf(planned, sizeof planned, "%s%s", spec, has_capacity ? "" : ",capacity=1000");
        demand(tamis_plan_spec(planned, &plan), planned);
        in.max_value = kind->values->max_value(plan.word);
    }
    open_labels(&in);
    return in;
}

intake open_intake(const subject *s, uint64_t capacity, double fpr, const char *more) {
    if (s->can & TAMIS_IS_BUILT) return open_builder(s, spec_of(s, capacity, fpr, more), NULL);
    return (intake){.subject = s, .filter = make(s, capacity, fpr, more)};
}

static tamis_status build_in(intake *in, const void *key, size_t len) {
    const unsigned can = in->subject->can;
    const uint64_t hash = tamis_builder_hash(in->builder, key, len);
    for (unsigned i = 0; i < GOOD_FOR_EACH && takes_good(in->subject); i++)
        demand(tamis_builder_exclude_hash(in->builder, good_of(hash, i)), "good");
    if (can & TAMIS_CAN_LABEL && has_second_label(hash)) {
        demand(tamis_builder_label(in->builder, label_names[1]), "label");
        demand(tamis_builder_add(in->builder, key, len), "a key");
    }
    if (can & TAMIS_CAN_LABEL) demand(tamis_builder_label(in->builder, label_names[0]), "label");
    if (can & TAMIS_CAN_GET && can & TAMIS_IS_BUILT)
        return tamis_builder_put(in->builder, key, len, value_of(hash, in->max_value));
    return tamis_builder_add(in->builder, key, len);
}

tamis_status take_in(intake *in, const void *key, size_t len) {
    const tamis_status rc = in->filter ? tamis_add(in->filter, key, len) : build_in(in, key, len);
    if (rc != TAMIS_FULL) demand(rc, "a key");
    return rc;
}

uint64_t take_in_keys(intake *in, uint64_t from, uint64_t to) {
    char buffer[32];
    for (uint64_t i = from; i < to; i++) {
        const struct tamis_key key = key_at(i, buffer);
        if (take_in(in, key.bytes, key.len)) return i - from;
    }
    return to - from;
}

tamis *taken(intake *in) {
    if (!in->builder) return in->filter;
    demand(tamis_builder_finish(in->builder, &in->filter), "finish");
    tamis_builder_free(in->builder);
    return in->filter;
}

tamis *filled(const subject *s, uint64_t capacity, double fpr, const char *more, uint64_t from,
              uint64_t to) {
    intake in = open_intake(s, capacity, fpr, more);
    take_in_keys(&in, from, to);
    return taken(&in);
}

/* ---- Subjects: a kind with each choice of each option ---------------------------------------- */

enum { MAX_SUBJECTS = 800 };
static subject subjects[MAX_SUBJECTS];
static size_t subject_count;

/* Choices that take several times the default are not worth the time. */
static bool is_wasteful(const subject *s, const struct tamis_plan *plan) {
    enum { WASTE = 4 };
    subject plain = *s;
    struct tamis_plan best = TAMIS_PLAN_INIT;
    plain.options[0] = '\0';
    if (tamis_plan_spec(spec_of(&plain, 1000, 0.01, NULL), &best)) return false;
    if (!(s->can & TAMIS_IS_BUILT) && !TAMIS_ENTRY(kind_of(s->kind.name), sizing, is_sized))
        return false;
    return plan->payload_bytes > WASTE * best.payload_bytes;
}

/* Other systems' names for one shape, such as their versions, are one subject. */
static bool is_known_already(const subject *s, const struct tamis_plan *plan) {
    for (size_t i = 0; i < subject_count && is_foreign(s); i++) {
        struct tamis_plan other = TAMIS_PLAN_INIT;
        if (subjects[i].kind.id != s->kind.id ||
            tamis_plan_spec(spec_of(&subjects[i], 1000, 0.01, NULL), &other))
            continue;
        if (memcmp(other.word, plan->word, sizeof other.word) == 0) return true;
    }
    return false;
}

/* An option that sets the size of a filter may leave no room for the keys of laws. */
static bool is_too_small(const subject *s, const struct tamis_plan *plan) {
    const unsigned excused = TAMIS_IS_SKETCH | TAMIS_IS_BUILT;
    return !(s->can & excused) && !is_foreign(s) && plan->fpr_expected > 0.5;
}

/* A part takes only keys of its own, which laws do not choose: the part that is the whole
 * represents all, and tests of its kind are about the others. */
static bool is_part(const subject *s, const struct tamis_plan *plan) {
    tamis_params params = {0};
    const tamis_kind *kind = kind_of(s->kind.name);
    if (TAMIS_ENTRY(kind, sizing, whole)) kind->sizing->whole(plan->word, &params);
    return params.bits > plan->payload_bytes * 8;
}

static void add_subject(const struct tamis_kind_info *kind, const char *option, const char *value,
                        size_t len) {
    subject *s = &subjects[subject_count];
    *s = (subject){.kind = *kind};
    if (option) snprintf(s->options, sizeof s->options, ",%s=%.*s", option, (int)len, value);
    snprintf(s->name, sizeof s->name, "%s%s%s", kind->name, option ? "/" : "",
             option ? s->options + 1 : "");
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    /* no such choice */
    if (tamis_plan_spec(spec_of(s, 1000, 0.01, NULL), &plan)) return;
    s->can = plan.abilities;
    if (!(s->can & (TAMIS_CAN_ADD | TAMIS_IS_BUILT))) return; /* only Hadoop can fill it */
    if (is_wasteful(s, &plan) || is_too_small(s, &plan) || is_known_already(s, &plan) ||
        is_part(s, &plan))
        return;
    if (++subject_count == MAX_SUBJECTS) abort();
}

static bool is_liar(const char *name) {
    return strncmp(name, "broken_", 7) == 0;
}

enum { LARGE = 1 << 20, WIDE_FROM = 32 };
#define OPEN_FROM ((uint64_t)1 << 32)

static void add_kind(const struct tamis_kind_info *kind) {
    add_subject(kind, NULL, NULL, 0);
    if (is_liar(kind->name)) return; /* one lie is enough */
    for (size_t i = 0; i < kind->option_count; i++) {
        const struct tamis_option *option = &kind->options[i];
        if (option->choices) {
            for (const char *p = option->choices; *p;) {
                const size_t len = strcspn(p, "|");
                add_subject(kind, option->name, p, len);
                p += len + (p[len] == '|');
            }
            continue;
        }
        /* Numeric options of other systems are tested with their formats. */
        if (kind->id >= TAMIS_FOREIGN_FROM && kind->id < TAMIS_FOREIGN_END) continue;
        /* Numbers: the ends, and a few between, fewer where each costs a build. Where the maximum
         * is out of reach, a large one. */
        const bool is_open = kind->abilities & TAMIS_IS_BUILT && option->max > OPEN_FROM;
        const bool is_wide = kind->abilities & TAMIS_IS_BUILT && option->max > WIDE_FROM;
        const uint64_t closed[] = {option->min, is_wide ? 8 : 3, 8, is_wide ? 8 : 16, option->max};
        const uint64_t open[5] = {LARGE};
        const uint64_t *some = is_open ? open : closed;
        for (size_t j = 0; j < sizeof closed / sizeof *closed; j++) {
            char text[24];
            if (some[j] < option->min || some[j] > option->max || (j && some[j] == some[j - 1]))
                continue;
            snprintf(text, sizeof text, "%llu", (unsigned long long)some[j]);
            add_subject(kind, option->name, text, strlen(text));
        }
    }
    /* Every kind that uses our hashes must work with each of them. */
    if (!(kind->abilities & TAMIS_OWN_HASH)) {
        add_subject(kind, "hash", "xxh64", 5);
        add_subject(kind, "hash", "sip13", 5);
        add_subject(kind, "hash", "mix8", 4);
    }
}

/* ---- Running -------------------------------------------------------------------------------- */

typedef struct trial {
    char name[160];
    const subject *subject;
    const law *law;
    bool must_fail;
} trial;

enum { MAX_TRIALS = 20000 };
static trial trials[MAX_TRIALS];
static struct CMUnitTest tests[MAX_TRIALS];
static size_t trial_count;

static void run_trial(void **state) {
    const trial *t = *state;
    min_len = t->subject->can & TAMIS_NO_EMPTY_KEY ? 1 : 0;
    const tamis_kind *kind = kind_of(t->subject->kind.name);
    only_numbers = tamis__builds_whole(kind) && kind->build->whole->key_bytes;
    const char *what = t->law->holds(t->subject);
    if (t->must_fail && !what) fail_msg("%s was not caught by %s", t->subject->name, t->law->name);
    if (!t->must_fail && what) fail_msg("%s: %s: %s", t->law->name, t->subject->name, what);
}

static void add_trial(const subject *s, const law *l, bool must_fail) {
    trial *t = &trials[trial_count];
    *t = (trial){.subject = s, .law = l, .must_fail = must_fail};
    snprintf(t->name, sizeof t->name, "%s: %s%s", l->name, s->name, must_fail ? " is caught" : "");
    tests[trial_count] =
        (struct CMUnitTest){.name = t->name, .test_func = run_trial, .initial_state = t};
    if (++trial_count == MAX_TRIALS) abort();
}

static const law *const lists[] = {membership_laws, byte_laws,       set_laws,   failure_laws,
                                   thread_laws,     change_laws,     key_laws,   program_laws,
                                   built_laws,      difference_laws, trace_laws, growth_laws,
                                   small_laws,      form_laws,       host_laws};
enum { LISTS = sizeof lists / sizeof *lists };

/* Each law is tried on each kind without options, or else with the first that suit the law, and
 * with a sixth of the others, not the same sixth for every law. With SHORT set it is a thirtieth,
 * and kinds of other systems see a quarter of the laws. */
static bool is_sampled(size_t i) {
    static const char *shorter;
    if (!shorter) shorter = getenv("SHORT") ? getenv("SHORT") : "";
    const size_t one_of = *shorter ? 30 : 6;
    size_t before = 0, law_number = 0;
    for (size_t j = 0; j < i; j++)
        before += trials[j].law == trials[i].law &&
                  trials[j].subject->kind.id == trials[i].subject->kind.id;
    for (const char *p = trials[i].law->name; *p; p++) law_number += (unsigned char)*p;
    if (*shorter && is_foreign(trials[i].subject) && (i + law_number) % 4) return false;
    return before == 0 || (before + law_number) % one_of == 0;
}

/* `laws NAME` runs only trials whose name contains NAME, `laws --list NAME` prints their names,
 * `laws --part 1/2` runs every second one, for two processors, and `laws --sample` fewer of
 * them. */
int main(int argc, char **argv) {
    const bool is_list = argc > 1 && strcmp(argv[1], "--list") == 0;
    const bool is_part = argc > 2 && strcmp(argv[1], "--part") == 0;
    const bool is_sample = argc > 1 && strcmp(argv[1], "--sample") == 0;
    const int named = 1 + is_list + 2 * is_part + is_sample;
    const char *only = argc > named ? argv[named] : "";
    unsigned long part = 1, parts = 1;
    if (is_part && (sscanf(argv[2], "%lu/%lu", &part, &parts) != 2 || !part || part > parts)) {
        printf("not ok 1 - --part takes values like 1/2\n");
        return 1;
    }
    for (size_t i = 0; i < tamis_kind_count(); i++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        tamis_kind_at(i, &kind);
        add_kind(&kind);
    }
    size_t liars = 0, caught_by_a_law = 0;
    for (size_t i = 0; i < subject_count; i++) {
        const subject *s = &subjects[i];
        const bool is_broken = is_liar(s->kind.name);
        if (is_broken && is_quick()) continue; /* caught only with full effort */
        liars += is_broken;
        for (size_t l = 0; l < LISTS; l++)
            for (const law *w = lists[l]; w->name; w++) {
                if ((s->can & w->needs) != w->needs || s->can & w->unless) continue;
                if (is_broken && strcmp(s->kind.contract, w->name) != 0) continue;
                caught_by_a_law += is_broken;
                add_trial(s, w, is_broken);
            }
    }
    if (liars != caught_by_a_law) {
        printf("not ok 1 - a lying kind names a law that does not exist\n");
        return 1;
    }
    size_t kept = 0;
    for (size_t i = 0; i < trial_count; i++)
        if (i % parts == part - 1 && strstr(tests[i].name, only) && (!is_sample || is_sampled(i)))
            tests[kept++] = tests[i];
    for (size_t i = 0; is_list && i < kept; i++) puts(tests[i].name);
    if (is_list) return 0;
    return _cmocka_run_group_tests("laws", tests, kept, NULL, NULL) != 0;
}
