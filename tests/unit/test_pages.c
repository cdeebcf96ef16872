/* SPDX-License-Identifier: MIT */
/* options.pages: giant pages of a system that has some, has too few, or promises them and then has
 * none. The system is a mock of three calls: its giant pages are addresses only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tamis.h"
#include "tests/support/filters.h"
#include "tests/support/require_ok.h"

#if defined(MAP_HUGETLB) && defined(MADV_POPULATE_WRITE) && !defined(TAMIS_PLAIN)
enum { GIB = 1 << 30 };

static struct {
    bool has_pages, keeps_promises;
    void *start; /* of the giant pages that are mapped, ... */
    size_t size; /* ... and their bytes */
    unsigned maps, promises, plain_maps;
} machine;

void *__real_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
int __real_madvise(void *, size_t, int);

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    machine.plain_maps += !(flags & MAP_HUGETLB) && size >= GIB;
    if (!(flags & MAP_HUGETLB)) return __real_mmap(at, size, protection, flags, fd, offset);
    assert_int_equal(size % GIB, 0);
    assert_int_equal(flags >> 26, 30); /* pages of 2^30 bytes */
    if (!machine.has_pages) return errno = ENOMEM, MAP_FAILED;
    const int plain = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    machine.maps++;
    machine.size = size;
    return machine.start = __real_mmap(NULL, size, protection, plain, -1, 0);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return map(at, size, protection, flags, fd, offset);
}
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return map(at, size, protection, flags, fd, offset);
}

/* Giant pages go whole. */
int __wrap_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size) {
    if (at != machine.start || !machine.start) return __real_munmap(at, size);
    if (size % GIB) return errno = EINVAL, -1;
    assert_int_equal(size, machine.size);
    machine.start = NULL;
    return __real_munmap(at, size);
}

int __wrap_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice) {
    if (advice != MADV_POPULATE_WRITE) return __real_madvise(at, size, advice);
    assert_ptr_equal(at, machine.start);
    assert_int_equal(size, machine.size);
    machine.promises++;
    return machine.keeps_promises ? 0 : (errno = EFAULT, -1);
}

/* A filter of that size works, and errno is left alone. */
static void use(const char *size) {
    struct tamis_options options = TAMIS_OPTIONS_INIT;
    char spec[60];
    tamis *f;
    options.pages = TAMIS_PAGES_GIANT;
    snprintf(spec, sizeof spec, "blocked:hashes=8,capacity=1000,size=%s", size);
    errno = 77;
    REQUIRE_OK(tamis_create_with(&f, spec, &options));
    for (uint64_t i = 0; i < 100; i++) REQUIRE_OK(tamis_add_u64(f, i));
    for (uint64_t i = 0; i < 100; i++) assert_true(tamis_has_u64(f, i));
    tamis_free(f);
    assert_int_equal(errno, 77);
    assert_null(machine.start);
}

static void from_a_gibibyte_on(void **state) {
    (void)state;
    machine.has_pages = machine.keeps_promises = true;
    use("100KiB");
    use("20MiB");
    assert_int_equal(machine.maps, 0);
    use("1GiB");
    assert_int_equal(machine.maps, 1);
    use("1100MiB");
    use("2040MiB"); /* nearly whole pages */
    assert_int_equal(machine.maps, 3);
    assert_int_equal(machine.promises, 3);
    assert_int_equal(machine.plain_maps, 0);
}

static void without_them_large_ones_do(void **state) {
    (void)state;
    machine.maps = machine.plain_maps = 0;
    machine.has_pages = false;
    use("1100MiB");
    assert_int_equal(machine.maps, 0);
    assert_int_equal(machine.plain_maps, 1);
}

static void a_promise_that_is_not_kept_is_noticed(void **state) {
    (void)state;
    machine.maps = machine.plain_maps = 0;
    machine.has_pages = true;
    machine.keeps_promises = false;
    use("1100MiB");
    assert_int_equal(machine.maps, 1);
    assert_int_equal(machine.plain_maps, 1);
}

static void others_never_take_them(void **state) {
    (void)state;
    machine.maps = 0;
    machine.has_pages = machine.keeps_promises = true;
    for (int pages = TAMIS_PAGES_LARGE; pages <= TAMIS_PAGES_PLAIN; pages++) {
        struct tamis_options options = TAMIS_OPTIONS_INIT;
        tamis *f;
        options.pages = (enum tamis_pages)pages;
        REQUIRE_OK(tamis_create_with(&f, "blocked:hashes=8,capacity=10,size=1100MiB", &options));
        tamis_free(f);
    }
    assert_int_equal(machine.maps, 0);
}
#endif

static void other_numbers_are_refused(void **state) {
    (void)state;
    struct tamis_options options = TAMIS_OPTIONS_INIT;
    tamis *f;
    options.pages = (enum tamis_pages)(TAMIS_PAGES_GIANT + 1);
    assert_int_equal(tamis_create_with(&f, "blocked:capacity=10", &options), TAMIS_INVALID);
    assert_string_equal(tamis_why(), "options.pages is 3: 0 for large, 1 plain, 2 giant");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if defined(MAP_HUGETLB) && defined(MADV_POPULATE_WRITE) && !defined(TAMIS_PLAIN)
        cmocka_unit_test(from_a_gibibyte_on),
        cmocka_unit_test(without_them_large_ones_do),
        cmocka_unit_test(a_promise_that_is_not_kept_is_noticed),
        cmocka_unit_test(others_never_take_them),
#endif
        cmocka_unit_test(other_numbers_are_refused),
    };
    return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
