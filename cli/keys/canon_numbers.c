/* SPDX-License-Identifier: MIT */
/* canon_numbers.c: numbers that people write in several ways: addresses, identifiers, digests. */
#include <string.h>

#include "cli/keys/addresses.h"
#include "cli/keys/steps.h"

/* The key is what was written to `text`. */
static bool write_key(struct tamis_key *key, char *room, const char *text, size_t len) {
    memcpy(room, text, len);
    *key = (struct tamis_key){.bytes = room, .len = len};
    return true;
}

/* ---- ip ---- */

bool strip_ip(struct tamis_key *key) {
    const char *text = key->bytes;
    if (key->len >= 2 && text[0] == '[') {
        if (text[key->len - 1] != ']') return false;
        *key = (struct tamis_key){.bytes = text + 1, .len = key->len - 2};
    }
    const char *zone = memchr(key->bytes, '%', key->len);
    if (zone) key->len = (size_t)(zone - (const char *)key->bytes);
    return true;
}

struct tamis_key without_port(struct tamis_key address) {
    const char *start = address.bytes, *end = end_of(&address), *at = end;
    while (at > start && at[-1] >= '0' && at[-1] <= '9') at--;
    const char *colon = at - 1;
    if (at == end || end - at > 5 || colon <= start || *colon != ':') return address;
    const bool is_ip6 = *start == '[' && colon[-1] == ']';
    const bool is_ip4 = memchr(start, ':', address.len) == colon;
    return is_ip6 || is_ip4 ? part(start, colon) : address;
}

static bool is_ip(struct tamis_key bare, char *text, size_t *len) {
    const bool is_plain =
        bare.len > 0 && *(const char *)bare.bytes != '[' && !memchr(bare.bytes, '%', bare.len);
    uint8_t ip[16];
    bare = without_port(bare);
    if (!strip_ip(&bare) || bare.len >= IP_TEXT) return false;
    const char *start = bare.bytes, *end = start + bare.len;
    const unsigned family = read_ip(start, end, ip);
    if (family == 0 || (!is_plain && !memchr(start, ':', bare.len))) return false;
    *len = family == 4 ? write_ip4(text, ip) : write_ip6(text, ip);
    return true;
}

bool canon_ip(struct tamis_key *key, char *room) {
    const struct tamis_key bare = without_blanks(*key);
    char text[IP_TEXT];
    size_t len;
    if (!is_ip(bare, text, &len) && !is_ip(refang(bare, room), text, &len)) return false;
    return write_key(key, room, text, len);
}

/* ---- mac, uuid ---- */

/* Copies the hex digits in lower case and counts them. With a separator, that must follow
 * each group of `group` digits; 0 for any other text. */
static size_t take_digits(const struct tamis_key *key, char separator, size_t group, char *digits,
                          size_t room) {
    const char *text = key->bytes;
    size_t n = 0;
    for (size_t i = 0; i < key->len; i++) {
        if (separator && i % (group + 1) == group) {
            if (text[i] != separator || i + 1 == key->len) return 0;
        } else {
            if (n == room || hex_digit(text[i]) < 0) return 0;
            digits[n++] = lower_byte(text[i]);
        }
    }
    return n;
}

bool canon_mac(struct tamis_key *key, char *room) {
    enum { MAX_DIGITS = 16 }; /* EUI-64; the usual ones have 12 */
    const struct tamis_key bare = without_blanks(*key);
    const char *text = bare.bytes;
    char digits[MAX_DIGITS], mac[MAX_DIGITS / 2 * 3];
    const char third = bare.len > 4 ? text[2] : '\0', fifth = bare.len > 4 ? text[4] : '\0';
    const size_t n = third == ':' || third == '-' ? take_digits(&bare, third, 2, digits, MAX_DIGITS)
                     : fifth == '.'               ? take_digits(&bare, '.', 4, digits, MAX_DIGITS)
                                                  : take_digits(&bare, 0, 0, digits, MAX_DIGITS);
    if (n != 12 && n != 16) return false;
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && i % 2 == 0) mac[len++] = ':';
        mac[len++] = digits[i];
    }
    return write_key(key, room, mac, len);
}

/* Without what may stand around it. */
static struct tamis_key strip_uuid(struct tamis_key key) {
    static const char urn[] = "urn:uuid:";
    const char *text = key.bytes;
    size_t i = 0;
    while (i < sizeof urn - 1 && i < key.len && lower_byte(text[i]) == urn[i]) i++;
    if (i == sizeof urn - 1) return (struct tamis_key){.bytes = text + i, .len = key.len - i};
    if (key.len > 2 && text[0] == '{' && text[key.len - 1] == '}')
        return (struct tamis_key){.bytes = text + 1, .len = key.len - 2};
    return key;
}

bool canon_uuid(struct tamis_key *key, char *room) {
    enum { DIGITS = 32, WITH_HYPHENS = 36 };
    const struct tamis_key bare = strip_uuid(without_blanks(*key));
    const char *from = bare.bytes;
    char uuid[WITH_HYPHENS];
    if (bare.len != DIGITS && bare.len != WITH_HYPHENS) return false;
    for (size_t i = 0; i < WITH_HYPHENS; i++) {
        const bool is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_hyphen && bare.len == WITH_HYPHENS && *from++ != '-') return false;
        if (!is_hyphen && hex_digit(*from) < 0) return false;
        uuid[i] = is_hyphen ? '-' : lower_byte(*from++);
    }
    return write_key(key, room, uuid, sizeof uuid);
}

/* ---- hash ---- */

static const struct digest {
    const char *name; /* as before a colon; a hyphen in it may be left out */
    size_t digits;
} digests[] = {{"md5", 32},     {"sha-1", 40},   {"sha-224", 56},
               {"sha-256", 64}, {"sha-384", 96}, {"sha-512", 128}};
enum { DIGESTS = sizeof digests / sizeof digests[0] };

/* How much of " (FILE) = ", as BSD and sha256sum --tag write it, follows a name; 0 for none. */
static size_t tag_len(const char *at, const char *end) {
    const char *const start = at;
    if (end - at < 2 || at[0] != ' ' || at[1] != '(') return 0;
    for (at = end; *--at != ')';)
        if (at == start) return 0;
    return end - at > 4 && memcmp(at, ") = ", 4) == 0 ? (size_t)(at + 4 - start) : 0;
}

/* How much of the text is this name and a colon or a file, 0 for none of it. */
static size_t name_len(const struct tamis_key *key, const char *name) {
    const char *text = key->bytes;
    size_t i = 0;
    for (; *name; name++) {
        if (i < key->len && lower_byte(text[i]) == *name)
            i++;
        else if (*name != '-')
            return 0;
    }
    if (i < key->len && text[i] == ':') return i + 1;
    const size_t tag = tag_len(text + i, end_of(key));
    return tag > 0 ? i + tag : 0;
}

/* ":COUNT", "  FILE" as sha256sum has it, or nothing. */
static bool may_follow_digest(const char *at, const char *end) {
    if (at == end || is_blank(*at)) return true;
    if (*at++ != ':' || at == end) return false;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at == end;
}

/* sha256sum writes one before the digest when the name of the file is escaped. */
static struct tamis_key without_backslash(struct tamis_key key) {
    const char *text = key.bytes;
    return key.len > 0 && *text == '\\' ? part(text + 1, end_of(&key)) : key;
}

bool canon_hash(struct tamis_key *key, char *room) {
    struct tamis_key bare = without_backslash(without_blanks(*key));
    size_t named = 0, digits = 0, n = 0;
    for (size_t i = 0; i < DIGESTS && named == 0; i++) {
        named = name_len(&bare, digests[i].name);
        digits = digests[i].digits;
    }
    const char *text = (const char *)bare.bytes + named, *end = text + bare.len - named;
    while (text + n < end && hex_digit(text[n]) >= 0) n++;
    bool is_digest = named > 0 && n == digits;
    for (size_t i = 0; i < DIGESTS && named == 0; i++) is_digest |= n == digests[i].digits;
    if (!is_digest || !may_follow_digest(text + n, end)) return false;
    for (size_t i = 0; i < n; i++) room[i] = lower_byte(text[i]);
    *key = (struct tamis_key){.bytes = room, .len = n};
    return true;
}
