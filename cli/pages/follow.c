/* SPDX-License-Identifier: MIT */
/* follow.c: what may follow an option or stand for an operand, read off the table. */
#include "cli/pages/pages.h"
#include "tamis_formats.h"

#include <stdlib.h>
#include <string.h>

/* The names that `at` gives, up to NULL, with spaces between them; on the heap. */
static char *all(const char *(*at)(size_t i)) {
    char *words = NULL;
    size_t size;
    FILE *out = open_memstream(&words, &size);
    const char *name;
    for (size_t i = 0; out && (name = at(i)) != NULL; i++) fprintf(out, "%s%s", i ? " " : "", name);
    if (out && fclose(out) == 0) return words;
    perror("pages");
    exit(EXIT_TROUBLE);
}

static const char *kind_at(size_t i) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    return tamis_kind_at(i, &kind) ? kind.name : NULL;
}

static const char *format_at(size_t i) {
    struct tamis_format_info format = TAMIS_FORMAT_INFO_INIT;
    return tamis_format_at(i, &format) ? format.name : NULL;
}

/* What "tamis help" has a page about. */
static const char *page_at(size_t i) {
    if (i < number_of_verbs) return verbs[i]->name;
    i -= number_of_verbs;
    return i < number_of_topics ? topics[i].name : i == number_of_topics ? "more" : NULL;
}

/* The choices of an option that every kind has, which are written a|b|c. */
static char *choices_of(const char *name) {
    size_t count;
    const struct tamis_option *common = tamis_common_options(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(common[i].name, name) != 0 || !common[i].choices) continue;
        char *words = strdup(common[i].choices);
        for (char *at = words; at && *at; at++)
            if (*at == '|') *at = ' ';
        return words;
    }
    return NULL;
}

struct follow follow_option(enum option_id id) {
    const struct option *option = option_named(id);
    char *words = option->choices                  ? strdup(option->choices)
                  : id == OPT_KIND                 ? all(kind_at)
                  : id == OPT_HASH                 ? choices_of("hash")
                  : id == OPT_KEYS                 ? all(tamis_encoding_at)
                  : id == OPT_FROM || id == OPT_TO ? all(format_at)
                                                   : NULL;
    if (words) return (struct follow){FOLLOW_WORDS, words};
    if (id == OPT_CANON) return (struct follow){FOLLOW_LIST, all(canon_step_at)};
    if (id == OPT_KINDS) return (struct follow){FOLLOW_LIST, all(kind_at)};
    if (strcmp(option->value, "DIR") == 0) return (struct follow){.what = FOLLOW_DIRS};
    if (strcmp(option->value, "OUT") == 0 || strcmp(option->value, "IMAGE") == 0)
        return (struct follow){.what = FOLLOW_IMAGES};
    /* Of a pair, the second word is a file. */
    const bool is_file = strstr(option->value, "FILE");
    return (struct follow){.what = is_file ? FOLLOW_FILES : FOLLOW_ANYTHING};
}

struct follow follow_operand(const struct operand *operand) {
    char *words = strcmp(operand->name, "KIND") == 0     ? all(kind_at)
                  : strcmp(operand->name, "FORMAT") == 0 ? all(format_at)
                  : strcmp(operand->name, "PAGE") == 0   ? all(page_at)
                                                         : NULL;
    return (struct follow){.what = words                                     ? FOLLOW_WORDS
                                   : strncmp(operand->name, "IMAGE", 5) == 0 ? FOLLOW_IMAGES
                                   : operand->stream == NO_STREAM            ? FOLLOW_ANYTHING
                                                                             : FOLLOW_FILES,
                           .words = words};
}

void print_verb_names(FILE *out, const struct verb *verb, const char *between) {
    fputs(verb->name, out);
    for (const char *at = verb->aliases; at && *at;) {
        const size_t len = strcspn(at, " ");
        fprintf(out, "%s%.*s", between, (int)len, at);
        at += len + strspn(at + len, " ");
    }
}
