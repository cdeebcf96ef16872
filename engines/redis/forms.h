/* SPDX-License-Identifier: MIT */
/* The module's files may include this: names of the forms in which filters come in chunks. */
#ifndef TAMIS_REDIS_FORMS_H
#define TAMIS_REDIS_FORMS_H

static const char *const form_names[] = {"IMAGE", "REDISBLOOM", "REDISCUCKOO"};
enum { FORMS = sizeof form_names / sizeof *form_names };

#endif
