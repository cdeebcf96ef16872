/* SPDX-License-Identifier: MIT */
/* note_option.c: --note NAME=TEXT, for verbs that make or change an image. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* The form of keys is a promise that the command keeps. Where there are no keys yet an option makes
 * it; about an image from elsewhere the user may know more than we do. */
static int refuse_form(const struct args *args, bool is_built, const char *name,
                       const char *value) {
    if (is_built)
        return fail(args, "--note", "the note \"%s\" is set by --%s", name,
                    strcmp(name, "canon") == 0    ? name
                    : strcmp(name, "joined") == 0 ? "field"
                                                  : "keys");
    if (form_takes_note(name, value)) return 0;
    return fail(args, "--note", "\"%s\" is not a key encoding: %s", value,
                strcmp(name, "canon") == 0 ? "see --canon" : "see --keys");
}

static int set_one(const struct args *args, tamis *filter, tamis_builder *builder,
                   const char *note) {
    const char *equals = strchr(note, '=');
    if (!equals)
        return fail(args, NULL, "--note: \"%s\" is not NAME=TEXT, such as source=feed-a", note);
    char *name = strndup(note, (size_t)(equals - note));
    if (!name) return fail_memory(args);
    int code = form_has_note(name) ? refuse_form(args, builder, name, equals + 1) : 0;
    if (!code) code = check_status(args, "--note", set_note(filter, builder, name, equals + 1));
    free(name);
    return code;
}

static int set_all(const struct args *args, tamis *filter, tamis_builder *builder) {
    int code = 0;
    for (size_t i = 0; i < args->repeated_count && !code; i++)
        if (args->repeated[i].option == OPT_NOTE)
            code = set_one(args, filter, builder, args->repeated[i].text);
    return code;
}

int set_notes(const struct args *args, tamis *filter) {
    return set_all(args, filter, NULL);
}

int set_builder_notes(const struct args *args, tamis_builder *builder) {
    const int code = set_all(args, NULL, builder);
    return code ? code : form_record(args, NULL, builder);
}
