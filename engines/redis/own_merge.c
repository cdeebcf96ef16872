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
static bool take_sources(const request *r, value **sources, uint64_t *bytes) {
    for (int i = 0; i < r->argc - 2; i++) {
        request source = request_for(r, r->argv[2 + i], ANY_FAMILY);
        sources[i] = request_value(&source, NULL);
        request_close(&source);
        if (!sources[i]) return false;
        *bytes += tamis_image_size(sources[i]->filter);
    }
    return true;
}

/* Where nothing is, the first source is copied, with what it knows of itself. */
int tamis_merge_command(request *r) {
    value *sources[JOB_KEYS];
    uint64_t bytes = 0;
    const int count = r->argc - 2;
    if (count > JOB_KEYS - 1)
        return reply_error(r->ctx, "ERR TAMIS.MERGE takes 1 to %d sources", JOB_KEYS - 1);
    const bool is_new = !r->value && !r->is_wrong;
    if (!is_new && !request_value(r, NULL)) return REDIS_OK;
    if (!take_sources(r, sources, &bytes)) return REDIS_OK;
    if (is_new)
        value_note_facts(sources[0]);
    else
        bytes += tamis_image_size(r->value->filter);
    const alteration a = {.alter = merge_all, .event = "tamis.merge", .number = is_new ? 1 : 0};
    return alter_copy(r, &a, sources, count, bytes);
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

static int alter_by_number(request *r, alteration a) {
    if (!tamis_parse_count(redis.StringPtrLen(r->argv[2], NULL), &a.number))
        return reply_refusal(r->ctx, TAMIS_INVALID);
    const value *v = request_value(r, NULL);
    return v ? alter_copy(r, &a, NULL, 0, tamis_image_size(v->filter)) : REDIS_OK;
}

int tamis_fold_command(request *r) {
    return alter_by_number(r, (alteration){.alter = fold, .event = "tamis.fold"});
}

int tamis_resize_command(request *r) {
    return alter_by_number(r, (alteration){.alter = resize, .event = "tamis.resize"});
}
