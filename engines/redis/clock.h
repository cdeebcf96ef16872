/* SPDX-License-Identifier: MIT */
/* The module's files may include this: filters whose keys leave by the server's clock.
 *
 * A filter that was made with EVERY or LAST ticks by itself: whoever opens it first makes the ticks
 * that are due, and replicates them as TAMIS.TICK with the time that they belong to. A replica, and
 * a server that reads its log, never looks at its own clock: they tick when they are told to,
 * between the same two adds as here. When it ticked last is a fact of the value, and so it is in
 * every image. */
#ifndef TAMIS_REDIS_CLOCK_H
#define TAMIS_REDIS_CLOCK_H

#include "engines/redis/request.h"

/* Makes the ticks that are due. False: they could not be made here (on a replica, say), and so many
 * are due that every key has left: the answer to every question is no. */
bool clock_keep(request *);

/* The same for questions, which need not wait for the ticks of a large filter: the worker begins to
 * make them, in steps, and until it has, keys that are to leave may be found a little longer. */
bool clock_answers(request *);

/* For every command, while counters.owed says that some filter owes a tick which it began under
 * another name. */
void clock_pay(request *);

/* The same while counters.clocks says that some filter has a clock. What is added comes after the
 * ticks that are due: before a command that changes the key looks whether it must wait, the worker
 * begins with them when there are many to make on a large filter. */
void clock_begin(request *);

/* A window by adds ticks by itself when an add finds its generation full. How many adds a large one
 * takes before it does; UINT64_MAX for all others. A step makes room for its next adds by
 * clock_make_room(), which clears a part of what leaves when there is none; 0 while there is more
 * to clear. A step that loses its key says so. */
uint64_t clock_adds_left(const value *);
uint64_t clock_make_room(value *);
void clock_lost_key(value *);

#endif
