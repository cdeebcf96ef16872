#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of what reads and writes other systems' filters; the named
# unit test must go red for each.
#
#     fault  test  file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"
prepare include src tests -- build/libtamis.a

try() { # test
    make -s -j2 CFLAGS=-O1 "build/tests/unit/$1" >build.log 2>&1 || return 2
    limited "build/tests/unit/$1" >test.log 2>&1 && grep -q '^ok' test.log || return 1
}

plant "DCSO's product keeps its upper half" test_dcso \
    src/foreign/dcso.c "below_prime(walk->a * FACTOR)" "(uint64_t)((unsigned __int128)walk->a * FACTOR % PRIME)"
plant "DCSO's count of adds counts every add" test_dcso \
    src/foreign/dcso.c "tamis__get64(f->bytes + AT_ADDS) + fresh" "tamis__get64(f->bytes + AT_ADDS) + b.n + 0 * fresh"
plant "DCSO's rate does not know its classes" test_dcso \
    src/foreign/dcso.c "if (!other && classes_of(f->word) > 1)" "if (!other && classes_of(f->word) > MAX_BITS)"
plant "A20: a number of DCSO's bits is believed" test_dcso \
    src/foreign/dcso.c "words == 0 || words > (in->size - HEADER) / 8" "words == 0"
plant "the steps of bits-and-blooms are in another order" test_bits_and_blooms \
    src/foreign/bits_and_blooms.c "(i + i % 2) % 4 ? walk->d : walk->c" "i % 4 ? walk->d : walk->c"
plant "an empty set of bits has no length" test_bits_and_blooms \
    src/foreign/bits_and_blooms.c "bits > (length ? length : MAX_MISSING)" "bits > length"
plant "base64 may end in bits of nobody" test_bits_and_blooms \
    src/foreign/base64.c "if (bytes[i]) return 0;" "if (bytes[i]) return n - 1;"
plant "libbloom 1 counts in 64 bits" test_libbloom \
    src/foreign/libbloom.c "(word[VERSION] == VERSION_1 ? (uint32_t)now : now)" "now"
plant "A18: libbloom's address is kept" test_libbloom \
    src/foreign/libbloom.c "memset(f->bytes + AT_ADDRESS, 0, HEADER - AT_ADDRESS);" ""
plant "the count of bits in a sketch is believed" test_datasketches \
    src/foreign/datasketches.c "count != set && count != UNKNOWN" "count > UNKNOWN"
plant "24 bytes may ask for gigabytes" test_datasketches \
    src/foreign/datasketches.c "if (is_empty && longs > MAX_EMPTY / 64)" "if (is_empty && longs == 0)"
plant "A19: a Parquet filter's length in the footer is not compared" test_parquet_files \
    src/foreign/parquet_file.c "c->length == (int64_t)(at->header + at->bitset)" "c->length"
plant "a Parquet filter may reach into the footer" test_parquet_files \
    src/foreign/parquet_file.c "(uint64_t)c->offset >= end" "(uint64_t)c->offset >= in->size"
plant "columns of one path are not told apart" test_parquet_files \
    src/foreign/parquet_file.c "(uint32_t)(c->index + 1) : SHARED" "(uint32_t)(c->index + 1) : *owner"
plant "a Parquet bitset of another hash is written" test_parquet \
    src/foreign/parquet.c "if (out->hash != TAMIS_HASH_XXH64)" "if (out->hash == TAMIS_HASH_OWN)"
plant "A17: a list may be longer than the bytes" test_parquet_files \
    src/foreign/thrift.c "if (count > left(t)) fail" "if (count == UINT64_MAX) fail"
plant "structures may lie as deep as they like" test_parquet_files \
    src/foreign/thrift.c "if (depth == MAX_DEPTH) fail" "if (depth == 100 * MAX_DEPTH) fail"
plant "numbers in ORC are shifted without their sign" test_orc \
    src/foreign/orc.c "x >> by | (x >> 63 ? ~(UINT64_MAX >> by) : 0)" "x >> by"
plant "a piece of an ORC message may be longer than the bytes" test_orc \
    src/foreign/orc.c "!take_number(c, &size) || size > (uint64_t)(c->end - c->at)" "!take_number(c, &size)"
plant "a link of RedisBloom is not halved in rate" test_redis \
    src/foreign/redisbloom.c "last->error * tightening, link)" "last->error, link)"
plant "A21: a link may have more hashes than its bits per key say" test_redis \
    src/foreign/redisbloom.c "link->hashes != hashes_for(link->bpe)" "link->hashes > 1u << 20"
plant "fingerprints that found no place stay where they were pushed" test_redis \
    src/foreign/rediscuckoo.c "swap(&bucket_of(t, bucket)[victim], &value);
    }
    return false;" "(void)victim;
    }
    return false;"
plant "A10: sub-filters of CF may have any size in a dump" test_redis \
    src/foreign/redisdump.c "(s.length != cells || buckets != cells / h.bucket_size)" "s.length != cells"
plant "rows of a sketch of RedisBloom share one hash" test_rediscms \
    src/foreign/rediscms.c "tamis__murmur2_32(key, (uint32_t)row)" "tamis__murmur2_32(key, 0)"
plant "A11: cells of a sketch in a dump need not be all there" test_rediscms \
    src/foreign/redisdump.c "cells.length != bytes - TAMIS_CMS_HEADER" "cells.length > bytes - TAMIS_CMS_HEADER"
plant "the depth of a sketch is believed" test_rediscms \
    src/foreign/rediscms.c "word[DEPTH] == 0 || word[DEPTH] > MAX_DEPTH" "word[DEPTH] == 0"
plant "LZF goes back to before its start" test_redis \
    src/foreign/lzf.c " || now.back > *length" ""
plant "an add of many that is full leaves what it added" test_redis \
    src/core/change.c "if (rc) (void)tamis__install(" "if (rc == TAMIS_NOMEM) (void)tamis__install("
plant "Spark's second hash has its own seed" test_spark \
    src/foreign/spark.c "tamis__murmur3_spark(key, a)" "tamis__murmur3_spark(key, (uint32_t)word[SEED])"
plant "Spark's second version starts with the first hash itself" test_spark \
    src/foreign/spark.c "now = walk->a += walk->b;" "now = (walk->a += walk->b) - walk->b;"
plant "all versions of SSTables have one order of hashes" test_cassandra \
    src/foreign/cassandra.c "is_old = word[VERSION] == SINCE_2;" "is_old = word[VERSION] == FAMILIES;"
plant "a negative sum is taken by its complement, not its absolute value" test_cassandra \
    src/foreign/cassandra.c "0 - now : now" "~now : now"
plant "a number of Hadoop's hashes is believed" test_hadoop \
    src/foreign/hadoop.c "word[HASHES] > TAMIS_LIKE_MAX_HASHES" "word[HASHES] > 2 * TAMIS_LIKE_MAX_HASHES"
plant "each hash of Hadoop's starts anew" test_hadoop \
    src/foreign/hadoop.c "    walk->a = now;
    return (now >> 31" "    walk->a = now & 0xffff;
    return (now >> 31"
plant "M11: counters of Hadoop's go down from their top" test_hadoop \
    src/foreign/hadoop_counting.c "if (value < TOP && (by > 0 || value > 0))" "if (by > 0 ? value < TOP : value > 0)"
plant "a list of keys may go on behind the end" test_hadoop \
    src/foreign/hadoop_retouched.c "end - *at < len + WEIGHT" "end - *at < len"
plant "an empty key in a later batch comes in with those before it" test_hadoop \
    src/core/change.c "if (!rc) rc = has_no_empty(f, keys, n);" ""
plant "A1: a filterload message of no bits is divided by" test_bip37 \
    src/foreign/bip37.c "return word[BITS] == 0 || word[HASHES] == 0;" "return word[HASHES] == 0;"
plant "a count may have a longer form than it needs" test_bip37 \
    src/foreign/bip37.c "if (*bytes < LONG_FROM)" "if (*bytes > UINT16_MAX)"
plant "the method is not part of Squid's key" test_squid \
    src/foreign/squid.c "(uint8_t)(word[METHOD] + 1)" "(uint8_t)(word[METHOD] * 0 + 1)"
plant "Squid's count of adds wraps" test_squid \
    src/foreign/squid.c "count < INT32_MAX ? (uint32_t)count : INT32_MAX" "(uint32_t)count"
plant "RocksDB's lines may be even" test_rocksdb \
    src/foreign/rocksdb.c "if (lines % 2 == 0) lines++;" ""
plant "a partition of RocksDB is never smaller than the one before" test_rocksdb \
    src/foreign/rocksdb_sst.c "zigzag >> 1 ^ (0 - (zigzag & 1))" "zigzag >> 1"
plant "how a block is compressed is not in its checksum" test_rocksdb \
    src/foreign/sstable.c "checksum_of(t->checksum, bytes, h.size + 1)" "checksum_of(t->checksum, bytes, h.size)"
plant "a filter of LevelDB may end before it starts" test_leveldb \
    src/foreign/filter_block.c "if (start_of(b, i) > start_of(b, i + 1))" "if (start_of(b, i) > b->size)"
plant "LevelDB says no where k is of a later version" test_leveldb \
    src/foreign/leveldb.c "memset(hit, f->word[BITS] != 0, b.n)" "memset(hit, 0, b.n)"
plant "bits of a base64 key are left over" test_encode \
    src/foreign/encode.c "if (bits & ((1u << waiting) - 1))" "if (false)"
plant "FPS: a bit behind num_bits is not seen by the reader" test_fps \
    src/foreign/fps.c "if (*width % 8 && byte_at(l, bytes - 1) >> *width % 8)" "if (false)"
plant "FPS: rows are written in the order of their bits" test_fps \
    src/kinds/fingerprint.c "*print = print_of(f, &at, rank_of(f, &at, row));" "*print = print_of(f, &at, row);"
plant "FPS: a changed head goes out as it is" test_fps \
    src/foreign/fps.c '!starts_with(l.line, l.size, "#") || ' ""
finish
