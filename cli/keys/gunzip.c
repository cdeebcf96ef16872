/* SPDX-License-Identifier: MIT */
/* gunzip.c: gzip data, one member or several concatenated. By zlib, where it was built in. */
#include <stdlib.h>

#include "cli/keys/block.h"

#if defined(TAMIS_WITH_ZLIB)

#include <zlib.h>

struct gunzip {
    z_stream stream;
    bool is_between; /* a part has ended, and none began */
    bool is_padded;  /* by zeros, as tapes do; nothing may follow them */
};

static void *start(void) {
    enum { GZIP_ONLY = 16 };
    struct gunzip *gunzip = calloc(1, sizeof *gunzip);
    if (gunzip && inflateInit2(&gunzip->stream, MAX_WBITS + GZIP_ONLY) != Z_OK) {
        free(gunzip);
        return NULL;
    }
    return gunzip;
}

static void end(void *state) {
    struct gunzip *gunzip = state;
    inflateEnd(&gunzip->stream);
    free(gunzip);
}

static enum unpacked fail_with(char *why, size_t size, const char *cause) {
    snprintf(why, size, "the gzip data is damaged: %s", cause);
    return UNPACK_FAILED;
}

static enum unpacked inflate_some(struct gunzip *gunzip, struct unpacking *unpacking, char *why,
                                  size_t size) {
    z_stream *stream = &gunzip->stream;
    stream->next_in = (Bytef *)(uintptr_t)unpacking->from; /* zlib only reads it */
    stream->avail_in = (uInt)unpacking->from_len;
    stream->next_out = unpacking->to;
    stream->avail_out = (uInt)unpacking->room;
    const int code = inflate(stream, Z_NO_FLUSH);
    *unpacking = (struct unpacking){.from = stream->next_in,
                                    .from_len = stream->avail_in,
                                    .to = stream->next_out,
                                    .room = stream->avail_out};
    gunzip->is_between = code == Z_STREAM_END;
    if (gunzip->is_between) return UNPACKED_WHOLE;
    if (code == Z_OK || code == Z_BUF_ERROR) return UNPACKED_SOME;
    return fail_with(why, size, stream->msg ? stream->msg : zError(code));
}

static enum unpacked step(void *state, struct unpacking *unpacking, char *why, size_t size) {
    struct gunzip *gunzip = state;
    if (!gunzip->is_between) return inflate_some(gunzip, unpacking, why, size);
    if (unpacking->from_len == 0) return UNPACKED_WHOLE;
    if (*unpacking->from == 0) {
        gunzip->is_padded = true;
        unpacking->from++, unpacking->from_len--;
        return UNPACKED_WHOLE;
    }
    if (gunzip->is_padded) return fail_with(why, size, "trailing data");
    if (inflateReset(&gunzip->stream) != Z_OK) return fail_with(why, size, "no progress");
    return inflate_some(gunzip, unpacking, why, size);
}

const struct packing gzip_packing = {.name = "gzip", .start = start, .step = step, .end = end};

#else

const struct packing gzip_packing = {.name = "gzip"};

#endif
