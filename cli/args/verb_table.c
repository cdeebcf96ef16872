/* SPDX-License-Identifier: MIT */
/* verb_table.c: looking up verbs and options in the tables. */
#include "cli/cli.h"

#include <string.h>

static const struct option options[OPTIONS] = {
#define OPTION(id, ...) [OPT_##id] = {__VA_ARGS__},
#include "cli/options.def"
#undef OPTION
};

/* What every verb understands. */
static const struct use common[] = {
    {.option = OPT_QUIET},
    {.option = OPT_COLOR},
    {.option = OPT_NO_PROGRESS},
    {.option = OPT_HELP},
    {0},
};

const struct verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "cli/verbs.def"
#undef VERB
};

const size_t number_of_verbs = sizeof verbs / sizeof verbs[0];

const struct listed overview[] = {
#define SECTION(text) {.title = text},
#define VERB(name)    {.verb = &verb_##name},
#define COMMON(name)  {.verb = &verb_##name, .is_common = true},
#include "cli/verbs.def"
#undef VERB
};

const size_t overview_length = sizeof overview / sizeof overview[0];

const struct option *option_named(enum option_id id) {
    return &options[id];
}

const char *use_help(const struct use *use) {
    return use->help ? use->help : option_named(use->option)->help;
}

bool verb_has(const struct verb *verb, enum option_id id) {
    for (const struct use *use = verb->uses; use->option != OPT_NONE; use++)
        if (use->option == id) return true;
    return false;
}

const struct use *verb_use(const struct verb *verb, size_t i) {
    for (const struct use *use = verb->uses; use->option != OPT_NONE; use++)
        if (i-- == 0) return use;
    for (const struct use *use = common; use->option != OPT_NONE; use++)
        if (!verb_has(verb, use->option) && i-- == 0) return use; /* in no words of its own */
    return NULL;
}

struct letters use_letters(const struct verb *verb, const struct use *use) {
    struct letters letters = {{0}};
    size_t n = 0;
    for (const char *at = option_named(use->option)->letters; *at && n < MAX_LETTERS; at++) {
        const struct use *first;
        size_t i = 0;
        while ((first = verb_use(verb, i)) != NULL &&
               !strchr(option_named(first->option)->letters, *at))
            i++;
        if (first && first->option == use->option) letters.text[n++] = *at;
    }
    return letters;
}

bool is_among(const char *words, const char *word) {
    const size_t len = strlen(word);
    if (strchr(word, ' ')) return false;
    for (const char *at = words; len > 0 && (at = strstr(at, word)) != NULL; at += len) {
        const bool starts = at == words || at[-1] == ' ';
        const bool ends = at[len] == '\0' || at[len] == ' ';
        if (starts && ends) return true;
    }
    return false;
}

const struct verb *verb_named(const char *name) {
    for (size_t i = 0; i < number_of_verbs; i++) {
        const struct verb *verb = verbs[i];
        const bool is_alias = verb->aliases && is_among(verb->aliases, name);
        if (is_alias || strcmp(verb->name, name) == 0) return verb;
    }
    return NULL;
}

const struct verb *verb_meant(const char *name) {
    struct nearest nearest = {.typed = name};
    for (size_t i = 0; i < number_of_verbs; i++) {
        if (verbs[i]->also && is_among(verbs[i]->also, name)) return verbs[i];
        nearest_try(&nearest, verbs[i]->name);
    }
    return nearest.name ? verb_named(nearest.name) : NULL;
}
