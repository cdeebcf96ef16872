/* SPDX-License-Identifier: MIT */
/* The list of kinds, made from kinds.def, and what each can do. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "kinds/kind.h"

/* Small builds have a shorter list: tools/small. */
#ifndef TAMIS_KINDS_DEF
#define TAMIS_KINDS_DEF "kinds.def"
#endif

/* Tests build this file a second time with a list of kinds of their own behind ours. */
#define KIND(id, name) extern const tamis_kind tamis__##name;
#include TAMIS_KINDS_DEF
#ifdef TAMIS_EXTRA_KINDS
#include TAMIS_EXTRA_KINDS
#endif
#undef KIND

static const tamis_entry list[] = {
#define KIND(id, name) {id, &tamis__##name},
#include TAMIS_KINDS_DEF
#ifdef TAMIS_EXTRA_KINDS
#include TAMIS_EXTRA_KINDS
#endif
#undef KIND
};

size_t tamis__kind_count(void) {
    return sizeof list / sizeof *list;
}

const tamis_entry *tamis__kind_at(size_t i) {
    return i < tamis__kind_count() ? &list[i] : NULL;
}

const tamis_entry *tamis__kind_by_id(uint32_t id) {
    for (size_t i = 0; i < tamis__kind_count(); i++)
        if (list[i].id == id) return &list[i];
    return NULL;
}

const tamis_entry *tamis__kind_by_name(const char *name, size_t len) {
    for (size_t i = 0; i < tamis__kind_count(); i++)
        if (strlen(list[i].kind->name) == len && memcmp(list[i].kind->name, name, len) == 0)
            return &list[i];
    return NULL;
}

/* ---- Kinds that are left out ----------------------------------------------------------------- */

/* Every kind there is, whatever this build has: "1 classic", "2 blocked", ... One text, because a
 * table with pointers would cost a small library more than the names do. */
static const char every_kind[] =
#define KIND(id, name) #id " " #name "\0"
#include "kinds.def"
#undef KIND
    ;

/* The next of them, with its name as people write it; false after the last. */
typedef struct known {
    const char *next;
    uint32_t id;
    char name[32];
} known;
static bool next_known(known *k) {
    if (!*k->next) return false;
    char *name;
    k->id = (uint32_t)strtoul(k->next, &name, 10);
    strcpy(k->name, name + 1);
    k->next += strlen(k->next) + 1;
    for (char *at = k->name; (at = strchr(at, '_')); at++) *at = '-';
    return true;
}

uint32_t tamis__kind_left_out(const char *name) {
    if (tamis__kind_by_name(name, strlen(name))) return 0;
    for (known k = {.next = every_kind}; next_known(&k);)
        if (strcmp(k.name, name) == 0) return k.id;
    return 0;
}

tamis_status tamis__kind_require(const char *name, const tamis_entry **entry) {
    *entry = tamis__kind_by_name(name, strlen(name));
    if (*entry) return TAMIS_OK;
    return tamis__fail(TAMIS_UNSUPPORTED, "kind %u (%s) is not part of this build",
                       tamis__kind_left_out(name), name);
}

tamis_status tamis__kind_refuse(uint32_t id) {
    for (known k = {.next = every_kind}; next_known(&k);)
        if (k.id == id)
            return tamis__fail(TAMIS_TOO_NEW, "kind %u (%s) is not part of this build", id, k.name);
    return tamis__fail(TAMIS_TOO_NEW, "kind %u needs a newer Tamis than %s", id, tamis_version());
}

/* ---- What each can do ------------------------------------------------------------------------ */

unsigned tamis__abilities(const tamis_kind *k, const uint64_t word[]) {
    const unsigned has =
        (k->add || k->add_keys ? TAMIS_CAN_ADD : 0) | (k->add_shared ? TAMIS_CAN_SHARE : 0) |
        (k->merge || (k->build && k->next) ? TAMIS_CAN_MERGE : 0) |
        (k->intersect ? TAMIS_CAN_INTERSECT : 0) | (k->fold ? TAMIS_CAN_FOLD : 0) |
        (k->shrink ? TAMIS_CAN_SHRINK : 0) | (k->grow && !k->loses_rate ? TAMIS_CAN_GROW : 0) |
        (k->query_keys ? TAMIS_OWN_HASH : 0) | (k->remove || k->remove_key ? TAMIS_CAN_REMOVE : 0) |
        (k->count || k->count_keys ? TAMIS_CAN_COUNT : 0) | (k->tick ? TAMIS_CAN_TICK : 0) |
        (k->next ? TAMIS_CAN_LIST : 0) | (k->resize ? TAMIS_CAN_RESIZE : 0) |
        (k->log ? TAMIS_CAN_LOG : 0) | (k->levels ? TAMIS_CAN_LEVEL : 0) |
        (k->retouch ? TAMIS_CAN_RETOUCH : 0) | (k->get ? TAMIS_CAN_GET : 0) |
        (k->put ? TAMIS_CAN_PUT : 0) | (k->labels ? TAMIS_CAN_LABEL : 0) |
        (k->differ ? TAMIS_CAN_DIFFER : 0) | (k->trace ? TAMIS_CAN_TRACE : 0) |
        (k->prints ? TAMIS_CAN_SEARCH : 0) | (k->query || k->query_keys ? 0 : TAMIS_IS_SKETCH) |
        (tamis__is_built(k) ? TAMIS_IS_BUILT : 0) | k->traits;
    return word && k->lacks ? has & ~k->lacks(word) : has;
}
