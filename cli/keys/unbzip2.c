/* SPDX-License-Identifier: MIT */
/* unbzip2.c: bzip2 data. By libbz2, where it was built in. */
#include <stdlib.h>

#include "cli/keys/block.h"

#if defined(TAMIS_WITH_BZIP2)

#include <bzlib.h>

static void *start(void) {
    bz_stream *stream = calloc(1, sizeof *stream);
    if (stream && BZ2_bzDecompressInit(stream, 0, 0) != BZ_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static void end(void *state) {
    BZ2_bzDecompressEnd(state);
    free(state);
}

static bool reset(void *state) {
    BZ2_bzDecompressEnd(state);
    return BZ2_bzDecompressInit(state, 0, 0) == BZ_OK;
}

static enum unpacked step(void *state, struct unpacking *unpacking, char *why, size_t size) {
    bz_stream *stream = state;
    stream->next_in = (char *)(uintptr_t)unpacking->from; /* it is only read */
    stream->avail_in = (unsigned)unpacking->from_len;
    stream->next_out = (char *)unpacking->to;
    stream->avail_out = (unsigned)unpacking->room;
    const int code = BZ2_bzDecompress(stream);
    *unpacking = (struct unpacking){.from = (const uint8_t *)stream->next_in,
                                    .from_len = stream->avail_in,
                                    .to = (uint8_t *)stream->next_out,
                                    .room = stream->avail_out};
    if (code == BZ_STREAM_END) return UNPACKED_WHOLE;
    if (code == BZ_OK) return UNPACKED_SOME;
    snprintf(why, size, "the bzip2 data is damaged: %s",
             code == BZ_DATA_ERROR_MAGIC ? "trailing data"
             : code == BZ_MEM_ERROR      ? "out of memory"
                                         : "wrong contents");
    return UNPACK_FAILED;
}

const struct packing bzip2_packing = {
    .name = "bzip2", .start = start, .step = step, .reset = reset, .end = end};

#else

const struct packing bzip2_packing = {.name = "bzip2"};

#endif
