/* SPDX-License-Identifier: MIT */
/* patches.c: what `tamis diff` and `tamis apply` share. */
#include "cli/images/patches.h"

#include <inttypes.h>

int check_outputs(const struct args *args, const char *output) {
    if (!given(args, OPT_JSON) || !is_dash(output)) return 0;
    return fail(args, NULL, "--json and --output - cannot be combined: both use standard output");
}

int view_bytes(const struct args *args, const struct bytes *bytes, tamis **filter) {
    const struct tamis_options options = image_options(args);
    return check_status(args, bytes->path,
                        tamis_view_with(filter, bytes->at, bytes->size, &options));
}

static void json_sum(struct json *json, const char *name, uint64_t sum) {
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
