/* SPDX-License-Identifier: MIT */
/* canon_names.c: names of machines, alone, in email addresses and in URLs.
 *
 * Only ASCII letters are made small: names in other scripts stay the bytes they are, and so are not
 * the same as their xn-- form.
 */
#include <string.h>

#include "cli/keys/steps.h"

static struct tamis_key part(const char *from, const char *to) {
    return (struct tamis_key){.bytes = from, .len = (size_t)(to - from)};
}

static const char *end_of(const struct tamis_key *key) {
    return (const char *)key->bytes + key->len;
}

/* The first byte out of a set, or the end. */
static const char *find_any(const char *at, const char *end, const char *set) {
    while (at < end && (*at == '\0' || !strchr(set, *at))) at++;
    return at;
}

/* Where the last such byte is, or NULL. */
static const char *find_last(const struct tamis_key *key, char byte) {
    const char *at = end_of(key);
    while (at > (const char *)key->bytes)
        if (*--at == byte) return at;
    return NULL;
}

static char *copy_lower(char *to, const struct tamis_key *from) {
    const char *bytes = from->bytes;
    for (size_t i = 0; i < from->len; i++) to[i] = lower_byte(bytes[i]);
    return to + from->len;
}

static char *copy(char *to, const struct tamis_key *from) {
    memmove(to, from->bytes, from->len);
    return to + from->len;
}

/* "a.b": labels are not empty and have neither blanks nor control bytes. */
static bool is_name(const struct tamis_key *key) {
    const char *bytes = key->bytes;
    char before = '.';
    for (size_t i = 0; i < key->len; i++) {
        const uint8_t byte = (uint8_t)bytes[i];
        if (byte <= ' ' || byte == 0x7f || (byte == '.' && before == '.')) return false;
        before = bytes[i];
    }
    return before != '.';
}

/* ---- Parts of a URL ---- */

/* The letters before "://", 0 when there is none. */
static size_t scheme_len(const struct tamis_key *key) {
    const char *bytes = key->bytes;
    size_t len = 0;
    for (; len < key->len; len++) {
        const char byte = lower_byte(bytes[len]);
        const bool is_letter = byte >= 'a' && byte <= 'z';
        const bool is_other =
            (byte >= '0' && byte <= '9') || byte == '+' || byte == '-' || byte == '.';
        if (!is_letter && (len == 0 || !is_other)) break;
    }
    return key->len - len >= 3 && memcmp(bytes + len, "://", 3) == 0 ? len : 0;
}

/* Cuts ":PORT" off a host. False when something else follows a colon. */
static bool take_port_off(struct tamis_key *host, struct tamis_key *port) {
    const char *start = host->bytes, *end = end_of(host);
    const char *colon = find_last(host, ':');
    const char *bracket = find_last(host, ']');
    *port = part(end, end);
    if (!colon || (bracket && colon < bracket)) return true;
    for (const char *at = colon + 1; at < end; at++)
        if (*at < '0' || *at > '9') return false;
    *port = part(colon + 1, end);
    *host = part(start, colon);
    return true;
}

/* ---- The steps ---- */

/* What of "scheme://user@host:port/path" is host and port. */
static struct tamis_key place_of(const struct tamis_key *key) {
    const char *at = key->bytes, *end = end_of(key);
    const size_t scheme = scheme_len(key);
    if (scheme > 0)
        at += scheme + 3;
    else if (key->len >= 2 && at[0] == '/' && at[1] == '/')
        at += 2;
    struct tamis_key place = part(at, find_any(at, end, "/?#"));
    const char *user = find_last(&place, '@');
    return user ? part(user + 1, end_of(&place)) : place;
}

bool canon_domain(struct tamis_key *key, char *room) {
    const struct tamis_key bare = without_blanks(*key);
    struct tamis_key host = place_of(&bare), port;
    const char *first = memchr(host.bytes, ':', host.len);
    const bool has_colons = first && find_last(&host, ':') != first;
    const bool is_ip6 = host.len > 0 && (has_colons || *(const char *)host.bytes == '[');
    if (is_ip6) {
        if (*(const char *)host.bytes == '[' && !take_port_off(&host, &port)) return false;
        *key = host;
        return canon_ip(key, room);
    }
    if (!take_port_off(&host, &port)) return false;
    if (host.len > 0 && end_of(&host)[-1] == '.') host.len--;
    if (!is_name(&host)) return false;
    *key = part(room, copy_lower(room, &host));
    return true;
}

bool canon_email(struct tamis_key *key, char *room) {
    const struct tamis_key bare = without_blanks(*key);
    const char *at = find_last(&bare, '@');
    if (!at || at == bare.bytes) return false;
    const struct tamis_key user = part(bare.bytes, at + 1), domain = part(at + 1, end_of(&bare));
    if (!is_name(&domain)) return false;
    *key = part(room, copy_lower(copy(room, &user), &domain));
    return true;
}

static bool is_usual_port(const struct tamis_key *scheme, const struct tamis_key *port) {
    static const struct {
        const char *scheme, *port;
    } usual[] = {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strlen(usual[i].scheme) == scheme->len && strlen(usual[i].port) == port->len &&
            memcmp(usual[i].scheme, scheme->bytes, scheme->len) == 0 &&
            memcmp(usual[i].port, port->bytes, port->len) == 0)
            return true;
    return port->len == 0;
}

/* "scheme://user@host:port/path#fragment" in its parts; false when it is none. */
struct url {
    struct tamis_key scheme, user, host, port, path;
};

static bool take_apart(const struct tamis_key *text, struct url *url) {
    const char *start = text->bytes, *end = end_of(text);
    const size_t letters = scheme_len(text);
    if (letters == 0) return false;
    const char *at = start + letters + 3, *stop = find_any(at, end, "/?#");
    const struct tamis_key place = part(at, stop);
    const char *user = find_last(&place, '@');
    url->scheme = part(start, start + letters);
    url->user = part(at, user ? user + 1 : at);
    url->host = part(end_of(&url->user), stop);
    url->path = without_blanks(part(stop, find_any(stop, end, "#")));
    for (; at < stop; at++)
        if ((uint8_t)*at <= ' ') return false;
    if (!take_port_off(&url->host, &url->port)) return false;
    /* Colons that are left belong to an address, and that has brackets. */
    const char *host = url->host.bytes;
    return !memchr(host, ':', url->host.len) || (*host == '[' && end_of(&url->host)[-1] == ']');
}

bool canon_url(struct tamis_key *key, char *room) {
    struct url url;
    /* One byte may be added, the path "/". Moved up by that, what is read is never overtaken by
     * what is written. */
    const struct tamis_key bare = without_blanks(*key);
    const struct tamis_key moved = part(room + 1, copy(room + 1, &bare));
    if (!take_apart(&moved, &url)) return false;
    char *to = copy_lower(room, &url.scheme);
    url.scheme = part(room, to);
    if (url.host.len == 0 && (url.scheme.len != 4 || memcmp(room, "file", 4) != 0)) return false;
    memcpy(to, "://", 3);
    to = copy_lower(copy(to + 3, &url.user), &url.host);
    if (!is_usual_port(&url.scheme, &url.port)) {
        *to++ = ':';
        to = copy(to, &url.port);
    }
    if (url.path.len == 0 || *(const char *)url.path.bytes != '/') *to++ = '/';
    *key = part(room, copy(to, &url.path));
    return true;
}
