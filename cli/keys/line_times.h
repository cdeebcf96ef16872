/* SPDX-License-Identifier: MIT */
/* line_times.h: only the files in cli/ include this. When each line says it was.
 *
 *     line --fields.c--> the fields of --time-field --times.c--> microseconds since 1970
 */
#ifndef TAMIS_CLI_KEYS_LINE_TIMES_H
#define TAMIS_CLI_KEYS_LINE_TIMES_H

#include "cli/keys/keys.h"
#include "cli/keys/times.h"

struct line_times {
    const struct args *args;
    struct fields fields;
    enum time_format format;
    uint64_t lines, untimed; /* all, and those whose time cannot be read */
    struct human example;    /* the first of them, and what its time would be, */
    bool lacks_year;         /* which is one of syslog, */
    bool is_uncut;           /* or all of the line, or nothing */
};

/* Of a line whose time cannot be read. */
#define NO_TIME INT64_MIN

/* From --time-field and --time-format; the keys are open, and keep a pointer to it. */
int line_times_open(struct line_times *times, struct keys *keys);

/* Of every line, to batch->value, as int64_t. On any thread. */
void line_times_find(const struct line_times *times, struct batch *batch);

/* Counts the lines without a time. In `take`. With --strict the first of them is an error. */
int line_times_count(struct line_times *times, struct batch *batch);

/* A warning, when there was one. */
void line_times_warn(const struct line_times *times);

#endif
