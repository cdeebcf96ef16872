/* SPDX-License-Identifier: MIT */
/* The functions of the database, taken from its list when the extension is loaded. */
#include "engines/duckdb/duck_api.h"

#include <string.h>

struct duck_api duck;

void duck_find(const void *api) {
    const size_t size = sizeof(void (*)(void));
#define SLOT(place, result, name, arguments) \
    memcpy(&duck.name, (const char *)api + (place)*size, size);
#include "engines/duckdb/duck_api.def"
#undef SLOT
}
