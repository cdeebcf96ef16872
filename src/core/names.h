/* SPDX-License-Identifier: MIT */
/* For core and build: names, numbered from 0 in the order in which they come. */
#ifndef TAMIS_CORE_NAMES_H
#define TAMIS_CORE_NAMES_H

#include "core/memory.h"

typedef struct tamis_name_slot {
    size_t end; /* where its name ends in the text; 0: a free slot */
    uint64_t number;
} tamis_name_slot;

/* All zero is an empty list. */
typedef struct tamis_names {
    char *text; /* the names, each with its NUL, contiguous */
    size_t size, room;
    uint64_t count;
    tamis_name_slot *slots; /* by hash of the name; at least twice as many as names */
    size_t slot_count;
} tamis_names;

bool tamis__names_find(const tamis_names *, const char *name, uint64_t *number);

/* Adds a new name; its number is the previous count. */
tamis_status tamis__names_add(tamis_names *, const char *name, const struct tamis_allocator *);
void tamis__names_free(tamis_names *, const struct tamis_allocator *);
uint64_t tamis__names_memory(const tamis_names *);

#endif
