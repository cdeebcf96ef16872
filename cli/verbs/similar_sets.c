/* SPDX-License-Identifier: MIT */
/* similar_sets.c: the sets that `tamis similar` compares. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/verbs/similar.h"
#include "tamis_engine.h"

/* ---- What an operand is ---- */

/* Images say so in their first bytes; everything else is keys, and so is standard input. */
static bool is_image(const char *path) {
    static const uint8_t magic[] = {0xd6, 't', 'a', 'm', 'i', 's'};
    uint8_t start[sizeof magic];
    struct stat status;
    /* A pipe can be read once. */
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    if (!file) return false; /* Whoever reads it says why. */
    const size_t n = fread(start, 1, sizeof start, file);
    fclose(file);
    return n == sizeof start && memcmp(start, magic, sizeof magic) == 0;
}

/* ---- Keys of a file ---- */

struct reading {
    const struct args *args;
    struct set *set;
    const struct set *like;   /* the image whose keys have the same form; or NULL */
    struct shingler shingler; /* words 0: lines are keys */
};

static tamis_status take_hashes(struct reading *r, const uint64_t *hash, size_t n) {
    struct set *set = r->set;
    if (!given(r->args, OPT_EXACT)) return tamis_add_hashes(set->image.filter, hash, n);
    if (!list_grow(&set->hash, &set->room, set->hashes + n, sizeof *hash)) return TAMIS_NOMEM;
    if (n > 0) memcpy(set->hash + set->hashes, hash, n * sizeof *hash);
    set->hashes += n;
    return TAMIS_OK;
}

/* The hash of the last words, in their order. */
static uint64_t shingle_hash(const struct shingler *s) {
    uint8_t bytes[8 * MAX_WORDS];
    for (uint64_t i = 0; i < s->words; i++) {
        const uint64_t word = s->last[(s->seen + i) % s->words];
        for (int b = 0; b < 8; b++) bytes[8 * i + (unsigned)b] = (uint8_t)(word >> 8 * b);
    }
    return tamis_hash(s->hasher, bytes, (size_t)s->words * 8);
}

static tamis_status take_words(struct reading *r, const struct tamis_key *line) {
    struct shingler *s = &r->shingler;
    const char *p = line->bytes, *end = p + line->len;
    tamis_status status = TAMIS_OK;
    for (struct tamis_key word; !status && (word = next_word(&p, end)).len > 0;) {
        s->last[s->seen++ % s->words] = tamis_hash(s->hasher, word.bytes, word.len);
        if (s->seen < s->words) continue;
        const uint64_t hash = shingle_hash(s);
        status = take_hashes(r, &hash, 1);
    }
    return status;
}

static int take_batch(void *with, struct batch *batch) {
    struct reading *r = with;
    tamis_status status = TAMIS_OK;
    if (r->shingler.words == 0 && hashes_itself(r->set->image.filter))
        status = batch_add(r->set->image.filter, batch);
    else if (r->shingler.words == 0)
        status = take_hashes(r, batch->hash, batch->n);
    for (size_t i = 0; r->shingler.words && i < batch->n && !status; i++)
        status = take_words(r, &batch->key[i]);
    if (status == TAMIS_NOMEM) return fail_memory(r->args);
    return check_status(r->args, input_name(r->set->name), status);
}

/* A text that is shorter than a shingle is one. */
static int end_words(struct reading *r) {
    struct shingler *s = &r->shingler;
    if (s->seen == 0 || s->seen >= s->words) return 0;
    s->words = s->seen;
    const uint64_t hash = shingle_hash(s);
    return take_hashes(r, &hash, 1) ? fail_memory(r->args) : 0;
}

static int read_keys(struct reading *r) {
    const struct handler handler = {.take = take_batch, .with = r};
    struct keys keys;
    int code = keys_open_file(&keys, r->args, r->set->name);
    if (!code) keys_hash_by(&keys, r->set->image.filter);
    if (!code && r->like) keys_follow(&keys, r->like->image.filter);
    if (!code) code = keys_run(&keys, &handler);
    keys_close(&keys);
    if (!code) code = end_words(r);
    if (!code && given(r->args, OPT_EXACT)) {
        (void)sort_distinct(r->set->hash, &r->set->hashes, NULL);
        r->set->keys = (struct tamis_estimate){(double)r->set->hashes, 0};
    }
    return code;
}

/* ---- Opening ---- */

/* What files are sketched by: as the first image is, or by minhash. */
static int make_sketch(const struct args *args, const struct set *like, tamis **filter) {
    const struct tamis_options options = image_options(args);
    char spec[600];
    if (like) {
        const int code = image_needs(args, &like->image, TAMIS_CAN_ADD,
                                     "accept the keys of a file for comparison");
        if (code) return code;
        tamis_spec(like->image.filter, spec, sizeof spec);
    } else {
        snprintf(spec, sizeof spec, "minhash:bins=%" PRIu64, number_or(args, OPT_BINS, 4096));
    }
    return check_status(args, like ? input_name(like->name) : NULL,
                        tamis_create_with(filter, spec, &options));
}

static int read_file(const struct args *args, const struct set *like, struct set *set) {
    struct reading r = {.args = args, .set = set, .like = like};
    int code = make_sketch(args, like, &set->image.filter);
    r.shingler.words = args->setting[OPT_SHINGLES].number;
    r.shingler.hasher = set->image.filter;
    r.shingler.last = calloc((size_t)r.shingler.words + 1, sizeof *r.shingler.last);
    if (!code && !r.shingler.last) code = fail_memory(args);
    if (!code) code = read_keys(&r);
    free(r.shingler.last);
    return code;
}

int sets_open(struct set **sets, const struct args *args) {
    const size_t n = args->operand_count;
    int code = 0;
    struct set *list = *sets = calloc(n, sizeof *list);
    const struct set *like = NULL; /* the first image */
    if (!list) return fail_memory(args);
    for (size_t i = 0; i < n; i++) {
        list[i].name = args->operand[i];
        list[i].is_image = is_image(list[i].name);
        if (list[i].is_image && !like) like = &list[i];
    }
    if (like && (given(args, OPT_EXACT) || given(args, OPT_SHINGLES) || given(args, OPT_BINS)))
        return fail(args, input_name(like->name),
                    "is an image; --exact, --shingles and --bins need files of keys");
    for (size_t i = 0; i < n && !code; i++)
        if (list[i].is_image) code = image_open(&list[i].image, args, list[i].name, TO_ASK);
    for (size_t i = 0; i < n && !code; i++) {
        if (!list[i].is_image) code = read_file(args, like, &list[i]);
        if (!code && !given(args, OPT_EXACT))
            code = check_status(args, input_name(list[i].name),
                                tamis_items_now(list[i].image.filter, &list[i].keys));
    }
    return code;
}

void sets_close(struct set *sets, size_t n) {
    for (size_t i = 0; sets && i < n; i++) {
        image_close(&sets[i].image);
        free(sets[i].hash);
    }
    free(sets);
}

/* ---- Comparing ---- */

static void compare_exactly(struct pair *pair) {
    const struct set *a = pair->first, *b = pair->second;
    size_t i = 0, j = 0, common = 0;
    while (i < a->hashes && j < b->hashes) {
        const uint64_t x = a->hash[i], y = b->hash[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    const size_t all = a->hashes + b->hashes - common;
    pair->common = (struct tamis_estimate){(double)common, 0};
    pair->similarity = (struct tamis_estimate){all ? (double)common / (double)all : 1, 0};
}

int sets_compare(const struct args *args, struct pair *pair) {
    const struct image *a = &pair->first->image, *b = &pair->second->image;
    if (given(args, OPT_EXACT)) {
        compare_exactly(pair);
        return 0;
    }
    if (pair->first->is_image && pair->second->is_image && form_is_shared(args, a, b))
        return EXIT_TROUBLE;
    tamis_status status = tamis_similarity(a->filter, b->filter, &pair->similarity);
    if (!status) status = tamis_overlap(a->filter, b->filter, &pair->common);
    if (!status) return 0;
    if (status == TAMIS_MISMATCH)
        return fail(args, NULL, "%s and %s do not match: %s", input_name(pair->first->name),
                    input_name(pair->second->name), tamis_why());
    return fail_why(args, input_name(pair->first->name), status);
}
