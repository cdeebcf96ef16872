/* SPDX-License-Identifier: MIT */
/* Settings: one table, three ways to set them. The server's own (tamis.NAME in its file, CONFIG
 * SET) came with Redis 7; arguments of MODULE LOAD, NAME VALUE NAME VALUE, work everywhere. */
#include "engines/redis/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

struct settings settings;

static uint8_t secret[SECRET_BYTES];
static bool is_secret_told; /* by a setting: no file and no primary replaces it */

typedef struct number {
    const char *name, *legacy; /* as an argument of older modules; or NULL */
    long long *at, default_value, min, max;
    unsigned flags;
} number;

/* clang-format off */
static const number numbers[] = {
    {"bf-initial-size", "INITIAL_SIZE", &settings.bf_initial_size, 100, 1, 1 << 30, 0},
    {"bf-expansion-factor", NULL, &settings.bf_expansion_factor, 2, 0, 32768, 0},
    {"cf-bucket-size", NULL, &settings.cf_bucket_size, 2, 1, 255, 0},
    {"cf-initial-size", NULL, &settings.cf_initial_size, 1024, 2, 1 << 30, 0},
    {"cf-max-iterations", NULL, &settings.cf_max_iterations, 20, 1, 65535, 0},
    {"cf-expansion-factor", NULL, &settings.cf_expansion_factor, 1, 0, 32768, 0},
    {"cf-max-expansions", "CF_MAX_EXPANSIONS", &settings.cf_max_expansions, 32, 1, 65535, 0},
    {"max-filter-bytes", NULL, &settings.max_filter_bytes, (long long)2 << 30, 1 << 10,
     (long long)1 << 50, REDIS_CONFIG_MEMORY},
};
/* clang-format on */
enum { NUMBERS = sizeof numbers / sizeof *numbers };

typedef struct choice {
    const char *name;
    int *at;
    const char *names[2]; /* the first is the default */
} choice;

static choice choices[] = {
    {"bf-kind", &settings.bf_kind, {"tamis", "redisbloom"}},
    {"cf-kind", &settings.cf_kind, {"tamis", "rediscuckoo"}},
    {"cms-kind", &settings.cms_kind, {"tamis", "rediscms"}},
    {"hash", &settings.hash, {"sip13", "xxh3"}},
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* ---- Texts: the rate and the secret ---------------------------------------------------------- */

static bool read_rate(const char *text, double *rate) {
    char *end;
    const double x = strtod(text, &end);
    if (end == text || *end || !(x > 0 && x < 1)) return false;
    *rate = x;
    return true;
}

static int digit(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool read_secret(const char *text) {
    uint8_t bytes[SECRET_BYTES];
    if (strlen(text) != 2 * SECRET_BYTES) return false;
    for (int i = 0; i < SECRET_BYTES; i++) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(secret, bytes, sizeof bytes);
    is_secret_told = true;
    return true;
}

/* MODULE LIST shows arguments, and SLOWLOG may show settings: with a file there is nothing in them
 * to see. */
static char secret_file[4096];

static const char *read_secret_file(const char *path) {
    char text[2 * SECRET_BYTES + 4] = "";
    FILE *file = fopen(path, "re");
    if (!file || strlen(path) >= sizeof secret_file) {
        if (file) fclose(file);
        return "secret-file cannot be opened";
    }
    const char *line = fgets(text, sizeof text, file);
    const bool is_all = line && getc(file) == EOF;
    fclose(file);
    text[strcspn(text, "\r\n")] = 0;
    const bool is_good = is_all && read_secret(text);
    memset(text, 0, sizeof text);
    if (is_good) memcpy(secret_file, path, strlen(path) + 1);
    return is_good ? NULL : "secret-file must be a file of 32 hexadecimal digits";
}

/* An empty text leaves the secret that was drawn. */
static const char *set_text(const char *name, const char *text) {
    if (strcmp(name, "bf-error-rate") == 0)
        return read_rate(text, &settings.bf_error_rate) ? NULL : "bf-error-rate must be in (0, 1)";
    if (*text == 0) return NULL;
    if (strcmp(name, "secret-file") == 0) return read_secret_file(text);
    return read_secret(text) ? NULL : "secret must be 32 hexadecimal digits";
}

/* ---- The server's configuration -------------------------------------------------------------- */

static redis_string *sentence(const char *text) {
    return redis.CreateString(NULL, text, strlen(text));
}

static long long get_number(const char *name, void *data) {
    (void)name;
    return *((const number *)data)->at;
}

/* A setting with two names is set twice at the start: a default does not undo what the other name
 * was given. */
static bool is_starting;
static const char rate_preset[] = "0.01";

static int set_number(const char *name, long long value, void *data, redis_string **why) {
    const number *n = data;
    (void)name, (void)why;
    if (!is_starting || value != n->default_value) *n->at = value;
    return REDIS_OK;
}

static int get_choice(const char *name, void *data) {
    (void)name;
    return *((const choice *)data)->at;
}

static int set_choice(const char *name, int value, void *data, redis_string **why) {
    (void)name, (void)why;
    *((const choice *)data)->at = value;
    return REDIS_OK;
}

/* The server does not free what a getter returns: the last one is kept until the next is asked
 * for. */
static redis_string *get_config_text(const char *name, void *data) {
    static redis_string *last;
    char text[2 * SECRET_BYTES + 1];
    (void)name;
    if (last) redis.FreeString(NULL, last);
    if (strcmp(data, "secret-file") == 0) return last = sentence(secret_file);
    if (strcmp(data, "secret") == 0)
        for (size_t i = 0; i < SECRET_BYTES; i++)
            snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", secret[i]);
    else
        snprintf(text, sizeof text, "%.17g", settings.bf_error_rate);
    return last = sentence(text);
}

static int set_config_text(const char *name, redis_string *value, void *data, redis_string **why) {
    const char *text = redis.StringPtrLen(value, NULL);
    (void)name;
    if (is_starting && strcmp(text, rate_preset) == 0) return REDIS_OK;
    const char *complaint = set_text(data, text);
    if (complaint) *why = sentence(complaint);
    return complaint ? REDIS_ERR : REDIS_OK;
}

static int register_number(redis_ctx *ctx, const number *n, unsigned flags) {
    return redis.RegisterNumericConfig(ctx, n->name, n->default_value, flags, n->min, n->max,
                                       get_number, set_number, NULL, (void *)n);
}

static int register_text(redis_ctx *ctx, const char *name, const char *preset, unsigned flags) {
    return redis.RegisterStringConfig(ctx, name, preset, flags, get_config_text, set_config_text,
                                      NULL, (void *)name);
}

/* In Redis 8 the settings of RedisBloom have no module's name in front. A server that has them
 * already keeps its own. */
static void register_plain_names(redis_ctx *ctx) {
    enum { REDIS_8 = 8 << 16 };
    if (!redis.GetServerVersion || redis.GetServerVersion() < REDIS_8) return;
    for (const number *n = numbers; n < numbers + NUMBERS; n++)
        if (strncmp(n->name, "bf-", 3) == 0 || strncmp(n->name, "cf-", 3) == 0)
            register_number(ctx, n, REDIS_CONFIG_UNPREFIXED);
    register_text(ctx, "bf-error-rate", rate_preset, REDIS_CONFIG_UNPREFIXED);
}

static int register_all(redis_ctx *ctx) {
    static const int values[] = {0, 1};
    int bad = 0;
    if (!redis.RegisterNumericConfig || !redis.RegisterStringConfig || !redis.RegisterEnumConfig ||
        !redis.LoadConfigs)
        return REDIS_OK;
    register_plain_names(ctx);
    for (const number *n = numbers; n < numbers + NUMBERS; n++)
        bad |= register_number(ctx, n, n->flags);
    for (choice *c = choices; c < choices + CHOICES; c++)
        bad |= redis.RegisterEnumConfig(ctx, c->name, 0, REDIS_CONFIG_PLAIN, c->names, values, 2,
                                        get_choice, set_choice, NULL, c);
    bad |= register_text(ctx, "bf-error-rate", rate_preset, REDIS_CONFIG_PLAIN);
    bad |= register_text(ctx, "secret", "", REDIS_CONFIG_SENSITIVE | REDIS_CONFIG_HIDDEN);
    bad |= register_text(ctx, "secret-file", "", REDIS_CONFIG_PLAIN);
    is_starting = true;
    bad = bad || redis.LoadConfigs(ctx);
    is_starting = false;
    return bad ? REDIS_ERR : REDIS_OK;
}

/* ---- Arguments of MODULE LOAD ---------------------------------------------------------------- */

static bool is_name(const char *text, const char *name, const char *legacy) {
    return strcasecmp(text, name) == 0 || (legacy && strcasecmp(text, legacy) == 0);
}

/* NULL when it was taken. */
static const char *set_argument(const char *name, const char *text) {
    for (int i = 0; i < NUMBERS; i++) {
        const number *n = &numbers[i];
        char *end;
        if (!is_name(name, n->name, n->legacy)) continue;
        errno = 0;
        const long long x = strtoll(text, &end, 10);
        if (end == text || *end || errno || x < n->min || x > n->max) return "is out of range";
        *n->at = x;
        return NULL;
    }
    for (int i = 0; i < CHOICES; i++)
        if (is_name(name, choices[i].name, NULL)) {
            for (int v = 0; v < 2; v++)
                if (strcasecmp(text, choices[i].names[v]) == 0) return *choices[i].at = v, NULL;
            return "is none of its choices";
        }
    if (is_name(name, "bf-error-rate", "ERROR_RATE"))
        return set_text("bf-error-rate", text) ? "must be in (0, 1)" : NULL;
    if (is_name(name, "name", NULL)) return NULL; /* module.c has seen it */
    if (is_name(name, "secret-file", NULL)) {
        const char *why = read_secret_file(text);
        return why ? why + strlen("secret-file ") : NULL;
    }
    if (is_name(name, "secret", NULL))
        return "would be shown by MODULE LIST: use secret-file PATH, or the setting tamis.secret";
    return "is not a setting";
}

static int take_arguments(redis_ctx *ctx, redis_string **argv, int argc) {
    for (int i = 0; i < argc; i += 2) {
        const char *name = redis.StringPtrLen(argv[i], NULL);
        const char *value = i + 1 < argc ? redis.StringPtrLen(argv[i + 1], NULL) : "";
        const char *why = i + 1 < argc ? set_argument(name, value) : "has no value";
        if (!why) continue;
        redis.Log(ctx, "warning", "argument %s %s: it %s", name,
                  is_name(name, "secret", NULL) ? "(hidden)" : value, why);
        return REDIS_ERR;
    }
    return REDIS_OK;
}

/* ---- Start ----------------------------------------------------------------------------------- */

int settings_start(redis_ctx *ctx, redis_string **argv, int argc) {
    for (int i = 0; i < NUMBERS; i++) *numbers[i].at = numbers[i].default_value;
    read_rate(rate_preset, &settings.bf_error_rate);
    if (getrandom(secret, sizeof secret, 0) != sizeof secret) {
        redis.Log(ctx, "warning", "the system has no random bytes for a secret");
        return REDIS_ERR;
    }
    if (register_all(ctx)) return REDIS_ERR;
    return take_arguments(ctx, argv, argc);
}

const uint8_t *settings_secret(void) {
    return secret;
}

void settings_adopt_secret(const uint8_t met[SECRET_BYTES]) {
    if (!is_secret_told) memcpy(secret, met, SECRET_BYTES);
}
