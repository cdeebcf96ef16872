/* SPDX-License-Identifier: MIT */
/* Hashes of other systems against published values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "foreign/foreign_hashes.h"
#include "foreign/murmur.h"
#include "hash/sip13.h"

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
static uint64_t sip24(const struct tamis_key *key) {
    static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return tamis__sip24(secret, key->bytes, key->len);
}

static uint64_t orc(const struct tamis_key *key) {
    return tamis__murmur3_orc(key);
}
static uint64_t fnv1(const struct tamis_key *key) {
    return tamis__fnv1_64(key);
}

/* clang-format off */
static const struct {
    hash_fn *hash;
    uint64_t values[INPUTS];
} rows[] = {
    {m3_h1, {0, 0x85555565f6597889, 0xb4963f3f3fad7867, 0xffe53dd0983e1695, 0xa2e7c22a053364dd,
             0x4be06d94cf4ad1a7, 0xe82017bf95741128}},
    {m3_h2, {0, 0xe6b53a48510e895a, 0x3ba2744126ca2d52, 0xd9bb04982603e41e, 0x0acaaa4789576479,
             0x87c35b5c63a708da, 0xddc56eb32bc3a99a}},
    {cassandra_h1,
     {0, 0x85555565f6597889, 0xb4963f3f3fad7867, 0xffe53dd0983e1695, 0xafd301862e40ab78,
      0x4be06d94cf4ad1a7, 0xe82017bf95741128}},
    {cassandra_h2,
     {0, 0xe6b53a48510e895a, 0x3ba2744126ca2d52, 0xd9bb04982603e41e, 0xce5239702ba9640a,
      0x87c35b5c63a708da, 0xddc56eb32bc3a99a}},
    {m3_seed_0, {0, 0x3c2569b2, 0xb3dd93fa, 0xa9c0133d, 0x241c0f08, 0x36c7e0df, 0x5dc96aed}},
    {m3_seed_1,
     {0x514e28b7, 0x588adce8, 0xaa75e9ff, 0xc30708c3, 0xc710b672, 0x5394bde2, 0xdb15e0ef}},
    {spark, {0, 0x2b038801, 0xcd632798, 0xe5ea11f2, 0x9032de76, 0x36c7e0df, 0x68a24a60}},
    {m2, {0x106e08d9, 0xa2d0b27c, 0x1c94221b, 0x4fbee528, 0xaf0e73b2, 0x55bca7ac, 0xb6487a99}},
    {hadoop, {0, 0x92685f5e, 0x69d3cf87, 0x2ced81d2, 0x9d987464, 0xcf9af71a, 0x56583b3e}},
    {lookup3, {0xdeadbeef, 0x58d68708, 0x0e397631, 0x2290c2d9, 0x87771fb9, 0x68784a2f, 0x5c5f0254}},
    {m64a, {0, 0x071717d2d36b6b11, 0x9cc9c33498a95efb, 0x3f6973542dd6a4fb, 0x5f7a16b901085d2a,
            0x93a92d1a91a24bc7, 0xeff0d423b15d2bb6}},
    {m64a_redis,
     {0x1ab11ea5a7b2c56e, 0x4292cee227b9150a, 0xca52f3863690cd7b, 0x8600cc686431f57a,
      0x22501d57a62b40b7, 0x73397e4fb095abef, 0xb770745f497731b3}},
    {tamis__xxph3,
     {0x5342c3010fe1dd04, 0x88d868bf607681c7, 0xd39eeb71bb5342e8, 0x08d4e472347a204f,
      0xe3716d102b71067b, 0x402c83c1955d056d, 0x4f2566924257f7f0}},
    {sip24, {0x726fdb47dd0e0e31, 0x2ba3e8e9a71148ca, 0x5dbcfa53aa2007a5, 0x735796c960989f21,
             0x768e89c4da310075, 0xf1e5cc3e61b4ecbd, 0x672fafb2771b23cd}},
    {leveldb, {0xbc9f1d34, 0x286e9db0, 0x855d012f, 0xe4155f8a, 0x3466250c, 0x11f99dc7, 0x05d973c7}},
    {orc, {0x74a18dc8f20adb48, 0xddd9b0af19f61187, 0xc76f181be3eea0ce, 0xbfb6a74f042ed6b5,
           0xbc32b32cb37f129e, 0xb414748da1062980, 0x2a9380c1801af287}},
    {fnv1, {0xcbf29ce484222325, 0xaf63bd4c8601b7be, 0xd8dcca186bafadcb, 0x0d601ec55770021b,
            0xceea3eb38a0640f1, 0x4fa333c33b82ecc1, 0x7b816fbbb3c1b414}},
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

/* One pass gives what two passes give, for every length of the tail. */
static void twice_is_two(void **state) {
    (void)state;
    uint8_t bytes[65];
    for (size_t len = 0; len < 64; len++) {
        const struct tamis_key key = {bytes, len}, longer = {bytes, len + 1};
        tamis_pair pair[2];
        for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)(0x91 * i + len);
        bytes[len] = 1;
        tamis__murmur3_128_twice(&key, pair);
        const tamis_pair one = tamis__murmur3_128(&key, 0), two = tamis__murmur3_128(&longer, 0);
        assert_true(pair[0].h1 == one.h1 && pair[0].h2 == one.h2);
        assert_true(pair[1].h1 == two.h1 && pair[1].h2 == two.h2);
    }
}

/* The list of RFC 1321, cut in two at every position (80 bytes: two blocks). */
static void md5_of_the_rfc(void **state) {
    (void)state;
    static const char *const list[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const size_t len = strlen(list[i][0]);
        for (size_t cut = 0; cut <= len; cut++) {
            const struct tamis_key parts[] = {{list[i][0], cut}, {list[i][0] + cut, len - cut}};
            uint8_t digest[TAMIS_MD5_BYTES];
            char text[2 * TAMIS_MD5_BYTES + 1];
            tamis__md5(parts, 2, digest);
            for (size_t j = 0; j < TAMIS_MD5_BYTES; j++) sprintf(text + 2 * j, "%02x", digest[j]);
            assert_string_equal(text, list[i][1]);
        }
    }
}

/* XXPH3 has code paths that short keys do not reach. */
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

/* The examples of FIPS 180-4, a million letters, and every length around the end of a block. */
static void sha256(void **state) {
    (void)state;
    static const struct {
        const char *text, *digest;
    } rows_of[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                   {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                   {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
                   {NULL, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
    static char letters[1000000];
    uint8_t digest[32], sum[32] = {0};
    char hex[65];
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        const char *text = rows_of[i].text;
        tamis__sha256(text ? text : letters, text ? strlen(text) : sizeof letters, digest);
        for (int j = 0; j < 32; j++) snprintf(hex + 2 * j, 3, "%02x", digest[j]);
        assert_string_equal(hex, rows_of[i].digest);
    }
    for (size_t len = 0; len < 200; len++) {
        tamis__sha256(letters, len, digest);
        for (int j = 0; j < 32; j++) sum[j] ^= digest[j];
    }
    for (int j = 0; j < 32; j++) snprintf(hex + 2 * j, 3, "%02x", sum[j]);
    assert_string_equal(hex, "1e53d01fcb053c9fba4c03f03a78b0b779da5f12bc4d40f760a9266e8d377b15");
}

static void crc_of_redis(void **state) {
    (void)state;
    const uint8_t *digits = (const uint8_t *)"123456789";
    assert_int_equal(tamis__crc64(0, digits, 0), 0);
    assert_int_equal(tamis__crc64(0, digits, 9), 0xe9c6d914c4b8d9ca);
    assert_int_equal(tamis__crc64(tamis__crc64(0, digits, 4), digits + 4, 5), 0xe9c6d914c4b8d9ca);
}

/* RFC 3720, B.4, and the check values of CRC-32C and XXH32. */
static void sums_of_blocks(void **state) {
    (void)state;
    uint8_t bytes[32] = {0};
    assert_int_equal(tamis__crc32c("123456789", 9), 0xe3069283);
    assert_int_equal(tamis__crc32c(bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(tamis__crc32c(bytes, 32), 0x62a8ab43);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    assert_int_equal(tamis__crc32c(bytes, 32), 0x46dd794e);
    assert_int_equal(tamis__xxh32("", 0), 0x02cc5d05);
    assert_int_equal(tamis__xxh32("a", 1), 0x550d7456);
    assert_int_equal(tamis__xxh32("abc", 3), 0x32d153ff);
    assert_int_equal(tamis__xxh32("Nobody inspects the spammish repetition", 39), 0xe2293b2f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value),        cmocka_unit_test(twice_is_two),
        cmocka_unit_test(md5_of_the_rfc),     cmocka_unit_test(sha256),
        cmocka_unit_test(xxph3_of_long_keys), cmocka_unit_test(crc_of_redis),
        cmocka_unit_test(sums_of_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
