/* SPDX-License-Identifier: MIT */
/* apply.c: `tamis apply`, an image and patches make the next image. */
#include "cli/images/patches.h"

#include <inttypes.h>

/* What is at hand while patches are applied. */
struct work {
    struct image held; /* the base, where it is replaced */
    struct bytes base, result;
    struct version start, end;
    struct patches patches;
    tamis *filter; /* of the result */
};

static int open_all(const struct args *args, struct work *w) {
    int code = bytes_open(&w->base, args, args->operand[0]);
    if (!code) code = patches_open(&w->patches, args, args->operand + 1, args->operand_count - 1);
    if (code) return code;
    w->start = version_of(w->base.at, w->base.size);
    patches_chain(&w->patches, w->start);
    w->end = w->patches.steps ? w->patches.at[w->patches.steps - 1].result : w->start;
    return 0;
}

/* ---- What is wrong with them ---- */

/* The patch is for another image, or this one is no longer what it was. */
static int fail_mismatch(const struct args *args, const struct work *w) {
    const struct tamis_options options = image_options(args);
    const struct patch *patch = w->patches.at;
    tamis *filter = NULL;
    const tamis_status status = tamis_view_with(&filter, w->base.at, w->base.size, &options);
    tamis_free(filter);
    if (status == TAMIS_CORRUPT) return fail_why(args, w->base.path, status);
    (void)tamis_patch_fits(w->base.at, w->base.size, &patch->info); /* for its sentence */
    return fail(args, w->base.path, "%s (%s)", tamis_why(), patch->bytes.path);
}

static int fail_gap(const struct args *args, const struct work *w) {
    const struct patches *patches = &w->patches;
    const struct patch *lost = &patches->at[patches->steps + patches->past];
    return fail(args, lost->bytes.path,
                "the patch is for the image with checksum %016" PRIx64 ", but the others lead to "
                "%016" PRIx64 ": what leads from that to this one is missing",
                lost->base.sum, w->end.sum);
}

static int fail_fork(const struct args *args, const struct patches *patches) {
    size_t i = 0;
    while (!version_is(patches->at[i].base, patches->fork->base)) i++;
    return fail(args, patches->fork->bytes.path,
                "the patch is for the same image as %s, with another result: which of them?",
                patches->at[i].bytes.path);
}

/* One patch that was named is to be applied; of many, some may have been. */
static int check_chain(const struct args *args, const struct work *w) {
    const struct patches *patches = &w->patches;
    if (patches->n == 1 && patches->steps == 0 && !version_is(patches->at->base, w->start))
        return fail_mismatch(args, w);
    if (patches->fork) return fail_fork(args, patches);
    return patches->steps + patches->past < patches->n ? fail_gap(args, w) : 0;
}

/* ---- Applying ---- */

/* Each one on what the one before made; of that only the last has to pass the gate. */
static int apply_all(const struct args *args, struct work *w) {
    struct bytes at = w->base;
    int code = 0;
    for (size_t i = 0; i < w->patches.steps && !code; i++) {
        code = patch_apply(args, &w->patches.at[i], &at, &w->result);
        if (at.at != w->base.at) bytes_close(&at);
        at = w->result;
    }
    if (!code && w->patches.steps == 0) { /* An image of its own all the same. */
        w->result = w->base;
        w->base = (struct bytes){0};
    }
    return code ? code : view_bytes(args, &w->result, &w->filter);
}

static int write_result(const struct args *args, struct work *w) {
    const char *path = image_target(args);
    struct new_file file;
    if (w->held.edit && version_is(w->start, w->end)) return 0;
    if (w->held.edit)
        return file_write_held(args, path, w->held.edit, w->result.at, w->result.size);
    const int code = file_begin(&file, args, path, readers_of(w->filter));
    return code ? code : file_end(&file, file_put(&file, w->result.at, w->result.size));
}

/* ---- Reporting ---- */

static void write_steps(struct json *json, const struct args *args, const struct work *w) {
    json_open(json, "patches", '[');
    for (size_t i = 0; i < w->patches.n; i++) {
        const struct patch *patch = &w->patches.at[i];
        json_open(json, NULL, '{');
        json_text(json, "patch", patch->path);
        json_patch(json, &patch->info, patch->is_signed);
        json_bool(json, "is_applied", i < w->patches.steps);
        json_bool(json, "is_verified", i < w->patches.steps && given(args, OPT_VERIFY_KEY));
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Of all that were applied, as if they were one. */
static void write_json(const struct args *args, const struct work *w) {
    struct tamis_patch_info whole = {.base_bytes = w->start.bytes,
                                     .base_sum = w->start.sum,
                                     .result_bytes = w->end.bytes,
                                     .result_sum = w->end.sum};
    bool is_signed = w->patches.steps > 0;
    for (size_t i = 0; i < w->patches.steps; i++) {
        const struct patch *patch = &w->patches.at[i];
        whole.patch_bytes += patch->bytes.size;
        whole.is_whole = whole.is_whole || patch->info.is_whole;
        is_signed = is_signed && patch->is_signed;
    }
    if (is_signed) whole.patch_bytes -= SEAL_BYTES; /* json_patch adds one */
    struct json json = json_start(stdout);
    json_text(&json, "base", args->operand[0]);
    json_text(&json, "patch", w->patches.n == 1 ? w->patches.at->path : NULL);
    json_text(&json, "result", image_target(args));
    json_patch(&json, &whole, is_signed);
    json_bool(&json, "is_verified", w->patches.steps > 0 && given(args, OPT_VERIFY_KEY));
    write_steps(&json, args, w);
    json_end(&json);
}

static struct human describe(const struct patches *patches) {
    struct human what = {"patched"};
    if (patches->n == 1) return what;
    what = patches->steps ? human_words("patched in %s", human_number(patches->steps, "step").text)
                          : human_words("already up to date");
    if (!patches->past) return what;
    return human_words("%s (%s of %s patches were applied before)", what.text,
                       human_count(patches->past).text, human_count(patches->n).text);
}

static void report(const struct args *args, const struct work *w) {
    for (size_t i = 0; i < w->patches.steps && !given(args, OPT_VERIFY_KEY); i++)
        if (w->patches.at[i].is_signed) {
            warn(args, w->patches.at[i].bytes.path,
                 "the patch is signed, but not verified; use --verify KEYFILE");
            break;
        }
    if (given(args, OPT_JSON))
        write_json(args, w);
    else
        image_summary(args, w->filter, image_target(args), describe(&w->patches).text,
                      AFTER_CHANGE);
}

static int run(const struct args *args) {
    struct work w = {0};
    int code = check_outputs(args, image_target(args));
    if (!code) code = image_hold(&w.held, args);
    if (!code) code = open_all(args, &w);
    if (!code) code = check_chain(args, &w);
    if (!code) code = apply_all(args, &w);
    if (!code) code = write_result(args, &w);
    if (!code) report(args, &w);
    image_close(&w.held);
    tamis_free(w.filter);
    patches_close(&w.patches);
    bytes_close(&w.base);
    bytes_close(&w.result);
    return code;
}

/* clang-format off */

const struct verb verb_apply = {
    .name = "apply",
    .also = "patch update upgrade",
    .summary = "update an image with one patch or several",
    .run = run,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}, {"PATCH", ONE_OR_MORE, READS_STDIN}),
    .uses = USES(CHANGE_OPTIONS, {.option = OPT_VERIFY_KEY}, {.option = OPT_SECRET_FILE},
                 {.option = OPT_JSON}),
    .examples = EXAMPLES(
        {"Update an image in place", "tamis apply blocklist.tamis tue.patch"},
        {"Write the new image next to the old one",
         "tamis apply mon.tamis tue.patch -o tue.tamis"},
        {"Catch up with a week, from a directory of patches",
         "tamis apply blocklist.tamis patches/ --verify release.key.pub"},
        {"Accept only a patch signed with a known key",
         "tamis apply blocklist.tamis tue.patch --verify release.key.pub"}),
    .about = "Checksums make sure that the patch is for exactly this image, and that the result "
             "is exactly the image given to \"tamis diff\". It is written next to IMAGE and gets "
             "the name once it is complete and has passed the checks of every image; programs "
             "that have the old one mapped continue with the old one.\n\n"
             "Several patches, or a directory of them, may be given in any order: their checksums "
             "say which follows which. Those that are already applied are skipped. The last result "
             "replaces IMAGE once; if a patch is missing, damaged or not signed as --verify wants "
             "it, nothing is written.\n\n"
             "Checksums detect accidents, not attackers. With --verify the patch must be signed "
             "with that key, for this image, and produce the image that was signed; otherwise "
             "nothing is written. A signed patch is also applied without --verify, with a "
             "warning.\n\n"
             "--json prints one object: base, patch and result as they were named, base_bytes, "
             "result_bytes, patch_bytes, base_sum and result_sum (XXH3-64 of the images, hex), "
             "is_same, is_whole (a patch holds a new image itself), is_signed, is_verified; and "
             "patches, an array with the same about each patch, in their order, and is_applied.",
};
