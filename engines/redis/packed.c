/* TAMIS.HADD and TAMIS.HHAS: hashes that the client has made, eight bytes each, one behind the other.
 *
 * A key as an argument of its own costs the server more to read than the filter costs to ask; packed
 * hashes cost eight bytes and no more. They are little-endian, as the server is. */
#include <string.h>

#include "engines/redis/commands.h"
#include "engines/redis/reply.h"

enum { HASH_BYTES = 8, MOST_HASHES = 1 << 20 };

/* The hashes of an argument, aligned: where they lie, or copied to *memory. NULL, with the error
 * replied, when it is none. */
static const uint64_t *take_hashes(redis_ctx *ctx, const redis_string *arg, size_t *n,
                                   void **memory) {
    const struct tamis_key packed = key_of(arg);
    *memory = NULL;
    *n = packed.len / HASH_BYTES;
    if (packed.len == 0 || packed.len % HASH_BYTES || *n > MOST_HASHES) {
        reply_error(ctx, "ERR packed hashes have 8 bytes each, 1 to %d of them, not %zu bytes",
                    MOST_HASHES, packed.len);
        return NULL;
    }
    if ((uintptr_t)packed.bytes % HASH_BYTES == 0) return packed.bytes;
    *memory = try_alloc(packed.len);
    if (!*memory) {
        reply_error(ctx, "ERR Insufficient memory");
        return NULL;
    }
    return memcpy(*memory, packed.bytes, packed.len);
}

/* Filters of other systems would answer maybe to everything. */
static bool takes_hashes(redis_ctx *ctx, const value *v) {
    if (!v->hashes_itself) return true;
    reply_error(ctx, "ERR this filter hashes keys by itself: it takes no hashes");
    return false;
}

int tamis_hadd_command(redis_ctx *ctx, redis_string **argv, int argc) {
    void *memory = NULL;
    size_t n;
    place p = place_open(ctx, argv[1], REDIS_READ | REDIS_WRITE, ANY_FAMILY);
    tamis *filter = place_filter(ctx, &p, argv[1]);
    const uint64_t *hashes =
        filter && takes_hashes(ctx, p.value) ? take_hashes(ctx, argv[2], &n, &memory) : NULL;
    (void)argc;
    if (hashes) {
        const tamis_status rc = tamis_add_hashes(filter, hashes, n);
        if (rc) {
            reply_error(ctx, "%s %s", rc == TAMIS_MISMATCH ? "WRONGSHARD" : "ERR", tamis_why());
        } else {
            redis.ReplicateVerbatim(ctx);
            redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tamis.add", argv[1]);
            redis.ReplyWithLongLong(ctx, (long long)n);
        }
    }
    redis.Free(memory);
    place_close(&p);
    return REDIS_OK;
}

/* Eight answers in a byte, the first in its lowest bit. */
static void pack_bits(uint8_t *hit, size_t n) {
    for (size_t at = 0; at < n; at += 8) {
        uint8_t byte = 0;
        for (size_t i = at; i < n && i < at + 8; i++) byte |= (uint8_t)(hit[i] << (i - at));
        hit[at / 8] = byte;
    }
}

static void reply_bits(redis_ctx *ctx, const tamis *filter, const uint64_t *hashes, size_t n) {
    enum { FEW = 1 << 14 };
    uint8_t few[FEW], *hit = n <= FEW ? few : try_alloc(n);
    if (!hit) {
        reply_error(ctx, "ERR Insufficient memory");
        return;
    }
    tamis_has_hashes(filter, hashes, n, hit);
    pack_bits(hit, n);
    redis.ReplyWithStringBuffer(ctx, (const char *)hit, (n + 7) / 8);
    if (hit != few) redis.Free(hit);
}

int tamis_hhas_command(redis_ctx *ctx, redis_string **argv, int argc) {
    void *memory = NULL;
    size_t n;
    place p = place_open(ctx, argv[1], REDIS_READ, ANY_FAMILY);
    tamis *filter = place_filter(ctx, &p, argv[1]);
    const uint64_t *hashes =
        filter && takes_hashes(ctx, p.value) ? take_hashes(ctx, argv[2], &n, &memory) : NULL;
    (void)argc;
    if (hashes) reply_bits(ctx, filter, hashes, n);
    redis.Free(memory);
    place_close(&p);
    return REDIS_OK;
}
