/* SPDX-License-Identifier: MIT */
/* Numbered names: a text, and a hash table of where each name ends in it. */
#include "core/names.h"

#include <string.h>

#include "base/status.h"
#include "hash/hash.h"

uint64_t tamis__names_memory(const tamis_names *n) {
    return n->room + n->slot_count * sizeof *n->slots;
}

void tamis__names_free(tamis_names *n, const struct tamis_allocator *a) {
    if (n->text) a->free(a->ctx, n->text, n->room);
    if (n->slots) a->free(a->ctx, n->slots, n->slot_count * sizeof *n->slots);
    *n = (tamis_names){0};
}

/* The slot of a name, or the free one where it belongs. */
static tamis_name_slot *slot_of(const tamis_names *n, const char *name, size_t len) {
    size_t i = (size_t)tamis__checksum(name, len, NULL, 0);
    for (;; i++) {
        tamis_name_slot *slot = &n->slots[i & (n->slot_count - 1)];
        if (slot->end == 0) return slot;
        /* The end is past the NUL; any name before this one ends with a NUL too. */
        if (slot->end > len && memcmp(n->text + slot->end - 1 - len, name, len) == 0 &&
            (slot->end == len + 1 || n->text[slot->end - 2 - len] == '\0'))
            return slot;
    }
}

bool tamis__names_find(const tamis_names *n, const char *name, uint64_t *number) {
    if (n->count == 0) return false;
    const tamis_name_slot *slot = slot_of(n, name, strlen(name));
    if (slot->end) *number = slot->number;
    return slot->end != 0;
}

static void *more(const struct tamis_allocator *a, size_t size) {
    void *memory = a->alloc(a->ctx, size);
    if (!memory) tamis__fail(TAMIS_NOMEM, "no memory for %zu bytes of names", size);
    return memory;
}

static tamis_status lengthen_text(tamis_names *n, size_t need, const struct tamis_allocator *a) {
    if (need <= n->room) return TAMIS_OK;
    const size_t room = 2 * need + 1024;
    char *text = more(a, room);
    if (!text) return TAMIS_NOMEM;
    if (n->text) {
        memcpy(text, n->text, n->size);
        a->free(a->ctx, n->text, n->room);
    }
    n->text = text;
    n->room = room;
    return TAMIS_OK;
}

static tamis_status widen_table(tamis_names *n, const struct tamis_allocator *a) {
    if (n->count + 1 <= n->slot_count / 2) return TAMIS_OK;
    tamis_names wider = *n;
    wider.slot_count = n->slot_count ? 2 * n->slot_count : 16;
    wider.slots = more(a, wider.slot_count * sizeof *wider.slots);
    if (!wider.slots) return TAMIS_NOMEM;
    memset(wider.slots, 0, wider.slot_count * sizeof *wider.slots);
    size_t start = 0;
    for (uint64_t i = 0; i < n->count; i++) {
        const size_t len = strlen(n->text + start);
        *slot_of(&wider, n->text + start, len) = (tamis_name_slot){start + len + 1, i};
        start += len + 1;
    }
    if (n->slots) a->free(a->ctx, n->slots, n->slot_count * sizeof *n->slots);
    *n = wider;
    return TAMIS_OK;
}

tamis_status tamis__names_add(tamis_names *n, const char *name, const struct tamis_allocator *a) {
    const size_t len = strlen(name);
    tamis_status rc = lengthen_text(n, n->size + len + 1, a);
    if (!rc) rc = widen_table(n, a);
    if (rc) return rc;
    tamis_name_slot *slot = slot_of(n, name, len);
    memcpy(n->text + n->size, name, len + 1);
    n->size += len + 1;
    *slot = (tamis_name_slot){n->size, n->count++};
    return TAMIS_OK;
}
