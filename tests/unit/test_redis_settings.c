/* SPDX-License-Identifier: MIT */
/* Settings of the module for Redis and Valkey, with a stub server: its configuration file, CONFIG
 * SET and CONFIG GET, and the arguments of MODULE LOAD. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/redis/settings.h"
#include "tests/support/module.h"
#include "tests/support/temp_dir.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- A server -------------------------------------------------------------------------------- */

struct redis_string {
    char bytes[128];
};

/* A registered setting: a number, a text or a choice. */
typedef struct setting {
    const char *name, *text_preset;
    long long default_value, min, max;
    unsigned flags;
    void *data;
    redis_get_number *get_number;
    redis_set_number *set_number;
    redis_get_text *get_text;
    redis_set_text *set_text;
    redis_get_choice *get_choice;
    redis_set_choice *set_choice;
} setting;

static struct {
    setting settings[40];
    size_t count;
    const char *file[8]; /* names and values in its configuration file */
    int strings;         /* created and not freed */
} server;

static redis_string *create_string(redis_ctx *ctx, const char *bytes, size_t len) {
    redis_string *s = calloc(1, sizeof *s);
    (void)ctx;
    assert_true(s && len < sizeof s->bytes);
    memcpy(s->bytes, bytes, len);
    server.strings++;
    return s;
}

static void free_string(redis_ctx *ctx, redis_string *s) {
    (void)ctx;
    server.strings--;
    free(s);
}

static const char *string_bytes(const redis_string *s, size_t *len) {
    if (len) *len = strlen(s->bytes);
    return s->bytes;
}

static int add(setting s) {
    assert_true(server.count < COUNT_OF(server.settings));
    server.settings[server.count++] = s;
    return REDIS_OK;
}

static int register_number(redis_ctx *ctx, const char *name, long long default_value,
                           unsigned flags, long long min, long long max, redis_get_number *get,
                           redis_set_number *set, redis_apply *apply, void *data) {
    (void)ctx, (void)apply;
    return add((setting){.name = name,
                         .default_value = default_value,
                         .min = min,
                         .max = max,
                         .flags = flags,
                         .get_number = get,
                         .set_number = set,
                         .data = data});
}

static int register_text(redis_ctx *ctx, const char *name, const char *default_value,
                         unsigned flags, redis_get_text *get, redis_set_text *set,
                         redis_apply *apply, void *data) {
    (void)ctx, (void)apply;
    return add((setting){.name = name,
                         .text_preset = default_value,
                         .flags = flags,
                         .get_text = get,
                         .set_text = set,
                         .data = data});
}

static int register_choice(redis_ctx *ctx, const char *name, int default_value, unsigned flags,
                           const char **names, const int *values, int count, redis_get_choice *get,
                           redis_set_choice *set, redis_apply *apply, void *data) {
    (void)ctx, (void)names, (void)values, (void)count, (void)apply;
    return add((setting){.name = name,
                         .default_value = default_value,
                         .flags = flags,
                         .get_choice = get,
                         .set_choice = set,
                         .data = data});
}

static char why[128];

/* As CONFIG SET does. */
static int set(const setting *s, const char *wanted) {
    redis_string *complaint = NULL;
    *why = '\0';
    if (s->set_number) return s->set_number(s->name, atoll(wanted), s->data, &complaint);
    if (s->set_choice) return s->set_choice(s->name, atoi(wanted), s->data, &complaint);
    redis_string *text = create_string(NULL, wanted, strlen(wanted));
    const int rc = s->set_text(s->name, text, s->data, &complaint);
    free_string(NULL, text);
    if (complaint) {
        snprintf(why, sizeof why, "%s", complaint->bytes);
        free_string(NULL, complaint);
    }
    return rc;
}

/* At startup the server sets every setting, to its value in the file or to the default. */
static int load_settings(redis_ctx *ctx) {
    (void)ctx;
    for (size_t i = 0; i < server.count; i++) {
        const setting *s = &server.settings[i];
        char default_value[32], name[64];
        snprintf(default_value, sizeof default_value, "%lld", s->default_value);
        snprintf(name, sizeof name, "%s%s", s->flags & REDIS_CONFIG_UNPREFIXED ? "" : "tamis.",
                 s->name);
        const char *wanted = s->set_text ? s->text_preset : default_value;
        for (size_t f = 0; f + 1 < COUNT_OF(server.file); f += 2)
            if (server.file[f] && strcmp(server.file[f], name) == 0) wanted = server.file[f + 1];
        if (set(s, wanted)) return REDIS_ERR;
    }
    return REDIS_OK;
}

/* ---- Helpers --------------------------------------------------------------------------------- */

enum { REDIS_7 = 7 << 16, REDIS_8 = 8 << 16 };

static int start(int number, const char *const *words, int count) {
    redis_string arguments[8] = {{""}}, *argv[8];
    assert_true(count <= 8);
    for (int i = 0; i < count; i++) {
        snprintf(arguments[i].bytes, sizeof arguments[i].bytes, "%s", words[i]);
        argv[i] = &arguments[i];
    }
    test_server.version = number;
    server.count = 0;
    *test_server.log = '\0';
    return settings_start(NULL, argv, count);
}

static int enter(void **state) {
    (void)state;
    memset(&server, 0, sizeof server);
    redis.CreateString = create_string, redis.FreeString = free_string;
    redis.StringPtrLen = string_bytes, redis.Log = test_log;
    redis.RegisterNumericConfig = register_number, redis.RegisterStringConfig = register_text;
    redis.RegisterEnumConfig = register_choice, redis.LoadConfigs = load_settings;
    redis.GetServerVersion = test_version;
    return 0;
}

static const setting *find(const char *name) {
    for (size_t i = 0; i < server.count; i++)
        if (strcmp(server.settings[i].name, name) == 0) return &server.settings[i];
    fail_msg("there is no setting %s", name);
    return NULL;
}

static int set_to(const char *name, const char *wanted) {
    return set(find(name), wanted);
}

static const char *text_of(const char *name) {
    const setting *s = find(name);
    return s->get_text(s->name, s->data)->bytes; /* valid until the next call */
}

static bool secret_is(unsigned first, unsigned last) {
    return settings_secret()[0] == first && settings_secret()[SECRET_BYTES - 1] == last;
}

#define DIGITS "0123456789abcdef0123456789ABCDEF"

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Runs first, because a configured secret is permanent. */
static void drawn_secrets_are_replaced(void **state) {
    (void)state;
    uint8_t drawn[SECRET_BYTES], met[SECRET_BYTES];
    memset(met, 0x77, sizeof met);
    assert_int_equal(start(REDIS_7, NULL, 0), REDIS_OK);
    memcpy(drawn, settings_secret(), sizeof drawn);
    assert_int_equal(start(REDIS_7, NULL, 0), REDIS_OK);
    assert_memory_not_equal(drawn, settings_secret(), sizeof drawn);
    settings_adopt_secret(met);
    assert_memory_equal(settings_secret(), met, sizeof met);
}

static void configured_secrets_stay(void **state) {
    (void)state;
    static const char *const bad[] = {DIGITS "0", "0123", "0123456789abcdef0123456789abcdeg",
                                      "/123456789abcdef0123456789abcdef", "x"};
    const uint8_t met[SECRET_BYTES] = {0x77};
    assert_int_equal(start(REDIS_7, NULL, 0), REDIS_OK);
    assert_int_equal(set_to("secret", DIGITS), REDIS_OK);
    assert_true(secret_is(0x01, 0xef));
    settings_adopt_secret(met);
    assert_true(secret_is(0x01, 0xef));
    assert_string_equal(text_of("secret"), "0123456789abcdef0123456789abcdef");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(set_to("secret", bad[i]), REDIS_ERR);
        assert_string_equal(why, "secret must be 32 hexadecimal digits");
    }
    assert_int_equal(set_to("secret", ""), REDIS_OK);
    assert_true(secret_is(0x01, 0xef));
    assert_int_equal(find("secret")->flags, REDIS_CONFIG_SENSITIVE | REDIS_CONFIG_HIDDEN);
    assert_int_equal(server.strings, 1); /* the last one returned */
    text_of("secret");
    assert_int_equal(server.strings, 1);
}

static void secrets_in_files(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_good;
    } files[] = {{"", false},
                 {"fe\n", false},
                 {"fe" DIGITS, false},
                 {DIGITS "\n\n", false},
                 {"fe23456789abcdef0123456789abcd01", true},
                 {DIGITS "\n", true},
                 {DIGITS "\r\n", true}};
    char dir[TEST_FOLDER_BYTES], path[96], before[96] = "";
    assert_true(test_enter_dir(dir));
    snprintf(path, sizeof path, "%s/secret", dir);
    assert_int_equal(start(REDIS_7, NULL, 0), REDIS_OK);
    assert_int_equal(set_to("secret-file", path), REDIS_ERR);
    assert_string_equal(why, "secret-file cannot be opened");
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        FILE *file = fopen(path, "w");
        assert_true(file && fputs(files[i].text, file) >= 0 && fclose(file) == 0);
        if (set_to("secret-file", path) != (files[i].is_good ? REDIS_OK : REDIS_ERR))
            fail_msg("'%s': %s", files[i].text, why);
        if (files[i].is_good)
            strcpy(before, path);
        else
            assert_string_equal(why, "secret-file must be a file of 32 hexadecimal digits");
        assert_string_equal(text_of("secret-file"), before);
    }
    assert_true(secret_is(0x01, 0xef));
    assert_int_equal(test_leave_dir(dir), 0);
}

static void rates_are_in_their_range(void **state) {
    (void)state;
    static const char *const bad[] = {"", "x", "0.5x", "0.5 ", "0", "1", "-0.5", "nan", "inf", "2"};
    assert_int_equal(start(REDIS_7, NULL, 0), REDIS_OK);
    assert_true(settings.bf_error_rate == 0.01);
    assert_int_equal(set_to("bf-error-rate", "0.25"), REDIS_OK);
    assert_true(settings.bf_error_rate == 0.25);
    assert_string_equal(text_of("bf-error-rate"), "0.25");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(set_to("bf-error-rate", bad[i]), REDIS_ERR);
        assert_string_equal(why, "bf-error-rate must be in (0, 1)");
        assert_true(settings.bf_error_rate == 0.25);
    }
    assert_int_equal(set_to("bf-error-rate", "0.01"), REDIS_OK); /* also back to the default */
    assert_true(settings.bf_error_rate == 0.01);
}

/* In Redis 8 some settings have two names: the default of one does not override the other. */
static void one_of_two_names_is_enough(void **state) {
    (void)state;
    static const char *const names[][2] = {{"bf-initial-size", "bf-error-rate"},
                                           {"tamis.bf-initial-size", "tamis.bf-error-rate"}};
    for (int i = 0; i < 2; i++) {
        server.file[0] = names[i][0], server.file[1] = "7";
        server.file[2] = names[i][1], server.file[3] = "0.125";
        assert_int_equal(start(REDIS_8, NULL, 0), REDIS_OK);
        assert_int_equal(settings.bf_initial_size, 7);
        assert_int_equal(find("bf-initial-size")->get_number("", find("bf-initial-size")->data), 7);
        assert_true(settings.bf_error_rate == 0.125);
        assert_int_equal(set_to("bf-initial-size", "100"), REDIS_OK); /* the default, set later */
        assert_int_equal(settings.bf_initial_size, 100);
    }
    memset(server.file, 0, sizeof server.file);
    assert_int_equal(start(REDIS_8, NULL, 0), REDIS_OK);
    assert_int_equal(settings.bf_initial_size, 100);
    assert_int_equal(settings.cf_max_iterations, 20);
}

static void arguments_are_taken(void **state) {
    (void)state;
    static const char *const words[] = {
        "BF-Initial-Size", "9", "CF_MAX_EXPANSIONS", "3", "ERROR_RATE", "0.5", "hash", "XXH3"};
    assert_int_equal(start(REDIS_7, words, COUNT_OF(words)), REDIS_OK);
    assert_int_equal(settings.bf_initial_size, 9);
    assert_int_equal(settings.cf_max_expansions, 3);
    assert_true(settings.bf_error_rate == 0.5);
    assert_int_equal(settings.hash, HASH_PLAIN);
    static const char *const legacy[] = {"INITIAL_SIZE", "11", "hash", "sip13", "name", "x"};
    assert_int_equal(start(REDIS_7, legacy, COUNT_OF(legacy)), REDIS_OK);
    assert_int_equal(settings.bf_initial_size, 11);
    assert_int_equal(settings.hash, HASH_KEYED);
}

static void invalid_arguments(void **state) {
    (void)state;
    static const struct {
        const char *words[3];
        int count;
        const char *log;
    } bad[] = {
        {{"bf-initial-size"}, 1, "argument bf-initial-size : it has no value"},
        {{"hash", "xxh3", "cf-bucket-size"}, 3, "argument cf-bucket-size : it has no value"},
        {{"bf-initial-size", "0"}, 2, "argument bf-initial-size 0: it is out of range"},
        {{"bf-initial-size", "1073741825"}, 2, "is out of range"},
        {{"bf-initial-size", ""}, 2, "is out of range"},
        {{"bf-initial-size", "7x"}, 2, "is out of range"},
        {{"bf-initial-size", "99999999999999999999"}, 2, "is out of range"},
        {{"hash", "md5"}, 2, "argument hash md5: it is none of its choices"},
        {{"error_rate", "1"}, 2, "argument error_rate 1: it must be in (0, 1)"},
        {{"secret-file", "/none"}, 2, "argument secret-file /none: it cannot be opened"},
        {{"secret", DIGITS}, 2, "argument secret (hidden): it would be shown by MODULE LIST"},
        {{"color", "red"}, 2, "argument color red: it is not a setting"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(start(REDIS_7, bad[i].words, bad[i].count), REDIS_ERR);
        if (!strstr(test_server.log, bad[i].log))
            fail_msg("'%s' does not say '%s'", test_server.log, bad[i].log);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(drawn_secrets_are_replaced, enter),
        cmocka_unit_test_setup(configured_secrets_stay, enter),
        cmocka_unit_test_setup(secrets_in_files, enter),
        cmocka_unit_test_setup(rates_are_in_their_range, enter),
        cmocka_unit_test_setup(one_of_two_names_is_enough, enter),
        cmocka_unit_test_setup(arguments_are_taken, enter),
        cmocka_unit_test_setup(invalid_arguments, enter),
    };
    return cmocka_run_group_tests_name("redis settings", tests, NULL, NULL);
}
