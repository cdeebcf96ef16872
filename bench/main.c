/* SPDX-License-Identifier: MIT */
/* The bench: our kinds, other libraries and the machine's own floor, measured side by side. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "tamis.h"

static const char help[] =
    "usage: bench [OPTION...]\n"
    "\n"
    "Measures filters side by side, in rounds, on one processor, against the floor: what the "
    "machine\n"
    "itself takes for the memory that a filter touches. docs/performance.md explains the table.\n"
    "\n"
    "  --keys LIST        numbers of keys, one event for each [1e5,1e7]\n"
    "  --kinds LIST       our kinds by name [blocked,split,classic,cuckoo,quotient,gcs,ribbon,\n"
    "                     fuse:fpr=1/256]; none for none\n"
    "  --spec SPEC        one of ours with options: blocked:fpr=0.1%,hashes=8 (again for more;\n"
    "                     without --kinds only these); a capacity of its own is for equal room\n"
    "  --ways LIST        one, batch, bulk, push, inline: how ours are queried [all]; add: one, "
    "and\n"
    "                     built by a call for each key; giant: batch, on pages of 1 GiB\n"
    "  --questions LIST   miss, mixed, hit, chase (each key depends on the answer before) [all]\n"
    "  --key-bytes LIST   8 (integers) or 32 (strings) [8]\n"
    "  --threads LIST     [1]\n"
    "  --peer FILE.so     another contestant, by bench/peer.h (again for more)\n"
    "  --peers LIST       only peers whose name and way have one of these parts: libbloom,boost,\n"
    "                     \"ribbon128 batch\"; none for none [all]\n"
    "  --reference NAME   what the columns \"x ref\" compare with [the first of ours, by the "
    "batch]\n"
    "  --large-malloc     give every malloc large pages (glibc's tunable)\n"
    "  --rounds N         [41]\n"
    "  --builds N         [15 for 10^5 keys, 3 for 10^7, 1 for 10^8]\n"
    "  --check-all        ask every member for a false no, not a million of them\n"
    "  --no-floor         leave the floor out\n"
    "  --json FILE        everything that was measured; bench/plot draws it\n"
    "  --count            instructions per key instead of time; to be run by bench/count\n"
    "  --smoke            a second of everything, to see that it works\n"
    "\n"
    "A duel:  build/bench/bench --keys 1e7 --kinds blocked,split --ways batch --peers "
    "sbbf,libbloom\n";

struct list {
    const char *text[32];
    size_t n;
};

struct params {
    struct settings set;
    const char *keys, *kinds, *ways, *questions, *key_bytes, *threads, *peers, *json;
    struct list specs, objects;
    bool has_floor, counts;
    char own_peers[4096]; /* the directory of the program */
};

static const char all_kinds[] = "blocked,split,classic,cuckoo,quotient,gcs,ribbon,fuse:fpr=1/256";

_Noreturn static void refuse(const char *what, const char *value) {
    fprintf(stderr, "bench: %s: %s\n       try bench --help\n", what, value);
    exit(2);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max) {
    uint64_t value;
    if (!tamis_parse_count(text, &value) || value < min || value > max)
        refuse("not a valid number", text);
    return value;
}

static void append(struct list *list, const char *text) {
    if (list->n == COUNT_OF(list->text)) refuse("too many of these", text);
    list->text[list->n++] = text;
}

/* glibc reads its tunables when a program starts, so this one restarts. */
static void restart_with_large_malloc(char **argv) {
    static const char setting[] = "glibc.malloc.hugetlb=1";
    const char *now = getenv("GLIBC_TUNABLES");
    if (now && strstr(now, setting)) return;
    setenv("GLIBC_TUNABLES", setting, 1);
    execv("/proc/self/exe", argv);
    refuse("cannot start again", argv[0]);
}

static void be_quick(struct params *w) {
    w->keys = "5000", w->key_bytes = "8,32";
    w->set.rounds = 3, w->set.builds = 2, w->set.checks_all = true;
}

enum {
    KEYS = 256,
    KINDS,
    SPEC,
    WAYS,
    ASK,
    KEY_BYTES,
    THREADS,
    OBJECT,
    PEERS,
    LARGE,
    REFERENCE,
    ROUNDS,
    BUILDS,
    CHECK_ALL,
    NO_FLOOR,
    JSON,
    COUNTS,
    SMOKE,
    HELP
};

static const struct option options[] = {
    {"keys", 1, NULL, KEYS},           {"kinds", 1, NULL, KINDS},
    {"spec", 1, NULL, SPEC},           {"ways", 1, NULL, WAYS},
    {"questions", 1, NULL, ASK},       {"key-bytes", 1, NULL, KEY_BYTES},
    {"threads", 1, NULL, THREADS},     {"peer", 1, NULL, OBJECT},
    {"peers", 1, NULL, PEERS},         {"large-malloc", 0, NULL, LARGE},
    {"reference", 1, NULL, REFERENCE}, {"rounds", 1, NULL, ROUNDS},
    {"builds", 1, NULL, BUILDS},       {"check-all", 0, NULL, CHECK_ALL},
    {"no-floor", 0, NULL, NO_FLOOR},   {"json", 1, NULL, JSON},
    {"count", 0, NULL, COUNTS},        {"smoke", 0, NULL, SMOKE},
    {"help", 0, NULL, HELP},           {NULL, 0, NULL, 0},
};

static void take(struct params *w, int option, char **argv) {
    switch (option) {
    case KEYS: w->keys = optarg; break;
    case KINDS: w->kinds = optarg; break;
    case SPEC: append(&w->specs, optarg); break;
    case WAYS: w->ways = optarg; break;
    case ASK: w->questions = optarg; break;
    case KEY_BYTES: w->key_bytes = optarg; break;
    case THREADS: w->threads = optarg; break;
    case OBJECT: append(&w->objects, optarg); break;
    case PEERS: w->peers = optarg; break;
    case LARGE: restart_with_large_malloc(argv); break;
    case REFERENCE: w->set.reference = optarg; break;
    case ROUNDS: w->set.rounds = number(optarg, 1, MAX_ROUNDS); break;
    case BUILDS: w->set.builds = number(optarg, 1, MAX_BUILDS); break;
    case CHECK_ALL: w->set.checks_all = true; break;
    case NO_FLOOR: w->has_floor = false; break;
    case JSON: w->json = optarg; break;
    case COUNTS: /* callgrind may not know the instructions of inlined code */
        w->counts = true;
        if (!w->ways) w->ways = "one,batch";
        break;
    case SMOKE: be_quick(w); break;
    case HELP: fputs(help, stdout); exit(0);
    default: exit(2);
    }
}

static void read_params(struct params *w, int argc, char **argv) {
    *w = (struct params){.set = {.rounds = 41, .chunk = 1 << 14},
                         .keys = "1e5,1e7",
                         .key_bytes = "8",
                         .threads = "1",
                         .has_floor = true};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        take(w, option, argv);
    if (optind < argc) refuse("unexpected argument", argv[optind]);
    if (!w->kinds) w->kinds = w->specs.n ? "none" : all_kinds;
    for (int q = 0; q < QUESTIONS; q++) w->set.asks[q] = is_listed(w->questions, question_names[q]);
    const ssize_t n = readlink("/proc/self/exe", w->own_peers, sizeof w->own_peers - 8);
    w->own_peers[n > 0 ? n : 0] = 0;
    char *slash = strrchr(w->own_peers, '/');
    strcpy(slash ? slash : w->own_peers, "/peers");
}

/* Calls `act` for each part of a list separated by commas or spaces. */
static void for_each(const char *list, void (*act)(void *ctx, const char *word), void *ctx) {
    char word[256];
    for (const char *at = list; *at;) {
        const size_t n = strcspn(at, ", ");
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        if (n) act(ctx, word);
        at += n + (at[n] != 0);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

struct run {
    struct params params;
    struct event event;
    FILE *json;
    size_t events;
    bool has_lost; /* a false no, somewhere */
};

static void enter_kind(void *ctx, const char *spec) {
    struct run *r = ctx;
    if (strcmp(spec, "none"))
        r->event.count = ours_enter(r->event.all, r->event.count, spec, r->params.ways);
}

static void enter_all(struct run *r) {
    const struct params *w = &r->params;
    struct event *e = &r->event;
    e->all = calloc(MAX_CONTESTANTS, sizeof *e->all);
    e->filters = calloc(MAX_CONTESTANTS, sizeof *e->filters);
    if (!e->all || !e->filters) refuse("no memory", "for contestants");
    if (w->has_floor) e->count = floor_enter(e->all, 0);
    for_each(w->kinds, enter_kind, r);
    for (size_t i = 0; i < w->specs.n; i++) enter_kind(r, w->specs.text[i]);
    if (w->counts || (w->peers && !strcmp(w->peers, "none"))) return;
    e->count = peers_enter_dir(e->all, e->count, w->own_peers, w->peers);
    for (size_t i = 0; i < w->objects.n; i++)
        e->count = peers_enter(e->all, e->count, w->objects.text[i], w->peers);
}

static void run_event(struct run *r) {
    struct event *e = &r->event;
    e->set = r->params.set;
    memset(e->filters, 0, MAX_CONTESTANTS * sizeof *e->filters);
    if (!event_run(e)) return;
    if (r->params.counts)
        count_instructions(e);
    else
        table_print(e);
    for (size_t i = 0; i < e->count; i++) r->has_lost |= e->all[i].lost > 0;
    if (r->json) json_event(r->json, e, r->events == 0);
    event_end(e);
    r->events++;
}

static void with_threads(void *ctx, const char *word) {
    struct run *r = ctx;
    r->event.threads = (unsigned)number(word, 1, 64);
    run_event(r);
}

static void with_key_bytes(void *ctx, const char *word) {
    struct run *r = ctx;
    r->event.key_bytes = (unsigned)number(word, 8, STRING_BYTES);
    if (r->event.key_bytes != 8 && r->event.key_bytes != STRING_BYTES)
        refuse("keys have 8 or 32 bytes, not", word);
    for_each(r->params.threads, with_threads, r);
}

static void with_keys(void *ctx, const char *word) {
    struct run *r = ctx;
    r->event.keys = number(word, 1, (uint64_t)1 << 40);
    for_each(r->params.key_bytes, with_key_bytes, r);
}

int main(int argc, char **argv) {
    static struct run r;
    read_params(&r.params, argc, argv);
    enter_all(&r);
    if (r.params.json && !(r.json = fopen(r.params.json, "w")))
        refuse("cannot write", r.params.json);
    if (r.json) json_begin(r.json, &r.params.set);
    for_each(r.params.keys, with_keys, &r);
    if (r.json) json_end(r.json);
    if (r.json && fclose(r.json)) refuse("cannot write", r.params.json);
    free(r.event.all);
    free(r.event.filters);
    if (r.has_lost) fprintf(stderr, "bench: a contestant did not find its own keys\n");
    return r.has_lost ? 1 : 0;
}
