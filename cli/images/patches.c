/* SPDX-License-Identifier: MIT */
/* patches.c: patches, one or many, for those who make, apply and describe them. */
#include "cli/images/patches.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int check_outputs(const struct args *args, const char *output) {
    if (!given(args, OPT_JSON) || !is_dash(output)) return 0;
    return fail(args, NULL, "--json and --output - cannot be combined: both use standard output");
}

int view_bytes(const struct args *args, const struct bytes *bytes, tamis **filter) {
    const struct tamis_options options = image_options(args);
    return check_status(args, bytes->path,
                        tamis_view_with(filter, bytes->at, bytes->size, &options));
}

void json_sum(struct json *json, const char *name, uint64_t sum) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    json_text(json, name, text);
}

void json_patch(struct json *json, const struct tamis_patch_info *info, bool is_signed) {
    json_count(json, "base_bytes", info->base_bytes);
    json_count(json, "result_bytes", info->result_bytes);
    json_count(json, "patch_bytes", info->patch_bytes + (is_signed ? SEAL_BYTES : 0));
    json_sum(json, "base_sum", info->base_sum);
    json_sum(json, "result_sum", info->result_sum);
    json_bool(json, "is_same",
              info->base_sum == info->result_sum && info->base_bytes == info->result_bytes);
    json_bool(json, "is_whole", info->is_whole);
    json_bool(json, "is_signed", is_signed);
}

struct version version_of(const void *image, size_t size) {
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    (void)!tamis_patch_make(image, size, image, size, &info, NULL, NULL);
    return (struct version){info.base_bytes, info.base_sum};
}

/* ---- One patch ---- */

static const uint8_t magic[8] = {0xd6, 'p', 'a', 't', 'c', 'h', 0x1a, 0x0a};

bool patch_is_at(const char *path) {
    uint8_t start[sizeof magic];
    struct stat status;
    if (is_dash(path) || stat(path, &status) < 0 || !S_ISREG(status.st_mode)) return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_there = fd >= 0 && read_full(fd, start, sizeof start) == sizeof start &&
                          memcmp(start, magic, sizeof magic) == 0;
    if (fd >= 0) close(fd);
    return is_there;
}

size_t patch_size(const struct patch *patch) {
    return patch->bytes.size - (patch->is_signed ? SEAL_BYTES : 0);
}

/* patches_close frees it also after a failure. */
static int open_patch(struct patch *patch, const struct args *args, const char *path) {
    struct tamis_patch_info *info = &patch->info;
    *patch = (struct patch){.path = strdup(path), .info = TAMIS_PATCH_INFO_INIT};
    int code = patch->path ? bytes_open(&patch->bytes, args, patch->path) : fail_memory(args);
    if (code) return code;
    patch->is_signed = seal_is_there(&patch->bytes);
    if (given(args, OPT_VERIFY_KEY)) /* before any other look at it */
        code = seal_check(args, &patch->bytes, args->setting[OPT_VERIFY_KEY].text);
    if (code) return code;
    code = check_status(args, patch->bytes.path,
                        tamis_patch_get_info(patch->bytes.at, patch_size(patch), info));
    patch->base = (struct version){info->base_bytes, info->base_sum};
    patch->result = (struct version){info->result_bytes, info->result_sum};
    return code;
}

/* Only for an image that it is for its sizes are worth some memory. */
int patch_apply(const struct args *args, const struct patch *patch, const struct bytes *base,
                struct bytes *result) {
    const char *key = args->setting[OPT_VERIFY_KEY].text, *path = patch->bytes.path;
    const uint64_t size = patch->info.result_bytes;
    *result = (struct bytes){.path = path}; /* its maker is to blame */
    int code = check_status(args, path, tamis_patch_fits(base->at, base->size, &patch->info));
    if (!code && key) code = seal_check_base(args, &patch->bytes, base);
    if (code) return code;
    if (size == 0) return fail(args, path, "does not produce an image");
    result->at = size <= SIZE_MAX ? malloc((size_t)size) : NULL;
    if (!result->at) return fail_memory(args);
    result->size = (size_t)size;
    code = check_status(args, path,
                        tamis_patch_apply(base->at, base->size, patch->bytes.at, patch_size(patch),
                                          result->at, result->size));
    return code || !key ? code : seal_check_result(args, &patch->bytes, result);
}

/* ---- Many ---- */

static int add_patch(struct patches *patches, const struct args *args, const char *path) {
    if (!list_grow(&patches->at, &patches->room, patches->n + 1, sizeof *patches->at))
        return fail_memory(args);
    return open_patch(&patches->at[patches->n++], args, path);
}

static int add_entry(struct patches *patches, const struct args *args, const char *dir,
                     const char *name) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return fail(args, dir, "the name is too long");
    return patch_is_at(path) ? add_patch(patches, args, path) : 0;
}

/* By name, so that what is said about them does not depend on the file system. */
static int add_dir(struct patches *patches, const struct args *args, const char *path) {
    struct dirent **entry = NULL;
    const size_t before = patches->n;
    const int found = scandir(path, &entry, NULL, alphasort);
    int code = found < 0 ? fail(args, path, "cannot open: %s", strerror(errno)) : 0;
    for (int i = 0; i < found; i++) {
        if (!code) code = add_entry(patches, args, path, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    if (!code && patches->n == before)
        code = fail(args, path, "there is no patch in this directory");
    return code;
}

int patches_open(struct patches *patches, const struct args *args, const char *const *path,
                 size_t n) {
    struct stat status;
    int code = 0;
    *patches = (struct patches){0};
    for (size_t i = 0; i < n && !code; i++) {
        const bool is_dir =
            !is_dash(path[i]) && stat(path[i], &status) == 0 && S_ISDIR(status.st_mode);
        code = is_dir ? add_dir(patches, args, path[i]) : add_patch(patches, args, path[i]);
    }
    return code;
}

void patches_close(struct patches *patches) {
    for (size_t i = 0; i < patches->n; i++) {
        bytes_close(&patches->at[i].bytes);
        free(patches->at[i].path);
    }
    free(patches->at);
    *patches = (struct patches){0};
}

/* ---- Their order ---- */

static void swap(struct patches *patches, size_t i, size_t j) {
    const struct patch kept = patches->at[i];
    patches->at[i] = patches->at[j];
    patches->at[j] = kept;
}

/* Whether the version was passed on the way, or before the start. */
static bool is_passed(const struct patches *patches, struct version start, struct version version) {
    if (version_is(version, start)) return true;
    for (size_t i = 0; i < patches->steps + patches->past; i++)
        if (version_is(version, i < patches->steps ? patches->at[i].result : patches->at[i].base))
            return true;
    return false;
}

void patches_chain(struct patches *patches, struct version start) {
    struct version at = start;
    size_t next = 0;
    patches->steps = patches->past = 0;
    patches->fork = NULL;
    while (next < patches->n) {
        struct patch *step = &patches->at[next];
        /* What leads back is no step: there would be no end to it. */
        const bool is_step = version_is(step->base, at) && !is_passed(patches, start, step->result);
        if (!is_step) {
            next++;
            continue;
        }
        at = step->result;
        swap(patches, next, patches->steps);
        next = ++patches->steps;
    }
    for (next = patches->steps; next < patches->n;) {
        const size_t end = patches->steps + patches->past;
        if (is_passed(patches, start, patches->at[next].result)) {
            swap(patches, next, end);
            patches->past++;
            next = end + 1;
        } else {
            next++;
        }
    }
    for (size_t i = patches->steps + patches->past; i < patches->n; i++)
        for (size_t j = 0; j < patches->steps; j++)
            if (version_is(patches->at[i].base, patches->at[j].base))
                patches->fork = &patches->at[i];
}

struct version patches_start(const struct patches *patches) {
    for (size_t i = 0; i < patches->n; i++) {
        size_t j = 0;
        while (j < patches->n && !version_is(patches->at[j].result, patches->at[i].base)) j++;
        if (j == patches->n) return patches->at[i].base;
    }
    return patches->at[0].base;
}
