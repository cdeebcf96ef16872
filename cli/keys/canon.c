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
    const char *name; /* in notes */
    bool (*apply)(struct tamis_key *key, char *room);
    const char *must_be; /* what a key is that it takes; NULL when it takes all */
    const char *typed;   /* what users call it, where that is another name */
    enum reach reach;
    bool has_names; /* in any script, where idn.c knows them */
    bool is_old;    /* there is a newer edition, which is what users get */
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

/* Questions ask for the parents of a name too; the name itself stays as it is. */
static bool parents(struct tamis_key *key, char *room) {
    (void)key, (void)room;
    return true;
}

static const struct step steps[] = {
    {.name = "lower", .apply = lower},
    {.name = "upper", .apply = upper},
    {.name = "trim", .apply = trim},
    {.name = "domain-2",
     .apply = canon_domain_2,
     .must_be = "a domain name",
     .typed = "domain",
     .has_names = true},
    {.name = "parents", .apply = parents, .reach = TO_PARENTS},
    {.name = "email-2",
     .apply = canon_email_2,
     .must_be = "an email address",
     .typed = "email",
     .has_names = true},
    {.name = "url-2", .apply = canon_url_2, .must_be = "a URL", .typed = "url", .has_names = true},
    {.name = "url-prefix",
     .apply = canon_url_prefix,
     .must_be = "a host with a path",
     .reach = TO_PREFIXES,
     .has_names = true},
    {.name = "ip", .apply = canon_ip, .must_be = "an IP address"},
    {.name = "cidr",
     .apply = canon_cidr,
     .must_be = "an IP address, block or range",
     .reach = TO_BLOCKS},
    {.name = "mac", .apply = canon_mac, .must_be = "a MAC address"},
    {.name = "uuid", .apply = canon_uuid, .must_be = "a UUID"},
    {.name = "hash", .apply = canon_hash, .must_be = "an MD5 or SHA digest in hex"},
    {.name = "domain", .apply = canon_domain, .must_be = "a domain name", .is_old = true},
    {.name = "email", .apply = canon_email, .must_be = "an email address", .is_old = true},
    {.name = "url", .apply = canon_url, .must_be = "a URL", .is_old = true},
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static const char *typed_name(const struct step *step) {
    return step->typed ? step->typed : step->name;
}

static bool find_step(const char *name, size_t len, uint8_t *step) {
    for (*step = 0; *step < STEPS; ++*step)
        if (strlen(steps[*step].name) == len && memcmp(steps[*step].name, name, len) == 0)
            return true;
    return false;
}

const char *canon_step_at(size_t i) {
    for (size_t step = 0; step < STEPS; step++)
        if (!steps[step].is_old && i-- == 0) return typed_name(&steps[step]);
    return NULL;
}

static const char *nearest_step(const char *typed) {
    const char *meant = NULL, *name;
    size_t best = 0, distance;
    for (size_t i = 0; (name = canon_step_at(i)) != NULL; i++) {
        if (!tamis_is_slip(typed, name, &distance) || (meant && distance >= best)) continue;
        meant = name;
        best = distance;
    }
    return meant;
}

/* The edition that is used today. */
static uint8_t newest(uint8_t step) {
    for (uint8_t i = 0; i < STEPS && steps[step].is_old; i++)
        if (steps[i].typed && strcmp(steps[i].typed, steps[step].name) == 0) return i;
    return step;
}

static void say_unknown(const char *name, size_t len, char *why, size_t size) {
    char typed[41];
    snprintf(typed, sizeof typed, "%.*s", (int)(len < 40 ? len : 40), name);
    const char *meant = nearest_step(typed);
    if (meant) {
        snprintf(why, size, "\"%s\" is not a step; did you mean %s?", typed, meant);
        return;
    }
    int to = snprintf(why, size, "\"%s\" is not a step (allowed:", typed);
    for (size_t i = 0; i < STEPS && to > 0 && (size_t)to < size; i++)
        if (!steps[i].is_old)
            to += snprintf(why + to, size - (size_t)to, "%s%s", i == 0 ? " " : ", ",
                           typed_name(&steps[i]));
    if (to > 0 && (size_t)to < size) snprintf(why + to, size - (size_t)to, ")");
}

/* What a question asks for is made last, and parents are those of a domain name. */
static bool is_in_order(const struct canon *canon, char *why, size_t size) {
    for (size_t i = 0; i < canon->n; i++) {
        const struct step *step = &steps[canon->step[i]];
        if (step->reach && i + 1 < canon->n) {
            snprintf(why, size, "\"%s\" must be the last step", step->name);
            return false;
        }
        if (step->apply == parents &&
            (i == 0 || steps[canon->step[i - 1]].apply != canon_domain_2)) {
            snprintf(why, size, "\"parents\" follows \"domain\": domain,parents");
            return false;
        }
    }
    return true;
}

static bool parse(struct canon *canon, const char *list, bool is_typed, char *why, size_t size) {
    canon->n = 0;
    for (const char *at = list;; at++) {
        const size_t len = strcspn(at, ",");
        uint8_t step;
        if (canon->n == CANON_STEPS) {
            snprintf(why, size, "more than %d steps", CANON_STEPS);
            return false;
        }
        if (!find_step(at, len, &step)) {
            say_unknown(at, len, why, size);
            return false;
        }
        canon->step[canon->n++] = is_typed ? newest(step) : step;
        at += len;
        if (*at == '\0') return is_in_order(canon, why, size);
    }
}

bool canon_parse(struct canon *canon, const char *list, char *why, size_t size) {
    return parse(canon, list, false, why, size);
}

bool canon_typed(struct canon *canon, const char *list, char *why, size_t size) {
    return parse(canon, list, true, why, size);
}

static void write_names(const struct canon *canon, bool is_typed, char *text) {
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < canon->n && len < CANON_TEXT; i++) {
        const struct step *step = &steps[canon->step[i]];
        len += (size_t)snprintf(text + len, CANON_TEXT - len, "%s%s", i > 0 ? "," : "",
                                is_typed ? typed_name(step) : step->name);
    }
}

void canon_write(const struct canon *canon, char *text) {
    write_names(canon, false, text);
}

void canon_say(const struct canon *canon, char *text) {
    write_names(canon, true, text);
}

bool canon_is_same(const struct canon *a, const struct canon *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (newest(a->step[i]) != newest(b->step[i])) return false;
    return a->n == b->n;
}

enum reach canon_reach(const struct canon *canon) {
    return canon->n > 0 ? steps[canon->step[canon->n - 1]].reach : TO_ITSELF;
}

bool canon_reads_hex(const struct canon *canon) {
    for (size_t i = 0; i < canon->n; i++)
        if (steps[canon->step[i]].apply == canon_hash) return true;
    return false;
}

bool canon_only_cuts(const struct canon *canon) {
    for (size_t i = 0; i < canon->n; i++)
        if (steps[canon->step[i]].apply != trim) return false;
    return true;
}

/* Names in other scripts are refused for want of a library, which is another reason. */
static const char *reason(const struct step *step, const struct tamis_key *key) {
    const uint8_t *bytes = key->bytes;
    for (size_t i = 0; i < key->len && step->has_names && !idn_is_built_in(); i++)
        if (bytes[i] >= 0x80)
            return "a name in ASCII, and this tamis was built without libidn2 for others";
    return step->must_be;
}

const char *canon_apply(const struct canon *canon, struct tamis_key *key, char *room) {
    for (size_t i = 0; i < canon->n; i++) {
        const struct step *step = &steps[canon->step[i]];
        const struct tamis_key before = *key;
        if (!step->apply(key, room)) return reason(step, &before);
    }
    return NULL;
}
