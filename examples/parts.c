/* SPDX-License-Identifier: MIT */
/* parts.c: a filter that is cut for several machines and joined again, and what other systems want
 * of theirs: sizes as Parquet's writers choose them, headers of Bitcoin's block filters. */
#include <string.h>
#include <tamis_engine.h>
#include <tamis_formats.h>
#include <tamis_parts.h>
#include <tamis_special.h>

#include "must.h"

enum { SHARDS = 3 };
static tamis *shard[SHARDS];

static const tamis *next_shard(void *ctx, uint64_t i) {
    (void)ctx;
    return shard[i];
}

static void cut_and_join(void) {
    tamis *whole, *joined, *read;
    uint64_t size, joined_size;
    must(tamis_create(&whole, "split:capacity=10K,fpr=1%"));
    for (uint64_t i = 0; i < 10000; i++) must(tamis_add_u64(whole, i));
    for (uint64_t i = 0; i < SHARDS; i++) must(tamis_shard_cut(&shard[i], whole, i, SHARDS, NULL));
    must(tamis_shard_join(&joined, (const tamis *const *)shard, SHARDS, NULL));
    const void *a = tamis_payload(whole, &size), *b = tamis_payload(joined, &joined_size);
    expect(size == joined_size && memcmp(a, b, (size_t)size) == 0, "the shards make the whole");
    must(tamis_shard_join_to("whole.tamis", next_shard, NULL)); /* when it is larger than memory */
    must(tamis_read(&read, "whole.tamis"));
    expect(tamis_has_u64(read, 77), "and so they do in a file");
    for (uint64_t i = 0; i < SHARDS; i++) tamis_free(shard[i]);
    tamis_free(whole);
    tamis_free(joined);
    tamis_free(read);
}

static void sizes_of_parquet(void) {
    static const char *const writers[] = {"duckdb", "parquet-java", "arrow", "parquet-rs"};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        printf("%-13s %8llu bytes for 100,000 values\n", writers[i],
               (unsigned long long)tamis_parquet_bytes(writers[i], 100000, 0.01));
}

static void headers_of_blocks(void) {
    static const uint8_t before_the_first[32];
    uint8_t hash[32], header[32];
    tamis_builder *builder;
    tamis *block;
    must(tamis_builder_create(&builder, "bip158:capacity=2,key0=1,key1=2", 0, NULL));
    must(tamis_builder_add(builder, "a script", 8));
    must(tamis_builder_add(builder, "another", 7));
    must(tamis_builder_finish(builder, &block));
    must(tamis_bip158_hash(block, hash));
    must(tamis_bip158_header(block, before_the_first, header));
    expect(memcmp(hash, header, sizeof hash) != 0, "a header chains the hash to the one before");
    tamis_builder_free(builder);
    tamis_free(block);
}

/* What is one hop away, and two? */
static void levels_of_a_link(void) {
    tamis *near, *far;
    must(tamis_create(&near, "attenuated:capacity=100,fpr=1e-6,levels=3"));
    must(tamis_create(&far, "attenuated:capacity=100,fpr=1e-6,levels=3"));
    must(tamis_add(near, "printer", 7));
    must(tamis_add(far, "scanner", 7));
    must(tamis_merge_farther(near, far));
    expect(tamis_level(near, "printer", 7) == 1, "the printer is at the neighbour");
    expect(tamis_level_hash(near, tamis_hash(near, "scanner", 7)) == 2, "the scanner one hop on");
    tamis_free(near);
    tamis_free(far);
}

int main(void) {
    cut_and_join();
    sizes_of_parquet();
    headers_of_blocks();
    levels_of_a_link();
    return 0;
}
