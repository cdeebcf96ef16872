/* add.c: `tamis add`, more keys for an image; and what build shares with it. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

int add_keys(const struct args *args, tamis *filter, struct keys *keys, uint64_t *count) {
    tamis_status status;
    *count = 0;
    for (;;) {
        switch (keys_next(keys)) {
        case KEYS_SOME:
            status = tamis_add_many(filter, keys->key, keys->n);
            if (status) return fail_why(args, input_name(keys->file), status);
            *count += keys->n;
            break;
        case KEYS_FILE_DONE: break;
        case KEYS_TROUBLE: return EXIT_TROUBLE;
        case KEYS_DONE: return 0;
        }
    }
}

static int set_note(const struct args *args, tamis *filter, const char *note) {
    const char *equals = strchr(note, '=');
    if (!equals) return fail(args, NULL, "--note: \"%s\" is not NAME=TEXT", note);
    const size_t len = (size_t)(equals - note);
    char *name = malloc(len + 1);
    if (!name) return fail_memory(args);
    memcpy(name, note, len);
    name[len] = '\0';
    const tamis_status status = tamis_set_note(filter, name, equals + 1);
    free(name);
    return status ? fail_why(args, "--note", status) : 0;
}

int set_notes(const struct args *args, tamis *filter) {
    int code = 0;
    for (size_t i = 0; i < args->repeated_count && !code; i++)
        if (args->repeated[i].option == OPT_NOTE)
            code = set_note(args, filter, args->repeated[i].text);
    return code;
}

int verb_add(const struct args *args) {
    const char *path = args->operand[0];
    const bool goes_elsewhere = given(args, OPT_OUTPUT);
    const char *output = goes_elsewhere ? args->setting[OPT_OUTPUT].text : path;
    struct image image = {0};
    struct keys keys;
    uint64_t count = 0;
    char what[96];

    int code = keys_open(&keys, args, 1);
    if (!code && (goes_elsewhere || strcmp(output, "-") == 0)) code = image_may_write(args, output);
    if (!code) code = image_open(&image, args, path, TO_CHANGE);
    if (!code) code = set_notes(args, image.filter);
    if (!code) code = add_keys(args, image.filter, &keys, &count);
    if (!code) code = image_write(args, image.filter, output);
    if (code) goto done;

    snprintf(what, sizeof what, "%s %s added", human_count(count).text,
             count == 1 ? "key" : "keys");
    image_summary(args, image.filter, output, what, AFTER_CHANGE);

done:
    image_close(&image);
    keys_close(&keys);
    return code;
}
