#!/bin/bash
# SPDX-License-Identifier: MIT
# The museum: mistakes that real filter software shipped, M1 to M30, and attacks that were published
# against it, A1 to A21, planted into ours one by one; the named test must go red for each. Where a
# fault of another script shows the same, it has the number in its name there. docs/proof.md lists all of
# them with their origins.
#
#     number: fault   unit NAME | laws LAW | house NAME | redis NAME   file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"

# Every number has a fault in some script, and a line in docs/proof.md.
for number in M{1..30} A{1..21}; do
    n=$((n + 1))
    if grep -qE "plant \"([^\"]*, )?$number[:,]" tests/proof/planted*.sh && grep -q "^| $number |" docs/proof.md; then
        tell ok "$number is in the museum"
    else
        tell "not ok" "$number has no fault, or no line in docs/proof.md"
    fi
done

prepare include src cli engines tests -- build/libtamis.a

try() { # unit NAME | laws LAW | house NAME | redis NAME
    case $1 in
    unit | laws)
        local program=build/tests/laws/laws
        [ "$1" = laws ] || program=build/tests/unit/$2
        make -s -j2 CFLAGS=-O1 "$program" >build.log 2>&1 || return 2
        if [ "$1" = laws ]; then limited "$program" "$2"; else limited "$program"; fi >test.log 2>&1 &&
            grep -q '^ok' test.log || return 1
        ;;
    house)
        make -s -j2 CFLAGS=-O1 all >build.log 2>&1 || return 2
        B=build limited "tests/house/$2.sh" >test.log 2>&1 || return 1
        ;;
    redis)
        command -v redis-server >test.log || return 3
        make -s -j2 CFLAGS=-O1 build/tamis-redis.so >build.log 2>&1 || return 2
        TAMIS_REDIS=$PWD/build/tamis-redis.so limited "tests/redis/$2" >test.log 2>&1 || return 1
        ;;
    esac
}

# ---- Numbers and places -------------------------------------------------------------------------

plant "M1: a position has 32 bits" unit test_huge \
    src/kinds/bloom.h "return tamis__range(tamis__chain_turn(x), cells);" "return (uint32_t)tamis__range(tamis__chain_turn(x), cells);"
plant "M1: a number of bits is planned with 32 bits" unit test_huge \
    src/kinds/bloom.c "*bits = tamis__round_to_fold(min, WORD_BITS, MAX_BITS);" "*bits = tamis__round_to_fold((uint32_t)min, WORD_BITS, MAX_BITS);"
plant "M4: a hash leaves every other word of a key out" unit test_hash \
    src/hash/hash.c "case TAMIS_HASH_XXH64: return XXH64(key, len, h->seed);
    case TAMIS_HASH_SIP13: return tamis__sip13(h->secret, key, len);
    case TAMIS_HASH_MIX8:" "case TAMIS_HASH_XXH64: return XXH64(key, len / 2, h->seed);
    case TAMIS_HASH_SIP13: return tamis__sip13(h->secret, key, len);
    case TAMIS_HASH_MIX8:"
plant "M6: the number of hashes is one too low" unit test_rates \
    src/math/rates.c "return (unsigned)(tamis_rate_approx(keys, bits, best + 1) < below ? best + 1 : best);" \
    "return (unsigned)(tamis_rate_approx(keys, bits, best + 1) < below ? best : best);"
plant "M8: stages of a growing filter share nothing" laws "growth_keeps_rate: scalable" \
    src/kinds/scalable.c ".fpr = share_of(word, stage)};" ".fpr = share_of(word, 0)};"
plant "M9: sizes are rounded up to a power of two" unit test_plans \
    src/kinds/bloom.c "*bits = tamis__round_to_fold(min, WORD_BITS, MAX_BITS);" "*bits = (uint64_t)64 << tamis__log2_floor((min + 63) / 64);"
plant "M22: the length of a key has 32 bits" unit test_hash \
    src/hash/hash.c ": XXH3_64bits(key, len);
    case TAMIS_HASH_XXH64" ": XXH3_64bits(key, (uint32_t)len);
    case TAMIS_HASH_XXH64"
plant "M22: the length of a key in a list has 32 bits" unit test_hash \
    src/hash/hash.c "default: return XXH3_64bits(key, len);" "default: return XXH3_64bits(key, (uint32_t)len);"

# ---- Bits and cells -----------------------------------------------------------------------------

TAMIS_CPU=plain plant "M5: the last probe is not looked at" laws "every_bit_counts: classic" \
    src/kinds/rounds.h "i < end; i++) ok &= tamis__probe(passes, p, &x);" \
    "i < end; i++) ok &= tamis__probe(passes, p, &x) || i + 1 == p->hashes;"
plant "M11: counters are merged as bits" laws "programs_agree_with_a_model: counting" \
    src/kinds/counters.c "if (more) tamis__cell_add(into, i, more);" "if (more && !tamis__cell_get(into, i)) tamis__cell_add(into, i, more);"
plant "M12: who was pushed out is lost" unit test_tables \
    src/kinds/cuckoo.c "|| make_way(*t, &p) || stash_put(f, p);" "|| make_way(*t, &p) || stash_put(f, p) || true;"
plant "M13: a bit that is set twice is clear" laws "duplicates_harmless: classic" \
    src/kinds/bloom.c "    tamis__bit_set(p->bytes, cell);" "    p->bytes[cell / 8] ^= (uint8_t)(1u << cell % 8);"
plant "M26: a level is written into the next" unit test_attenuated \
    src/kinds/attenuated.c "return (tamis_stratum){f->bytes + i * size, size};" "return (tamis_stratum){f->bytes + i * size, i + 1 < f->word[LEVELS] ? size + 8 : size};"

# ---- Bytes ----------------------------------------------------------------------------------------

plant "M14: words of a file are read in the other order" unit test_bits_and_blooms \
    src/foreign/bits_and_blooms.c "return order == TAMIS_BNB_LITTLE ?" "return order != TAMIS_BNB_LITTLE ?"
plant "M15: a filter of another hash is let in" unit test_golden \
    src/file/image.c "if (!tamis__sums_match(tamis__get64(h + AT_SELF_TEST), tamis__hash_self_test(hasher)))" "if (false)"
plant "M16: integers are spelled in the other order" unit test_encode \
    src/foreign/encode.c "s->is_big_endian ? s->size - 1 - i : i;" "s->is_big_endian ? i : s->size - 1 - i;"
plant "M23: half a read is taken for all of it" unit test_files \
    src/file/disk.c "        size -= (uint64_t)got;" "        size = 0;"
plant "M23: a read that was interrupted is an error" unit test_files \
    src/file/disk.c "if (got < 0 && errno == EINTR) continue;" ""
plant "M27: a helper is exported" house symbols \
    src/hash/hash.c "uint64_t tamis__checksum(" "__attribute__((visibility(\"default\"))) uint64_t tamis__checksum("
plant "M30: a size from outside is asserted" unit test_golden \
    src/file/image.c "    if (payload != size)
        return" "    if (payload != size) __builtin_trap();
    if (false)
        return"

# ---- Tests ----------------------------------------------------------------------------------------

plant "M28: keys of tests repeat" unit test_help \
    tests/support/keys.c "return x ^ x >> 31;" "return (x ^ x >> 31) >> 44;"
plant "M29: keys of tests are others in every run" unit test_help \
    tests/support/keys.c "uint64_t x = i + family * 0x9e3779b97f4a7c15;" "uint64_t x = i + family * 0x9e3779b97f4a7c15 + (uint64_t)(uintptr_t)&i;"
plant "M29: a bound has one side" unit test_help \
    tests/support/bounds.c "return tail(x, n, rate, x > n * rate) > alpha / 2;" "return x < n * rate || tail(x, n, rate, true) > alpha / 2;"

# ---- Attacks --------------------------------------------------------------------------------------

plant "A4: the width of a sketch is believed" unit test_rediscms \
    src/foreign/rediscms.c "word[WIDTH] == 0 || word[WIDTH] > MAX_WIDTH" "word[WIDTH] == 0"
plant "A7: a chain of no links is let in" unit test_decisions \
    src/foreign/redisbloom.c "if (word[LINKS] == 0 || word[LINKS] > UINT32_MAX ||" "if (word[LINKS] > UINT32_MAX ||"
plant "A9: a link has more bits than bytes" unit test_decisions \
    src/foreign/redisdump.c "(link.bits / 8 != link.bytes || link.bits % 8))" "false)"
plant "A15: six bytes may ask for gigabytes" unit test_attacks \
    src/foreign/guava.c " || in->size != HEADER + 8 * words)" ")"
plant "A16: what lies in the payload is not looked at" unit test_golden \
    src/file/image.c "return image->entry->kind->audit ? image->entry->kind->audit(body) : TAMIS_OK;" "(void)body; return TAMIS_OK;"
plant "A3: a number is cut to 16 bits before it is looked at" redis attacks.py \
    engines/redis/cf.c "    if (x < min || x > max) {" "    x = (uint16_t)x;
    if (x < min || x > max) {"
plant "A5: a negative number of keys is counted with" redis attacks.py \
    engines/redis/cms_merge.c "    if (*n <= 0) return \"CMS: Number of keys must be positive\";
    if (!at) return *n == words ? NULL" "    if (!at) return *n <= words ? NULL"
plant "M21: the error in the middle of a reply is not counted" redis bf.py \
    engines/redis/bf_add.c "redis.ReplyWithArray(r->ctx, (long)o->done + failed);" "redis.ReplyWithArray(r->ctx, (long)o->done);"
plant "A8: a chain of many links does not load again" redis attacks.py \
    engines/redis/origin_bloom.c "    if (r->count == r->room) {" "    if (r->count == 100) {
        r->why = \"it has too many links\";
        return NULL;
    }
    if (r->count == r->room) {"
plant "A13: the server ends at half a value" redis attacks.py \
    engines/redis/module.c "REDIS_HANDLE_IO_ERRORS | REDIS_HANDLE_ASYNC_LOAD" "REDIS_HANDLE_ASYNC_LOAD"

# ---- Changes of one line that all tests once let pass ----------------------------------------------

plant "notes of an image may be as long as they like" unit test_image \
    src/file/image.c "if (notes > TAMIS_NOTES_MAX_BYTES) return corrupt(" "if (false) return corrupt("
plant "the digest of the base is not compared" unit test_seal \
    cli/images/seal.c "if (is_sealed(patch, AT_BASE, base)) return 0;" "return 0;"
plant "the digest of the result is not compared" unit test_seal \
    cli/images/seal.c "if (is_sealed(patch, AT_RESULT, result)) return 0;" "return 0;"
plant "a field of a dump has 32 bits" unit test_rediscms \
    src/foreign/redisdump.c "    return c->why ? 0 : number;" "    return c->why ? 0 : (uint32_t)number;"
plant "bytes of a key that were not read are compared" unit test_sstable \
    src/foreign/sstable.c "value > left.size - own || e->shared > e->key_len)" "value > left.size - own)"
finish
