/* SPDX-License-Identifier: MIT */
/* foreign_files.c: filters of other systems come in and go out. */
#include "cli/images/foreign_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

/* ---- Which format ---- */

int format_exists(const struct args *args, const char *said, const char *text,
                  struct tamis_format_info *format) {
    char name[64];
    struct nearest nearest = {.typed = name};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    *format = (struct tamis_format_info)TAMIS_FORMAT_INFO_INIT;
    if (tamis_format_named(name, format)) return 0;
    for (size_t i = 0; tamis_format_at(i, format); i++) nearest_try(&nearest, format->name);
    const char *meant = nearest.name;
    if (meant) return fail(args, said, "unknown format \"%s\"; did you mean \"%s\"?", name, meant);
    return fail(args, said, "unknown format \"%s\"; \"tamis formats\" lists them", name);
}

int foreign_open(struct bytes *bytes, const struct args *args, const char *path) {
    const char *when = args->setting[OPT_DECOMPRESS].text;
    const int code = bytes_open(bytes, args, path);
    if (code || (when && strcmp(when, "never") == 0)) return code;
    return bytes_unpack(bytes, args);
}

/* ---- Large files ---- */

/* A file of which the library fetches what leads to a filter: a Parquet file may well be larger
 * than memory. All others are read whole. */
struct file {
    struct bytes bytes;
    int fd; /* of a large one; -1: it is in `bytes` */
    struct stat then;
};

static bool read_part(void *with, uint64_t offset, void *bytes, size_t size) {
    const struct file *file = with;
    for (uint8_t *to = bytes; size > 0;) {
        const ssize_t got = pread(file->fd, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

/* Compressed files are no tables: they start otherwise, and are unpacked in memory. */
static bool is_large(struct file *file, const struct args *args, const char *path) {
    uint8_t start[16];
    file->fd = is_dash(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0) return false;
    if (fstat(file->fd, &file->then) == 0 && S_ISREG(file->then.st_mode) &&
        (uint64_t)file->then.st_size > memory_wanted(args) &&
        read_part(file, 0, start, sizeof start) && !packing_of(start, sizeof start))
        return true;
    close(file->fd);
    file->fd = -1;
    return false;
}

static int file_open(struct file *file, const struct args *args, const char *path,
                     const struct tamis_format_info *format) {
    *file = (struct file){.bytes.path = input_name(path), .fd = -1};
    if (!format->has_several || !is_large(file, args, path))
        return foreign_open(&file->bytes, args, path);
    file->bytes.size = (size_t)file->then.st_size;
    return 0;
}

/* What was fetched in several steps must be of one file. */
static int file_check(const struct file *file, const struct args *args) {
    return file->fd < 0 || file_is_as_it_was(file->fd, &file->then)
               ? 0
               : fail(args, file->bytes.path, "the file changed while it was read");
}

static void file_close(struct file *file) {
    if (file->fd >= 0) close(file->fd);
    bytes_close(&file->bytes);
}

static tamis_status find_all(struct file *file, const char *format, tamis_finder *each,
                             void *with) {
    const struct bytes *bytes = &file->bytes;
    return file->fd >= 0 ? tamis_format_scan_from(format, read_part, file, bytes->size, each, with)
                         : tamis_format_scan(format, bytes->at, bytes->size, each, with);
}

/* ---- One of several ---- */

struct choices {
    uint64_t n;
    char first[256];  /* how to choose the first few */
    const char *keys; /* the encoding of all of them, if the file records it */
};

static bool take_choice(void *with, const struct tamis_found *found) {
    enum { SHOWN = 2 };
    struct choices *choices = with;
    const size_t len = strlen(choices->first);
    const char *keys = found->keys ? encoding_named(found->keys) : NULL;
    choices->keys = choices->n == 0 || choices->keys == keys ? keys : NULL;
    if (choices->n < SHOWN)
        snprintf(choices->first + len, sizeof choices->first - len, "%s%s", len ? " or " : "",
                 found->choose);
    choices->n++;
    return true;
}

static struct choices choices_in(struct file *file, const char *format) {
    struct choices choices = {0};
    if (find_all(file, format, take_choice, &choices)) choices.n = 0;
    return choices;
}

/* What to type instead, where the file holds more than the one that was not found. */
static int fail_import(const struct args *args, struct file *file,
                       const struct tamis_format_info *format, tamis_status status) {
    const struct bytes *bytes = &file->bytes;
    const char *text = args->setting[OPT_FROM].text;
    char why[512];
    snprintf(why, sizeof why, "%s", tamis_why());
    if (status != TAMIS_INVALID && status != TAMIS_NOT_FOUND)
        return fail(args, bytes->path, "%s", why);
    const struct choices choices =
        format->has_several ? choices_in(file, format->name) : (struct choices){0};
    if (choices.n == 0) return fail(args, bytes->path, "--from %s: %s", text, why);
    return fail(args, bytes->path,
                "--from %s: %s; for example %s; \"tamis info --from %s %s\" lists all %s", text,
                why, choices.first, format->name, bytes->path, human_count(choices.n).text);
}

/* ---- In ---- */

/* A file that records its key encoding is believed. */
static tamis_status note_encoding(tamis *filter, struct file *file,
                                  const struct tamis_format_info *format, const char *text) {
    if (!format->has_several || tamis_note(filter, "encoding")) return TAMIS_OK;
    const struct choices choices = choices_in(file, text);
    return choices.keys ? tamis_set_note(filter, "encoding", choices.keys) : TAMIS_OK;
}

int foreign_try(struct image *image, const struct args *args, const char *path,
                tamis_status *status) {
    const char *text = args->setting[OPT_FROM].text;
    const struct tamis_options options = image_options(args);
    struct tamis_format_info format;
    struct file file = {.fd = -1};
    *image = (struct image){.path = path};
    *status = TAMIS_OK;
    int code = format_exists(args, "--from", text, &format);
    if (!code) code = file_open(&file, args, path, &format);
    const struct bytes *bytes = &file.bytes;
    if (!code)
        *status =
            file.fd >= 0
                ? tamis_import_from(&image->filter, text, read_part, &file, bytes->size, &options)
                : tamis_import_with(&image->filter, text, bytes->at, bytes->size, &options);
    if (!code && *status && *status != TAMIS_CORRUPT)
        code = fail_import(args, &file, &format, *status);
    if (!code && !*status) *status = note_encoding(image->filter, &file, &format, text);
    if (!code) code = file_check(&file, args);
    file_close(&file);
    return code;
}

/* One is enough. */
static bool take_none(void *with, const struct tamis_found *found) {
    (void)with, (void)found;
    return false;
}

static bool is_framed(const struct args *args, char *name, size_t size) {
    struct tamis_format_info format = TAMIS_FORMAT_INFO_INIT;
    const char *text = args->setting[OPT_FROM].text;
    snprintf(name, size, "%.*s", (int)strcspn(text, ":"), text);
    return tamis_format_named(name, &format) && format.has_several;
}

bool foreign_is_framed(const struct args *args) {
    char name[64];
    return is_framed(args, name, sizeof name);
}

bool foreign_is_that(const struct args *args, const char *path) {
    char name[64];
    if (!is_framed(args, name, sizeof name) || is_dash(path)) return false;
    struct file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    bool is_it = file.fd >= 0 && fstat(file.fd, &file.then) == 0 && S_ISREG(file.then.st_mode);
    if (is_it)
        is_it = tamis_format_scan_from(name, read_part, &file, (uint64_t)file.then.st_size,
                                       take_none, NULL) == TAMIS_OK;
    if (file.fd >= 0) close(file.fd);
    return is_it;
}

/* ---- Out ---- */

/* The file is begun with the first byte: what is refused before leaves no file. */
struct outgoing {
    const struct args *args;
    const char *path;
    struct new_file file;
    bool is_begun, has_failed; /* the latter is told */
    uint64_t written;
};

static bool put_bytes(void *ctx, const void *bytes, size_t size) {
    struct outgoing *out = ctx;
    if (!out->is_begun && !out->has_failed) {
        out->has_failed = file_begin(&out->file, out->args, out->path, TAMIS_READERS_USUAL) != 0;
        out->is_begun = !out->has_failed;
    }
    if (out->has_failed || !file_put(&out->file, bytes, size)) out->has_failed = true;
    out->written += size;
    return !out->has_failed;
}

int foreign_write(const struct args *args, const struct image *image, const char *path,
                  uint64_t *written) {
    const char *text = args->setting[OPT_TO].text;
    struct outgoing out = {.args = args, .path = path};
    const tamis_status status = tamis_export(image->filter, text, put_bytes, &out);
    if (!status && !out.is_begun) put_bytes(&out, "", 0); /* a file of no bytes is one too */
    *written = out.written;
    const int code = out.is_begun ? file_end(&out.file, !status) : EXIT_TROUBLE;
    if (!status || out.has_failed) return code;
    if (status == TAMIS_INVALID) return fail(args, NULL, "--to %s: %s", text, tamis_why());
    return fail_why(args, input_name(image->path), status);
}

/* ---- All of several ---- */

struct listing {
    struct json *json; /* or NULL */
    uint64_t n;
    int choose, kind, size, offset, keys; /* how wide they are */
};

bool foreign_is_list(const struct args *args) {
    struct tamis_format_info format = TAMIS_FORMAT_INFO_INIT;
    const char *text = args->setting[OPT_FROM].text;
    return text && tamis_format_named(text, &format) && format.has_several;
}

static int wider(int width, const char *text) {
    const int len = (int)strlen(text);
    return len > width ? len : width;
}

static const char *or_none(const char *keys) {
    return keys ? keys : "-";
}

static bool measure_found(void *with, const struct tamis_found *found) {
    struct listing *listing = with;
    listing->n++;
    listing->choose = wider(listing->choose, found->choose);
    listing->kind = wider(listing->kind, found->kind);
    listing->size = wider(listing->size, human_bytes(found->size).text);
    listing->offset = wider(listing->offset, human_count(found->offset).text);
    listing->keys = wider(listing->keys, or_none(found->keys));
    return true;
}

static void print_row(const struct listing *l, enum role role, const char *const column[]) {
    printf("  %s%-*s%s  %-*s  %*s  %*s  %-*s  ", color(stdout, role), l->choose, column[0],
           color(stdout, ROLE_TEXT), l->kind, column[1], l->size, column[2], l->offset, column[3],
           l->keys, column[4]);
    human_text(stdout, column[5]);
    putchar('\n');
}

static bool print_found(void *with, const struct tamis_found *found) {
    const struct human size = human_bytes(found->size), offset = human_count(found->offset);
    print_row(with, ROLE_NAME,
              (const char *[]){found->choose, found->kind, size.text, offset.text,
                               or_none(found->keys), found->name});
    return true;
}

static bool write_found(void *with, const struct tamis_found *found) {
    struct listing *listing = with;
    json_open(listing->json, NULL, '{');
    json_text(listing->json, "name", found->name);
    json_text(listing->json, "choose", found->choose);
    json_text(listing->json, "kind", found->kind);
    json_text(listing->json, "keys", found->keys);
    json_count(listing->json, "offset", found->offset);
    json_count(listing->json, "size_bytes", found->size);
    json_close(listing->json, '}');
    return true;
}

static void print_list(const struct args *args, struct file *file, struct listing *listing) {
    const char *text = args->setting[OPT_FROM].text;
    color_words(stdout, ROLE_HEADING, file->bytes.path);
    printf(": %s\n", human_number(listing->n, "filter").text);
    if (listing->n == 0) return;
    print_row(listing, ROLE_HEADING,
              (const char *[]){"select with", "kind", "size", "offset", "keys", "filter"});
    find_all(file, text, print_found, listing);
}

static void write_list(const struct args *args, const char *path, struct file *file) {
    struct json json = json_start(stdout);
    struct listing listing = {.json = &json};
    const char *text = args->setting[OPT_FROM].text;
    json_text(&json, "file", path);
    json_text(&json, "from", text);
    json_open(&json, "filters", '[');
    find_all(file, text, write_found, &listing);
    json_close(&json, ']');
    json_end(&json);
}

int foreign_list(const struct args *args, const char *path, bool is_first) {
    struct listing listing = {.choose = 12, .kind = 4, .size = 4, .offset = 6, .keys = 4};
    const char *text = args->setting[OPT_FROM].text;
    struct tamis_format_info format;
    struct file file = {.fd = -1};
    int code = format_exists(args, "--from", text, &format);
    if (!code) code = file_open(&file, args, path, &format);
    if (!code)
        code = check_status(args, file.bytes.path, find_all(&file, text, measure_found, &listing));
    if (!code && given(args, OPT_JSON)) {
        write_list(args, path, &file);
    } else if (!code) {
        if (!is_first) putchar('\n');
        print_list(args, &file, &listing);
    }
    if (!code) code = file_check(&file, args);
    file_close(&file);
    return code;
}
