/* SPDX-License-Identifier: MIT */
/* cluster_keys.c: `tamis cluster add` and `tamis cluster check`. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS

/* Blocks of lines that are asked about at the same time; threads that wait for answers cost
 * little. */
enum { ASKING_THREADS = 32 };

/* ==== Reports =============================================================================== */

static void json_report(const struct packer *packer, uint64_t keys, double seconds) {
    const struct net *net = packer->net;
    struct json json = json_start(stderr);
    json_text(&json, "name", packer->shards->name);
    json_count(&json, "keys", keys);
    json_count(&json, packer->adds ? "acknowledged" : "answered", packer->acknowledged);
    json_count(&json, "alone", packer->alone);
    json_count(&json, "maybes", packer->maybes);
    json_real(&json, "seconds", seconds);
    json_count(&json, "batches", packer->parcels);
    json_count(&json, "replayed", packer->replayed);
    json_count(&json, "checkpoints", packer->checkpoints);
    json_count(&json, "unconfirmed", packer->unconfirmed_waits);
    json_count(&json, "moved", net->moved);
    json_count(&json, "asked", net->asked);
    json_count(&json, "retries", net->retried);
    json_count(&json, "resets", net->resets);
    json_count(&json, "refreshes", net->refreshes);
    json_real(&json, "longest_wait", (double)packer->longest / 1000);
    json_bool(&json, "is_whole", !packer->has_failed && packer->maybes == 0);
    json_end(&json);
}

/* What a user would wonder about, when there was any of it. */
static void tell_events(const struct packer *packer) {
    const struct net *net = packer->net;
    static const char *const words[] = {"MOVED", "ASK", "lost connections", "batches sent again"};
    const uint64_t count[] = {net->moved, net->asked, net->resets, packer->replayed};
    const char *before = "; ";
    for (size_t i = 0; i < 4; i++) {
        if (count[i] == 0) continue;
        fprintf(stderr, "%s%s %s", before, human_count(count[i]).text, words[i]);
        before = ", ";
    }
    if (packer->longest >= 1000)
        fprintf(stderr, "%slongest wait %s s", before,
                human_decimal((double)packer->longest / 1000).text);
}

static void report_add(const struct packer *packer, uint64_t keys, double seconds) {
    const struct args *args = packer->shards->args;
    if (given(args, OPT_JSON)) {
        json_report(packer, keys, seconds);
        return;
    }
    if (given(args, OPT_QUIET)) return;
    fprintf(stderr, "%s: %s %s", packer->shards->name,
            human_number(packer->acknowledged, "key").text,
            packer->has_failed  ? "acknowledged"
            : packer->alone > 0 ? "added"
                                : "added and confirmed by replicas");
    if (packer->alone > 0 && !packer->has_failed)
        fprintf(stderr, " (%s by primaries without replicas)", human_count(packer->alone).text);
    tell_events(packer);
    fputc('\n', stderr);
}

static void list_silent(const struct packer *packer, char *text, size_t size) {
    size_t len = 0, told = 0, silent = 0;
    for (uint64_t i = 0; i < packer->shards->n; i++) silent += packer->shard[i].maybes > 0;
    for (uint64_t i = 0; i < packer->shards->n && told < 5 && len < size; i++) {
        if (packer->shard[i].maybes == 0) continue;
        len += (size_t)snprintf(text + len, size - len, "%s%llu", told++ ? ", " : "",
                                (unsigned long long)i);
    }
    if (silent > told && len < size)
        snprintf(text + len, size - len, " and %zu more", silent - told);
}

static void report_check(const struct packer *packer, uint64_t keys, double seconds) {
    const struct args *args = packer->shards->args;
    char silent[128] = "";
    if (given(args, OPT_JSON)) json_report(packer, keys, seconds);
    if (packer->maybes == 0) return;
    list_silent(packer, silent, sizeof silent);
    fail(args, packer->shards->name,
         "%s %s answered maybe, because %s did not answer: shard %s of %llu",
         human_count(packer->maybes).text, packer->maybes == 1 ? "key was" : "keys were",
         "their shards", silent, (unsigned long long)packer->shards->n);
}

/* ==== Adding ================================================================================ */

struct adding {
    struct packer *packer;
    uint64_t keys;
};

static void add_batch(void *with, struct batch *batch) {
    struct adding *adding = with;
    packer_add(adding->packer, batch);
}

static int count_added(void *with, struct batch *batch) {
    struct adding *adding = with;
    struct packer *packer = adding->packer;
    adding->keys += batch->n;
    net_lock(packer->net);
    const bool has_failed = packer->has_failed;
    net_unlock(packer->net);
    /* Whoever wants to stop waits for what is under way, not for more of it. */
    return has_failed || is_stopped() ? KEYS_ENOUGH : 0;
}

static int add(struct packer *packer, struct keys *keys) {
    const struct args *args = packer->shards->args;
    struct adding adding = {.packer = packer};
    const struct handler handler = {.ask = add_batch, .take = count_added, .with = &adding};
    const int64_t started = now_ms();
    catch_signals();
    int code = keys_run(keys, &handler);
    const bool is_good = packer_flush(packer);
    uncatch_signals();
    if (!is_good) code = fail(args, packer->shards->name, "%s", packer->trouble);
    net_lock(packer->net);
    if (is_stopped())
        warn(args, packer->shards->name, "stopped by a signal; %s of the keys read were added",
             packer->has_failed ? "not all" : "all");
    report_add(packer, adding.keys, (double)(now_ms() - started) / 1000);
    net_unlock(packer->net);
    return code;
}

/* ==== Checking ============================================================================== */

struct checking {
    struct hits hits;
    struct packer *packer;
};

static void ask_batch(void *with, struct batch *batch) {
    struct checking *checking = with;
    if (packer_ask(checking->packer, batch))
        show_hits(&checking->hits, batch);
    else
        checking->hits.has_failed = true;
}

static int check(struct packer *packer, struct keys *keys) {
    const struct args *args = packer->shards->args;
    struct checking checking = {.packer = packer};
    const int64_t started = now_ms();
    if (!given(args, OPT_THREADS)) keys->threads = ASKING_THREADS;
    int code = query_keys(keys, &checking.hits, ask_batch);
    net_lock(packer->net);
    if (packer->has_failed) code = fail(args, packer->shards->name, "%s", packer->trouble);
    flush_output(); /* The report about lines comes after them. */
    report_check(packer, packer->acknowledged + packer->maybes,
                 (double)(now_ms() - started) / 1000);
    if (packer->maybes > 0 && code != EXIT_TROUBLE) code = EXIT_MAYBE;
    net_unlock(packer->net);
    return code;
}

/* ==== Both ================================================================================== */

/* The filter as it is found, before the first key: its shape, the form of its keys, all of its
 * shards. */
static int open_filter(const struct args *args, struct net *net, struct shards *shards,
                       struct packer *packer, bool adds) {
    int code = shards_open(shards, args, net);
    if (!code) code = form_is_that_of(args, shards->name, shards->model);
    if (!code && adds) code = primaries_are_fit(net);
    if (!code) code = shards_are_one(shards, adds);
    return code ? code : packer_open(packer, shards, adds);
}

static int with_keys(const struct args *args, bool adds,
                     int (*work)(struct packer *, struct keys *)) {
    struct net net;
    struct shards shards = {0};
    struct packer packer = {0};
    struct keys keys;
    int code = keys_open(&keys, args, 2);
    if (!adds) keys_are_questions(&keys);
    if (!code) code = open_filter(args, &net, &shards, &packer, adds);
    if (!code) {
        keys_hash_by(&keys, shards.model);
        code = work(&packer, &keys);
    }
    shards_close(&shards);
    packer_close(&packer);
    keys_close(&keys);
    return code;
}

int cluster_add(const struct args *args) {
    return with_keys(args, true, add);
}

int cluster_check(const struct args *args) {
    return with_keys(args, false, check);
}
#endif
