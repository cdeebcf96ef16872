/* SPDX-License-Identifier: MIT */
/* canon_names.c: names of machines, alone, in email addresses and in URLs.
 *
 * The first edition of these steps took what had no blanks for a name, as it was; images remember
 * it. The second takes host names only, in any script, and what people write for them.
 */
#include <string.h>

#include "cli/keys/steps.h"

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

/* ---- Host names ---- */

enum { IS_BAD_BYTE, IS_SMALL, IS_CAPITAL, IS_DIGIT, IS_DOT };
enum { MAX_LABEL = 63, MAX_NAME = 253 };

/* Of letters, digits, hyphens and underscores, which names of services have. */
static const uint8_t class_of[256] = {
    ['-'] = IS_SMALL,   ['_'] = IS_SMALL,   ['.'] = IS_DOT,     ['0'] = IS_DIGIT,
    ['1'] = IS_DIGIT,   ['2'] = IS_DIGIT,   ['3'] = IS_DIGIT,   ['4'] = IS_DIGIT,
    ['5'] = IS_DIGIT,   ['6'] = IS_DIGIT,   ['7'] = IS_DIGIT,   ['8'] = IS_DIGIT,
    ['9'] = IS_DIGIT,   ['a'] = IS_SMALL,   ['b'] = IS_SMALL,   ['c'] = IS_SMALL,
    ['d'] = IS_SMALL,   ['e'] = IS_SMALL,   ['f'] = IS_SMALL,   ['g'] = IS_SMALL,
    ['h'] = IS_SMALL,   ['i'] = IS_SMALL,   ['j'] = IS_SMALL,   ['k'] = IS_SMALL,
    ['l'] = IS_SMALL,   ['m'] = IS_SMALL,   ['n'] = IS_SMALL,   ['o'] = IS_SMALL,
    ['p'] = IS_SMALL,   ['q'] = IS_SMALL,   ['r'] = IS_SMALL,   ['s'] = IS_SMALL,
    ['t'] = IS_SMALL,   ['u'] = IS_SMALL,   ['v'] = IS_SMALL,   ['w'] = IS_SMALL,
    ['x'] = IS_SMALL,   ['y'] = IS_SMALL,   ['z'] = IS_SMALL,   ['A'] = IS_CAPITAL,
    ['B'] = IS_CAPITAL, ['C'] = IS_CAPITAL, ['D'] = IS_CAPITAL, ['E'] = IS_CAPITAL,
    ['F'] = IS_CAPITAL, ['G'] = IS_CAPITAL, ['H'] = IS_CAPITAL, ['I'] = IS_CAPITAL,
    ['J'] = IS_CAPITAL, ['K'] = IS_CAPITAL, ['L'] = IS_CAPITAL, ['M'] = IS_CAPITAL,
    ['N'] = IS_CAPITAL, ['O'] = IS_CAPITAL, ['P'] = IS_CAPITAL, ['Q'] = IS_CAPITAL,
    ['R'] = IS_CAPITAL, ['S'] = IS_CAPITAL, ['T'] = IS_CAPITAL, ['U'] = IS_CAPITAL,
    ['V'] = IS_CAPITAL, ['W'] = IS_CAPITAL, ['X'] = IS_CAPITAL, ['Y'] = IS_CAPITAL,
    ['Z'] = IS_CAPITAL,
};

enum name { NO_NAME, SMALL_NAME, NAME_WITH_CAPITALS, LIKE_AN_ADDRESS };

/* A name whose last label is a number would be an address. Nearly every line comes by here, so that
 * it looks at each byte once. */
static enum name look_at_name(const struct tamis_key *key) {
    const uint8_t *bytes = key->bytes;
    size_t label = 0;
    unsigned classes = 0, all = 0; /* of this label, and of all of them */
    if (key->len > MAX_NAME) return NO_NAME;
    for (size_t i = 0; i < key->len; i++) {
        const uint8_t class = class_of[bytes[i]];
        if (class == IS_BAD_BYTE) return NO_NAME;
        if (class != IS_DOT) {
            label++;
            classes |= 1U << class;
            continue;
        }
        if (label == 0 || label > MAX_LABEL) return NO_NAME;
        all |= classes;
        label = classes = 0;
    }
    if (label == 0 || label > MAX_LABEL) return NO_NAME;
    if (classes == 1U << IS_DIGIT) return LIKE_AN_ADDRESS;
    return (all | classes) & 1U << IS_CAPITAL ? NAME_WITH_CAPITALS : SMALL_NAME;
}

static struct tamis_key without_dot(struct tamis_key name) {
    if (name.len > 0 && end_of(&name)[-1] == '.') name.len--;
    return name;
}

/* A name in ASCII, which may stay where it is. */
static bool take_name(struct tamis_key *key, struct tamis_key name, char *room) {
    const enum name is = look_at_name(&name);
    if (is == LIKE_AN_ADDRESS) {
        *key = name;
        return canon_ip(key, room);
    }
    if (is == NO_NAME) return false;
    *key = is == SMALL_NAME ? name : part(room, copy_lower(room, &name));
    return true;
}

static bool is_ascii(const struct tamis_key *key) {
    const uint8_t *bytes = key->bytes;
    for (size_t i = 0; i < key->len; i++)
        if (bytes[i] >= 0x80) return false;
    return true;
}

bool canon_host(struct tamis_key *key, struct tamis_key host, char *room) {
    char ascii[HOST_ROOM];
    if (host.len > 0 && memchr(host.bytes, ':', host.len)) {
        *key = host;
        return canon_ip(key, room);
    }
    host = without_dot(host);
    if (is_ascii(&host)) return take_name(key, host, room);
    const size_t len = idn_to_ascii(&host, ascii);
    struct tamis_key name = without_dot(part(ascii, ascii + len));
    if (!take_name(&name, name, ascii)) return false;
    *key = part(room, copy(room, &name));
    return true;
}

/* ---- The steps, first edition ---- */

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

/* An address of IPv6 has brackets or several colons. */
static bool is_ip6(const struct tamis_key *host) {
    const char *first = memchr(host->bytes, ':', host->len);
    const bool has_colons = first && find_last(host, ':') != first;
    return host->len > 0 && (has_colons || *(const char *)host->bytes == '[');
}

/* The port goes, unless that is part of an address without brackets. */
static bool take_host(struct tamis_key *host) {
    struct tamis_key port;
    if (is_ip6(host) && *(const char *)host->bytes != '[') return true;
    return take_port_off(host, &port);
}

bool canon_domain(struct tamis_key *key, char *room) {
    const struct tamis_key bare = without_blanks(*key);
    struct tamis_key host = place_of(&bare);
    const bool is_address = is_ip6(&host);
    if (!take_host(&host)) return false;
    if (is_address) {
        *key = host;
        return canon_ip(key, room);
    }
    host = without_dot(host);
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

/* ---- The steps, second edition ---- */

/* "||tracker.com^$third-party" of lists for AdBlock is the name in it; but not one that is about a
 * path, and not an exception ("@@"), which no name starts with. */
static bool strip_rule(struct tamis_key *key) {
    const char *start = key->bytes, *end = end_of(key);
    if (key->len < 2 || start[0] != '|' || start[1] != '|') return true;
    const char *stop = find_any(start + 2, end, "/^$|");
    *key = part(start + 2, stop);
    if (stop < end && *stop == '^') stop++;
    if (stop < end && *stop == '|') stop++;
    return stop == end || *stop == '$';
}

/* "news.example##.advert" of such lists hides a part of a page that is not bad. So do others with
 * #@#, #?#, ... */
static bool hides_part_of_page(const struct tamis_key *key) {
    const char *end = end_of(key), *at = find_any(key->bytes, end, "/?#");
    if (end - at < 2 || *at != '#') return false;
    return at[1] == '#' || (end - at > 2 && strchr("@?$%", at[1]) && at[2] == '#');
}

/* "*.wild.com" and ".wild.com" are about wild.com and what is below. */
static struct tamis_key strip_wildcard(struct tamis_key host) {
    const char *start = host.bytes;
    const size_t more = host.len > 2 && start[0] == '*' && start[1] == '.' ? 2
                        : host.len > 1 && start[0] == '.'                  ? 1
                                                                           : 0;
    return part(start + more, start + host.len);
}

bool canon_domain_2(struct tamis_key *key, char *room) {
    const struct tamis_key bare = without_blanks(*key);
    if (take_name(key, without_dot(bare), room)) return true;
    struct tamis_key text = refang(bare, room);
    if (hides_part_of_page(&text) || !strip_rule(&text)) return false;
    struct tamis_key host = place_of(&text);
    if (!take_host(&host)) return false;
    return canon_host(key, strip_wildcard(host), room);
}

/* The host in a buffer of its own, as what it was may be overwritten; 0 when it is none. */
static size_t host_aside(struct tamis_key host, char aside[HOST_ASIDE]) {
    struct tamis_key key;
    if (host.len > HOST_ASIDE || !canon_host(&key, host, aside)) return 0;
    memmove(aside, key.bytes, key.len);
    return key.len;
}

bool canon_email_2(struct tamis_key *key, char *room) {
    static const char scheme[] = "mailto:";
    char host[HOST_ASIDE];
    struct tamis_key text = refang(*key, room);
    const char *start = text.bytes;
    size_t i = 0;
    while (i < sizeof scheme - 1 && i < text.len && lower_byte(start[i]) == scheme[i]) i++;
    if (i == sizeof scheme - 1) start += i;
    const char *at = find_last(&text, '@');
    if (!at || at <= start) return false;
    for (const char *c = start; c < at && *start != '"'; c++)
        if ((uint8_t)*c <= ' ') return false;
    const size_t len = host_aside(part(at + 1, end_of(&text)), host);
    if (len == 0) return false;
    char *to = copy(room, &(struct tamis_key){start, (size_t)(at + 1 - start)});
    *key = part(room, copy(to, &(struct tamis_key){host, len}));
    return true;
}

/* Schemes that were made harmless: hxxp is http, and hxxps is https. */
static void arm(struct tamis_key *scheme, char *text) {
    if (scheme->len >= 4 && scheme->len <= 5 && memcmp(text, "hxxp", 4) == 0)
        text[1] = text[2] = 't';
}

/* Writes the host as it stands in a URL: an address of IPv6 has brackets there. */
static char *write_host(char *to, const char *host, size_t len) {
    const bool is_address = memchr(host, ':', len) != NULL;
    if (is_address) *to++ = '[';
    memcpy(to, host, len);
    to += len;
    if (is_address) *to++ = ']';
    return to;
}

bool canon_url_2(struct tamis_key *key, char *room) {
    char host[HOST_ASIDE];
    struct url url;
    /* Moved up, so that what is read is never overtaken by what is written: a host in another
     * script may get longer. */
    const struct tamis_key text = refang(*key, room);
    const struct tamis_key moved = part(room + CANON_GROWTH, copy(room + CANON_GROWTH, &text));
    if (!take_apart(&moved, &url)) return false;
    char *to = copy_lower(room, &url.scheme);
    url.scheme = part(room, to);
    arm(&url.scheme, room);
    const bool is_file = url.scheme.len == 4 && memcmp(room, "file", 4) == 0;
    const size_t len = host_aside(url.host, host);
    if (len == 0 && (!is_file || url.host.len > 0)) return false;
    memcpy(to, "://", 3);
    to = write_host(copy(to + 3, &url.user), host, len);
    if (!is_usual_port(&url.scheme, &url.port)) {
        *to++ = ':';
        to = copy(to, &url.port);
    }
    if (url.path.len == 0 || *(const char *)url.path.bytes != '/') *to++ = '/';
    *key = part(room, copy(to, &url.path));
    return true;
}

/* ---- URLs without what does not matter to a list of them ---- */

/* Bytes that were escaped are themselves, however often they were escaped. Returns the end. */
static char *unescape(char *to, const char *at, const char *end) {
    char *const start = to;
    while (at < end) {
        *to++ = *at++;
        while (to - start >= 3 && to[-3] == '%' && hex_digit(to[-2]) >= 0 &&
               hex_digit(to[-1]) >= 0) {
            to[-3] = (char)(hex_digit(to[-2]) << 4 | hex_digit(to[-1]));
            to -= 2;
        }
    }
    return to;
}

static bool is_dots(const char *at, size_t len) {
    return (len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.');
}

/* "/a/./b//../c" is "/a/c". It only gets shorter. */
static char *write_path(char *to, const struct tamis_key *path) {
    const char *at = path->bytes, *end = end_of(path);
    char *const start = to;
    *to++ = '/';
    while (at < end) {
        const char *stop = find_any(at, end, "/");
        const size_t len = (size_t)(stop - at);
        if (len == 2 && is_dots(at, len)) {
            if (to - start > 1) to--;
            while (to[-1] != '/') to--;
        } else if (len > 0 && !is_dots(at, len)) {
            memmove(to, at, len);
            to += len;
            if (stop < end) *to++ = '/';
        }
        at = stop < end ? stop + 1 : end;
    }
    return to;
}

bool canon_url_prefix(struct tamis_key *key, char *room) {
    char plain[HOST_ASIDE], host[HOST_ASIDE];
    const struct tamis_key text = refang(*key, room);
    struct tamis_key place = place_of(&text);
    const char *path = end_of(&place);
    const struct tamis_key rest = without_blanks(part(path, find_any(path, end_of(&text), "#")));
    const char *end = end_of(&rest);
    const char *query = find_any(path, end, "?");
    if (hides_part_of_page(&text) || !take_host(&place) || place.len > HOST_ASIDE) return false;
    place = part(plain, unescape(plain, place.bytes, end_of(&place)));
    const size_t len = host_aside(strip_wildcard(place), host);
    if (len == 0) return false;
    /* Moved up by as much as the host may be longer than what was there. */
    char *moved = room + HOST_ASIDE;
    memmove(moved, path, (size_t)(end - path));
    const struct tamis_key tail = {moved + (query - path), (size_t)(end - query)};
    const struct tamis_key way = part(moved, unescape(moved, moved, moved + (query - path)));
    memcpy(room, host, len);
    char *to = write_path(room + len, &way);
    *key = part(room, unescape(to, tail.bytes, end_of(&tail)));
    return true;
}
