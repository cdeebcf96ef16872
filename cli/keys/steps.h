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

static inline bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

static inline char lower_byte(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
}

/* Without spaces and tabs at both ends. */
struct tamis_key without_blanks(struct tamis_key key);

#endif
