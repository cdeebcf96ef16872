/* SPDX-License-Identifier: MIT */
/* The list of kinds, made from kinds.def, and their abilities. */
#include <stdlib.h>
#include <string.h>

#include "base/slips.h"
#include "base/status.h"
#include "kinds/kind.h"

/* Small builds have a shorter list: tools/small. */
#ifndef TAMIS_KINDS_DEF
#define TAMIS_KINDS_DEF "kinds.def"
#endif

/* Tests build this file a second time with their own kinds after ours. */
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

/* All kinds, whatever this build has: "1 classic", "2 blocked", ... One text, because a table with
 * pointers would cost a small library more than the names do. */
static const char every_kind[] =
#define KIND(id, name) #id " " #name "\0"
#include "kinds.def"
#undef KIND
    ;

/* The next of them, with its name as users write it; false after the last. */
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

/* The id of a kind that this build leaves out; 0 for a name that Tamis does not have. */
static uint32_t left_out(const char *name) {
    for (known k = {.next = every_kind}; next_known(&k);)
        if (strcmp(k.name, name) == 0) return k.id;
    return 0;
}

tamis_status tamis__kind_require(const char *name, const tamis_entry **entry) {
    *entry = tamis__kind_by_name(name, strlen(name));
    if (*entry) return TAMIS_OK;
    return tamis__fail(TAMIS_UNSUPPORTED, "kind %u (%s) is not part of this build", left_out(name),
                       name);
}

tamis_status tamis__kind_refuse_name(const char *name, const char *names) {
    const uint32_t id = left_out(name);
    tamis_nearest nearest = {.typed = name};
    for (size_t i = 0; i < tamis__kind_count(); i++)
        tamis__nearest_try(&nearest, list[i].kind->name);
    if (!id && nearest.name)
        return tamis__fail(TAMIS_INVALID, "unknown kind '%s'; did you mean %s?", name,
                           nearest.name);
    if (!id) return tamis__fail(TAMIS_INVALID, "unknown kind '%s'; there are %s", name, names);
    return tamis__fail(TAMIS_INVALID, "kind %u (%s) is not part of this build; there are %s", id,
                       name, names);
}

tamis_status tamis__kind_refuse(uint32_t id) {
    for (known k = {.next = every_kind}; next_known(&k);)
        if (k.id == id)
            return tamis__fail(TAMIS_TOO_NEW, "kind %u (%s) is not part of this build", id, k.name);
    return tamis__fail(TAMIS_TOO_NEW, "kind %u needs a newer Tamis than %s", id, tamis_version());
}

/* ---- Abilities ------------------------------------------------------------------------------- */

/* The abilities that an entry or a group of the descriptor gives. */
static unsigned if_has(bool has, unsigned ability) {
    return has ? ability : 0;
}

static unsigned from_work(const tamis_kind *k) {
    return if_has(k->add, TAMIS_CAN_ADD) | if_has(k->remove, TAMIS_CAN_REMOVE) |
           if_has(k->next, TAMIS_CAN_LIST) | if_has(!k->query, TAMIS_IS_SKETCH) |
           if_has(k->build, TAMIS_IS_BUILT) | if_has(k->counts, TAMIS_CAN_COUNT) |
           if_has(k->ageing, TAMIS_CAN_TICK) |
           if_has(TAMIS_ENTRY(k, speed, add_shared), TAMIS_CAN_SHARE) |
           if_has(TAMIS_ENTRY(k, values, get), TAMIS_CAN_GET) |
           if_has(TAMIS_ENTRY(k, values, put), TAMIS_CAN_PUT);
}

static unsigned from_shapes(const tamis_reshape *r) {
    if (!r) return 0;
    return if_has(r->fold, TAMIS_CAN_FOLD) | if_has(r->shrink, TAMIS_CAN_SHRINK) |
           if_has(r->grow && !r->loses_rate, TAMIS_CAN_GROW) | if_has(r->resize, TAMIS_CAN_RESIZE);
}

static unsigned from_sets(const tamis_kind *k) {
    const bool is_listed = k->build && !k->build->whole && k->next;
    return if_has(TAMIS_ENTRY(k, sets, merge) || is_listed, TAMIS_CAN_MERGE) |
           if_has(TAMIS_ENTRY(k, sets, intersect), TAMIS_CAN_INTERSECT);
}

static unsigned from_special(const tamis_special *s) {
    if (!s) return 0;
    return if_has(s->log, TAMIS_CAN_LOG) | if_has(s->levels, TAMIS_CAN_LEVEL) |
           if_has(s->retouch, TAMIS_CAN_RETOUCH) | if_has(s->labels, TAMIS_CAN_LABEL) |
           if_has(s->differ, TAMIS_CAN_DIFFER) | if_has(s->trace, TAMIS_CAN_TRACE) |
           if_has(s->prints, TAMIS_CAN_SEARCH);
}

unsigned tamis__abilities(const tamis_kind *k, const uint64_t word[]) {
    const unsigned has = from_work(k) | from_shapes(k->reshape) | from_sets(k) |
                         from_special(k->special) | k->traits;
    return word && k->lacks ? has & ~k->lacks(word) : has;
}

bool tamis__may_have(const char *kind, uint64_t n, const char *things, uint64_t min, uint64_t max) {
    if (n >= min && n <= max) return true;
    tamis__fail(TAMIS_CORRUPT, "%s has %llu to %llu %s, not %llu", kind, (unsigned long long)min,
                (unsigned long long)max, things, (unsigned long long)n);
    return false;
}

size_t tamis__option_count(const tamis_kind *k) {
    size_t n = 0;
    while (k->options && k->options[n].name) n++;
    return n;
}
