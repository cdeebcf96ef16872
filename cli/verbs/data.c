/* SPDX-License-Identifier: MIT */
/* data.c: `tamis set-data` and `tamis get-data`, a text that travels with the image.
 *
 * It is the note with the name "data". Notes are text, and so is this: bytes that are not are
 * refused, by the library.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char note[] = "data";

/* All notes of an image together have this room; more is an error. */
enum { MAX_BYTES = 1024 * 1024 };

/* Reads all of standard input into a new text; NULL, reported, when that fails. */
static char *read_text(const struct args *args) {
    const char *name = input_name("-");
    char *text = malloc(MAX_BYTES + 2);
    const ssize_t len = text ? read_full(STDIN_FILENO, text, MAX_BYTES + 1) : 0;
    if (!text)
        fail_memory(args);
    else if (len < 0)
        fail(args, name, "cannot read: %s", strerror(errno));
    else if (len > MAX_BYTES)
        fail(args, name, "more than 1 MiB, the maximum for all notes of an image");
    else if (memchr(text, '\0', (size_t)len))
        fail(args, name, "contains a NUL byte; notes are UTF-8 text without NUL");
    else
        return text[len] = '\0', text;
    free(text);
    return NULL;
}

static int run_set(const struct args *args) {
    struct image image = {0};
    int code = image_open_to_change(&image, args);
    char *text = code ? NULL : read_text(args);
    if (!text) code = EXIT_TROUBLE;
    if (!code)
        code = check_status(args, input_name("-"),
                            tamis_set_note(image.filter, note, *text ? text : NULL));
    if (!code) code = image_save(args, &image);
    free(text);
    image_close(&image);
    return code;
}

static int run_get(const struct args *args) {
    struct image image;
    int code = image_open(&image, args, args->operand[0], TO_ASK);
    const char *text = code ? NULL : tamis_note(image.filter, note);
    if (text) fputs(text, stdout); /* as it came: it may end in a newline, or not */
    image_close(&image);
    return code ? code : text ? EXIT_FOUND : EXIT_NOTHING;
}

/* clang-format off */

const struct verb verb_set_data = {
    .name = "set-data",
    .also = "note annotate",
    .aliases = "sd",
    .summary = "store a text in an image",
    .run = run_set,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, NO_STREAM}),
    .uses = USES(CHANGE_OPTIONS, {.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"Record where it comes from", "date | tamis set-data blocklist.tamis"},
                         {"Remove it", "tamis set-data blocklist.tamis </dev/null"}),
    .about = "Replaces the note \"data\" of the image with standard input, UTF-8 text of up to 1 "
             "MiB; empty input removes it. Other notes are set by --note of build and add; "
             "\"tamis info\" lists all of them.",
};

const struct verb verb_get_data = {
    .name = "get-data",
    .also = "notes",
    .aliases = "gd",
    .summary = "print the text stored by set-data",
    .run = run_get,
    .operands = OPERANDS({"IMAGE", EXACTLY_ONE, READS_STDIN}),
    .uses = USES({.option = OPT_SECRET_FILE}),
    .examples = EXAMPLES({"Print where it comes from", "tamis get-data blocklist.tamis"}),
    .about = "Prints the text unchanged.",
    .exits = "0 there is a text, 1 there is none, 2 error.",
};
