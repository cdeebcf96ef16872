/* SPDX-License-Identifier: MIT */
/* note_option.c: --note NAME=TEXT, for verbs that make or change an image. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* Either a filter, or a builder of one. */
struct noted {
    tamis *filter;
    tamis_builder *builder;
};

/* The form of keys is a promise that the command keeps. Where there are no keys yet an option makes
 * it; about an image from elsewhere the user may know more than we do. */
static int refuse_form(const struct args *args, const struct noted *noted, const char *name,
                       const char *value) {
    if (noted->builder)
        return fail(args, "--note", "the note \"%s\" is set by --%s", name,
                    strcmp(name, "canon") == 0 ? name : "keys");
    if (form_takes_note(name, value)) return 0;
    return fail(args, "--note", "\"%s\" is not a key encoding: %s", value,
                strcmp(name, "canon") == 0 ? "see --canon" : "see --keys");
}

static int set_note(const struct args *args, const struct noted *noted, const char *note) {
    const char *equals = strchr(note, '=');
    if (!equals) return fail(args, NULL, "--note: \"%s\" is not NAME=TEXT", note);
    char *name = strndup(note, (size_t)(equals - note));
    if (!name) return fail_memory(args);
    if (form_has_note(name)) {
        const int code = refuse_form(args, noted, name, equals + 1);
        if (code) {
            free(name);
            return code;
        }
    }
    const tamis_status status = noted->builder
                                    ? tamis_builder_set_note(noted->builder, name, equals + 1)
                                    : tamis_set_note(noted->filter, name, equals + 1);
    free(name);
    return check_status(args, "--note", status);
}

static int set_all(const struct args *args, const struct noted *noted) {
    int code = 0;
    for (size_t i = 0; i < args->repeated_count && !code; i++)
        if (args->repeated[i].option == OPT_NOTE)
            code = set_note(args, noted, args->repeated[i].text);
    return code;
}

int set_notes(const struct args *args, tamis *filter) {
    return set_all(args, &(struct noted){.filter = filter});
}

int set_builder_notes(const struct args *args, tamis_builder *builder) {
    const int code = set_all(args, &(struct noted){.builder = builder});
    return code ? code : form_record(args, NULL, builder);
}
