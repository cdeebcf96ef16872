/* SPDX-License-Identifier: MIT */
/* cidr.c: addresses, blocks and ranges of them, as blocks.
 *
 * A block is 6 or 18 bytes: 4 or 6, how many bits of the address are given, and the address with
 * the others zero. A range is the fewest blocks that are together the same, one after the other.
 */
#include <string.h>

#include "cli/keys/addresses.h"
#include "cli/keys/expand.h"
#include "cli/keys/steps.h"

struct address {
    unsigned family; /* 4 or 6 */
    bool is_mapped;  /* one of IPv4, written as one of IPv6 */
    uint8_t ip[16];
};

static size_t size_of(unsigned family) {
    return family == 4 ? 4 : 16;
}

/* ---- Bits of an address ---- */

/* All bits after the first `len`: cleared, or set. */
static void set_rest(uint8_t *ip, size_t size, unsigned len, bool are_set) {
    for (size_t i = 0; i < size; i++) {
        const unsigned kept = len >= 8 * (i + 1) ? 8 : len <= 8 * i ? 0 : len - 8 * (unsigned)i;
        const uint8_t rest = (uint8_t)(0xff >> kept);
        ip[i] = are_set ? ip[i] | rest : ip[i] & (uint8_t)~rest;
    }
}

/* Whether all bits after the first `len` are zero. */
static bool is_start_of(const uint8_t *ip, size_t size, unsigned len) {
    uint8_t start[16];
    memcpy(start, ip, size);
    set_rest(start, size, len, false);
    return memcmp(start, ip, size) == 0;
}

/* The next address; false after the last one. */
static bool step(uint8_t *ip, size_t size) {
    for (size_t i = size; i-- > 0;)
        if (++ip[i] != 0) return true;
    return false;
}

void write_block(uint8_t *block, unsigned family, const uint8_t *ip, unsigned len) {
    const size_t size = size_of(family);
    block[0] = (uint8_t)family;
    block[1] = (uint8_t)len;
    if (family == 4) { /* At once: a question may ask for 33 of these. */
        const uint32_t mask = len > 0 ? UINT32_MAX << (32 - len) : 0;
        for (int i = 0; i < 4; i++) block[2 + i] = ip[i] & (uint8_t)(mask >> (24 - 8 * i));
        return;
    }
    memcpy(block + 2, ip, size);
    set_rest(block + 2, size, len, false);
}

/* ---- Ranges ---- */

/* The largest block that starts at the first address and ends before the last, again and again. */
static uint8_t *write_range(uint8_t *to, struct address *first, const struct address *last) {
    const size_t size = size_of(first->family);
    for (;;) {
        unsigned len = 0;
        uint8_t end[16];
        for (; len < 8 * size; len++) {
            memcpy(end, first->ip, size);
            set_rest(end, size, len, true);
            if (is_start_of(first->ip, size, len) && memcmp(end, last->ip, size) <= 0) break;
        }
        memcpy(end, first->ip, size);
        set_rest(end, size, len, true);
        write_block(to, first->family, first->ip, len);
        to += 2 + size;
        memcpy(first->ip, end, size);
        if (memcmp(end, last->ip, size) >= 0 || !step(first->ip, size)) return to;
    }
}

/* ---- Text ---- */

static bool read_address(struct tamis_key text, struct address *address) {
    text = without_blanks(text);
    if (!strip_ip(&text)) return false;
    address->family = read_ip(text.bytes, end_of(&text), address->ip);
    address->is_mapped = address->family == 4 && memchr(text.bytes, ':', text.len);
    return address->family != 0;
}

/* "10/8": numbers that are not given are zero, where none of their bits is asked for. */
static bool read_start(struct tamis_key text, struct address *address, unsigned *bits) {
    size_t n;
    *bits = 32;
    if (read_address(text, address)) {
        *bits = address->family == 4 && !address->is_mapped ? 32 : 128;
        return true;
    }
    memset(address, 0, sizeof *address);
    if (read_ip4(text.bytes, end_of(&text), address->ip, &n) != end_of(&text)) return false;
    address->family = 4;
    *bits = 8 * (unsigned)n;
    return true;
}

/* "24", or a mask: "255.255.255.0". */
static bool read_length(struct tamis_key text, unsigned bits, unsigned *len) {
    const char *at = text.bytes, *end = end_of(&text);
    uint8_t mask[4], first[4] = {255, 255, 255, 255};
    size_t n;
    if (read_ip4(at, end, mask, &n) == end && n == 4) {
        for (*len = 0; *len < 32 && mask[*len / 8] & 0x80 >> *len % 8;) ++*len;
        set_rest(first, 4, *len, false);
        return *len <= bits && memcmp(first, mask, 4) == 0;
    }
    for (*len = 0; at < end && *at >= '0' && *at <= '9' && *len <= 128; at++)
        *len = 10 * *len + (unsigned)(*at - '0');
    return text.len > 0 && text.len <= 3 && at == end && *len <= bits;
}

static bool read_block(const struct tamis_key *text, const char *slash, struct address *address,
                       unsigned *len) {
    unsigned bits;
    if (!read_start(without_blanks(part(text->bytes, slash)), address, &bits)) return false;
    if (!read_length(without_blanks(part(slash + 1, end_of(text))), bits, len)) return false;
    if (!address->is_mapped) return true;
    if (*len < 96) return false; /* ::ffff:10.0.0.0/104 */
    *len -= 96;
    return true;
}

/* "10.0.0.5-10.0.0.77", or only its last number after the hyphen. */
static bool read_last(struct tamis_key text, const struct address *first, struct address *last) {
    uint8_t number[4];
    size_t n;
    text = without_blanks(text);
    if (read_address(text, last)) return last->family == first->family;
    if (first->family != 4 || read_ip4(text.bytes, end_of(&text), number, &n) != end_of(&text))
        return false;
    *last = *first;
    last->ip[3] = number[0];
    return n == 1;
}

bool canon_cidr(struct tamis_key *key, char *room) {
    uint8_t *to = (uint8_t *)room;
    struct address first, last;
    size_t n;
    unsigned len;
    struct tamis_key text = without_blanks(*key);
    if (read_ip4(text.bytes, end_of(&text), first.ip, &n) == end_of(&text) && n == 4) {
        write_block(to, 4, first.ip, 32);
        *key = (struct tamis_key){room, 6};
        return true;
    }
    text = refang(text, room);
    const char *hyphen = text.len ? memchr(text.bytes, '-', text.len) : NULL;
    const char *slash = text.len ? memchr(text.bytes, '/', text.len) : NULL;
    if (hyphen) {
        if (!read_address(part(text.bytes, hyphen), &first) ||
            !read_last(part(hyphen + 1, end_of(&text)), &first, &last) ||
            memcmp(first.ip, last.ip, size_of(first.family)) > 0)
            return false;
        *key = part(room, (char *)write_range(to, &first, &last));
        return true;
    }
    len = 128;
    if (slash ? !read_block(&text, slash, &first, &len) : !read_address(without_port(text), &first))
        return false;
    write_block(to, first.family, first.ip, first.family == 4 && len > 32 ? 32 : len);
    *key = (struct tamis_key){room, 2 + size_of(first.family)};
    return true;
}
