/* SPDX-License-Identifier: MIT */
/* refang.c: names and addresses that were written so that nobody clicks on them by accident.
 *
 * Reports write evil[.]com, hxxp[:]//evil(dot)com and user[@]evil.com; lists write "evil.com" and
 * <evil.com>. What is meant is the same.
 */
#include <string.h>

#include "cli/keys/steps.h"

/* What stands in brackets, in place of what. */
static const struct {
    const char *in_brackets, *meant;
} fangs[] = {{".", "."},   {"dot", "."}, {":", ":"}, {"://", "://"},
             {"//", "//"}, {"/", "/"},   {"@", "@"}, {"at", "@"}};
enum { FANGS = sizeof fangs / sizeof fangs[0] };

static char closing(char open) {
    return open == '[' ? ']' : open == '(' ? ')' : open == '{' ? '}' : '\0';
}

/* The fang that starts here, and how long it is with its brackets; NULL when none does. */
static const char *fang_at(const char *at, const char *end, size_t *len) {
    const char close = closing(*at);
    for (size_t i = 0; close && i < FANGS; i++) {
        const char *word = fangs[i].in_brackets;
        size_t n = 0;
        while (word[n] && at + 1 + n < end && lower_byte(at[1 + n]) == word[n]) n++;
        if (word[n] || at + 1 + n >= end || at[1 + n] != close) continue;
        *len = n + 2;
        return fangs[i].meant;
    }
    return NULL;
}

/* Whether quotes or brackets stand around the whole. <script> is no name in brackets. */
static bool is_wrapped(const struct tamis_key *key) {
    static const char *const pairs[] = {"\"\"", "''", "``", "<>", "()", "{}", "[]"};
    const char *text = key->bytes;
    const bool is_tag = key->len > 0 && text[0] == '<' && !memchr(text, '.', key->len) &&
                        !memchr(text, ':', key->len);
    for (size_t i = 0; key->len >= 2 && !is_tag && i < sizeof pairs / sizeof *pairs; i++)
        if (text[0] == pairs[i][0] && text[key->len - 1] == pairs[i][1]) return true;
    return false;
}

/* "Bob <bob@evil.com>", as in the header of a mail, is the address at its end. */
static struct tamis_key without_person(struct tamis_key key) {
    const char *start = key.bytes, *end = end_of(&key), *at = end;
    if (key.len == 0 || end[-1] != '>') return key;
    while (at > start && *--at != '<') {
    }
    const bool follows_name = at > start && (is_blank(at[-1]) || at[-1] == '"');
    return follows_name && memchr(at, '@', (size_t)(end - at)) ? part(at, end) : key;
}

static struct tamis_key unwrap(struct tamis_key key) {
    key = without_person(without_blanks(key));
    while (is_wrapped(&key))
        key = without_blanks(part((const char *)key.bytes + 1, end_of(&key) - 1));
    return key;
}

static const char *find_fang(const char *at, const char *end) {
    size_t len;
    while (at < end && !fang_at(at, end, &len)) at++;
    return at;
}

struct tamis_key refang(struct tamis_key key, char *room) {
    const struct tamis_key bare = unwrap(key);
    const char *at = bare.bytes, *end = end_of(&bare);
    if (find_fang(at, end) == end) return bare;
    /* It only gets shorter, so that it may be written over itself. */
    char *to = room;
    while (at < end) {
        size_t len;
        const char *meant = fang_at(at, end, &len);
        if (!meant) {
            *to++ = *at++;
            continue;
        }
        at += len;
        while (*meant) *to++ = *meant++;
    }
    /* "[[.]]" would be another text when it is read again. It is none at all. */
    return part(room, find_fang(room, to) == to ? to : room);
}
