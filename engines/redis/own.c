/* TAMIS.*: making, adding and asking, for every kind. */
#include <string.h>
#include <strings.h>

#include "engines/redis/commands.h"
#include "engines/redis/create.h"
#include "engines/redis/items.h"

static bool is_word(const redis_string *s, const char *word) {
    return strcasecmp(redis.StringPtrLen(s, NULL), word) == 0;
}

/* ---- TAMIS.CREATE key spec [SECRET bytes] [NOTE name value]... ---------------------------------- */

static const char create_usage[] = "ERR syntax error: TAMIS.CREATE key spec [SECRET 16-bytes] "
                                   "[NOTE name value] ..., at most 16 notes";

static const char *take_options(creation *c, redis_string **argv, int argc) {
    for (int i = 3; i < argc;) {
        if (is_word(argv[i], "SECRET") && i + 1 < argc) {
            const struct tamis_key secret = key_of(argv[i + 1]);
            if (secret.len != SECRET_BYTES) return "ERR SECRET has 16 bytes";
            memcpy(c->secret, secret.bytes, SECRET_BYTES);
            c->has_secret = true;
            i += 2;
        } else if (is_word(argv[i], "NOTE") && i + 2 < argc) {
            if (!creation_note(c, argv[i + 1], argv[i + 2])) return create_usage;
            i += 3;
        } else {
            return create_usage;
        }
    }
    return NULL;
}

/* What comes from the primary, or out of a file, tells this server which secret the others use. */
static void meet_secret(redis_ctx *ctx, const creation *c) {
    const int told = REDIS_IS_REPLICATED | REDIS_IS_LOADING;
    if (c->has_secret && redis.GetContextFlags(ctx) & told) settings_meet_secret(c->secret);
}

int tamis_create_command(redis_ctx *ctx, redis_string **argv, int argc) {
    creation c = {.event = "tamis.create"};
    const struct tamis_key spec = key_of(argv[2]);
    place p = place_open(ctx, argv[1], REDIS_READ, ANY_FAMILY);
    const bool is_there = p.value || p.is_wrong;
    place_close(&p);
    if (is_there) return reply_error(ctx, "ERR item exists");
    const char *why = take_options(&c, argv, argc);
    const tamis_status rc = why ? TAMIS_INVALID : creation_plan(&c, spec.bytes, spec.len);
    if (rc) {
        creation_free(&c);
        return why ? redis.ReplyWithError(ctx, why) : reply_refusal(ctx, rc);
    }
    meet_secret(ctx, &c);
    return creation_reply(ctx, argv[1], &c);
}

/* ---- TAMIS.ADD key item..., TAMIS.HAS key item... ----------------------------------------------- */

static void tell_change(redis_ctx *ctx, redis_string *key, const char *event) {
    redis.ReplicateVerbatim(ctx);
    redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, event, key);
}

int tamis_add_command(redis_ctx *ctx, redis_string **argv, int argc) {
    items t;
    place p = place_open(ctx, argv[1], REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    tamis *filter = place_filter(ctx, &p, argv[1]);
    if (filter && items_take(ctx, &t, p.value, argv + 2, argc - 2)) {
        const tamis_status rc = t.hash ? tamis_add_hashes(filter, t.hash, t.count)
                                       : tamis_add_many(filter, t.key, t.count);
        items_free(&t);
        if (rc) {
            reply_refusal(ctx, rc);
        } else {
            tell_change(ctx, argv[1], "tamis.add");
            redis.ReplyWithLongLong(ctx, argc - 2);
        }
    }
    place_close(&p);
    return REDIS_OK;
}

int tamis_has_command(redis_ctx *ctx, redis_string **argv, int argc) {
    items t;
    place p = place_open(ctx, argv[1], REDIS_READ, ANY_FAMILY);
    tamis *filter = place_filter(ctx, &p, argv[1]);
    if (filter && items_take(ctx, &t, p.value, argv + 2, argc - 2)) {
        items_ask(&t, filter);
        redis.ReplyWithArray(ctx, (long)t.count);
        for (size_t i = 0; i < t.count; i++) reply_bool(ctx, t.hit[i]);
        items_free(&t);
    }
    place_close(&p);
    return REDIS_OK;
}

/* ---- TAMIS.SECRET key ---------------------------------------------------------------------------- */

int tamis_secret_command(redis_ctx *ctx, redis_string **argv, int argc) {
    uint8_t secret[SECRET_BYTES];
    place p = place_open(ctx, argv[1], REDIS_READ, ANY_FAMILY);
    tamis *filter = place_filter(ctx, &p, argv[1]);
    (void)argc;
    if (filter && tamis_secret(filter, secret))
        redis.ReplyWithStringBuffer(ctx, (const char *)secret, sizeof secret);
    else if (filter)
        redis.ReplyWithNull(ctx);
    memset(secret, 0, sizeof secret);
    place_close(&p);
    return REDIS_OK;
}
