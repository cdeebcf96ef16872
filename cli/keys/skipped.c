/* SPDX-License-Identifier: MIT */
/* skipped.c: what is said about lines that brought no key.
 *
 * A mistake in the form of keys, such as a forgotten --field, is no error of any line: every answer
 * is "no", and looks like a result. So whatever was not understood is counted, and told once at the
 * end, with an example.
 */
#include "cli/cli.h"

#include <string.h>

uint64_t keys_unusable(const struct keys *keys) {
    return keys->skipped.fieldless + keys->skipped.invalid;
}

/* Lines that should have a key. */
static uint64_t keys_expected(const struct keys *keys) {
    const struct skipped *skipped = &keys->skipped;
    return keys->seen - skipped->empty - skipped->comments - skipped->headers;
}

/* Then "no" is the answer to everything, and a quiet zero looks like a result. */
static bool has_no_key(const struct keys *keys) {
    return keys_unusable(keys) == keys_expected(keys);
}

/* "3 of 1,204 lines (0.25 %)" */
static struct human share_of(const struct keys *keys, uint64_t lines) {
    const uint64_t all = keys_expected(keys);
    return human_words("%s of %s (%s)", human_count(lines).text, human_number(all, "line").text,
                       human_share((double)lines / (double)all).text);
}

enum looks looks_of(const struct tamis_key *line) {
    enum { ENOUGH = 4096 };
    const char *text = line->bytes;
    const size_t len = line->len < ENOUGH ? line->len : ENOUGH;
    if (len == 0 || *text == '<') return LIKE_NOTHING;
    if (*text == '#') return LIKE_COMMENT;
    if (*text == '{') return LIKE_JSON;
    for (size_t i = 0; i < len; i++)
        if (text[i] != '\0' && strchr(" \t,;|", text[i])) return LIKE_COLUMNS;
    return LIKE_NOTHING;
}

static bool may_be_comment(const struct keys *keys, const struct odd_line *example) {
    return example->looks == LIKE_COMMENT && keys->cutting.comments == 0;
}

static const char comment_advice[] = "; --comment '#' skips comments";

/* If no line at all has the field, lines may be separated by something else. */
static const char *field_advice(const struct keys *keys) {
    const bool is_none = keys->skipped.fieldless == keys_expected(keys);
    const bool may_be_separated = keys->cutting.fields.shape == SHAPE_LINE;
    if (is_none && may_be_separated && !given(keys->args, OPT_DELIMITER))
        return "; set the field separator with --delimiter";
    return may_be_comment(keys, &keys->fieldless) ? comment_advice : "";
}

static void tell_fieldless(const struct keys *keys) {
    const struct args *args = keys->args;
    const char *list = keys->field_list;
    const char *first = keys->fieldless.words.text, *hint = field_advice(keys);
    const bool is_grave = has_no_key(keys);
    const uint64_t lines = keys->skipped.fieldless;
    if (lines == 0) return; /* without --field there is no list to look at */
    const bool is_single = !strpbrk(list, ",-");
    if (lines == keys_expected(keys))
        caution(args, keys->about, is_grave, "no line has %s %s; the first is %s%s",
                is_single ? "a field" : "enough fields for", list, first, hint);
    else if (keys->cutting.fields.names && !is_single)
        caution(args, keys->about, is_grave, "%s %s one of the fields %s; the first is %s%s",
                share_of(keys, lines).text, lines == 1 ? "lacks" : "lack", list, first, hint);
    else
        caution(args, keys->about, is_grave, "%s %s %s %s; the first is %s%s",
                share_of(keys, lines).text, lines == 1 ? "has" : "have",
                is_single ? "no field" : "too few fields for", list, first, hint);
}

/* If no line at all is a key, whole lines may be what nobody meant. */
static const char *key_advice(const struct keys *keys) {
    const struct odd_line *example = &keys->invalid;
    const bool is_none = keys->skipped.invalid == keys_expected(keys);
    if (may_be_comment(keys, example)) return comment_advice;
    if (!is_none || keys->field_list || given(keys->args, OPT_CSV)) return "";
    return example->looks == LIKE_JSON      ? "; --jsonl names the field of the key"
           : example->looks == LIKE_COLUMNS ? "; --field chooses the column of the key"
                                            : "";
}

static void tell_invalid(const struct keys *keys) {
    const char *first = keys->invalid.words.text, *hint = key_advice(keys);
    const bool is_grave = has_no_key(keys);
    const uint64_t lines = keys->skipped.invalid;
    if (lines == 0) return;
    if (lines == keys_expected(keys))
        caution(keys->args, keys->about, is_grave, "no line is a valid key; the first is %s%s",
                first, hint);
    else
        caution(keys->args, keys->about, is_grave, "%s %s; the first is %s%s",
                share_of(keys, lines).text,
                lines == 1 ? "is not a valid key" : "are not valid keys", first, hint);
}

/* What is a key as it was written, but hardly meant to be one. */
static void tell_suspects(const struct keys *keys) {
    const struct skipped *skipped = &keys->skipped;
    if (skipped->hashes > 0)
        warn(keys->args, keys->about, "%s %s with # and %s; --comment '#' skips comments",
             human_number(skipped->hashes, "line").text, skipped->hashes == 1 ? "starts" : "start",
             skipped->hashes == 1 ? "is a key" : "are keys");
    if (skipped->quotes > 0)
        warn(keys->args, keys->about,
             "%s with a quote, which is a part of the key; --csv reads quoted "
             "fields",
             human_words("%s %s", human_number(skipped->quotes, "field").text,
                         skipped->quotes == 1 ? "starts" : "start")
                 .text);
}

/* Empty lines and comments are as usual as keys: they are told to whoever wants to know. */
static void tell_usual(const struct keys *keys) {
    const uint64_t comments = keys->skipped.comments;
    const uint64_t empty = keys->cutting.skips_empty ? keys->skipped.empty : 0;
    if (comments + empty == 0) return;
    remark(keys->args, keys->about, "skipped %s%s%s",
           comments > 0 ? human_number(comments, "comment").text : "",
           comments > 0 && empty > 0 ? " and " : "",
           empty > 0 ? human_number(empty, "empty line").text : "");
}

static size_t count_byte(const struct tamis_key *line, char byte) {
    const char *bytes = line->bytes;
    size_t n = 0;
    for (size_t i = 0; i < line->len; i++) n += bytes[i] == byte;
    return n;
}

char likely_separator(const struct batch *batch) {
    enum { MIN_LINES = 3, MAX_LINES = 64, MAX_LENGTH = 4096 };
    const size_t lines = batch->n < MAX_LINES ? batch->n : MAX_LINES;
    if (lines < MIN_LINES) return '\0';
    for (const char *byte = "\t,;|"; *byte; byte++) {
        const size_t usual = count_byte(&batch->line[0], *byte);
        size_t same = 0;
        while (same < lines && batch->line[same].len < MAX_LENGTH &&
               count_byte(&batch->line[same], *byte) == usual)
            same++;
        if (usual > 0 && same == lines) return *byte;
    }
    return '\0';
}

void tell_columns(const struct keys *keys) {
    static const struct {
        char byte;
        const char *words;
    } hints[] = {{'\t', "tabs; -F N asks about one column"},
                 {',', "commas; --csv -F N asks about one column"},
                 {';', "semicolons; --csv -t ';' -F N asks about one column"},
                 {'|', "bars; -t '|' -F N asks about one column"}};
    if (keys->cutting.fields.n > 0 || keys_unusable(keys) > 0) return;
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (keys->separator == hints[i].byte)
            warn(keys->args, keys->about,
                 "no line is in the set, and lines look like a table with %s", hints[i].words);
}

/* More than half of the lines, but not all: about those there is something else to say. */
static bool lacks_most(const struct keys *keys) {
    return keys_unusable(keys) > keys_expected(keys) / 2 && !has_no_key(keys);
}

/* The first line of the more frequent reason. */
static int refuse_most(const struct keys *keys) {
    const bool is_by_field = keys->skipped.fieldless > keys->skipped.invalid;
    return fail(keys->args, keys->about,
                "%s are not keys; the first is %s%s; see \"tamis help keys\", or use --force to go "
                "on without them",
                share_of(keys, keys_unusable(keys)).text,
                is_by_field ? keys->fieldless.words.text : keys->invalid.words.text,
                is_by_field ? field_advice(keys) : key_advice(keys));
}

int tell_skipped(const struct keys *keys) {
    tell_usual(keys);
    tell_suspects(keys);
    if (keys->needs_most && lacks_most(keys)) return refuse_most(keys);
    tell_fieldless(keys);
    tell_invalid(keys);
    return 0;
}
