/* SPDX-License-Identifier: MIT */
/* The examples may include this: calls that must succeed, for programs too short to do better. */
#ifndef TAMIS_EXAMPLES_MUST_H
#define TAMIS_EXAMPLES_MUST_H

#include <stdio.h>
#include <stdlib.h>
#include <tamis.h>

static inline void must(tamis_status status) {
    if (status == TAMIS_OK) return;
    fprintf(stderr, "%s: %s\n", tamis_status_name(status), tamis_why());
    exit(2);
}

/* What an example says of itself is true. */
static inline void expect(bool is_so, const char *what) {
    printf("%-4s %s\n", is_so ? "yes" : "NO", what);
    if (!is_so) exit(1);
}

#endif
