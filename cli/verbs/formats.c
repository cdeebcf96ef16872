/* SPDX-License-Identifier: MIT */
/* formats.c: `tamis formats`, which files of other systems can be read and written. */
#include "cli/images/foreign_files.h"

#include <string.h>

#include "cli/cli.h"

/* ---- For people ---- */

/* "a b c" with commas. */
struct list {
    char text[256];
};

static struct list with_commas(const char *words) {
    struct list list = {""};
    size_t len = 0;
    for (; *words && len + 2 < sizeof list.text; words++) {
        if (*words == ' ') list.text[len++] = ',';
        list.text[len++] = *words;
    }
    return list;
}

static void print_brief(const struct tamis_format_info *format, int width) {
    const int column = width + 2;
    char words[1024];
    printf("%s%-*s%s  ", color(stdout, ROLE_NAME), width, format->name, color(stdout, ROLE_TEXT));
    print_paragraph(stdout, format->system, column, column);
    snprintf(words, sizeof words, "%s; %s %s; keys %s",
             format->can_write ? "read, written" : "read",
             strchr(format->kinds, ' ') ? "kinds" : "kind", with_commas(format->kinds).text,
             with_commas(format->keys).text);
    printf("%*s", column, "");
    print_paragraph(stdout, words, column, column);
}

static void print_all(void) {
    struct tamis_format_info format = TAMIS_FORMAT_INFO_INIT;
    int width = 0; /* of the widest */
    for (size_t i = 0; tamis_format_at(i, &format); i++)
        if ((int)strlen(format.name) > width) width = (int)strlen(format.name);
    for (size_t i = 0; tamis_format_at(i, &format); i++) print_brief(&format, width);
    puts("\n\"tamis formats NAME\" lists the parameters and limits of one.");
}

static void print_line_of(const char *label, const char *text) {
    enum { COLUMN = 18 };
    printf("  %s%-16s%s", color(stdout, ROLE_NAME), label, color(stdout, ROLE_TEXT));
    print_paragraph(stdout, text, COLUMN, COLUMN);
}

static void print_whole(const struct tamis_format_info *format) {
    color_words(stdout, ROLE_HEADING, format->name);
    printf(": ");
    print_paragraph(stdout, format->system, (int)strlen(format->name) + 2, 2);
    print_line_of("can be", format->can_write ? "read and written" : "read");
    print_line_of("a file holds", format->has_several
                                      ? "several filters: \"tamis info --from\" lists them"
                                      : "one filter");
    print_line_of(strchr(format->kinds, ' ') ? "kinds" : "kind", with_commas(format->kinds).text);
    print_line_of("keys", with_commas(format->keys).text);
    if (format->limits) print_line_of("limits", format->limits);
    if (format->param_count == 0) return;
    putchar('\n');
    color_words(stdout, ROLE_HEADING, "Parameters:");
    putchar('\n');
    for (size_t i = 0; i < format->param_count; i++) print_spec_option(&format->params[i], "TEXT");
}

/* ---- For programs ---- */

/* An array of the words in "a b c". */
static void write_words(struct json *json, const char *name, const char *words) {
    json_open(json, name, '[');
    for (const char *at = words; *at;) {
        char word[64];
        const size_t len = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        json_text(json, NULL, word);
        at += len + strspn(at + len, " ");
    }
    json_close(json, ']');
}

static void write_format(struct json *json, const struct tamis_format_info *format) {
    json_open(json, NULL, '{');
    json_text(json, "name", format->name);
    json_text(json, "system", format->system);
    json_bool(json, "can_write", format->can_write);
    json_bool(json, "has_several", format->has_several);
    write_words(json, "kinds", format->kinds);
    write_words(json, "keys", format->keys);
    json_text(json, "limits", format->limits);
    json_open(json, "params", '[');
    for (size_t i = 0; i < format->param_count; i++)
        write_spec_option(json, &format->params[i], format->params[i].max > 0);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_formats(const struct tamis_format_info *only) {
    struct tamis_format_info format = TAMIS_FORMAT_INFO_INIT;
    struct json json = json_start(stdout);
    json_open(&json, "formats", '[');
    if (only) write_format(&json, only);
    for (size_t i = 0; !only && tamis_format_at(i, &format); i++) write_format(&json, &format);
    json_close(&json, ']');
    json_end(&json);
}

static int run(const struct args *args) {
    struct tamis_format_info format;
    const bool is_one = args->operand_count > 0;
    if (is_one && format_exists(args, NULL, args->operand[0], &format)) return EXIT_TROUBLE;
    if (given(args, OPT_JSON))
        write_formats(is_one ? &format : NULL);
    else if (is_one)
        print_whole(&format);
    else
        print_all();
    return EXIT_FOUND;
}

/* clang-format off */

const struct verb verb_formats = {
    .name = "formats",
    .also = "systems foreign",
    .summary = "list the formats of other systems, or describe one",
    .run = run,
    .operands = OPERANDS({"FORMAT", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_JSON, .help = "print one JSON object"}),
    .examples = EXAMPLES({"List what can be read and written", "tamis formats"},
                         {"List the parameters of a format", "tamis formats guava"}),
    .about = "A format is how another system encodes a filter in a file. --from and --to of "
             "\"tamis convert\" take its name, followed by parameters if it has any: "
             "NAME:PARAMETER=VALUE,... The kinds are what such a file becomes here; the keys are "
             "the encodings usual there, the most usual first (see --keys).\n\n"
             "The JSON has an array formats, each with name, system, can_write, has_several (a "
             "file holds more than one filter), kinds, keys, limits and params (an array with "
             "name, choices, min, max, default_value, help).",
};
