/* SPDX-License-Identifier: MIT */
/* key_slots.c: keys that lie where we want them.
 *
 * A cluster spreads keys over 16,384 slots by a checksum, and with a checksum 24 keys would fall on
 * nodes as they like. But only the part in braces counts, so that part is searched: shard i of n
 * gets the shortest tag whose slot is floor(i * 16384 / n). Shards then lie evenly on whatever the
 * nodes have, and shard i of every filter with n shards is in the same slot. */
#include "cli/net/key_slots.h"

#include <string.h>

uint16_t slot_crc(const void *bytes, size_t len) {
    const uint8_t *at = bytes;
    uint16_t crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint16_t)(at[i] << 8);
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 0x8000 ? (uint16_t)(crc << 1) ^ 0x1021 : crc << 1);
    }
    return crc;
}

unsigned slot_of(const char *key, size_t len) {
    const char *open = memchr(key, '{', len);
    const char *close = open ? memchr(open, '}', len - (size_t)(open - key)) : NULL;
    if (close && close > open + 1) return slot_crc(open + 1, (size_t)(close - open) - 1) % SLOTS;
    return slot_crc(key, len) % SLOTS;
}

/* The next word of the same length, or the first of the next one. */
static size_t next_tag(char *tag, size_t len) {
    for (size_t i = len; i-- > 0;) {
        if (tag[i] == 'z') {
            tag[i] = '0';
            continue;
        }
        tag[i] = tag[i] == '9' ? 'a' : (char)(tag[i] + 1);
        return len;
    }
    memset(tag, '0', len + 1);
    tag[len + 1] = '\0';
    return len + 1;
}

void slot_tags(char tag[SLOTS][TAG_ROOM]) {
    char word[TAG_ROOM] = "0";
    size_t len = 1;
    memset(tag, 0, (size_t)SLOTS * TAG_ROOM);
    /* The longest has four letters, so this ends: a test looks at all of them. */
    for (unsigned left = SLOTS; left > 0; len = next_tag(word, len)) {
        char *place = tag[slot_crc(word, len) % SLOTS];
        if (place[0]) continue;
        memcpy(place, word, len + 1);
        left--;
    }
}

unsigned slot_of_shard(uint64_t shard, uint64_t shards) {
    return (unsigned)(shard * SLOTS / shards);
}
