# Tamis. One Makefile is the truth: a new file in src/, cli/ or tests/ needs no edit here.
#
#     make run      install what the build needs, build, and do the main job on the sample data
#     make test     install what the tests need, build, run every test
#     make          only build
#     make bench    install and build other libraries, and measure ours beside them
#
# Honoured: CC CXX AR CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR, V=1 to see commands, B=dir for
# objects, SAN=1 (address and undefined behaviour) or SAN=thread for a checked build.

VERSION_OF = $(shell sed -n 's/^\#define TAMIS_VERSION_$(1) //p' include/tamis.h)
MAJOR   := $(call VERSION_OF,MAJOR)
VERSION := $(MAJOR).$(call VERSION_OF,MINOR).$(call VERSION_OF,PATCH)

CC       ?= cc
CXX      ?= c++
AR       ?= ar
# A checked build is compiled as often as it is run, and wants lines in its reports, not variables.
CFLAGS   ?= $(if $(SAN),-O1 -g1,-O2 -g)
PREFIX   ?= /usr/local
B        ?= build$(if $(SAN),-$(SAN:1=san))
Q        := $(if $(V),,@)

WARN       := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
SAN_1      := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_thread := -fsanitize=thread
SAFE       := $(SAN_$(SAN))
# Floating point must plan the same shape on every machine: no fused operations behind our back.
FLAGS := -std=c11 $(WARN) -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -ffp-contract=off \
         -fPIC -fvisibility=hidden -fno-semantic-interposition -Iinclude -Isrc -I. $(SAFE)
LIBS  := -lm -pthread
# The target decides which vector kernels exist, not the machine that compiles.
TARGET           := $(shell $(CC) -dumpmachine 2>/dev/null)
TARGET_IS_X86_64 := $(filter x86_64-%,$(TARGET))
FLAGS_avx2       := $(if $(TARGET_IS_X86_64),-mavx2 -mbmi2)
AVX512_PARTS     := f bw cd dq vl ifma vbmi vbmi2 bitalg vpopcntdq
FLAGS_avx512     := $(if $(TARGET_IS_X86_64),$(FLAGS_avx2) $(AVX512_PARTS:%=-mavx512%))
# 32-bit x86 would compute plans with 80 bits and come to other shapes.
FLAGS += $(if $(filter i386-% i486-% i586-% i686-%,$(TARGET)),-msse2 -mfpmath=sse)

# The command reads gzip and zstd, signs patches, and talks to Redis clusters, where the libraries can be
# linked; WITH_ZLIB=, WITH_ZSTD=, WITH_SODIUM= or WITH_HIREDIS= leaves one out. Asked only when it is needed, and once: the variable
# becomes its own answer.
HASH     := \#
can_link  = $(shell printf '$(HASH)include <%s>\nint main(void) { return !%s(); }\n' $(1) $(2) | \
                $(CC) $(CFLAGS) $(LDFLAGS) -x c - -o /dev/null $(3) 2>/dev/null && echo yes)
WITH_ZLIB = $(eval WITH_ZLIB := $(call can_link,zlib.h,zlibVersion,-lz))$(WITH_ZLIB)
WITH_ZSTD = $(eval WITH_ZSTD := $(call can_link,zstd.h,ZSTD_versionNumber,-lzstd))$(WITH_ZSTD)
WITH_SODIUM = $(eval WITH_SODIUM := $(call can_link,sodium.h,sodium_version_string,-lsodium))$(WITH_SODIUM)
WITH_HIREDIS = $(eval WITH_HIREDIS := $(call can_link,hiredis/hiredis.h,redisReaderCreate,-lhiredis))$(WITH_HIREDIS)
CLI_LIBS  = $(if $(WITH_ZLIB),-lz) $(if $(WITH_ZSTD),-lzstd) $(if $(WITH_SODIUM),-lsodium) $(if $(WITH_HIREDIS),-lhiredis)

LIB_SRC := $(filter-out %/template.c,$(wildcard src/*/*.c))
CLI_SRC := $(filter-out cli/pages/%,$(wildcard cli/*.c cli/*/*.c))
REDIS_SRC := $(wildcard engines/redis/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
LIB     := $(B)/libtamis.a
SO      := $(B)/libtamis.so.$(VERSION)
CMD     := $(B)/tamis
REDIS_OBJ := $(REDIS_SRC:%.c=$(B)/%.o)
REDIS_SO  := $(B)/tamis-redis.so

.PHONY: mutants cluster-proof pages all run run-here test check test-here proof proof-here big big-build tables fuzz fuzz-import fuzz-talk fuzz-summary fuzz-redis redis-proof peers peers-here golden install uninstall \
        format layers symbols clean bench bench-here bench-programs bench-full \
        bench-full-here bench-count bench-count-here bench-cli bench-cli-here bench-redis bench-redis-here bench-redis-hold bench-redis-hold-here
.DELETE_ON_ERROR:
all: $(LIB) $(SO) $(CMD) $(REDIS_SO)

# ---- The two commands ---------------------------------------------------------------------------
# Installing comes first and in a make of its own, because this one already asked the compiler that
# may not be there yet.

run:
	@tools/setup build
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory run-here

run-here: all
	@tools/demo $(CMD) $(B)

test check:
	@tools/setup test
	@$(MAKE) --no-print-directory -j2 test-here

proof:
	@tools/setup proof
	$(if $(SHORT),,@tools/setup coverage)
	@$(MAKE) --no-print-directory -j2 proof-here

# ---- Building ---------------------------------------------------------------------------------

$(B)/%_avx2.o: %_avx2.c
	$(call compile,$(FLAGS_avx2))
$(B)/%_avx512.o: %_avx512.c
	$(call compile,$(FLAGS_avx512))
$(B)/cli/%.o: cli/%.c
	$(call compile,$(foreach name,ZLIB ZSTD SODIUM HIREDIS,$(if $(WITH_$(name)),-DTAMIS_WITH_$(name))))
$(B)/%.o: %.c
	$(call compile)
define compile
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(CPPFLAGS) $(FLAGS) $(1) $(CFLAGS) -MMD -MP -c -o $@ $<
endef

$(LIB): $(LIB_OBJ)
	$(if $(V),,@echo "  AR    $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(SO): $(LIB_OBJ)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions -Wl,-soname,libtamis.so.$(MAJOR) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
	$(Q)ln -sf $(@F) $(B)/libtamis.so.$(MAJOR) && ln -sf $(@F) $(B)/libtamis.so

$(CMD): $(CLI_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CLI_LIBS) $(LIBS)

# The module of Redis and Valkey: the library inside, and one name outside.
$(REDIS_SO): $(REDIS_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(REDIS_OBJ:.o=.d)

# ---- Manual pages and completions -----------------------------------------------------------------
#
# A program with the table of verbs writes them, in a build for this machine; scdoc makes the pages.

PAGES_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard cli/pages/*.c)) $(filter-out $(B)/cli/main.o,$(CLI_OBJ))
PAGES     := $(B)/pages
pages: $(PAGES)/made
$(PAGES)/pages: $(PAGES_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CLI_LIBS) $(LIBS)
$(PAGES)/made: $(PAGES)/pages tools/pages
	$(Q)tools/pages $< $(PAGES)
	@touch $@
-include $(PAGES_OBJ:.o=.d)

# ---- Tests ------------------------------------------------------------------------------------
#
# tests/unit/NAME.c     one program each: what is special to one part
# tests/laws/*.c        one program: every law on every kind of the registry, and on tests/broken
# tests/proof/NAME.c    programs of minutes: rates at 10^7 probes, 10^8 checks (make proof)
# tests/cli             the command, as a user types it
# tests/python          the second implementation of the image format
# tests/redis           the module, in servers that the tests start and stop
# tests/peers           other systems' programs against ours (make peers)
# tests/vectors         files that other systems wrote
#
# The test registry is registry.c once more, with the kinds of tests/kinds.def behind ours.

T        := $(B)/tests
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT     := $(UNIT_SRC:tests/unit/%.c=$(T)/unit/%)
PROOF    := $(patsubst tests/proof/%.c,$(T)/proof/%,$(wildcard tests/proof/*.c))
EXTRA_SRC := $(wildcard tests/samples/*.c tests/broken/*.c) src/kinds/template.c
EXTRA_OBJ := $(EXTRA_SRC:%.c=$(B)/%.o) $(T)/registry.o
LAW_OBJ  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/laws/*.c)) $(EXTRA_OBJ)
LAWS     := $(T)/laws/laws
HELP_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/support/*.c))

$(T)/registry.o: src/kinds/registry.c
	$(call compile,-DTAMIS_EXTRA_KINDS='"tests/kinds.def"')
$(T)/unit/%: $(B)/tests/unit/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)
# This one is about the command: what makes keys of lines stands on its own.
FORM_OBJ := $(patsubst %,$(B)/cli/keys/%.o,canon canon_names canon_numbers decode fields pieces)
$(T)/unit/test_forms: $(B)/tests/unit/test_forms.o $(FORM_OBJ) $(LIB)
	$(call link_test)
# These build with sample kinds.
BUILDERS := $(addprefix $(T)/,unit/test_builder unit/test_bulk unit/test_temporary proof/killed big/building)
$(BUILDERS): $(T)/%: $(B)/tests/%.o $(EXTRA_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
# These are about parts of the command.
$(T)/unit/test_key_slots: $(B)/cli/net/key_slots.o
$(T)/unit/test_seal: $(B)/cli/images/seal.o
$(T)/unit/test_seal: LIBS += $(if $(WITH_SODIUM),-lsodium)
$(T)/unit/test_command_files: $(B)/cli/files/files.o
$(T)/unit/test_occupancy: $(B)/cli/measure/occupancy.o $(B)/cli/measure/statistics.o
# The module of Redis, in a server of a few functions.
MODULE_TESTS := $(addprefix $(T)/unit/test_redis_,api settings persist)
$(MODULE_TESTS): $(T)/unit/%: $(B)/tests/unit/%.o $(REDIS_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
# These stand between the library and the system: tests/support/faults.h.
FAULTY := $(T)/unit/test_files $(T)/unit/test_temporary $(T)/unit/test_edit \
          $(T)/unit/test_command_files $(T)/proof/killed $(T)/proof/writers
FAULTS := read write fsync rename unlink flock getrandom access close fchown fchmod fsetxattr \
          lgetxattr syscall clock_gettime \
          $(foreach f,open pwrite pread fstat lseek mmap,$(f) $(f)64)
$(FAULTY): LDFLAGS += $(foreach f,$(FAULTS),-Wl,--wrap=$(f))
# These write them down: tests/support/journal.h. One of them is the command.
JOURNALLED := $(foreach f,write fsync rename unlink mkdir close syscall open open64 pwrite pwrite64,-Wl,--wrap=$(f))
$(T)/unit/test_power: LDFLAGS += $(JOURNALLED)
POWER := $(T)/cli/power
$(POWER): $(B)/tests/cli/power.o $(CLI_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) $(JOURNALLED) -Wl,--wrap=main -o $@ $^ $(CLI_LIBS) $(LIBS)
$(T)/proof/%: $(B)/tests/proof/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)
# It asks inline, with the vectors of the machine it runs on.
$(B)/tests/laws/law_threads.o: tests/laws/law_threads.c
	$(call compile,$(if $(TARGET_IS_X86_64),-march=native))
$(LAWS): $(LAW_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
define link_test
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)
endef
# It runs where there is no test library.
$(T)/portable/%: $(B)/tests/portable/%.o $(filter-out %/foreign.o,$(HELP_OBJ)) $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
.SECONDARY:
-include $(wildcard $(B)/tests/*/*.d $(T)/*.d) $(LAW_OBJ:.o=.d)

# The fuzz target is one function; without a fuzzer it replays files, which every test run does
# with the corpus. Checksums are off in its library, so that the rest of the gate must hold alone:
# the sources that know of it are compiled again, and stand before the library, which then has no
# need to bring its own.
FUZZ_OBJ  := $(patsubst %.c,$(B)/fuzz/%.o,$(shell grep -l tamis__sums_match $(LIB_SRC)))
REPLAY    := $(T)/fuzz/replay
$(B)/fuzz/%.o: %.c
	$(call compile,-DTAMIS_FUZZING)
-include $(FUZZ_OBJ:.o=.d)
$(REPLAY): $(B)/tests/fuzz/gate.o $(B)/tests/fuzz/replay.o $(FUZZ_OBJ) $(LIB)
	$(call link_test)
# What the gate and the readers decide is seen whole where no checksum stands before it.
$(T)/unit/test_decisions: $(B)/tests/unit/test_decisions.o $(HELP_OBJ) $(FUZZ_OBJ) $(LIB)
	$(call link_test)
REPLAY_RDB := $(T)/fuzz/replay_rdb
$(REPLAY_RDB): $(B)/tests/fuzz/rdb.o $(B)/tests/fuzz/replay_rdb.o $(REDIS_OBJ) $(FUZZ_OBJ) $(LIB)
	$(call link_test)

# What other fuzzers kept, in folders of their own.
KEPT := $(T)/fuzz/replay_import $(T)/fuzz/replay_talk $(T)/fuzz/replay_summary
$(KEPT): $(T)/fuzz/replay_%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay_corpus.o $(FUZZ_OBJ) $(LIB)
	$(call link_test)
KEPT_RDB := $(T)/fuzz/replay_corpus_rdb
$(KEPT_RDB): $(B)/tests/fuzz/rdb.o $(B)/tests/fuzz/replay_corpus.o $(REDIS_OBJ) $(FUZZ_OBJ) $(LIB)
	$(call link_test)
REPLAYS = $(REPLAY) $(REPLAY_RDB) "$(KEPT_RDB) tests/fuzz/corpus-rdb" \
          $(foreach program,$(KEPT),"$(program) tests/fuzz/corpus-$(program:$(T)/fuzz/replay_%=%)")

# The module, in a server; each is a program by itself. PROGRAMS=, KEYS= and MUTANTS= make those that take
# long longer: `make redis-proof`.
REDIS_TESTS := $(addprefix tests/redis/,cluster.py own.py work.py bounds.py upgrade.py server_side.py prototypes.sh bf.py cf.py cms.py programs.py killed.py attacks.py mutate.py)
MUTATE      := $(T)/redis/mutate
$(T)/redis/%: $(B)/tests/redis/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)
# Many writers of one image, some of which are killed.
WRITERS := $(T)/proof/writers
HOUSE := $(sort $(wildcard tests/house/*.sh tests/house/*.py))

# The longest first, so that the processors finish together.
LONG_TESTS := tests/house/install.sh tests/cli/run $(addprefix tests/house/,layers.sh header.sh examples.sh) tests/python/test_reader.py \
              $(addprefix $(T)/unit/,test_redis test_leveldb) tests/redis/cluster.py

BENCH    := $(B)/bench/bench
PROGRAMS := $(UNIT) $(LAWS) $(REPLAY) $(REPLAY_RDB) $(KEPT) $(KEPT_RDB) $(MUTATE) $(WRITERS) $(POWER)
.PHONY: programs
programs: all $(PROGRAMS)
test-here: programs $(BENCH)
	@TAMIS=$(abspath $(CMD)) TAMIS_REDIS=$(abspath $(REDIS_SO)) TAMIS_MUTATE=$(abspath $(MUTATE)) TAMIS_SO=$(abspath $(SO)) B=$(B) CC="$(CC)" CXX="$(CXX)" \
	tests/run "$(LAWS) --part 1/2" "$(LAWS) --part 2/2" $(LONG_TESTS) "$(WRITERS) 60" $(REPLAYS) \
	    $(filter-out $(LONG_TESTS),$(UNIT) $(REDIS_TESTS) $(HOUSE))

# ---- Proofs: minutes each, the short ones also in CI -------------------------------------------

# The longest first, so that the processors finish together.
LONG_PROOFS := $(addprefix tests/proof/,sanitizers.sh same_bytes.sh) \
               $(addprefix $(T)/proof/,no_false_negative measured_rates) \
               $(addprefix tests/proof/,sanitized_laws.sh planted_foreign.sh planted.sh threads.sh planted_cli.sh planted_redis.sh planted_redis_bytes.sh programs.sh fuzz.sh)
$(B)/tests/proof/%.o: CPPFLAGS += $(if $(SHORT),-DTAMIS_SHORT)
# SHORT leaves out what needs minutes to say anything: tables that are full to the brim, a build for each fuzzer,
# one that watches threads, one that counts branches; and more steps of the random programs that every test run tries.
LEFT_OUT := $(if $(SHORT),$(T)/proof/full_tables $(addprefix tests/proof/,fuzz.sh threads.sh coverage.sh programs.sh))
proof-here: programs $(PROOF) $(T)/portable/images
	@SHORT=$(SHORT) tests/run $(filter-out $(LEFT_OUT),$(LONG_PROOFS)) tests/redis/sanitized.sh \
	    $(filter-out $(LONG_PROOFS) $(LEFT_OUT),$(PROOF) $(wildcard tests/proof/*.sh))

# Many writers of one image, killed at any moment: some minutes.
.PHONY: writers-proof
RUNS ?= 10000
writers-proof: programs
	@TAMIS=$(abspath $(CMD)) tests/run "$(WRITERS) $(RUNS)"

# Every branch and every condition of what reads bytes from outside, taken both ways.
.PHONY: coverage
coverage:
	@tools/setup coverage
	@tests/run tests/proof/coverage.sh

# The module under load: 10,000 random programs, kill -9 in a million adds, ten million mutants, and a tenth of them
# with the sanitizers. Half an hour.
redis-proof: programs
	@PROGRAMS=100000 KEYS=1000000 MUTANTS=10000000 tests/run $(addprefix tests/redis/,programs.py killed.py attacks.py mutate.py)
	@PROGRAMS=1000 MUTANTS=1000000 tests/run tests/redis/sanitized.sh

# One change of the sources at a time, in what reads bytes and writes files: a test must go red for each. Some
# hours; goes on where it was stopped, and ends with the table of docs/proof.md. FILES= for a few of them.
mutants: programs
	nice tests/proof/mutants.py $(FILES)
	tests/proof/mutants.py --report $(FILES)

# One filter over a cluster with 10^8 keys, while a primary is killed, slots move and a node joins: some
# minutes, and 3 GiB in $TMPDIR.
CLUSTER_KEYS ?= 1e8
cluster-proof: all
	KEYS=$(CLUSTER_KEYS) TAMIS=$(abspath $(CMD)) TAMIS_REDIS=$(abspath $(REDIS_SO)) tests/run tests/redis/cluster.py

# ---- Peers: the systems whose filters we read and write, both ways ------------------------------
#
# tests/peers/NAME.sh   installs the system (into $(B)/peers, or by its package), makes at least a
#                       thousand random filters on each side and lets the other read them; what
#                       cannot be installed is skipped with a line
# tests/peers/peer.c    our side of it
#
# PEERS= for a few of them.

PEER  := $(T)/peers/peer
PEERS ?= $(sort $(wildcard tests/peers/*.sh))
peers:
	@tools/setup test
	@$(MAKE) --no-print-directory -j2 peers-here
peers-here: all $(PEER)
	@B=$(abspath $(B)) PEER=$(abspath $(PEER)) TAMIS=$(abspath $(CMD)) CC="$(CC)" CXX="$(CXX)" tests/run $(PEERS)
$(T)/peers/%: $(B)/tests/peers/%.o $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# More than 2^33 bits in one filter: 1.3 GiB of memory and some minutes.
big: $(T)/big/big
	tests/run $<
# 10^8 keys of every kind that is built in 64 MiB, as the registry has them, and of some with options: a minute or
# two each, 2 GiB in the temporary folder.
BIG_BUILDS ?= fuse:fpr=1/256 fuse:fpr=1/256,arity=4 ribbon:fpr=1/256 bloomier:value=8
BIG_KEYS   ?= 100M
BIG_MEMORY ?= 64M
big-build: $(T)/big/building
	for spec in $(BIG_BUILDS) $$($<); do $< $$spec $(BIG_KEYS) $(BIG_MEMORY) 2 $${TMPDIR:-/tmp} || exit 1; done
$(T)/big/%: $(B)/tests/big/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)

# The measured tables of docs/kinds: every kind at three loads, some minutes. KINDS= for a few.
tables: $(T)/tables/tables
	$< $(KINDS) > $(B)/tables.txt; off=$$?; tools/tables < $(B)/tables.txt; exit $$off
$(T)/tables/%: $(B)/tests/tables/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)

# Fuzzing runs, FUZZ_SECONDS long or of FUZZ_RUNS inputs, of what takes bytes from outside; what is found new goes
# to a folder beside the program. What is worth keeping lies in tests/fuzz/corpus*, which every test run replays.
#
# make fuzz           images, patches, memories of admission: the gate
# make fuzz-import    bytes of other systems: FORMAT=guava for one of them; from files that those wrote
# make fuzz-talk      conversations of two hosts
# make fuzz-summary   messages between caches
# make fuzz-redis     values of the module for Redis, in RDB files and dumps
FUZZ_SECONDS ?= 60
CLANG        ?= clang-14
fuzz:
	$(call run_fuzzer,gate,-timeout=1 -max_len=65536,tests/fuzz/corpus)
fuzz-import:
	$(call run_fuzzer,import,-timeout=5 -max_len=65536,$(if $(FORMAT),\
	    $(wildcard tests/vectors/$(firstword $(subst :, ,$(FORMAT))) \
	               tests/fuzz/corpus-import/$(firstword $(subst :, ,$(FORMAT))))))
fuzz-import: export TAMIS_FORMAT := $(FORMAT)
fuzz-talk:
	$(call run_fuzzer,talk,-timeout=5 -max_len=8192,tests/fuzz/corpus-talk)
fuzz-summary:
	$(call run_fuzzer,summary,-timeout=5 -max_len=4096,tests/fuzz/corpus-summary)
fuzz-redis: export TAMIS_SEEDS := build-fuzz/rdb-seeds
fuzz-redis:
	@mkdir -p $(TAMIS_SEEDS)
	$(call run_fuzzer,rdb,-timeout=5 -max_len=4096,$(TAMIS_SEEDS) tests/fuzz/corpus-rdb)
define run_fuzzer
	@tools/setup proof
	@mkdir -p build-fuzz/$(1)-found$(FORMAT:%=-%)
	@$(MAKE) --no-print-directory -j2 B=build-fuzz CC=$(CLANG) \
	    CFLAGS='-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' build-fuzz/fuzz-$(1)
	build-fuzz/fuzz-$(1) $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS) -seed=1,-max_total_time=$(FUZZ_SECONDS)) -rss_limit_mb=2048 -print_final_stats=1 $(2) \
	    build-fuzz/$(1)-found$(FORMAT:%=-%) $(3)
endef
build-fuzz/fuzz-rdb: $(B)/tests/fuzz/rdb.o $(REDIS_OBJ) $(FUZZ_OBJ) $(LIB)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)
build-fuzz/fuzz-%: $(B)/tests/fuzz/%.o $(FUZZ_OBJ) $(LIB)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

# ---- Measuring ----------------------------------------------------------------------------------
#
# make bench         our kinds, the libraries that can be installed by name and the floor: a minute
# make bench-full    10^8 keys, strings, two threads, every size; JSON and pictures: ten minutes
# make bench-count   instructions per key under callgrind: the same every time
# make bench-cli     the command beside grep, awk, sort and another bloom: some minutes
# make bench-redis   the module in a server, beside RedisBloom where TAMIS_REDISBLOOM= names it: some minutes
# make bench-redis-hold   how long each of its commands holds everybody else: MIB= KINDS= COMMANDS=, 8 GiB of memory
#
# A peer is a shared object that speaks bench/peer.h. bench/peers/NAME.c or .cc is one file for
# each library that has a package; what is not installed is left out, and a line says so.

BENCH_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard bench/*.c))

bench bench-full bench-count bench-cli bench-redis bench-redis-hold:
	@tools/setup bench
	@$(MAKE) --no-print-directory -j2 $@-here
# What a storage engine inlines is compiled for the machine it runs on.
$(B)/bench/ours_inline.o: bench/ours_inline.c
	$(call compile,$(if $(TARGET_IS_X86_64),-march=native))
$(BENCH): $(BENCH_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -ldl $(LIBS)
-include $(BENCH_OBJ:.o=.d)
bench-programs: $(BENCH)
	@CC="$(CC)" CXX="$(CXX)" bench/peers/make $(B)/bench/peers

bench-here: bench-programs
	$(BENCH) --keys 1e5,1e7 --json $(B)/bench/short.json

SIZES := 1e3,3e3,1e4,3e4,1e5,3e5,1e6,3e6,1e7,3e7,1e8
RATES := $(foreach kind,blocked split classic cuckoo quotient gcs ribbon fuse,\
             $(foreach rate,10% 3% 1% 0.3% 0.1% 0.01%,$(kind):fpr=$(rate),))
BATCH := --ways batch --questions miss --peers none
bench-full-here: bench-programs $(CMD)
	$(BENCH) --keys 1e5,1e7,1e8 --json $(B)/bench/full.json
	$(BENCH) --keys 1e5,1e7 --key-bytes 32 --json $(B)/bench/strings.json
	$(BENCH) --keys 1e7,1e8 --threads 1,2 --kinds blocked,split,fuse --ways batch,bulk \
	    --questions miss --peers none --json $(B)/bench/threads.json
	$(BENCH) --keys $(SIZES) $(BATCH) --json $(B)/bench/sizes.json
	$(BENCH) --keys 1e9 $(BATCH) --kinds blocked,split --json $(B)/bench/large.json
	$(BENCH) --keys 1e6 $(BATCH) --rounds 3 --builds 1 --kinds "$(RATES)" --json $(B)/bench/rates.json
	bench/plot docs/pictures $(CMD) $(addprefix $(B)/bench/,rates.json sizes.json large.json)

bench-count-here: $(BENCH)
	bench/count $(BENCH) --keys 1e5

# What stands beside the command: a line generator, a stop watch, and the least a command can do.
CLI_TOOLS := $(patsubst bench/cli/%.c,$(B)/bench/cli/%,$(wildcard bench/cli/*.c))
$(CLI_TOOLS): %: %.o
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $<
-include $(CLI_TOOLS:%=%.d)
bench-cli-here: $(CMD) $(CLI_TOOLS)
	@bench/cli/run $(abspath $(CMD)) $(abspath $(B)/bench/cli)

# A load generator, and a module that only looks at its arguments.
REDIS_LOAD  := $(B)/bench/redis/load
REDIS_FLOOR := $(B)/bench/redis/floor.so
$(REDIS_LOAD): $(B)/bench/redis/load.o
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $< -lhiredis
$(REDIS_FLOOR): $(B)/bench/redis/floor.o $(B)/engines/redis/api.o
	$(Q)$(CC) -shared $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^
-include $(B)/bench/redis/load.d $(B)/bench/redis/floor.d
bench-redis-here: $(REDIS_SO) $(REDIS_LOAD) $(REDIS_FLOOR)
	B=$(B) bench/redis/run all $(B)/bench/redis.json
bench-redis-hold-here: $(REDIS_SO) $(CMD) $(REDIS_LOAD)
	B=$(B) bench/redis/hold $(B)/bench/redis-hold.json

# ---- Installing ---------------------------------------------------------------------------------

BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
BASHDIR    ?= $(DATADIR)/bash-completion/completions
ZSHDIR     ?= $(DATADIR)/zsh/site-functions
FISHDIR    ?= $(DATADIR)/fish/vendor_completions.d
REDISDIR   ?= $(LIBDIR)/redis/modules

install: all pages
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/tamis \
	           $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(REDISDIR)
	install -m 755 $(CMD) $(DESTDIR)$(BINDIR)/tamis
	install -m 644 include/tamis.h include/tamis_fast.h include/tamis_jobs.h $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 $(LIB) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SO) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(REDIS_SO) $(DESTDIR)$(REDISDIR)/tamis.so
	ln -sf $(notdir $(SO)) $(DESTDIR)$(LIBDIR)/libtamis.so.$(MAJOR)
	ln -sf $(notdir $(SO)) $(DESTDIR)$(LIBDIR)/libtamis.so
	$(call fill,tools/tamis.pc.in) > $(DESTDIR)$(LIBDIR)/pkgconfig/tamis.pc
	$(call fill,tools/tamis-config.cmake.in) > $(DESTDIR)$(LIBDIR)/cmake/tamis/tamis-config.cmake
	$(call fill,tools/tamis-config-version.cmake.in) > $(DESTDIR)$(LIBDIR)/cmake/tamis/tamis-config-version.cmake
	install -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	for page in $(PAGES)/man/*.1; do [ ! -e "$$page" ] || install -m 644 "$$page" $(DESTDIR)$(MANDIR)/man1/; done
	$(call install_page,tamis.bash,$(BASHDIR)/tamis)
	$(call install_page,_tamis,$(ZSHDIR)/_tamis)
	$(call install_page,tamis.fish,$(FISHDIR)/tamis.fish)
# There are none in a build for another machine.
install_page = [ ! -e $(PAGES)/completions/$(1) ] || install -m 644 $(PAGES)/completions/$(1) $(DESTDIR)$(2)
fill = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' \
           -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' -e 's|@VERSION@|$(VERSION)|g' -e 's|@MAJOR@|$(MAJOR)|g' $(1)

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/tamis $(DESTDIR)$(INCLUDEDIR)/tamis.h $(DESTDIR)$(INCLUDEDIR)/tamis_fast.h \
	      $(DESTDIR)$(INCLUDEDIR)/tamis_jobs.h \
	      $(DESTDIR)$(LIBDIR)/libtamis.* $(DESTDIR)$(REDISDIR)/tamis.so \
	      $(DESTDIR)$(LIBDIR)/pkgconfig/tamis.pc
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/tamis
	rm -f $(DESTDIR)$(MANDIR)/man1/tamis.1 $(DESTDIR)$(MANDIR)/man1/tamis-*.1 $(DESTDIR)$(BASHDIR)/tamis \
	      $(DESTDIR)$(ZSHDIR)/_tamis $(DESTDIR)$(FISHDIR)/tamis.fish

# ---- Housekeeping -----------------------------------------------------------------------------

layers:
	@tools/layers

# Names that the shared library exports, in the order of tests/symbols.txt.
symbols: $(SO)
	@nm -D --defined-only $< | awk '$$2 ~ /[A-Z]/ {print $$3}' | LC_ALL=C sort

SOURCES = $(filter-out src/kinds/kinds.def,$(wildcard include/*.h src/*/*.[ch] cli/*.[ch] cli/*/*.[ch] engines/*/*.[ch] tests/*/*.[ch] examples/*.c bench/*.c bench/cli/*.c bench/redis/*.c bench/bench.h \
                       bench/peers/*.c))
format:
	@tools/setup dev
	clang-format-14 -i $(SOURCES)

# Golden images are kept for ever: this adds those of new kinds and refuses to change old ones.
golden: $(CMD) $(T)/golden-bad/forge
	tests/golden/make $(CMD)
	$(T)/golden-bad/forge tests/golden-bad
$(T)/golden-bad/%: $(B)/tests/golden-bad/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)

clean:
	rm -rf build build-*
