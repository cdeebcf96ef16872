/* SPDX-License-Identifier: MIT */
/* catalogue.c: what this library knows, as a binding for another language would read it: constants,
 * kinds, formats and encodings, without a reader of C headers. */
#include <inttypes.h>
#include <tamis_formats.h>

#include "must.h"

int main(void) {
    const char *name;
    int64_t value;
    size_t n = 0;
    printf("Tamis %s (%u)\n", tamis_version(), tamis_version_number());
    expect(tamis_version_number() >= TAMIS_VERSION_NUMBER, "the library is as new as the header");
    while (tamis_constant_at(n, &name, &value)) n++;
    printf("%zu constants; the last is %s = %" PRId64 "\n", n, name, value);

    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    for (size_t i = 0; i < tamis_kind_count() && tamis_kind_at(i, &kind); i++)
        printf("kind %-16s %s\n", kind.name, kind.contract);
    struct tamis_format_info format = TAMIS_FORMAT_INFO_INIT;
    for (size_t i = 0; i < tamis_format_count() && tamis_format_at(i, &format); i++)
        printf("format %-16s %s\n", format.name, format.system);
    for (size_t i = 0; (name = tamis_encoding_at(i)) != NULL; i++) printf("encoding %s\n", name);
    return 0;
}
