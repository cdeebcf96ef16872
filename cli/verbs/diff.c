/* SPDX-License-Identifier: MIT */
/* diff.c: `tamis diff`, what turns one image into another. */
#include "cli/images/patches.h"

#include <stdlib.h>

/* A patch on its way out. The file is begun with the first byte, because up to there the library
 * only counts, and a user who does not want to wait can end it at once. */
struct outgoing {
    const struct args *args;
    struct new_file file;
    struct seal *seal; /* NULL: not signed */
    bool is_begun;
    enum tamis_readers readers; /* of the images: a patch may hold what is secret in them */
    struct tamis_patch_info info;
};

static bool put_patch(void *ctx, const void *bytes, size_t size) {
    struct outgoing *out = ctx;
    if (!out->is_begun) {
        const char *path = out->args->setting[OPT_OUTPUT].text;
        if (file_begin(&out->file, out->args, path, out->readers)) return false;
        out->is_begun = true;
    }
    if (out->seal) seal_more(out->seal, bytes, size);
    return file_put(&out->file, bytes, size);
}

static int write_patch(struct outgoing *out, const struct bytes *base, const struct bytes *result) {
    out->info = (struct tamis_patch_info)TAMIS_PATCH_INFO_INIT;
    const tamis_status status = tamis_patch_make(base->at, base->size, result->at, result->size,
                                                 &out->info, put_patch, out);
    if (!out->is_begun) return EXIT_TROUBLE; /* The reason is told. */
    bool is_good = status == TAMIS_OK;
    if (is_good && out->seal) {
        uint8_t sealed[SEAL_BYTES];
        seal_end(out->seal, base, result, sealed);
        is_good = file_put(&out->file, sealed, sizeof sealed);
    }
    return file_end(&out->file, is_good);
}

static void print_summary(const struct args *args, const struct tamis_patch_info *info) {
    const char *name = output_name(args->setting[OPT_OUTPUT].text);
    const double share = (double)info->patch_bytes / (double)info->result_bytes;
    if (info->base_sum == info->result_sum && info->base_bytes == info->result_bytes)
        fprintf(stderr, "%s: the images are the same, the patch is empty\n", name);
    else if (info->is_whole)
        fprintf(stderr, "%s: %s, as large as the new image: nearly everything changed\n", name,
                human_bytes(info->patch_bytes).text);
    else
        fprintf(stderr, "%s: %s, %s of the new image%s\n", name,
                human_bytes(info->patch_bytes).text, human_share(share).text,
                share > 0.5 ? ": most of it changed" : "");
}

static void report(const struct args *args, const struct outgoing *out) {
    if (given(args, OPT_JSON)) {
        struct json json = json_start(stdout);
        json_text(&json, "base", args->operand[0]);
        json_text(&json, "result", args->operand[1]);
        json_text(&json, "patch", args->setting[OPT_OUTPUT].text);
        json_patch(&json, &out->info, out->seal != NULL);
        json_end(&json);
    } else if (!given(args, OPT_QUIET)) {
        print_summary(args, &out->info);
    }
}

/* Only images have patches: what is damaged is found here, not on another machine. */
static int open_image(const struct args *args, const char *path, struct bytes *bytes,
                      struct outgoing *out) {
    tamis *filter = NULL;
    int code = bytes_open(bytes, args, path);
    if (!code) code = view_bytes(args, bytes, &filter);
    if (!code && readers_of(filter) != TAMIS_READERS_USUAL) out->readers = readers_of(filter);
    tamis_free(filter);
    return code;
}

static int run(const struct args *args) {
    const char *output = args->setting[OPT_OUTPUT].text;
    struct bytes base = {0}, result = {0};
    struct outgoing out = {.args = args};
    int code = check_outputs(args, output);
    if (!code) code = file_may_write(args, output, "a patch");
    if (!code && given(args, OPT_SIGN))
        code = seal_start(&out.seal, args, args->setting[OPT_SIGN].text);
    if (!code) code = open_image(args, args->operand[0], &base, &out);
    if (!code) code = open_image(args, args->operand[1], &result, &out);
    if (!code) code = write_patch(&out, &base, &result);
    if (!code) report(args, &out);
    seal_free(out.seal);
    bytes_close(&base);
    bytes_close(&result);
    return code;
}

/* clang-format off */

const struct verb verb_diff = {
    .name = "diff",
    .also = "patch delta changes",
    .summary = "make a patch that turns one image into another",
    .run = run,
    .operands = OPERANDS({"OLD", EXACTLY_ONE, READS_STDIN}, {"NEW", EXACTLY_ONE, READS_STDIN}),
    .uses = USES({.option = OPT_OUTPUT, .is_required = true,
                  .help = "where to write the patch (-: standard output)"},
                 {.option = OPT_FORCE}, {.option = OPT_WAIT}, {.option = OPT_SIGN},
                 {.option = OPT_SECRET_FILE},
                 {.option = OPT_JSON}),
    .examples = EXAMPLES(
        {"Make a patch for everyone who has yesterday's image",
         "tamis diff mon.tamis tue.tamis -o tue.patch"},
        {"Sign the patch", "tamis diff mon.tamis tue.tamis -o tue.patch --sign release.key"},
        {"Apply it on the other side",
         "tamis apply mon.tamis tue.patch -o tue.tamis --verify release.key.pub"}),
    .about = "A patch is small if few keys were added or removed: about 40 bits per added key in "
             "a blocked filter. For kinds that are built once (fuse, ribbon, gcs, ...) a "
             "different set of keys changes the image from the first bit to the last, and the "
             "patch is as large as the image: send the image itself instead.\n\n"
             "A patch holds the checksums of both images. \"tamis apply\" refuses it for any "
             "image other than OLD, and what it produces is NEW, byte for byte.\n\n"
             "--json prints one object: base, result and patch as they were named, base_bytes, "
             "result_bytes, patch_bytes, base_sum and result_sum (XXH3-64 of the images, hex), "
             "is_same, is_whole (the patch holds NEW itself), is_signed.",
    .exits = "0 the patch was written, even if it is empty; 2 error.",
};
