/* SPDX-License-Identifier: MIT */
/* options.c: argv to struct args, by the table.
 *
 * The grammar is the usual one: --name value, --name=value, -n value, -nvalue, bundled letters,
 * options and operands in any order, -- before operands that start with a dash. Names are never
 * abbreviated: a script that says --cap would break on the day a second --cap... appears.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* What is left of the command line. */
struct cursor {
    int argc;
    char **argv;
    int next;
};

/* ---- Looking up ---- */

static bool is_word(const char *name, const char *word, size_t len) {
    return name && strlen(name) == len && memcmp(name, word, len) == 0;
}

static enum option_id find_long(const struct verb *verb, const char *word, size_t len) {
    const struct use *use;
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++) {
        const struct option *option = option_named(use->option);
        if (is_word(option->name, word, len) || is_word(option->also, word, len) ||
            is_word(option->formerly, word, len))
            return use->option;
    }
    return OPT_NONE;
}

static enum option_id find_letter(const struct verb *verb, char letter) {
    const struct use *use;
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++)
        if (strchr(option_named(use->option)->letters, letter)) return use->option;
    return OPT_NONE;
}

static int fail_letter(const struct args *args, const char *typed) {
    const struct habit *habit = args->verb->habits;
    while (habit && habit->letter && habit->letter != typed[1]) habit++;
    if (habit && habit->letter)
        return fail(args, NULL, "unknown option %s; use %s here", typed, habit->instead);
    return fail(args, NULL, "unknown option %s; \"tamis %s -h\" lists them", typed,
                args->verb->name);
}

static int fail_unknown(const struct args *args, const char *typed) {
    const char *word = typed + 2;
    const size_t len = strlen(word);
    struct nearest nearest = {.typed = word};
    const struct use *use;
    for (size_t i = 0; (use = verb_use(args->verb, i)) != NULL; i++) {
        const char *name = option_named(use->option)->name;
        const bool is_start = len > 1 && strncmp(word, name, len) == 0;
        if (is_start && (!nearest.name || nearest.distance > 0))
            nearest = (struct nearest){.typed = word, .name = name};
        nearest_try(&nearest, name);
    }
    if (nearest.name)
        return fail(args, NULL, "unknown option %s; did you mean --%s?", typed, nearest.name);
    return fail(args, NULL, "unknown option %s; \"tamis %s -h\" lists them", typed,
                args->verb->name);
}

/* ---- Values ---- */

static bool is_spec_word(const char *text) {
    const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return *text && text[strspn(text, allowed)] == '\0';
}

/* "one, two or three" */
static void list_choices(const char *choices, char *text, size_t size) {
    size_t len = 0;
    for (const char *at = choices; *at && len + 1 < size;) {
        const size_t word = strcspn(at, " ");
        const char *next = at + word + strspn(at + word, " ");
        const bool is_last_but_one = *next && !strchr(next, ' ');
        len += (size_t)snprintf(text + len, size - len, "%.*s%s", (int)word, at,
                                !*next            ? ""
                                : is_last_but_one ? " or "
                                                  : ", ");
        at = next;
    }
}

static int check_word(const struct args *args, const struct option *option, const char *typed,
                      const char *text) {
    char choices[128];
    if (!is_spec_word(text))
        return fail(args, NULL,
                    "%s: \"%s\" is not a single word (allowed: letters, digits, - and _)", typed,
                    text);
    if (!option->choices || is_among(option->choices, text)) return 0;
    const struct human meant = nearest_word(text, option->choices);
    if (*meant.text)
        return fail(args, NULL, "%s: \"%s\" is not valid; did you mean %s?", typed, text,
                    meant.text);
    list_choices(option->choices, choices, sizeof choices);
    return fail(args, NULL, "%s: \"%s\" is not valid (allowed: %s)", typed, text, choices);
}

static int set_value(struct args *args, enum option_id id, const char *typed, const char *text,
                     const char *second) {
    const struct option *option = option_named(id);
    struct setting *setting = &args->setting[id];
    if (setting->is_given && !option->repeats)
        return fail(args, NULL, "%s is given twice: %s and %s", typed, setting->text, text);

    bool is_good = true;
    switch (option->type) {
    case VALUE_NONE:
    case VALUE_TEXT: break;
    case VALUE_WORD:
        if (check_word(args, option, typed, text)) return EXIT_TROUBLE;
        break;
    case VALUE_COUNT: is_good = tamis_parse_count(text, &setting->number); break;
    case VALUE_BYTES: is_good = tamis_parse_bytes(text, &setting->number); break;
    case VALUE_RATE: is_good = tamis_parse_rate(text, &setting->rate); break;
    }
    if (!is_good) return fail_why(args, typed, TAMIS_INVALID);

    setting->is_given = true;
    setting->text = text;
    if (id == OPT_COLOR) color_when(text);
    if (option->repeats)
        args->repeated[args->repeated_count++] =
            (struct repeated){.option = id, .text = text, .second = second};
    return 0;
}

static void set_switch(struct args *args, enum option_id id, bool by_letter) {
    args->setting[id].is_given = true;
    if (id == OPT_HELP) args->help = by_letter ? HELP_SHORT : HELP_FULL;
}

/* The value in the same word when there is one, otherwise the next word; the second of a pair is
 * always a word of its own. */
static int take_value(struct args *args, struct cursor *cursor, enum option_id id,
                      const char *typed, const char *in_word) {
    const struct option *option = option_named(id);
    const int words = (in_word ? 0 : 1) + (option->is_pair ? 1 : 0);
    if (cursor->argc - cursor->next < words)
        return fail(args, NULL, "%s needs %s: %s %s", typed,
                    option->is_pair ? "two values" : "a value", typed, option->value);
    const char *text = in_word ? in_word : cursor->argv[cursor->next++];
    return set_value(args, id, typed, text, option->is_pair ? cursor->argv[cursor->next++] : NULL);
}

/* ---- Words ---- */

static int parse_long(struct args *args, struct cursor *cursor, const char *word) {
    const char *equals = strchr(word, '=');
    const size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct human typed = human_words("--%.*s", (int)(len < 40 ? len : 40), word);

    const enum option_id id = find_long(args->verb, word, len);
    if (id == OPT_NONE) return fail_unknown(args, typed.text);
    if (option_named(id)->type != VALUE_NONE)
        return take_value(args, cursor, id, typed.text, equals ? equals + 1 : NULL);
    if (equals) return fail(args, NULL, "%s takes no value", typed.text);
    set_switch(args, id, false);
    return 0;
}

static int parse_letters(struct args *args, struct cursor *cursor, const char *letters) {
    for (const char *at = letters; *at; at++) {
        const char typed[] = {'-', *at, '\0'};
        const enum option_id id = find_letter(args->verb, *at);
        if (id == OPT_NONE) return fail_letter(args, typed);
        if (option_named(id)->type != VALUE_NONE)
            return take_value(args, cursor, id, typed, at[1] ? at + 1 : NULL);
        set_switch(args, id, true);
    }
    return 0;
}

static int parse_words(struct args *args, struct cursor *cursor) {
    bool only_operands = false;
    while (cursor->next < cursor->argc && args->help == HELP_NONE) {
        const char *word = cursor->argv[cursor->next++];
        int code = 0;
        if (only_operands || word[0] != '-' || word[1] == '\0')
            args->operand[args->operand_count++] = word;
        else if (word[1] != '-')
            code = parse_letters(args, cursor, word + 1);
        else if (word[2] != '\0')
            code = parse_long(args, cursor, word + 2);
        else
            only_operands = true;
        if (code) return code;
    }
    return 0;
}

/* ---- The whole ---- */

static int fail_usage(const struct args *args, const char *complaint, const char *about) {
    const struct verb *verb = args->verb;
    const bool is_moved = verb->moved && strcmp(args->called, verb->name) != 0;
    report_start(args, NULL);
    fprintf(stderr, "%s%s; ", about, complaint);
    if (is_moved)
        fprintf(stderr, "\"%s\" is \"%s\" here: %s; ", args->called, verb->name, verb->moved);
    fputs("usage: ", stderr);
    help_usage(stderr, verb);
    report_end();
    return EXIT_TROUBLE;
}

static int check_operands(const struct args *args) {
    size_t at_least = 0, at_most = 0;
    const char *missing = NULL;
    for (const struct operand *operand = args->verb->operands; operand->name; operand++) {
        const bool is_needed =
            (operand->how_many == EXACTLY_ONE || operand->how_many == ONE_OR_MORE) &&
            !(given(args, OPT_IMAGES) && strcmp(operand->name, "IMAGE") == 0);
        if (is_needed && ++at_least > args->operand_count && !missing) missing = operand->name;
        at_most = is_list(operand) ? SIZE_MAX : at_most + 1;
        if (is_list(operand)) break; /* A list takes the rest. */
    }
    if (missing) return fail_usage(args, " is missing", missing);
    if (args->operand_count > at_most)
        return fail_usage(args, ": unexpected argument", args->operand[at_most]);
    return 0;
}

static int check_required(const struct args *args) {
    const struct use *use;
    for (size_t i = 0; (use = verb_use(args->verb, i)) != NULL; i++) {
        if (!use->is_required || given(args, use->option)) continue;
        const struct option *option = option_named(use->option);
        return fail_usage(args, " is missing", human_words("--%s", option->name).text);
    }
    return 0;
}

/* Counts the files named by options that are standard input; empty names are refused. */
static int count_option_streams(const struct args *args, size_t *uses) {
    for (size_t i = 0; i < args->repeated_count; i++) {
        const struct repeated *repeated = &args->repeated[i];
        const struct option *option = option_named(repeated->option);
        if (option->stream == NO_STREAM) continue;
        const char *file = repeated->second ? repeated->second : repeated->text;
        if (*file == '\0') return fail(args, NULL, "--%s: the file name is empty", option->name);
        if (is_dash(file)) ++*uses;
    }
    return 0;
}

/* Files have names, and standard input can be read once: as the image or the keys, not both. */
static int check_streams(const struct args *args) {
    size_t uses = 0, position = 0;
    bool is_instead = false;
    if (count_option_streams(args, &uses)) return EXIT_TROUBLE;
    for (int id = OPT_NONE + 1; id < OPTIONS; id++)
        if (given(args, (enum option_id)id) &&
            option_named((enum option_id)id)->stream == READS_INSTEAD)
            is_instead = true;
    const struct operand *operand = args->verb->operands;
    for (size_t i = 0; i < args->operand_count; i++) {
        const bool reads =
            operand->stream == READS_STDIN || operand->stream == READS_STDIN_UNLESS_GIVEN;
        if (reads && is_dash(args->operand[i])) uses++;
        if (operand->stream != NO_STREAM && args->operand[i][0] == '\0')
            return fail(args, NULL, "%s: the name is empty", operand->name);
        if (operand[1].name) operand++;
    }
    /* An operand is only missing if those before it are given. */
    for (operand = args->verb->operands; operand->name; operand++, position++)
        if (operand->stream == READS_STDIN_UNLESS_GIVEN && args->operand_count == position &&
            !is_instead)
            uses++;
    return uses > 1
               ? fail(args, NULL, "standard input can be read only once; name a file for the rest")
               : 0;
}

int args_parse(struct args *args, const struct verb *verb, const char *called, int argc,
               char **argv) {
    *args = (struct args){.verb = verb, .called = called};
    struct cursor cursor = {.argc = argc, .argv = argv};

    /* Each operand and each value takes a word, so argc is room enough for both lists. */
    const size_t room = (size_t)argc + 1;
    args->operand = calloc(room, sizeof *args->operand);
    args->repeated = calloc(room, sizeof *args->repeated);
    if (!args->operand || !args->repeated) return fail_memory(args);

    int code = parse_words(args, &cursor);
    if (args->help != HELP_NONE) return 0; /* Whoever asks for help need not be right. */
    if (!code) code = check_operands(args);
    if (!code) code = check_required(args);
    if (!code) code = check_streams(args);
    return code;
}

const char *first_given(const struct args *args, const enum option_id ids[]) {
    while (*ids != OPT_NONE && !given(args, *ids)) ids++;
    return *ids == OPT_NONE ? NULL : option_named(*ids)->name;
}

int options_apart(const struct args *args, const enum option_id pairs[][2], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (given(args, pairs[i][0]) && given(args, pairs[i][1]))
            return fail(args, NULL, "--%s and --%s cannot be combined",
                        option_named(pairs[i][0])->name, option_named(pairs[i][1])->name);
    return 0;
}

void args_free(struct args *args) {
    wipe_secret(args->secret, sizeof args->secret);
    free(args->operand);
    free(args->repeated);
}
