/* SPDX-License-Identifier: MIT */
/* cluster_repair.c: `tamis cluster repair`, after shards were lost.
 *
 * A shard that is lost was replaced by nothing: questions to it are errors, not wrong answers,
 * until the user decides. An image that was dumped or built before brings back what it has;
 * whatever was added since has to be added again. An empty shard in its place gives wrong answers
 * until all keys are added again, so that needs a word of its own: --accept-loss. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS
#include "tamis_parts.h"

#include <string.h>

struct repairing {
    const struct shards *shards;
    const struct survey *survey;
    const tamis *image; /* or NULL */
    bool accepts_loss, replaces;
    pthread_mutex_t lock;
    uint64_t restored, merged, emptied, left;
};

static bool count(struct repairing *repairing, uint64_t *what) {
    pthread_mutex_lock(&repairing->lock);
    ++*what;
    pthread_mutex_unlock(&repairing->lock);
    return true;
}

static bool run_words(const struct shards *shards, int n, const char *const *word, char *why) {
    char what[KEY_ROOM + 32];
    struct call call;
    if (!call_make(&call, NULL, n, word, NULL)) return say_why(why, "out of memory");
    snprintf(what, sizeof what, "%s %s", word[0], word[1]);
    return call_alone(shards, &call, what, why);
}

/* Beside the shard, in the same slot; then both become one. */
static bool merge_into(const struct shards *shards, uint64_t shard, const tamis *cut, char *why) {
    const struct shard_key key = shard_key(shards, shard);
    char beside[KEY_ROOM + 16];
    snprintf(beside, sizeof beside, "%s:repair", key.text);
    const char *merge[] = {"TAMIS.MERGE", key.text, beside}, *drop[] = {"DEL", beside};
    char also[WHY_ROOM];
    const bool is_good =
        shard_publish(shards, beside, cut, why) && run_words(shards, 3, merge, why);
    return run_words(shards, 2, drop, is_good ? why : also) && is_good;
}

/* Has the shard all that the image brings? Merged once more its keys would be counted twice. */
static bool lacks_something(const struct shards *shards, uint64_t shard, const tamis *cut,
                            bool *lacks, char *why) {
    tamis *now = NULL, *both = NULL;
    uint64_t size = 0, size_of_both = 0;
    if (!shard_fetch(shards, shard, &now, why)) return false;
    const bool is_good = !tamis_copy(&both, now) && !tamis_merge(both, cut);
    if (is_good) {
        const void *before = tamis_payload(now, &size), *after = tamis_payload(both, &size_of_both);
        *lacks = size != size_of_both || memcmp(before, after, (size_t)size) != 0;
    } else {
        snprintf(why, WHY_ROOM, "%s: %s", shard_title(shards, shard).text, tamis_why());
    }
    tamis_free(now);
    tamis_free(both);
    return is_good;
}

static bool merge_image(struct repairing *repairing, uint64_t shard, const tamis *cut, char *why) {
    bool lacks = false;
    if (!lacks_something(repairing->shards, shard, cut, &lacks, why)) return false;
    if (!lacks) return true;
    return merge_into(repairing->shards, shard, cut, why) && count(repairing, &repairing->merged);
}

static bool use_image(struct repairing *repairing, uint64_t shard, char *why) {
    const struct shards *shards = repairing->shards;
    tamis *cut = NULL;
    if (tamis_shard_cut(&cut, repairing->image, shard, shards->n, NULL))
        return say_why(why, "%s", tamis_why());
    const bool is_good = repairing->survey->health[shard] == SHARD_GOOD
                             ? merge_image(repairing, shard, cut, why)
                             : shard_publish(shards, shard_key(shards, shard).text, cut, why) &&
                                   count(repairing, &repairing->restored);
    tamis_free(cut);
    return is_good;
}

static bool make_empty(struct repairing *repairing, uint64_t shard, char *why) {
    const struct shards *shards = repairing->shards;
    struct call call;
    if (shard_create_call(shards, &call, shard))
        return say_why(why, "%s could not be created", shard_title(shards, shard).text);
    return call_alone(shards, &call, shard_title(shards, shard).text, why) &&
           count(repairing, &repairing->emptied);
}

static bool repair_shard(void *with, uint64_t shard, char *why) {
    struct repairing *repairing = with;
    const enum shard_health health = repairing->survey->health[shard];
    const bool is_ours = health == SHARD_GOOD || health == SHARD_ABSENT;
    if (repairing->image && (is_ours || (health == SHARD_DIFFERS && repairing->replaces)))
        return use_image(repairing, shard, why);
    if (health == SHARD_ABSENT && repairing->accepts_loss) return make_empty(repairing, shard, why);
    return health == SHARD_GOOD || count(repairing, &repairing->left);
}

/* Shard 0 of the image must be one of ours: same layout, size, hash and secret. */
static int image_fits(const struct shards *shards, const struct image *image) {
    tamis *first = NULL;
    const tamis_status status = tamis_shard_cut(&first, image->filter, 0, shards->n, NULL);
    const char *why = status ? tamis_why() : tamis_mismatch(shards->model, first);
    const int code =
        why ? fail(shards->args, image->path, "it does not fit %s: %s", shards->name, why) : 0;
    tamis_free(first);
    return code;
}

static void tell(const struct repairing *repairing) {
    const struct shards *shards = repairing->shards;
    static const char *const words[] = {"restored", "merged with the image", "recreated empty",
                                        "left alone"};
    const uint64_t number[] = {repairing->restored, repairing->merged, repairing->emptied,
                               repairing->left};
    survey_print(repairing->survey, shards);
    printf("%s of %s shards good", human_count(repairing->survey->count[SHARD_GOOD]).text,
           human_count(shards->n).text);
    for (size_t i = 0; i < 4; i++)
        if (number[i]) printf(", %s %s", human_count(number[i]).text, words[i]);
    putchar('\n');
    if (repairing->emptied > 0)
        warn(shards->args, shards->name,
             "keys of recreated shards are answered no until they are added again");
}

static int repair(const struct shards *shards, const struct image *image) {
    const struct args *args = shards->args;
    struct survey survey;
    struct repairing repairing = {.shards = shards,
                                  .survey = &survey,
                                  .image = image->filter,
                                  .accepts_loss = given(args, OPT_ACCEPT_LOSS),
                                  .replaces = given(args, OPT_FORCE)};
    pthread_mutex_init(&repairing.lock, NULL);
    int code = survey_make(&survey, shards);
    if (!code && image->filter) code = image_fits(shards, image);
    if (!code) code = for_each_shard(shards, repair_shard, &repairing);
    if (!code) tell(&repairing);
    if (!code && (repairing.restored || repairing.merged || repairing.emptied))
        shards_confirm(shards);
    survey_free(&survey, shards);
    return code ? code : repairing.left > 0 ? EXIT_NOTHING : 0;
}

int cluster_repair(const struct args *args) {
    struct net net;
    struct shards shards = {0};
    struct image image = {0};
    int code = 0;
    if (given(args, OPT_FROM_IMAGE) && given(args, OPT_ACCEPT_LOSS))
        return fail(args, NULL, "--from and --accept-loss cannot be combined");
    if (given(args, OPT_FROM_IMAGE))
        code = image_open(&image, args, args->setting[OPT_FROM_IMAGE].text, TO_ASK);
    if (!code && image.filter) code = image_can_be_cut(args, &image);
    if (!code) code = shards_open(&shards, args, &net);
    if (!code) code = repair(&shards, &image);
    shards_close(&shards);
    image_close(&image);
    return code;
}
#endif
