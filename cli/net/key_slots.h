/* SPDX-License-Identifier: MIT */
/* key_slots.h: only the files in cli/ include this. Which of a cluster's 16,384 slots a key is in,
 * and a key for each slot. */
#ifndef TAMIS_CLI_NET_KEY_SLOTS_H
#define TAMIS_CLI_NET_KEY_SLOTS_H

#include <stddef.h>
#include <stdint.h>

enum { SLOTS = 16384, TAG_ROOM = 8 };

/* CRC-16/XMODEM, as clusters have it: "123456789" is 0x31c3. */
uint16_t slot_crc(const void *bytes, size_t len);

/* Of the part between the first brace and the next closing one, unless that is empty; otherwise of
 * the whole key. */
unsigned slot_of(const char *key, size_t len);

/* Of each slot the first of 0, 1, ... z, 00, 01, ... that is in it. Names of keys are made of them:
 * they can never change. */
void slot_tags(char tag[SLOTS][TAG_ROOM]);

/* Of a shard; each has its own while there are at most SLOTS of them. */
unsigned slot_of_shard(uint64_t shard, uint64_t shards);

#endif
