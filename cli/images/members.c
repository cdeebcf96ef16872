/* SPDX-License-Identifier: MIT */
/* members.c: which images are asked, by operands, directories and --image.
 *
 * The first operand is a set whatever it is, and so are those that follow as long as their bytes
 * say so: images and directories of images, with --from also files of that format. Names mean
 * nothing: a list called x.tamis is a list. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/feeds/feed_index.h"
#include "cli/images/filters.h"
#include "cli/images/foreign_files.h"

static bool is_directory(const char *path) {
    struct stat status;
    return !is_dash(path) && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_set(const struct args *args, const char *path) {
    return file_is_image(path) || (given(args, OPT_FROM) && foreign_is_that(args, path));
}

/* ---- Finding ---- */

/* Takes the path, which is on the heap; NULL: memory is out. */
static int add_path(struct filters *filters, char *path) {
    const size_t n = filters->n;
    if (!path || !list_grow(&filters->member, &filters->room, n + 1, sizeof *filters->member)) {
        free(path);
        return fail_memory(filters->args);
    }
    filters->member[filters->n++] = (struct member){.path = path};
    return 0;
}

static char *path_in(const char *dir, const char *name) {
    const size_t len = strlen(dir), size = len + strlen(name) + 2;
    const bool has_slash = len > 0 && dir[len - 1] == '/';
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s", dir, has_slash ? "" : "/", name);
    return path;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(((const struct member *)a)->path, ((const struct member *)b)->path);
}

/* Entries that are none, and the first of them by name. */
struct others {
    size_t n;
    char first[NAME_MAX + 1];
};

static void note_other(struct others *others, const char *name) {
    if (others->n++ > 0 && strcmp(name, others->first) > 0) return;
    snprintf(others->first, sizeof others->first, "%s", name);
}

/* "words.tamis.5e1f03ab.tmp" is being written, or was when its writer was killed. */
static bool is_unfinished(const char *name) {
    enum { TAIL = sizeof ".5e1f03ab.tmp" - 1 };
    const size_t len = strlen(name);
    if (len <= TAIL) return false;
    const char *at = name + len - TAIL;
    return at[0] == '.' && strspn(at + 1, "0123456789abcdef") == 8 && strcmp(at + 9, ".tmp") == 0;
}

static int add_entries(struct filters *filters, const char *path, DIR *dir, struct others *others) {
    const struct dirent *entry;
    int code = 0;
    while (!code && (errno = 0, entry = readdir(dir))) {
        const char *name = entry->d_name;
        if (name[0] == '.' || is_unfinished(name) || feed_file_is_aside(name)) continue;
        char *inside = path_in(path, name);
        if (inside && !is_set(filters->args, inside)) {
            note_other(others, name);
            free(inside);
        } else {
            code = add_path(filters, inside);
        }
    }
    if (!code && errno) code = fail(filters->args, path, "cannot read: %s", strerror(errno));
    return code;
}

/* What files are to be: "an image", "images", or the format that --from names. */
static struct human wanted(const struct args *args, const char *ours) {
    const char *from = args->setting[OPT_FROM].text;
    return from ? human_words("%.*s", (int)strcspn(from, ":"), from) : human_words("%s", ours);
}

/* "3 files are not images, such as README.md" */
static void warn_others(const struct args *args, const char *path, const struct others *others) {
    if (others->n == 1)
        warn(args, path, "1 file is not %s: %s", wanted(args, "an image").text, others->first);
    else if (others->n > 1)
        warn(args, path, "%s files are not %s, such as %s", human_count(others->n).text,
             wanted(args, "images").text, others->first);
}

static int add_directory(struct filters *filters, const char *path) {
    const struct args *args = filters->args;
    const size_t before = filters->n;
    struct others others = {0};
    DIR *dir = opendir(path);
    if (!dir) return fail(args, path, "cannot open the directory: %s", strerror(errno));
    const int code = add_entries(filters, path, dir, &others);
    closedir(dir);
    if (code) return code;
    if (filters->n == before && others.n == 0) return fail(args, path, "the directory is empty");
    if (filters->n == before && given(args, OPT_FROM) && !foreign_is_framed(args))
        return fail(args, path,
                    "a file does not say that it is %s, so name each file: --image FILE",
                    wanted(args, "an image").text);
    if (filters->n == before)
        return fail(args, path, "no file in the directory is %s; the first is %s",
                    wanted(args, "an image").text, others.first);
    warn_others(args, path, &others);
    qsort(filters->member + before, filters->n - before, sizeof *filters->member, compare_paths);
    return 0;
}

static int add(struct filters *filters, const char *path) {
    return is_directory(path) ? add_directory(filters, path) : add_path(filters, strdup(path));
}

static int find(struct filters *filters) {
    const struct args *args = filters->args;
    int code = 0;
    for (size_t i = 0; i < args->repeated_count && !code; i++)
        if (args->repeated[i].option == OPT_IMAGES) code = add(filters, args->repeated[i].text);
    for (size_t i = 0; i < args->operand_count && !code; i++) {
        const char *path = args->operand[i];
        const bool is_first = i == 0 && !given(args, OPT_IMAGES);
        const bool may_be = i == filters->operands && !given(args, OPT_IMAGES);
        if (is_first || (may_be && (is_directory(path) || is_set(args, path)))) {
            filters->operands++;
            code = add(filters, path);
        } else if (is_set(args, path)) {
            code = fail(args, path, "this is an image, not a list: %s",
                        given(args, OPT_IMAGES) ? "name it with --image too"
                                                : "images come before the files to check");
        }
    }
    return code;
}

/* The parser cannot know where images end. */
static int check_stdin(const struct filters *filters) {
    const struct args *args = filters->args;
    size_t uses = filters->operands == args->operand_count; /* no FILE */
    for (size_t j = 0; j < filters->n; j++) uses += is_dash(filters->member[j].path);
    for (size_t i = filters->operands; i < args->operand_count; i++)
        uses += is_dash(args->operand[i]);
    return uses > 1 ? fail(args, NULL, "standard input can be read only once") : 0;
}

/* ---- Names ---- */

/* Without the directory, unless `is_whole`, and without ".tamis". */
static char *name_of(const char *path, bool is_whole) {
    static const char ending[] = ".tamis";
    const char *slash = is_whole ? NULL : strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = strlen(name);
    const size_t end = sizeof ending - 1;
    if (len > end && strcmp(name + len - end, ending) == 0) len -= end;
    return strndup(name, len);
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(struct member *const *)a)->name, (*(struct member *const *)b)->name);
}

/* Those that are called alike in different directories are called by their whole path. */
static bool tell_apart(struct filters *filters) {
    const size_t n = filters->n;
    struct member **by_name = calloc(n, sizeof *by_name);
    bool is_whole = by_name != NULL;
    for (size_t j = 0; is_whole && j < n; j++) by_name[j] = &filters->member[j];
    if (is_whole) qsort(by_name, n, sizeof *by_name, compare_names);
    for (size_t j = 0, same; is_whole && j < n; j += same) {
        for (same = 1; j + same < n && compare_names(&by_name[j], &by_name[j + same]) == 0;) same++;
        for (size_t k = j; same > 1 && k < j + same && is_whole; k++) {
            free(by_name[k]->name);
            by_name[k]->name = name_of(by_name[k]->path, true);
            is_whole = by_name[k]->name != NULL;
        }
    }
    free(by_name);
    return is_whole;
}

/* ---- Opening ---- */

/* A large image that is mapped keeps its file open. */
static void allow_many_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_member(const struct filters *filters, struct member *member) {
    const struct args *args = filters->args;
    struct image *image = &member->image;
    const bool is_own = file_is_image(member->path);
    int code = is_own ? image_open_own(image, args, member->path, TO_ASK)
                      : image_open(image, args, member->path, TO_ASK);
    if (!code) code = image_knows_keys(args, image);
    if (!code && given(args, OPT_LABELS))
        code = image_needs(args, image, TAMIS_CAN_LABEL, "have labels");
    if (!code && member != filters->member)
        code = form_is_shared(args, &filters->member[0].image, image);
    if (code) return code;
    const struct tamis_info info = info_of(image->filter);
    if (!hashes_itself(image->filter)) member->hash = info.hash;
    member->seed = info.seed;
    member->key_id = info.key_id;
    member->name = name_of(member->path, false);
    return member->name ? 0 : fail_memory(args);
}

int filters_open(struct filters *filters, const struct args *args) {
    enum { MANY = 100 };
    *filters = (struct filters){.args = args,
                                .tells_which = given(args, OPT_WHICH) || given(args, OPT_LABELS) ||
                                               given(args, OPT_JSON)};
    int code = find(filters);
    if (!code) code = check_stdin(filters);
    if (!code && filters->n > MANY) allow_many_files();
    for (size_t j = 0; j < filters->n && !code; j++)
        code = open_member(filters, &filters->member[j]);
    if (code) return code;
    return tell_apart(filters) && filters_sort(filters) ? 0 : fail_memory(args);
}

void filters_close(struct filters *filters) {
    for (size_t j = 0; j < filters->n; j++) {
        struct member *member = &filters->member[j];
        image_close(&member->image);
        free(member->path);
        free(member->name);
        free(member->label);
    }
    free(filters->member);
    free(filters->order);
    free(filters->found);
}
