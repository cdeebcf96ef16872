/* SPDX-License-Identifier: MIT */
/* watch.c: `tamis watch`, check for files that grow, with images that are replaced. */
#include "cli/keys/follow_files.h"
#include "cli/verbs/check.h"

#include <stdlib.h>
#include <sys/stat.h>

/* An image, or a directory of images. */
struct watched {
    const char *path;
    bool is_named;    /* by the user: it does not just go */
    bool is_missed;   /* it was reported that it is gone */
    bool has_changed; /* since the images were opened */
    struct stat then;
};

struct watching {
    const struct args *args;
    struct keys keys;
    struct follow follow;
    struct checking checking;
    struct watched *watched;
    size_t count;
};

/* ---- What is watched ---- */

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* While a file is removed it may still be found, without a name. */
static bool is_there(const char *path, struct stat *status) {
    return stat(path, status) == 0 && status->st_nlink > 0;
}

static const struct member *member_at(const struct filters *filters, const char *path) {
    for (size_t i = 0; i < filters->n; i++)
        if (strcmp(filters->member[i].path, path) == 0) return &filters->member[i];
    return NULL;
}

static struct watched *watched_at(const struct watching *watching, const char *path) {
    for (size_t i = 0; i < watching->count; i++)
        if (strcmp(watching->watched[i].path, path) == 0) return &watching->watched[i];
    return NULL;
}

static void add_watched(struct watching *watching, const struct watching *before, const char *path,
                        bool is_named) {
    if (is_dash(path) || watched_at(watching, path)) return;
    const struct watched *old = watched_at(before, path);
    struct watched watched = {.path = path, .is_named = is_named};
    if (old)
        watched.then = old->then;
    else if (!is_there(path, &watched.then))
        watched.then = (struct stat){0};
    follow_also(&watching->follow, path);
    watching->watched[watching->count++] = watched;
}

/* The images as they are named, and those in directories. What was listed already keeps the time
 * from before it was opened, so that nothing is missed. Before the first are opened, any operand
 * may be one. */
static int list_watched(struct watching *watching, const struct filters *filters) {
    const struct args *args = watching->args;
    const struct watching before = *watching;
    const size_t operands = filters ? filters->operands : args->operand_count;
    const size_t members = filters ? filters->n : 0;
    watching->watched =
        calloc(operands + args->repeated_count + members + 1, sizeof *watching->watched);
    watching->count = 0;
    if (!watching->watched) {
        *watching = before;
        return fail_memory(args);
    }
    for (size_t i = 0; i < operands; i++) add_watched(watching, &before, args->operand[i], true);
    for (size_t i = 0; i < args->repeated_count; i++)
        if (args->repeated[i].option == OPT_IMAGES)
            add_watched(watching, &before, args->repeated[i].text, true);
    for (size_t i = 0; i < members; i++)
        add_watched(watching, &before, filters->member[i].path, false);
    free(before.watched);
    return 0;
}

/* ---- Images that change ---- */

/* Whether there is something new to open. */
static bool has_news(struct watching *watching) {
    bool has = false, lacks = false;
    for (size_t i = 0; i < watching->count; i++) {
        struct watched *watched = &watching->watched[i];
        struct stat now;
        if (!is_there(watched->path, &now)) {
            lacks |= watched->is_named;
            has |= !watched->is_named;
            if (watched->is_named && !watched->is_missed)
                remark(watching->args, watched->path, "is gone; its last version still answers");
            watched->is_missed = true;
            continue;
        }
        watched->is_missed = false;
        if (is_same(&now, &watched->then)) continue;
        has = watched->has_changed = true;
        watched->then = now;
        follow_also(&watching->follow, watched->path);
    }
    return has && !lacks;
}

static struct human keys_in(const struct filters *filters, const char *path) {
    const struct member *member = path ? member_at(filters, path) : NULL;
    if (path && !member) return human_number(filters->n, "image");
    uint64_t keys = 0;
    for (size_t i = 0; i < filters->n; i++) {
        const tamis *filter = filters->member[i].image.filter;
        if (member && member != &filters->member[i]) continue;
        const uint64_t items = info_of(filter).items, marks = count_marks(filter, NULL, NULL);
        keys += items > marks ? items - marks : 0;
    }
    return human_number(keys, "key");
}

static bool are_same_images(const struct filters *a, const struct filters *b) {
    for (size_t i = 0; i < a->n && a->n == b->n; i++)
        if (!member_at(b, a->member[i].path)) return false;
    return a->n == b->n;
}

/* A directory changes also when something that is no image comes, or an image in it is replaced. */
static void remark_changes(const struct watching *watching, const struct filters *next) {
    const bool is_same = are_same_images(&watching->checking.filters, next);
    for (size_t i = 0; i < watching->count; i++) {
        const struct watched *watched = &watching->watched[i];
        const bool is_image = member_at(next, watched->path);
        if (watched->has_changed && (is_image || !is_same))
            remark(watching->args, watched->path, "reloaded, %s",
                   keys_in(next, watched->path).text);
    }
}

/* Keys get the form of these images and of no others before them. */
static int ask_them(struct watching *watching) {
    struct checking *checking = &watching->checking;
    const int code = form_given(watching->args, &watching->keys.cutting.form);
    filters_hash(&checking->filters, &watching->keys);
    check_printing(checking, watching->args);
    checking->hits.prints_in_order = true; /* also where only the next images have labels */
    checking->hits.max_is_of_all = true;
    return code ? code : several_start(&watching->keys);
}

/* Others take the place of the old images when they are whole; until then the old ones answer. */
static void look(void *with) {
    struct watching *watching = with;
    const struct args *args = watching->args;
    struct filters *filters = &watching->checking.filters, next;
    if (!has_news(watching)) return;
    int code = filters_open(&next, args);
    if (!code && next.operands != filters->operands)
        code = fail(args, args->operand[next.operands], "is no image any more");
    if (code) {
        remark(args, NULL, "not reloaded; what was loaded before still answers");
        filters_close(&next);
        return;
    }
    remark_changes(watching, &next);
    struct filters old = *filters;
    if (list_watched(watching, &next)) { /* Its paths are those of the images. */
        filters_close(&next);
        return;
    }
    *filters = next;
    ask_them(watching);
    filters_close(&old);
}

/* ---- The verb ---- */

static int run(const struct args *args) {
    struct watching *watching = calloc(1, sizeof *watching);
    if (!watching) return fail_memory(args);
    struct filters *filters = &watching->checking.filters;
    struct follow *follow = &watching->follow;
    watching->args = args;
    follow->notices = -1;
    catch_signals();
    int code = list_watched(watching, NULL);
    if (!code) code = filters_open(filters, args);
    if (!code) code = keys_open(&watching->keys, args, filters->operands);
    if (!code) code = ask_them(watching);
    if (!code) code = follow_open(follow, &watching->keys, given(args, OPT_FROM_START));
    if (!code) code = list_watched(watching, filters);
    if (!code) {
        follow->look = look;
        follow->look_with = watching;
        remark(args, NULL, "watching %s for %s in %s", human_number(follow->count, "file").text,
               keys_in(filters, NULL).text, human_number(filters->n, "image").text);
        code = query_keys(&watching->keys, &watching->checking.hits, check_ask);
        forget_stop();
        if (follow->had_trouble) code = EXIT_TROUBLE;
        if (watching->checking.is_short_of_memory) code = fail_memory(args);
    }
    follow_close(follow);
    filters_close(filters);
    keys_close(&watching->keys);
    free(watching->watched);
    free(watching);
    return code;
}

/* clang-format off */

const struct verb verb_watch = {
    .name = "watch",
    .also = "follow tail",
    .summary = "print the keys that are in the set, as files grow",
    .run = run,
    .operands = OPERANDS({"IMAGE", ONE_OR_MORE, NO_STREAM},
                         {"FILE", ANY_NUMBER, READS_STDIN_UNLESS_GIVEN}),
    .uses = USES(
        {.option = OPT_FROM_START},
        {.option = OPT_MAX_COUNT, .help = "stop after N lines were printed"},
        {.option = OPT_POLL},
        {.option = OPT_INVERT,
         .help = "print the lines that are certainly not in any of the sets"},
        {.option = OPT_WHICH},
        {.option = OPT_LABELS, .help = "same as --which, for images with labels"},
        {.option = OPT_IMAGES}, {.option = OPT_ONLY_MATCHING}, {.option = OPT_LINE_NUMBER},
        {.option = OPT_WITH_FILENAME,
         .help = "print the file name before each line (default with several FILEs)"},
        {.option = OPT_NO_FILENAME},
        {.option = OPT_JSON, .help = "print one JSON object per line"},
        {.option = OPT_QUIET, .help = "print nothing, stop at the first match"},
        KEY_OPTIONS, {.option = OPT_SECRET_FILE}, FROM_OPTION),
    .examples =
        EXAMPLES({"Print requests that are on the list, as they come",
                  "tamis watch blocklist.tamis -d ' ' --field 1 /var/log/nginx/access.log"},
                 {"Watch several logs, from their first line on",
                  "tamis watch --from-start blocklist.tamis dns.log proxy.log"},
                 {"Print which of the lists in a directory have them, as JSON",
                  "tamis watch --json feeds/ dns.log"},
                 {"Wait for the first hit",
                  "tamis watch -q blocklist.tamis dns.log && alarm"}),
    .about = "Like \"tail -F FILE... | tamis check IMAGE\": prints each new line whose key is in "
             "the set, as soon as the line is complete. Starts at the end of each file; a file "
             "that does not exist yet is awaited, and read from its start. A file that is replaced "
             "under its name, as logs are rotated, is read to its end before the new one; a file "
             "that is truncated is read from its start. All that is reported on standard error.\n\n"
             "When an image is replaced, or one is added to a directory of images, all are loaded "
             "anew and answer from the next line on. If one of them is damaged, this is reported "
             "and the old ones stay in use.\n\n"
             "Sets, --which, --json and the options of grep are those of \"tamis check\", except "
             "that -m counts the lines of all files. Standard input may be one of the files (-). "
             "Compressed files, and CSV with a header or quoted line breaks, are refused: \"tamis "
             "check\" reads them.\n\n"
             "On Linux the system notifies of changes. Where it cannot, as with files of other "
             "hosts, they are looked at once a second (see --poll). Lines longer than 4 MiB are "
             "reported and skipped. SIGINT, SIGTERM and -m N end the command."
             ABOUT_FORM,
    .exits = "0 a line was printed, 1 none was, 2 error.",
};
