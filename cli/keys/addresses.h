/* SPDX-License-Identifier: MIT */
/* addresses.h: only the files in cli/keys/ include this. IP addresses, from text and to text. */
#ifndef TAMIS_CLI_KEYS_ADDRESSES_H
#define TAMIS_CLI_KEYS_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer text is no address. */
enum { IP_TEXT = 64 };

/* "10.0.0.1", or the first numbers of one: *n says how many were there. Returns where it ends, NULL
 * when there is none. A number has no leading zeros, as some read them as octal. */
const char *read_ip4(const char *at, const char *end, uint8_t ip[4], size_t *n);

/* The whole text is an address: 4, 6, or 0 for neither. One of IPv4 that is written as one of IPv6
 * comes as itself. */
unsigned read_ip(const char *at, const char *end, uint8_t ip[16]);

/* Returns the length. `text` has IP_TEXT bytes. */
size_t write_ip4(char *text, const uint8_t ip[4]);
size_t write_ip6(char *text, const uint8_t ip[16]);

#endif
