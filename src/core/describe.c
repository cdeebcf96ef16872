/* SPDX-License-Identifier: MIT */
/* Describes kinds, for help texts and bindings, and filters by their specs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/filter.h"
#include "cpu/cpu.h"

/* ---- The machine ---------------------------------------------------------------------------- */

const char *tamis_cpu(void) {
    const uint32_t bits = tamis__cpu();
    return bits & TAMIS_CPU_AVX512 ? "avx512"
           : bits & TAMIS_CPU_AVX2 ? "avx2"
           : bits & TAMIS_CPU_NEON ? "neon"
                                   : "plain";
}

/* ---- Kinds ---------------------------------------------------------------------------------- */

static bool describe(const tamis_entry *entry, struct tamis_kind_info *info) {
    if (!entry) return false;
    const tamis_kind *kind = entry->kind;
    const struct tamis_kind_info full = {
        .name = kind->name,
        .id = entry->id,
        .contract = kind->contract,
        .abilities = tamis__abilities(kind, NULL),
        .options = kind->options,
        .option_count = tamis__option_count(kind),
    };
    return !tamis__fill_struct(info, &full, sizeof full, "kind_info");
}

size_t tamis_kind_count(void) {
    return tamis__kind_count();
}

bool tamis_kind_at(size_t i, struct tamis_kind_info *info) {
    return describe(tamis__kind_at(i), info);
}

bool tamis_kind_named(const char *name, struct tamis_kind_info *info) {
    return describe(tamis__kind_by_name(name, strlen(name)), info);
}

/* ---- Specs ---------------------------------------------------------------------------------- */

enum { MAX_SPEC = 512 };

typedef struct text {
    char bytes[MAX_SPEC];
    size_t len;
} text;

static void append(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(t->bytes + t->len, sizeof t->bytes - t->len, format, list);
    va_end(list);
    if (n > 0) t->len += (size_t)n;
    if (t->len >= sizeof t->bytes) t->len = sizeof t->bytes - 1;
}

static void append_option(text *t, const struct tamis_option *option, uint64_t value) {
    const char *p = option->choices;
    if (!p) {
        append(t, ",%s=%llu", option->name, (unsigned long long)value);
        return;
    }
    while (value--) p += strcspn(p, "|") + 1;
    append(t, ",%s=%.*s", option->name, (int)strcspn(p, "|"), p);
}

/* The options that a shape word of the same name gives, or that the kind gives itself. */
static void append_options(text *t, const tamis *f) {
    tamis_params params = {0};
    const bool is_part = TAMIS_ENTRY(f->kind, sizing, whole);
    const size_t options = tamis__option_count(f->kind);
    if (is_part) f->kind->sizing->whole(f->image.body.word, &params);
    for (size_t i = 0; i < options; i++) {
        const struct tamis_option *option = &f->kind->options[i];
        if (params.has_option[i]) append_option(t, option, params.option[i]);
        for (int w = 0; w < TAMIS_WORDS && !is_part; w++)
            if (f->kind->word[w] && strcmp(f->kind->word[w], option->name) == 0)
                append_option(t, option, f->image.body.word[w]);
    }
}

static void append_hash(text *t, const tamis_hasher *h) {
    if (h->mode > TAMIS_HASH_XXH3) append(t, ",hash=%s", tamis__hash_name(h->mode));
    if (h->seed) append(t, ",seed=%llu", (unsigned long long)h->seed);
    if (h->key_place == TAMIS_KEY_OUTSIDE) append(t, ",key=outside");
}

/* As 1/N where N is whole, else with six digits; a decimal comma of the locale becomes a point. */
static void append_rate(text *t, uint64_t one_in) {
    const uint64_t millionths = 1000000;
    if (one_in % millionths == 0) {
        append(t, ",fpr=1/%llu", (unsigned long long)(one_in / millionths));
        return;
    }
    char digits[64];
    snprintf(digits, sizeof digits, "%.6g", tamis__fpr_of(one_in));
    const size_t whole = strspn(digits, "0123456789");
    const char *rest = digits + whole + strcspn(digits + whole, "0123456789e");
    append(t, ",fpr=%.*s%s%s", (int)whole, digits, *rest && *rest != 'e' ? "." : "", rest);
}

/* Bits of the shape: the word of that name where the kind has one, else the whole payload. */
static uint64_t bits_of(const tamis *f) {
    for (int w = 0; w < TAMIS_WORDS; w++)
        if (f->kind->word[w] && strcmp(f->kind->word[w], "bits") == 0) return f->image.body.word[w];
    return tamis__wished_size(f->kind, f->image.body.word, f->image.body.size) * 8;
}

/* The requested spec says more than the shape, as long as it still leads to it: after a fold, or
 * where numbers do not survive rounding, the shape itself is written. */
static bool leads_to_shape(const char *spec, const tamis *f) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan)) return false;
    for (int i = 0; i < TAMIS_WORDS; i++)
        if (!(tamis__words_made(f->kind) >> i & 1) && plan.word[i] != f->image.body.word[i])
            return false;
    return true;
}

/* From what reads best to what always works: options alone where they determine the size, the
 * requested rate, the same with options, and the size. A filter that has grown has left its first
 * shape; its spec still makes such a filter, and where it grows by parts of one size (loses_rate),
 * the size of a part does so exactly. The size of a built filter follows from its keys and says
 * nothing: its options say everything. */
size_t tamis_spec(const tamis *f, char *spec, size_t size) {
    enum { SIZED, PLAIN, WITH_OPTIONS, BY_SIZE } form = WITH_OPTIONS;
    text t;
    if (f->image.one_in)
        form = PLAIN;
    else if (TAMIS_ENTRY(f->kind, sizing, is_sized) && f->image.capacity == 0)
        form = SIZED;
    else if (!tamis__words_made(f->kind))
        form = BY_SIZE;
    for (;; form++) {
        t = (text){.len = 0};
        append(&t, "%s", f->kind->name);
        if (form != SIZED) append(&t, ",capacity=%llu", (unsigned long long)f->image.capacity);
        if (form == BY_SIZE)
            append(&t, ",bits=%llu", (unsigned long long)bits_of(f));
        else if (f->image.one_in)
            append_rate(&t, f->image.one_in);
        if (form != PLAIN) append_options(&t, f);
        append_hash(&t, &f->image.hasher);
        t.bytes[strcspn(t.bytes, ",")] = ':'; /* after the kind */
        if (form == BY_SIZE || leads_to_shape(t.bytes, f)) break;
        if (form == WITH_OPTIONS && f->can & TAMIS_CAN_GROW) break;
    }
    if (size) snprintf(spec, size, "%s", t.bytes);
    return t.len;
}
