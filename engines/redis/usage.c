/* SPDX-License-Identifier: MIT */
/* Lines of usage: for COMMAND DOCS, by which clients help their users, and for what must not be
 * seen. */
#include "engines/redis/usage.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- What names mean ------------------------------------------------------------------------- */

static const char integers[] =
    " milliseconds capacity n by offset total iterator expansion bucketsize "
    "maxiterations width depth increment numkeys weight ";
static const char reals[] = " error_rate ratio error probability ";
static const char secrets[] = " secret seed bytes ";

static bool is_among(const char *names, const char *name, size_t len) {
    for (const char *at = names; (at = strchr(at, ' ')) && *++at;)
        if (strncmp(at, name, len) == 0 && at[len] == ' ') return true;
    return false;
}

static int type_of(const char *name, int has_keys) {
    const size_t len = strlen(name);
    const bool is_source = strcmp(name, "source") == 0;
    if (has_keys && (is_source || strcmp(name, "key") == 0 || strcmp(name, "destination") == 0))
        return REDIS_ARGUMENT_KEY;
    if (is_among(integers, name, len)) return REDIS_ARGUMENT_INTEGER;
    return is_among(reals, name, len) ? REDIS_ARGUMENT_DOUBLE : REDIS_ARGUMENT_STRING;
}

/* ---- Reading a line -------------------------------------------------------------------------- */

typedef struct reading {
    usage *u;
    char *at; /* in its text, where names end with a zero as soon as they are read */
    int has_keys;
} reading;

/* A copy of the list, contiguous and ended by zeros. */
static redis_argument *keep(usage *u, const redis_argument *list, int n) {
    redis_argument *kept = &u->argument[u->used];
    memcpy(kept, list, (size_t)n * sizeof *list);
    memset(kept + n, 0, sizeof *kept);
    u->used += n + 1;
    return kept;
}

static redis_argument group(usage *u, int type, const char *name, const redis_argument *list,
                            int n) {
    return (redis_argument){.name = name, .type = type, .key = -1, .parts = keep(u, list, n)};
}

static bool skip(reading *r, const char *mark) {
    while (*r->at == ' ') r->at++;
    if (strncmp(r->at, mark, strlen(mark)) != 0) return false;
    *r->at = 0; /* the end of the name before it */
    r->at += strlen(mark);
    return true;
}

/* The word that is a name, and in small letters for one that is said as it is. */
static redis_argument read_word(reading *r) {
    usage *u = r->u;
    char *word = r->at;
    while (isalpha((unsigned char)*r->at) || *r->at == '_') r->at++;
    const bool is_token = isupper((unsigned char)*word);
    const size_t len = (size_t)(r->at - word), from = (size_t)(word - u->text);
    for (size_t i = 0; i < len; i++) u->tokens[from + i] = (char)tolower((unsigned char)word[i]);
    redis_argument a = {.name = u->tokens + from, .key = -1};
    a.type = is_token ? REDIS_ARGUMENT_TOKEN : type_of(a.name, r->has_keys);
    if (a.type == REDIS_ARGUMENT_KEY) a.key = strcmp(a.name, "source") == 0;
    if (is_token) a.token = word;
    return a;
}

static bool is_bare(const redis_argument *a) {
    return a->type == REDIS_ARGUMENT_TOKEN;
}

/* What is between two marks, as one argument: a word and what it is followed by, or several. */
static redis_argument join(usage *u, redis_argument *list, int n) {
    if (n == 1) return list[0];
    if (!is_bare(&list[0])) return group(u, REDIS_ARGUMENT_BLOCK, "group", list, n);
    redis_argument joined =
        n == 2 ? list[1] : group(u, REDIS_ARGUMENT_BLOCK, list[0].name, list + 1, n - 1);
    joined.token = list[0].token;
    return joined;
}

static redis_argument read_one(reading *r);

/* Up to a bracket or the end; at the top level a word takes only the next argument. */
static int read_list(reading *r, redis_argument *list, bool is_top) {
    int n = 0;
    while (skip(r, " "), *r->at && !strchr("|])", *r->at)) {
        list[n++] = read_one(r);
        const bool is_led = is_top && n > 1 && is_bare(&list[n - 2]) && !is_bare(&list[n - 1]) &&
                            !(list[n - 2].flags & REDIS_ARGUMENT_IS_OPTIONAL);
        if (!is_led) continue;
        list[n - 1].token = list[n - 2].token;
        list[n - 2] = list[n - 1];
        n--;
    }
    return n;
}

enum { MAX = 16 };

static redis_argument read_group(reading *r, const char *end) {
    redis_argument choice[MAX], list[MAX];
    int n = 0;
    do {
        const int m = read_list(r, list, false);
        choice[n++] = join(r->u, list, m);
    } while (skip(r, "|"));
    skip(r, end);
    return n == 1 ? choice[0] : group(r->u, REDIS_ARGUMENT_ONE_OF, "choice", choice, n);
}

static redis_argument read_one(reading *r) {
    const bool is_optional = skip(r, "[");
    redis_argument a = is_optional    ? read_group(r, "]")
                       : skip(r, "(") ? read_group(r, ")")
                                      : read_word(r);
    if (is_optional) a.flags |= REDIS_ARGUMENT_IS_OPTIONAL;
    if (skip(r, "..."))
        a.flags |=
            REDIS_ARGUMENT_MAY_REPEAT | (a.token && is_optional ? REDIS_ARGUMENT_REPEATS_TOKEN : 0);
    return a;
}

redis_argument *usage_read(usage *u, const char *line, int has_keys) {
    redis_argument list[MAX];
    reading r = {u, u->text, has_keys};
    memset(u, 0, sizeof *u);
    strncpy(u->text, line, sizeof u->text - 1);
    const int n = read_list(&r, list, true);
    for (char *c = u->text; *c || c < r.at; c++)
        if (*c == ' ') *c = 0;
    return keep(u, list, n);
}

/* ---- What must not be seen ------------------------------------------------------------------- */

bool usage_has_secret(const char *line) {
    for (size_t len; *line; line += len + strspn(line + len, " ]")) {
        len = strcspn(line, " ]");
        if (is_among(secrets, line, len)) return true;
    }
    return false;
}

static void hide(redis_ctx *ctx, int position) {
    redis.RedactClientCommandArgument(ctx, position);
}

/* By its place, while all arguments before it are required; after a bracket by the word that leads
 * to it. */
void usage_hide(redis_ctx *ctx, const char *line, redis_string **argv, int argc) {
    int place = 0;
    /* Whoever reads a file is shown to nobody, and has no place to keep what is shown instead. */
    const bool is_read = redis.GetContextFlags(ctx) & REDIS_IS_LOADING;
    if (!redis.RedactClientCommandArgument || is_read) return;
    for (const char *at = line; *at;) {
        const size_t len = strcspn(at, " ]");
        place = place < 0 || *at == '[' ? -1 : place + 1;
        if (is_among(secrets, at, len) && place > 0) hide(ctx, place);
        for (int i = 1; *at == '[' && i + 1 < argc; i++) {
            const char *word = redis.StringPtrLen(argv[i], NULL), *name = at + len + 1;
            if (strncasecmp(word, at + 1, len - 1) == 0 && !word[len - 1] &&
                is_among(secrets, name, strcspn(name, " ]")))
                hide(ctx, i + 1);
        }
        at += len + strspn(at + len, " ]");
    }
}
