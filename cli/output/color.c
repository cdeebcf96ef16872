/* SPDX-License-Identifier: MIT */
/* color.c: which words are coloured, and where.
 *
 * Colours are for eyes: on a terminal, unless NO_COLOR is set or the terminal is dumb, or as
 * --color says. They go on headings, names and the start of complaints, and as grep has them on the
 * keys that were found; never on JSON. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum { AUTO, ALWAYS, NEVER } when;

void color_when(const char *word) {
    when = strcmp(word, "always") == 0 ? ALWAYS : strcmp(word, "never") == 0 ? NEVER : AUTO;
}

bool has_colors(FILE *out) {
    if (when != AUTO) return when == ALWAYS;
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const bool is_dumb = !term || strcmp(term, "dumb") == 0;
    return !(no_color && *no_color) && !is_dumb && isatty(fileno(out));
}

const char *color_code(enum role role) {
    static const char *const codes[] = {
        [ROLE_TEXT] = "\033[0m",     [ROLE_HEADING] = "\033[1m",    [ROLE_NAME] = "\033[36m",
        [ROLE_ASIDE] = "\033[2m",    [ROLE_TROUBLE] = "\033[1;31m", [ROLE_CAUTION] = "\033[1;33m",
        [ROLE_MATCH] = "\033[1;31m", [ROLE_FILE] = "\033[35m",      [ROLE_NUMBER] = "\033[32m",
        [ROLE_MARK] = "\033[36m"};
    return codes[role];
}

const char *color(FILE *out, enum role role) {
    return has_colors(out) ? color_code(role) : "";
}

void color_words(FILE *out, enum role role, const char *words) {
    fprintf(out, "%s%s%s", color(out, role), words, color(out, ROLE_TEXT));
}
