/* SPDX-License-Identifier: MIT */
/* route.c: finding keys in a network without a map.
 *
 * A thousand nodes form a ring, with a few chords across. Each has some keys, and for each of its
 * links an attenuated filter of what can be reached there, up to four hops away. No node knows more
 * than that: nodes send their own filters to their neighbours, round by round, and a query is
 * passed on to the neighbour who seems to be nearest to the key, up to a limit of hops.
 *
 * A node without news sends nothing. Others send a patch from what the neighbour knows to what it
 * should know, which is short when few bits or few levels changed. Later some nodes get new keys,
 * and the network learns these in the same way. The messages are counted.
 *
 * Build it with:  cc route.c $(pkg-config --cflags --libs tamis) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

#include "tamis_parts.h"
#include "tamis_special.h"

enum { NODES = 1000, CHORDS = 1000, KEYS_EACH = 4, LEVELS = 4 };
enum { NEW_HOMES = 20, MAX_IMAGE = 1 << 16 };
enum { MAX_LINKS = 16, QUESTIONS = 1000, PATIENCE = 64 };
static const char *const spec = "attenuated:capacity=300,fpr=2%,levels=4";

typedef struct node {
    tamis *own;                         /* its keys, in level 1 */
    struct tamis_link links[MAX_LINKS]; /* what a query sees */
    tamis *filters[MAX_LINKS];          /* the same filters, writable */
    size_t link_count;
    int has_news, had_news; /* since the last round, and in the one before */
} node;

static node nodes[NODES];

/* Keys are numbers: node i has KEYS_EACH keys from i*KEYS_EACH. The home of a later key follows
 * from the key too. */
static uint64_t home_of(uint64_t key) {
    return key < NODES * KEYS_EACH ? key / KEYS_EACH : key * 7919 % NODES;
}

/* A small generator of our own, so that every machine walks the same paths. */
static uint64_t draw(uint64_t below) {
    static uint64_t x = 2002;
    x = x * 6364136223846793005u + 1442695040888963407u;
    return (x >> 33) % below;
}

/* ---- The network ---------------------------------------------------------------------------- */

static void must(tamis_status status) {
    if (status == TAMIS_OK) return;
    fprintf(stderr, "route: %s\n", tamis_why());
    exit(2);
}

static void add_link(node *from, uint64_t to) {
    if (from->link_count == MAX_LINKS) return;
    tamis **filter = &from->filters[from->link_count];
    must(tamis_create(filter, spec));
    from->links[from->link_count++] = (struct tamis_link){to, *filter};
}

static void connect(uint64_t a, uint64_t b) {
    add_link(&nodes[a], b);
    add_link(&nodes[b], a);
}

static void make_network(void) {
    for (uint64_t i = 0; i < NODES; i++) {
        must(tamis_create(&nodes[i].own, spec));
        nodes[i].has_news = 1;
        for (uint64_t k = 0; k < KEYS_EACH; k++)
            must(tamis_add_u64(nodes[i].own, i * KEYS_EACH + k));
    }
    for (uint64_t i = 0; i < NODES; i++) connect(i, (i + 1) % NODES);
    for (int i = 0; i < CHORDS; i++) {
        const uint64_t a = draw(NODES), b = draw(NODES);
        connect(a, b);
    }
}

/* ---- Learning ------------------------------------------------------------------------------- */

typedef struct traffic {
    unsigned rounds;
    unsigned long long messages, levels, level_bytes, patch_bytes;
} traffic;

/* What to send so that the neighbour's filter becomes ours; nothing when it already is. */
static int count_message(const uint8_t *before, const tamis *filter, traffic *sent) {
    static uint8_t after[MAX_IMAGE];
    struct tamis_patch_info patch = TAMIS_PATCH_INFO_INIT;
    uint64_t payload, changed = 0;
    const size_t size = (size_t)tamis_image_size(filter);
    must(tamis_serialize(filter, after, sizeof after));
    tamis_payload(filter, &payload);
    const size_t level = (size_t)(payload / LEVELS - 8), front = size - (size_t)payload;
    for (size_t i = 0; i < LEVELS; i++)
        changed += memcmp(before + front + i * level, after + front + i * level, level) != 0;
    if (!changed) return 0;
    must(tamis_patch_make(before, size, after, size, &patch, NULL, NULL));
    sent->messages++;
    sent->levels += changed;
    sent->level_bytes += changed * level;
    sent->patch_bytes += patch.patch_bytes;
    return 1;
}

/* A link learns what its far end has, and what that end can reach without coming back here, one hop
 * farther. Filters only gain bits, so any order of links will do. */
static int learn_link(uint64_t here, size_t i, traffic *sent) {
    static uint8_t before[MAX_IMAGE];
    const node *there = &nodes[nodes[here].links[i].neighbour];
    tamis *filter = nodes[here].filters[i];
    must(tamis_serialize(filter, before, sizeof before));
    must(tamis_merge(filter, there->own));
    for (size_t j = 0; j < there->link_count; j++)
        if (there->links[j].neighbour != here) must(tamis_merge_farther(filter, there->filters[j]));
    return count_message(before, filter, sent);
}

/* Rounds, until no node has news. */
static traffic learn(void) {
    traffic sent = {0};
    for (int is_over = 0; !is_over; sent.rounds++) {
        is_over = 1;
        for (int i = 0; i < NODES; i++) {
            nodes[i].had_news = nodes[i].has_news;
            nodes[i].has_news = 0;
        }
        for (uint64_t here = 0; here < NODES; here++)
            for (size_t i = 0; i < nodes[here].link_count; i++)
                if (nodes[nodes[here].links[i].neighbour].had_news && learn_link(here, i, &sent))
                    nodes[here].has_news = 1, is_over = 0;
    }
    return sent;
}

static void tell_traffic(const char *what, const traffic *sent) {
    printf(
        "%-22s %u rounds, %llu messages of %.1f levels; %llu KiB as levels, %llu KiB as patches\n",
        what, sent->rounds, sent->messages, (double)sent->levels / (double)sent->messages,
        sent->level_bytes / 1024, sent->patch_bytes / 1024);
}

/* Some nodes get a new key. */
static void add_keys(void) {
    for (uint64_t key = NODES * KEYS_EACH; key < NODES * KEYS_EACH + NEW_HOMES; key++) {
        must(tamis_add_u64(nodes[home_of(key)].own, key));
        nodes[home_of(key)].has_news = 1;
    }
}

/* ---- Queries -------------------------------------------------------------------------------- */

typedef struct path {
    uint64_t visited[PATIENCE + 2], back[PATIENCE + 1]; /* the start, and one for every hop */
    size_t visited_count, depth;
} path;

static int is_visited(const path *p, uint64_t who) {
    for (size_t i = 0; i < p->visited_count; i++)
        if (p->visited[i] == who) return 1;
    return 0;
}

/* When no filter knows the key: any neighbour that has not been visited yet. */
static size_t any_link(const node *at, const path *p) {
    size_t choice = at->link_count, seen = 0;
    for (size_t i = 0; i < at->link_count; i++)
        if (!is_visited(p, at->links[i].neighbour) && draw(++seen) == 0) choice = i;
    return choice;
}

/* Returns the number of hops to the key's home, or -1 when patience ran out. */
static int ask(uint64_t start, uint64_t key, int use_filters) {
    path p = {.visited = {start}, .visited_count = 1};
    uint64_t here = start;
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(key >> 8 * i);
    for (int hops = 0; hops <= PATIENCE; hops++) {
        if (here == home_of(key)) return hops; /* found among its own keys */
        const node *at = &nodes[here];
        size_t next = at->link_count;
        if (use_filters)
            next = tamis_route(at->links, at->link_count, p.visited, p.visited_count, bytes,
                               sizeof bytes, NULL);
        if (next == at->link_count) next = any_link(at, &p);
        if (next < at->link_count) {
            p.back[p.depth++] = here;
            here = at->links[next].neighbour;
            p.visited[p.visited_count++] = here;
        } else if (p.depth) {
            here = p.back[--p.depth]; /* a dead end: one step back */
        } else {
            return -1;
        }
    }
    return -1;
}

static void ask_many(const char *how, int use_filters, uint64_t first, uint64_t keys) {
    unsigned at_hops[PATIENCE + 1] = {0}, found = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        const uint64_t start = draw(NODES), key = first + draw(keys);
        const int hops = ask(start, key, use_filters);
        if (hops >= 0) at_hops[hops]++;
    }
    printf("%-16s", how);
    for (int hops = 0; hops <= PATIENCE; hops++) {
        found += at_hops[hops];
        if (hops && (hops & (hops - 1)) == 0) printf("  %4u", found);
    }
    printf("\n");
}

int main(void) {
    size_t links = 0;
    make_network();
    const traffic first = learn();
    for (int i = 0; i < NODES; i++) links += nodes[i].link_count;
    uint64_t size;
    tamis_payload(nodes[0].own, &size);
    printf("%d nodes, %zu links, %llu bytes for each\n", NODES, links, (unsigned long long)size);
    tell_traffic("learning everything:", &first);
    add_keys();
    const traffic second = learn();
    tell_traffic("learning new keys:", &second);
    printf("of %d questions answered within\n", QUESTIONS);
    printf("hops                 1     2     4     8    16    32    64, the limit\n");
    ask_many("by the filters", 1, 0, NODES * KEYS_EACH);
    ask_many("for new keys", 1, NODES * KEYS_EACH, NEW_HOMES);
    ask_many("by chance", 0, 0, NODES * KEYS_EACH);
    for (int i = 0; i < NODES; i++) {
        for (size_t j = 0; j < nodes[i].link_count; j++) tamis_free(nodes[i].filters[j]);
        tamis_free(nodes[i].own);
    }
    return 0;
}
