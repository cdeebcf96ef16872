/* SPDX-License-Identifier: MIT */
/* Statuses, and the error message of the last failure. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One message per thread. The only state outside filters; it is never read to decide anything.
 * Empty at first: as zeros it takes no room in files. */
enum { SENTENCE_BYTES = 512 };
static _Thread_local char sentence[SENTENCE_BYTES];

tamis_status tamis__fail(tamis_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    return status;
}

tamis_status tamis__fail_in(tamis_status status, const char *where) {
    char inner[SENTENCE_BYTES];
    memcpy(inner, sentence, sizeof inner);
    /* Both parts get room; a long path keeps its end, which says more than its beginning. */
    const size_t max = 240, len = strlen(where);
    snprintf(sentence, sizeof sentence, "%s%.240s: %.260s", len > max ? "..." : "",
             len > max ? where + (len - max) : where, inner);
    return status;
}

const char *tamis_why(void) {
    return sentence[0] ? sentence : "no call has failed on this thread";
}

const char *tamis_status_text(tamis_status status) {
    switch (status) {
#define TEXT(name, value, text) \
    case TAMIS_##name: return text;
        TAMIS_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "unknown status";
}

const char *tamis_status_name(tamis_status status) {
    switch (status) {
#define NAME(name, value, text) \
    case TAMIS_##name: return "TAMIS_" #name;
        TAMIS_STATUS_MAP(NAME)
#undef NAME
    }
    return NULL;
}

#define TEXT_OF(a, b, c)        #a "." #b "." #c
#define TEXT_OF_VALUES(a, b, c) TEXT_OF(a, b, c)

const char *tamis_version(void) {
    return TEXT_OF_VALUES(TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR, TAMIS_VERSION_PATCH);
}

unsigned tamis_version_number(void) {
    return TAMIS_VERSION_NUMBER;
}
