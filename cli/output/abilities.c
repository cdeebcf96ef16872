/* SPDX-License-Identifier: MIT */
/* abilities.c: what kinds can do and what they are like, in words.
 *
 * The library reports abilities as bits, by kind and, because some options decide, by filter. This
 * is the one table that gives them names.
 */
#include "cli/cli.h"

#include <string.h>

const struct ability abilities[] = {
    {TAMIS_CAN_ADD, "add", "keys can be added at any time"},
    {TAMIS_CAN_REMOVE, "remove", "tamis remove: an add can be undone"},
    {TAMIS_CAN_COUNT, "count", "tamis count: counts how often a key was added"},
    {TAMIS_CAN_SHARE, "share", "many threads may add at once"},
    {TAMIS_CAN_MERGE, "merge", "tamis union"},
    {TAMIS_CAN_INTERSECT, "intersect", "tamis intersect"},
    {TAMIS_CAN_FOLD, "fold", "tamis fold"},
    {TAMIS_CAN_SHRINK, "shrink", "tamis fold --keep: a few bits of each number"},
    {TAMIS_CAN_RESIZE, "resize", "tamis resize: a larger or smaller capacity, without the keys"},
    {TAMIS_CAN_GROW, "grow", "accepts more than its capacity and keeps its rate"},
    {TAMIS_CAN_TICK, "tick", "tamis tick: time passes, and old keys expire"},
    {TAMIS_CAN_LIST, "list", "its contents can be listed"},
    {TAMIS_CAN_GET, "get", "tamis get: keys have values"},
    {TAMIS_CAN_PUT, "put", "tamis put: values of keys can be set"},
    {TAMIS_CAN_LABEL, "label", "tamis label: many named sets in one image"},
    {TAMIS_CAN_LOG, "log", "records which bits have changed"},
    {TAMIS_CAN_LEVEL, "level", "has a set for each distance"},
    {TAMIS_CAN_RETOUCH, "retouch", "clears bits so that chosen keys are answered no"},
    {TAMIS_CAN_DIFFER, "differ", "tamis reconcile: lists what differs between two sets"},
    {TAMIS_CAN_TRACE, "trace", "tamis trace: finds excerpts of what was stored"},
    {TAMIS_CAN_SEARCH, "search", "tamis search: holds fingerprints, which can be searched"},
    {TAMIS_IS_SKETCH, "sketch", "describes sets, not single keys: every key may be there"},
    {TAMIS_IS_BUILT, "built-once", "made from all its keys at once: tamis build"},
    {TAMIS_AGES, "ages", "old keys expire as new ones arrive"},
    {TAMIS_MAY_FORGET, "may-forget", "a no may be wrong; the contract says when"},
    {TAMIS_OWN_HASH, "own-hash", "imported, hashes keys its own way"},
    {TAMIS_NO_EMPTY_KEY, "no-empty", "an empty key is refused"},
    {TAMIS_ADDS_ONCE, "adds-once", "adding a key again changes nothing"},
    {TAMIS_ANY_ORDER, "any-order", "the same keys in any order make the same bytes"},
};
const size_t number_of_abilities = sizeof abilities / sizeof abilities[0];

void write_shape(struct json *json, const char *const name[], const uint64_t word[]) {
    json_open(json, "shape", '{');
    for (size_t i = 0; i < TAMIS_WORDS; i++)
        if (name[i]) json_count(json, name[i], word[i]);
    json_close(json, '}');
}

void write_notes(struct json *json, const tamis *filter) {
    const char *name, *value;
    json_open(json, "notes", '{');
    for (size_t i = 0; tamis_note_at(filter, i, &name, &value); i++) json_text(json, name, value);
    json_close(json, '}');
}

void write_abilities(struct json *json, unsigned has) {
    json_open(json, "abilities", '[');
    for (size_t i = 0; i < number_of_abilities; i++)
        if (has & abilities[i].bit) json_text(json, NULL, abilities[i].word);
    json_close(json, ']');
}

struct tamis_info info_of(const tamis *filter) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(filter, &info);
    return info;
}

struct tamis_info info_measured(const tamis *filter) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(filter, &info);
    return info;
}

bool is_part(const struct tamis_kind_info *kind) {
    for (size_t i = 0; i < kind->option_count; i++)
        if (strcmp(kind->options[i].name, "shards") == 0) return true;
    return false;
}

bool is_foreign(const struct tamis_kind_info *kind) {
    enum { FIRST_FOREIGN = 1000 };
    return kind->id >= FIRST_FOREIGN;
}

void print_spec_option(const struct tamis_option *option, const char *otherwise) {
    const char *usual = option->default_value;
    char words[512];
    printf("  %s%s=%s", color(stdout, ROLE_NAME), option->name, color(stdout, ROLE_TEXT));
    if (!option->choices && option->max)
        printf("N, %s to %s", human_limit(option->min).text, human_limit(option->max).text);
    else
        printf("%s", option->choices ? option->choices : otherwise);
    snprintf(words, sizeof words, "%s%s%s%s", option->help, usual ? " (default: " : "",
             usual ? usual : "", usual ? ")" : "");
    printf("\n      ");
    print_paragraph(stdout, words, 6, 6);
}

void write_spec_option(struct json *json, const struct tamis_option *option, bool has_range) {
    json_open(json, NULL, '{');
    json_text(json, "name", option->name);
    json_text(json, "choices", option->choices);
    json_count_if(json, "min", has_range, option->min);
    json_count_if(json, "max", has_range, option->max);
    json_text(json, "default_value", option->default_value);
    json_text(json, "help", option->help);
    json_close(json, '}');
}

/* "kinds that can: a, b"; returns whether the kind of this id is one of them. */
static bool list_kinds(enum tamis_ability ability, uint32_t id, char *others, size_t size) {
    size_t len = 0;
    bool is_among = false;
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    snprintf(others, size, "no kind can");
    for (size_t i = 0; tamis_kind_at(i, &kind) && len < size; i++) {
        if (!(kind.abilities & ability)) continue;
        is_among = is_among || kind.id == id;
        /* Nobody is helped by the kind of another system, or by a part of a filter. */
        if (is_foreign(&kind) || is_part(&kind)) continue;
        len += (size_t)snprintf(others + len, size - len, "%s%s",
                                len == 0 ? "kinds that can: " : ", ", kind.name);
    }
    return is_among;
}

int kind_needs(const struct args *args, const struct tamis_kind_info *kind,
               enum tamis_ability ability, const char *to_do) {
    if (kind->abilities & ability) return 0;
    char others[512];
    list_kinds(ability, kind->id, others, sizeof others);
    return fail(args, NULL, "%s cannot %s; %s", kind->name, to_do, others);
}

int image_needs(const struct args *args, const struct image *image, enum tamis_ability ability,
                const char *to_do) {
    const struct tamis_info info = info_of(image->filter);
    if (info.abilities & ability) return 0;
    const bool is_change = ability == TAMIS_CAN_ADD || ability == TAMIS_CAN_REMOVE;
    const bool has_labels = ability == TAMIS_CAN_ADD && info.abilities & TAMIS_CAN_LABEL;
    /* What was built once cannot be changed; nearly every other kind can, which is no help. */
    if (is_change && info.abilities & TAMIS_IS_BUILT)
        return fail(args, input_name(image->path), "%s is built once and cannot %s; rebuild it%s",
                    info.kind, to_do, has_labels ? ", or use \"tamis label\"" : "");
    char others[512];
    if (ability == TAMIS_CAN_PUT && info.abilities & TAMIS_IS_BUILT &&
        info.abilities & TAMIS_CAN_GET)
        return fail(args, input_name(image->path),
                    "its values are final; build it with --spec %s:update=yes to set them later",
                    info.kind);
    const bool own_kind_can = list_kinds(ability, info.kind_id, others, sizeof others);
    return fail(args, input_name(image->path), "%s%s cannot %s; %s", info.kind,
                own_kind_can ? " with these options" : "", to_do, others);
}

int image_knows_keys(const struct args *args, const struct image *image) {
    const struct tamis_info info = info_of(image->filter);
    if (!(info.abilities & TAMIS_IS_SKETCH)) return 0;
    return fail(args, input_name(image->path), "%s describes sets, not single keys: it promises %s",
                info.kind, info.contract);
}
