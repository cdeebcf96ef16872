/* SPDX-License-Identifier: MIT */
/* key_form.c: what an image remembers about the form of its keys.
 *
 * A set of lower-case keys answers no to upper-case ones, and nobody would notice. So the form
 * is kept in the notes of the image: queries and adds use it automatically, and another one is
 * refused. */
#include "cli/cli.h"
#include "tamis_formats.h"

#include <string.h>

static const char canon_note[] = "canon", encoding_note[] = "encoding", joined_note[] = "joined";

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

/* Steps that work on text cannot come after an encoding that makes other bytes of it. */
static int is_readable(const struct args *args, const struct form *form) {
    char text[CANON_TEXT];
    if (!form->encoding || strcmp(form->encoding, "bytes") == 0) return 0;
    canon_say(&form->canon, text);
    if (canon_reads_hex(&form->canon))
        return fail(args, NULL, "--canon %s reads hex digits itself; omit --keys", text);
    if (canon_reach(&form->canon) && !encoding_is_any_bytes(form->encoding))
        return fail(args, NULL, "--canon %s and --keys %s cannot be combined", text,
                    form->encoding);
    return 0;
}

int form_given(const struct args *args, struct form *form) {
    char why[256];
    *form = (struct form){0};
    if (encoding_given(args, &form->encoding)) return EXIT_TROUBLE;
    if (!given(args, OPT_CANON) ||
        canon_typed(&form->canon, args->setting[OPT_CANON].text, why, sizeof why))
        return is_readable(args, form);
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

bool form_is_noted(const tamis *filter) {
    return tamis_note(filter, canon_note) != NULL;
}

/* ---- Is it the same? ---- */

static int fail_unknown(const struct args *args, const char *path, const tamis *filter) {
    struct form form;
    const char *canon = tamis_note(filter, canon_note);
    char why[256];
    const bool is_canon = canon && !canon_parse(&form.canon, canon, why, sizeof why);
    const char *name = is_canon ? canon_note : encoding_note;
    return fail(args, path,
                "its key encoding is unknown to this version of tamis (the note %s is %s); use a "
                "newer one",
                name, tamis_note(filter, name));
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
        return fail(args, path,
                    "the image was built without --%s%s: its keys are unchanged lines; omit it",
                    given(args, OPT_KEYS) ? "keys " : "", said);
    if (is_same_encoding(said, kept)) return 0;
    return fail(args, path, "its keys are %s, not %s; omit --keys", kept, said);
}

/* Keys of several fields are joined by one byte. Joined by another, none would match. */
static struct human name_joiner(char joiner) {
    return joiner == '\t' ? human_words("a tab") : human_words("\"%c\"", joiner);
}

static int check_joiner(const struct args *args, const char *path, const tamis *filter) {
    const char *kept = tamis_note(filter, joined_note);
    char said;
    if (joiner_given(args, &said)) return EXIT_TROUBLE;
    if (!kept || !said || said == *kept) return 0;
    return fail(args, path, "its keys are fields joined by %s, and yours by %s; use -d or --csv",
                name_joiner(*kept).text, name_joiner(said).text);
}

int form_is_that_of(const struct args *args, const char *path, const tamis *filter) {
    struct form said, kept;
    char text[CANON_TEXT];
    if (!verb_has(args->verb, OPT_FIELD)) return 0; /* It reads no keys. */
    if (!form_of(filter, &kept)) return fail_unknown(args, path, filter);
    if (form_given(args, &said)) return EXIT_TROUBLE;
    canon_say(&kept.canon, text);
    const bool is_import = tamis_note(filter, "origin");
    if (given(args, OPT_CANON) && kept.canon.n == 0 && !is_import)
        return fail(args, path,
                    "the image was built without --canon: its keys are unchanged lines; omit it");
    if (given(args, OPT_CANON) && kept.canon.n > 0 && !canon_is_same(&said.canon, &kept.canon))
        return fail(args, path, "the image was built with --canon %s; omit --canon to use that",
                    text);
    const int code =
        said.encoding ? check_encoding(args, path, filter, said.encoding, kept.encoding) : 0;
    return code ? code : check_joiner(args, path, filter);
}

/* Whether a note says what would be noted now, or is not there where nothing would. */
static bool is_as_noted(const tamis *filter, const char *name, const char *now) {
    const char *kept = tamis_note(filter, name);
    return strcmp(kept ? kept : "", now ? now : "") == 0;
}

static int fail_changed(const struct args *args, const char *path, const char *option,
                        const char *kept) {
    if (!kept || !*kept)
        return fail(args, path, "published without %s before; omit it, or use --force to change it",
                    option);
    return fail(args, path, "published with %s %s before; repeat it, or use --force to change it",
                option, kept);
}

int form_stays(const struct args *args, const char *path, const tamis *filter) {
    struct form said, kept;
    char text[CANON_TEXT], was[CANON_TEXT], joiner[2] = "";
    if (form_given(args, &said) || joiner_given(args, &joiner[0])) return EXIT_TROUBLE;
    if (!form_of(filter, &kept)) return fail_unknown(args, path, filter);
    canon_write(&said.canon, text);
    canon_say(&kept.canon, was);
    if (!is_as_noted(filter, canon_note, text)) return fail_changed(args, path, "--canon", was);
    if (!is_as_noted(filter, encoding_note, said.encoding))
        return fail_changed(args, path, "--keys", kept.encoding);
    if (is_as_noted(filter, joined_note, joiner)) return 0;
    const char *joined = tamis_note(filter, joined_note);
    return fail_changed(args, path, joined ? "several fields joined by" : "several fields",
                        joined ? name_joiner(*joined).text : NULL);
}

/* "with --canon domain", or "without --canon" */
static struct human name_form(const char *option, const char *value) {
    return value && *value ? human_words("with %s %s", option, value)
                           : human_words("without %s", option);
}

static int fail_not_shared(const struct args *args, const struct image *a, const struct image *b,
                           const char *option, const char *one, const char *two) {
    return fail(args, NULL, "%s and %s do not match: one was built %s, the other %s",
                input_name(a->path), input_name(b->path), name_form(option, one).text,
                name_form(option, two).text);
}

/* As users write it, unless that has become another form since. */
static int fail_canon_not_shared(const struct args *args, const struct image *a,
                                 const struct image *b) {
    struct form one, two;
    char text[2][CANON_TEXT];
    if (!form_of(a->filter, &one)) return fail_unknown(args, input_name(a->path), a->filter);
    if (!form_of(b->filter, &two)) return fail_unknown(args, input_name(b->path), b->filter);
    const bool is_typed = !canon_is_same(&one.canon, &two.canon);
    (is_typed ? canon_say : canon_write)(&one.canon, text[0]);
    (is_typed ? canon_say : canon_write)(&two.canon, text[1]);
    return fail_not_shared(args, a, b, "--canon", text[0], text[1]);
}

int form_is_shared(const struct args *args, const struct image *a, const struct image *b) {
    static const char *const names[] = {canon_note, encoding_note};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *one = tamis_note(a->filter, names[i]), *two = tamis_note(b->filter, names[i]);
        const bool is_encoding = names[i] == encoding_note;
        if (one && two ? (is_encoding ? is_same_encoding(one, two) : strcmp(one, two) == 0)
                       : one == two)
            continue;
        return is_encoding ? fail_not_shared(args, a, b, "--keys", one, two)
                           : fail_canon_not_shared(args, a, b);
    }
    return 0;
}

/* ---- Notes ---- */

bool form_has_note(const char *name) {
    return strcmp(name, canon_note) == 0 || strcmp(name, encoding_note) == 0 ||
           strcmp(name, joined_note) == 0;
}

bool form_takes_note(const char *name, const char *value) {
    struct form form;
    char why[256];
    if (strcmp(name, joined_note) == 0) return strlen(value) == 1;
    /* A set that has no marks would answer no to everything. */
    return strcmp(name, canon_note) == 0
               ? canon_parse(&form.canon, value, why, sizeof why) && !canon_reach(&form.canon)
               : encoding_named(value) != NULL;
}

tamis_status set_note(tamis *filter, tamis_builder *builder, const char *name, const char *value) {
    return builder ? tamis_builder_set_note(builder, name, value)
                   : tamis_set_note(filter, name, value);
}

int form_record(const struct args *args, tamis *filter, tamis_builder *builder) {
    struct form form;
    char text[CANON_TEXT];
    char joiner[2] = "";
    if (form_given(args, &form) || joiner_given(args, &joiner[0])) return EXIT_TROUBLE;
    canon_write(&form.canon, text);
    tamis_status status = TAMIS_OK;
    if (form.encoding) status = set_note(filter, builder, encoding_note, form.encoding);
    if (!status && form.canon.n > 0) status = set_note(filter, builder, canon_note, text);
    if (!status && *joiner) status = set_note(filter, builder, joined_note, joiner);
    return check_status(args, NULL, status);
}
