/* SPDX-License-Identifier: MIT */
/* apply.c: `tamis apply`, an image and a patch make the next image. */
#include "cli/images/patches.h"

#include <stdlib.h>

/* What is at hand while a patch is applied. */
struct work {
    struct image held; /* the base, where it is replaced */
    struct bytes base, patch, result;
    struct tamis_patch_info info;
    bool is_signed;
    tamis *filter; /* of the result */
};

static int open_all(const struct args *args, struct work *w) {
    int code = bytes_open(&w->base, args, args->operand[0]);
    if (!code) code = bytes_open(&w->patch, args, args->operand[1]);
    if (code) return code;
    w->is_signed = seal_is_there(&w->patch);
    if (given(args, OPT_VERIFY_KEY))
        code = seal_check(args, &w->patch, args->setting[OPT_VERIFY_KEY].text);
    return code;
}

/* The patch without what follows it. */
static size_t patch_size(const struct work *w) {
    return w->patch.size - (w->is_signed ? SEAL_BYTES : 0);
}

/* The patch is for another image, or this one is no longer what it was. */
static int fail_mismatch(const struct args *args, const struct work *w) {
    const struct tamis_options options = image_options(args);
    tamis *filter = NULL;
    const tamis_status status = tamis_view_with(&filter, w->base.at, w->base.size, &options);
    tamis_free(filter);
    if (status == TAMIS_CORRUPT) return fail_why(args, w->base.path, status);
    (void)tamis_patch_fits(w->base.at, w->base.size, &w->info); /* for its sentence */
    return fail(args, w->base.path, "%s (%s)", tamis_why(), w->patch.path);
}

/* Whether the patch is for this image. Only then its sizes are worth some memory. */
static int check_patch(const struct args *args, struct work *w) {
    w->info = (struct tamis_patch_info)TAMIS_PATCH_INFO_INIT;
    tamis_status status = tamis_patch_get_info(w->patch.at, patch_size(w), &w->info);
    if (!status) status = tamis_patch_fits(w->base.at, w->base.size, &w->info);
    if (status == TAMIS_MISMATCH) return fail_mismatch(args, w);
    if (status) return fail_why(args, w->patch.path, status);
    return given(args, OPT_VERIFY_KEY) ? seal_check_base(args, &w->patch, &w->base) : 0;
}

static int make_result(const struct args *args, struct work *w) {
    const uint64_t size = w->info.result_bytes;
    w->result = (struct bytes){.path = output_name(image_target(args))};
    w->result.at = size && size <= SIZE_MAX ? malloc((size_t)size) : NULL;
    if (!w->result.at)
        return size ? fail_memory(args) : fail(args, w->patch.path, "does not produce an image");
    w->result.size = (size_t)size;
    const tamis_status status = tamis_patch_apply(w->base.at, w->base.size, w->patch.at,
                                                  patch_size(w), w->result.at, w->result.size);
    if (status) return fail_why(args, w->patch.path, status);
    if (!given(args, OPT_VERIFY_KEY)) return 0;
    return seal_check_result(args, &w->patch, &w->result);
}

/* The gate, before the result gets a name: a patch may come from anybody. */
static int check_result(const struct args *args, struct work *w) {
    struct bytes named = w->result;
    named.path = w->patch.path; /* its maker is to blame */
    return view_bytes(args, &named, &w->filter);
}

static int write_result(const struct args *args, struct work *w) {
    const char *path = image_target(args);
    struct new_file file;
    if (w->held.edit)
        return file_write_held(args, path, w->held.edit, w->result.at, w->result.size);
    const int code = file_begin(&file, args, path, readers_of(w->filter));
    return code ? code : file_end(&file, file_put(&file, w->result.at, w->result.size));
}

static void report(const struct args *args, const struct work *w) {
    if (w->is_signed && !given(args, OPT_VERIFY_KEY))
        warn(args, w->patch.path, "the patch is signed, but not verified; use --verify KEYFILE");
    if (given(args, OPT_JSON)) {
        struct json json = json_start(stdout);
        json_text(&json, "base", args->operand[0]);
        json_text(&json, "patch", args->operand[1]);
        json_text(&json, "result", image_target(args));
        json_patch(&json, &w->info, w->is_signed);
        json_bool(&json, "is_verified", given(args, OPT_VERIFY_KEY));
        json_end(&json);
    } else {
        image_summary(args, w->filter, image_target(args), "patched", AFTER_CHANGE);
    }
}

static int run(const struct args *args) {
    struct work w = {0};
    int code = check_outputs(args, image_target(args));
    if (!code) code = image_hold(&w.held, args);
    if (!code) code = open_all(args, &w);
    if (!code) code = check_patch(args, &w);
    if (!code) code = make_result(args, &w);
    if (!code) code = check_result(args, &w);
    if (!code) code = write_result(args, &w);
    if (!code) report(args, &w);
    image_close(&w.held);
    tamis_free(w.filter);
    bytes_close(&w.base);
    bytes_close(&w.patch);
    bytes_close(&w.result);
    return code;
}

/* clang-format off */

const struct verb verb_apply = {
    .name = "apply",
    .also = "patch update upgrade",
    .summary = "update an image with a patch",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"PATCH", EXACTLY_ONE, READS_STDIN}),
    .uses = USES(CHANGE_OPTIONS, {.option = OPT_VERIFY_KEY}, {.option = OPT_SECRET_FILE},
                 {.option = OPT_JSON}),
    .examples = EXAMPLES(
        {"Update an image in place", "tamis apply blocklist.tamis tue.patch"},
        {"Write the new image next to the old one",
         "tamis apply mon.tamis tue.patch -o tue.tamis"},
        {"Accept only a patch signed with a known key",
         "tamis apply blocklist.tamis tue.patch --verify release.key.pub"}),
    .about = "Checksums make sure that the patch is for exactly this image, and that the result "
             "is exactly the image given to \"tamis diff\". It is written next to IMAGE and gets "
             "the name once it is complete and has passed the checks of every image; programs "
             "that have the old one mapped continue with the old one.\n\n"
             "Checksums detect accidents, not attackers. With --verify the patch must be signed "
             "with that key, for this image, and produce the image that was signed; otherwise "
             "nothing is written. A signed patch is also applied without --verify, with a "
             "warning.\n\n"
             "--json prints one object: base, patch and result as they were named, base_bytes, "
             "result_bytes, patch_bytes, base_sum and result_sum (XXH3-64 of the images, hex), "
             "is_same, is_whole (the patch holds the new image itself), is_signed, is_verified.",
};
