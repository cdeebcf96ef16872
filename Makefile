# SPDX-License-Identifier: MIT
# Tamis. This Makefile is authoritative: a new file in src/, cli/ or tests/ needs no edit here.
#
#     make run      install what the build needs, build, and do the main job on the sample data
#     make test     install what the tests need, build, run every test
#     make check    the same without installing anything
#     make          only build
#     make install  so that programs find it; make uninstall removes it; make dist packs the sources
#     make bench    install and build other libraries, and measure ours next to them
#
# Honoured: CC CXX AR CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR, V=1 to see commands, B=dir for
# objects, SAN=1 (address and undefined behaviour) or SAN=thread for a checked build.
# KINDS="blocked split" FORMATS="parquet" make a small library of these: mk/small.mk.

VERSION_OF = $(shell sed -n 's/^\#define TAMIS_VERSION_$(1) //p' include/tamis.h)
MAJOR   := $(call VERSION_OF,MAJOR)
MINOR   := $(call VERSION_OF,MINOR)
VERSION := $(MAJOR).$(MINOR).$(call VERSION_OF,PATCH)
# The ABI version: before 1.0 a minor version may change the API.
SOVERSION := $(if $(filter 0,$(MAJOR)),0.$(MINOR),$(MAJOR))

CC       ?= cc
CXX      ?= c++
AR       ?= ar
# Two commands have a KINDS= of their own: which to measure.
IS_SMALL := $(if $(filter tables bench-%,$(MAKECMDGOALS)),,$(strip $(KINDS)$(FORMATS)))
HAS_VECTORS := $(filter vectors,$(WITH))
# A checked build is compiled as often as it is run, and needs lines in its reports, not variables.
CFLAGS   ?= $(if $(SAN),-O1 -g1,$(if $(IS_SMALL),-Os,-O2) -g)
PREFIX   ?= /usr/local
B        ?= build$(if $(IS_SMALL),-small$(HAS_VECTORS:%=-%))$(if $(SAN),-$(SAN:1=san))
Q        := $(if $(V),,@)

WARN       := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
SAN_1      := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_thread := -fsanitize=thread
SAFE       := $(SAN_$(SAN))
# Floating point must plan the same shape on every machine: no fused operations.
FLAGS := -std=c11 $(WARN) -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -ffp-contract=off \
         -fPIC -fvisibility=hidden -fno-semantic-interposition -Iinclude -Isrc -I. $(SAFE)
LIBS  := -lm -pthread
# The target decides which vector kernels exist, not the machine that compiles.
TARGET           := $(shell $(CC) -dumpmachine 2>/dev/null)
TARGET_IS_X86_64 := $(filter x86_64-%,$(TARGET))
FLAGS_avx2       := $(if $(TARGET_IS_X86_64),-mavx2 -mbmi2)
AVX512_PARTS     := f bw cd dq vl ifma vbmi vbmi2 bitalg vpopcntdq
FLAGS_avx512     := $(if $(TARGET_IS_X86_64),$(FLAGS_avx2) -mprfchw $(AVX512_PARTS:%=-mavx512%))
# 32-bit x86 would compute plans with 80 bits and get other shapes.
FLAGS += $(if $(filter i386-% i486-% i586-% i686-%,$(TARGET)),-msse2 -mfpmath=sse)

# The command reads compressed lists, signs patches, talks to Redis clusters, and knows names in other
# scripts, where the libraries can be linked; an empty WITH_ZLIB= disables one, WITH_ZSTD= another, ...
# Tested only when needed, and once: the variable becomes its own answer.
HASH     := \#
can_link  = $(shell printf '$(HASH)include <%s>\nint main(void) { return !%s; }\n' $(1) '$(2)' | \
                $(CC) $(CFLAGS) $(LDFLAGS) -x c - -o /dev/null $(3) 2>/dev/null && echo yes)
WITH_ZLIB = $(eval WITH_ZLIB := $(call can_link,zlib.h,zlibVersion(),-lz))$(WITH_ZLIB)
WITH_ZSTD = $(eval WITH_ZSTD := $(call can_link,zstd.h,ZSTD_versionNumber(),-lzstd))$(WITH_ZSTD)
WITH_LZMA = $(eval WITH_LZMA := $(call can_link,lzma.h,lzma_version_number(),-llzma))$(WITH_LZMA)
WITH_BZIP2 = $(eval WITH_BZIP2 := $(call can_link,bzlib.h,BZ2_bzlibVersion(),-lbz2))$(WITH_BZIP2)
WITH_SODIUM = $(eval WITH_SODIUM := $(call can_link,sodium.h,sodium_version_string(),-lsodium))$(WITH_SODIUM)
WITH_HIREDIS = $(eval WITH_HIREDIS := $(call can_link,hiredis/hiredis.h,redisReaderCreate(),-lhiredis))$(WITH_HIREDIS)
WITH_IDN2 = $(eval WITH_IDN2 := $(call can_link,idn2.h,idn2_check_version(0),-lidn2))$(WITH_IDN2)
CLI_WITH := ZLIB ZSTD LZMA BZIP2 SODIUM HIREDIS IDN2
CLI_LIBS  = $(if $(WITH_ZLIB),-lz) $(if $(WITH_ZSTD),-lzstd) $(if $(WITH_LZMA),-llzma) $(if $(WITH_BZIP2),-lbz2) \
            $(if $(WITH_SODIUM),-lsodium) $(if $(WITH_HIREDIS),-lhiredis) $(if $(WITH_IDN2),-lidn2)

LIB_SRC := $(filter-out %/template.c src/absent/%,$(wildcard src/*/*.c))
CLI_SRC := $(filter-out cli/pages/%,$(wildcard cli/*.c cli/*/*.c))
REDIS_SRC := $(wildcard engines/redis/*.c)
SQL_SRC := $(wildcard engines/sql/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
SO_OBJ  := $(LIB_OBJ)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
LIB     := $(B)/libtamis.a
SO      := $(B)/libtamis.so.$(VERSION)
CMD     := $(B)/tamis
REDIS_OBJ := $(REDIS_SRC:%.c=$(B)/%.o)
SQL_OBJ := $(SQL_SRC:%.c=$(B)/%.o)
REDIS_SO  := $(B)/tamis-redis.so

.PHONY: mutants cluster-proof pages all run run-here test check test-here proof proof-here big big-build tables fuzz fuzz-import fuzz-talk fuzz-summary fuzz-redis redis-proof peers peers-here golden install uninstall dist \
        format layers symbols clean bench bench-here bench-programs bench-full \
        bench-full-here bench-count bench-count-here bench-cli bench-cli-here bench-redis bench-redis-here bench-redis-hold bench-redis-hold-here
.DELETE_ON_ERROR:
all: $(LIB) $(SO) $(CMD) $(if $(IS_SMALL),,$(REDIS_SO))

# ---- The two commands ---------------------------------------------------------------------------
# Installing comes first and in a make of its own, because this one already queried the compiler
# that may not be there yet.

run:
	@tools/setup build
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory run-here

run-here: all
	@tools/demo $(CMD) $(B)

test:
	@tools/setup test
	@$(MAKE) --no-print-directory -j2 test-here

check:
	@tools/setup --dry-run test
	@$(MAKE) --no-print-directory -j2 test-here

proof:
	@tools/setup proof
	$(if $(SHORT),,@tools/setup coverage)
	@$(MAKE) --no-print-directory -j2 proof-here

# ---- The pages ------------------------------------------------------------------------------------

include $(addprefix mk/,$(if $(IS_SMALL),small.mk) build.mk $(if $(IS_SMALL),,postgres.mk leveldb.mk sqlite.mk duckdb.mk python.mk) test.mk proof.mk peers.mk fuzz.mk bench.mk install.mk tidy.mk)
