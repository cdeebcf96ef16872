/* SPDX-License-Identifier: MIT */
/* TAMIS.MERGE, TAMIS.FOLD and TAMIS.RESIZE: whole filters. */
#include <inttypes.h>

#include "engines/redis/alter.h"
#include "engines/redis/commands.h"

/* ---- TAMIS.MERGE dest source... -------------------------------------------------------------- */

/* Of several that do not match, none is merged: the copy is thrown away. */
static tamis_status merge_all(tamis *copy, alteration *a, job *j) {
    tamis_status rc = TAMIS_OK;
    for (int i = (int)a->number; i < j->read_count && !rc; i++)
        rc = tamis_merge(copy, j->reads[i]->filter);
    return rc;
}

/* Its values, all with filters; false with the error replied. */
static bool take_sources(redis_ctx *ctx, redis_string **argv, int count, value **sources,
                         uint64_t *bytes) {
    for (int i = 0; i < count; i++) {
        place p = place_open(ctx, argv[i], REDIS_READ, ANY_FAMILY);
        const tamis *filter = place_filter(ctx, &p, argv[i]);
        sources[i] = p.value;
        if (filter) *bytes += tamis_image_size(filter);
        place_close(&p);
        if (!filter) return false;
    }
    return true;
}

/* Where nothing is, the first source is copied, with what it knows of itself. */
int tamis_merge_command(redis_ctx *ctx, redis_string **argv, int argc) {
    value *sources[JOB_KEYS];
    uint64_t bytes = 0;
    const int count = argc - 2;
    if (count > JOB_KEYS - 1)
        return reply_error(ctx, "ERR TAMIS.MERGE takes 1 to %d sources", JOB_KEYS - 1);
    place p = place_open(ctx, argv[1], REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    value *dest = p.value;
    const bool is_good = (!dest && !p.is_wrong) || place_filter(ctx, &p, argv[1]);
    place_close(&p);
    if (!is_good || !take_sources(ctx, argv + 2, count, sources, &bytes)) return REDIS_OK;
    if (dest)
        bytes += tamis_image_size(dest->filter);
    else
        value_note_facts(sources[0]);
    const alteration a = {.alter = merge_all, .event = "tamis.merge", .number = dest ? 0 : 1};
    return alter_copy(ctx, &a, dest, sources, count, argv, argc, bytes);
}

/* ---- TAMIS.FOLD key by, TAMIS.RESIZE key capacity -------------------------------------------- */

static tamis_status fold(tamis *copy, alteration *a, job *j) {
    (void)j;
    return tamis_fold(copy, a->number);
}

static tamis_status resize(tamis *copy, alteration *a, job *j) {
    (void)j;
    return tamis_resize(copy, a->number);
}

static int alter_by_number(redis_ctx *ctx, redis_string **argv, int argc, alteration a) {
    if (!tamis_parse_count(redis.StringPtrLen(argv[2], NULL), &a.number))
        return reply_refusal(ctx, TAMIS_INVALID);
    place p = place_open(ctx, argv[1], REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    const tamis *filter = place_filter(ctx, &p, argv[1]);
    value *v = p.value;
    place_close(&p);
    return filter ? alter_copy(ctx, &a, v, NULL, 0, argv, argc, tamis_image_size(filter))
                  : REDIS_OK;
}

int tamis_fold_command(redis_ctx *ctx, redis_string **argv, int argc) {
    return alter_by_number(ctx, argv, argc, (alteration){.alter = fold, .event = "tamis.fold"});
}

int tamis_resize_command(redis_ctx *ctx, redis_string **argv, int argc) {
    return alter_by_number(ctx, argv, argc, (alteration){.alter = resize, .event = "tamis.resize"});
}
