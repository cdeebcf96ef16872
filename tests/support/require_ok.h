/* SPDX-License-Identifier: MIT */
/* For unit tests, after cmocka.h: calls that must succeed, or report why not. */
#ifndef TAMIS_TESTS_SUPPORT_REQUIRE_OK_H
#define TAMIS_TESTS_SUPPORT_REQUIRE_OK_H

#include "tamis.h"

#define REQUIRE_OK(call)                                                             \
    do {                                                                             \
        const tamis_status rc_ = (call);                                             \
        if (rc_) fail_msg("%s: %s: %s", #call, tamis_status_name(rc_), tamis_why()); \
    } while (0)

#endif
