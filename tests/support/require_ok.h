/* SPDX-License-Identifier: MIT */
/* Unit tests may include this, after cmocka.h: calls that must succeed, and say why when they do
 * not. */
#ifndef TAMIS_TESTS_SUPPORT_REQUIRE_OK_H
#define TAMIS_TESTS_SUPPORT_REQUIRE_OK_H

#include "tamis.h"

#define REQUIRE_OK(call)                                                             \
    do {                                                                             \
        const tamis_status rc_ = (call);                                             \
        if (rc_) fail_msg("%s: %s: %s", #call, tamis_status_name(rc_), tamis_why()); \
    } while (0)

#endif
