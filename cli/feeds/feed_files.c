/* SPDX-License-Identifier: MIT */
/* feed_files.c: files of feeds. */
#include "cli/feeds/feed_files.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

bool feed_path(const struct args *args, const char *dir, const char *name, char path[PATH_MAX]) {
    if (snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX) return true;
    fail(args, dir, "the name is too long");
    return false;
}

int feed_write(const struct args *args, const char *path, const void *bytes, size_t size) {
    tamis_edit *edit;
    int code = file_hold(&edit, args, path, HOLD_TO_CHANGE_OR_MAKE, TAMIS_READERS_USUAL);
    if (!code) code = file_write_held(args, path, edit, bytes, size);
    tamis_edit_close(edit);
    return code;
}

int feed_remove(const struct args *args, const char *dir, const char *name) {
    char path[PATH_MAX];
    if (!feed_path(args, dir, name, path)) return EXIT_TROUBLE;
    if (unlink(path) == 0 || errno == ENOENT) return 0;
    return fail(args, path, "cannot remove: %s", strerror(errno));
}

/* ---- Text ---- */

static void add_hex(struct text *out, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) text_words(out, human_words("%02x", bytes[i]).text);
}

static void add_version(struct text *out, struct version version) {
    text_words(out, human_words("%" PRIu64 " %016" PRIx64 " ", version.bytes, version.sum).text);
}

static void add_digest(struct text *out, const struct digest *digest) {
    if (digest->is_known)
        add_hex(out, digest->bytes, DIGEST_BYTES);
    else
        text_byte(out, '-');
    text_byte(out, '\n');
}

static void add_feed(struct text *out, const struct feed *feed) {
    text_words(out, "feed ");
    text_words(out, feed->name);
    text_byte(out, ' ');
    add_version(out, feed->version);
    add_digest(out, &feed->digest);
    for (size_t i = 0; i < feed->patches; i++) {
        const struct feed_patch *patch = &feed->patch[i];
        text_words(out, "patch ");
        add_version(out, patch->base);
        add_version(out, patch->result);
        text_words(out, human_words("%" PRIu64 " ", patch->bytes).text);
        add_digest(out, &patch->digest);
    }
}

void index_write(const struct feed_index *index, struct text *out) {
    text_words(out, human_words("tamis index 1\nserial %" PRIu64 "\n", index->serial).text);
    for (size_t i = 0; i < index->feeds; i++) add_feed(out, &index->feed[i]);
    text_words(out, "end\n");
}

int index_sign(const struct args *args, struct text *out) {
    uint8_t public_key[PUBLIC_KEY_BYTES], signature[SIGNATURE_BYTES];
    if (!given(args, OPT_SIGN)) return 0;
    const int code =
        text_sign(args, args->setting[OPT_SIGN].text, out->bytes, out->len, public_key, signature);
    if (code) return code;
    text_words(out, "signed ");
    add_hex(out, public_key, sizeof public_key);
    text_byte(out, ' ');
    add_hex(out, signature, sizeof signature);
    text_byte(out, '\n');
    return 0;
}

void state_write(const struct feed_state *state, struct text *out) {
    text_words(out, human_words("tamis sync 1\nserial %" PRIu64 "\nindex %016" PRIx64 "\n",
                                state->serial, state->index_sum)
                        .text);
    for (size_t i = 0; i < state->names; i++) {
        text_words(out, "feed ");
        text_words(out, state->name[i]);
        text_byte(out, '\n');
    }
    text_words(out, "end\n");
}

int feed_hold(tamis_edit **edit, const struct args *args, const char *dir, const char *name,
              char path[PATH_MAX]) {
    int code = dir_make(args, dir);
    if (!code && !feed_path(args, dir, name, path)) code = EXIT_TROUBLE;
    return code ? code : file_hold(edit, args, path, HOLD_TO_CHANGE_OR_MAKE, TAMIS_READERS_USUAL);
}
