/* SPDX-License-Identifier: MIT */
/* images.c: opening, writing and summing up images.
 *
 * A file is read into memory of our own, so that changing or truncating it changes no answer; a
 * large one that is only asked is mapped, where the system keeps others from changing it (held.c).
 * What comes through a pipe is read whole and viewed or loaded from memory. */
#include "cli/cli.h"
#include "cli/images/foreign_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tamis_options image_options(const struct args *args) {
    struct tamis_options options = {.struct_size = sizeof options};
    if (args->has_secret) options.secret = args->secret;
    if (given(args, OPT_THREADS)) options.threads = threads_wanted(args);
    return options;
}

unsigned threads_wanted(const struct args *args) {
    const uint64_t wanted = args->setting[OPT_THREADS].number;
    if (wanted > 0) return wanted < UINT_MAX ? (unsigned)wanted : UINT_MAX;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

uint64_t memory_wanted(const struct args *args) {
    if (given(args, OPT_MEMORY)) return args->setting[OPT_MEMORY].number;
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : (uint64_t)256 << 20;
}

/* ---- Opening ---- */

static tamis_status open_bytes(struct image *image, const struct args *args, uint8_t *bytes,
                               size_t len, enum image_mode mode) {
    const struct tamis_options options = image_options(args);
    if (mode == TO_CHANGE) {
        const tamis_status status = tamis_load_with(&image->filter, bytes, len, &options);
        free(bytes);
        return status;
    }
    image->bytes = bytes; /* The view looks at them until image_close. */
    return tamis_view_with(&image->filter, bytes, len, &options);
}

/* Opens what is no file. A reading error is reported and `code` set; what the gate says is
 * returned. */
static tamis_status open_stream(struct image *image, const struct args *args, enum image_mode mode,
                                int *code) {
    const bool is_stdin = is_dash(image->path);
    const int fd = is_stdin ? STDIN_FILENO : open(image->path, O_RDONLY | O_CLOEXEC);
    uint8_t *bytes = NULL;
    size_t len = 0;
    if (fd < 0) {
        *code = fail(args, image->path, "cannot open: %s", strerror(errno));
        return TAMIS_OK;
    }
    *code = stream_read(args, fd, input_name(image->path), &bytes, &len);
    if (!is_stdin) close(fd);
    if (!*code) return open_bytes(image, args, bytes, len, mode);
    free(bytes);
    return TAMIS_OK;
}

static bool is_stream(const char *path) {
    struct stat status;
    return is_dash(path) ||
           (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)));
}

static tamis_status open_file(struct image *image, const struct args *args, enum image_mode mode) {
    const struct tamis_options options = image_options(args);
    const void *bytes;
    size_t size;
    if (mode == TO_ASK) image->held = held_open(image->path, &bytes, &size);
    return image->held ? tamis_view_with(&image->filter, bytes, size, &options)
                       : tamis_read_with(&image->filter, image->path, &options);
}

static int try_own(struct image *image, const struct args *args, const char *path,
                   enum image_mode mode, tamis_status *status) {
    int code = 0;
    *image = (struct image){.path = path};
    *status =
        is_stream(path) ? open_stream(image, args, mode, &code) : open_file(image, args, mode);
    return code;
}

int image_try(struct image *image, const struct args *args, const char *path, enum image_mode mode,
              tamis_status *status) {
    return given(args, OPT_FROM) ? foreign_try(image, args, path, status)
                                 : try_own(image, args, path, mode, status);
}

static int check_opened(const struct image *image, const struct args *args, int code,
                        tamis_status status) {
    const char *name = input_name(image->path);
    if (!code && status == TAMIS_CORRUPT && !given(args, OPT_FROM) &&
        file_starts_as_text(image->path))
        return fail(args, name,
                    "this is text, not a Tamis image; \"tamis build\" makes one of a list");
    if (!code && status) return fail_why(args, name, status);
    return code ? code : form_is_that_of(args, name, image->filter);
}

int image_open(struct image *image, const struct args *args, const char *path,
               enum image_mode mode) {
    tamis_status status = TAMIS_OK;
    const int code = image_try(image, args, path, mode, &status);
    return check_opened(image, args, code, status);
}

int image_open_own(struct image *image, const struct args *args, const char *path,
                   enum image_mode mode) {
    tamis_status status = TAMIS_OK;
    const int code = try_own(image, args, path, mode, &status);
    return check_opened(image, args, code, status);
}

bool file_is_image(const char *path) {
    static const uint8_t magic[8] = {0xd6, 't', 'a', 'm', 'i', 's', 0x1a, 0x0a};
    return file_starts_with(path, magic);
}

const char *image_target(const struct args *args) {
    return given(args, OPT_OUTPUT) ? args->setting[OPT_OUTPUT].text : args->operand[0];
}

/* Also by another name of the same file. */
static bool is_in_place(const struct args *args) {
    struct stat from, to;
    const char *path = args->operand[0];
    if (is_dash(path)) return false;
    if (!given(args, OPT_OUTPUT)) return true;
    return stat(path, &from) == 0 && stat(image_target(args), &to) == 0 &&
           from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

int image_hold(struct image *image, const struct args *args) {
    /* A file that is changed in place is there, of course: that needs no --force. */
    int code = given(args, OPT_OUTPUT) || is_dash(args->operand[0])
                   ? image_may_write(args, image_target(args))
                   : 0;
    if (code || !is_in_place(args)) return code;
    image->path = args->operand[0];
    return file_hold(&image->edit, args, image->path, HOLD_TO_CHANGE, TAMIS_READERS_USUAL);
}

static int read_held(struct image *image, const struct args *args) {
    const tamis_status status = tamis_edit_read(image->edit, &image->filter);
    if (status) return fail_why(args, image->path, status);
    return form_is_that_of(args, image->path, image->filter);
}

int image_open_to_change(struct image *image, const struct args *args) {
    const int code = image_hold(image, args);
    if (code) return code;
    return image->edit ? read_held(image, args)
                       : image_open(image, args, args->operand[0], TO_CHANGE);
}

int image_open_held(struct image *image, const struct args *args, const char *path,
                    enum hold_for what) {
    *image = (struct image){.path = path};
    const int code = file_hold(&image->edit, args, path, what, TAMIS_READERS_USUAL);
    return code || tamis_edit_is_new(image->edit) ? code : read_held(image, args);
}

void image_close(struct image *image) {
    tamis_free(image->filter);
    held_close(image->held);
    tamis_edit_close(image->edit);
    free(image->bytes);
    *image = (struct image){0};
}

/* ---- Writing ---- */

int image_may_write(const struct args *args, const char *path) {
    return file_may_write(args, path, "an image");
}

static int write_stdout(const struct args *args, const tamis *filter) {
    const uint64_t size = tamis_image_size(filter);
    void *bytes = size <= SIZE_MAX ? malloc((size_t)size) : NULL;
    if (!bytes) return fail_memory(args);
    int code = 0;
    const tamis_status status = tamis_serialize(filter, bytes, (size_t)size);
    if (status)
        code = fail_why(args, output_name("-"), status);
    else if (fwrite(bytes, 1, (size_t)size, stdout) < size || !flush_output())
        code = EXIT_TROUBLE; /* finish_output says why */
    if (readers_of(filter) != TAMIS_READERS_USUAL) wipe_secret(bytes, (size_t)size);
    free(bytes);
    return code;
}

static int save_held(const struct args *args, const tamis *filter, const char *path,
                     tamis_edit *edit) {
    sigset_t before;
    hold_signals(&before);
    const tamis_status status = tamis_edit_save(edit, filter);
    release_signals(&before);
    return check_status(args, path, status);
}

int image_write(const struct args *args, const tamis *filter, const char *path) {
    tamis_edit *edit;
    if (is_dash(path)) return write_stdout(args, filter);
    int code = file_hold(&edit, args, path, HOLD_TO_WRITE, TAMIS_READERS_USUAL);
    if (!code) code = save_held(args, filter, path, edit);
    tamis_edit_close(edit);
    return code;
}

int image_hold_output(struct image *image, const struct args *args) {
    const char *path = image_target(args);
    if (image->edit) return 0;
    image->path = path;
    return file_hold(&image->edit, args, path, HOLD_TO_WRITE, TAMIS_READERS_USUAL);
}

int image_save(const struct args *args, struct image *image) {
    if (!image->edit) return image_write(args, image->filter, image_target(args));
    return save_held(args, image->filter, image->path, image->edit);
}

enum tamis_readers readers_of(const tamis *filter) {
    const struct tamis_info info = info_of(filter);
    return strcmp(info.key_place, "inside") == 0 ? TAMIS_READERS_OWNER : TAMIS_READERS_USUAL;
}

/* ---- Summing up ---- */

uint64_t keys_built(const struct tamis_info *info) {
    /* Known-good keys are items too, but the capacity is about members; that of labels is about
     * the largest. */
    const bool is_by_items = info->abilities & TAMIS_CAN_LABEL || info->items < info->capacity;
    return is_by_items ? info->items : info->capacity;
}

/* The capacity of a shard is that of the whole. */
static uint64_t share_of(const struct tamis_info *info, uint64_t keys) {
    const uint64_t shards = shape_word(info->word_name, info->word, "shards");
    return shards > 0 ? keys / shards : keys;
}

double bits_per_key(const struct tamis_info *info) {
    const bool has_grown = info->abilities & TAMIS_CAN_GROW && info->items > info->capacity;
    const uint64_t keys = has_grown                          ? info->items
                          : info->abilities & TAMIS_IS_BUILT ? keys_built(info)
                                                             : share_of(info, info->capacity);
    return keys ? 8.0 * (double)info->payload_bytes / (double)keys : NAN;
}

static void print_summary(const struct tamis_info *info, const char *name, const char *what,
                          enum occasion occasion) {
    fprintf(stderr, "%s: %s, %s", name, what, human_bytes(info->stored_bytes).text);
    if (info->abilities & TAMIS_IS_SKETCH) {
        putc('\n', stderr);
        return;
    }
    if (occasion == AFTER_PLANNING && !isnan(bits_per_key(info)))
        fprintf(stderr, ", %s bits per key", human_decimal(bits_per_key(info)).text);
    if (occasion == AFTER_PLANNING)
        fprintf(stderr, ", expected fpr %s\n", human_rate(info->fpr_expected).text);
    else
        fprintf(stderr, ", fpr now %s\n", human_rate(info->fpr_now).text);
}

bool has_too_many(const struct tamis_info *info) {
    /* Where old keys leave by themselves, the adds so far say nothing about what is inside; and a
     * capacity of labels is that of each. */
    const unsigned others = TAMIS_AGES | TAMIS_CAN_GROW | TAMIS_CAN_LABEL | TAMIS_IS_SKETCH;
    const bool is_planned = info->capacity > 0 || info->fpr_asked > 0;
    return is_planned && info->items > info->capacity && !(info->abilities & others);
}

static void warn_if_too_full(const struct args *args, const struct tamis_info *info,
                             const char *name) {
    if (info->is_saturated)
        warn(args, name,
             "the filter is full and answers yes to %s of non-members; rebuild it with a larger "
             "--capacity",
             human_share(info->fpr_now).text);
    else if (info->is_degraded && has_too_many(info))
        warn(args, name, "%s items for a capacity of %s: the false-positive rate is now %s",
             human_count(info->items).text, human_count(info->capacity).text,
             human_rate(info->fpr_now).text);
    else if (info->is_degraded)
        warn(args, name, "the false-positive rate is now %s, more than twice the target",
             human_rate(info->fpr_now).text);
}

void info_summary(const struct args *args, const struct tamis_info *info, const char *path,
                  const char *what, enum occasion occasion) {
    const char *name = output_name(path);
    print_summary(info, name, what, occasion);
    /* Whoever intersects was told what is common; that the image cannot tell it is for `info`. */
    if (*info->caveat && !info->has_stray_bits) warn(args, name, "%s", info->caveat);
    if (occasion == AFTER_FOLD && !info->is_saturated) return; /* Folding asks for a higher rate. */
    warn_if_too_full(args, info, name);
}

void image_summary(const struct args *args, const tamis *filter, const char *path, const char *what,
                   enum occasion occasion) {
    if (given(args, OPT_QUIET)) return;
    const struct tamis_info info = info_measured(filter);
    info_summary(args, &info, path, what, occasion);
    tell_questions(args, filter, path, info.fpr_now);
}
