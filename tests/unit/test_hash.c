/* SPDX-License-Identifier: MIT */
/* From key bytes to positions: pinned vectors of every hash, and how the positions of structured
 * keys are distributed.
 *
 * The vectors guarantee that a filter written here stays readable everywhere. They come from other
 * programs: XXH3 and XXH64 from the Python package xxhash 4.1.0 and from libxxhash 0.8.1, which
 * agree; SipHash-1-3 from CPython 3.11, whose hash() of bytes it is, with its key set to
 * 00 01 .. 0f (except the empty string, which CPython does not hash). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "cpu/cpu.h"
#include "hash/hash.h"
#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define SEED           0x9e3779b97f4a7c15

static const char *const modes[] = {"xxh3", "xxh64", "sip13", "mix8"};
static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* A filter that hashes in this mode; its contents do not matter. */
static tamis *hasher(const char *mode, uint64_t seed) {
    const bool is_keyed = strcmp(mode, "sip13") == 0;
    const struct tamis_options options = {.struct_size = sizeof options,
                                          .secret = is_keyed ? secret : NULL};
    char spec[100];
    tamis *f;
    snprintf(spec, sizeof spec, "blocked:capacity=1,hash=%s,seed=%llu", mode,
             (unsigned long long)seed);
    if (tamis_create_with(&f, spec, &options)) fail_msg("'%s' is refused: %s", spec, tamis_why());
    return f;
}

static void assert_hash(const tamis *f, const void *key, size_t len, uint64_t expected) {
    const uint64_t hash = tamis_hash(f, key, len);
    if (hash != expected)
        fail_msg("%zu bytes hash to %016llx, not %016llx", len, (unsigned long long)hash,
                 (unsigned long long)expected);
}

/* ---- Vectors -------------------------------------------------------------------------------- */

/* Byte i of a message is i modulo 251. Lengths are on both sides of every threshold at which a hash
 * switches its method. */
static const struct {
    size_t len;
    uint64_t xxh3, xxh3_seeded, xxh64, xxh64_seeded;
} vectors[] = {
    {0, 0x2d06800538d394c2, 0x602b0e2cd6662c8b, 0xef46db3751d8e999, 0xc4349fc93c010000},
    {1, 0xc44bdff4074eecdb, 0x062b185e4e01441a, 0xe934a84adb052768, 0x126bb57a12364aa5},
    {2, 0xd6645fc3051a9457, 0xde1284c84d99e533, 0x4865a00ba85b7cd6, 0x6ba107945267a142},
    {3, 0x5f4299fc161c9cbb, 0xbe1fd1f503b5d59e, 0xe5c7bb4533bc65dd, 0x67bc6ed5f6c6e4ba},
    {4, 0x60dab036a58211f2, 0x89878861fce0da55, 0xffced8604453cc1e, 0xd89842cd31e24e54},
    {5, 0xb075753a84ca0fbe, 0xe352f0094f481314, 0xdd0274386e26030c, 0xb9d3f14b1100262b},
    {7, 0x0cd2084a62406b69, 0x5a26c54dd24bcadf, 0x14cc643f630c72d2, 0xececf5faa8a7490e},
    {8, 0x3a1c2d7c85af88f8, 0xb82d9ef5fd6b3172, 0x884a173614b81b8d, 0xd18b6d7a5a668732},
    {9, 0xe9612598145bb9dc, 0xfe11eeff350b91ef, 0x67d85784a7c78c5b, 0x5e47193dadb91d9a},
    {15, 0x55ecedc2b87bb042, 0x4d3057ebec4b943e, 0xa948f5f0f6abac2d, 0x7804c1fcfe249577},
    {16, 0x8355e3a6f61770db, 0x3d392960bfd9df8a, 0x44b6ef2fb84169f7, 0x1a1a343e4550d065},
    {17, 0x9ef341a99de37328, 0x89e5f063c641de9f, 0x5603e60c527599b6, 0xfa8565ae182d775c},
    {31, 0x4f36db8e4df378fd, 0xd7526be0fb2917c1, 0xc346d2b59b4d8ee1, 0xf3da6d05709c035d},
    {32, 0x3523581fe96e4c05, 0xe21aad9e4c41f9f8, 0xcbf59c5116ff32b4, 0xa1c89217e9d50750},
    {33, 0xe68c56ba88991e58, 0x3b39cdb25965e390, 0x0c535d1acafb8ead, 0xe6a3c00cd6e74075},
    {63, 0xaaa5f0fb98a36ae8, 0x5947ad355586e0c5, 0xe26aa9e2a95f8e4f, 0x26a0acd772de057e},
    {64, 0x6187eb9089b0ed55, 0x0ed104450790536f, 0xf7c67301db6713f0, 0x2589245e62a1969b},
    {65, 0x6928c76ce90422d0, 0xa87508fa98055c07, 0xc31eb63b2ae4465b, 0xb230fc5f39677b06},
    {127, 0x120b9787f8425f2f, 0xf7cf42b0b1d07ea2, 0x464d085810ce0199, 0x12eb9fa86a05956f},
    {128, 0x85c6174c7ff4c46b, 0x77bf966868f4b200, 0x7a7fe14647b9ab92, 0xa505233797be6d6e},
    {129, 0xec7642b431ba3e5a, 0x747f159fdd2d2177, 0x0ba25dfd6e891fcf, 0xf6332bc096536bc7},
    {240, 0x375a384d957fe865, 0xe6e766db0868c372, 0x012947f0da6a27b1, 0x46d21cf082e236cd},
    {241, 0x02e8cd95421c6d02, 0x172114de208c5a80, 0x8d643f23bf2808e1, 0x0e02b15133270828},
    {256, 0x44f5d90dacde463a, 0xa524ba6e21da4cec, 0xf33944343ee85824, 0x7c4db83068717401},
    {257, 0x88fc3f7934a6c9be, 0x816425f0dcf8e583, 0x9dd5394c26b3c4d8, 0x0a6580716da1d766},
    {512, 0x5c021aac13954143, 0xc89c47dcf28acb44, 0x5e98ad3befbab5dd, 0x18f72c07af875a5d},
    {513, 0x4ee4eacf61b5e833, 0x19c8cf34f758d3d7, 0x6b8f32e8c3a443dd, 0x7d44bc8fbab83d4b},
    {1024, 0xe5d78bafa45b2aa5, 0x19244dd37041be92, 0x138e26c65048ce29, 0x933ef96debcccc9b},
    {1025, 0xe95c42288f28186e, 0xc52f40c41d849838, 0xcfd73aedd2d6a39d, 0x218c7ee266af4a5c},
    {4096, 0x7135ffa504f1bc71, 0xb4bae170d699109c, 0x122a8c8d994ad3ec, 0x212735b5817bd285},
    {10000, 0x1cb3abee1c2fc1c4, 0xb8786eb1a0b35def, 0xb3dba2084c8288c4, 0x3dc07a13d91b429c},
};

static void messages_of_every_length_have_their_xxh3_and_xxh64(void **state) {
    (void)state;
    uint8_t message[10000];
    for (size_t i = 0; i < sizeof message; i++) message[i] = (uint8_t)(i % 251);
    tamis *xxh3 = hasher("xxh3", 0), *xxh3_seeded = hasher("xxh3", SEED);
    tamis *xxh64 = hasher("xxh64", 0), *xxh64_seeded = hasher("xxh64", SEED);
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        assert_hash(xxh3, message, vectors[i].len, vectors[i].xxh3);
        assert_hash(xxh3_seeded, message, vectors[i].len, vectors[i].xxh3_seeded);
        assert_hash(xxh64, message, vectors[i].len, vectors[i].xxh64);
        assert_hash(xxh64_seeded, message, vectors[i].len, vectors[i].xxh64_seeded);
    }
    tamis_free(xxh3), tamis_free(xxh3_seeded), tamis_free(xxh64), tamis_free(xxh64_seeded);
}

/* From the second reader (tests/python), which was written from docs/format.md. */
static void integers_have_their_mix8(void **state) {
    (void)state;
    static const struct {
        uint64_t key, plain, seeded;
    } known[] = {
        {0x0000000000000000, 0xa779e27a06f9da2b, 0x6912aaa86a61e5ba},
        {0x0000000000000001, 0x5c7e0d6c2724d1fb, 0x722286b5ae675b1b},
        {0x000000000000002a, 0xe2c766fa66874127, 0x7b39bbdd1a5af5e7},
        {0x082efa98ec4e6c89, 0x0000000000000000, 0x1d808dbe49e2e905},
        {0x0102030405060708, 0xa05e14630f63b2cc, 0xb643c0a15c480a29},
        {0x0010000000000000, 0x6d9005ff45496f26, 0xb06ade9907c93027},
        {0x8000000000000000, 0x7db3e12d94a10989, 0x33f0108f59b29dfe},
        {0xffffffffffffffff, 0xd19c5158214d47a5, 0x8d9868f3e879e01e},
    };
    tamis *plain = hasher("mix8", 0), *seeded = hasher("mix8", SEED);
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        uint8_t bytes[8];
        tamis__put64(bytes, known[i].key);
        assert_hash(plain, bytes, sizeof bytes, known[i].plain);
        assert_hash(seeded, bytes, sizeof bytes, known[i].seeded);
    }
    tamis_free(plain), tamis_free(seeded);
}

/* Keys of other lengths have the hash of xxh3. */
static void other_keys_have_the_same_mix8_as_xxh3(void **state) {
    (void)state;
    static uint8_t key[300];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)test_number(6, i);
    for (uint64_t s = 0; s < 2; s++) {
        tamis *mix8 = hasher("mix8", s * SEED), *xxh3 = hasher("xxh3", s * SEED);
        for (size_t len = 0; len <= sizeof key; len++)
            assert_int_equal(tamis_hash(mix8, key, len) == tamis_hash(xxh3, key, len), len != 8);
        tamis_free(mix8), tamis_free(xxh3);
    }
}

static void published_texts_have_their_xxh3_and_xxh64(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t xxh3, xxh64;
    } known[] = {
        {"", 0x2d06800538d394c2, 0xef46db3751d8e999},
        {"a", 0xe6c632b61e964e1f, 0xd24ec4f1a98c6e5b},
        {"abc", 0x78af5f94892f3950, 0x44bc2cf5ad770999},
        {"Nobody inspects the spammish repetition", 0x6cb00603b5cc47e9, 0xfbcea83c8a378bf1},
    };
    tamis *xxh3 = hasher("xxh3", 0), *xxh64 = hasher("xxh64", 0);
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        assert_hash(xxh3, known[i].text, strlen(known[i].text), known[i].xxh3);
        assert_hash(xxh64, known[i].text, strlen(known[i].text), known[i].xxh64);
    }
    tamis_free(xxh3), tamis_free(xxh64);
}

/* For the messages "", 00, 0001, 000102, ... */
static const uint64_t sip_vectors[64] = {
    0xabac0158050fc4dc, 0xc9f49bf37d57ca93, 0x82cb9b024dc7d44d, 0x8bf80ab8e7ddf7fb,
    0xcf75576088d38328, 0xdef9d52f49533b67, 0xc50d2b50c59f22a7, 0xd3927d989bb11140,
    0x369095118d299a8e, 0x25a48eb36c063de4, 0x79de85ee92ff097f, 0x70c118c1f94dc352,
    0x78a384b157b4d9a2, 0x306f760c1229ffa7, 0x605aa111c0f95d34, 0xd320d86d2a519956,
    0xcc4fdd1a7d908b66, 0x9cf2689063dbd80c, 0x8ffc389cb473e63e, 0xf21f9de58d297d1c,
    0xc0dc2f46a6cce040, 0xb992abfe2b45f844, 0x7ffe7b9ba320872e, 0x525a0e7fdae6c123,
    0xf464aeb267349c8c, 0x45cd5928705b0979, 0x3a3e35e3ca9913a5, 0xa91dc74e4ade3b35,
    0xfb0bed02ef6cd00d, 0x88d93cb44ab1e1f4, 0x540f11d643c5e663, 0x2370dd1f8c21d1bc,
    0x81157b6c16a7b60d, 0x4d54b9e57a8ff9bf, 0x759f12781f2a753e, 0xcea1a3bebf186b91,
    0x2cf508d3ada26206, 0xb6101c2da3c33057, 0xb3f47496ae3a36a1, 0x626b57547b108392,
    0xc1d2363299e41531, 0x667cc1923f1ad944, 0x65704ffec8138825, 0x24f280d1c28949a6,
    0xc2ca1cedfaf8876b, 0xc2164bfc9f042196, 0xa16e9c9368b1d623, 0x49fb169c8b5114fd,
    0x9f3143f8df074c46, 0xc6fdaf2412cc86b3, 0x7eaf49d10a52098f, 0x1cf313559d292f9a,
    0xc44a30dda2f41f12, 0x36fae98943a71ed0, 0x318fb34c73f0bce6, 0xa27abf3670a7e980,
    0xb4bcc0db243c6d75, 0x23f8d852fdb71513, 0x8f035f4da67d8a08, 0xd89cd0e5b7e8f148,
    0xf6f4e6bcf7a644ee, 0xaec59ad80f1837f2, 0xc3b2f6154b6694e0, 0x9d199062b7bbb3a8,
};

static void messages_of_every_length_have_their_sip13(void **state) {
    (void)state;
    uint8_t message[10000];
    tamis *f = hasher("sip13", 0);
    for (size_t i = 0; i < 64; i++) {
        message[i] = (uint8_t)i;
        assert_hash(f, message, i, sip_vectors[i]);
    }
    for (size_t i = 0; i < sizeof message; i++) message[i] = (uint8_t)(i % 251);
    assert_hash(f, message, 64, 0xf17997ec4b4a6065);
    assert_hash(f, message, 255, 0x08285a76b268c341); /* the hash mixes in one byte of the length */
    assert_hash(f, message, 256, 0xd8aa711758c5b439);
    assert_hash(f, message, 10000, 0x73ba538ccaf44195);
    tamis_free(f);
}

/* Keys may be unaligned: a hash that reads whole words must not care. */
static void the_address_of_a_key_does_not_matter(void **state) {
    (void)state;
    uint8_t room[300 + 16];
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        tamis *f = hasher(modes[m], 0);
        for (size_t len = 0; len <= 300; len += 1 + len / 8)
            for (size_t at = 0; at < 16; at++) {
                for (size_t i = 0; i < len; i++) room[at + i] = (uint8_t)(i * 3);
                const uint64_t hash = tamis_hash(f, room + at, len);
                memmove(room, room + at, len);
                assert_hash(f, room, len, hash);
            }
        tamis_free(f);
    }
}

static void integers_hash_as_their_8_little_endian_bytes(void **state) {
    (void)state;
    static const uint64_t edges[] = {0,         1, 255, 256, 0x0102030405060708, (uint64_t)1 << 63,
                                     UINT64_MAX};
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        tamis *f = hasher(modes[m], 0);
        for (size_t i = 0; i < 1000; i++) {
            const uint64_t key = i < COUNT_OF(edges) ? edges[i] : test_number(1, i);
            uint8_t bytes[8];
            uint64_t hash;
            for (int b = 0; b < 8; b++) bytes[b] = (uint8_t)(key >> 8 * b);
            tamis_hash_u64s(f, &key, 1, &hash);
            assert_hash(f, bytes, sizeof bytes, hash);
            assert_int_equal(tamis_has_u64(f, key), tamis_has(f, bytes, sizeof bytes));
            assert_int_equal(tamis_add_u64(f, key), TAMIS_OK);
            assert_true(tamis_has(f, bytes, sizeof bytes));
        }
        tamis_free(f);
    }
}

/* ---- Seeds and secrets ---------------------------------------------------------------------- */

static void another_seed_is_another_hash(void **state) {
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        if (strcmp(modes[m], "sip13") == 0) continue;
        uint64_t seen[3][64];
        static const uint64_t seeds[3] = {0, 1, UINT64_MAX};
        for (size_t s = 0; s < 3; s++) {
            tamis *f = hasher(modes[m], seeds[s]);
            for (uint64_t i = 0; i < 64; i++) tamis_hash_u64s(f, &i, 1, &seen[s][i]);
            tamis_free(f);
        }
        for (size_t i = 0; i < 64; i++) {
            assert_true(seen[0][i] != seen[1][i]);
            assert_true(seen[0][i] != seen[2][i]);
            assert_true(seen[1][i] != seen[2][i]);
        }
    }
}

/* Every bit of the secret counts. */
static void another_secret_is_another_hash(void **state) {
    (void)state;
    uint64_t seen[129];
    for (unsigned bit = 0; bit <= 128; bit++) {
        tamis_hasher h = {.mode = TAMIS_HASH_SIP13, .key_place = TAMIS_KEY_INSIDE};
        if (bit < 128) h.secret[bit / 8] = (uint8_t)(1 << bit % 8);
        seen[bit] = tamis__hash(&h, "cat", 3);
        for (unsigned other = 0; other < bit; other++) assert_true(seen[bit] != seen[other]);
    }
}

/* An errno left by an earlier interrupted call does not matter. */
static void secrets_are_drawn_after_an_interruption(void **state) {
    (void)state;
    uint8_t drawn[TAMIS_SECRET_BYTES];
    errno = EINTR;
    assert_true(tamis__random_secret(drawn));
    assert_int_equal(errno, EINTR);
    errno = 0;
}

static void wiped_bytes_are_zero(void **state) {
    (void)state;
    static const uint8_t zero[30];
    uint8_t bytes[32];
    memset(bytes, 0xa5, sizeof bytes);
    tamis__wipe(bytes + 1, sizeof zero);
    assert_memory_equal(bytes + 1, zero, sizeof zero);
    assert_true(bytes[0] == 0xa5 && bytes[31] == 0xa5);
}

/* hash=sip13 without a secret draws a new one each time. */
static void drawn_secrets_differ(void **state) {
    (void)state;
    uint64_t ids[16];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        tamis *f;
        struct tamis_info info = TAMIS_INFO_INIT;
        assert_int_equal(tamis_create(&f, "capacity=1,hash=sip13"), TAMIS_OK);
        tamis_measure(f, &info);
        ids[i] = info.key_id;
        for (size_t j = 0; j < i; j++) assert_true(ids[i] != ids[j]);
        tamis_free(f);
    }
}

/* Images carry both numbers; a change here makes every image unreadable. */
static void key_ids_and_self_tests_stay_what_they_are(void **state) {
    (void)state;
    tamis_hasher h = {.mode = TAMIS_HASH_XXH3};
    assert_true(tamis__key_id(&h) == 0);
    assert_true(tamis__hash_self_test(&h) == 0x95257462f3b29738);
    h.seed = 7;
    assert_true(tamis__hash_self_test(&h) == 0x7d353f2d5e675f5d);
    h.mode = TAMIS_HASH_XXH64;
    assert_true(tamis__hash_self_test(&h) == 0x669d5295616f9a64);
    h.seed = 0;
    assert_true(tamis__hash_self_test(&h) == 0x168260fbc7322121);
    assert_true(tamis__key_id(&h) == 0);
    h.mode = TAMIS_HASH_SIP13;
    h.key_place = TAMIS_KEY_INSIDE;
    memcpy(h.secret, secret, sizeof secret);
    assert_true(tamis__hash_self_test(&h) == 0x228b53ff6c13e09d);
    assert_true(tamis__key_id(&h) == 0x2e80eba8c8a89fc3);
    h.key_place = TAMIS_KEY_OUTSIDE;
    assert_true(tamis__key_id(&h) == 0x2e80eba8c8a89fc3);
}

/* ---- Avalanche ------------------------------------------------------------------------------ */

/* Pairs of keys that differ in one bit: every bit of the hash must change in half of them. With
 * 10^6 pairs, chance alone causes a bias of 0.1 % (one sigma); 1 % is the limit. */
static void one_bit_of_the_key_turns_half_of_the_hash(void **state) {
    (void)state;
    enum { PAIRS = 1000000, MAX_LEN = 32 };
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        tamis *f = hasher(modes[m], 0);
        uint32_t turned[64] = {0};
        for (uint64_t i = 0; i < PAIRS; i++) {
            uint8_t key[MAX_LEN];
            for (uint64_t w = 0; w < MAX_LEN / 8; w++)
                tamis__put64(key + 8 * w, test_number(5 + w, i));
            const size_t len = 4 + i % (MAX_LEN - 3); /* shorter keys would repeat */
            const uint64_t before = tamis_hash(f, key, len);
            const size_t bit = (size_t)(test_number(4, i) % (len * 8));
            key[bit / 8] ^= (uint8_t)(1 << bit % 8);
            const uint64_t changed = before ^ tamis_hash(f, key, len);
            for (unsigned out = 0; out < 64; out++) turned[out] += changed >> out & 1;
        }
        double worst = 0;
        for (unsigned out = 0; out < 64; out++) {
            const double bias = fabs(2.0 * turned[out] / PAIRS - 1);
            worst = fmax(worst, bias);
            if (bias >= 0.01) fail_msg("%s: bit %u has a bias of %.4f", modes[m], out, bias);
        }
        print_message("# %-5s worst bias of a bit of the hash %.5f\n", modes[m], worst);
        tamis_free(f);
    }
}

/* The same for each pair of an input and an output bit of an integer. */
static void each_bit_of_an_integer_turns_each_bit_of_the_hash(void **state) {
    (void)state;
    enum { PAIRS = 8192 };
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        tamis *f = hasher(modes[m], 0);
        for (unsigned in = 0; in < 64; in++) {
            uint32_t turned[64] = {0};
            for (uint64_t i = 0; i < PAIRS; i++) {
                const uint64_t key[2] = {test_number(3, i), test_number(3, i) ^ (uint64_t)1 << in};
                uint64_t hash[2];
                tamis_hash_u64s(f, key, 2, hash);
                for (unsigned out = 0; out < 64; out++)
                    turned[out] += (hash[0] ^ hash[1]) >> out & 1;
            }
            for (unsigned out = 0; out < 64; out++)
                if (!test_is_possible(turned[out], PAIRS, 0.5, TEST_ALPHA))
                    fail_msg("%s: bit %u turns bit %u in %u of %d", modes[m], in, out, turned[out],
                             PAIRS);
        }
        tamis_free(f);
    }
}

/* ---- Structured keys ------------------------------------------------------------------------ */

/* Sets of keys that weak hashes stumble over. No key is in two sets, nor twice in one: lengths,
 * first bytes or the numbers themselves keep them apart, and no counter starts at 0. */
enum { COUNTED = 400000, WIDE = 64, ZEROS = 4097, MAX_KEY = 4096 };
enum { ONE_BIT_APART = 1 + WIDE * 8 + WIDE * 8 * (WIDE * 8 - 1) / 2 };

typedef size_t key_writer(uint8_t *key, uint64_t i); /* returns the length */

static size_t counter_little(uint8_t *key, uint64_t i) {
    for (int b = 0; b < 8; b++) key[b] = (uint8_t)((i + 1) >> 8 * b);
    return 8;
}

static size_t counter_big(uint8_t *key, uint64_t i) {
    for (int b = 0; b < 8; b++) key[7 - b] = (uint8_t)((i + 1) >> 8 * b);
    return 8;
}

static size_t put_text(uint8_t *key, const char *prefix, uint64_t i, const char *suffix) {
    return (size_t)sprintf((char *)key, "%s%llu%s", prefix, (unsigned long long)i + 1, suffix);
}

static size_t counter_text(uint8_t *key, uint64_t i) {
    return put_text(key, "", i, "");
}

static size_t common_prefix(uint8_t *key, uint64_t i) {
    return put_text(key, "customer/europe/west/accounts/private/number/", i, "");
}

static size_t url(uint8_t *key, uint64_t i) {
    return put_text(key, "https://www.example.org/shop/item?id=", i, "&lang=en#top");
}

/* One key, then those with one of its bits flipped, then those with two. */
static size_t one_bit_apart(uint8_t *key, uint64_t i) {
    memset(key, 0x55, WIDE);
    if (i == 0) return WIDE;
    uint64_t first = i - 1, second = WIDE * 8;
    if (i > WIDE * 8) /* pairs second > first, one row of a triangle after another */
        for (first = i - 1 - WIDE * 8, second = 1; first >= second; second++) first -= second;
    key[first / 8] ^= (uint8_t)(1 << first % 8);
    if (second < WIDE * 8) key[second / 8] ^= (uint8_t)(1 << second % 8);
    return WIDE;
}

static size_t zeros(uint8_t *key, uint64_t i) {
    memset(key, 0, i);
    return (size_t)i;
}

static const struct {
    const char *name;
    key_writer *write;
    uint32_t n;
} sets[] = {
    {"counters, little-endian", counter_little, COUNTED},
    {"counters, big-endian", counter_big, COUNTED},
    {"counters, text", counter_text, COUNTED},
    {"common prefix", common_prefix, COUNTED},
    {"addresses of pages", url, COUNTED},
    {"one or two bits apart", one_bit_apart, ONE_BIT_APART},
    {"zeros of every length", zeros, ZEROS},
};
enum { ALL_KEYS = 5 * COUNTED + ONE_BIT_APART + ZEROS };

/* Hashes the first n keys of a set; returns the end of the hashes. */
static uint64_t *hash_set(const tamis *f, size_t set, uint32_t n, uint64_t *hashes) {
    uint8_t key[MAX_KEY + 100];
    for (uint32_t i = 0; i < n; i++) {
        const size_t len = sets[set].write(key, i);
        *hashes++ = tamis_hash(f, key, len);
    }
    return hashes;
}

/* Inserts a hash into a table of twice as many slots; false if it is there already. */
static bool is_new(uint64_t *table, uint64_t slots, uint64_t hash) {
    uint64_t at = hash % slots;
    for (; table[at]; at = (at + 1) % slots)
        if (table[at] == hash) return false;
    table[at] = hash;
    return true;
}

/* By chance, two of these keys have equal 64-bit hashes once in 10^7 runs. */
static void two_million_short_keys_have_distinct_hashes(void **state) {
    (void)state;
    const uint64_t slots = 2 * ALL_KEYS;
    uint64_t *hashes = malloc(ALL_KEYS * sizeof *hashes);
    assert_non_null(hashes);
    assert_true(ALL_KEYS >= 2000000);
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        tamis *f = hasher(modes[m], 0);
        uint64_t *end = hashes, *table = calloc(slots, sizeof *table);
        assert_non_null(table);
        for (size_t s = 0; s < COUNT_OF(sets); s++) end = hash_set(f, s, sets[s].n, end);
        assert_int_equal(end - hashes, ALL_KEYS);
        for (size_t i = 0; i < ALL_KEYS; i++) {
            assert_true(hashes[i] != 0); /* 0 means an empty slot */
            if (!is_new(table, slots, hashes[i]))
                fail_msg("%s: two keys hash to %016llx", modes[m], (unsigned long long)hashes[i]);
        }
        free(table);
        tamis_free(f);
    }
    free(hashes);
}

/* ---- Positions ------------------------------------------------------------------------------ */

enum { UNITS = 4096, MAX_PLACED = 100000 };

/* The deviation of a chi-square in standard deviations (Wilson and Hilferty 1931). */
static double sigmas_off(const uint32_t *count, unsigned buckets, double n) {
    const double expected = n / buckets, df = buckets - 1;
    double sum = 0;
    for (unsigned i = 0; i < buckets; i++) sum += (count[i] - expected) * (count[i] - expected);
    return (cbrt(sum / expected / df) - 1 + 2 / (9 * df)) / sqrt(2 / (9 * df));
}

/* Two-sided: a spread that is too even does not come from a hash either. */
static const double sigmas_allowed = 6.11; /* TEST_ALPHA for both tails together */

static void assert_even(const uint32_t *count, unsigned buckets, double n, const char *what,
                        const char *set) {
    const double off = sigmas_off(count, buckets, n);
    if (fabs(off) > sigmas_allowed)
        fail_msg("%s of %s: %.1f sigmas off over %u buckets", what, set, off, buckets);
}

/* Few keys get few buckets: chi-square needs several keys in each. */
static unsigned buckets_for(uint32_t n) {
    return n >= 10 * UNITS ? UNITS : 64;
}

static uint32_t placed(size_t set) {
    return sets[set].n < MAX_PLACED ? sets[set].n : MAX_PLACED;
}

/* Tests the test: it must reject a spread that is uneven or too even. */
static void an_uneven_spread_is_noticed(void **state) {
    (void)state;
    uint32_t biased[UNITS] = {0}, counted[UNITS] = {0}, fair[UNITS] = {0};
    for (uint64_t i = 0; i < MAX_PLACED; i++) {
        const uint64_t hash = test_number(9, i);
        fair[hash % UNITS]++;
        biased[hash % UNITS / (i % 10 ? 1 : 2)]++; /* a tenth of the keys loses one bit */
        counted[i % UNITS]++;                      /* a counter taken for a hash */
    }
    assert_true(fabs(sigmas_off(fair, UNITS, MAX_PLACED)) < sigmas_allowed);
    assert_true(sigmas_off(biased, UNITS, MAX_PLACED) > sigmas_allowed);
    assert_true(sigmas_off(counted, UNITS, MAX_PLACED) < -sigmas_allowed);
}

static void top_bits_are_even_in_every_mode(void **state) {
    (void)state;
    uint64_t *hashes = malloc(MAX_PLACED * sizeof *hashes);
    assert_non_null(hashes);
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        tamis *f = hasher(modes[m], 0);
        for (size_t s = 0; s < COUNT_OF(sets); s++) {
            const uint32_t n = placed(s);
            const unsigned buckets = buckets_for(n);
            uint32_t top[UNITS] = {0}, low[UNITS] = {0};
            hash_set(f, s, n, hashes);
            for (uint32_t i = 0; i < n; i++) {
                top[tamis__range(hashes[i], buckets)]++;
                low[hashes[i] % buckets]++;
            }
            assert_even(top, buckets, n, modes[m], sets[s].name);
            assert_even(low, buckets, n, modes[m], sets[s].name);
        }
        tamis_free(f);
    }
    free(hashes);
}

/* A body of a kind in our own memory, so that it can be cleared after every key. */
typedef struct bench {
    const tamis_kind *kind;
    tamis_body body;
    uint64_t block_bytes; /* 0 for kinds that set bits anywhere */
} bench;

static bool is_word(const struct tamis_plan *plan, const char *name) {
    for (int i = 0; i < TAMIS_WORDS; i++)
        if (plan->word_name[i] && strcmp(plan->word_name[i], name) == 0) return true;
    return false;
}

static bool set_up(bench *b, const char *spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan)) return false;
    b->kind = tamis__kind_by_name(plan.kind, strlen(plan.kind))->kind;
    b->body = (tamis_body){.kind = b->kind, .size = plan.payload_bytes};
    memcpy(b->body.word, plan.word, sizeof plan.word);
    b->body.bytes = calloc(1, plan.payload_bytes);
    b->block_bytes = is_word(&plan, "blocks") ? plan.payload_bytes / UNITS : 0;
    assert_non_null(b->body.bytes);
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i]) return false;
    return true;
}

static void tear_down(bench *b) {
    if (!is_zero(b->body.bytes, b->body.size)) fail_msg("%s set bits elsewhere", b->kind->name);
    free(b->body.bytes);
}

/* Adds one hash to the empty body, returns its unit, copies its block, if any, to `block` and
 * clears the body again. Folding and partitioning rely on the block index being the hash scaled to
 * the number of blocks; a bit elsewhere shows in tear_down. */
static unsigned unit_of(bench *b, uint64_t hash, uint8_t block[64]) {
    assert_int_equal(b->kind->add(&b->body, tamis__hashes(&hash, 1)), TAMIS_OK);
    if (b->block_bytes) {
        const unsigned unit = (unsigned)tamis__range(hash, UNITS);
        memcpy(block, b->body.bytes + unit * b->block_bytes, b->block_bytes);
        memset(b->body.bytes + unit * b->block_bytes, 0, b->block_bytes);
        return unit;
    }
    unsigned unit = UNITS;
    for (unsigned w = 0; w < UNITS / 64; w++) {
        const uint64_t word = tamis__get64(b->body.bytes + 8 * w);
        if (word) unit = w * 64 + (unsigned)__builtin_ctzll(word);
        tamis__put64(b->body.bytes + 8 * w, 0);
    }
    assert_true(unit < UNITS);
    return unit;
}

/* Specs that give a kind 4096 bits with one probe, or 4096 blocks; value cells get one bit. */
static bool bench_of(bench *b, const struct tamis_kind_info *info) {
    char spec[200];
    static const char *const params[] = {"bits=4096,hashes=1,value=1", "bits=4096,hashes=1",
                                         "bits=4096", "bits=2097152", "bits=1048576"};
    if (info->abilities & TAMIS_OWN_HASH) return false;
    if (!(info->abilities & TAMIS_ADDS_ONCE))
        return false; /* cells, whose bits are not positions */
    for (size_t w = 0; w < COUNT_OF(params); w++) {
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        snprintf(spec, sizeof spec, "%s:capacity=1000,%s", info->name, params[w]);
        if (tamis_plan_spec(spec, &plan)) continue;
        for (int i = 0; i < TAMIS_WORDS; i++)
            if (plan.word[i] == UNITS && plan.word_name[i] &&
                (!strcmp(plan.word_name[i], "bits") || !strcmp(plan.word_name[i], "blocks")))
                return set_up(b, spec);
    }
    return false;
}

static void positions_of_every_kind_are_even(void **state) {
    (void)state;
    unsigned kinds = 0;
    uint64_t *hashes = malloc(MAX_PLACED * sizeof *hashes);
    tamis *f = hasher("xxh3", 0);
    assert_non_null(hashes);
    for (size_t k = 0; k < tamis_kind_count(); k++) {
        struct tamis_kind_info info = TAMIS_KIND_INFO_INIT;
        bench b;
        assert_true(tamis_kind_at(k, &info));
        if (!bench_of(&b, &info)) continue;
        for (size_t s = 0; s < COUNT_OF(sets); s++) {
            const uint32_t n = placed(s);
            const unsigned buckets = buckets_for(n);
            uint32_t count[UNITS] = {0};
            uint8_t block[64];
            hash_set(f, s, n, hashes);
            for (uint32_t i = 0; i < n; i++)
                count[unit_of(&b, hashes[i], block) / (UNITS / buckets)]++;
            assert_even(count, buckets, n, info.name, sets[s].name);
        }
        tear_down(&b);
        kinds++;
    }
    assert_true(kinds >= 3);
    tamis_free(f);
    free(hashes);
}

/* Two lanes of a block together: if their bits depended on each other, pairs would show it. */
static void bits_inside_a_block_are_even_in_pairs(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        unsigned lane_bytes;
    } lanes[] = {{"blocked:capacity=1000,bits=2097152,hashes=8", 8},
                 {"split:capacity=1000,bits=1048576", 4}};
    uint64_t *hashes = malloc(MAX_PLACED * sizeof *hashes);
    tamis *f = hasher("xxh3", 0);
    assert_non_null(hashes);
    for (size_t l = 0; l < COUNT_OF(lanes); l++) {
        bench b;
        assert_true(set_up(&b, lanes[l].spec));
        const unsigned bytes = lanes[l].lane_bytes, width = bytes * 8;
        for (size_t s = 0; s < 6; s++) { /* the sets with enough keys */
            const uint32_t n = placed(s);
            static uint32_t count[8][UNITS];
            memset(count, 0, sizeof count);
            hash_set(f, s, n, hashes);
            for (uint32_t i = 0; i < n; i++) {
                uint8_t block[64];
                unsigned at[8];
                unit_of(&b, hashes[i], block);
                for (unsigned j = 0; j < 8; j++) {
                    const uint8_t *lane = block + j * bytes;
                    const uint64_t word = bytes == 8 ? tamis__get64(lane) : tamis__get32(lane);
                    assert_true(word && !(word & (word - 1))); /* one bit in each lane */
                    at[j] = (unsigned)__builtin_ctzll(word);
                }
                for (unsigned j = 0; j < 8; j++) count[j][at[j] * width + at[(j + 1) % 8]]++;
            }
            for (unsigned j = 0; j < 8; j++)
                assert_even(count[j], width * width, n, lanes[l].spec, sets[s].name);
        }
        tear_down(&b);
    }
    tamis_free(f);
    free(hashes);
}

/* First and second probe of every scheme of classic: the second alone, and both in pairs. */
static void successive_probes_are_even_in_pairs(void **state) {
    (void)state;
    static const char *const schemes[] = {"mcg",      "double64", "double",
                                          "enhanced", "triple",   "seeds"};
    uint64_t *hashes = malloc(MAX_PLACED * sizeof *hashes);
    tamis *f = hasher("xxh3", 0);
    assert_non_null(hashes);
    for (size_t c = 0; c < COUNT_OF(schemes); c++) {
        char spec[100];
        bench one, two;
        snprintf(spec, sizeof spec, "classic:capacity=1000,bits=4096,hashes=1,scheme=%s",
                 schemes[c]);
        assert_true(set_up(&one, spec));
        snprintf(spec, sizeof spec, "classic:capacity=1000,bits=4096,hashes=2,scheme=%s",
                 schemes[c]);
        assert_true(set_up(&two, spec));
        for (size_t s = 0; s < 6; s += 2) {
            const uint32_t n = placed(s);
            uint32_t second[UNITS] = {0}, pair[UNITS] = {0};
            uint8_t block[64];
            hash_set(f, s, n, hashes);
            for (uint32_t i = 0; i < n; i++) {
                const unsigned a = unit_of(&one, hashes[i], block);
                assert_int_equal(two.kind->add(&two.body, tamis__hashes(&hashes[i], 1)), TAMIS_OK);
                uint8_t *byte = &two.body.bytes[a / 8];
                assert_true(*byte >> a % 8 & 1); /* the first probe is the same for two */
                *byte ^= (uint8_t)(1 << a % 8);
                unsigned b = a; /* both may be the same bit */
                for (unsigned w = 0; w < UNITS / 64; w++) {
                    const uint64_t word = tamis__get64(two.body.bytes + 8 * w);
                    if (word) b = w * 64 + (unsigned)__builtin_ctzll(word);
                    tamis__put64(two.body.bytes + 8 * w, 0);
                }
                second[b]++;
                pair[a / 64 * 64 + b / 64]++;
            }
            assert_even(second, UNITS, n, schemes[c], sets[s].name);
            assert_even(pair, UNITS, n, schemes[c], sets[s].name);
        }
        tear_down(&one);
        tear_down(&two);
    }
    tamis_free(f);
    free(hashes);
}

/* Every batch size: full vectors and the rest. */
static void many_integers_hash_as_one_by_one(void **state) {
    (void)state;
    enum { MAX = 70 };
    const uint32_t cpus[] = {0, TAMIS_CPU_AVX2, TAMIS_CPU_ALL};
    uint64_t keys[MAX], hashes[MAX + 1];
    for (size_t i = 0; i < MAX; i++) keys[i] = i < 3 ? (uint64_t)0 - i : test_number(2, i);
    for (size_t m = 0; m < COUNT_OF(modes) * 3 * COUNT_OF(cpus); m++) {
        const uint64_t seeds[] = {0, SEED, UINT64_MAX};
        const char *mode = modes[m % COUNT_OF(modes)];
        const bool is_keyed = strcmp(mode, "sip13") == 0;
        tamis *f = hasher(mode, is_keyed ? 0 : seeds[m / COUNT_OF(modes) % 3]);
        tamis__cpu_set(cpus[m / (3 * COUNT_OF(modes))]);
        for (size_t n = 0; n <= MAX; n++) {
            hashes[n] = 42;
            tamis_hash_u64s(f, keys, n, hashes);
            assert_int_equal(hashes[n], 42);
            for (size_t i = 0; i < n; i++) {
                uint8_t bytes[8];
                tamis__put64(bytes, keys[i]);
                assert_hash(f, bytes, sizeof bytes, hashes[i]);
            }
        }
        tamis_free(f);
    }
    tamis__cpu_set(TAMIS_CPU_ALL);
}

/* Rows of every width, and strings in a list. */
static void rows_and_lists_hash_as_one_by_one(void **state) {
    (void)state;
    enum { ROWS = 9, WIDEST = 300 };
    static uint8_t rows[ROWS * WIDEST];
    for (size_t i = 0; i < sizeof rows; i++) rows[i] = (uint8_t)test_number(3, i);
    for (size_t m = 0; m < COUNT_OF(modes) * 2; m++) {
        const char *mode = modes[m % COUNT_OF(modes)];
        const bool is_seeded = m >= COUNT_OF(modes) && strcmp(mode, "sip13") != 0;
        const tamis_hasher h = {.mode = (tamis_hash_mode)(TAMIS_HASH_XXH3 + m % COUNT_OF(modes)),
                                .seed = is_seeded ? SEED : 0};
        for (size_t width = 0; width <= WIDEST; width++) {
            struct tamis_key keys[ROWS];
            uint64_t packed[ROWS + 1], listed[ROWS + 1];
            packed[ROWS] = listed[ROWS] = 42;
            for (size_t i = 0; i < ROWS; i++) keys[i] = (struct tamis_key){rows + i * width, width};
            tamis__hash_packed(&h, rows, width, ROWS, packed);
            tamis__hash_strings(&h, keys, ROWS, listed);
            for (size_t i = 0; i < ROWS; i++) {
                assert_int_equal(packed[i], tamis__hash(&h, rows + i * width, width));
                assert_int_equal(listed[i], packed[i]);
            }
            assert_true(packed[ROWS] == 42 && listed[ROWS] == 42);
        }
    }
}

/* The key is its only piece. */
static const void *one_piece(void *ctx, size_t *len) {
    const struct tamis_key **next = ctx, *key = *next;
    *next = NULL;
    if (!key) return NULL;
    *len = key->len;
    return key->bytes;
}

/* A kind that hashes keys itself has no hash here: every function gives 0. */
static void no_mode_no_hash(void **state) {
    (void)state;
    const tamis_hasher h = {.mode = TAMIS_HASH_OWN};
    const uint64_t number = 7;
    const struct tamis_key key = {&number, sizeof number}, *next = &key;
    uint64_t hashes[4] = {1, 1, 1, 1};
    tamis__hash_strings(&h, &key, 1, &hashes[0]);
    tamis__hash_packed(&h, key.bytes, key.len, 1, &hashes[1]);
    tamis__hash_u64s(&h, &number, 1, &hashes[2]);
    hashes[3] = tamis__hash_pieces(&h, one_piece, &next);
    for (size_t i = 0; i < COUNT_OF(hashes); i++) assert_int_equal(hashes[i], 0);
}

/* Strings of many lengths, at either end of a page between two protected ones. */
static void lists_of_mixed_lengths_hash_as_one_by_one(void **state) {
    (void)state;
    enum { KEYS = 64, ROUNDS = 300, LONGEST = 60 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *room =
        mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    assert_int_equal(mprotect(room, page, PROT_NONE) | mprotect(room + 2 * page, page, PROT_NONE),
                     0);
    for (size_t i = 0; i < page; i++) room[page + i] = (uint8_t)test_number(5, i);
    tamis_hasher h = {.mode = TAMIS_HASH_SIP13};
    for (size_t i = 0; i < sizeof h.secret; i++) h.secret[i] = (uint8_t)(7 * i + 1);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct tamis_key keys[KEYS];
        uint64_t hashes[KEYS];
        for (size_t i = 0; i < KEYS; i++) {
            const size_t len = test_number(6, round * KEYS + i) % (round % 2 ? LONGEST : 12);
            keys[i] = (struct tamis_key){room + (i % 3 ? 2 * page - len : page), len};
        }
        tamis__hash_strings(&h, keys, KEYS - round % 9, hashes);
        for (size_t i = 0; i < KEYS - round % 9; i++)
            assert_int_equal(hashes[i], tamis__hash(&h, keys[i].bytes, keys[i].len));
    }
    assert_int_equal(munmap(room, 3 * page), 0);
}

/* A key in pieces: what is left of it, and the turn, which sets the length of the next piece. */
struct pieces {
    const uint8_t *at;
    size_t left, turn;
};

/* 1 byte, 2, ..., 19, none, 1 again: whole words and parts of them, at every offset. */
static const void *next_piece(void *ctx, size_t *len) {
    struct pieces *pieces = ctx;
    if (pieces->left == 0) return NULL;
    const size_t wanted = ++pieces->turn % 20;
    *len = wanted < pieces->left ? wanted : pieces->left;
    const uint8_t *piece = pieces->at;
    pieces->at += *len;
    pieces->left -= *len;
    return piece;
}

static void pieces_hash_as_the_whole(void **state) {
    (void)state;
    static uint8_t key[3000];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)test_number(4, i);
    for (size_t m = 0; m < COUNT_OF(modes) * 2; m++) {
        const char *mode = modes[m % COUNT_OF(modes)];
        const bool is_seeded = m >= COUNT_OF(modes) && strcmp(mode, "sip13") != 0;
        tamis *f = hasher(mode, is_seeded ? SEED : 0);
        for (size_t len = 0; len <= sizeof key; len += 1 + len / 9) { /* 8 too */
            struct pieces pieces = {.at = key, .left = len, .turn = len};
            assert_hash(f, key, len, tamis_hash_pieces(f, next_piece, &pieces));
        }
        tamis_free(f);
    }
}

/* ---- Keys of more than 4 GiB ----------------------------------------------------------------- */

static sigjmp_buf outside_the_page;

static void leave_page(int signal_number) {
    (void)signal_number;
    siglongjmp(outside_the_page, 1);
}

typedef void hashes_key(const tamis *, const struct tamis_key *);

static void by_hash(const tamis *f, const struct tamis_key *key) {
    tamis_hash(f, key->bytes, key->len);
}

static void by_query(const tamis *f, const struct tamis_key *key) {
    tamis_has(f, key->bytes, key->len);
}

static void by_list(const tamis *f, const struct tamis_key *key) {
    uint64_t hash;
    tamis_hash_many(f, key, 1, &hash);
}

static void by_pieces(const tamis *f, const struct tamis_key *key) {
    tamis_hash_pieces(f, one_piece, &key);
}

/* Only one page of a key of 2^32 + 5 bytes is readable: a hash that reads far beyond its first 5
 * bytes leaves that page and faults. Hashing it whole would take seconds. */
static bool reads_on(const tamis *f, hashes_key *hashes, const struct tamis_key *key) {
    struct sigaction old[2], now = {.sa_handler = leave_page, .sa_flags = SA_NODEFER};
    volatile bool has_left = false;
    sigaction(SIGSEGV, &now, &old[0]);
    sigaction(SIGBUS, &now, &old[1]);
    if (sigsetjmp(outside_the_page, 1) == 0)
        hashes(f, key);
    else
        has_left = true;
    sigaction(SIGSEGV, &old[0], NULL);
    sigaction(SIGBUS, &old[1], NULL);
    return has_left;
}

static void a_length_has_64_bits(void **state) {
    (void)state;
    if (sizeof(size_t) < 8) skip();
    static hashes_key *const ways[] = {by_hash, by_query, by_list, by_pieces};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), len = (size_t)(((uint64_t)1 << 32) + 5);
    uint8_t *room = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    assert_int_equal(mprotect(room, page, PROT_READ), 0);
    const struct tamis_key key = {room, len}, tiny = {room, 5};
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (size_t w = 0; w < COUNT_OF(ways); w++) {
            tamis *f = hasher(modes[m], 0);
            if (reads_on(f, ways[w], &tiny) || !reads_on(f, ways[w], &key))
                fail_msg("%s cuts a length, way %zu", modes[m], w);
            tamis_free(f);
        }
    assert_int_equal(munmap(room, len), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_has_64_bits),
        cmocka_unit_test(pieces_hash_as_the_whole),
        cmocka_unit_test(messages_of_every_length_have_their_xxh3_and_xxh64),
        cmocka_unit_test(integers_have_their_mix8),
        cmocka_unit_test(other_keys_have_the_same_mix8_as_xxh3),
        cmocka_unit_test(published_texts_have_their_xxh3_and_xxh64),
        cmocka_unit_test(messages_of_every_length_have_their_sip13),
        cmocka_unit_test(the_address_of_a_key_does_not_matter),
        cmocka_unit_test(integers_hash_as_their_8_little_endian_bytes),
        cmocka_unit_test(many_integers_hash_as_one_by_one),
        cmocka_unit_test(rows_and_lists_hash_as_one_by_one),
        cmocka_unit_test(no_mode_no_hash),
        cmocka_unit_test(lists_of_mixed_lengths_hash_as_one_by_one),
        cmocka_unit_test(another_seed_is_another_hash),
        cmocka_unit_test(another_secret_is_another_hash),
        cmocka_unit_test(secrets_are_drawn_after_an_interruption),
        cmocka_unit_test(wiped_bytes_are_zero),
        cmocka_unit_test(drawn_secrets_differ),
        cmocka_unit_test(key_ids_and_self_tests_stay_what_they_are),
        cmocka_unit_test(one_bit_of_the_key_turns_half_of_the_hash),
        cmocka_unit_test(each_bit_of_an_integer_turns_each_bit_of_the_hash),
        cmocka_unit_test(two_million_short_keys_have_distinct_hashes),
        cmocka_unit_test(an_uneven_spread_is_noticed),
        cmocka_unit_test(top_bits_are_even_in_every_mode),
        cmocka_unit_test(positions_of_every_kind_are_even),
        cmocka_unit_test(bits_inside_a_block_are_even_in_pairs),
        cmocka_unit_test(successive_probes_are_even_in_pairs),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
