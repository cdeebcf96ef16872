/* SPDX-License-Identifier: MIT */
/* host.c: what a server or a database needs: a filter in shared memory that several processes fill,
 * a filter for each block of a table, memory that is counted, and calls that can be interrupted. */
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tamis_engine.h>
#include <unistd.h>

#include "must.h"

enum { ZONE = 1 << 20, WORKERS = 4, EACH = 5000, BLOCKS = 8, BLOCK_BYTES = 128, BLOCK_KEYS = 75 };

/* A worker attaches with a handle of its own. The others are writing: the header is as it was at
 * the last sync, so the content is trusted. */
static void work(void *zone, uint64_t id) {
    struct tamis_options options = TAMIS_OPTIONS_INIT;
    tamis *seen;
    uint64_t key[EACH], hash[EACH];
    options.is_trusted = true;
    must(tamis_attach(&seen, zone, ZONE, &options));
    for (uint64_t i = 0; i < EACH; i++) key[i] = id * EACH + i;
    must(tamis_add_shared(seen, &key[0], sizeof key[0]));
    tamis_hash_u64s(seen, key, EACH, hash);
    must(tamis_add_hashes_shared(seen, hash + 1, EACH - 1));
    must(tamis_sync(seen)); /* here one after the other: each waits for the one before */
    tamis_free(seen);
}

static void share_a_zone(void) {
    void *zone = mmap(NULL, ZONE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tamis *seen, *saved;
    uint64_t lost = 0;
    expect(zone != MAP_FAILED, "there is shared memory");
    must(tamis_create_at(&seen, zone, ZONE, "blocked:capacity=100K,fpr=1%", NULL));
    for (uint64_t id = 0; id < WORKERS; id++) {
        const pid_t child = fork();
        if (child == 0) {
            work(zone, id);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    for (uint64_t i = 0; i < WORKERS * EACH; i++) lost += !tamis_has(seen, &i, sizeof i);
    expect(lost == 0, "no key of any worker is lost");
    must(tamis_sync(seen));
    must(tamis_view(&saved, zone, (size_t)tamis_image_size(seen)));
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(saved, &info);
    expect(info.items == WORKERS * EACH, "the zone is an image, with all items counted");
    tamis_free(saved);
    tamis_free(seen);
    munmap(zone, ZONE);
}

/* A table keeps the payload with each block, and the spec once. */
static void ask_blocks(void) {
    static const char shape[] = "split:capacity=75,size=128";
    static uint8_t table[BLOCKS][BLOCK_BYTES];
    tamis *block;
    uint64_t size, lost = 0;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        must(tamis_create(&block, shape));
        for (uint64_t i = 0; i < BLOCK_KEYS; i++) must(tamis_add_u64(block, b * 1000 + i));
        memcpy(table[b], tamis_payload(block, &size), BLOCK_BYTES);
        tamis_free(block);
    }
    must(tamis_view_payload(&block, shape, table[0], BLOCK_BYTES, NULL));
    for (uint64_t b = 0; b < BLOCKS; b++) {
        must(tamis_set_payload(block, table[b], BLOCK_BYTES));
        for (uint64_t i = 0; i < BLOCK_KEYS; i++) lost += !tamis_has_u64(block, b * 1000 + i);
    }
    expect(lost == 0, "one handle asks every block");
    tamis_free(block);
}

static void *count_memory(void *ctx, size_t size) {
    *(size_t *)ctx += size;
    return malloc(size);
}

static void give_back(void *ctx, void *memory, size_t size) {
    *(size_t *)ctx -= size;
    free(memory);
}

static bool is_interrupted(void *ctx) {
    return *(bool *)ctx;
}

/* A copy in the memory of a query, which a user may cancel. */
static void copy_and_cancel(void) {
    size_t used = 0;
    bool cancel = false;
    const struct tamis_allocator allocator = {count_memory, give_back, &used, false};
    struct tamis_options options = TAMIS_OPTIONS_INIT;
    tamis *filter, *copy;
    options.allocator = &allocator;
    options.should_stop = is_interrupted;
    options.stop_ctx = &cancel;
    must(tamis_create(&filter, "quotient:capacity=100K,fpr=1%"));
    must(tamis_copy_with(&copy, filter, &options));
    printf("the copy takes %zu bytes\n", used);
    cancel = true;
    expect(tamis_resize(copy, 1000000) == TAMIS_CANCELLED, "a resize is cancelled");
    tamis_free(copy);
    expect(used == 0, "and all memory is given back");
    must(tamis_save(filter, "host.tamis"));
    tamis_free(filter);
}

/* A file that this program checked before is mapped at once, however large it is. */
static void map_again(void) {
    struct tamis_options options = TAMIS_OPTIONS_INIT;
    tamis *filter;
    must(tamis_read(&filter, "host.tamis"));
    tamis_free(filter);
    options.is_trusted = true;
    must(tamis_map_with(&filter, "host.tamis", &options));
    expect(!tamis_has(filter, "cat", 3), "the mapped file answers");
    tamis_free(filter);
}

int main(void) {
    share_a_zone();
    ask_blocks();
    copy_and_cancel();
    map_again();
    return 0;
}
