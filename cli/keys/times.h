/* SPDX-License-Identifier: MIT */
/* times.h: only the files in cli/ include this. The time that a text says.
 *
 * No locale and no time zone of the machine: the same line says the same time everywhere. */
#ifndef TAMIS_CLI_KEYS_TIMES_H
#define TAMIS_CLI_KEYS_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tamis.h"

/* In the order of the choices of --time-format. */
enum time_format { TIME_AUTO, TIME_S, TIME_MS, TIME_US, TIME_NS, TIME_ISO, TIME_CLF };

/* False when there is no such format. */
bool time_format_named(const char *name, enum time_format *format);

/* Microseconds since 1970 began in UTC; years 1 to 9999. False when the text is no such time. */
bool time_parse(enum time_format format, struct tamis_key text, int64_t *us);

/* Whether it starts as the times of syslog do, which have no year: "Nov 18 07:15:00". */
bool time_lacks_year(struct tamis_key text);

#endif
