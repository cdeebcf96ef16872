/* SPDX-License-Identifier: MIT */
/* For the whole library: how a failure gets its error message. */
#ifndef TAMIS_BASE_STATUS_H
#define TAMIS_BASE_STATUS_H

#include "tamis.h"

/* Stores an error message for tamis_why and returns the status, so that refusing is one line:
 *     return tamis__fail(TAMIS_INVALID, "hashes must be from 1 to %d, not %d", most, hashes); */
tamis_status tamis__fail(tamis_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prefixes the current message: "FILE: message". Returns the status. */
tamis_status tamis__fail_in(tamis_status status, const char *where);

#endif
