/* SPDX-License-Identifier: MIT */
/* summary_cache.c: neighbours that know what each other holds, after Fan, Cao, Almeida and Broder
 * (1998).
 *
 * Some web caches are neighbours. What one does not have, another may have, and then it need not be
 * fetched from far away. Which are queried?
 *
 *     icp       all neighbours, at every miss: nothing is overlooked
 *     compact   those whose summary says maybe, one by one until one has it; a summary is a
 *               counting filter, and its changes are announced when the documents not yet
 *               announced are a certain share of all
 *     dirupdate the same, in the messages that the paper added to ICP
 *     exact     those whose list of documents, announced at the same moments, has it
 *
 * A false hit is a query to a neighbour that does not have the document, a false miss a document
 * that a neighbour had and that was still fetched from far away.
 *
 *     summary_cache [PROXIES [DOCUMENTS [REQUESTS]]] [--csv]
 *
 * Every cache holds DOCUMENTS documents and drops the least recently used one. Requests are
 * Zipf-distributed, each at a random cache; the first half fills the caches and is not counted.
 *
 * Build it with:  cc summary_cache.c $(pkg-config --cflags --libs tamis) -lm */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis_jobs.h>

#include "zipf.h"

enum { MAX_PROXIES = 64, NOBODY = 0, LOAD_FACTOR = 16, HASHES = 4 };
enum {
    PACKET = 1400,
    QUERY_BYTES = 70,
    DIGEST_BYTES = 16
}; /* a query is 20 bytes and a URL of 50 */
static const double exponent = 0.8;
static const double thresholds[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1};
enum { THRESHOLDS = sizeof thresholds / sizeof *thresholds };

enum scheme { ICP, COMPACT, DIRUPDATE, EXACT, SCHEMES };
static const char *const scheme_names[] = {"icp", "compact", "dirupdate", "exact"};

static void must(tamis_status status) {
    if (status == TAMIS_OK) return;
    fprintf(stderr, "summary_cache: %s\n", tamis_why());
    exit(2);
}

static void *room_for(size_t n, size_t each) {
    void *memory = calloc(n, each);
    if (memory) return memory;
    fprintf(stderr, "summary_cache: out of memory\n");
    exit(2);
}

/* ---- A cache -------------------------------------------------------------------------------- */

/* Documents are numbers from 1. `slot` is the place of a document in the list of the last used, 0
 * for none; slots are chained from the newest to the oldest. */
typedef struct proxy {
    uint32_t *slot, *document, *newer, *older;
    uint32_t newest, oldest, used;
    tamis *summary;               /* of its own documents */
    tamis_neighbours *neighbours; /* what the others announced */
    uint8_t *told;                /* exact: the documents of the last announcement */
    uint32_t *pending;            /* exact: those that came or went since */
    size_t pending_count, pending_room;
    uint32_t fresh; /* documents that came since the last announcement */
} proxy;

typedef struct world {
    enum scheme scheme;
    double threshold;
    unsigned proxies;
    uint32_t room, documents;
    uint64_t requests;
    proxy proxy[MAX_PROXIES];
    bool is_counting;
    uint64_t counted, local, remote, false_hits, false_misses, messages, bytes;
} world;

static void unlink_slot(proxy *p, uint32_t s) {
    if (p->newer[s])
        p->older[p->newer[s]] = p->older[s];
    else
        p->newest = p->older[s];
    if (p->older[s])
        p->newer[p->older[s]] = p->newer[s];
    else
        p->oldest = p->newer[s];
}

static void link_newest(proxy *p, uint32_t s) {
    p->newer[s] = 0;
    p->older[s] = p->newest;
    if (p->newest) p->newer[p->newest] = s;
    p->newest = s;
    if (!p->oldest) p->oldest = s;
}

/* ---- Announcing ----------------------------------------------------------------------------- */

static int url_of(uint32_t document, char url[64]) {
    return snprintf(url, 64, "http://server%u.example/page/%u", document % 997, document);
}

/* A document came or went: the summary follows at once, the neighbours later. */
static void note_change(world *w, proxy *p, uint32_t document, bool is_new) {
    char url[64];
    const size_t len = (size_t)url_of(document, url);
    if (w->scheme == EXACT) {
        if (p->pending_count == p->pending_room) {
            p->pending_room = 2 * p->pending_room + 1024;
            p->pending = realloc(p->pending, p->pending_room * sizeof *p->pending);
            if (!p->pending) exit(2);
        }
        p->pending[p->pending_count++] = document;
    } else if (w->scheme != ICP) {
        must(is_new ? tamis_add(p->summary, url, len) : tamis_remove(p->summary, url, len));
    }
    p->fresh += is_new;
}

static void count_messages(world *w, uint64_t messages, uint64_t bytes) {
    if (!w->is_counting) return;
    w->messages += messages;
    w->bytes += bytes;
}

struct delivery {
    world *world;
    const proxy *from;
    char name[16];
};

/* A message goes to every neighbour. */
static bool deliver(void *ctx, const void *message, size_t size) {
    const struct delivery *d = ctx;
    world *w = d->world;
    for (unsigned i = 0; i < w->proxies; i++)
        if (&w->proxy[i] != d->from)
            must(tamis_neighbours_receive(w->proxy[i].neighbours, d->name, message, size, NULL));
    count_messages(w, w->proxies - 1, (w->proxies - 1) * size);
    return true;
}

static void announce(world *w, proxy *p) {
    const struct tamis_announce_options options = {.struct_size = sizeof options,
                                                   .message_bytes = PACKET};
    struct delivery d = {.world = w, .from = p};
    snprintf(d.name, sizeof d.name, "%03u", (unsigned)(p - w->proxy));
    must(tamis_announce(p->summary, &options, NULL, deliver, &d));
}

/* The same with lists: 16 bytes for each document that came or went. */
static void announce_list(world *w, proxy *p) {
    uint64_t changes = 0;
    for (size_t i = 0; i < p->pending_count; i++) {
        const uint32_t document = p->pending[i];
        const bool is_there = p->slot[document] != 0;
        changes += p->told[document] != is_there;
        p->told[document] = is_there;
    }
    p->pending_count = 0;
    const uint64_t each = PACKET / DIGEST_BYTES, packets = (changes + each - 1) / each;
    count_messages(w, (w->proxies - 1) * packets, (w->proxies - 1) * changes * DIGEST_BYTES);
}

static void announce_when_due(world *w, proxy *p) {
    if (w->scheme == ICP || p->fresh == 0 || p->fresh < w->threshold * p->used) return;
    if (w->scheme == EXACT)
        announce_list(w, p);
    else
        announce(w, p);
    p->fresh = 0;
}

/* ---- A request ------------------------------------------------------------------------------ */

static void keep(world *w, proxy *p, uint32_t document) {
    uint32_t s;
    if (p->used < w->room) {
        s = ++p->used;
    } else {
        s = p->oldest;
        const uint32_t gone = p->document[s];
        unlink_slot(p, s);
        p->slot[gone] = NOBODY;
        note_change(w, p, gone, false);
    }
    p->document[s] = document;
    p->slot[document] = s;
    link_newest(p, s);
    note_change(w, p, document, true);
    announce_when_due(w, p);
}

/* Which neighbours seem to have it? */
static unsigned ask(const world *w, unsigned here, uint32_t document, unsigned who[MAX_PROXIES]) {
    unsigned n = 0;
    if (w->scheme == COMPACT || w->scheme == DIRUPDATE) {
        char url[64];
        size_t found[MAX_PROXIES];
        const size_t len = (size_t)url_of(document, url);
        const size_t count =
            tamis_neighbours_ask(w->proxy[here].neighbours, url, len, found, MAX_PROXIES);
        for (size_t i = 0; i < count; i++) {
            const char *name;
            const tamis *copy;
            tamis_neighbours_at(w->proxy[here].neighbours, found[i], &name, &copy);
            who[n++] = (unsigned)atoi(name);
        }
        return n;
    }
    for (unsigned i = 0; i < w->proxies; i++)
        if (i != here && (w->scheme == ICP || w->proxy[i].told[document])) who[n++] = i;
    return n;
}

static void request(world *w, unsigned here, uint32_t document) {
    proxy *p = &w->proxy[here];
    unsigned who[MAX_PROXIES];
    bool is_near = false, is_found = false;
    w->counted += w->is_counting;
    if (p->slot[document]) {
        w->local += w->is_counting;
        unlink_slot(p, p->slot[document]);
        link_newest(p, p->slot[document]);
        return;
    }
    for (unsigned i = 0; i < w->proxies; i++) is_near |= w->proxy[i].slot[document] != 0;
    const unsigned promising = ask(w, here, document, who);
    unsigned asked = 0;
    while (asked < promising && (w->scheme == ICP || !is_found))
        is_found |= w->proxy[who[asked++]].slot[document] != 0;
    if (w->is_counting && w->scheme != ICP) w->false_hits += asked - is_found;
    count_messages(w, 2 * asked, 2 * (uint64_t)asked * QUERY_BYTES);
    if (w->is_counting) {
        w->remote += is_found;
        w->false_misses += is_near && !is_found;
    }
    keep(w, p, document);
}

/* ---- All caches ----------------------------------------------------------------------------- */

static void make_proxy(const world *w, proxy *p) {
    char spec[128];
    p->slot = room_for(w->documents + 1, sizeof *p->slot);
    p->told = room_for(w->documents + 1, 1);
    p->document = room_for(w->room + 1, sizeof *p->document);
    p->newer = room_for(w->room + 1, sizeof *p->newer);
    p->older = room_for(w->room + 1, sizeof *p->older);
    if (w->scheme != COMPACT && w->scheme != DIRUPDATE) return;
    snprintf(spec, sizeof spec, "%s:capacity=%u,bits=%u,hashes=%d%s",
             w->scheme == COMPACT ? "counting" : "icp", w->room, 6 * LOAD_FACTOR * w->room, HASHES,
             w->scheme == COMPACT ? ",log=yes" : "");
    must(tamis_create(&p->summary, spec));
    must(tamis_neighbours_create(&p->neighbours, w->proxies, NULL));
}

static void free_proxy(proxy *p) {
    tamis_free(p->summary);
    tamis_neighbours_free(p->neighbours);
    free(p->slot);
    free(p->told);
    free(p->document);
    free(p->newer);
    free(p->older);
    free(p->pending);
}

static void simulate(world *w) {
    zipf z = zipf_start(w->documents, exponent, 1998);
    for (unsigned i = 0; i < w->proxies; i++) make_proxy(w, &w->proxy[i]);
    for (uint64_t i = 0; i < w->requests; i++) {
        w->is_counting = i >= w->requests / 2;
        const uint32_t document = (uint32_t)zipf_next(&z);
        request(w, (unsigned)(zipf_bits(&z) % w->proxies), document);
    }
    for (unsigned i = 0; i < w->proxies; i++) free_proxy(&w->proxy[i]);
}

/* ---- Output --------------------------------------------------------------------------------- */

static void print_csv(const world *w) {
    const double n = (double)w->counted;
    printf("%s,%g,%u,%.5f,%.5f,%.6f,%.6f,%.5f,%.3f\n", scheme_names[w->scheme], w->threshold,
           w->proxies, (double)(w->local + w->remote) / n, (double)w->remote / n,
           (double)w->false_hits / n, (double)w->false_misses / n, (double)w->messages / n,
           (double)w->bytes / n);
}

static void print_line(const world *w) {
    const double n = (double)w->counted, percent = 100 / n;
    char threshold[16] = "-";
    if (w->scheme != ICP) snprintf(threshold, sizeof threshold, "%g %%", 100 * w->threshold);
    printf("%-10s %8s %9.2f %9.2f %11.3f %13.3f %12.3f %9.1f\n", scheme_names[w->scheme], threshold,
           (double)(w->local + w->remote) * percent, (double)w->remote * percent,
           (double)w->false_hits * percent, (double)w->false_misses * percent,
           (double)w->messages / n, (double)w->bytes / n);
}

static void run(const world *wanted, enum scheme scheme, double threshold, bool is_csv) {
    world *w = room_for(1, sizeof *w);
    *w = *wanted;
    w->scheme = scheme;
    w->threshold = threshold;
    simulate(w);
    (is_csv ? print_csv : print_line)(w);
    fflush(stdout);
    free(w);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max) {
    uint64_t n;
    if (tamis_parse_count(text, &n) && n >= min && n <= max) return n;
    fprintf(stderr, "summary_cache: '%s' is not a number from %llu to %llu\n", text,
            (unsigned long long)min, (unsigned long long)max);
    exit(2);
}

int main(int argc, char **argv) {
    const bool is_csv = argc > 1 && strcmp(argv[argc - 1], "--csv") == 0;
    const int numbers = argc - is_csv;
    static world wanted = {.proxies = 4, .room = 500, .requests = 20000};
    if (numbers > 1) wanted.proxies = (unsigned)number(argv[1], 2, MAX_PROXIES);
    if (numbers > 2) wanted.room = (uint32_t)number(argv[2], 10, 1000000);
    if (numbers > 3) wanted.requests = number(argv[3], 1000, 1000000000);
    wanted.documents = 50 * wanted.room;
    if (is_csv) {
        printf(
            "scheme,threshold,proxies,hits,remote_hits,false_hits,false_misses,messages,bytes\n");
    } else {
        printf("%u caches of %u documents, %llu requests; of 100 requests, and for each\n",
               wanted.proxies, wanted.room, (unsigned long long)wanted.requests);
        printf("asks      threshold      hits    remote  false hits  false misses     messages"
               "     bytes\n");
    }
    run(&wanted, ICP, 0, is_csv);
    for (int s = COMPACT; s < SCHEMES; s++)
        for (int i = 0; i < THRESHOLDS; i++) run(&wanted, (enum scheme)s, thresholds[i], is_csv);
    return 0;
}
