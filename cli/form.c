/* form.c: what an image remembers about the form of its keys.
 *
 * A set of small letters answers no to capital ones, and nobody would notice. So the form is kept in
 * the notes of the image: whoever asks or adds gets it without a word, and another one is refused.
 */
#include "cli/cli.h"

#include <string.h>

static const char canon_note[] = "canon", encoding_note[] = "encoding";

int form_given(const struct args *args, struct form *form) {
    char why[256];
    *form = (struct form){.encoding = given(args, OPT_HEX)      ? IN_HEX
                                      : given(args, OPT_BASE64) ? IN_BASE64
                                                                : AS_IT_IS};
    if (given(args, OPT_HEX) && given(args, OPT_BASE64))
        return fail(args, NULL, "--hex and --base64 are both given; keys are written in one way");
    if (!given(args, OPT_CANON) ||
        canon_parse(&form->canon, args->setting[OPT_CANON].text, why, sizeof why))
        return 0;
    return fail(args, "--canon", "%s", why);
}

bool form_of(const tamis *filter, struct form *form) {
    char why[256];
    const char *canon = tamis_note(filter, canon_note);
    const char *encoding = tamis_note(filter, encoding_note);
    *form = (struct form){0};
    return (!canon || canon_parse(&form->canon, canon, why, sizeof why)) &&
           (!encoding || encoding_parse(encoding, &form->encoding));
}

/* ---- Is it the same? ---- */

static bool reads_keys(const struct verb *verb) {
    const struct use *use;
    for (size_t i = 0; (use = verb_use(verb, i)) != NULL; i++)
        if (use->option == OPT_CANON) return true;
    return false;
}

static int fail_unknown(const struct args *args, const char *path, const tamis *filter) {
    struct form form;
    const char *canon = tamis_note(filter, canon_note);
    char why[256];
    const bool is_canon = canon && !canon_parse(&form.canon, canon, why, sizeof why);
    const char *name = is_canon ? canon_note : encoding_note;
    return fail(args, path, "its keys have a form that this tamis does not know: the note %s is %s",
                name, tamis_note(filter, name));
}

int form_is_that_of(const struct args *args, const char *path, const tamis *filter) {
    struct form said, kept;
    char text[CANON_TEXT];
    if (!reads_keys(args->verb)) return 0;
    if (!form_of(filter, &kept)) return fail_unknown(args, path, filter);
    if (form_given(args, &said)) return EXIT_TROUBLE;
    canon_write(&kept.canon, text);
    if (given(args, OPT_CANON) && kept.canon.n == 0)
        return fail(args, path, "the image was built without --canon: its keys are as they came");
    if (given(args, OPT_CANON) && !canon_is_same(&said.canon, &kept.canon))
        return fail(
            args, path,
            "the image was built with --canon %s; without the option its keys get that form", text);
    /* Hex or base64, the key is what they stand for. */
    if (said.encoding != AS_IT_IS && kept.encoding == AS_IT_IS)
        return fail(args, path, "the image was built without --%s: its keys are as they came",
                    encoding_name(said.encoding));
    return 0;
}

int form_is_shared(const struct args *args, const struct image *a, const struct image *b) {
    static const char *const names[] = {canon_note, encoding_note};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *one = tamis_note(a->filter, names[i]), *two = tamis_note(b->filter, names[i]);
        const bool has_both = one && two;
        /* Encodings may differ, the keys are bytes in both. */
        if (has_both ? i == 1 || strcmp(one, two) == 0 : one == two) continue;
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
                                         : encoding_parse(value, &form.encoding);
}

static tamis_status set_note(tamis *filter, tamis_builder *builder, const char *name,
                             const char *value) {
    return builder ? tamis_builder_set_note(builder, name, value)
                   : tamis_set_note(filter, name, value);
}

int form_record(const struct args *args, tamis *filter, tamis_builder *builder) {
    struct form form;
    char text[CANON_TEXT];
    if (form_given(args, &form)) return EXIT_TROUBLE;
    canon_write(&form.canon, text);
    tamis_status status = TAMIS_OK;
    if (form.encoding != AS_IT_IS)
        status = set_note(filter, builder, encoding_note, encoding_name(form.encoding));
    if (!status && form.canon.n > 0) status = set_note(filter, builder, canon_note, text);
    return status ? fail_why(args, NULL, status) : 0;
}
