/* SPDX-License-Identifier: MIT */
/* build_image.c: keys to a builder, and what it made to a file; for build and label.
 *
 * While keys are read nothing is on disk under a name, so a signal may end the command at once.
 * While the image is written, a signal asks the builder to stop; unless that is the save that the
 * signal asks for.
 */
#include "cli/cli.h"
#include "cli/images/autosave.h"
#include "tamis_engine.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Options ---- */

static uint64_t half_of_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : 0;
}

/* Whether the directory exists shows only when memory is full; that would be late. */
static int check_dir(const struct args *args, const char *dir) {
    struct stat status;
    if (stat(dir, &status) == 0 && !S_ISDIR(status.st_mode))
        errno = ENOTDIR;
    else if (access(dir, W_OK | X_OK) == 0)
        return 0;
    return fail(args, dir, "cannot create temporary files here: %s", strerror(errno));
}

/* Called by the builder now and then; with a context it may be a save that a signal asked for. */
static bool goes_on(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total) {
    static const char *const doing[] = {[TAMIS_STAGE_SORT] = "sorting",
                                        [TAMIS_STAGE_BUILD] = "building",
                                        [TAMIS_STAGE_VERIFY] = "verifying"};
    const struct keeping *keeping = ctx;
    if ((size_t)stage < sizeof doing / sizeof doing[0]) progress_show(doing[stage], done, total);
    return !is_stopped() || (keeping && keeping->is_on);
}

int builder_options(const struct args *args, struct tamis_builder_options *options,
                    struct tamis_options *filter) {
    *filter = image_options(args);
    *options = (struct tamis_builder_options){
        .struct_size = sizeof *options,
        .filter = filter,
        .memory_limit =
            given(args, OPT_MEMORY) ? args->setting[OPT_MEMORY].number : half_of_memory(),
        .temp_dir = args->setting[OPT_TEMP_DIR].text,
        .threads = threads_wanted(args),
        .verify = given(args, OPT_VERIFY),
        .progress = goes_on,
    };
    return given(args, OPT_TEMP_DIR) ? check_dir(args, options->temp_dir) : 0;
}

/* ---- Keys in ---- */

/* The i-th line went wrong by itself, or the builder as a whole. */
static int fail_take(const struct batch *batch, size_t i, tamis_status status) {
    const struct args *args = batch->keys->args;
    if (status == TAMIS_INVALID)
        return fail_line(batch, i, "%s%s", tamis_why(),
                         given(args, OPT_VALUES) ? "; set their size with value=BITS in a --spec"
                                                 : "");
    const bool is_about_dir = status == TAMIS_IO || status == TAMIS_NOMEM;
    return fail_why(args, is_about_dir ? NULL : input_name(batch->from->name), status);
}

static int take_good(const struct building *building, const struct batch *batch) {
    tamis_status status = TAMIS_OK;
    size_t i = 0;
    for (; i < batch->n && !status; i++)
        status = tamis_builder_exclude_hash(building->builder, batch->hash[i]);
    return status ? fail_take(batch, i - 1, status) : 0;
}

static int take_pairs(const struct building *building, const struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++) {
        const tamis_status status =
            tamis_builder_put_hash(building->builder, batch->hash[i], batch->value[i]);
        if (status) return fail_take(batch, i, status);
    }
    return 0;
}

static int take_members(const struct building *building, const struct batch *batch) {
    const tamis_status status = batch_build(building->builder, batch);
    if (!status) return 0;
    /* None went in, because one may not; which one shows when they come one by one. */
    for (size_t i = 0; batch->keys->takes_keys && i < batch->n; i++) {
        const struct tamis_key *key = &batch->key[i];
        const tamis_status one = tamis_builder_add(building->builder, key->bytes, key->len);
        if (one) return fail_take(batch, i, one);
    }
    return fail_take(batch, 0, status);
}

static int set_label(struct building *building, const char *label) {
    if (!label || label == building->label) return 0;
    const tamis_status status = tamis_builder_label(building->builder, label);
    building->label = label;
    return check_status(building->args, NULL, status);
}

/* A label stands also for a file without keys, and a bad one is told before any file is read. */
static int set_all_labels(struct building *building) {
    int code = 0;
    for (size_t i = 0; i < building->keys->source_count && !code; i++)
        code = set_label(building, building->keys->source[i].label);
    return code;
}

static int take_batch(void *with, struct batch *batch) {
    struct building *building = with;
    const char *label = batch->from->label;
    int code = set_label(building, label ? label : building->usual_label);
    if (code) return code;

    sigset_t before;
    hold_signals(&before); /* A temporary file has a name for a moment. */
    if (batch->from->is_good)
        code = take_good(building, batch);
    else if (given(building->args, OPT_VALUES))
        code = take_pairs(building, batch);
    else
        code = take_members(building, batch);
    release_signals(&before);
    if (!code && building->also) code = building->also(building->also_with, batch);

    if (batch->from->is_good)
        building->good += batch_lines(batch);
    else
        building->lines += batch_lines(batch);
    return code;
}

int builder_take(struct building *building) {
    int code = set_all_labels(building);
    struct handler handler = {.take = take_batch, .with = building};
    if (building->keeping) {
        keys_hash_by(building->keys, building->hasher);
        handler.after = keeping_after;
        handler.after_with = building->keeping;
    } else {
        keys_hash_for(building->keys, building->builder, building->abilities);
    }
    building->keys->threads = threads_wanted(building->args);
    if (!code) code = keys_run(building->keys, &handler);
    if (code || building->lines + building->good > 0 || keys_unusable(building->keys) == 0)
        return code;
    /* Not one key of a list that has lines is a mistake, and would be a quiet no to everything. */
    const struct keys *keys = building->keys;
    return fail(building->args, keys->source_count == 1 ? input_name(keys->source[0].name) : NULL,
                "no line is a key; nothing was written");
}

/* ---- The image out ---- */

/* The library says what went wrong; what to do about it is a matter of options. */
static int fail_build(const struct building *building, tamis_status status) {
    const struct args *args = building->args;
    const bool adds_once = building->abilities & TAMIS_ADDS_ONCE;
    if (status == TAMIS_FULL)
        return fail(args, NULL, "%s lines are too many: %s%s", human_count(building->lines).text,
                    tamis_why(),
                    adds_once ? "; give a larger capacity, or none to have keys counted"
                              : stores_every_add);
    if (status == TAMIS_NOMEM && given(args, OPT_MEMORY))
        return fail(args, NULL, "%s; try a larger --memory", tamis_why());
    return fail_why(args, NULL, status);
}

/* What a memory limit costs that is too small for segments of the usual size. */
static void tell_segments(const struct building *building, const char *path) {
    struct tamis_builder_info info = TAMIS_BUILDER_INFO_INIT;
    tamis_builder_get_info(building->builder, &info);
    if (info.segment == info.segment_asked || given(building->args, OPT_QUIET)) return;
    warn(building->args, output_name(path),
         "because of the memory limit, built in %s segments of %s keys instead of %s: about %.2f "
         "more bits per key; a larger --memory avoids that",
         human_count(info.segments).text, human_count(info.segment).text,
         human_count(info.segment_asked).text, info.bits_more);
}

int builder_make(struct building *building, tamis_edit *edit, tamis **filter) {
    const bool is_kept = building->keeping && building->keeping->is_on;
    if (!is_kept) catch_signals(); /* they are, where it is */
    const tamis_status status = edit ? tamis_edit_build(edit, building->builder)
                                     : tamis_builder_finish(building->builder, filter);
    if (!is_kept) uncatch_signals();
    progress_wipe();
    if (is_stopped() && !is_kept) return EXIT_TROUBLE; /* main does the rest */
    if (status == TAMIS_CONFLICT) return fail_conflict(building);
    return status ? fail_build(building, status) : 0;
}

int builder_write(struct building *building, const char *path, tamis_edit *edit,
                  struct image *image) {
    const struct args *args = building->args;
    const bool to_stdout = is_dash(path);
    tamis_edit *own = NULL;
    *image = (struct image){.path = path};
    if (!to_stdout && !edit) {
        const int code = file_hold(&own, args, path, HOLD_TO_WRITE, TAMIS_READERS_USUAL);
        if (code) return code;
    }

    const int code = builder_make(building, edit ? edit : own, &image->filter);
    tamis_edit_close(own);
    if (code) return code;
    tell_segments(building, path);
    if (to_stdout) return image_write(args, image->filter, path);
    return given(args, OPT_QUIET) && !given(args, OPT_JSON) ? 0
                                                            : image_open(image, args, path, TO_ASK);
}
