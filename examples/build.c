/* SPDX-License-Identifier: MIT */
/* build.c: a filter of a million keys, from a builder with little memory.
 *
 * Keys come as a stream, uncounted, and some come twice. The builder keeps 8 bytes of each, on disk
 * when memory runs out, and writes the image piece by piece. Build it with:
 *
 *     cc build.c $(pkg-config --cflags --libs tamis)
 */
#include <stdio.h>
#include <tamis.h>

static const char *const stages[] = {"sorting", "building", "verifying"};

/* Called while the builder finishes; false would stop it. */
static bool show(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total) {
    (void)ctx;
    if (done == total) printf("  %-9s %llu records\n", stages[stage], (unsigned long long)total);
    return true;
}

static int complain(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tamis_why());
    return 2;
}

/* A stream of keys: a million users, and every tenth of them again. */
static tamis_status add_users(tamis_builder *builder) {
    char key[32];
    tamis_status rc = TAMIS_OK;
    for (int i = 0; i < 1100000 && !rc; i++) {
        const int len = snprintf(key, sizeof key, "user %d", i < 1000000 ? i : (i - 1000000) * 10);
        rc = tamis_builder_add(builder, key, (size_t)len);
    }
    return rc;
}

int main(int argc, char **argv) {
    const char *spec = argc > 1 ? argv[1] : "quotient:fpr=0.1%";
    const char *path = argc > 2 ? argv[2] : "users.tamis";
    const struct tamis_builder_options options = {
        .struct_size = sizeof options,
        .memory_limit = 4 << 20, /* for records and work; a quotient filter needs more on top */
        .threads = 2,
        .verify = true,
        .progress = show,
    };
    tamis_builder *builder;
    tamis *filter;

    if (tamis_builder_create_with(&builder, spec, &options)) return complain(spec);
    int code = 0;
    if (add_users(builder)) code = complain("adding");
    printf("%s\n", spec);
    if (!code && tamis_builder_finish_to(builder, path)) code = complain(path);
    tamis_builder_free(builder);
    if (code) return code;

    if (tamis_map(&filter, path)) return complain(path);
    printf("%s: %llu bytes, user 7 is %s, user 1000007 is %s\n", path,
           (unsigned long long)tamis_image_size(filter),
           tamis_has(filter, "user 7", 6) ? "there" : "missing",
           tamis_has(filter, "user 1000007", 12) ? "there, or a false positive" : "not there");
    tamis_free(filter);
    return 0;
}
