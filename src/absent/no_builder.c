/* SPDX-License-Identifier: MIT */
/* In place of src/build, in small shared libraries without a kind that is built: adding and merging
 * do all that the kinds inside need. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include <string.h>

#include "base/status.h"
#include "core/filter.h"
#include "tamis_edit.h"
#include "tamis_engine.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "this build has no builder: no kind in it is built");
}

tamis_status tamis_builder_create(tamis_builder **builder, const char *spec, uint64_t memory_limit,
                                  const char *temp_dir) {
    *builder = NULL;
    return refuse();
}

tamis_status tamis_builder_create_with(tamis_builder **builder, const char *spec,
                                       const struct tamis_builder_options *options) {
    *builder = NULL;
    return refuse();
}

tamis_status tamis_builder_continue(tamis_builder **builder, const tamis *filter,
                                    const struct tamis_builder_options *options) {
    *builder = NULL;
    return refuse();
}

tamis_status tamis_builder_continue_labels(tamis_builder **builder, const tamis *filter,
                                           const struct tamis_relabel *labels,
                                           const struct tamis_builder_options *options) {
    *builder = NULL;
    return refuse();
}

void tamis_builder_free(tamis_builder *builder) {
    /* There is none but NULL. */
}

tamis_status tamis_builder_add(tamis_builder *builder, const void *key, size_t len) {
    return refuse();
}

tamis_status tamis_builder_add_many(tamis_builder *builder, const struct tamis_key *keys,
                                    size_t n) {
    return refuse();
}

tamis_status tamis_builder_add_u64(tamis_builder *builder, uint64_t key) {
    return refuse();
}

tamis_status tamis_builder_add_u64s(tamis_builder *builder, const uint64_t *keys, size_t n) {
    return refuse();
}

tamis_status tamis_builder_add_packed(tamis_builder *builder, const void *keys, size_t width,
                                      size_t n) {
    return refuse();
}

tamis_status tamis_builder_add_hash(tamis_builder *builder, uint64_t hash) {
    return refuse();
}

tamis_status tamis_builder_add_hashes(tamis_builder *builder, const uint64_t *hashes, size_t n) {
    return refuse();
}

tamis_status tamis_builder_put(tamis_builder *builder, const void *key, size_t len,
                               uint64_t value) {
    return refuse();
}

tamis_status tamis_builder_put_hash(tamis_builder *builder, uint64_t hash, uint64_t value) {
    return refuse();
}

tamis_status tamis_builder_put_u64(tamis_builder *builder, uint64_t key, uint64_t value) {
    return refuse();
}

tamis_status tamis_builder_put_many(tamis_builder *builder, const struct tamis_key *keys,
                                    const uint64_t *values, size_t n) {
    return refuse();
}

tamis_status tamis_builder_put_u64s(tamis_builder *builder, const uint64_t *keys,
                                    const uint64_t *values, size_t n) {
    return refuse();
}

tamis_status tamis_builder_put_packed(tamis_builder *builder, const void *keys, size_t width,
                                      const uint64_t *values, size_t n) {
    return refuse();
}

tamis_status tamis_builder_put_hashes(tamis_builder *builder, const uint64_t *hashes,
                                      const uint64_t *values, size_t n) {
    return refuse();
}

tamis_status tamis_builder_exclude(tamis_builder *builder, const void *key, size_t len) {
    return refuse();
}

tamis_status tamis_builder_exclude_hash(tamis_builder *builder, uint64_t hash) {
    return refuse();
}

tamis_status tamis_builder_label(tamis_builder *builder, const char *name) {
    return refuse();
}

tamis_status tamis_builder_set_note(tamis_builder *builder, const char *name, const char *value) {
    return refuse();
}

uint64_t tamis_builder_hash(const tamis_builder *builder, const void *key, size_t len) {
    return 0;
}

void tamis_builder_hash_many(const tamis_builder *builder, const struct tamis_key *keys, size_t n,
                             uint64_t *hashes) {
    memset(hashes, 0, n * sizeof *hashes);
}

uint64_t tamis_builder_hash_pieces(const tamis_builder *builder, tamis_next_piece *next,
                                   void *ctx) {
    return 0;
}

tamis_status tamis_builder_finish(tamis_builder *builder, tamis **filter) {
    *filter = NULL;
    return refuse();
}

tamis_status tamis_builder_finish_to(tamis_builder *builder, const char *path) {
    return refuse();
}

void tamis_builder_get_info(const tamis_builder *builder, struct tamis_builder_info *info) {
    const struct tamis_builder_info none = {0};
    tamis__fill_struct(info, &none, sizeof none, "builder_info");
}

uint64_t tamis_builder_conflict(const tamis_builder *builder) {
    return 0;
}

tamis_status tamis_edit_build(tamis_edit *edit, tamis_builder *builder) {
    return refuse();
}

tamis_status tamis_merge(tamis *into, const tamis *from) {
    return tamis__merge_payloads(into, from);
}
