/* SPDX-License-Identifier: MIT */
/* Everybody inside the library may include this: how a failure gets its sentence. */
#ifndef TAMIS_BASE_STATUS_H
#define TAMIS_BASE_STATUS_H

#include "tamis.h"

/* Keeps a sentence for tamis_why and returns the status, so that refusing is one line:
 *     return tamis__fail(TAMIS_INVALID, "hashes must be from 1 to %d, not %d", most, hashes);  */
tamis_status tamis__fail(tamis_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts words in front of the present sentence: "FILE: sentence". Returns the status. */
tamis_status tamis__fail_in(tamis_status status, const char *where);

#endif
