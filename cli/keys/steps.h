/* SPDX-License-Identifier: MIT */
/* steps.h: only the files in cli/keys/ include this. What the steps from a line to a key share. */
#ifndef TAMIS_CLI_KEYS_STEPS_H
#define TAMIS_CLI_KEYS_STEPS_H

#include "cli/keys/form.h"

/* The steps that need more than a line. False when a key is no such thing. */
bool canon_domain(struct tamis_key *key, char *room);
bool canon_email(struct tamis_key *key, char *room);
bool canon_url(struct tamis_key *key, char *room);
bool canon_ip(struct tamis_key *key, char *room);
bool canon_mac(struct tamis_key *key, char *room);
bool canon_uuid(struct tamis_key *key, char *room);
bool canon_domain_2(struct tamis_key *key, char *room);
bool canon_email_2(struct tamis_key *key, char *room);
bool canon_url_2(struct tamis_key *key, char *room);
bool canon_url_prefix(struct tamis_key *key, char *room);
bool canon_cidr(struct tamis_key *key, char *room);
bool canon_hash(struct tamis_key *key, char *room);

static inline bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

static inline char lower_byte(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
}

static inline struct tamis_key part(const char *from, const char *to) {
    return (struct tamis_key){.bytes = from, .len = (size_t)(to - from)};
}

static inline const char *end_of(const struct tamis_key *key) {
    return (const char *)key->bytes + key->len;
}

/* Without spaces and tabs at both ends. */
struct tamis_key without_blanks(struct tamis_key key);

/* ---- Names: canon_names.c ---- */

/* More than any host name takes in ASCII; and so many bytes may be one in other scripts. */
enum { HOST_ROOM = 256, HOST_ASIDE = 4 * HOST_ROOM };

/* A host as URLs have it, without its port: a name in any script, or an address. */
bool canon_host(struct tamis_key *key, struct tamis_key host, char *room);

/* ---- Names in other scripts: idn.c ---- */

bool idn_is_built_in(void);

/* Returns the length, 0 when it is no such name. */
size_t idn_to_ascii(const struct tamis_key *name, char ascii[HOST_ROOM]);

/* ---- What was made harmless: refang.c ---- */

/* Without blanks, quotes and brackets around it, with a dot for each "[.]" and "(dot)", and so on.
 * It may lie in `room`, which may be where the key was. It has no bytes when it makes no sense. */
struct tamis_key refang(struct tamis_key key, char *room);

/* ---- Addresses: canon_numbers.c ---- */

/* Brackets, as in URLs, and a zone, which names a cable of one machine, are no part of it. */
bool strip_ip(struct tamis_key *key);

/* "192.0.2.7:443" and "[2001:db8::7]:443", as logs have them, without the port. */
struct tamis_key without_port(struct tamis_key address);

#endif
