/* SPDX-License-Identifier: MIT */
/* A file system of SQLite's in memory that loses power: what was not synced is kept, torn or lost,
 * as chance has it. */
#ifndef TAMIS_TESTS_SQLITE_FORGETFUL_H
#define TAMIS_TESTS_SQLITE_FORGETFUL_H

#include <stdbool.h>
#include <stdint.h>

/* Registers it under the name "forgetful", as the default. */
void forgetful_register(void);

/* Power is lost after so many writes, syncs and deletes from now; -1 for never. */
void forgetful_lose_after(long operations);
bool forgetful_has_lost(void);

/* Power is back: files are what the disk has. `seed` decides what that is. */
void forgetful_return(uint64_t seed);

/* All files are gone. */
void forgetful_clear(void);

#endif
