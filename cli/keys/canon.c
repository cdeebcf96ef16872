/* SPDX-License-Identifier: MIT */
/* canon.c: many ways to write a key, brought to one.
 *
 * The steps are named in images, so a step means the same forever: what it makes of a key may not
 * change, and nothing of it is left to the C library or a locale. A better step gets a new name.
 */
#include <stdio.h>
#include <string.h>

#include "cli/keys/steps.h"

struct step {
    const char *name;
    bool (*apply)(struct tamis_key *key, char *room);
    const char *must_be; /* what a key is that it takes; NULL when it takes all */
};

/* ---- Simple steps ---- */

struct tamis_key without_blanks(struct tamis_key key) {
    const char *bytes = key.bytes;
    while (key.len > 0 && is_blank(bytes[key.len - 1])) key.len--;
    while (key.len > 0 && is_blank(*bytes)) bytes++, key.len--;
    key.bytes = bytes;
    return key;
}

static bool trim(struct tamis_key *key, char *room) {
    (void)room;
    *key = without_blanks(*key);
    return true;
}

/* The same eight bytes with the case of each letter from `first` on changed. */
static uint64_t flip_eight(uint64_t eight, char first) {
    const uint64_t ones = 0x0101010101010101u, lows = 0x7f * ones;
    /* The high bit of each byte: at or above the first letter, above the last, plain ASCII. */
    const uint64_t at_least = (eight & lows) + (0x80 - (uint64_t)first) * ones;
    const uint64_t above = (eight & lows) + (0x80 - (uint64_t)first - 26) * ones;
    return eight ^ (at_least & ~above & ~eight & 0x80 * ones) >> 2;
}

static void flip_case(struct tamis_key *key, char *room, char first) {
    const char *from = key->bytes;
    const size_t len = key->len;
    uint64_t eight, last = 0;
    key->bytes = room;
    if (len < 8) {
        for (size_t i = 0; i < len; i++)
            room[i] = (uint8_t)(from[i] - first) < 26 ? (char)(from[i] ^ 0x20) : from[i];
        return;
    }
    /* The last eight overlap others. They are read first, as `room` may lie over `from`. */
    memcpy(&last, from + len - 8, 8);
    for (size_t i = 0; i + 8 < len; i += 8) {
        memcpy(&eight, from + i, 8);
        eight = flip_eight(eight, first);
        memcpy(room + i, &eight, 8);
    }
    last = flip_eight(last, first);
    memcpy(room + len - 8, &last, 8);
}

static bool lower(struct tamis_key *key, char *room) {
    flip_case(key, room, 'A');
    return true;
}

static bool upper(struct tamis_key *key, char *room) {
    flip_case(key, room, 'a');
    return true;
}

/* ---- The list ---- */

static const struct step steps[] = {
    {"lower", lower, NULL},
    {"upper", upper, NULL},
    {"trim", trim, NULL},
    {"domain", canon_domain, "a domain name"},
    {"email", canon_email, "an email address"},
    {"url", canon_url, "a URL"},
    {"ip", canon_ip, "an IP address"},
    {"mac", canon_mac, "a MAC address"},
    {"uuid", canon_uuid, "a UUID"},
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static bool find_step(const char *name, size_t len, uint8_t *step) {
    for (*step = 0; *step < STEPS; ++*step)
        if (strlen(steps[*step].name) == len && memcmp(steps[*step].name, name, len) == 0)
            return true;
    return false;
}

static void say_unknown(const char *name, size_t len, char *why, size_t size) {
    int to =
        snprintf(why, size, "\"%.*s\" is not a step (allowed:", (int)(len < 40 ? len : 40), name);
    for (size_t i = 0; i < STEPS && to > 0 && (size_t)to < size; i++)
        to += snprintf(why + to, size - (size_t)to, "%s%s", i == 0 ? " " : ", ", steps[i].name);
    if (to > 0 && (size_t)to < size) snprintf(why + to, size - (size_t)to, ")");
}

bool canon_parse(struct canon *canon, const char *list, char *why, size_t size) {
    canon->n = 0;
    for (const char *at = list;; at++) {
        const size_t len = strcspn(at, ",");
        if (canon->n == CANON_STEPS) {
            snprintf(why, size, "more than %d steps", CANON_STEPS);
            return false;
        }
        if (!find_step(at, len, &canon->step[canon->n++])) {
            say_unknown(at, len, why, size);
            return false;
        }
        at += len;
        if (*at == '\0') return true;
    }
}

void canon_write(const struct canon *canon, char *text) {
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < canon->n && len < CANON_TEXT; i++)
        len += (size_t)snprintf(text + len, CANON_TEXT - len, "%s%s", i > 0 ? "," : "",
                                steps[canon->step[i]].name);
}

bool canon_is_same(const struct canon *a, const struct canon *b) {
    return a->n == b->n && memcmp(a->step, b->step, a->n) == 0;
}

bool canon_only_cuts(const struct canon *canon) {
    for (size_t i = 0; i < canon->n; i++)
        if (steps[canon->step[i]].apply != trim) return false;
    return true;
}

const char *canon_apply(const struct canon *canon, struct tamis_key *key, char *room) {
    for (size_t i = 0; i < canon->n; i++) {
        const struct step *step = &steps[canon->step[i]];
        if (!step->apply(key, room)) return step->must_be;
    }
    return NULL;
}
