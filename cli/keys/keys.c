/* SPDX-License-Identifier: MIT */
/* keys.c: where keys come from. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

/* ---- Options ---- */

static int read_fields(const struct args *args, struct cutting *cutting) {
    char why[256];
    const char *text = args->setting[OPT_DELIMITER].text;
    struct fields *fields = &cutting->fields;
    fields->delimiter = '\t';
    if (text && !delimiter_parse(text, &fields->delimiter))
        return fail(args, "--delimiter", "\"%s\" is not a single byte (escapes: \\t, \\0, \\xHH)",
                    text);
    if (text && fields->delimiter == cutting->line_end)
        return fail(args, "--delimiter", "this byte ends lines and cannot separate fields");
    if (!given(args, OPT_FIELD))
        return text && !given(args, OPT_RIGHT_FIELD) ? fail(args, "--delimiter", "needs --field")
                                                     : 0;
    if (!fields_parse(fields, args->setting[OPT_FIELD].text, why, sizeof why))
        return fail(args, "--field", "%s", why);
    return 0;
}

/* ---- Opening ---- */

int keys_open_sources(struct keys *keys, const struct args *args, struct source *sources,
                      size_t n) {
    *keys = (struct keys){
        .args = args,
        .cutting = {.line_end = given(args, OPT_NULL) ? '\0' : '\n',
                    .has_crlf = given(args, OPT_CRLF),
                    .has_values = given(args, OPT_VALUES)},
        .source = sources,
        .source_count = n,
        .threads = given(args, OPT_THREADS) ? threads_wanted(args) : 1,
        .numbers_lines = given(args, OPT_LINE_NUMBER),
        .decompresses =
            !given(args, OPT_DECOMPRESS) || strcmp(args->setting[OPT_DECOMPRESS].text, "auto") == 0,
        .carry = malloc(BLOCK_BYTES),
    };
    if (!keys->source || !keys->carry) return fail_memory(args);
    for (size_t i = 0; i < n; i++)
        sources[i].start = is_dash(sources[i].name) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    keys->field_list = args->setting[OPT_FIELD].text;
    int code = read_fields(args, &keys->cutting);
    if (!code) code = form_given(args, &keys->cutting.form);
    return code;
}

int keys_open(struct keys *keys, const struct args *args, size_t skip) {
    const size_t named = args->operand_count > skip ? args->operand_count - skip : 0;
    const size_t n = named ? named : 1;
    struct source *sources = calloc(n, sizeof *sources);
    for (size_t i = 0; sources && i < n; i++)
        sources[i].name = named ? args->operand[skip + i] : "-";
    return keys_open_sources(keys, args, sources, n);
}

int keys_open_file(struct keys *keys, const struct args *args, const char *name) {
    struct source *source = calloc(1, sizeof *source);
    if (source) source->name = name;
    return keys_open_sources(keys, args, source, 1);
}

void keys_close(struct keys *keys) {
    input_close(keys->input);
    for (size_t i = 0; keys->source && i < keys->source_count; i++) free(keys->source[i].label);
    free(keys->source);
    free(keys->carry);
}

void keys_follow(struct keys *keys, const tamis *filter) {
    struct form form;
    keys->has_unknown_form = !form_of(filter, &form);
    if (keys->has_unknown_form) return;
    if (!keys->cutting.form.encoding) keys->cutting.form.encoding = form.encoding;
    if (form.canon.n > 0) keys->cutting.form.canon = form.canon;
}

uint64_t keys_bytes(const struct keys *keys) {
    uint64_t sum = 0, size;
    for (size_t i = 0; i < keys->source_count; i++) {
        if (!input_size(&keys->source[i], &size)) return 0;
        sum += size;
    }
    return sum;
}

void keys_hash_by(struct keys *keys, const tamis *filter) {
    keys->filter = filter;
    keys->takes_keys = filter && hashes_itself(filter);
    if (filter) keys_follow(keys, filter);
}

void keys_hash_for(struct keys *keys, const tamis_builder *builder, unsigned has) {
    keys->builder = builder;
    keys->takes_keys = has & TAMIS_OWN_HASH;
}

bool keys_can_again(const struct keys *keys) {
    for (size_t i = 0; i < keys->source_count; i++)
        if (!input_can_again(&keys->source[i])) return false;
    return true;
}

void keys_rewind(struct keys *keys) {
    size_t kept = 0;
    input_close(keys->input);
    keys->input = NULL;
    for (size_t i = 0; i < keys->source_count; i++) {
        if (input_can_again(&keys->source[i]))
            keys->source[kept++] = keys->source[i];
        else
            free(keys->source[i].label);
    }
    keys->source_count = kept;
    keys->next_source = 0;
    keys->keyless = keys->fieldless = keys->seen = 0;
    keys->bytes = 0;
}
