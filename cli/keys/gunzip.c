/* SPDX-License-Identifier: MIT */
/* gunzip.c: gzip data. By zlib, where it was built in. */
#include <stdlib.h>

#include "cli/keys/block.h"

#if defined(TAMIS_WITH_ZLIB)

#include <zlib.h>

static void *start(void) {
    enum { GZIP_ONLY = 16 };
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream && inflateInit2(stream, MAX_WBITS + GZIP_ONLY) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static void end(void *state) {
    inflateEnd(state);
    free(state);
}

static bool reset(void *state) {
    return inflateReset(state) == Z_OK;
}

static enum unpacked step(void *state, struct unpacking *unpacking, char *why, size_t size) {
    z_stream *stream = state;
    stream->next_in = (Bytef *)(uintptr_t)unpacking->from; /* zlib only reads it */
    stream->avail_in = (uInt)unpacking->from_len;
    stream->next_out = unpacking->to;
    stream->avail_out = (uInt)unpacking->room;
    const int code = inflate(stream, Z_NO_FLUSH);
    *unpacking = (struct unpacking){.from = stream->next_in,
                                    .from_len = stream->avail_in,
                                    .to = stream->next_out,
                                    .room = stream->avail_out};
    if (code == Z_STREAM_END) return UNPACKED_WHOLE;
    if (code == Z_OK || code == Z_BUF_ERROR) return UNPACKED_SOME;
    snprintf(why, size, "the gzip data is damaged: %s", stream->msg ? stream->msg : zError(code));
    return UNPACK_FAILED;
}

const struct packing gzip_packing = {
    .name = "gzip", .start = start, .step = step, .reset = reset, .end = end};

#else

const struct packing gzip_packing = {.name = "gzip"};

#endif
