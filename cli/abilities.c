/* abilities.c: what kinds can do and what they are like, in words.
 *
 * The library tells abilities as bits, by kind and, because some options decide, by filter. This
 * is the one table that gives them names.
 */
#include "cli.h"

const struct ability abilities[] = {
    {TAMIS_CAN_ADD, "add", "keys can be added at any time"},
    {TAMIS_CAN_REMOVE, "remove", "tamis remove: an add can be taken back"},
    {TAMIS_CAN_COUNT, "count", "tamis count: knows how often a key was added"},
    {TAMIS_CAN_SHARE, "share", "many threads may add at once"},
    {TAMIS_CAN_MERGE, "merge", "tamis union"},
    {TAMIS_CAN_INTERSECT, "intersect", "tamis intersect"},
    {TAMIS_CAN_FOLD, "fold", "tamis fold"},
    {TAMIS_CAN_RESIZE, "resize", "tamis resize: more room or less, without the keys"},
    {TAMIS_CAN_GROW, "grow", "takes more than its capacity and keeps its rate"},
    {TAMIS_CAN_TICK, "tick", "tamis tick: time passes, and old keys leave"},
    {TAMIS_CAN_LIST, "list", "what is stored can be listed"},
    {TAMIS_CAN_GET, "get", "tamis get: keys have values"},
    {TAMIS_CAN_PUT, "put", "tamis put: values of keys can be set"},
    {TAMIS_CAN_LABEL, "label", "tamis label: many named sets in one image"},
    {TAMIS_CAN_LOG, "log", "tells which bits have changed"},
    {TAMIS_CAN_LEVEL, "level", "has a set for each distance"},
    {TAMIS_CAN_RETOUCH, "retouch", "gives up bits so that chosen keys are answered no"},
    {TAMIS_IS_BUILT, "built-once", "made from all its keys at once: tamis build"},
    {TAMIS_AGES, "ages", "old keys leave as new ones come"},
    {TAMIS_MAY_FORGET, "may-forget", "a no may be wrong; the contract says when"},
    {TAMIS_OWN_HASH, "own-hash", "imported, hashes keys its own way"},
    {TAMIS_ADDS_ONCE, "adds-once", "adding a key again changes nothing"},
    {TAMIS_ANY_ORDER, "any-order", "the same keys in any order make the same bytes"},
};
const size_t number_of_abilities = sizeof abilities / sizeof abilities[0];

void write_abilities(struct json *json, unsigned has) {
    json_open(json, "abilities", '[');
    for (size_t i = 0; i < number_of_abilities; i++)
        if (has & abilities[i].bit) json_text(json, NULL, abilities[i].word);
    json_close(json, ']');
}

int image_needs(const struct args *args, const struct image *image, enum tamis_ability ability,
                const char *to_do) {
    struct tamis_info info;
    tamis_info(image->filter, &info, sizeof info);
    if (info.abilities & ability) return 0;

    char others[512] = "no kind can";
    size_t len = 0;
    bool own_kind_can = false;
    struct tamis_kind_info kind;
    for (size_t i = 0; tamis_kind_at(i, &kind, sizeof kind) && len < sizeof others; i++) {
        if (!(kind.abilities & ability)) continue;
        len += (size_t)snprintf(others + len, sizeof others - len, "%s%s",
                                len == 0 ? "kinds that can: " : ", ", kind.name);
        own_kind_can = own_kind_can || kind.id == info.kind_id;
    }
    const char *way_out = !(info.abilities & TAMIS_IS_BUILT) ? ""
                          : info.abilities & TAMIS_CAN_LABEL
                              ? "build it again, or add keys with \"tamis label\"; "
                              : "build it again from all its keys; ";
    return fail(args, input_name(image->path), "%s%s%s cannot %s; %s%s", info.kind,
                own_kind_can ? " with these options" : "",
                info.abilities & TAMIS_IS_BUILT ? " is built once and" : "", to_do, way_out,
                others);
}
