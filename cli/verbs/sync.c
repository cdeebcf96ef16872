/* SPDX-License-Identifier: MIT */
/* sync.c: `tamis sync`, the images of a publisher, of which only what changed is fetched.
 *
 *     index ──signature, serial──▶ each feed:  ours is the newest ──▶ nothing
 *                                              patches lead there ──▶ fetched, checked, applied
 *                                              otherwise          ──▶ the whole image
 *
 * Everything that comes has the length and the digest that the index says, and what becomes of it
 * is the image that the index says, before any file is replaced. */
#include "cli/feeds/feed_files.h"
#include "cli/feeds/fetch.h"
#include "cli/images/patches.h"

#include <stdarg.h>
#include <stdlib.h>

enum change { IS_SAME, IS_PATCHED, IS_WHOLE, IS_GONE, IS_DELETED, HAS_FAILED };

static const char *const change_word[] = {
    [IS_SAME] = "none", [IS_PATCHED] = "patched", [IS_WHOLE] = "whole",
    [IS_GONE] = "gone", [IS_DELETED] = "deleted", [HAS_FAILED] = "failed"};

/* What became of a feed. */
struct outcome {
    const char *name;
    enum change change;
    uint64_t image_bytes, fetched;
    size_t steps;
};

struct syncing {
    const struct args *args;
    const char *dir;
    struct source_of_feeds source;
    struct bytes text; /* of the index */
    struct feed_index index;
    tamis_edit *edit; /* of what we remember: nobody else syncs here meanwhile */
    char path[PATH_MAX];
    struct feed_state before, after;
    struct outcome *outcome;
    size_t outcomes;
    int code;
};

static uint64_t limit_of(const struct args *args) {
    return number_or(args, OPT_LIMIT, (uint64_t)1 << 30);
}

/* ---- What we remember ---- */

static int read_state(struct syncing *s) {
    const struct args *args = s->args;
    const void *bytes;
    size_t size;
    char why[200];
    int code = feed_hold(&s->edit, args, s->dir, state_name, s->path);
    if (code || tamis_edit_is_new(s->edit)) return code;
    code = check_status(args, s->path, tamis_edit_bytes(s->edit, &bytes, &size));
    if (code || feed_state_parse(&s->before, bytes, size, why, sizeof why)) return code;
    feed_state_free(&s->before);
    if (given(args, OPT_FORCE)) return 0;
    return fail(args, s->path, "damaged: %s; use --force to start anew", why);
}

static int write_state(struct syncing *s) {
    struct text before = {0}, after = {0};
    state_write(&s->before, &before);
    state_write(&s->after, &after);
    const bool is_short = before.is_short_of_memory || after.is_short_of_memory;
    const bool is_same =
        before.len == after.len && !is_short && memcmp(before.bytes, after.bytes, after.len) == 0;
    int code = is_short ? fail_memory(s->args) : 0;
    if (!code && !(is_same && !tamis_edit_is_new(s->edit)))
        code = file_write_held(s->args, s->path, s->edit, after.bytes, after.len);
    text_free(&before);
    text_free(&after);
    return code;
}

/* ---- The index ---- */

static int check_signature(const struct syncing *s) {
    const struct args *args = s->args;
    const struct feed_index *index = &s->index;
    if (!given(args, OPT_VERIFY_KEY)) {
        if (index->is_signed)
            warn(args, index_name, "the index is signed, but not verified; use --verify KEYFILE");
        return 0;
    }
    if (!index->is_signed) return fail(args, index_name, "the index is not signed");
    const int code = text_check(args, args->setting[OPT_VERIFY_KEY].text, index_name, s->text.at,
                                index->signed_bytes, index->public_key, index->signature);
    if (code) return code;
    for (size_t i = 0; i < index->feeds; i++) /* Their checksums are no match for an attacker. */
        if (!index->feed[i].digest.is_known)
            return fail(args, index_name, "the index was made without digests of its files");
    return 0;
}

/* An index may be genuine and yet of last month: whoever offers it wants something. */
static int check_serial(struct syncing *s) {
    const uint64_t sum = version_of(s->text.at, s->index.signed_bytes).sum;
    s->after.serial = s->index.serial;
    s->after.index_sum = sum;
    if (given(s->args, OPT_FORCE)) return 0;
    if (s->index.serial < s->before.serial)
        return fail(s->args, index_name,
                    "serial %s is older than %s, which was synced before; use --force to go back",
                    human_digits(s->index.serial).text, human_digits(s->before.serial).text);
    if (s->index.serial == s->before.serial && s->before.index_sum != sum)
        return fail(s->args, index_name,
                    "serial %s was synced before, with other contents; use --force to accept these",
                    human_digits(s->index.serial).text);
    return 0;
}

static int read_index(struct syncing *s) {
    const uint64_t most = (uint64_t)64 << 20, limit = limit_of(s->args);
    struct human why;
    char problem[200];
    if (!source_fetch(&s->source, index_name, limit < most ? limit : most, &s->text, &why))
        return fail(s->args, s->source.name, "%s: %s", index_name, why.text);
    /* The signature comes first, but it has to be found. */
    if (!feed_index_parse(&s->index, (const char *)s->text.at, s->text.size, problem,
                          sizeof problem))
        return fail(s->args, s->source.name, "%s: not an index of feeds: %s", index_name, problem);
    const int code = check_signature(s);
    return code ? code : check_serial(s);
}

/* ---- One feed ---- */

/* A file that is replaced, and what is to be in it. */
struct job {
    struct syncing *s;
    const struct feed *feed;
    struct outcome *outcome;
    char path[PATH_MAX];
    tamis_edit *edit;
    struct bytes base, result; /* the memory of the first is the edit's */
    struct human why;
};

PRINTF_LIKE(2, 3)
static bool refuse(struct job *job, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(job->why.text, sizeof job->why.text, format, values);
    va_end(values);
    return false;
}

static bool is_digest(const struct digest *digest, const void *bytes, size_t size) {
    const struct digest found = digest_of(bytes, size);
    return !digest->is_known || !found.is_known ||
           memcmp(found.bytes, digest->bytes, DIGEST_BYTES) == 0;
}

static bool is_newest(const struct feed *feed, const struct bytes *image) {
    return image->size == feed->version.bytes &&
           version_is(version_of(image->at, image->size), feed->version) &&
           is_digest(&feed->digest, image->at, image->size);
}

/* Fetches a file that has exactly this length and, where it is known, this digest. */
static bool fetch(struct job *job, const char *name, uint64_t size, const struct digest *digest,
                  struct bytes *bytes) {
    if (size > limit_of(job->s->args))
        return refuse(job, "it has %s, more than --limit allows", human_bytes(size).text);
    if (!source_fetch(&job->s->source, name, size, bytes, &job->why)) return false;
    job->outcome->fetched += bytes->size;
    if (bytes->size < size)
        return refuse(job, "truncated: %s of %s bytes", human_count(bytes->size).text,
                      human_count(size).text);
    if (!is_digest(digest, bytes->at, bytes->size))
        return refuse(job, "its digest is not the one in the index");
    return true;
}

/* The patch is what the index says, also inside. */
static bool apply_patch(struct job *job, const struct feed_patch *patch, const struct bytes *file,
                        const struct bytes *base, struct bytes *result) {
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    const size_t size = file->size - (seal_is_there(file) ? SEAL_BYTES : 0);
    if (tamis_patch_get_info(file->at, size, &info)) return refuse(job, "%s", tamis_why());
    const struct version from = {info.base_bytes, info.base_sum};
    const struct version to = {info.result_bytes, info.result_sum};
    if (!version_is(from, patch->base) || !version_is(to, patch->result))
        return refuse(job, "it is not the patch that the index is about");
    if (to.bytes == 0 || to.bytes > limit_of(job->s->args))
        return refuse(job, "it makes an image of %s, more than --limit allows",
                      human_bytes(to.bytes).text);
    *result = (struct bytes){.at = malloc((size_t)to.bytes), .size = (size_t)to.bytes};
    if (!result->at) return refuse(job, "out of memory");
    if (!tamis_patch_apply(base->at, base->size, file->at, size, result->at, result->size))
        return true;
    return refuse(job, "%s", tamis_why());
}

static bool take_step(struct job *job, const struct feed_patch *patch, struct bytes *at) {
    char name[FEED_FILE_BYTES];
    struct bytes file = {0}, next = {0};
    feed_patch_name(job->feed, patch, name);
    const bool is_good = fetch(job, name, patch->bytes, &patch->digest, &file) &&
                         apply_patch(job, patch, &file, at, &next);
    bytes_close(&file);
    if (at->at != job->base.at) bytes_close(at);
    *at = next;
    if (is_good)
        job->outcome->steps++;
    else
        warn(job->s->args, name, "%s; the whole image is fetched instead", job->why.text);
    return is_good;
}

/* From our image to the newest, where that is cheaper than the newest itself. */
static bool fetch_patches(struct job *job) {
    uint64_t bytes = 0;
    const struct feed *feed = job->feed;
    if (job->base.size == 0) return false;
    size_t i = feed_chain(feed, version_of(job->base.at, job->base.size), &bytes);
    if (i == feed->patches || bytes >= feed->version.bytes) return false;
    struct bytes at = job->base;
    bool is_good = true;
    for (; i < feed->patches && is_good; i++) is_good = take_step(job, &feed->patch[i], &at);
    is_good = is_good && is_newest(feed, &at);
    if (is_good)
        job->result = at;
    else if (at.at != job->base.at)
        bytes_close(&at);
    if (!is_good) job->outcome->steps = 0;
    return is_good;
}

static bool fetch_whole(struct job *job) {
    char name[FEED_FILE_BYTES];
    feed_image_name(job->feed, name);
    if (!fetch(job, name, job->feed->version.bytes, &job->feed->digest, &job->result)) return false;
    if (is_newest(job->feed, &job->result)) return true;
    return refuse(job, "it is not the image that the index is about; if that is being "
                       "published just now, try again");
}

/* What somebody else put there under this name is not ours to replace. */
static bool may_replace(const struct job *job) {
    uint64_t bytes;
    const struct syncing *s = job->s;
    return job->base.size == 0 || given(s->args, OPT_FORCE) ||
           feed_state_has(&s->before, job->feed->name) ||
           feed_chain(job->feed, version_of(job->base.at, job->base.size), &bytes) <
               job->feed->patches;
}

/* Through the gate, like everything from outside. */
static bool is_image(struct job *job) {
    const struct tamis_options options = image_options(job->s->args);
    tamis *filter = NULL;
    if (tamis_view_with(&filter, job->result.at, job->result.size, &options))
        return refuse(job, "%s", tamis_why());
    const bool is_open = readers_of(filter) == TAMIS_READERS_USUAL;
    tamis_free(filter);
    return is_open || refuse(job, "it holds a secret, and is no image for others");
}

static int replace(struct job *job) {
    const struct args *args = job->s->args;
    struct outcome *outcome = job->outcome;
    if (!may_replace(job))
        return fail(args, job->path,
                    "the file is not from this publisher; use --force to replace "
                    "it");
    const bool is_patched = fetch_patches(job);
    if (!is_patched && !fetch_whole(job)) return fail(args, job->feed->name, "%s", job->why.text);
    if (!is_image(job)) return fail(args, job->feed->name, "%s", job->why.text);
    outcome->change = is_patched ? IS_PATCHED : IS_WHOLE;
    return file_write_held(args, job->path, job->edit, job->result.at, job->result.size);
}

static int sync_feed(struct syncing *s, const struct feed *feed, struct outcome *outcome) {
    struct job job = {.s = s, .feed = feed, .outcome = outcome};
    char name[FEED_FILE_BYTES];
    const void *bytes = NULL;
    size_t size = 0;
    feed_image_name(feed, name);
    int code = feed_path(s->args, s->dir, name, job.path) ? 0 : EXIT_TROUBLE;
    if (!code)
        code = file_hold(&job.edit, s->args, job.path, HOLD_TO_CHANGE_OR_MAKE, TAMIS_READERS_USUAL);
    if (!code && !tamis_edit_is_new(job.edit))
        code = check_status(s->args, job.path, tamis_edit_bytes(job.edit, &bytes, &size));
    job.base = (struct bytes){.at = (uint8_t *)(uintptr_t)bytes, .size = size};
    if (!code && !(size && is_newest(feed, &job.base))) code = replace(&job);
    bytes_close(&job.result);
    tamis_edit_close(job.edit);
    return code;
}

/* ---- All of them ---- */

static bool sync_feeds(struct syncing *s) {
    for (size_t i = 0; i < s->index.feeds && !is_stopped(); i++) {
        const struct feed *feed = &s->index.feed[i];
        struct outcome *outcome = &s->outcome[s->outcomes++];
        *outcome = (struct outcome){.name = feed->name, .image_bytes = feed->version.bytes};
        const bool is_good = sync_feed(s, feed, outcome) == 0;
        if (!is_good) {
            outcome->change = HAS_FAILED;
            s->code = EXIT_TROUBLE;
        }
        if ((is_good || feed_state_has(&s->before, feed->name)) &&
            !feed_state_add(&s->after, feed->name))
            return false;
    }
    return true;
}

/* Feeds that we wrote and nobody offers any more. */
static bool sync_gone(struct syncing *s) {
    for (size_t i = 0; i < s->before.names; i++) {
        const char *name = s->before.name[i];
        char file[FEED_FILE_BYTES];
        if (feed_named(&s->index, name)) continue;
        struct outcome *outcome = &s->outcome[s->outcomes++];
        *outcome = (struct outcome){.name = name, .change = IS_GONE};
        snprintf(file, sizeof file, "%s.tamis", name);
        if (given(s->args, OPT_DELETE))
            outcome->change = feed_remove(s->args, s->dir, file) ? HAS_FAILED : IS_DELETED;
        if (outcome->change == HAS_FAILED) s->code = EXIT_TROUBLE;
        if (outcome->change != IS_DELETED && !feed_state_add(&s->after, name)) return false;
    }
    return true;
}

static int sync_all(struct syncing *s) {
    s->outcome = calloc(s->index.feeds + s->before.names + 1, sizeof *s->outcome);
    if (!s->outcome || !sync_feeds(s) || !sync_gone(s)) return fail_memory(s->args);
    const int code = is_stopped() ? EXIT_TROUBLE : write_state(s);
    return code ? code : s->code;
}

/* ---- Reporting ---- */

static void print_outcome(const struct outcome *outcome) {
    const struct human fetched = human_bytes(outcome->fetched);
    if (outcome->change == HAS_FAILED) return; /* That was said. */
    fprintf(stderr, "%s: ", outcome->name);
    if (outcome->change == IS_SAME)
        fputs("up to date\n", stderr);
    else if (outcome->change == IS_PATCHED)
        fprintf(stderr, "patched in %s, %s instead of %s\n",
                human_number(outcome->steps, "step").text, fetched.text,
                human_bytes(outcome->image_bytes).text);
    else if (outcome->change == IS_WHOLE)
        fprintf(stderr, "fetched whole, %s\n", fetched.text);
    else if (outcome->change == IS_GONE)
        fputs("no longer published; the image stays (--delete removes it)\n", stderr);
    else
        fputs("no longer published; deleted\n", stderr);
}

struct sums {
    size_t changed, failed;
    uint64_t fetched, whole;
};

static struct sums sum_up(const struct syncing *s) {
    struct sums sums = {.fetched = s->text.size, .whole = s->text.size};
    for (size_t i = 0; i < s->outcomes; i++) {
        const enum change change = s->outcome[i].change;
        sums.changed += change == IS_PATCHED || change == IS_WHOLE || change == IS_DELETED;
        sums.failed += change == HAS_FAILED;
        sums.fetched += s->outcome[i].fetched;
        sums.whole += s->outcome[i].image_bytes;
    }
    return sums;
}

static void print_all(const struct syncing *s) {
    const struct sums sums = sum_up(s);
    for (size_t i = 0; i < s->outcomes; i++) print_outcome(&s->outcome[i]);
    fprintf(stderr, "%s: %s", s->dir, human_number(s->index.feeds, "feed").text);
    fprintf(stderr, sums.changed ? ", %s changed" : ", nothing changed",
            human_count(sums.changed).text);
    if (sums.failed) fprintf(stderr, ", %s failed", human_count(sums.failed).text);
    const struct human fetched = human_bytes(sums.fetched), whole = human_bytes(sums.whole);
    fprintf(stderr, "; %s fetched", fetched.text);
    if (sums.fetched < sums.whole && strcmp(fetched.text, whole.text) != 0)
        fprintf(stderr, " instead of %s", whole.text);
    putc('\n', stderr);
}

static void write_json(const struct syncing *s) {
    const struct sums sums = sum_up(s);
    struct json json = json_start(stdout);
    json_text(&json, "source", s->source.name);
    json_text(&json, "dir", s->dir);
    json_count(&json, "serial", s->index.serial);
    json_bool(&json, "is_signed", s->index.is_signed);
    json_bool(&json, "is_verified", given(s->args, OPT_VERIFY_KEY));
    json_count(&json, "fetched_bytes", sums.fetched);
    json_count(&json, "whole_bytes", sums.whole);
    json_open(&json, "feeds", '[');
    for (size_t i = 0; i < s->outcomes; i++) {
        const struct outcome *outcome = &s->outcome[i];
        json_open(&json, NULL, '{');
        json_text(&json, "name", outcome->name);
        json_text(&json, "change", change_word[outcome->change]);
        json_count(&json, "steps", outcome->steps);
        json_count(&json, "fetched_bytes", outcome->fetched);
        json_count(&json, "image_bytes", outcome->image_bytes);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

/* ---- The verb ---- */

static int check_operands(const struct args *args) {
    const size_t wanted = given(args, OPT_OVER) ? 1 : 2;
    if (args->operand_count == wanted) return 0;
    return fail(args, NULL,
                given(args, OPT_OVER) ? "with --over the only operand is the directory to keep"
                                      : "two operands are needed: SOURCE, and the DIR to keep");
}

static int run(const struct args *args) {
    struct syncing s = {.args = args};
    int code = check_operands(args);
    if (code) return code;
    s.dir = args->operand[args->operand_count - 1];
    code = source_open(&s.source, args);
    if (!code) code = read_state(&s);
    if (!code) code = read_index(&s);
    if (!code) code = sync_all(&s);
    if (s.outcomes && !is_stopped() && given(args, OPT_JSON))
        write_json(&s);
    else if ((s.outcomes || !code) && !is_stopped() && !given(args, OPT_QUIET))
        print_all(&s);
    tamis_edit_close(s.edit);
    source_close(&s.source);
    feed_state_free(&s.before);
    feed_state_free(&s.after);
    feed_index_free(&s.index);
    bytes_close(&s.text);
    free(s.outcome);
    return code;
}

/* clang-format off */

const struct verb verb_sync = {
    .name = "sync",
    .also = "fetch pull mirror update subscribe",
    .summary = "keep a directory of published images, fetch what changed",
    .run = run,
    .operands = OPERANDS({"SOURCE", EXACTLY_ONE, NO_STREAM}, {"DIR", AT_MOST_ONE, NO_STREAM}),
    .uses = USES(
        {.option = OPT_VERIFY_KEY, .help = "accept only an index signed with this public key"},
        {.option = OPT_OVER,
         .help = "fetch by a shell command that prints the file {}: 'ssh host cat feeds/{}'"},
        {.option = OPT_DELETE},
        {.option = OPT_FORCE, .help = "accept an older index, and replace images of others"},
        {.option = OPT_LIMIT, .help = "maximum size of a file (default: 1 GiB)"},
        {.option = OPT_TIMEOUT, .help = "seconds that the source may be silent (default: 30)"},
        {.option = OPT_SECRET_FILE}, {.option = OPT_WAIT}, {.option = OPT_JSON}),
    .examples = EXAMPLES(
        {"Keep the images of a directory that a publisher mounts or copies",
         "tamis sync /mnt/feeds feeds --verify release.key.pub"},
        {"From a web server, by curl", "tamis sync https://feeds.example/lists feeds"},
        {"From another machine, by ssh",
         "tamis sync feeds --over 'ssh host cat /srv/feeds/{}' --verify release.key.pub"}),
    .about = "SOURCE is what \"tamis publish\" made: a directory, or a URL, for which curl is run. "
             "With --over a command of yours fetches the files, and DIR is the only operand. It "
             "gets names of letters, digits, . _ + and -.\n\n"
             "For each feed of the index, DIR gets an image NAME.tamis. If it has the newest, "
             "nothing is fetched. If patches lead from the one it has to the newest, and are "
             "smaller, they are fetched and applied; otherwise the image is. Every file must have "
             "the length and the digest in the index, and the result must be the image in the "
             "index, before it replaces the old one, in one step. A feed that fails leaves its "
             "old image and does not stop the others.\n\n"
             "With --verify the index must be signed with that key, and so nobody else can change "
             "a feed. DIR remembers the serial number of the index: an older one, or another one "
             "with the same number, is refused. Feeds that are no longer published are reported, "
             "and removed with --delete. DIR/tamis.sync is what it remembers; it also locks DIR "
             "against another sync.\n\n"
             "--json prints one object: source, dir, serial, is_signed, is_verified, fetched_bytes "
             "(with the index), whole_bytes (of all images), feeds: an array with name, change "
             "(none, patched, whole, gone, deleted, failed), steps, fetched_bytes, image_bytes.",
    .exits = "0 all feeds are up to date now; 2 error, or some feeds failed.",
};
