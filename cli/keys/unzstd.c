/* SPDX-License-Identifier: MIT */
/* unzstd.c: zstd data, one frame or several concatenated. By libzstd, where it was built in.
 *
 * A frame says how far it looks back. The library's own limit on that, 128 MiB, is ours too: what
 * was made with --long=28 or more is refused by it.
 */
#include "cli/keys/block.h"

#if defined(TAMIS_WITH_ZSTD)

#include <zstd.h>

static void *start(void) {
    return ZSTD_createDStream();
}

static void end(void *state) {
    ZSTD_freeDStream(state);
}

static enum unpacked step(void *state, struct unpacking *unpacking, char *why, size_t size) {
    ZSTD_inBuffer in = {.src = unpacking->from, .size = unpacking->from_len};
    ZSTD_outBuffer out = {.dst = unpacking->to, .size = unpacking->room};
    const size_t code = ZSTD_decompressStream(state, &out, &in);
    unpacking->from += in.pos, unpacking->from_len -= in.pos;
    unpacking->to += out.pos, unpacking->room -= out.pos;
    if (!ZSTD_isError(code)) return code == 0 ? UNPACKED_WHOLE : UNPACKED_SOME;
    snprintf(why, size, "the zstd data is damaged: %s", ZSTD_getErrorName(code));
    return UNPACK_FAILED;
}

const struct packing zstd_packing = {.name = "zstd", .start = start, .step = step, .end = end};

#else

const struct packing zstd_packing = {.name = "zstd"};

#endif
