/* SPDX-License-Identifier: MIT */
/* publish.c: `tamis publish`, a directory of lists becomes images, patches between their versions,
 * and an index of all of it.
 *
 *     FEEDS/NAME.txt ──build──▶ the image as before?  ──▶ nothing
 *                               otherwise: NAME.OLD-NEW.patch, then NAME.tamis, then tamis.index
 *
 * A patch is small only between images of one shape. So an image has room for some more keys than
 * there are, and its capacity stays while they fit. */
#include "cli/verbs/publish.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const change_word[] = {
    [IS_SAME] = "none", [IS_NEW] = "new",         [IS_PATCHED] = "patched", [IS_WHOLE] = "whole",
    [IS_GONE] = "gone", [IS_DELETED] = "deleted", [HAS_FAILED] = "failed"};

/* ---- The lists ---- */

/* The length of a name without one of these endings, which spaces separate; of all of it when there
 * is none. */
static size_t without(const char *name, size_t len, const char *endings) {
    for (size_t i = len; i-- > 1;)
        if (name[i] == '.') {
            char ending[16];
            if (len - i >= sizeof ending) return len;
            snprintf(ending, sizeof ending, "%.*s", (int)(len - i - 1), name + i + 1);
            return *ending && is_among(endings, ending) ? i : len;
        }
    return len;
}

/* "spam.txt" and "spam.txt.gz" are the feed "spam"; false for other files. */
static bool feed_of_list(const char *file, char name[FEED_NAME_BYTES + 1]) {
    const size_t bare = without(file, strlen(file), "gz zst xz bz2");
    const size_t len = without(file, bare, "txt csv tsv list json jsonl");
    if (len == bare || !feed_name_is_good(file, len)) return false;
    snprintf(name, FEED_NAME_BYTES + 1, "%.*s", (int)len, file);
    return true;
}

static int add_offer(struct publishing *p, const char *name, const char *path) {
    if (!list_grow(&p->offer, &p->room, p->offers + 1, sizeof *p->offer))
        return fail_memory(p->args);
    struct offer *offer = &p->offer[p->offers++];
    *offer = (struct offer){.path = path ? strdup(path) : NULL};
    snprintf(offer->name, sizeof offer->name, "%s", name);
    return path && !offer->path ? fail_memory(p->args) : 0;
}

static int add_list(struct publishing *p, const char *file) {
    char name[FEED_NAME_BYTES + 1], path[PATH_MAX];
    struct stat status;
    if (*file == '.') return 0;
    if (!feed_path(p->args, p->from, file, path)) return EXIT_TROUBLE;
    if (stat(path, &status) < 0) return fail(p->args, path, "cannot open: %s", strerror(errno));
    if (S_ISREG(status.st_mode) && feed_of_list(file, name)) return add_offer(p, name, path);
    warn(p->args, path, "skipped: not a list by its name (NAME.txt; see \"tamis help publish\")");
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct offer *)a)->name, ((const struct offer *)b)->name);
}

static int find_lists(struct publishing *p) {
    struct dirent **entry = NULL;
    const int found = scandir(p->from, &entry, NULL, alphasort);
    int code = found < 0 ? fail(p->args, p->from, "cannot open: %s", strerror(errno)) : 0;
    for (int i = 0; i < found; i++) {
        if (!code) code = add_list(p, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    if (code) return code;
    if (p->offers == 0) return fail(p->args, p->from, "there is no list in this directory");
    qsort(p->offer, p->offers, sizeof *p->offer, by_name);
    for (size_t i = 1; i < p->offers; i++)
        if (by_name(&p->offer[i - 1], &p->offer[i]) == 0)
            return fail(p->args, p->offer[i].path, "the feed \"%s\" is also %s", p->offer[i].name,
                        p->offer[i - 1].path);
    return 0;
}

/* ---- The index ---- */

static int read_index(struct publishing *p) {
    const struct args *args = p->args;
    const void *bytes;
    size_t size;
    char why[200];
    int code = feed_hold(&p->edit, args, p->dir, index_name, p->path);
    if (code || tamis_edit_is_new(p->edit)) return code;
    code = check_status(args, p->path, tamis_edit_bytes(p->edit, &bytes, &size));
    if (code) return code;
    text_copy(&p->before, bytes, size);
    if (!feed_index_parse(&p->old, bytes, size, why, sizeof why))
        return fail(args, p->path, "not an index of feeds: %s", why);
    /* Everybody who verifies would stop here, and nobody would know why. */
    if (p->old.is_signed && !given(args, OPT_SIGN) && !given(args, OPT_FORCE))
        return fail(args, p->path, "the index is signed; use --sign, or --force to go on without");
    return p->before.is_short_of_memory ? fail_memory(args) : 0;
}

static int index_text(const struct publishing *p, struct text *out) {
    index_write(&p->new, out);
    const int code = out->is_short_of_memory ? fail_memory(p->args) : index_sign(p->args, out);
    return code || !out->is_short_of_memory ? code : fail_memory(p->args);
}

/* SOURCE_DATE_EPOCH is how a build is told the time, for the same bytes every time. */
static uint64_t time_now(void) {
    const char *told = getenv("SOURCE_DATE_EPOCH");
    uint64_t seconds;
    return told && tamis_parse_count(told, &seconds) ? seconds : (uint64_t)time(NULL);
}

/* With the old serial it is the same, or it gets a new one: the time, so that a publisher who lost
 * everything is not taken for an old one; and more than the last in any case. */
static int write_index(struct publishing *p, bool *is_changed) {
    struct text out = {0};
    const uint64_t now = time_now();
    p->new.serial = p->old.serial;
    int code = index_text(p, &out);
    *is_changed = !code && (out.len != p->before.len || tamis_edit_is_new(p->edit) ||
                            memcmp(out.bytes, p->before.bytes, out.len) != 0);
    if (*is_changed) {
        text_free(&out);
        out = (struct text){0};
        p->new.serial = now > p->old.serial ? now : p->old.serial + 1;
        code = index_text(p, &out);
        if (!code) code = file_write_held(p->args, p->path, p->edit, out.bytes, out.len);
    }
    text_free(&out);
    return code;
}

/* ---- One feed ---- */

static bool copy_feed(struct publishing *p, const struct feed *old, const char *name,
                      struct feed **feed) {
    *feed = feed_add(&p->new, name);
    if (!*feed) return false;
    for (size_t i = 0; old && i < old->patches; i++)
        if (!feed_add_patch(*feed, &old->patch[i])) return false;
    if (old) (*feed)->version = old->version;
    if (old) (*feed)->digest = old->digest;
    return true;
}

/* A list that is empty all of a sudden is more likely a download that failed. */
static int check_lines(const struct publishing *p, const struct offer *offer,
                       const struct bytes *old) {
    const struct tamis_options options = image_options(p->args);
    tamis *filter = NULL;
    uint64_t items = 0;
    if (offer->lines > 0) return 0;
    if (old->size && !tamis_view_with(&filter, old->at, old->size, &options))
        items = info_of(filter).items;
    tamis_free(filter);
    if (items == 0 || given(p->args, OPT_FORCE)) {
        warn(p->args, offer->path, "the list has no keys");
        return 0;
    }
    return fail(p->args, offer->path,
                "no keys, and there were %s before; use --force to publish it",
                human_count(items).text);
}

static int replace_image(struct publishing *p, struct offer *offer, struct feed *feed,
                         const char *path, const struct bytes *old, const struct bytes *image) {
    const bool is_known = old->size && version_is(version_of(old->at, old->size), feed->version);
    int code = 0;
    offer->change = old->size ? IS_WHOLE : IS_NEW;
    if (is_known)
        code = publish_write_patch(p, offer, feed, old, image);
    else
        feed_drop_patches(feed, feed->patches);
    if (!code) code = feed_write(p->args, path, image->at, image->size);
    return code;
}

static int publish_list(struct publishing *p, struct offer *offer, struct feed *feed) {
    char name[FEED_FILE_BYTES], path[PATH_MAX];
    struct bytes old = {0}, image = {0};
    feed_image_name(feed, name);
    int code = feed_path(p->args, p->dir, name, path) ? 0 : EXIT_TROUBLE;
    if (!code && access(path, F_OK) == 0) code = bytes_open(&old, p->args, path);
    if (!code) code = publish_check_form(p, offer, &old);
    if (!code) code = publish_make_image(p, offer, &old, &image);
    if (!code) code = check_lines(p, offer, &old);
    const bool is_same = !code && image.size == old.size && memcmp(image.at, old.at, old.size) == 0;
    if (!code && !is_same) code = replace_image(p, offer, feed, path, &old, &image);
    if (!code) {
        const struct version version = version_of(image.at, image.size);
        /* What was interrupted before the index was written: the patches lead elsewhere. */
        if (is_same && !version_is(version, feed->version)) {
            feed_drop_patches(feed, feed->patches);
            offer->change = IS_WHOLE;
        }
        feed->version = version;
        feed->digest = digest_of(image.at, image.size);
        publish_drop_patches(p->args, feed);
        offer->image_bytes = image.size;
    }
    bytes_close(&old);
    bytes_close(&image);
    return code;
}

/* A list that fails leaves its feed as it was. */
static int publish_feed(struct publishing *p, struct offer *offer) {
    const struct feed *old = feed_named(&p->old, offer->name);
    struct feed *feed;
    if (!copy_feed(p, old, offer->name, &feed)) return fail_memory(p->args);
    if (publish_list(p, offer, feed) == 0) return 0;
    offer->change = HAS_FAILED;
    p->code = EXIT_TROUBLE;
    free(feed->patch);
    p->new.feeds--;
    return old && !copy_feed(p, old, offer->name, &feed) ? fail_memory(p->args) : 0;
}

/* ---- What is left over ---- */

static bool is_listed(const struct feed_index *index, const char *file) {
    char name[FEED_FILE_BYTES];
    for (size_t i = 0; i < index->feeds; i++)
        for (size_t j = 0; j < index->feed[i].patches; j++) {
            feed_patch_name(&index->feed[i], &index->feed[i].patch[j], name);
            if (strcmp(name, file) == 0) return true;
        }
    return false;
}

/* After the new index is there: nobody who reads it wants them. */
static int remove_patches(const struct publishing *p) {
    DIR *dir = opendir(p->dir);
    int code = dir ? 0 : fail(p->args, p->dir, "cannot open: %s", strerror(errno));
    for (const struct dirent *entry; !code && (entry = readdir(dir));)
        if (feed_file_is_patch(entry->d_name) && !is_listed(&p->new, entry->d_name))
            code = feed_remove(p->args, p->dir, entry->d_name);
    if (dir) closedir(dir);
    return code;
}

static int find_gone(struct publishing *p) {
    int code = 0;
    for (size_t i = 0; i < p->old.feeds && !code; i++) {
        const char *name = p->old.feed[i].name;
        struct offer wanted = {0};
        snprintf(wanted.name, sizeof wanted.name, "%s", name);
        if (bsearch(&wanted, p->offer, p->offers, sizeof *p->offer, by_name)) continue;
        code = add_offer(p, name, NULL);
        if (!code) p->offer[p->offers - 1].change = IS_GONE;
    }
    return code;
}

static int remove_gone(struct publishing *p) {
    char file[FEED_FILE_BYTES];
    int code = 0;
    for (size_t i = 0; i < p->offers && given(p->args, OPT_DELETE); i++) {
        struct offer *offer = &p->offer[i];
        if (offer->change != IS_GONE) continue;
        snprintf(file, sizeof file, "%s.tamis", offer->name);
        if (feed_remove(p->args, p->dir, file))
            code = EXIT_TROUBLE;
        else
            offer->change = IS_DELETED;
    }
    return code;
}

/* ---- Reporting ---- */

static void print_offer(const struct offer *offer) {
    const struct human size = human_bytes(offer->image_bytes);
    const struct human lines = human_number(offer->lines, "key");
    if (offer->change == HAS_FAILED) return; /* That was said. */
    fprintf(stderr, "%s: ", offer->name);
    if (offer->change == IS_SAME)
        fputs("unchanged\n", stderr);
    else if (offer->change == IS_NEW)
        fprintf(stderr, "new, %s, %s\n", lines.text, size.text);
    else if (offer->change == IS_PATCHED)
        fprintf(stderr, "%s, patch of %s for an image of %s\n", lines.text,
                human_bytes(offer->patch_bytes).text, size.text);
    else if (offer->change == IS_WHOLE)
        fprintf(stderr, "%s, %s, no patch leads to it\n", lines.text, size.text);
    else
        fputs(offer->change == IS_DELETED ? "no list any more; deleted\n"
                                          : "no list any more; its image stays (--delete)\n",
              stderr);
}

static void print_all(const struct publishing *p, bool is_changed) {
    for (size_t i = 0; i < p->offers; i++) print_offer(&p->offer[i]);
    fprintf(stderr, "%s: %s, %s\n", p->dir, human_number(p->new.feeds, "feed").text,
            is_changed ? human_words("serial %s", human_digits(p->new.serial).text).text
                       : "nothing changed");
}

static void write_json(const struct publishing *p, bool is_changed) {
    struct json json = json_start(stdout);
    json_text(&json, "source", p->from);
    json_text(&json, "dir", p->dir);
    json_count(&json, "serial", p->new.serial);
    json_bool(&json, "is_changed", is_changed);
    json_bool(&json, "is_signed", given(p->args, OPT_SIGN));
    json_open(&json, "feeds", '[');
    for (size_t i = 0; i < p->offers; i++) {
        const struct offer *offer = &p->offer[i];
        const struct feed *feed = feed_named(&p->new, offer->name);
        json_open(&json, NULL, '{');
        json_text(&json, "name", offer->name);
        json_text(&json, "change", change_word[offer->change]);
        json_count(&json, "lines", offer->lines);
        json_count(&json, "image_bytes", feed ? feed->version.bytes : 0);
        json_count(&json, "patch_bytes", offer->patch_bytes);
        json_count(&json, "patches", feed ? feed->patches : 0);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

/* ---- The verb ---- */

static int publish_all(struct publishing *p) {
    const size_t lists = p->offers;
    bool is_changed = false;
    int code = find_gone(p);
    for (size_t i = 0; i < lists && !code && !is_stopped(); i++)
        code = publish_feed(p, &p->offer[i]);
    if (is_stopped()) return EXIT_TROUBLE; /* main does the rest */
    /* Where every list failed there is nothing to offer. */
    if (!code && p->code && tamis_edit_is_new(p->edit) && p->new.feeds == 0) return p->code;
    if (!code) code = write_index(p, &is_changed);
    if (!code) code = remove_patches(p);
    if (!code) code = remove_gone(p);
    if (!code && given(p->args, OPT_JSON))
        write_json(p, is_changed);
    else if (!code && !given(p->args, OPT_QUIET))
        print_all(p, is_changed);
    return code ? code : p->code;
}

static int find_kind(struct publishing *p) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    p->spec = spec_given(p->args, NULL);
    spec_share_rate(p->args, &p->spec);
    if (!p->spec) return EXIT_TROUBLE;
    if (tamis_kind_named(spec_head(p->spec).kind, &kind)) p->abilities = kind.abilities;
    return 0;
}

/* A key that is none is told once, before any work. */
static int check_key(const struct args *args) {
    uint8_t public_key[PUBLIC_KEY_BYTES], signature[SIGNATURE_BYTES];
    if (!given(args, OPT_SIGN)) return 0;
    return text_sign(args, args->setting[OPT_SIGN].text, "", 0, public_key, signature);
}

static int run(const struct args *args) {
    struct publishing p = {.args = args, .from = args->operand[0], .dir = args->operand[1]};
    int code = check_key(args);
    if (!code) code = find_kind(&p);
    if (!code) code = find_lists(&p);
    if (!code) code = read_index(&p);
    if (!code) code = publish_all(&p);
    tamis_edit_close(p.edit);
    for (size_t i = 0; i < p.offers; i++) free(p.offer[i].path);
    free(p.offer);
    free(p.spec);
    text_free(&p.before);
    feed_index_free(&p.old);
    feed_index_free(&p.new);
    return code;
}

/* clang-format off */

const struct verb verb_publish = {
    .name = "publish",
    .also = "push release feeds",
    .summary = "make images and patches of a directory of lists, for \"tamis sync\"",
    .run = run,
    .operands = OPERANDS({"FEEDS", EXACTLY_ONE, NO_STREAM}, {"DIR", EXACTLY_ONE, NO_STREAM}),
    .uses = USES(
        {.option = OPT_SIGN, .help = "sign index and patches with a secret key, see \"tamis "
                                     "keygen\""},
        {.option = OPT_KEEP_PATCHES}, {.option = OPT_DELETE},
        {.option = OPT_FORCE,
         .help = "publish also a list that became empty, has few keys among its lines or keys of "
                 "another form, and without --sign what was signed"},
        {.option = OPT_SPEC}, {.option = OPT_KIND},
        {.option = OPT_CAPACITY,
         .help = "number of keys to plan for (default: a quarter more than there are at first)"},
        {.option = OPT_FPR}, {.option = OPT_SIZE}, {.option = OPT_HASH}, {.option = OPT_SEED},
        {.option = OPT_SECRET_FILE}, {.option = OPT_NOTE}, LIST_OPTIONS, {.option = OPT_MEMORY},
        {.option = OPT_TEMP_DIR}, {.option = OPT_THREADS}, {.option = OPT_WAIT},
        {.option = OPT_JSON}),
    .examples = EXAMPLES(
        {"Publish a directory of lists", "tamis publish lists /srv/feeds --sign release.key"},
        {"Publish domains in any spelling, with one false positive in a million",
         "tamis publish lists /srv/feeds --canon domain --fpr 1e-6 --sign release.key"},
        {"On another machine: get them, and later what changed",
         "tamis sync https://feeds.example feeds --verify release.key.pub"}),
    .about = "Each list NAME.txt in FEEDS becomes the image DIR/NAME.tamis; .csv, .tsv, .list, "
             ".json and .jsonl are lists too, compressed or not. If the list has changed since "
             "the last time, a patch from the old image to the new one is written as well, and "
             "the last ten are kept (see --keep). DIR/tamis.index has the size, the checksum and "
             "the digest of every file, and a serial number. A run in which no list changed "
             "writes nothing. The serial number is the time in seconds (or SOURCE_DATE_EPOCH), or "
             "one more than the last. Any web server, file share or ssh makes DIR available.\n\n"
             "Patches are small if few keys changed and the kind takes adds (the default one, "
             "blocked, does). For kinds that are built once, everything changes and there are "
             "none. The first image has room for a quarter more keys than there are, and keeps "
             "its shape while the keys fit.\n\n"
             "A list that fails keeps its feed as it was, and does not stop the others. So does "
             "one that is empty and was not before, one of whose lines more than half are not "
             "keys, and one for which --keys, --canon, --kind or --fpr is not what it was, unless "
             "--force. The image of a list that is gone stays, "
             "out of the index, unless --delete.\n\n"
             "With --sign the index and the patches are signed (Ed25519), and with the digests in "
             "the index so is every file.\n\n"
             "--json prints one object: source, dir, serial, is_changed, is_signed, feeds: an "
             "array with name, change (none, new, patched, whole, gone, deleted, failed), lines, "
             "image_bytes, patch_bytes, patches (in the index).\n\n"
             "The images remember --keys and --canon, and so do those who sync them. Give the "
             "same options each time.",
    .exits = "0 everything is published; 2 error, or some lists failed.",
};
