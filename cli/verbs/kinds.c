/* SPDX-License-Identifier: MIT */
/* kinds.c: `tamis kinds`, the kinds and their options. */
#include "cli/cli.h"

#include <string.h>

/* ---- For people ---- */

/* What a kind is like; the rest is what it can do. The list of all kinds has only what may
 * surprise. */
enum {
    SURPRISES = TAMIS_IS_BUILT | TAMIS_AGES | TAMIS_MAY_FORGET | TAMIS_OWN_HASH,
    TRAITS = SURPRISES | TAMIS_NO_EMPTY_KEY | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER
};

/* Adds the words to a text that is long enough for all abilities. */
static void add_words(char *text, size_t size, unsigned has, const char *before) {
    for (size_t i = 0; i < number_of_abilities; i++) {
        const size_t len = strlen(text);
        if (!(has & abilities[i].bit)) continue;
        snprintf(text + len, size - len, "%s%s", before, abilities[i].word);
        before = ", ";
    }
}

/* That kinds of other systems hash keys their own way is said above them. */
static void print_brief(const struct tamis_kind_info *kind, int width) {
    const unsigned can = kind->abilities & ~(unsigned)TRAITS;
    const unsigned said = is_foreign(kind) ? TAMIS_OWN_HASH : 0;
    const int column = width + 2;
    char words[512];
    snprintf(words, sizeof words, "%s", can ? "" : "can only be queried");
    add_words(words, sizeof words, can, "can ");
    add_words(words, sizeof words, kind->abilities & SURPRISES & ~said, "; ");
    printf("%s%-*s%s  ", color(stdout, ROLE_NAME), width, kind->name, color(stdout, ROLE_TEXT));
    print_paragraph(stdout, kind->contract, column, column);
    printf("%*s", column, "");
    print_paragraph(stdout, words, column, column);
}

static void print_heading(const char *heading) {
    putchar('\n');
    color_words(stdout, ROLE_HEADING, heading);
    putchar('\n');
}

/* Ours, or those of other systems, all as wide as the widest. A small build may have none of them,
 * and then there is no heading. */
static void print_kinds(bool foreign, const char *heading) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    int width = 12;
    for (size_t i = 0; tamis_kind_at(i, &kind); i++)
        if (is_foreign(&kind) == foreign && (int)strlen(kind.name) > width)
            width = (int)strlen(kind.name);
    for (size_t i = 0; tamis_kind_at(i, &kind); i++) {
        if (is_foreign(&kind) != foreign) continue;
        if (heading) print_heading(heading);
        heading = NULL;
        print_brief(&kind, width);
    }
}

static void print_all(void) {
    print_kinds(false, NULL);
    print_kinds(true, "Other systems, which hash keys their own way (see \"tamis formats\"):");
    puts("\n\"tamis kinds KIND\" explains the words and lists the options of a kind.");
}

static void print_whole(const struct tamis_kind_info *kind) {
    color_words(stdout, ROLE_HEADING, kind->name);
    printf(": ");
    print_paragraph(stdout, kind->contract, (int)strlen(kind->name) + 2, 2);
    print_heading("Abilities:");
    for (size_t i = 0; i < number_of_abilities; i++) {
        if (!(kind->abilities & abilities[i].bit)) continue;
        printf("  %s%-10s%s  ", color(stdout, ROLE_NAME), abilities[i].word,
               color(stdout, ROLE_TEXT));
        print_paragraph(stdout, abilities[i].meaning, 14, 14);
    }
    if (kind->option_count > 0) print_heading("Its own options:");
    for (size_t i = 0; i < kind->option_count; i++) print_spec_option(&kind->options[i], "P");
    print_heading("Options of every kind:");
    size_t count;
    const struct tamis_option *common = tamis_common_options(&count);
    for (size_t i = 0; i < count; i++) {
        const bool is_about_hash = strcmp(common[i].name, "hash") == 0;
        if (is_about_hash && (kind->abilities & TAMIS_OWN_HASH)) break;
        print_spec_option(&common[i], "P");
    }
}

/* ---- For programs ---- */

static void write_kind(struct json *json, const struct tamis_kind_info *kind) {
    json_open(json, NULL, '{');
    json_text(json, "name", kind->name);
    json_count(json, "id", kind->id);
    json_bool(json, "is_foreign", is_foreign(kind));
    json_text(json, "contract", kind->contract);
    write_abilities(json, kind->abilities);
    json_open(json, "options", '[');
    for (size_t i = 0; i < kind->option_count; i++)
        write_spec_option(json, &kind->options[i], !kind->options[i].choices);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_kinds(const struct tamis_kind_info *only) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    struct json json = json_start(stdout);
    json_open(&json, "kinds", '[');
    if (only) write_kind(&json, only);
    for (size_t i = 0; !only && tamis_kind_at(i, &kind); i++) write_kind(&json, &kind);
    json_close(&json, ']');
    json_end(&json);
}

static int run(const struct args *args) {
    struct tamis_kind_info kind;
    const bool is_one = args->operand_count > 0;
    if (is_one && kind_exists(args, args->operand[0], &kind)) return EXIT_TROUBLE;
    if (given(args, OPT_JSON))
        write_kinds(is_one ? &kind : NULL);
    else if (is_one)
        print_whole(&kind);
    else
        print_all();
    return EXIT_FOUND;
}

/* clang-format off */

const struct verb verb_kinds = {
    .name = "kinds",
    .also = "types families list",
    .summary = "list the kinds, or the options of one",
    .run = run,
    .operands = OPERANDS({"KIND", AT_MOST_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_JSON, .help = "print one JSON object"}),
    .examples = EXAMPLES({"List all kinds", "tamis kinds"},
                         {"List the options of one", "tamis kinds blocked"}),
    .about = "Each kind has a line for what it promises and one for what it can do; with KIND, "
             "the words are explained and its options listed.\n\n"
             "Kinds of other systems hash keys as those systems do: they are for files exchanged "
             "with them, see \"tamis formats\" and \"tamis convert\".\n\n"
             "The JSON has an array kinds, each with name, id, is_foreign, contract, abilities "
             "(an array of words) and options (an array with name, choices, min, max, "
             "default_value, help).",
};
