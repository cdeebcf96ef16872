/* SPDX-License-Identifier: MIT */
/* unxz.c: xz data. By liblzma, where it was built in. */
#include <stdlib.h>

#include "cli/keys/block.h"

#if defined(TAMIS_WITH_LZMA)

#include <lzma.h>

/* What a file may ask for is written in it: `xz -9` needs 65 MiB, the format allows 4 GiB. */
enum { MAX_MEMORY = 1 << 30 };

static bool reset(void *state) {
    return lzma_stream_decoder(state, MAX_MEMORY, 0) == LZMA_OK;
}

static void end(void *state) {
    lzma_end(state);
    free(state);
}

static void *start(void) {
    lzma_stream *stream = malloc(sizeof *stream);
    if (!stream) return NULL;
    *stream = (lzma_stream)LZMA_STREAM_INIT;
    if (reset(stream)) return stream;
    end(stream);
    return NULL;
}

static const char *cause_of(lzma_ret code) {
    switch (code) {
    case LZMA_MEM_ERROR: return "out of memory";
    case LZMA_MEMLIMIT_ERROR: return "it needs more than 1 GiB of memory";
    case LZMA_OPTIONS_ERROR: return "unknown options";
    case LZMA_FORMAT_ERROR: return "trailing data";
    default: return "wrong contents";
    }
}

static enum unpacked step(void *state, struct unpacking *unpacking, char *why, size_t size) {
    lzma_stream *stream = state;
    stream->next_in = unpacking->from;
    stream->avail_in = unpacking->from_len;
    stream->next_out = unpacking->to;
    stream->avail_out = unpacking->room;
    const lzma_ret code = lzma_code(stream, LZMA_RUN);
    *unpacking = (struct unpacking){.from = stream->next_in,
                                    .from_len = stream->avail_in,
                                    .to = stream->next_out,
                                    .room = stream->avail_out};
    if (code == LZMA_STREAM_END) return UNPACKED_WHOLE;
    if (code == LZMA_OK || code == LZMA_BUF_ERROR) return UNPACKED_SOME;
    snprintf(why, size, "the xz data is damaged: %s", cause_of(code));
    return UNPACK_FAILED;
}

const struct packing xz_packing = {
    .name = "xz", .start = start, .step = step, .reset = reset, .end = end};

#else

const struct packing xz_packing = {.name = "xz"};

#endif
