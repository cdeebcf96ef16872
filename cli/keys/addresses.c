/* SPDX-License-Identifier: MIT */
/* addresses.c: IP addresses, from text and to text.
 *
 * By hand, as every line of a log may hold one: inet_pton wants a text with a zero at its end, and
 * systems differ in what inet_ntop makes of ::1.2.3.4.
 */
#include "cli/keys/addresses.h"

#include <stdio.h>
#include <string.h>

#include "cli/keys/steps.h"

/* ---- From text ---- */

static bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

const char *read_ip4(const char *at, const char *end, uint8_t ip[4], size_t *n) {
    for (*n = 0;; at++) {
        const char *start = at;
        unsigned value = 0;
        for (; is_digit(at, end) && at - start < 3; at++)
            value = 10 * value + (unsigned)(*at - '0');
        const bool has_zero = at - start > 1 && *start == '0';
        if (at == start || value > 255 || has_zero || is_digit(at, end)) return NULL;
        ip[(*n)++] = (uint8_t)value;
        if (*n == 4 || at == end || *at != '.') return at;
    }
}

static const char *read_group(const char *at, const char *end, uint16_t *group) {
    const char *start = at;
    unsigned value = 0;
    for (int digit; at < end && at - start < 4 && (digit = hex_digit(*at)) >= 0; at++)
        value = value << 4 | (unsigned)digit;
    *group = (uint16_t)value;
    return at > start ? at : NULL;
}

/* Groups and where "::" is between them: -1 for nowhere. Returns how many, -1 for no address. */
static int read_groups(const char *at, const char *end, uint16_t group[8], int *gap) {
    int n = 0;
    *gap = -1;
    if (end - at >= 2 && at[0] == ':' && at[1] == ':') *gap = 0, at += 2;
    while (at < end) {
        const char *start = at;
        uint8_t ip[4];
        size_t numbers;
        if (n == 8 || !(at = read_group(at, end, &group[n]))) return -1;
        if (at < end && *at == '.') { /* the end is written as IPv4 */
            if (n > 6 || read_ip4(start, end, ip, &numbers) != end || numbers < 4) return -1;
            group[n++] = (uint16_t)(ip[0] << 8 | ip[1]);
            group[n++] = (uint16_t)(ip[2] << 8 | ip[3]);
            return n;
        }
        n++;
        if (at == end) return n;
        if (*at++ != ':' || at == end) return -1;
        if (*at != ':') continue;
        if (*gap >= 0) return -1;
        *gap = n;
        at++;
    }
    return n;
}

static bool read_ip6(const char *at, const char *end, uint8_t ip[16]) {
    uint16_t group[8];
    int gap;
    const int n = read_groups(at, end, group, &gap);
    if (n < 0 || (gap < 0 ? n != 8 : n > 7)) return false;
    memset(ip, 0, 16);
    for (int i = 0; i < n; i++) {
        const int to = gap >= 0 && i >= gap ? i + 8 - n : i;
        ip[2 * to] = (uint8_t)(group[i] >> 8);
        ip[2 * to + 1] = (uint8_t)group[i];
    }
    return true;
}

unsigned read_ip(const char *at, const char *end, uint8_t ip[16]) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    size_t n;
    if (read_ip4(at, end, ip, &n) == end && n == 4) return 4;
    if (!read_ip6(at, end, ip)) return 0;
    if (memcmp(ip, mapped, sizeof mapped) != 0) return 6;
    memmove(ip, ip + 12, 4);
    return 4;
}

/* ---- To text ---- */

size_t write_ip4(char *text, const uint8_t ip[4]) {
    char *to = text;
    for (int i = 0; i < 4; i++) {
        if (i > 0) *to++ = '.';
        if (ip[i] >= 100) *to++ = (char)('0' + ip[i] / 100);
        if (ip[i] >= 10) *to++ = (char)('0' + ip[i] / 10 % 10);
        *to++ = (char)('0' + ip[i] % 10);
    }
    return (size_t)(to - text);
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

/* As RFC 5952 wants it. */
size_t write_ip6(char *text, const uint8_t ip[16]) {
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
    return (size_t)len;
}
