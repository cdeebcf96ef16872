/* SPDX-License-Identifier: MIT */
/* info_patches.c: patches for `tamis info`: one, a directory of them, and whether they follow each
 * other. */
#include "cli/verbs/info_patches.h"
#include "cli/images/patches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_dir(const char *path) {
    struct stat status;
    return !is_dash(path) && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool info_is_patches(const char *path) {
    return patch_is_at(path) || is_dir(path);
}

/* ---- One ---- */

static void print_name(const char *name) {
    printf("  %s%-16s%s", color(stdout, ROLE_NAME), name, color(stdout, ROLE_TEXT));
}

static void print_version(const char *name, struct version version) {
    print_name(name);
    printf("%s, checksum %016" PRIx64 "\n", human_bytes(version.bytes).text, version.sum);
}

static void print_signer(const struct args *args, const struct patch *patch) {
    print_name("signed");
    if (!patch->is_signed)
        puts("no");
    else
        printf("by the key %s%s\n", seal_signer(&patch->bytes).text,
               given(args, OPT_VERIFY_KEY) ? ", verified" : ", not verified");
}

static void print_patch(const struct args *args, const struct patch *patch) {
    const double share = (double)patch->bytes.size / (double)patch->result.bytes;
    color_words(stdout, ROLE_HEADING, patch->bytes.path);
    putchar('\n');
    print_name("patch");
    if (patch->info.is_whole)
        printf("%s: it holds the whole new image\n", human_bytes(patch->bytes.size).text);
    else
        printf("%s of changes, %s of the new image\n", human_bytes(patch->bytes.size).text,
               human_share(share).text);
    print_version("base", patch->base);
    print_version("result", patch->result);
    print_signer(args, patch);
}

static void write_members(struct json *json, const struct args *args, const struct patch *patch) {
    json_text(json, "patch", patch->path);
    json_patch(json, &patch->info, patch->is_signed);
    json_text(json, "signer", patch->is_signed ? seal_signer(&patch->bytes).text : NULL);
    json_bool(json, "is_verified", given(args, OPT_VERIFY_KEY));
}

/* ---- Many ---- */

/* Those of several chains are steps of none but the first. */
static bool is_chain(const struct patches *patches) {
    return patches->steps + patches->past == patches->n;
}

static void print_step(const struct patch *patch, struct human number) {
    const char *slash = strrchr(patch->path, '/');
    printf("  %s%s%s  %016" PRIx64 " -> %016" PRIx64 "  %s%s%.16s  %s\n", color(stdout, ROLE_NAME),
           number.text, color(stdout, ROLE_TEXT), patch->base.sum, patch->result.sum,
           human_bytes(patch->bytes.size).text, patch->is_signed ? ", signed by " : "",
           patch->is_signed ? seal_signer(&patch->bytes).text : "",
           slash ? slash + 1 : patch->path);
}

static void print_verdict(const char *name, const struct patches *patches, uint64_t bytes) {
    color_words(stdout, ROLE_HEADING, name);
    if (is_chain(patches))
        printf(": a chain of %s, %s\n", human_number(patches->steps, "step").text,
               human_bytes(bytes).text);
    else if (patches->fork)
        printf(": no chain: two patches are for the image with checksum %016" PRIx64 "\n",
               patches->fork->base.sum);
    else
        printf(": no chain: a patch that connects %s with the others is missing\n",
               patches->steps <= 1 ? "step 1" : human_words("steps 1 to %zu", patches->steps).text);
}

static void print_chain(const char *name, const struct patches *patches, uint64_t bytes) {
    print_verdict(name, patches, bytes);
    for (size_t i = 0; i < patches->n; i++)
        print_step(&patches->at[i],
                   i < patches->steps ? human_words("%3zu", i + 1) : human_words("  -"));
}

static void write_chain(const struct args *args, const char *name, const struct patches *patches,
                        uint64_t bytes) {
    struct json json = json_start(stdout);
    json_text(&json, "file", name);
    json_bool(&json, "is_chain", is_chain(patches));
    json_count(&json, "steps", patches->steps);
    json_count(&json, "patch_bytes", bytes);
    json_open(&json, "patches", '[');
    for (size_t i = 0; i < patches->n; i++) {
        json_open(&json, NULL, '{');
        write_members(&json, args, &patches->at[i]);
        json_bool(&json, "is_step", i < patches->steps);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

static void tell_chain(const struct args *args, const char *name, struct patches *patches) {
    uint64_t bytes = 0;
    patches_chain(patches, patches_start(patches));
    for (size_t i = 0; i < patches->steps; i++) bytes += patches->at[i].bytes.size;
    if (given(args, OPT_JSON))
        write_chain(args, name, patches, bytes);
    else
        print_chain(name ? name : "together", patches, bytes);
}

static void tell_patch(const struct args *args, const struct patch *patch) {
    if (!given(args, OPT_JSON)) {
        print_patch(args, patch);
        return;
    }
    struct json json = json_start(stdout);
    write_members(&json, args, patch);
    json_end(&json);
}

int info_patches(const struct args *args, const char *path, bool is_first) {
    struct patches patches;
    const int code = patches_open(&patches, args, &path, 1);
    if (!code && !is_first && !given(args, OPT_JSON)) putchar('\n');
    if (!code && is_dir(path))
        tell_chain(args, path, &patches);
    else if (!code)
        tell_patch(args, patches.at);
    patches_close(&patches);
    return code;
}

int info_chain(const struct args *args) {
    struct patches patches = {0};
    const char **path = calloc(args->operand_count, sizeof *path);
    size_t n = 0;
    if (!path) return fail_memory(args);
    for (size_t i = 0; i < args->operand_count; i++)
        if (patch_is_at(args->operand[i])) path[n++] = args->operand[i];
    int code = n > 1 ? patches_open(&patches, args, path, n) : 0;
    if (!code && n > 1 && !given(args, OPT_JSON)) putchar('\n');
    if (!code && n > 1) tell_chain(args, NULL, &patches);
    patches_close(&patches);
    free(path);
    return code;
}
