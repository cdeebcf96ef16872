/* SPDX-License-Identifier: MIT */
/* publish_image.c: the image of a list, and the patch from the one before. */
#include "cli/verbs/publish.h"

#include <math.h>
#include <stdlib.h>

/* ---- Building ---- */

/* The capacity of an image that is there, while the keys fit and it is not far too large. */
static uint64_t capacity_for(const struct publishing *p, const struct bytes *old, uint64_t keys) {
    enum { SPARE = 4, MIN = 100, TOO_LARGE = 4 };
    const struct tamis_options options = image_options(p->args);
    const uint64_t planned = keys + keys / SPARE;
    tamis *filter = NULL;
    uint64_t capacity = 0;
    if (old->size && !tamis_view_with(&filter, old->at, old->size, &options))
        capacity = info_of(filter).capacity;
    tamis_free(filter);
    if (keys <= capacity && keys >= capacity / TOO_LARGE) return capacity;
    return planned > MIN ? planned : MIN;
}

static int plan(struct publishing *p, struct building *building, const struct bytes *old,
                char **spec) {
    uint64_t keys = 0;
    *spec = spec_copy(p->args, p->spec);
    if (!*spec) return EXIT_TROUBLE;
    if (spec_fixes_capacity(p->spec) || p->abilities & TAMIS_IS_BUILT) return 0;
    building->keys->threads = threads_wanted(p->args);
    const int code = count_distinct(building->keys, NULL, &keys);
    if (code) return code;
    building->keys->is_second_time = true;
    keys_rewind(building->keys);
    spec_set_capacity(p->args, spec, capacity_for(p, old, keys));
    return *spec ? 0 : EXIT_TROUBLE;
}

static int build(struct publishing *p, const struct offer *offer, const struct bytes *old,
                 uint64_t *lines, tamis **filter) {
    const struct args *args = p->args;
    struct tamis_builder_options options;
    struct tamis_options filter_options;
    struct keys keys;
    struct building building = {.args = args, .keys = &keys, .abilities = p->abilities};
    char *spec = NULL;
    if (p->abilities & TAMIS_CAN_LABEL) building.usual_label = offer->name;
    int code = keys_open_file(&keys, args, offer->path);
    keys.several.use = ADDS_SEVERAL;
    keys.about = offer->path;
    keys.needs_most = !given(args, OPT_FORCE); /* subscribers would be sent nearly nothing */
    if (!code) code = builder_options(args, &options, &filter_options);
    if (!code) code = plan(p, &building, old, &spec);
    if (!code)
        code =
            check_status(args, NULL, tamis_builder_create_with(&building.builder, spec, &options));
    if (!code) code = set_builder_notes(args, building.builder);
    if (!code) code = builder_take(&building);
    if (!code) code = builder_make(&building, NULL, filter);
    *lines = building.lines;
    tamis_builder_free(building.builder);
    keys_close(&keys);
    free(spec);
    return code;
}

/* A forgotten --canon would make every question of the subscribers a no. */
int publish_check_form(const struct publishing *p, const struct offer *offer,
                       const struct bytes *old) {
    const struct tamis_options options = image_options(p->args);
    tamis *filter = NULL;
    int code = 0;
    if (given(p->args, OPT_FORCE) || !old->size) return 0;
    if (!tamis_view_with(&filter, old->at, old->size, &options))
        code = form_stays(p->args, offer->path, filter);
    tamis_free(filter);
    return code;
}

/* A forgotten --kind or --fpr would change what subscribers were promised. */
static int check_plan(const struct publishing *p, const struct offer *offer,
                      const struct bytes *old, const tamis *made) {
    const struct tamis_options options = image_options(p->args);
    tamis *filter = NULL;
    int code = 0;
    if (given(p->args, OPT_FORCE) || !old->size) return 0;
    if (tamis_view_with(&filter, old->at, old->size, &options)) return 0; /* to be replaced */
    const struct tamis_info was = info_of(filter), is = info_of(made);
    const bool is_same_rate = !(was.fpr_asked > 0) || !(is.fpr_asked > 0) ||
                              fabs(is.fpr_asked / was.fpr_asked - 1) < 1e-6;
    if (strcmp(was.kind, is.kind) != 0 || !is_same_rate)
        code = fail(p->args, offer->path,
                    "published as %s with a target fpr of %s before; repeat that, or use --force "
                    "to change it",
                    was.kind, human_share(was.fpr_asked).text);
    tamis_free(filter);
    return code;
}

int publish_make_image(struct publishing *p, struct offer *offer, const struct bytes *old,
                       struct bytes *image) {
    tamis *filter = NULL;
    int code = build(p, offer, old, &offer->lines, &filter);
    if (!code) code = check_plan(p, offer, old, filter);
    if (!code && readers_of(filter) != TAMIS_READERS_USUAL)
        code = fail(p->args, offer->path,
                    "an image with a secret of its own is not for others; use --secret-file");
    if (!code) {
        image->size = (size_t)tamis_image_size(filter);
        image->at = malloc(image->size);
        code = image->at ? check_status(p->args, offer->path,
                                        tamis_serialize(filter, image->at, image->size))
                         : fail_memory(p->args);
    }
    tamis_free(filter);
    return code;
}

/* ---- Patches ---- */

static bool put_patch(void *with, const void *bytes, size_t size) {
    struct text *out = with;
    text_copy(out, bytes, size);
    return !out->is_short_of_memory;
}

static int seal_patch(const struct args *args, struct text *out, const struct bytes *base,
                      const struct bytes *result) {
    uint8_t sealed[SEAL_BYTES];
    struct seal *seal = NULL;
    if (!given(args, OPT_SIGN)) return 0;
    const int code = seal_start(&seal, args, args->setting[OPT_SIGN].text);
    if (!code) {
        seal_more(seal, out->bytes, out->len);
        seal_end(seal, base, result, sealed);
        text_copy(out, sealed, sizeof sealed);
    }
    seal_free(seal);
    return code || !out->is_short_of_memory ? code : fail_memory(args);
}

int publish_write_patch(struct publishing *p, struct offer *offer, struct feed *feed,
                        const struct bytes *base, const struct bytes *result) {
    char name[FEED_FILE_BYTES], path[PATH_MAX];
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    struct text out = {0};
    const tamis_status status =
        tamis_patch_make(base->at, base->size, result->at, result->size, &info, put_patch, &out);
    int code = status ? fail_memory(p->args) : seal_patch(p->args, &out, base, result);
    if (!code && out.len < result->size) {
        const struct feed_patch patch = {{info.base_bytes, info.base_sum},
                                         {info.result_bytes, info.result_sum},
                                         out.len,
                                         digest_of(out.bytes, out.len)};
        feed_patch_name(feed, &patch, name);
        code = feed_path(p->args, p->dir, name, path)
                   ? feed_write(p->args, path, out.bytes, out.len)
                   : EXIT_TROUBLE;
        if (!code && !feed_add_patch(feed, &patch)) code = fail_memory(p->args);
        offer->change = IS_PATCHED;
        offer->patch_bytes = out.len;
    } else {
        feed_drop_patches(feed, feed->patches); /* They lead to what is no longer there. */
    }
    text_free(&out);
    return code;
}

void publish_drop_patches(const struct args *args, struct feed *feed) {
    const uint64_t keep = number_or(args, OPT_KEEP_PATCHES, 10);
    uint64_t bytes = 0;
    size_t useful = 0;
    while (useful < feed->patches && useful < keep) {
        bytes += feed->patch[feed->patches - 1 - useful].bytes;
        if (bytes >= feed->version.bytes) break;
        useful++;
    }
    feed_drop_patches(feed, feed->patches - useful);
}
