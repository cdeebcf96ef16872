/* SPDX-License-Identifier: MIT */
/* Core may include this: names that get numbers, from 0 on, in the order in which they come. */
#ifndef TAMIS_CORE_NAMES_H
#define TAMIS_CORE_NAMES_H

#include "core/memory.h"

typedef struct tamis_name_slot {
    size_t end; /* where its name ends in the text; 0: the slot is free */
    uint64_t number;
} tamis_name_slot;

/* All zero is an empty list. */
typedef struct tamis_names {
    char *text; /* each name with its NUL, one behind the other */
    size_t size, room;
    uint64_t count;
    tamis_name_slot *slots; /* by the hash of the name, twice as many as names at least */
    size_t slot_count;
} tamis_names;

bool tamis__names_find(const tamis_names *, const char *name, uint64_t *number);

/* Adds a name that is not there yet; its number is the count before. */
tamis_status tamis__names_add(tamis_names *, const char *name, const struct tamis_allocator *);
void tamis__names_free(tamis_names *, const struct tamis_allocator *);

/* Bytes that they take. */
uint64_t tamis__names_memory(const tamis_names *);

#endif
