/* Time: ticks by the clock, and TAMIS.TICK. */
#include "engines/redis/clock.h"

#include <string.h>
#include <strings.h>

#include "engines/redis/alter.h"
#include "engines/redis/commands.h"

/* ---- What is due ---------------------------------------------------------------------------------- */

static uint64_t word_of(const struct tamis_info *info, const char *name) {
    for (int i = 0; i < TAMIS_WORDS && info->word_name[i]; i++)
        if (strcmp(info->word_name[i], name) == 0) return info->word[i];
    return 0;
}

uint64_t clock_generations(const tamis *filter) {
    struct tamis_info info;
    tamis_facts(filter, &info, sizeof info);
    return info.abilities & TAMIS_CAN_TICK ? word_of(&info, "generations") : 0;
}

/* So many ticks leave nothing, however many more there would be. */
static uint64_t ticks_to_empty(const tamis *filter) {
    struct tamis_info info;
    tamis_facts(filter, &info, sizeof info);
    return word_of(&info, "generations") + word_of(&info, "hashes");
}

static bool may_tick(const value *v, int flags) {
    const bool is_paused = redis.AvoidReplicaTraffic && redis.AvoidReplicaTraffic();
    return !v->job && !is_paused && !(flags & REDIS_IS_READ_ONLY);
}

/* A clock that was set back begins anew: nothing leaves early. */
static void tick_all(redis_ctx *ctx, value *v, redis_string *key, uint64_t now, uint64_t due) {
    facts *f = &v->facts;
    const uint64_t most = ticks_to_empty(v->filter), n = due < most ? due : most;
    for (uint64_t i = 0; i < n; i++) tamis_tick(v->filter);
    f->ticked = now < f->ticked ? now : f->ticked + due * f->every;
    redis.Replicate(ctx, "TAMIS.TICK", "slcl", key, (long long)n, "AT", (long long)f->ticked);
}

bool clock_keep(redis_ctx *ctx, value *v, redis_string *key) {
    const facts *f = &v->facts;
    if (!f->every) return true;
    const int flags = redis.GetContextFlags(ctx);
    if (flags & (REDIS_IS_REPLICATED | REDIS_IS_LOADING | REDIS_IS_ASYNC_LOADING)) return true;
    const uint64_t now = (uint64_t)redis.Milliseconds();
    const uint64_t due = now > f->ticked ? (now - f->ticked) / f->every : 0;
    if (due == 0 && now >= f->ticked) return true;
    if (!may_tick(v, flags)) return due <= clock_generations(v->filter);
    tick_all(ctx, v, key, now, due);
    return true;
}

/* ---- TAMIS.TICK key [n] [AT milliseconds] ----------------------------------------------------------- */

enum { MOST_TICKS = 1024 };

typedef struct ticking {
    long long n, at; /* at is -1 when it is not told */
} ticking;

static bool take_ticking(redis_string **argv, int argc, ticking *t) {
    const bool has_at = argc > 3 && strcasecmp(redis.StringPtrLen(argv[argc - 2], NULL), "AT") == 0;
    const int numbers = has_at ? argc - 2 : argc;
    *t = (ticking){.n = 1, .at = -1};
    if (numbers > 3) return false;
    if (has_at && (redis.StringToLongLong(argv[argc - 1], &t->at) || t->at < 0)) return false;
    if (numbers == 3 && redis.StringToLongLong(argv[2], &t->n)) return false;
    return t->n >= (has_at ? 0 : 1) && t->n <= MOST_TICKS;
}

static tamis_status tick(tamis *filter, alteration *a, job *j) {
    tamis_status rc = TAMIS_OK;
    (void)j;
    for (uint64_t i = 0; i < a->number && !rc; i++) rc = tamis_tick(filter);
    return rc;
}

/* A tick touches a slice of the filter, which is about a sixteenth. */
static bool is_long(const tamis *filter, long long n) {
    return tamis_stored_size(filter) / 16 * (uint64_t)n >= LARGE_BYTES;
}

static void tick_now(redis_ctx *ctx, place *p, redis_string *key, const ticking *t) {
    alteration a = {.number = (uint64_t)t->n};
    const tamis_status rc = tick(p->value->filter, &a, NULL);
    if (rc) {
        reply_refusal(ctx, rc);
        return;
    }
    if (t->at >= 0 && p->value->facts.every) p->value->facts.ticked = (uint64_t)t->at;
    redis.ReplicateVerbatim(ctx);
    redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tamis.tick", key);
    reply_ok(ctx);
}

int tamis_tick_command(redis_ctx *ctx, redis_string **argv, int argc) {
    ticking t;
    if (!take_ticking(argv, argc, &t))
        return reply_error(ctx,
                           "ERR syntax error: TAMIS.TICK key [n] [AT milliseconds], n from 1 to %d",
                           MOST_TICKS);
    place p = place_open(ctx, argv[1], REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    const tamis *filter = place_filter(ctx, &p, argv[1]);
    value *v = p.value;
    if (filter && t.at < 0) clock_keep(ctx, v, argv[1]);
    const bool is_job = filter && t.at < 0 && is_long(filter, t.n);
    if (filter && !is_job) tick_now(ctx, &p, argv[1], &t);
    place_close(&p);
    if (!is_job) return REDIS_OK;
    const alteration a = {.alter = tick, .event = "tamis.tick", .number = (uint64_t)t.n};
    return alter_copy(ctx, &a, v, NULL, 0, argv, argc, LARGE_BYTES);
}
