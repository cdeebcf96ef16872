/* SPDX-License-Identifier: MIT */
/* flows.c: the names of what was recorded, in notes and in files. */
#include "cli/images/flows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/files.h"

static const char names_note[] = "flows", lines_note[] = "lines";

/* Notes have 1 MiB in all; this much of it is for others. */
enum { MAX_NAMES = 1024 * 1024 - 64 * 1024 };

void flows_free(struct flows *flows) {
    free(flows->key);
    free(flows->text);
    *flows = (struct flows){0};
}

/* ---- Names on lines ---- */

/* Cuts flows->text, which has room for one byte more than `len`, at its newlines. */
static int cut_names(struct flows *flows, const struct args *args, size_t len) {
    size_t count = len > 0 && flows->text[len - 1] != '\n';
    for (size_t i = 0; i < len; i++) count += flows->text[i] == '\n';
    flows->key = calloc(count + 1, sizeof *flows->key);
    if (!flows->key) return fail_memory(args);
    flows->text[len] = '\0';
    for (char *at = flows->text, *end; flows->count < count; at = end + 1) {
        end = memchr(at, '\n', len - (size_t)(at - flows->text));
        if (!end) end = flows->text + len;
        *end = '\0';
        flows->key[flows->count++] = (struct tamis_key){at, (size_t)(end - at)};
    }
    return 0;
}

int flows_from_file(struct flows *flows, const struct args *args, const char *path) {
    struct bytes bytes;
    int code = bytes_open(&bytes, args, path);
    if (!code) {
        flows->text = malloc(bytes.size + 1);
        if (flows->text && bytes.size) memcpy(flows->text, bytes.at, bytes.size);
        code = flows->text ? cut_names(flows, args, bytes.size) : fail_memory(args);
    }
    bytes_close(&bytes);
    return code;
}

/* ---- Names in notes ---- */

uint64_t lines_recorded(const tamis *filter) {
    uint64_t lines = 0;
    const char *note = tamis_note(filter, lines_note);
    return note && tamis_parse_count(note, &lines) ? lines : 0;
}

/* A note may say any number: what it leads to has a limit. */
static int number_lines(struct flows *flows, const struct args *args, const struct image *image,
                        uint64_t lines) {
    enum { NUMBER = 12 }; /* digits and a NUL */
    const uint64_t max = UINT64_C(1) << 30;
    if (lines > max)
        return fail(args, input_name(image->path), "%s lines are too many to try (maximum: %s)",
                    human_count(lines).text, human_count(max).text);
    flows->key = calloc((size_t)lines, sizeof *flows->key);
    flows->text = malloc((size_t)lines * NUMBER);
    if (!flows->key || !flows->text) return fail_memory(args);
    char *at = flows->text;
    for (uint64_t i = 0; i < lines; i++, at += NUMBER) {
        const int len = snprintf(at, NUMBER, "%" PRIu64, i + 1);
        flows->key[flows->count++] = (struct tamis_key){at, (size_t)len};
    }
    return 0;
}

int flows_of_image(struct flows *flows, const struct args *args, const struct image *image) {
    const uint64_t lines = lines_recorded(image->filter);
    if (lines) return number_lines(flows, args, image, lines);
    const char *names = tamis_note(image->filter, names_note);
    if (!names) return 0;
    flows->text = strdup(names);
    return flows->text ? cut_names(flows, args, strlen(names)) : fail_memory(args);
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All names once, in order, each with its newline. NULL, reported, when they do not fit. */
static char *join_names(const struct args *args, const char **names, size_t count) {
    size_t len = 0, different = 0;
    qsort(names, count, sizeof *names, by_bytes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0) {
            names[different++] = names[i];
            len += strlen(names[i]) + 1;
        }
    if (len > MAX_NAMES) {
        fail(args, NULL,
             "the names of %s flows take %s, but the image holds at most %s: use --no-names, and "
             "name them with \"tamis trace --flows LIST\"",
             human_count(different).text, human_bytes(len).text, human_bytes(MAX_NAMES).text);
        return NULL;
    }
    char *text = malloc(len + 1), *at = text;
    if (!text) return fail_memory(args), NULL;
    for (size_t i = 0; i < different; i++) at = stpcpy(stpcpy(at, names[i]), "\n");
    *at = '\0';
    return text;
}

int flows_keep(const struct args *args, tamis *filter, const char *const *names, size_t count) {
    struct flows old = {0};
    int code = flows_of_image(&old, args, &(struct image){.filter = filter});
    const char **all = code ? NULL : calloc(old.count + count + 1, sizeof *all);
    if (!code && !all) code = fail_memory(args);
    for (size_t i = 0; i < count && !code; i++)
        if (strchr(names[i], '\n'))
            code = fail(args, NULL, "a name with a newline cannot be stored; use --no-names");
    if (!code) {
        for (size_t i = 0; i < old.count; i++) all[i] = old.key[i].bytes;
        memcpy(all + old.count, names, count * sizeof *all);
        char *text = join_names(args, all, old.count + count);
        const tamis_status status = text ? tamis_set_note(filter, names_note, text) : TAMIS_OK;
        code = !text ? EXIT_TROUBLE : check_status(args, NULL, status);
        free(text);
    }
    free(all);
    flows_free(&old);
    return code;
}
