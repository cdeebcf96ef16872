/* SPDX-License-Identifier: MIT */
/* cluster_image.c: `tamis cluster load`, which publishes an image, and `tamis cluster dump`, which
 * makes one. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS
#include "tamis_parts.h"

#include <stdlib.h>

/* ==== Load ================================================================================== */

/* One image of a whole filter, or those of all its shards. */
struct parts {
    struct image *image;
    size_t images;
    const tamis *whole;  /* or NULL, and then ... */
    const tamis **shard; /* ... all of these, in their order */
    uint64_t shards;
};

struct loading {
    const struct shards *shards;
    const struct parts *parts;
    bool replaces;
    pthread_mutex_t lock;
    uint64_t sent, were_there;
};

/* Either a part of the whole, or a copy of the shard. */
static tamis_status take_part(const struct parts *parts, uint64_t shard, uint64_t n, tamis **part) {
    return parts->whole ? tamis_shard_cut(part, parts->whole, shard, n, NULL)
                        : tamis_copy(part, parts->shard[shard]);
}

/* A shard that is there already, byte for byte, is left alone: so a load that was cut short may be
 * repeated. Any other is not replaced unless --force says so. */
static bool load_shard(void *with, uint64_t shard, char *why) {
    struct loading *loading = with;
    const struct shards *shards = loading->shards;
    const struct shard_key key = shard_key(shards, shard);
    uint8_t here[HEADER_BYTES], there[HEADER_BYTES];
    bool is_there = false;
    tamis *cut = NULL;
    bool is_good = (!take_part(loading->parts, shard, shards->n, &cut) &&
                    !tamis_serialize_at(cut, 0, here, sizeof here)) ||
                   say_why(why, "%s", tamis_why());
    if (is_good) is_good = shard_header(shards, shard, there, &is_there, why);
    const bool is_same = is_good && is_there && memcmp(here, there, sizeof here) == 0;
    if (is_good && is_there && !is_same && !loading->replaces)
        is_good = say_why(why, "%s already exists with other keys; use --force to replace it",
                          shard_title(shards, shard).text);
    if (is_good && !is_same) {
        is_good = shard_publish(shards, key.text, cut, why) &&
                  shard_header(shards, shard, there, &is_there, why);
        if (is_good && !loading->replaces && (!is_there || memcmp(here, there, 176) != 0))
            is_good =
                say_why(why, "%s is not what was sent: another client is writing to it", key.text);
    }
    tamis_free(cut);
    pthread_mutex_lock(&loading->lock);
    loading->sent += is_good && !is_same;
    loading->were_there += is_same;
    pthread_mutex_unlock(&loading->lock);
    return is_good;
}

/* ---- What is loaded ---- */

static int place_shard(const struct args *args, struct parts *parts, const struct image *image) {
    struct tamis_shard_info info = TAMIS_SHARD_INFO_INIT;
    const char *path = input_name(image->path);
    if (!tamis_shard_get_info(image->filter, &info))
        return fail(args, path, "not a shard; several images must all be shards of one filter");
    if (info.shards != parts->images)
        return fail(args, path, "is shard %llu of %llu, but %zu %s given: give all of them",
                    (unsigned long long)info.shard, (unsigned long long)info.shards, parts->images,
                    parts->images == 1 ? "is" : "are");
    if (parts->shard[info.shard])
        return fail(args, path, "shard %llu is given twice", (unsigned long long)info.shard);
    parts->shard[info.shard] = image->filter;
    return 0;
}

static int parts_open(struct parts *parts, const struct args *args) {
    const size_t n = args->operand_count - 2;
    struct tamis_shard_info info = TAMIS_SHARD_INFO_INIT;
    *parts = (struct parts){.image = calloc(n, sizeof *parts->image),
                            .shard = calloc(n, sizeof *parts->shard),
                            .images = n};
    int code = parts->image && parts->shard ? 0 : fail_memory(args);
    for (size_t i = 0; i < n && !code; i++)
        code = image_open(&parts->image[i], args, args->operand[2 + i], TO_ASK);
    if (code) return code;
    if (n == 1 && !tamis_shard_get_info(parts->image[0].filter, &info)) {
        parts->whole = parts->image[0].filter;
        return image_can_be_cut(args, &parts->image[0]);
    }
    for (size_t i = 0; i < n && !code; i++) code = place_shard(args, parts, &parts->image[i]);
    parts->shards = n;
    return code;
}

static void parts_close(struct parts *parts) {
    for (size_t i = 0; parts->image && i < parts->images; i++) image_close(&parts->image[i]);
    free(parts->image);
    free(parts->shard);
}

/* The number of shards is that of what is there, if something is; shards that were built have
 * one. */
static int shards_for(struct shards *shards, const struct parts *parts, uint64_t *n) {
    const struct args *args = shards->args;
    char spec[SPEC_ROOM];
    struct call call[2] = {{{0}, 0, 0}};
    int code = 0;
    *n = parts->shards;
    if (parts->whole) tamis_spec(parts->whole, spec, sizeof spec);
    if (parts->whole) code = shards_wanted(shards->net, spec, n);
    if (!code) code = shards_ask(shards, given(args, OPT_FORCE), call);
    const bool is_there = !code && !call_trouble(&call[0]);
    const redisReply *shape = is_there ? info_value(call[0].request.reply, "shape") : NULL;
    const uint64_t old = info_count(shape, "shards");
    const bool is_fixed = !parts->whole || given(args, OPT_SHARDS);
    if (!code && !is_there && !is_absent(&call[0]))
        code = fail(args, shards->name, "%s", call_trouble(&call[0]));
    if (!code && old > 0 && is_fixed && old != *n)
        code = fail(args, shards->name, "it has %llu shards, which cannot change",
                    (unsigned long long)old);
    if (!code && old > 0) *n = old;
    for (int i = 0; i < 2; i++) call_free(&call[i]);
    return code;
}

static int model_of(struct shards *shards, const struct parts *parts, uint64_t n) {
    tamis *first = NULL;
    uint8_t secret[SECRET_BYTES];
    char spec[SPEC_ROOM];
    const tamis_status status = take_part(parts, 0, n, &first);
    if (status) return fail_why(shards->args, shards->name, status);
    tamis_spec(first, spec, sizeof spec);
    const bool has_secret = tamis_secret(first, secret);
    tamis_free(first);
    return shards_model(shards, spec, n, has_secret ? secret : NULL);
}

/* Shards of different specs or secrets would give wrong answers together. */
static int parts_are_one(const struct shards *shards, const struct parts *parts) {
    uint8_t secret[SECRET_BYTES] = {0}, other[SECRET_BYTES] = {0};
    char spec[SPEC_ROOM], wanted[SPEC_ROOM];
    const bool has_secret = tamis_secret(shards->model, secret);
    for (uint64_t i = 0; i < parts->shards; i++) {
        tamis_spec(parts->shard[i], spec, sizeof spec);
        if (spec_of_shard(shards, i, wanted)) return EXIT_TROUBLE;
        if (strcmp(spec, wanted) == 0 && tamis_secret(parts->shard[i], other) == has_secret &&
            memcmp(secret, other, sizeof secret) == 0)
            continue;
        return fail(shards->args, shards->name, "shard %llu belongs to another filter: %s",
                    (unsigned long long)i,
                    strcmp(spec, wanted) == 0 ? "it has another secret" : spec);
    }
    return 0;
}

static int load(struct shards *shards, const struct parts *parts) {
    struct loading loading = {
        .shards = shards, .parts = parts, .replaces = given(shards->args, OPT_FORCE)};
    uint64_t n = 0;
    int code = shards_for(shards, parts, &n);
    if (!code) code = model_of(shards, parts, n);
    if (!code) code = parts_are_one(shards, parts);
    if (!code) code = primaries_are_fit(shards->net);
    pthread_mutex_init(&loading.lock, NULL);
    catch_signals();
    if (!code) code = for_each_shard(shards, load_shard, &loading);
    uncatch_signals();
    if (!code) shards_confirm(shards);
    if (!code && !given(shards->args, OPT_QUIET))
        fprintf(stderr, "%s: %s of %s shards sent, %s already there\n", shards->name,
                human_count(loading.sent).text, human_count(shards->n).text,
                human_count(loading.were_there).text);
    return code;
}

int cluster_load(const struct args *args) {
    struct net net;
    struct shards shards = {0};
    struct parts parts;
    int code = parts_open(&parts, args);
    if (!code) code = shards_name(&shards, args, &net);
    if (!code) code = load(&shards, &parts);
    shards_close(&shards);
    parts_close(&parts);
    return code;
}

/* ==== Dump ================================================================================== */

/* Shards are fetched ahead of the one that is written. */
enum { FETCHERS = 4, AHEAD = 8 };

struct dumping {
    const struct shards *shards;
    pthread_mutex_t lock;
    pthread_cond_t has_changed;
    tamis *ready[AHEAD]; /* shard i at i % AHEAD */
    uint64_t fetched, wanted;
    bool is_over, has_failed;
    char why[WHY_ROOM];
};

static void *fetch_along(void *with) {
    struct dumping *dumping = with;
    pthread_mutex_lock(&dumping->lock);
    for (;;) {
        while (!dumping->is_over && dumping->fetched >= dumping->wanted + AHEAD)
            pthread_cond_wait(&dumping->has_changed, &dumping->lock);
        if (dumping->is_over || dumping->fetched >= dumping->shards->n) break;
        const uint64_t shard = dumping->fetched++;
        char why[WHY_ROOM] = "";
        tamis *filter = NULL;
        pthread_mutex_unlock(&dumping->lock);
        const bool is_good = shard_fetch(dumping->shards, shard, &filter, why);
        pthread_mutex_lock(&dumping->lock);
        if (!is_good && !dumping->has_failed) {
            dumping->has_failed = dumping->is_over = true;
            memcpy(dumping->why, why, sizeof why);
        }
        dumping->ready[shard % AHEAD] = filter;
        pthread_cond_broadcast(&dumping->has_changed);
    }
    pthread_mutex_unlock(&dumping->lock);
    return NULL;
}

static const tamis *next_shard(void *with, uint64_t shard) {
    struct dumping *dumping = with;
    progress_show("shards", shard, dumping->shards->n);
    pthread_mutex_lock(&dumping->lock);
    if (shard > 0) {
        tamis_free(dumping->ready[(shard - 1) % AHEAD]);
        dumping->ready[(shard - 1) % AHEAD] = NULL;
    }
    dumping->wanted = shard;
    pthread_cond_broadcast(&dumping->has_changed);
    while (!dumping->ready[shard % AHEAD] && !dumping->has_failed && !is_stopped())
        pthread_cond_wait(&dumping->has_changed, &dumping->lock);
    const tamis *filter =
        dumping->has_failed || is_stopped() ? NULL : dumping->ready[shard % AHEAD];
    pthread_mutex_unlock(&dumping->lock);
    return filter;
}

static int dump(const struct shards *shards, tamis_edit *edit, const char *path) {
    struct dumping dumping = {.shards = shards};
    pthread_t thread[FETCHERS];
    size_t threads = 0;
    pthread_mutex_init(&dumping.lock, NULL);
    pthread_cond_init(&dumping.has_changed, NULL);
    catch_signals();
    while (threads < FETCHERS && start_thread(&thread[threads], fetch_along, &dumping)) threads++;
    const tamis_status status =
        threads > 0 ? tamis_edit_join(edit, next_shard, &dumping) : TAMIS_NOMEM;
    pthread_mutex_lock(&dumping.lock);
    dumping.is_over = true;
    pthread_cond_broadcast(&dumping.has_changed);
    pthread_mutex_unlock(&dumping.lock);
    for (size_t i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    for (size_t i = 0; i < AHEAD; i++) tamis_free(dumping.ready[i]);
    progress_wipe();
    uncatch_signals();
    if (dumping.has_failed) return fail(shards->args, shards->name, "%s", dumping.why);
    if (status == TAMIS_CANCELLED) return EXIT_TROUBLE;
    return check_status(shards->args, path, status);
}

static void tell_dump(const struct args *args, const char *path) {
    struct image image = {0};
    if (given(args, OPT_QUIET) || image_open(&image, args, path, TO_ASK)) return;
    image_summary(args, image.filter, path, "fetched", AFTER_CHANGE);
    image_close(&image);
}

int cluster_dump(const struct args *args) {
    struct net net;
    struct shards shards = {0};
    tamis_edit *edit = NULL;
    const char *path = args->operand[2];
    if (is_dash(path)) return fail(args, NULL, "the output must be a file, not standard output");
    int code = image_may_write(args, path);
    if (!code) code = shards_open(&shards, args, &net);
    if (!code) code = file_hold(&edit, args, path, HOLD_TO_WRITE, TAMIS_READERS_USUAL);
    if (!code) code = dump(&shards, edit, path);
    tamis_edit_close(edit);
    shards_close(&shards);
    if (!code) tell_dump(args, path);
    return code;
}
#endif
