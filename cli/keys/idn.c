/* SPDX-License-Identifier: MIT */
/* idn.c: host names in other scripts to their xn-- form, where libidn2 can be linked.
 *
 * As browsers do it: IDNA 2008, non-transitional, with the mapping of UTS 46. Tables of Unicode
 * grow, but what is mapped stays mapped: an older library refuses a name that it does not know, and
 * a newer one never makes another key of one that both know.
 */
#include <string.h>

#include "cli/keys/steps.h"

#if defined(TAMIS_WITH_IDN2)
#include <idn2.h>

bool idn_is_built_in(void) {
    return true;
}

size_t idn_to_ascii(const struct tamis_key *name, char ascii[HOST_ROOM]) {
    /* Four bytes a character, and no more characters than a name in ASCII may have. */
    char text[4 * HOST_ROOM];
    uint8_t *made = NULL;
    if (name->len >= sizeof text || memchr(name->bytes, '\0', name->len)) return 0;
    memcpy(text, name->bytes, name->len);
    text[name->len] = '\0';
    if (idn2_lookup_u8((const uint8_t *)text, &made, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) !=
        IDN2_OK)
        return 0;
    size_t len = strlen((char *)made);
    if (len < HOST_ROOM)
        memcpy(ascii, made, len);
    else
        len = 0;
    idn2_free(made);
    return len;
}

#else

bool idn_is_built_in(void) {
    return false;
}

size_t idn_to_ascii(const struct tamis_key *name, char ascii[HOST_ROOM]) {
    (void)name, (void)ascii;
    return 0;
}

#endif
