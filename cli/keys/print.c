/* SPDX-License-Identifier: MIT */
/* print.c: lines of a batch, as grep prints them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

uint64_t line_number_at(const struct batch *batch, const char *line) {
    uint64_t number = batch->first_line;
    for (const char *at = batch->start; at < line; at++)
        number += *at == batch->keys->cutting.line_end;
    return number;
}

uint64_t line_number(const struct batch *batch, size_t i) {
    return batch->has_gaps ? line_number_at(batch, batch->line[i].bytes) : batch->first_line + i;
}

int fail_line(const struct batch *batch, size_t i, const char *format, ...) {
    char sentence[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    return fail(batch->keys->args, input_name(batch->from->name), "line %" PRIu64 ": %s",
                line_number(batch, i), sentence);
}

const char *source_name(const struct source *source) {
    return is_dash(source->name) ? "(standard input)" : source->name;
}

/* ---- Places ---- */

static void add_colored(struct batch *batch, enum role role, const void *bytes, size_t len) {
    const bool has_colors = batch->keys->marks.has_colors;
    if (has_colors) text_words(&batch->out, color_code(role));
    text_add(&batch->out, bytes, len);
    if (has_colors) text_words(&batch->out, color_code(ROLE_TEXT));
}

static void print_place_with(struct batch *batch, size_t i, const char *mark) {
    const struct line_marks *marks = &batch->keys->marks;
    if (marks->has_name) {
        const char *name = source_name(batch->from);
        add_colored(batch, ROLE_FILE, name, strlen(name));
        add_colored(batch, ROLE_MARK, mark, 1);
    }
    if (marks->has_number) {
        if (marks->has_colors) text_words(&batch->out, color_code(ROLE_NUMBER));
        text_count(&batch->out, line_number(batch, i));
        if (marks->has_colors) text_words(&batch->out, color_code(ROLE_TEXT));
        add_colored(batch, ROLE_MARK, mark, 1);
    }
}

void print_place(struct batch *batch, size_t i) {
    print_place_with(batch, i, ":");
}

void print_context_place(struct batch *batch, size_t i) {
    print_place_with(batch, i, "-");
}

void print_gap(struct batch *batch) {
    add_colored(batch, ROLE_MARK, "--", 2);
    text_byte(&batch->out, '\n'); /* as grep, also where lines end in a NUL byte */
}

void print_source(const struct keys *keys, const struct source *source, const char *after) {
    const bool has_colors = keys->marks.has_colors;
    const char *const plain = has_colors ? color_code(ROLE_TEXT) : "";
    printf("%s%s%s", has_colors ? color_code(ROLE_FILE) : "", source_name(source), plain);
    if (strcmp(after, ":") == 0)
        printf("%s%s%s", has_colors ? color_code(ROLE_MARK) : "", after, plain);
    else
        fputs(after, stdout);
}

/* ---- Keys as the input has them ---- */

static const struct fields *fields_of(const struct batch *batch) {
    return batch->from->fields ? batch->from->fields : &batch->keys->cutting.fields;
}

static struct tamis_key line_without_cr(const struct batch *batch, size_t i) {
    struct tamis_key line = batch->line[i];
    const char *bytes = line.bytes;
    if (batch->keys->cutting.line_end == '\n' && line.len > 0 && bytes[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* The same without its comment. */
static struct tamis_key line_of_key(const struct batch *batch, size_t i) {
    struct tamis_key line = line_without_cr(batch, i);
    (void)cut_comments(&batch->keys->cutting, &line);
    return line;
}

/* The fields that make the key, where they are in the line. */
static size_t key_parts(const struct batch *batch, size_t i, struct tamis_key part[MAX_RANGES]) {
    const struct fields *fields = fields_of(batch);
    const struct tamis_key line = line_of_key(batch, i);
    if (!batch->key[i].bytes) return 0;
    part[0] = line;
    if (fields->n == 0) return 1;
    if (fields->shape == SHAPE_JSONL) return json_parts(fields, &line, part);
    if (fields->shape != SHAPE_LINE) return columns_parts(fields, &line, part);
    return fields_find(fields, &line, line.len >= BLOCK_BYTES, part) ? fields->n : 0;
}

/* The key before it gets its form, in one piece, which may be in `memory`, for the caller to free.
 * Without bytes when the line has none; false when memory is out. */
static bool key_text(const struct batch *batch, size_t i, struct tamis_key *text, char **memory) {
    const struct fields *fields = fields_of(batch);
    struct tamis_key part[MAX_RANGES];
    const size_t n = key_parts(batch, i, part);
    bool is_missing;
    *text = n > 0 ? part[0] : (struct tamis_key){0};
    *memory = NULL;
    if (n == 0 || fields->n == 0 || (fields->shape == SHAPE_LINE && n == 1)) return true;
    *text = line_of_key(batch, i);
    *memory = malloc(columns_join(fields, text->len) + 2 * text->len);
    if (!*memory) return false;
    if (fields->shape == SHAPE_LINE)
        fields_join(fields, part, *memory, text);
    else if (fields->shape == SHAPE_JSONL)
        (void)json_key(fields, text, *memory, &is_missing);
    else
        (void)columns_key(fields, text, *memory, &is_missing);
    return true;
}

static void add_key(struct batch *batch, size_t i) {
    const bool is_colored =
        batch->keys->marks.has_colors && batch->hit[i] && batch->line[i].len <= LONG_KEY;
    struct tamis_key text;
    char *memory;
    if (!key_text(batch, i, &text, &memory))
        batch->out.is_short_of_memory = true;
    else if (is_colored)
        add_colored(batch, ROLE_MATCH, text.bytes, text.len);
    else if (memory) /* what is long is printed from where it is, later */
        text_copy(&batch->out, text.bytes, text.len);
    else
        text_add(&batch->out, text.bytes, text.len);
    free(memory);
}

/* By where they are; some may lie inside others. */
static void sort_parts(struct tamis_key part[], size_t n) {
    for (size_t i = 1; i < n; i++) {
        const struct tamis_key one = part[i];
        size_t j = i;
        for (; j > 0 && (const char *)part[j - 1].bytes > (const char *)one.bytes; j--)
            part[j] = part[j - 1];
        part[j] = one;
    }
}

static void add_line_colored(struct batch *batch, size_t i, const struct tamis_key *line) {
    struct tamis_key part[MAX_RANGES];
    const size_t n = key_parts(batch, i, part);
    const char *at = line->bytes, *const end = at + line->len;
    sort_parts(part, n);
    for (size_t j = 0; j < n; j++) {
        const char *from = part[j].bytes, *const to = from + part[j].len;
        if (from < at) from = at;
        if (to <= from) continue;
        text_add(&batch->out, at, (size_t)(from - at));
        add_colored(batch, ROLE_MATCH, from, (size_t)(to - from));
        at = to;
    }
    text_add(&batch->out, at, (size_t)(end - at));
}

/* ---- Lines ---- */

/* A line that is not copied stays without colours: there is one place for what is long. */
static void add_line(struct batch *batch, size_t i, const struct tamis_key *line) {
    const struct line_marks *marks = &batch->keys->marks;
    if (marks->only_keys)
        add_key(batch, i);
    else if (marks->has_colors && batch->hit[i] && line->len <= LONG_KEY)
        add_line_colored(batch, i, line);
    else
        text_add(&batch->out, line->bytes, line->len);
}

void print_plain(struct batch *batch, size_t i) {
    text_add(&batch->out, batch->line[i].bytes, batch->line[i].len);
    text_byte(&batch->out, batch->keys->cutting.line_end);
}

void print_line(struct batch *batch, size_t i) {
    add_line(batch, i, &batch->line[i]);
    text_byte(&batch->out, batch->keys->cutting.line_end);
}

void print_pair_start(struct batch *batch, size_t i) {
    const struct tamis_key line = line_without_cr(batch, i);
    add_line(batch, i, &line);
    text_byte(&batch->out, '\t');
}

void print_pair_end(struct batch *batch) {
    text_byte(&batch->out, batch->keys->cutting.line_end);
}

/* ---- JSON ---- */

static bool write_key(struct json *json, const struct batch *batch, size_t i) {
    struct tamis_key text;
    char *memory;
    if (!key_text(batch, i, &text, &memory)) return false;
    if (text.bytes)
        json_bytes(json, "key", text.bytes, text.len);
    else
        json_text(json, "key", NULL);
    free(memory);
    return true;
}

bool write_line(struct json *json, const struct batch *batch, size_t i) {
    json_text(json, "file", batch->from->name);
    json_count(json, "line_number", line_number(batch, i));
    json_bytes(json, "line", batch->line[i].bytes, batch->line[i].len);
    return write_key(json, batch, i);
}
