/* SPDX-License-Identifier: MIT */
/* The module's files may include this: memory of filters, freed on another thread. */
#ifndef TAMIS_REDIS_FREEING_H
#define TAMIS_REDIS_FREEING_H

#include <stdbool.h>

#include "tamis.h"

/* Frees a filter, or leaves that to another thread: giving back 2 GiB takes a tenth of a second.
 * Any thread. */
void free_later(tamis *);

/* Is this the server's own thread? */
bool is_server_thread(void);

/* Called on it. */
typedef bool thread_starter(void *(*run)(void *), void *with);
bool freeing_start(thread_starter *);

#endif
