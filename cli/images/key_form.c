/* SPDX-License-Identifier: MIT */
/* key_form.c: what an image remembers about the form of its keys.
 *
 * A set of lower-case keys answers no to upper-case ones, and nobody would notice. So the form
 * is kept in the notes of the image: queries and adds use it automatically, and another one is
 * refused. */
#include "cli/cli.h"
#include "tamis_formats.h"

#include <string.h>

static const char canon_note[] = "canon", encoding_note[] = "encoding";

/* --keys, or one of its short forms. */
static int encoding_given(const struct args *args, const char **encoding) {
    static const enum option_id ways[] = {OPT_KEYS, OPT_HEX, OPT_BASE64};
    const char *said = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const char *name = option_named(ways[i])->name;
        if (!given(args, ways[i])) continue;
        if (said) return fail(args, NULL, "--%s and --%s cannot be combined", said, name);
        said = name;
        *encoding = encoding_named(ways[i] == OPT_KEYS ? args->setting[OPT_KEYS].text : name);
    }
    if (!said || *encoding) return 0;
    char key;
    (void)tamis_encode(args->setting[OPT_KEYS].text, "", 0, &key, 0); /* for its sentence */
    return fail(args, "--keys", "%s", tamis_why());
}

int form_given(const struct args *args, struct form *form) {
    char why[256];
    *form = (struct form){0};
    if (encoding_given(args, &form->encoding)) return EXIT_TROUBLE;
    if (!given(args, OPT_CANON) ||
        canon_parse(&form->canon, args->setting[OPT_CANON].text, why, sizeof why))
        return 0;
    return fail(args, "--canon", "%s", why);
}

bool form_of(const tamis *filter, struct form *form) {
    char why[256];
    const char *canon = tamis_note(filter, canon_note);
    const char *encoding = tamis_note(filter, encoding_note);
    *form = (struct form){.encoding = encoding ? encoding_named(encoding) : NULL};
    return (!canon || canon_parse(&form->canon, canon, why, sizeof why)) &&
           (!encoding || form->encoding);
}

/* ---- Is it the same? ---- */

static int fail_unknown(const struct args *args, const char *path, const tamis *filter) {
    struct form form;
    const char *canon = tamis_note(filter, canon_note);
    char why[256];
    const bool is_canon = canon && !canon_parse(&form.canon, canon, why, sizeof why);
    const char *name = is_canon ? canon_note : encoding_note;
    return fail(args, path,
                "its key encoding is unknown to this version of tamis: the note %s is %s", name,
                tamis_note(filter, name));
}

static bool is_same_encoding(const char *a, const char *b) {
    /* However bytes are written, the key is what they are. */
    return strcmp(a, b) == 0 || encoding_is_any_bytes(a) || encoding_is_any_bytes(b);
}

/* The key encoding of another system's file is unknown, unless a note records it. */
static int check_encoding(const struct args *args, const char *path, const tamis *filter,
                          const char *said, const char *kept) {
    const bool is_text = strcmp(said, "utf8") == 0 || strcmp(said, "bytes") == 0;
    if (!kept && (is_text || tamis_note(filter, "origin"))) return 0;
    if (!kept)
        return fail(args, path, "the image was built without --%s%s: its keys are unchanged lines",
                    given(args, OPT_KEYS) ? "keys " : "", said);
    if (is_same_encoding(said, kept)) return 0;
    return fail(args, path, "its keys are %s, not %s; omit --keys", kept, said);
}

int form_is_that_of(const struct args *args, const char *path, const tamis *filter) {
    struct form said, kept;
    char text[CANON_TEXT];
    if (!verb_has(args->verb, OPT_FIELD)) return 0; /* It reads no keys. */
    if (!form_of(filter, &kept)) return fail_unknown(args, path, filter);
    if (form_given(args, &said)) return EXIT_TROUBLE;
    canon_write(&kept.canon, text);
    const bool is_import = tamis_note(filter, "origin");
    if (given(args, OPT_CANON) && kept.canon.n == 0 && !is_import)
        return fail(args, path,
                    "the image was built without --canon: its keys are unchanged lines");
    if (given(args, OPT_CANON) && kept.canon.n > 0 && !canon_is_same(&said.canon, &kept.canon))
        return fail(args, path, "the image was built with --canon %s; omit --canon to use that",
                    text);
    return said.encoding ? check_encoding(args, path, filter, said.encoding, kept.encoding) : 0;
}

int form_is_shared(const struct args *args, const struct image *a, const struct image *b) {
    static const char *const names[] = {canon_note, encoding_note};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *one = tamis_note(a->filter, names[i]), *two = tamis_note(b->filter, names[i]);
        const bool is_encoding = names[i] == encoding_note;
        if (one && two ? (is_encoding ? is_same_encoding(one, two) : strcmp(one, two) == 0)
                       : one == two)
            continue;
        return fail(args, NULL,
                    "%s and %s do not match: the %s of keys is %s in one and %s in the other",
                    input_name(a->path), input_name(b->path), names[i], one ? one : "not set",
                    two ? two : "not set");
    }
    return 0;
}

/* ---- Notes ---- */

bool form_has_note(const char *name) {
    return strcmp(name, canon_note) == 0 || strcmp(name, encoding_note) == 0;
}

bool form_takes_note(const char *name, const char *value) {
    struct form form;
    char why[256];
    return strcmp(name, canon_note) == 0 ? canon_parse(&form.canon, value, why, sizeof why)
                                         : encoding_named(value) != NULL;
}

tamis_status set_note(tamis *filter, tamis_builder *builder, const char *name, const char *value) {
    return builder ? tamis_builder_set_note(builder, name, value)
                   : tamis_set_note(filter, name, value);
}

int form_record(const struct args *args, tamis *filter, tamis_builder *builder) {
    struct form form;
    char text[CANON_TEXT];
    if (form_given(args, &form)) return EXIT_TROUBLE;
    canon_write(&form.canon, text);
    tamis_status status = TAMIS_OK;
    if (form.encoding) status = set_note(filter, builder, encoding_note, form.encoding);
    if (!status && form.canon.n > 0) status = set_note(filter, builder, canon_note, text);
    return check_status(args, NULL, status);
}
