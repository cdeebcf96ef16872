/* SPDX-License-Identifier: MIT */
/* BF.*: the Bloom filters of RedisBloom's commands, with their grammar, replies and texts; and the
 * arguments that Valkey's module added to them. */
#include <ctype.h>

#include "engines/redis/bf.h"
#include "engines/redis/commands.h"
#include "engines/redis/many.h"

/* ---- BF.RESERVE key rate capacity [EXPANSION e] [NONSCALING] --------------------------------- */

static const char *read_rate(const redis_string *s, double *rate) {
    if (redis.StringToDouble(s, rate)) return "ERR bad error rate";
    return *rate > 0 && *rate < 1 ? NULL
                                  : "ERR error rate must be in the range (0.000000, 1.000000)";
}

static const char *read_capacity(const redis_string *s, long long *capacity) {
    if (redis.StringToLongLong(s, capacity)) return "ERR bad capacity";
    return *capacity >= 1 && *capacity <= BF_MAX_CAPACITY
               ? NULL
               : "ERR capacity must be in the range [1, 1073741824]";
}

static const char *read_expansion(const redis_string *s, long long *expansion) {
    if (redis.StringToLongLong(s, expansion)) return "ERR bad expansion";
    return *expansion >= 0 && *expansion <= BF_MAX_EXPANSION
               ? NULL
               : "ERR expansion must be in the range [0, 32768]";
}

/* Unknown words are ignored, as RedisBloom does. */
static const char *read_params(const request *r, bf_params *w) {
    const int expansion = request_find(r, 4, "EXPANSION");
    const bool is_fixed = request_find(r, 4, "NONSCALING");
    const char *why = read_rate(r->argv[2], &w->rate);
    if (!why) why = read_capacity(r->argv[3], &w->capacity);
    if (!why && expansion)
        why = expansion + 1 == r->argc ? "ERR no expansion"
                                       : read_expansion(r->argv[expansion + 1], &w->expansion);
    if (!why && expansion && is_fixed && w->expansion) why = "Nonscaling filters cannot expand";
    w->is_fixed = is_fixed || w->expansion == 0;
    return why;
}

int bf_reserve_command(request *r) {
    bf_params w = bf_usual_params();
    creation c;
    const char *why = read_params(r, &w);
    if (why) return redis.ReplyWithError(r->ctx, why);
    return request_is_free(r) && bf_plan(r, &w, &c) ? creation_do(r, &c) : REDIS_OK;
}

/* ---- BF.ADD key item, BF.MADD key item... ---------------------------------------------------- */

int bf_madd_command(request *r) {
    return bf_add(r, NULL, true);
}

int bf_add_command(request *r) {
    r->form = REPLY_SINGLE;
    return bf_madd_command(r);
}

/* ---- BF.INSERT key [options] ITEMS item... --------------------------------------------------- */

typedef struct insertion {
    bf_params params;
    bool may_create;
    long long scale_to; /* 0: not given */
} insertion;

static const char *take_capacity(insertion *n, redis_string *s) {
    return read_capacity(s, &n->params.capacity) ? "Bad capacity" : NULL;
}

static const char *take_rate(insertion *n, redis_string *s) {
    return read_rate(s, &n->params.rate) ? "Bad error rate" : NULL;
}

static const char *take_expansion(insertion *n, redis_string *s) {
    return read_expansion(s, &n->params.expansion) ? "Bad expansion" : NULL;
}

static const char *take_seed(insertion *n, redis_string *s) {
    const struct tamis_key seed = key_of(s);
    if (seed.len != SEED_BYTES) return "ERR invalid seed: it has 32 bytes";
    n->params.has_secret = bf_secret_of(seed.bytes, n->params.secret);
    return n->params.has_secret ? NULL : "ERR Insufficient memory";
}

static const char *take_tightening(insertion *n, redis_string *s) {
    double ratio;
    if (redis.StringToDouble(s, &ratio)) return "ERR bad tightening ratio";
    if (!(ratio > 0 && ratio < 1)) return "ERR (0 < tightening ratio range < 1)";
    n->params.tightening = s;
    return NULL;
}

static const char *take_scale(insertion *n, redis_string *s) {
    const bool is_bad = redis.StringToLongLong(s, &n->scale_to) || n->scale_to < 1;
    return is_bad ? "ERR bad VALIDATESCALETO: it is a capacity" : NULL;
}

/* RedisBloom looks at the first letters only, and so must we; at what is new, at the whole word. */
typedef const char *taker(insertion *, redis_string *);
static taker *taker_of(const redis_string *word) {
    const char *s = redis.StringPtrLen(word, NULL);
    const int first = tolower((unsigned char)s[0]);
    if (first == 'c') return take_capacity;
    if (first == 'e') return tolower((unsigned char)s[1]) == 'r' ? take_rate : take_expansion;
    return is_word(word, "SEED")              ? take_seed
           : is_word(word, "TIGHTENING")      ? take_tightening
           : is_word(word, "VALIDATESCALETO") ? take_scale
                                              : NULL;
}

/* N, then any letter, then C: NOCREATE; otherwise NONSCALING. */
static void take_n(insertion *n, const redis_string *word) {
    const struct tamis_key s = key_of(word);
    if (s.len > 2 && tolower(((const unsigned char *)s.bytes)[2]) == 'c')
        n->may_create = false;
    else
        n->params.is_fixed = true;
}

/* Up to ITEMS. NULL when all is well so far; "" for a wrong number of arguments. */
static const char *take_options(insertion *n, request *r) {
    for (int i = 2; i < r->argc; i++) {
        const int first = tolower((unsigned char)*redis.StringPtrLen(r->argv[i], NULL));
        taker *take = taker_of(r->argv[i]);
        if (first == 'i') {
            r->items = i + 1;
            return r->items < r->argc ? NULL : "";
        }
        if (first == 'n') {
            take_n(n, r->argv[i]);
        } else if (!take) {
            return "Unknown argument received";
        } else {
            if (++i == r->argc) return "";
            const char *why = take(n, r->argv[i]);
            if (why) return why;
        }
    }
    return "";
}

static const char *check_scale(const insertion *n) {
    const bf_params *w = &n->params;
    const bf_scaling scaling = {settings.bf_kind == KIND_ORIGIN, (uint64_t)w->capacity, w->rate,
                                (uint64_t)w->expansion};
    if (!n->scale_to || !bounds_bind()) return NULL;
    if (w->is_fixed) return "ERR cannot use NONSCALING and VALIDATESCALETO options together";
    const bool fits = bf_scaled_bytes(&scaling, (uint64_t)n->scale_to) <= bounds_filter_bytes();
    return fits ? NULL : "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit";
}

int bf_insert_command(request *r) {
    insertion n = {.params = bf_usual_params(), .may_create = true};
    const char *why = take_options(&n, r);
    if (n.params.expansion == 0) n.params.is_fixed = true;
    if (!why) why = check_scale(&n);
    if (why) return *why ? redis.ReplyWithError(r->ctx, why) : request_wrong_arity(r);
    return bf_add(r, &n.params, n.may_create);
}

/* ---- BF.EXISTS key item, BF.MEXISTS key item... ---------------------------------------------- */

int bf_mexists_command(request *r) {
    return many_exist(r);
}

int bf_exists_command(request *r) {
    r->form = REPLY_SINGLE;
    return many_exist(r);
}
