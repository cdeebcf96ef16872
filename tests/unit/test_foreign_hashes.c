/* Hashes of other systems against published values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "foreign/lookup3.h"
#include "foreign/murmur.h"
#include "foreign/xxph3.h"

enum { INPUTS = 7 };
static const char *const inputs[INPUTS] = {"",
                                           "a",
                                           "abc",
                                           "alpha",
                                           "caf\xc3\xa9",
                                           "0123456789abcdef",
                                           "0123456789abcdefghijklmnopqrstuvw"};

typedef uint64_t hash_fn(const struct tamis_key *);

static uint64_t m3_h1(const struct tamis_key *key) {
    return tamis__murmur3_128(key, 0).h1;
}
static uint64_t m3_h2(const struct tamis_key *key) {
    return tamis__murmur3_128(key, 0).h2;
}
static uint64_t cassandra_h1(const struct tamis_key *key) {
    return tamis__murmur3_cassandra(key).h1;
}
static uint64_t cassandra_h2(const struct tamis_key *key) {
    return tamis__murmur3_cassandra(key).h2;
}
static uint64_t m3_seed_0(const struct tamis_key *key) {
    return tamis__murmur3_32(key, 0);
}
static uint64_t m3_seed_1(const struct tamis_key *key) {
    return tamis__murmur3_32(key, 1);
}
static uint64_t spark(const struct tamis_key *key) {
    return tamis__murmur3_spark(key, 0);
}
static uint64_t m2(const struct tamis_key *key) {
    return tamis__murmur2_32(key, 0x9747b28c);
}
static uint64_t hadoop(const struct tamis_key *key) {
    return tamis__murmur2_hadoop(key, 0);
}
static uint64_t lookup3(const struct tamis_key *key) {
    return tamis__lookup3(key, 0);
}
static uint64_t m64a(const struct tamis_key *key) {
    return tamis__murmur64a(key, 0);
}
static uint64_t m64a_redis(const struct tamis_key *key) {
    return tamis__murmur64a(key, 0xc6a4a7935bd1e995);
}
static uint64_t leveldb(const struct tamis_key *key) {
    return tamis__murmur1_leveldb(key);
}
static uint64_t rocksdb(const struct tamis_key *key) {
    return tamis__murmur1_rocksdb(key);
}

/* clang-format off */
static const struct {
    hash_fn *hash;
    uint64_t values[INPUTS];
} rows[] = {
    {m3_h1, {0, 0x85555565f6597889, 0xb4963f3f3fad7867, 0xffe53dd0983e1695, 0xa2e7c22a053364dd, 0x4be06d94cf4ad1a7, 0xe82017bf95741128}},
    {m3_h2, {0, 0xe6b53a48510e895a, 0x3ba2744126ca2d52, 0xd9bb04982603e41e, 0x0acaaa4789576479, 0x87c35b5c63a708da, 0xddc56eb32bc3a99a}},
    {cassandra_h1, {0, 0x85555565f6597889, 0xb4963f3f3fad7867, 0xffe53dd0983e1695, 0xafd301862e40ab78, 0x4be06d94cf4ad1a7, 0xe82017bf95741128}},
    {cassandra_h2, {0, 0xe6b53a48510e895a, 0x3ba2744126ca2d52, 0xd9bb04982603e41e, 0xce5239702ba9640a, 0x87c35b5c63a708da, 0xddc56eb32bc3a99a}},
    {m3_seed_0, {0, 0x3c2569b2, 0xb3dd93fa, 0xa9c0133d, 0x241c0f08, 0x36c7e0df, 0x5dc96aed}},
    {m3_seed_1, {0x514e28b7, 0x588adce8, 0xaa75e9ff, 0xc30708c3, 0xc710b672, 0x5394bde2, 0xdb15e0ef}},
    {spark, {0, 0x2b038801, 0xcd632798, 0xe5ea11f2, 0x9032de76, 0x36c7e0df, 0x68a24a60}},
    {m2, {0x106e08d9, 0xa2d0b27c, 0x1c94221b, 0x4fbee528, 0xaf0e73b2, 0x55bca7ac, 0xb6487a99}},
    {hadoop, {0, 0x92685f5e, 0x69d3cf87, 0x2ced81d2, 0x9d987464, 0xcf9af71a, 0x56583b3e}},
    {lookup3, {0xdeadbeef, 0x58d68708, 0x0e397631, 0x2290c2d9, 0x87771fb9, 0x68784a2f, 0x5c5f0254}},
    {m64a, {0, 0x071717d2d36b6b11, 0x9cc9c33498a95efb, 0x3f6973542dd6a4fb, 0x5f7a16b901085d2a, 0x93a92d1a91a24bc7, 0xeff0d423b15d2bb6}},
    {m64a_redis, {0x1ab11ea5a7b2c56e, 0x4292cee227b9150a, 0xca52f3863690cd7b, 0x8600cc686431f57a, 0x22501d57a62b40b7, 0x73397e4fb095abef, 0xb770745f497731b3}},
    {tamis__xxph3, {0x5342c3010fe1dd04, 0x88d868bf607681c7, 0xd39eeb71bb5342e8, 0x08d4e472347a204f, 0xe3716d102b71067b, 0x402c83c1955d056d, 0x4f2566924257f7f0}},
    {leveldb, {0xbc9f1d34, 0x286e9db0, 0x855d012f, 0xe4155f8a, 0x3466250c, 0x11f99dc7, 0x05d973c7}},
    {rocksdb, {0xbc9f1d34, 0x286e9db0, 0x855d012f, 0xe4155f8a, 0x8fbe92b7, 0x11f99dc7, 0x05d973c7}},
};
/* clang-format on */

static void every_value(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < INPUTS; i++) {
            const struct tamis_key key = {inputs[i], strlen(inputs[i])};
            if (rows[r].hash(&key) != rows[r].values[i])
                fail_msg("row %zu: hash of '%s' is %llx", r, inputs[i],
                         (unsigned long long)rows[r].hash(&key));
        }
}

/* XXPH3 has more ways than the short keys show. */
static void xxph3_of_long_keys(void **state) {
    (void)state;
    static const char words[] = "this key is longer than sixteen bytes";
    static const struct {
        char letter;
        size_t len;
        uint64_t value;
    } many[] = {{'z', 130, 0x1695ec370e6a75cd},
                {'y', 241, 0xda2fa8461aaf1796},
                {'w', 1500, 0xa392869ba41b6a14}};
    char bytes[1500];
    const struct tamis_key sentence = {words, sizeof words - 1};
    assert_int_equal(tamis__xxph3(&sentence), 0x4f3f5447c4c0bcb6);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        memset(bytes, many[i].letter, many[i].len);
        const struct tamis_key key = {bytes, many[i].len};
        assert_int_equal(tamis__xxph3(&key), many[i].value);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_value),
                                       cmocka_unit_test(xxph3_of_long_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
