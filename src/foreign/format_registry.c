/* SPDX-License-Identifier: MIT */
/* The list of formats, made from formats.def, and what they share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "foreign/bytes.h"
#include "foreign/format.h"

/* Small builds have a shorter list, or none: tools/small. */
#ifndef TAMIS_FORMATS_DEF
#define TAMIS_FORMATS_DEF "formats.def"
#endif

#define FORMAT(name) extern const tamis_format tamis__format_##name;
#include TAMIS_FORMATS_DEF
#undef FORMAT

static const tamis_format *const list[] = {
#define FORMAT(name) &tamis__format_##name,
#include TAMIS_FORMATS_DEF
#undef FORMAT
    NULL, /* an array has at least one */
};

size_t tamis__format_count(void) {
    return sizeof list / sizeof *list - 1;
}

const tamis_format *tamis__format_at(size_t i) {
    return i < tamis__format_count() ? list[i] : NULL;
}

const tamis_format *tamis__format_by_name(const char *name) {
    for (size_t i = 0; i < tamis__format_count(); i++)
        if (strcmp(list[i]->name, name) == 0) return list[i];
    return NULL;
}

tamis_status tamis__export_write(const tamis_export_source *to, const void *bytes, uint64_t size) {
    if (size == 0 || to->put(to->ctx, bytes, (size_t)size)) return TAMIS_OK;
    return tamis__fail(TAMIS_CANCELLED, "writing was stopped");
}

tamis_status tamis__export_reversed(const tamis_export_source *to, const uint8_t *words,
                                    uint64_t size) {
    uint8_t some[4096];
    tamis_status rc = TAMIS_OK;
    for (uint64_t at = 0, n; at < size && !rc; at += n) {
        n = size - at < sizeof some ? size - at : sizeof some;
        for (uint64_t i = 0; i < n; i += 8)
            tamis__put64_big(some + i, tamis__get64(words + at + i));
        rc = tamis__export_write(to, some, n);
    }
    return rc;
}

tamis_status tamis__bad_format(const char *name, const char *format, ...) {
    char sentence[256];
    va_list list_of;
    va_start(list_of, format);
    vsnprintf(sentence, sizeof sentence, format, list_of);
    va_end(list_of);
    return tamis__fail(TAMIS_CORRUPT, "not %s bytes: %s", name, sentence);
}

tamis_status tamis__too_short(const char *name, const tamis_input *in, uint64_t header) {
    return tamis__bad_format(name, "%llu bytes, a header alone has %llu",
                             (unsigned long long)in->size, (unsigned long long)header);
}

tamis_status tamis__audit_padding(const tamis_body *f, uint64_t stored) {
    for (uint64_t i = stored; i < f->size; i++)
        if (f->bytes[i])
            return tamis__fail(TAMIS_CORRUPT, "a byte after %s is not 0", f->kind->name);
    return TAMIS_OK;
}
