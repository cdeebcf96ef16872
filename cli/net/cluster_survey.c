/* SPDX-License-Identifier: MIT */
/* cluster_survey.c: how all shards are. */
#include "cli/net/shard_set.h"

#ifdef TAMIS_WITH_HIREDIS

#include <stdlib.h>

bool has_our_secret(const struct shards *shards, const redisReply *reply) {
    uint8_t secret[SECRET_BYTES];
    if (!tamis_secret(shards->model, secret)) return reply && reply->type == REDIS_REPLY_NIL;
    return reply && reply->type == REDIS_REPLY_STRING && reply->len == SECRET_BYTES &&
           memcmp(reply->str, secret, SECRET_BYTES) == 0;
}

static enum shard_health judge(const struct survey *survey, const struct shards *shards,
                               uint64_t shard) {
    char spec[SPEC_ROOM];
    const struct call *info = &survey->info[shard], *secret = &survey->secret[shard];
    if (is_absent(info) || is_absent(secret)) return SHARD_ABSENT;
    if (!info->request.reply || !secret->request.reply) return SHARD_SILENT;
    if (call_trouble(info) || call_trouble(secret) || spec_of_shard(shards, shard, spec) ||
        strcmp(info_text(info->request.reply, "spec"), spec) != 0 ||
        !has_our_secret(shards, secret->request.reply))
        return SHARD_DIFFERS;
    return SHARD_GOOD;
}

static int check_secret(const struct shards *shards, const struct call *call, uint64_t shard,
                        bool is_needed) {
    const struct shard_title title = shard_title(shards, shard);
    const redisReply *reply = call->request.reply;
    if (is_absent(call))
        return fail(shards->args, shards->name, "%s is missing on %s; see \"tamis cluster repair\"",
                    title.text, call->request.from->name);
    if (!reply)
        return is_needed ? fail(shards->args, shards->name, "%s cannot be reached: %s", title.text,
                                call_trouble(call))
                         : 0;
    if (call_trouble(call))
        return fail(shards->args, shards->name, "%s: %s", title.text, call_trouble(call));
    if (has_our_secret(shards, reply)) return 0;
    return fail(shards->args, shards->name,
                "%s has a different secret from shard 0; see \"tamis cluster repair\"", title.text);
}

int shards_are_one(const struct shards *shards, bool all_needed) {
    struct call *call = calloc((size_t)shards->n, sizeof *call);
    int code = call && shards_call(shards, call, "TAMIS.SECRET") ? 0 : fail_memory(shards->args);
    for (uint64_t i = 0; call && i < shards->n; i++) {
        if (!code) code = check_secret(shards, &call[i], i, all_needed);
        call_free(&call[i]);
    }
    free(call);
    return code;
}

int survey_make(struct survey *survey, const struct shards *shards) {
    const size_t n = (size_t)shards->n;
    *survey = (struct survey){.info = calloc(n, sizeof *survey->info),
                              .secret = calloc(n, sizeof *survey->secret),
                              .health = calloc(n, sizeof *survey->health)};
    if (!survey->info || !survey->secret || !survey->health ||
        !shards_call(shards, survey->info, "TAMIS.INFO") ||
        !shards_call(shards, survey->secret, "TAMIS.SECRET"))
        return fail_memory(shards->args);
    for (uint64_t i = 0; i < n; i++) {
        survey->health[i] = judge(survey, shards, i);
        survey->count[survey->health[i]]++;
    }
    return 0;
}

void survey_free(struct survey *survey, const struct shards *shards) {
    for (uint64_t i = 0; survey->info && survey->secret && i < shards->n; i++) {
        call_free(&survey->info[i]);
        call_free(&survey->secret[i]);
    }
    free(survey->info);
    free(survey->secret);
    free(survey->health);
    *survey = (struct survey){0};
}

const char *health_word(enum shard_health health) {
    static const char *const words[] = {"good", "absent", "silent", "differs"};
    return words[health];
}

static void health_why(const struct survey *survey, const struct shards *shards, uint64_t shard,
                       char *text, size_t size) {
    const struct call *info = &survey->info[shard];
    const redisReply *reply = info->request.reply;
    const char *trouble = call_trouble(info);
    const char *node = info->request.from ? info->request.from->name : "?";
    char spec[SPEC_ROOM];
    *text = '\0';
    switch (survey->health[shard]) {
    case SHARD_GOOD: break;
    case SHARD_ABSENT: snprintf(text, size, "%s has no such key", node); break;
    case SHARD_SILENT: snprintf(text, size, "%s", trouble ? trouble : "no answer"); break;
    case SHARD_DIFFERS:
        if (trouble)
            snprintf(text, size, "%s: %s", node, trouble);
        else if (spec_of_shard(shards, shard, spec) == 0 &&
                 strcmp(info_text(reply, "spec"), spec) != 0)
            snprintf(text, size, "it is %s", info_text(reply, "spec"));
        else
            snprintf(text, size, "it has another secret");
    }
}

void survey_print(const struct survey *survey, const struct shards *shards) {
    char why[512];
    for (uint64_t i = 0; i < shards->n; i++) {
        if (survey->health[i] == SHARD_GOOD) continue;
        health_why(survey, shards, i, why, sizeof why);
        printf("%s %s: %s\n", shard_title(shards, i).text, health_word(survey->health[i]), why);
    }
}
#endif
