/* SPDX-License-Identifier: MIT */
/* The server's secret in its files; TAMIS.SECRET and TAMIS.ADOPT. */
#include "engines/redis/server_secret.h"

#include <string.h>
#include <unistd.h>

#include "engines/redis/commands.h"
#include "engines/redis/settings.h"
#include "engines/redis/work.h"

/* ---- RDB ------------------------------------------------------------------------------------- */

void secret_save(redis_io *io, int when) {
    (void)when;
    redis.SaveStringBuffer(io, (const char *)settings_secret(), SECRET_BYTES);
}

int secret_load(redis_io *io, int encoding, int when) {
    size_t size = 0;
    char *bytes = redis.LoadStringBuffer(io, &size);
    const bool is_good = bytes && size == SECRET_BYTES;
    (void)encoding, (void)when;
    if (is_good)
        settings_adopt_secret((const uint8_t *)bytes);
    else
        redis.LogIOError(io, "warning", "the secret in the file has %zu bytes, not %d", size,
                         SECRET_BYTES);
    redis.Free(bytes);
    return is_good ? REDIS_OK : REDIS_ERR;
}

/* ---- AOF ------------------------------------------------------------------------------------- */

void secret_note(redis_ctx *ctx) {
    static uint8_t noted[SECRET_BYTES];
    const uint8_t *secret = settings_secret();
    const bool has_file = redis.GetContextFlags(ctx) & REDIS_HAS_AOF;
    if (!has_file || memcmp(noted, secret, sizeof noted) == 0) return;
    memcpy(noted, secret, sizeof noted);
    redis.Replicate(ctx, "TAMIS.ADOPT", "b", (const char *)secret, (size_t)SECRET_BYTES);
}

/* Each file is written by a process of its own, and needs it once. */
void secret_rewrite(redis_io *io) {
    static pid_t writer;
    if (writer == getpid()) return;
    writer = getpid();
    redis.EmitAOF(io, "TAMIS.ADOPT", "b", (const char *)settings_secret(), (size_t)SECRET_BYTES);
}

/* ---- TAMIS.ADOPT secret ---------------------------------------------------------------------- */

int tamis_adopt_command(request *r) {
    const struct tamis_key told = key_of(r->argv[1]);
    if (bounds_bind())
        return reply_error(r->ctx, "ERR TAMIS.ADOPT is for primaries and append-only files: "
                                   "use CONFIG SET tamis.secret");
    if (told.len != SECRET_BYTES) return reply_error(r->ctx, "ERR a secret has 16 bytes");
    settings_adopt_secret(told.bytes);
    request_replicate(r);
    return reply_ok(r->ctx);
}

/* ---- TAMIS.SECRET key ------------------------------------------------------------------------ */

int tamis_secret_command(request *r) {
    uint8_t secret[SECRET_BYTES];
    const value *v = request_value(r, NULL);
    if (v && tamis_secret(v->filter, secret))
        redis.ReplyWithStringBuffer(r->ctx, (const char *)secret, sizeof secret);
    else if (v)
        redis.ReplyWithNull(r->ctx);
    memset(secret, 0, sizeof secret);
    return REDIS_OK;
}
