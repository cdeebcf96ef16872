/* SPDX-License-Identifier: MIT */
/* print.c: lines of a batch, as grep prints them. */
#include <inttypes.h>
#include <stdarg.h>

#include "cli/cli.h"

uint64_t line_number(const struct batch *batch, size_t i) {
    if (batch->keys->cutting.keeps_keyless) return batch->first_line + i;
    /* Lines without a key may have been left out before this one. */
    uint64_t number = batch->first_line;
    for (const char *at = batch->start; at < (const char *)batch->line[i].bytes; at++)
        number += *at == batch->keys->cutting.line_end;
    return number;
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

static const char *source_name(const struct source *source) {
    return is_dash(source->name) ? "(standard input)" : source->name;
}

void print_source(const struct source *source) {
    printf("%s:", source_name(source));
}

void print_place(struct batch *batch, size_t i) {
    const struct args *args = batch->keys->args;
    if (given(args, OPT_WITH_FILENAME)) {
        text_words(&batch->out, source_name(batch->from));
        text_byte(&batch->out, ':');
    }
    if (given(args, OPT_LINE_NUMBER)) {
        text_count(&batch->out, line_number(batch, i));
        text_byte(&batch->out, ':');
    }
}

void print_line(struct batch *batch, size_t i) {
    text_add(&batch->out, batch->line[i].bytes, batch->line[i].len);
    text_byte(&batch->out, batch->keys->cutting.line_end);
}

void print_pair_start(struct batch *batch, size_t i) {
    const struct tamis_key *line = &batch->line[i];
    const char *bytes = line->bytes;
    const bool drops_cr =
        batch->keys->cutting.has_crlf && line->len > 0 && bytes[line->len - 1] == '\r';
    text_add(&batch->out, bytes, line->len - drops_cr);
    text_byte(&batch->out, '\t');
}

void print_pair_end(struct batch *batch) {
    text_byte(&batch->out, batch->keys->cutting.line_end);
}
