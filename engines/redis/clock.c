/* SPDX-License-Identifier: MIT */
/* Time: ticks by the clock, and TAMIS.TICK. */
#include "engines/redis/clock.h"

#include "engines/redis/commands.h"
#include "engines/redis/work.h"
#include "tamis_engine.h"

/* ---- What is due ----------------------------------------------------------------------------- */

/* How many ticks a key stays. */
static uint64_t generations_of(const tamis *filter) {
    return filter_word(filter, "generations", 0);
}

/* So many ticks leave nothing, however many more there would be. */
static uint64_t ticks_to_empty(const tamis *filter) {
    return generations_of(filter) + filter_word(filter, "hashes", 0);
}

static bool may_tick(const value *v, int flags) {
    const bool is_paused = redis.AvoidReplicaTraffic && redis.AvoidReplicaTraffic();
    return !v->job && !is_paused && !(flags & REDIS_IS_READ_ONLY) && !filter_is_shared(v->filter);
}

/* A clock that was set back restarts: nothing leaves early. */
static void tick_all(request *r, uint64_t now, uint64_t due) {
    const value *v = r->value;
    facts *f = &r->value->facts;
    const uint64_t n = lesser(due, ticks_to_empty(v->filter));
    for (uint64_t i = 0; i < n; i++) tamis_tick(v->filter);
    f->ticked = now < f->ticked ? now : f->ticked + due * f->every;
    redis.Replicate(r->ctx, "TAMIS.TICK", "slcl", r->key, (long long)n, "AT", (long long)f->ticked);
}

/* ---- Ticks of a large filter, in steps ------------------------------------------------------- */

/* A tick clears a slice of the filter, which is about a sixteenth. */
static bool is_long(const tamis *filter, uint64_t n) {
    return tamis_image_size(filter) / 16 * n >= LARGE_BYTES;
}

enum { PART_BYTES = 1 << 20 };

/* What is left of a command, or of what is due. */
typedef struct ticks {
    uint64_t left;
    uint64_t every;   /* by which the time of the last tick goes on with each of them; 0: by none */
    uint64_t ends_at; /* what it is with the last one; 0: it stays */
    bool is_begun;    /* the next of them: a part of what leaves is cleared */
    bool is_asked;    /* by a client, who is to be answered */
    tamis_status rc;
} ticks;

/* A key that was renamed in the middle of a tick: its new name is not known here, so the tick
 * is replicated when a command names it. */
static void owe(value *v, bool is_begun) {
    if (!is_begun || v->owes_tick) return;
    v->owes_tick = true;
    atomic_fetch_add(&counters.owed, 1);
}

/* One tick, and for a filter with a clock its time. */
static void replicate_tick(request *r, bool has_time, uint64_t ticked) {
    if (has_time)
        redis.Replicate(r->ctx, "TAMIS.TICK", "slcl", r->key, 1LL, "AT", (long long)ticked);
    else
        redis.Replicate(r->ctx, "TAMIS.TICK", "sl", r->key, 1LL);
}

void clock_pay(request *r) {
    value *v = value_at(r->ctx, r->key);
    if (!v || !v->owes_tick || v->job || is_read_only(r->ctx)) return;
    v->owes_tick = v->is_turning = false;
    atomic_fetch_sub(&counters.owed, 1);
    tamis_tick(v->filter);
    replicate_tick(r, v->facts.every, v->facts.ticked);
}

/* Each tick is told to others when it has been made: a snapshot between two of them has just
 * those. */
static void tell_tick(const job *j, ticks *t) {
    facts *f = &j->target->facts;
    t->left--;
    f->ticked += t->every;
    if (t->left == 0 && t->ends_at) f->ticked = t->ends_at;
    replicate_tick(j->request, t->every || t->ends_at, f->ticked);
}

static bool step_ticks(job *j) {
    const moment m = moment_begin();
    ticks *t = j->task;
    if (!job_finds(j)) {
        owe(j->target, t->is_begun);
        t->rc = TAMIS_NOT_FOUND;
        return true;
    }
    while (t->left && !t->rc && !moment_is_over(&m)) {
        bool is_done = false;
        t->rc = tamis_tick_part(j->target->filter, PART_BYTES, &is_done);
        t->is_begun = !is_done;
        if (is_done && !t->rc) tell_tick(j, t);
    }
    return t->left == 0 || t->rc;
}

static void end_ticks(job *j) {
    const ticks *t = j->task;
    if (!t->rc) request_notify(j->request, "tamis.tick");
    if (!t->is_asked) return;
    if (t->rc)
        reply_error(j->request->ctx, "ERR the key changed during the operation");
    else
        reply_ok(j->request->ctx);
}

/* NULL, with the error replied, when there is no memory. */
static job *ticks_job(request *r, value *v, const ticks *t) {
    job *j = job_new(r, v, sizeof *t);
    if (!j) return NULL;
    *(ticks *)j->task = *t;
    j->step = step_ticks, j->end = end_ticks;
    return j;
}

/* Leaves what is due to the worker. */
static void tick_later(request *r, value *v, uint64_t now, uint64_t due) {
    const facts *f = &v->facts;
    const ticks t = {.left = lesser(due, ticks_to_empty(v->filter)),
                     .every = f->every,
                     .ends_at = now < f->ticked ? now : f->ticked + due * f->every};
    job *j = ticks_job(r, v, &t);
    if (j) job_leave(j);
}

/* ---- Ticks that adds make -------------------------------------------------------------------- */

uint64_t clock_adds_left(const value *v) {
    struct tamis_info info = TAMIS_INFO_INIT;
    if (!v->knows_time || !is_long(v->filter, 1)) return UINT64_MAX;
    tamis_get_info(v->filter, &info);
    return info.adds_to_tick;
}

/* A finished tick and the first add after it belong to one step: a replica ticks with that add, so
 * between the two it would differ, for good if the key were lost then. */
uint64_t clock_make_room(value *v) {
    const uint64_t left = clock_adds_left(v);
    if (left) return left;
    bool is_done = false;
    tamis_tick_part(v->filter, PART_BYTES, &is_done);
    v->is_turning = !is_done;
    return is_done ? clock_adds_left(v) : 0;
}

void clock_lost_key(value *v) {
    owe(v, v->is_turning);
}

/* ---- What is due, for commands --------------------------------------------------------------- */

/* How many ticks are due; a clock that was set back has one to make. */
static bool is_due(const facts *f, uint64_t *now, uint64_t *due) {
    *now = (uint64_t)redis.Milliseconds();
    *due = f->every && *now > f->ticked ? (*now - f->ticked) / f->every : 0;
    return f->every && (*due || *now < f->ticked);
}

static bool keeps_time(const request *r, int *flags) {
    *flags = request_flags(r);
    return !(*flags & (REDIS_IS_REPLICATED | REDIS_IS_LOADING | REDIS_IS_ASYNC_LOADING));
}

/* Makes what is due, or has it made. False: not all of it is made, and so much is due that no key
 * is left. */
static bool keep(request *r, bool may_be_late) {
    value *v = r->value;
    uint64_t now, due;
    int flags;
    if (!v->facts.every || !keeps_time(r, &flags) || !is_due(&v->facts, &now, &due)) return true;
    const bool may = may_tick(v, flags), is_late = may && may_be_late && is_long(v->filter, due);
    if (is_late) tick_later(r, v, now, due);
    if (!may || is_late) return due <= generations_of(v->filter);
    tick_all(r, now, due);
    return true;
}

bool clock_keep(request *r) {
    return keep(r, false);
}

bool clock_answers(request *r) {
    return keep(r, true);
}

void clock_begin(request *r) {
    uint64_t now, due;
    int flags;
    if (!command_writes(r->command) || !may_wait(r) || !keeps_time(r, &flags)) return;
    value *v = value_at(r->ctx, r->key);
    if (v && v->filter && is_due(&v->facts, &now, &due) && may_tick(v, flags) &&
        is_long(v->filter, due))
        tick_later(r, v, now, due);
}

/* ---- TAMIS.TICK key [n] [AT milliseconds] ---------------------------------------------------- */

enum { MAX_TICKS = 1024 };

typedef struct ticking {
    long long n, at; /* at is -1 when it is not told */
} ticking;

static bool take_ticking(redis_string **argv, int argc, ticking *t) {
    const bool has_at = argc > 3 && is_word(argv[argc - 2], "AT");
    const int numbers = has_at ? argc - 2 : argc;
    *t = (ticking){.n = 1, .at = -1};
    if (numbers > 3) return false;
    if (has_at && (redis.StringToLongLong(argv[argc - 1], &t->at) || t->at < 0)) return false;
    if (numbers == 3 && redis.StringToLongLong(argv[2], &t->n)) return false;
    return t->n >= (has_at ? 0 : 1) && t->n <= MAX_TICKS;
}

static tamis_status tick(tamis *filter, uint64_t n) {
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < n && !rc; i++) rc = tamis_tick(filter);
    return rc;
}

static int tick_now(request *r, const ticking *t) {
    facts *f = &r->value->facts;
    const tamis_status rc = tick(r->value->filter, (uint64_t)t->n);
    if (rc) return reply_refusal(r->ctx, rc);
    if (t->at >= 0 && f->every) f->ticked = (uint64_t)t->at;
    request_changed(r, "tamis.tick");
    return reply_ok(r->ctx);
}

/* AT is the time of the last of them. */
static int tick_by_steps(request *r, const ticking *t) {
    value *v = r->value;
    const ticks all = {.left = (uint64_t)t->n,
                       .ends_at = t->at >= 0 && v->facts.every ? (uint64_t)t->at : 0,
                       .is_asked = true};
    job *j = ticks_job(r, v, &all);
    return j ? job_do(j, LARGE_BYTES) : REDIS_OK;
}

int tamis_tick_command(request *r) {
    ticking t;
    if (!take_ticking(r->argv, r->argc, &t))
        return reply_error(r->ctx,
                           "ERR syntax error: TAMIS.TICK key [n] [AT milliseconds], n from 1 to %d",
                           MAX_TICKS);
    const value *v = request_value(r, NULL);
    if (!v) return REDIS_OK;
    if (t.at < 0) clock_keep(r);
    const bool is_job = v->knows_time && is_long(v->filter, (uint64_t)t.n);
    return is_job ? tick_by_steps(r, &t) : tick_now(r, &t);
}
