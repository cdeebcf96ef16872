/* SPDX-License-Identifier: MIT */
/* What a spec asks for, and what is said about a filter. */
#include "engines/sql/sql_specs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Specs ---------------------------------------------------------------------------------- */

tamis_status sql_demand_of(const char *spec, sql_demand *demand) {
    struct tamis_spec_option option = TAMIS_SPEC_OPTION_INIT;
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    const unsigned needed = TAMIS_CAN_ADD | TAMIS_CAN_MERGE | TAMIS_ANY_ORDER | TAMIS_ADDS_ONCE;
    tamis_status rc = TAMIS_OK;
    *demand = (sql_demand){.abilities = 0};
    for (size_t i = 0; !(rc = tamis_spec_read(spec, i, &option)) && *option.name; i++) {
        demand->has_capacity |= strcmp(option.name, "capacity") == 0;
        demand->has_secret |=
            strcmp(option.name, "hash") == 0 && strcmp(option.value, "sip13") == 0;
    }
    if (rc) return rc;
    if (tamis_kind_named(*option.kind ? option.kind : "blocked", &kind))
        demand->abilities = kind.abilities;
    demand->goes_straight = demand->has_capacity && (demand->abilities & needed) == needed &&
                            !(demand->abilities & (TAMIS_IS_BUILT | TAMIS_OWN_HASH)) &&
                            !demand->has_secret;
    return TAMIS_OK;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static const struct word {
    unsigned ability;
    const char *name;
} words[] = {
    {TAMIS_CAN_ADD, "add"},       {TAMIS_CAN_REMOVE, "remove"},
    {TAMIS_CAN_COUNT, "count"},   {TAMIS_CAN_GET, "get"},
    {TAMIS_CAN_PUT, "put"},       {TAMIS_CAN_LABEL, "label"},
    {TAMIS_CAN_MERGE, "union"},   {TAMIS_CAN_INTERSECT, "intersect"},
    {TAMIS_CAN_FOLD, "fold"},     {TAMIS_CAN_GROW, "grow"},
    {TAMIS_CAN_RESIZE, "resize"}, {TAMIS_CAN_TICK, "tick"},
};

const char *sql_ability_at(size_t i, unsigned *ability) {
    if (i >= sizeof words / sizeof *words) return NULL;
    *ability = words[i].ability;
    return words[i].name;
}

/* Text that is put together from left to right; what does not fit is only counted. */
typedef struct text {
    char *to;
    size_t room, len;
} text;

__attribute__((format(printf, 2, 3))) static void print(text *t, const char *format, ...) {
    const size_t left = t->len < t->room ? t->room - t->len : 0;
    va_list values;
    va_start(values, format);
    const int len = vsnprintf(left ? t->to + t->len : NULL, left, format, values);
    va_end(values);
    t->len += len > 0 ? (size_t)len : 0;
}

static void print_words(text *t, unsigned abilities, const char *quote) {
    const char *between = "", *name;
    unsigned ability;
    for (size_t i = 0; (name = sql_ability_at(i, &ability)); i++) {
        if (!(abilities & ability)) continue;
        print(t, "%s%s%s%s", between, quote, name, quote);
        between = ", ";
    }
}

void sql_abilities(unsigned abilities, char *to, size_t room) {
    text t = {.to = to, .room = room};
    if (room) *to = '\0';
    print_words(&t, abilities, "");
}

/* ---- A filter as JSON ----------------------------------------------------------------------- */

static void print_string(text *t, const char *string) {
    print(t, "\"");
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\')
            print(t, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            print(t, "\\u%04x", (unsigned char)*c);
        else
            print(t, "%c", *c);
    }
    print(t, "\"");
}

static void print_text(text *t, const char *name, const char *value) {
    print(t, ", \"%s\": ", name);
    if (value && *value)
        print_string(t, value);
    else
        print(t, "null");
}

static void print_count(text *t, const char *name, uint64_t count) {
    print(t, ", \"%s\": %" PRIu64, name, count);
}

/* With a point, whatever the locale has there. */
static void print_digits(text *t, double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", value);
    const size_t whole = strspn(digits, "-0123456789"),
                 rest = strcspn(digits + whole, "0123456789");
    const bool has_point = digits[whole] && digits[whole] != 'e';
    print(t, "%.*s%s%s", (int)whole, digits, has_point ? "." : "",
          digits + whole + (has_point ? rest : 0));
}

/* JSON has no infinity: what is saturated is not known. */
static void print_real(text *t, const char *name, double value) {
    print(t, ", \"%s\": ", name);
    if (value > 0 && isfinite(value))
        print_digits(t, value);
    else
        print(t, "null");
}

static void print_bool(text *t, const char *name, bool is) {
    print(t, ", \"%s\": %s", name, is ? "true" : "false");
}

static void print_spec(text *t, const tamis *f) {
    char spec[512];
    if (tamis_spec(f, spec, sizeof spec) >= sizeof spec) *spec = '\0';
    print_text(t, "spec", spec);
}

size_t sql_info_json(const tamis *f, char *to, size_t room) {
    struct tamis_info info = TAMIS_INFO_INIT;
    text t = {.to = to, .room = room};
    tamis_measure(f, &info);
    print(&t, "{\"kind\": \"%s\"", info.kind);
    print_spec(&t, f);
    print_text(&t, "contract", info.contract);
    print_count(&t, "capacity", info.capacity);
    print_count(&t, "items", info.items);
    print_real(&t, "distinct_items", info.items_now.value);
    print_real(&t, "distinct_error", info.items_now.error);
    print_real(&t, "fpr_asked", info.fpr_asked);
    print_real(&t, "fpr_expected", info.fpr_expected);
    print_real(&t, "fpr_now", info.fpr_now);
    print(&t, ", \"fill\": ");
    print_digits(&t, info.fill);
    print_count(&t, "payload_bytes", info.payload_bytes);
    print_count(&t, "stored_bytes", info.stored_bytes);
    print_text(&t, "hash", info.hash);
    print_text(&t, "secret", info.key_place);
    print_text(&t, "encoding", tamis_note(f, "encoding"));
    print(&t, ", \"abilities\": [");
    print_words(&t, info.abilities, "\"");
    print(&t, "]");
    print_bool(&t, "is_saturated", info.is_saturated);
    print_bool(&t, "is_degraded", info.is_degraded);
    print_text(&t, "caveat", info.caveat);
    print(&t, "}");
    return t.len;
}
