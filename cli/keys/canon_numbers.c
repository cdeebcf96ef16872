/* SPDX-License-Identifier: MIT */
/* canon_numbers.c: numbers that people write in several ways: addresses and identifiers. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "cli/keys/steps.h"

/* The key is what was written to `text`. */
static bool write_key(struct tamis_key *key, char *room, const char *text, size_t len) {
    memcpy(room, text, len);
    *key = (struct tamis_key){.bytes = room, .len = len};
    return true;
}

/* ---- ip ---- */

/* A longer text is no address. */
enum { IP_TEXT = 64 };

static int write_ip4(char *text, const uint8_t *ip) {
    return snprintf(text, IP_TEXT, "%d.%d.%d.%d", ip[0], ip[1], ip[2], ip[3]);
}

/* The longest run of zeros, two at least, the first of equals. */
static void find_zeros(const uint16_t group[8], int *start, int *len) {
    *start = 8, *len = 1;
    for (int i = 0; i < 8; i++) {
        int run = 0;
        while (i + run < 8 && group[i + run] == 0) run++;
        if (run > *len) *start = i, *len = run;
        i += run;
    }
}

/* As RFC 5952 wants it. Not inet_ntop: systems differ in what they make of ::1.2.3.4. */
static int write_ip6(char *text, const uint8_t *ip) {
    uint16_t group[8];
    int start, zeros, len = 0;
    for (int i = 0; i < 8; i++) group[i] = (uint16_t)(ip[2 * i] << 8 | ip[2 * i + 1]);
    find_zeros(group, &start, &zeros);
    for (int i = 0; i < 8; i++) {
        if (i == start) {
            len += snprintf(text + len, IP_TEXT - (size_t)len, "::");
            i += zeros - 1;
        } else {
            const bool is_joined = i == 0 || i == start + zeros;
            len +=
                snprintf(text + len, IP_TEXT - (size_t)len, "%s%x", is_joined ? "" : ":", group[i]);
        }
    }
    return len;
}

/* Brackets, as in URLs, and a zone, which names a cable of one machine, are no part of it. */
static bool strip_ip(struct tamis_key *key) {
    const char *text = key->bytes;
    if (key->len >= 2 && text[0] == '[') {
        if (text[key->len - 1] != ']') return false;
        *key = (struct tamis_key){.bytes = text + 1, .len = key->len - 2};
    }
    const char *zone = memchr(key->bytes, '%', key->len);
    if (zone) key->len = (size_t)(zone - (const char *)key->bytes);
    return true;
}

bool canon_ip(struct tamis_key *key, char *room) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct tamis_key bare = without_blanks(*key);
    const bool is_plain =
        bare.len > 0 && *(const char *)bare.bytes != '[' && !memchr(bare.bytes, '%', bare.len);
    char text[IP_TEXT];
    uint8_t ip[16];
    if (!strip_ip(&bare) || bare.len >= IP_TEXT || memchr(bare.bytes, '\0', bare.len)) return false;
    memcpy(text, bare.bytes, bare.len);
    text[bare.len] = '\0';
    int len;
    if (is_plain && inet_pton(AF_INET, text, ip) == 1)
        len = write_ip4(text, ip);
    else if (inet_pton(AF_INET6, text, ip) != 1)
        return false;
    else if (memcmp(ip, mapped, sizeof mapped) == 0)
        len = write_ip4(text, ip + 12);
    else
        len = write_ip6(text, ip);
    return write_key(key, room, text, (size_t)len);
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
