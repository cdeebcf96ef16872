/* SPDX-License-Identifier: MIT */
/* TAMIS.*: making, adding, asking and taking out, for every kind. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/redis/alter.h"
#include "engines/redis/clock.h"
#include "engines/redis/commands.h"
#include "engines/redis/many.h"
#include "engines/redis/new_filter.h"
#include "tamis_engine.h"

/* ---- TAMIS.CREATE key spec [EVERY ms | LAST ms] [SECRET bytes] [NOTE name value]... ---------- */

static const char too_many_notes[] =
    "ERR a filter is created with at most 16 notes; EVERY and LAST take one of them";
static const char create_usage[] =
    "ERR syntax error: TAMIS.CREATE key spec [EVERY milliseconds | LAST milliseconds] "
    "[SECRET 16-bytes] [NOTE name value] ..., at most 16 notes";

/* How a filter ages by the clock, as it was asked for: a tick every N milliseconds, or keys that
 * stay for N. */
typedef struct ageing {
    long long every, last;
} ageing;

enum { MAX_MILLISECONDS_BITS = 48 };

static bool take_milliseconds(const redis_string *s, long long *ms) {
    return !redis.StringToLongLong(s, ms) && *ms >= 1 && *ms >> MAX_MILLISECONDS_BITS == 0;
}

static const char *take_options(creation *c, ageing *age, redis_string **argv, int argc) {
    for (int i = 3; i < argc;) {
        if (is_word(argv[i], "SECRET") && i + 1 < argc) {
            const struct tamis_key secret = key_of(argv[i + 1]);
            if (secret.len != SECRET_BYTES) return "ERR SECRET has 16 bytes";
            memcpy(c->secret, secret.bytes, SECRET_BYTES);
            c->has_secret = true;
            i += 2;
        } else if (is_word(argv[i], "NOTE") && i + 2 < argc) {
            if (!creation_note(c, argv[i + 1], argv[i + 2])) return too_many_notes;
            i += 3;
        } else if ((is_word(argv[i], "EVERY") || is_word(argv[i], "LAST")) && i + 1 < argc) {
            if (age->every || age->last) return create_usage;
            if (!take_milliseconds(argv[i + 1],
                                   is_word(argv[i], "LAST") ? &age->last : &age->every))
                return "ERR EVERY and LAST are milliseconds from 1 to 2^48";
            i += 2;
        } else {
            return create_usage;
        }
    }
    return NULL;
}

/* At least 1, so that it may divide. */
static uint64_t word_of(const struct tamis_plan *plan, const char *name) {
    for (int i = 0; i < TAMIS_WORDS && plan->word_name[i]; i++)
        if (strcmp(plan->word_name[i], name) == 0 && plan->word[i]) return plan->word[i];
    return 1;
}

/* The time goes into the note, from which every copy of the filter knows it. */
static const char *plan_ageing(creation *c, const ageing *age) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (!age->every && !age->last) return NULL;
    if (tamis_plan_spec(c->spec, &plan) || !strstr(c->spec, "by=clock"))
        return "ERR EVERY and LAST are for filters that age by the clock: window with by=clock";
    const uint64_t generations = word_of(&plan, "generations");
    const uint64_t last = (uint64_t)age->last;
    const facts f = {
        .family = FAMILY_TAMIS,
        .every = age->every ? (uint64_t)age->every : (last + generations - 1) / generations,
        .ticked = (uint64_t)redis.Milliseconds(),
    };
    return creation_facts(c, &f) ? NULL : too_many_notes;
}

int tamis_create_command(request *r) {
    creation c = {.event = "tamis.create"};
    ageing age = {0};
    const struct tamis_key spec = key_of(r->argv[2]);
    if (r->value || r->is_wrong) return reply_error(r->ctx, "ERR item exists");
    const char *why = take_options(&c, &age, r->argv, r->argc);
    const tamis_status rc = why ? TAMIS_OK : creation_plan(&c, spec.bytes, spec.len);
    if (!why && !rc) why = plan_ageing(&c, &age);
    if (!why && !rc) return creation_do(r, &c);
    creation_free(&c);
    return why ? redis.ReplyWithError(r->ctx, why) : reply_refusal(r->ctx, rc);
}

/* ---- Changes of items ------------------------------------------------------------------------ */

struct batch;

/* What a command does with its items: all of them, or none when it fails. */
typedef struct verb {
    tamis_status (*apply)(tamis *, struct batch *);
    void (*reply)(request *, const struct batch *);
    const char *event, *command;
    bool adds;      /* and so may need more room than there is */
    bool tells_new; /* one by one, so that what fails half-way has to be taken back */
} verb;

typedef struct batch {
    items items;
    uint64_t *number; /* values to put; or NULL */
    size_t stride;    /* of items among the arguments: 2 when each has a value after it */
    const verb *verb;
    size_t undone; /* of the first items, that went in before one failed and were taken back */
} batch;

static void reply_count(request *r, const batch *b) {
    redis.ReplyWithLongLong(r->ctx, (long long)b->items.count);
}

static void reply_hits(request *r, const batch *b) {
    redis.ReplyWithArray(r->ctx, (long)b->items.count);
    for (size_t i = 0; i < b->items.count; i++) reply_bool(r->ctx, b->items.hit[i]);
}

static tamis_status apply_add(tamis *filter, batch *b) {
    const items *t = &b->items;
    return t->hash ? tamis_add_hashes(filter, t->hash, t->count)
                   : tamis_add_many(filter, t->key, t->count);
}

static tamis_status remove_item(tamis *filter, const items *t, size_t i) {
    return t->hash ? tamis_remove_hash(filter, t->hash[i])
                   : tamis_remove(filter, t->key[i].bytes, t->key[i].len);
}

/* What failed half-way is taken back, where the kind can; where it cannot, this is a copy. */
static tamis_status apply_add_new(tamis *filter, batch *b) {
    items *t = &b->items;
    for (size_t i = 0; i < t->count; i++) {
        bool is_new;
        const tamis_status rc = items_add_new(t, filter, i, &is_new);
        if (rc) {
            b->undone = i;
            while (i-- > 0)
                if (t->hit[i]) remove_item(filter, t, i);
            return rc;
        }
        t->hit[i] = is_new;
    }
    return TAMIS_OK;
}

/* A kind that cannot says so of the first. */
static tamis_status apply_remove(tamis *filter, batch *b) {
    items *t = &b->items;
    for (size_t i = 0; i < t->count; i++) {
        const tamis_status rc = remove_item(filter, t, i);
        if (rc && rc != TAMIS_NOT_FOUND && i == 0) return rc;
        t->hit[i] = !rc;
    }
    return TAMIS_OK;
}

static tamis_status put_item(tamis *filter, const batch *b, size_t i) {
    const items *t = &b->items;
    return t->hash ? tamis_put_hash(filter, t->hash[i], b->number[i])
                   : tamis_put(filter, t->key[i].bytes, t->key[i].len, b->number[i]);
}

static bool get_item(const tamis *filter, const items *t, size_t i, uint64_t *number) {
    return t->hash ? tamis_get_hash(filter, t->hash[i], number)
                   : tamis_get(filter, t->key[i].bytes, t->key[i].len, number);
}

/* The largest value first, and a key that a map without new keys has not: they fail if any does. */
static tamis_status apply_put(tamis *filter, batch *b) {
    struct tamis_info info = TAMIS_INFO_INIT;
    size_t hardest = 0;
    uint64_t number;
    tamis_get_info(filter, &info);
    for (size_t i = 1; i < b->items.count; i++)
        if (b->number[i] > b->number[hardest]) hardest = i;
    for (size_t i = 0; info.abilities & TAMIS_IS_BUILT && i < b->items.count; i++)
        if (!get_item(filter, &b->items, i, &number)) hardest = i;
    tamis_status rc = put_item(filter, b, hardest);
    for (size_t i = 0; i < b->items.count && !rc; i++) rc = put_item(filter, b, i);
    return rc;
}

static bool take_number(const redis_string *s, uint64_t *number) {
    const struct tamis_key text = key_of(s);
    const char *digits = text.bytes;
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        const uint64_t digit = (uint64_t)(digits[i] - '0');
        if (digits[i] < '0' || digits[i] > '9' || *number > (UINT64_MAX - digit) / 10) return false;
        *number = *number * 10 + digit;
    }
    return text.len > 0;
}

/* The values of pairs; false, and why, when one is none. */
static bool take_numbers(redis_string **pair, size_t count, uint64_t *number, char why[JOB_WHY]) {
    for (size_t i = 0; i < count; i++) {
        if (take_number(pair[2 * i + 1], &number[i])) continue;
        snprintf(why, JOB_WHY, "the value of '%.100s' must be a whole number from 0 to 2^64-1",
                 redis.StringPtrLen(pair[2 * i], NULL));
        return false;
    }
    return true;
}

/* ---- On the filter, or on a copy of it ------------------------------------------------------- */

/* Does it need more memory than the filter has? Only what is new does. */
static bool lacks_room(const tamis *filter, items *t) {
    const uint64_t room = tamis_remaining(filter);
    return room < t->count && items_missing(t, filter, 0, t->count) > room;
}

/* A large filter grows on the worker; what would be half done, and cannot be taken back, is done on
 * a copy. */
static bool needs_copy(const tamis *filter, batch *b) {
    struct tamis_info info = TAMIS_INFO_INIT;
    if (!b->verb->adds || tamis_remaining(filter) == UINT64_MAX) return false;
    tamis_get_info(filter, &info);
    const bool is_final = info.abilities & TAMIS_MAY_FORGET && info.abilities & TAMIS_CAN_REMOVE;
    if (b->verb->tells_new && b->items.count > 1) return is_final || lacks_room(filter, &b->items);
    return info.abilities & TAMIS_CAN_GROW && info.stored_bytes >= LARGE_BYTES &&
           lacks_room(filter, &b->items);
}

/* Arguments are read on the worker. */
static tamis_status alter_batch(tamis *copy, alteration *a, job *j) {
    batch *b = a->data;
    redis_string **item = request_items(j->request);
    items_read(&b->items, j->target, item, b->stride, 0, b->items.count);
    if (b->number && !take_numbers(item, b->items.count, b->number, j->why))
        return j->rc = TAMIS_INVALID;
    return b->verb->apply(copy, b);
}

/* Hashes are one argument, and items are as many as there are: the server would write down one
 * after the other while everybody waits. */
static void replicate_hashes(request *r, alteration *a) {
    const batch *b = a->data;
    redis.Replicate(r->ctx, "TAMIS.HADD", "sb", r->key, (const char *)b->items.hash,
                    b->items.count * sizeof *b->items.hash);
}

static bool goes_as_hashes(const batch *b) {
    const size_t n = b->items.count;
    return b->verb->apply == apply_add && b->items.hash && n > VERY_MANY && n <= MAX_HASHES;
}

static void reply_batch(request *r, alteration *a) {
    const batch *b = a->data;
    b->verb->reply(r, b);
}

static void batch_free(void *data) {
    batch *b = data;
    items_free(&b->items);
    redis.Free(b->number);
    redis.Free(b);
}

/* What was done and taken back may have left the same set in other places: others do both. They are
 * not sent the command, which need not fail there: limits are not the same everywhere. */
static void replicate_undone(request *r, const batch *b) {
    redis_string **item = request_items(r), **back = redis.Alloc(b->undone * sizeof *back);
    size_t n = 0;
    for (size_t i = b->undone; i-- > 0;)
        if (b->items.hit[i]) back[n++] = item[i];
    redis.Replicate(r->ctx, "TAMIS.ADDNEW", "sv", r->key, item, b->undone);
    if (n) redis.Replicate(r->ctx, "TAMIS.REMOVE", "sv", r->key, back, n);
    redis.Free(back);
}

/* Owns the batch, as do those below. */
static int change_now(request *r, batch *b) {
    const tamis_status rc = b->verb->apply(r->value->filter, b);
    if (!rc) {
        request_changed(r, b->verb->event);
        b->verb->reply(r, b);
    } else {
        if (b->undone) replicate_undone(r, b);
        reply_refusal(r->ctx, rc);
    }
    batch_free(b);
    return REDIS_OK;
}

static int change_copy(request *r, batch *b) {
    const bool are_many = b->items.count > VERY_MANY;
    const alteration a = {.alter = alter_batch,
                          .reply = reply_batch,
                          .replies = b->verb->tells_new ? b->items.count : 0,
                          .replicate = goes_as_hashes(b) ? replicate_hashes : NULL,
                          .free = batch_free,
                          .event = b->verb->event,
                          .data = b};
    return alter_copy(r, &a, NULL, 0, are_many ? LARGE_BYTES : tamis_image_size(r->value->filter));
}

/* ---- Very many items ------------------------------------------------------------------------- */

/* Will a part of a large filter be cleared for them? */
static bool turns(const request *r, const batch *b) {
    return b->verb->adds && clock_adds_left(r->value) < b->items.count && may_wait(r);
}

/* Only what cannot fail is done in steps: nothing is taken back. */
static bool cannot_fail(const tamis *filter, const batch *b) {
    return !b->number && (!b->verb->adds || tamis_remaining(filter) == UINT64_MAX);
}

static bool apply_some(stream *s, value *v) {
    batch *b = s->data, part = {.verb = b->verb};
    const uint64_t room = b->verb->adds ? clock_make_room(v) : UINT64_MAX;
    const size_t from = s->done;
    if (room == 0) return true;
    part.items.count = (size_t)lesser(room, lesser(s->count - from, ITEMS_AT_ONCE));
    part.items.key = b->items.key + from;
    part.items.hash = b->items.hash ? b->items.hash + from : NULL;
    part.items.hit = b->items.hit + from;
    items_read(&b->items, v, s->item, 1, from, part.items.count);
    const tamis_status rc = b->verb->apply(v->filter, &part);
    if (rc) snprintf(s->why, sizeof s->why, "%s", refusal(rc));
    if (!rc) s->changed = s->done += part.items.count;
    return !rc;
}

static void replicate_some(request *r, const stream *s, size_t from) {
    const batch *b = s->data;
    redis.Replicate(r->ctx, b->verb->command, "sv", r->key, s->item + from, s->done - from);
}

static void reply_stream(request *r, const stream *s) {
    const batch *b = s->data;
    b->verb->reply(r, b);
}

static int change_in_steps(request *r, batch *b) {
    const stream s = {.some = apply_some,
                      .replicate = replicate_some,
                      .reply = reply_stream,
                      .free = batch_free,
                      .data = b,
                      .event = b->verb->event,
                      .count = b->items.count};
    return many_change(r, &s);
}

/* Owns the numbers; NULL, with the error replied, when there is no filter, or no memory. */
static batch *batch_new(request *r, uint64_t *number, const verb *how) {
    const size_t stride = number ? 2 : 1;
    const value *v = request_value(r, NULL);
    batch *b = v ? redis.Alloc(sizeof *b) : NULL;
    if (!b || !items_room(r, &b->items, v, request_count(r) / stride)) {
        redis.Free(number);
        redis.Free(b);
        return NULL;
    }
    b->number = number, b->stride = stride, b->verb = how, b->undone = 0;
    return b;
}

/* Where there are numbers, those are between the items. Owns them. */
static int change(request *r, uint64_t *number, const verb *how) {
    batch *b = batch_new(r, number, how);
    if (!b) return REDIS_OK;
    const value *v = r->value;
    clock_keep(r);
    if (many_may_wait(r, b->items.count) || turns(r, b))
        return cannot_fail(v->filter, b) ? change_in_steps(r, b) : change_copy(r, b);
    items_read(&b->items, v, request_items(r), b->stride, 0, b->items.count);
    return needs_copy(v->filter, b) ? change_copy(r, b) : change_now(r, b);
}

/* ---- TAMIS.ADD, TAMIS.ADDNEW, TAMIS.REMOVE key item... --------------------------------------- */

int tamis_add_command(request *r) {
    static const verb add = {apply_add, reply_count, "tamis.add", "TAMIS.ADD", true, false};
    return change(r, NULL, &add);
}

int tamis_addnew_command(request *r) {
    static const verb add_new = {apply_add_new,  reply_hits, "tamis.add",
                                 "TAMIS.ADDNEW", true,       true};
    return change(r, NULL, &add_new);
}

int tamis_remove_command(request *r) {
    static const verb take_out = {apply_remove,   reply_hits, "tamis.remove",
                                  "TAMIS.REMOVE", false,      false};
    return change(r, NULL, &take_out);
}

/* ---- TAMIS.PUT key item value [item value ...] ----------------------------------------------- */

int tamis_put_command(request *r) {
    static const verb put = {apply_put, reply_count, "tamis.put", "TAMIS.PUT", false, false};
    const size_t count = request_count(r) / 2;
    char why[JOB_WHY];
    if (r->argc % 2) return request_wrong_arity(r);
    uint64_t *number = redis.Alloc(count * sizeof *number);
    if (!many_may_wait(r, count) && !take_numbers(request_items(r), count, number, why)) {
        redis.Free(number);
        return reply_error(r->ctx, "ERR %s", why);
    }
    return change(r, number, &put);
}

/* ---- TAMIS.HAS, TAMIS.COUNT, TAMIS.GET key item... ------------------------------------------- */

static uint64_t count_item(const tamis *filter, const items *t, size_t i) {
    return t->hash ? tamis_count_hash(filter, t->hash[i])
                   : tamis_count(filter, t->key[i].bytes, t->key[i].len);
}

/* The protocol's integers end at 2^63-1; what is larger is told as a text. */
static void tell_number(redis_ctx *ctx, uint64_t number) {
    char text[24];
    if (number <= INT64_MAX) {
        redis.ReplyWithLongLong(ctx, (long long)number);
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64, number);
    reply_text(ctx, text);
}

static void tell_counts(request *r, const tamis *filter, items *t, bool is_empty) {
    redis.ReplyWithArray(r->ctx, (long)t->count);
    for (size_t i = 0; i < t->count; i++)
        tell_number(r->ctx, is_empty ? 0 : count_item(filter, t, i));
}

static void tell_values(request *r, const tamis *filter, items *t, bool is_empty) {
    redis.ReplyWithArray(r->ctx, (long)t->count);
    for (size_t i = 0; i < t->count; i++) {
        uint64_t number;
        if (!is_empty && get_item(filter, t, i, &number))
            tell_number(r->ctx, number);
        else
            redis.ReplyWithNull(r->ctx);
    }
}

static int ask(request *r, enum tamis_ability needed, sender *tell) {
    if (!request_value(r, NULL) || !many_can_answer(r, needed)) return REDIS_OK;
    return many_ask(r, !clock_answers(r), tell);
}

int tamis_has_command(request *r) {
    return ask(r, 0, tell_hits);
}

int tamis_count_command(request *r) {
    return ask(r, 0, tell_counts);
}

int tamis_get_command(request *r) {
    return ask(r, TAMIS_CAN_GET, tell_values);
}
