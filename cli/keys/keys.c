/* SPDX-License-Identifier: MIT */
/* keys.c: where keys come from. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

/* ---- Options ---- */

/* How lines are made of fields; tab and comma are what is usual. */
static enum shape shape_given(const struct args *args) {
    return given(args, OPT_CSV)          ? SHAPE_CSV
           : given(args, OPT_JSONL)      ? SHAPE_JSONL
           : given(args, OPT_WHITESPACE) ? SHAPE_WHITESPACE
                                         : SHAPE_LINE;
}

static int check_shape(const struct args *args, enum shape shape) {
    static const enum option_id apart[][2] = {
        {OPT_CSV, OPT_JSONL},         {OPT_CSV, OPT_WHITESPACE},       {OPT_CSV, OPT_NULL},
        {OPT_JSONL, OPT_WHITESPACE},  {OPT_JSONL, OPT_FIELD},          {OPT_JSONL, OPT_NULL},
        {OPT_JSONL, OPT_HEADER},      {OPT_WHITESPACE, OPT_DELIMITER}, {OPT_CSV, OPT_VALUES},
        {OPT_JSONL, OPT_VALUES},      {OPT_WHITESPACE, OPT_VALUES},    {OPT_CSV, OPT_COMMENT},
        {OPT_JSONL, OPT_COMMENT},     {OPT_JSONL, OPT_KEEP_HEADER},    {OPT_COUNT, OPT_KEEP_HEADER},
        {OPT_TOTAL, OPT_KEEP_HEADER},
    };
    if (options_apart(args, apart, sizeof apart / sizeof apart[0])) return EXIT_TROUBLE;
    const bool needs_field = shape == SHAPE_CSV || shape == SHAPE_WHITESPACE;
    if (!needs_field || given(args, OPT_FIELD) || given(args, OPT_RIGHT_FIELD)) return 0;
    return fail(args, shape == SHAPE_CSV ? "--csv" : "--whitespace",
                "needs --field, a number or a name of the first line");
}

int fields_given(const struct args *args, enum option_id option, struct cutting *cutting) {
    char why[256];
    struct fields *fields = &cutting->fields;
    const char *list = args->setting[option].text;
    const struct human name = human_words("--%s", option_named(option)->name);
    if (!(fields->shape == SHAPE_JSONL ? json_paths_parse(fields, list, why, sizeof why)
                                       : fields_parse(fields, list, why, sizeof why)))
        return fail(args, name.text, "%s", why);
    const bool is_wide = fields->shape != SHAPE_LINE;
    for (size_t i = 0; is_wide && !fields->names && i < fields->n; i++)
        if (fields->range[i].last > MAX_COLUMNS && fields->range[i].last != TO_THE_END)
            return fail(args, name.text,
                        "%s is out of range (maximum with --csv or --whitespace: "
                        "%d)",
                        list, MAX_COLUMNS);
    return 0;
}

static int read_fields(const struct args *args, struct cutting *cutting) {
    const char *text = args->setting[OPT_DELIMITER].text;
    struct fields *fields = &cutting->fields;
    *fields = (struct fields){.shape = shape_given(args),
                              .has_header = FIRST_GIVEN(args, OPT_HEADER, OPT_KEEP_HEADER) != NULL};
    fields->delimiter = fields->shape == SHAPE_LINE ? '\t' : ',';
    if (check_shape(args, fields->shape)) return EXIT_TROUBLE;
    if (text && !delimiter_parse(text, &fields->delimiter))
        return fail(args, "--delimiter", "\"%s\" is not a single byte (escapes: \\t, \\0, \\xHH)",
                    text);
    if (text && fields->delimiter == cutting->line_end)
        return fail(args, "--delimiter", "this byte ends lines and cannot separate fields");
    if (fields->shape == SHAPE_CSV && fields->delimiter == '"')
        return fail(args, "--delimiter", "this byte quotes fields and cannot separate them");
    fields->joiner = fields->shape == SHAPE_LINE ? fields->delimiter : ',';
    if (given(args, OPT_JSONL)) return fields_given(args, OPT_JSONL, cutting);
    if (given(args, OPT_FIELD)) return fields_given(args, OPT_FIELD, cutting);
    return text && !FIRST_GIVEN(args, OPT_RIGHT_FIELD, OPT_TIME_FIELD)
               ? fail(args, "--delimiter", "needs --field")
               : 0;
}

int joiner_given(const struct args *args, char *joiner) {
    struct cutting cutting = {.line_end = given(args, OPT_NULL) ? '\0' : '\n'};
    const struct fields *fields = &cutting.fields;
    *joiner = '\0';
    if (!given(args, OPT_JSONL) && !given(args, OPT_FIELD)) return 0;
    const int code = read_fields(args, &cutting);
    const bool is_one =
        fields->n == 1 && (fields->names || fields->range[0].first == fields->range[0].last);
    if (!code && !is_one) *joiner = fields->joiner;
    return code;
}

static int read_comments(const struct args *args, struct cutting *cutting) {
    for (size_t i = 0; i < args->repeated_count; i++) {
        if (args->repeated[i].option != OPT_COMMENT) continue;
        if (cutting->comments == MAX_COMMENTS)
            return fail(args, "--comment", "given more than %d times", MAX_COMMENTS);
        if (!*args->repeated[i].text)
            return fail(args, "--comment", "needs the text that starts a comment, such as \"#\"");
        cutting->comment[cutting->comments++] = args->repeated[i].text;
    }
    return 0;
}

/* ---- Opening ---- */

int keys_open_sources(struct keys *keys, const struct args *args, struct source *sources,
                      size_t n) {
    *keys = (struct keys){
        .args = args,
        .cutting = {.line_end = given(args, OPT_NULL) ? '\0' : '\n',
                    .has_values = given(args, OPT_VALUES),
                    .is_strict = given(args, OPT_STRICT),
                    .is_list = verb_has(args->verb, OPT_KEEP_EMPTY)},
        .marks = {.has_name = given(args, OPT_WITH_FILENAME),
                  .has_number = given(args, OPT_LINE_NUMBER)},
        .source = sources,
        .source_count = n,
        .threads = given(args, OPT_THREADS) ? threads_wanted(args) : 1,
        .prints_header = given(args, OPT_KEEP_HEADER),
        .numbers_lines = given(args, OPT_LINE_NUMBER),
        .decompresses =
            !given(args, OPT_DECOMPRESS) || strcmp(args->setting[OPT_DECOMPRESS].text, "auto") == 0,
        .carry = malloc(BLOCK_BYTES),
    };
    if (!keys->source || !keys->carry) return fail_memory(args);
    for (size_t i = 0; i < n; i++)
        sources[i].start = is_dash(sources[i].name) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    keys->field_list = args->setting[given(args, OPT_JSONL) ? OPT_JSONL : OPT_FIELD].text;
    keys->cutting.skips_empty =
        given(args, OPT_SKIP_EMPTY) || (keys->cutting.is_list && !given(args, OPT_KEEP_EMPTY));
    if (read_comments(args, &keys->cutting)) return EXIT_TROUBLE;
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

void source_free(struct source *source) {
    free(source->label);
    free(source->fields);
    free(source->time_fields);
    source->label = NULL;
    source->fields = source->time_fields = NULL;
}

void keys_close(struct keys *keys) {
    input_close(keys->input);
    for (size_t i = 0; keys->source && i < keys->source_count; i++) source_free(&keys->source[i]);
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

void keys_are_questions(struct keys *keys) {
    keys->cutting.is_list = false;
    keys->cutting.skips_empty = given(keys->args, OPT_SKIP_EMPTY);
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
    keys->abilities = has;
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
            source_free(&keys->source[i]);
    }
    keys->source_count = kept;
    keys->next_source = 0;
    keys->keyless = keys->seen = 0;
    keys->skipped = (struct skipped){0};
    keys->fieldless = keys->invalid = (struct odd_line){0};
    keys->bytes = 0;
}
