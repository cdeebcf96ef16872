/* SPDX-License-Identifier: MIT */
/* reconcile_set.c: a file as a set of hashes, and its lines found again by them.
 *
 * The file is read twice: once for all hashes, once for the few lines that matter. What comes
 * through a pipe is copied to an unnamed file meanwhile. */
#include "cli/net/reconcile.h"
#include "tamis_engine.h"

#include <stdlib.h>

/* ---- Lists of hashes ---- */

bool hashes_add(struct hashes *hashes, uint64_t hash) {
    if (!list_grow(&hashes->at, &hashes->room, hashes->n + 1, sizeof hash)) return false;
    hashes->at[hashes->n++] = hash;
    return true;
}

void hashes_free(struct hashes *hashes) {
    free(hashes->at);
    *hashes = (struct hashes){0};
}

size_t hashes_find(const struct hashes *hashes, uint64_t hash) {
    size_t from = 0, n = hashes->n;
    while (n > 0) {
        const size_t half = n / 2;
        if (hashes->at[from + half] < hash)
            from += half + 1, n -= half + 1;
        else
            n = half;
    }
    return from < hashes->n && hashes->at[from] == hash ? from : hashes->n;
}

/* ---- Reading ---- */

int set_open(struct set *set, const struct args *args, const char *name) {
    *set = (struct set){.args = args, .name = name, .copy = {.fd = -1}};
    set->is_open = true;
    return keys_open_file(&set->keys, args, name);
}

void set_close(struct set *set) {
    if (!set->is_open) return;
    keys_close(&set->keys);
    spill_close(&set->copy);
    hashes_free(&set->hashes);
    *set = (struct set){0};
}

static int pause_set(const struct set *set) {
    return set->pause.call ? set->pause.call(set->pause.with) : 0;
}

static int take_hashes(void *with, struct batch *batch) {
    struct set *set = with;
    int code = pause_set(set);
    set->lines += batch->n;
    for (size_t i = 0; i < batch->n && !code; i++) {
        if (!hashes_add(&set->hashes, batch->hash[i])) code = fail_memory(set->args);
        if (!code && set->copy.buffer)
            code = spill_line(&set->copy, &batch->line[i], batch->keys->cutting.line_end);
    }
    return code;
}

int set_read(struct set *set, const tamis *hasher) {
    const struct handler handler = {.take = take_hashes, .with = set};
    set->hasher = hasher;
    keys_hash_by(&set->keys, hasher);
    int code = keys_can_again(&set->keys) ? 0 : spill_open(&set->copy, set->args);
    if (!code) code = keys_run(&set->keys, &handler);
    if (!code) code = sort_distinct(set->hashes.at, &set->hashes.n, &set->pause);
    if (!code && set->copy.buffer)
        code = keys_keep(&set->keys, &set->copy);
    else if (!code)
        keys_rewind(&set->keys);
    set->keys.is_second_time = true;
    return code;
}

/* ---- Lines by their hashes ---- */

/* The first key of a hash, by another hash of it: two keys that share both are the same one. */
struct found {
    uint64_t mark;
    bool is_there;
};

struct search {
    struct set *set;
    const struct hashes *wanted;
    struct line_taker *taker;
    struct found *found;
    tamis *marker;
    uint64_t shared; /* keys whose hash is that of another key */
};

static void ask_batch(void *with, struct batch *batch) {
    const struct search *search = with;
    for (size_t i = 0; i < batch->n; i++) {
        const size_t at = hashes_find(search->wanted, batch->hash[i]);
        batch->hit[i] = at < search->wanted->n;
        batch->value[i] = at;
    }
}

static int take_lines(void *with, struct batch *batch) {
    struct search *search = with;
    int code = pause_set(search->set);
    for (size_t i = 0; i < batch->n && !code; i++) {
        if (!batch->hit[i]) continue;
        struct found *found = &search->found[batch->value[i]];
        const struct tamis_key *key = &batch->key[i];
        const uint64_t mark = tamis_hash(search->marker, key->bytes, key->len);
        if (found->is_there && found->mark == mark) continue;
        if (found->is_there) search->shared++;
        *found = (struct found){.mark = mark, .is_there = true};
        code = search->taker->take(search->taker->with, batch->hash[i], &batch->line[i], key);
    }
    return code;
}

static int check_found(struct search *search) {
    const struct set *set = search->set;
    uint64_t lacking = 0;
    for (size_t i = 0; i < search->wanted->n; i++) lacking += !search->found[i].is_there;
    search->taker->lacking = lacking;
    if (search->shared > 0)
        warn(set->args, input_name(set->name),
             "%s different %s the hash of another: the other side may have one of them",
             human_count(search->shared).text, search->shared == 1 ? "key has" : "keys have");
    if (lacking == 0 || search->taker->may_lack) return 0;
    return fail(set->args, input_name(set->name),
                "the file changed during the session: %s of its keys %s gone",
                human_count(lacking).text, lacking == 1 ? "is" : "are");
}

int set_lines(struct set *set, const struct hashes *wanted, struct line_taker *taker) {
    struct search search = {.set = set, .wanted = wanted, .taker = taker};
    const struct handler handler = {.ask = ask_batch, .take = take_lines, .with = &search};
    if (wanted->n == 0) return 0;
    keys_rewind(&set->keys);
    search.found = calloc(wanted->n, sizeof *search.found);
    const tamis_status status = tamis_create(&search.marker, "blocked:capacity=1,seed=1");
    int code = !search.found ? fail_memory(set->args)
               : status      ? fail_why(set->args, NULL, status)
                             : keys_run(&set->keys, &handler);
    if (!code) code = check_found(&search);
    tamis_free(search.marker);
    free(search.found);
    return code;
}

/* ---- Hashes of a conversation ---- */

int make_hasher(const struct args *args, const uint8_t secret[TALK_SECRET_BYTES], tamis **hasher) {
    struct tamis_options options = {.struct_size = sizeof options, .secret = secret};
    /* Keyed, so that nobody can prepare keys that collide: a set would hide what it lacks. */
    return check_status(
        args, NULL,
        tamis_create_with(hasher, "blocked:capacity=1,hash=sip13,key=outside", &options));
}

uint64_t form_mark(const struct set *set) {
    char text[512];
    tamis *hasher = NULL;
    const char *canon = set->args->setting[OPT_CANON].text;
    const char *encoding = set->keys.cutting.form.encoding;
    const bool is_bytes =
        !encoding || strcmp(encoding, "utf8") == 0 || encoding_is_any_bytes(encoding);
    const int len =
        snprintf(text, sizeof text, "%s %s", is_bytes ? "bytes" : encoding, canon ? canon : "");
    if (tamis_create(&hasher, "blocked:capacity=1")) return 0;
    const uint64_t mark = tamis_hash(hasher, text, (size_t)len < sizeof text ? (size_t)len : 0);
    tamis_free(hasher);
    return mark;
}
