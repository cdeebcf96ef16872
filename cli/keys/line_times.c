/* SPDX-License-Identifier: MIT */
/* line_times.c: when each line says it was. */
#include "cli/keys/line_times.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

int line_times_open(struct line_times *times, struct keys *keys) {
    const struct args *args = keys->args;
    const char *text = args->setting[OPT_TIME_FIELD].text;
    const struct fields *of_key = &keys->cutting.fields;
    char why[256];
    *times = (struct line_times){.args = args, .format = TIME_AUTO};
    struct fields *fields = &times->fields;
    *fields = (struct fields){.shape = of_key->shape,
                              .delimiter = of_key->delimiter,
                              .joiner = ' ', /* date and time may be two fields */
                              .has_header = of_key->has_header};
    if (!(fields->shape == SHAPE_JSONL ? json_paths_parse(fields, text, why, sizeof why)
                                       : fields_parse(fields, text, why, sizeof why)))
        return fail(args, "--time-field", "%s", why);
    const bool is_one = fields->n == 1 && (fields->names || fields->range[0].last <= MAX_COLUMNS);
    if (!is_one)
        return fail(args, "--time-field", "\"%s\" is not one field, or neighbours (4 or 4-5)",
                    text);
    keys->time_fields = fields;
    keys->cutting.fields.has_header = fields->has_header; /* as names need one */
    time_format_named(text_or(args, OPT_TIME_FORMAT, "auto"), &times->format);
    return 0;
}

/* Room for what columns_key and json_key want, for any line of the batch; NULL where nothing is
 * written, or memory is out. */
static char *make_room(const struct line_times *times, struct batch *batch) {
    size_t max = 0;
    if (times->fields.shape == SHAPE_LINE) return NULL;
    for (size_t i = 0; i < batch->n; i++)
        if (batch->line[i].len > max && batch->line[i].len <= MAX_REWRITTEN)
            max = batch->line[i].len;
    char *room = malloc(columns_join(&times->fields, max) + 2 * max);
    if (!room) batch->out.is_short_of_memory = true; /* which ends the run */
    return room;
}

/* The text of the time; empty where the line has no such field. */
static struct tamis_key time_of(const struct line_times *times, const struct batch *batch, size_t i,
                                char *room) {
    const struct fields *fields =
        batch->from->time_fields ? batch->from->time_fields : &times->fields;
    const struct tamis_key *line = &batch->line[i], none = {"", 0};
    struct tamis_key text = *line;
    bool is_missing;
    if (fields->shape == SHAPE_LINE) {
        const bool is_mapped = line->len >= BLOCK_BYTES;
        return fields_find(fields, line, is_mapped, &text) ? text : none;
    }
    if (!room || line->len > MAX_REWRITTEN) return none;
    const char *wrong = fields->shape == SHAPE_JSONL
                            ? json_key(fields, &text, room, &is_missing)
                            : columns_key(fields, &text, room, &is_missing);
    return wrong || is_missing ? none : text;
}

void line_times_find(const struct line_times *times, struct batch *batch) {
    char *room = make_room(times, batch);
    for (size_t i = 0; i < batch->n; i++) {
        int64_t us;
        const bool is_time = time_parse(times->format, time_of(times, batch, i, room), &us);
        batch->value[i] = (uint64_t)(is_time ? us : NO_TIME);
    }
    free(room);
}

/* What is wrong with the first line that has no time. */
static void note_example(struct line_times *times, struct batch *batch, size_t i) {
    char *room = make_room(times, batch);
    const struct tamis_key text = time_of(times, batch, i, room);
    times->lacks_year = time_lacks_year(text);
    times->is_uncut = text.len == 0 || text.len == batch->line[i].len;
    times->example = human_words("%s: line %" PRIu64 ": \"%s\"", input_name(batch->from->name),
                                 line_number(batch, i), human_key(&text).text);
    free(room);
}

/* What could be done about it. */
static const char *advice(const struct line_times *times) {
    const struct args *args = times->args;
    return times->lacks_year ? "; times of syslog have no year: let it write ISO 8601"
           : times->untimed == times->lines && times->is_uncut && !given(args, OPT_DELIMITER)
               ? "; set the field separator with --delimiter"
               : "";
}

int line_times_count(struct line_times *times, struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++) {
        times->lines++;
        if ((int64_t)batch->value[i] != NO_TIME) continue;
        if (times->untimed++ == 0) note_example(times, batch, i);
        if (given(times->args, OPT_STRICT))
            return fail(times->args, NULL, "%s is not a time%s", times->example.text,
                        advice(times));
    }
    return 0;
}

void line_times_warn(const struct line_times *times) {
    if (times->untimed == 0) return;
    if (times->untimed == times->lines)
        warn(times->args, NULL, "no line has a time in field %s: %s%s",
             times->args->setting[OPT_TIME_FIELD].text, times->example.text, advice(times));
    else
        warn(times->args, NULL,
             "%s of %s lines %s no time in field %s, and %s at that of the line before; the first: "
             "%s%s",
             human_count(times->untimed).text, human_count(times->lines).text,
             times->untimed == 1 ? "has" : "have", times->args->setting[OPT_TIME_FIELD].text,
             times->untimed == 1 ? "counts" : "count", times->example.text, advice(times));
}
