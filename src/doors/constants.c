/* SPDX-License-Identifier: MIT */
/* Every public constant by name, for bindings that cannot read C headers. Statuses come from the
 * list that makes their enum; tests/house/constants.sh reads the headers and finds what is missing
 * here. */
#include <string.h>

#include "tamis_edit.h"
#include "tamis_engine.h"
#include "tamis_inline.h"
#include "tamis_jobs.h"
#include "tamis_pending.h"
#include "tamis_special.h"

/* clang-format off */
#define CONSTANTS(X)              \
    X(TAMIS_VERSION_MAJOR)        \
    X(TAMIS_VERSION_MINOR)        \
    X(TAMIS_VERSION_PATCH)        \
    X(TAMIS_VERSION_NUMBER)       \
    X(TAMIS_PAGES_LARGE)          \
    X(TAMIS_PAGES_PLAIN)          \
    X(TAMIS_PAGES_GIANT)          \
    X(TAMIS_WORDS)                \
    X(TAMIS_STAGE_SORT)           \
    X(TAMIS_STAGE_BUILD)          \
    X(TAMIS_STAGE_VERIFY)         \
    X(TAMIS_CAN_ADD)              \
    X(TAMIS_CAN_SHARE)            \
    X(TAMIS_CAN_MERGE)            \
    X(TAMIS_CAN_INTERSECT)        \
    X(TAMIS_CAN_FOLD)             \
    X(TAMIS_CAN_GROW)             \
    X(TAMIS_OWN_HASH)             \
    X(TAMIS_CAN_REMOVE)           \
    X(TAMIS_CAN_COUNT)            \
    X(TAMIS_CAN_TICK)             \
    X(TAMIS_CAN_LIST)             \
    X(TAMIS_CAN_RESIZE)           \
    X(TAMIS_CAN_LOG)              \
    X(TAMIS_CAN_LEVEL)            \
    X(TAMIS_CAN_RETOUCH)          \
    X(TAMIS_CAN_GET)              \
    X(TAMIS_CAN_PUT)              \
    X(TAMIS_CAN_LABEL)            \
    X(TAMIS_IS_BUILT)             \
    X(TAMIS_CAN_DIFFER)           \
    X(TAMIS_CAN_TRACE)            \
    X(TAMIS_CAN_SEARCH)           \
    X(TAMIS_CAN_SHRINK)           \
    X(TAMIS_ADDS_ONCE)            \
    X(TAMIS_ANY_ORDER)            \
    X(TAMIS_AGES)                 \
    X(TAMIS_MAY_FORGET)           \
    X(TAMIS_NO_EMPTY_KEY)         \
    X(TAMIS_IS_SKETCH)            \
    X(TAMIS_READERS_USUAL)        \
    X(TAMIS_READERS_OWNER)        \
    X(TAMIS_READERS_OWNER_ALWAYS) \
    X(TAMIS_INLINE_BLOCKED)       \
    X(TAMIS_INLINE_SPLIT)         \
    X(TAMIS_INLINE_SPLIT_PARQUET) \
    X(TAMIS_INLINE_FUSE)          \
    X(TAMIS_INLINE_FUSE_SEGMENTS) \
    X(TAMIS_INLINE_XXH3)          \
    X(TAMIS_INLINE_MIX8)          \
    X(TAMIS_INLINE_VERSION)       \
    X(TAMIS_HEADER_BYTES)         \
    X(TAMIS_RETOUCH_RANDOM)       \
    X(TAMIS_RETOUCH_KEYS)         \
    X(TAMIS_RETOUCH_TROUBLE)      \
    X(TAMIS_RETOUCH_RATIO)        \
    X(TAMIS_STREAM_KEY_BYTES)     \
    X(TAMIS_SENDER)               \
    X(TAMIS_RECEIVER)             \
    X(TAMIS_WANTS_HASHES)         \
    X(TAMIS_WANTS_KEYS)           \
    X(TAMIS_WANTS_NOTHING)        \
    X(TAMIS_MAX_PENDING)          \
    X(TAMIS_MAX_NEIGHBOURS)       \
    X(TAMIS_MAX_NEIGHBOUR_NAME)   \
    X(TAMIS_AGGREGATE_COUNTED)    \
    X(TAMIS_AGGREGATE_REPLACED)   \
    X(TAMIS_AGGREGATE_SKIPPED)
/* clang-format on */

/* One text with all names, because a table of pointers would be three times as long in a library
 * that is moved at start. */
#define NAME(name)                      #name "\0"
#define VALUE(name)                     name,
#define STATUS_NAME(name, value, text)  "TAMIS_" #name "\0"
#define STATUS_VALUE(name, value, text) value,

static const char names[] = TAMIS_STATUS_MAP(STATUS_NAME) CONSTANTS(NAME);
static const int32_t values[] = {TAMIS_STATUS_MAP(STATUS_VALUE) CONSTANTS(VALUE)};

bool tamis_constant_at(size_t i, const char **name, int64_t *value) {
    if (i >= sizeof values / sizeof *values) return false;
    *value = values[i];
    for (*name = names; i > 0; i--) *name += strlen(*name) + 1;
    return true;
}
