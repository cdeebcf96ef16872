/* SPDX-License-Identifier: MIT */
/* Notes: pairs of text at the end of an image. */
#include "file/notes.h"

#include <stdint.h>
#include <string.h>

bool tamis__note_name_is_legal(const char *name) {
    const size_t len = strlen(name);
    return len >= 1 && len <= TAMIS_NOTE_MAX_NAME &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

/* UTF-8 without overlong forms, surrogates or anything above U+10FFFF. */
bool tamis__note_value_is_legal(const char *value) {
    for (const uint8_t *p = (const uint8_t *)value; *p;) {
        const uint8_t c = *p++;
        if (c < 0x80) continue;
        if (c < 0xc2 || c > 0xf4) return false;
        const int more = 1 + (c >= 0xe0) + (c >= 0xf0);
        uint32_t code = c & (0x3f >> more);
        for (int i = 0; i < more; i++, p++) {
            if ((*p & 0xc0) != 0x80) return false;
            code = code << 6 | (*p & 0x3f);
        }
        static const uint32_t min[4] = {0, 0x80, 0x800, 0x10000};
        if (code < min[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    }
    return true;
}

bool tamis__notes_next(const char *notes, size_t size, size_t *at, const char **name,
                       const char **value) {
    if (*at >= size) return false;
    *name = notes + *at;
    *value = *name + strlen(*name) + 1;
    *at = (size_t)(*value - notes) + strlen(*value) + 1;
    return true;
}

bool tamis__notes_are_legal(const char *notes, size_t size) {
    if (size == 0) return true;
    /* The last byte terminates a text, and the number of texts is even: then strlen is safe. */
    size_t ends = 0;
    for (size_t i = 0; i < size; i++) ends += notes[i] == '\0';
    if (notes[size - 1] != '\0' || ends % 2) return false;
    const char *name, *value, *before = NULL;
    for (size_t at = 0; tamis__notes_next(notes, size, &at, &name, &value); before = name) {
        if (!tamis__note_name_is_legal(name) || !tamis__note_value_is_legal(value)) return false;
        if (before && strcmp(before, name) >= 0) return false;
    }
    return true;
}

static size_t put(char *out, size_t at, const char *name, const char *value) {
    const size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1;
    if (out) {
        memcpy(out + at, name, name_size);
        memcpy(out + at + name_size, value, value_size);
    }
    return at + name_size + value_size;
}

size_t tamis__notes_with(const char *notes, size_t size, const char *new_name,
                         const char *new_value, char *out) {
    size_t end = 0;
    bool is_placed = new_value == NULL;
    const char *name, *value;
    for (size_t at = 0; tamis__notes_next(notes, size, &at, &name, &value);) {
        const int order = strcmp(name, new_name);
        if (order >= 0 && !is_placed) {
            end = put(out, end, new_name, new_value);
            is_placed = true;
        }
        if (order != 0) end = put(out, end, name, value);
    }
    return is_placed ? end : put(out, end, new_name, new_value);
}
