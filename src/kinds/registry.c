/* The list of kinds, made from kinds.def. */
#include <string.h>

#include "kinds/kind.h"

/* Tests build this file a second time with a list of kinds of their own behind ours. */
#define KIND(id, name) extern const tamis_kind tamis__##name;
#include "kinds.def"
#ifdef TAMIS_EXTRA_KINDS
#include TAMIS_EXTRA_KINDS
#endif
#undef KIND

static const tamis_entry list[] = {
#define KIND(id, name) {id, &tamis__##name},
#include "kinds.def"
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
