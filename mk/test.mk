# SPDX-License-Identifier: MIT
# What `make test` runs. tests/README.md is the map.

# ---- Tests ------------------------------------------------------------------------------------
#
# The test registry is registry.c again, with the kinds of tests/kinds.def after ours.

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
# These test the command: turning lines into keys needs only these objects.
FORM_OBJ := $(patsubst %,$(B)/cli/keys/%.o,addresses canon canon_names canon_numbers cidr csv decode expand fields idn \
                                           pieces refang)
FORM_TESTS := $(T)/unit/test_forms $(T)/unit/test_expand
$(FORM_TESTS) $(T)/unit/test_csv: LIBS += $(if $(WITH_IDN2),-lidn2)
$(FORM_TESTS): $(T)/unit/%: $(B)/tests/unit/%.o $(FORM_OBJ) $(LIB)
	$(call link_test)
$(T)/unit/test_csv: $(B)/tests/unit/test_csv.o $(FORM_OBJ) $(patsubst %,$(B)/cli/keys/%.o,jsonl utf16) $(LIB)
	$(call link_test)
# So does this one: what files are, and compressed ones.
PACKING_OBJ := $(patsubst %,$(B)/cli/keys/%.o,contents unpacker gunzip unzstd unxz unbzip2 utf16)
$(T)/unit/test_unpacker: $(B)/tests/unit/test_unpacker.o $(PACKING_OBJ)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(CLI_LIBS) $(LIBS)
# These build with sample kinds.
BUILDERS := $(addprefix $(T)/,unit/test_builder unit/test_bulk unit/test_temporary proof/killed big/building)
$(BUILDERS): $(T)/%: $(B)/tests/%.o $(EXTRA_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
# These test parts of the command.
$(T)/unit/test_key_slots: $(B)/cli/net/key_slots.o
$(T)/unit/test_feed_index: $(B)/cli/feeds/feed_index.o
$(T)/unit/test_seal: $(B)/cli/images/seal.o
$(T)/unit/test_seal: LIBS += $(if $(WITH_SODIUM),-lsodium)
$(T)/unit/test_command_files: $(B)/cli/files/files.o
$(T)/unit/test_occupancy: $(B)/cli/measure/occupancy.o $(B)/cli/measure/statistics.o
$(T)/unit/test_times: $(B)/cli/keys/times.o
# The Redis module, in a mock server of a few functions.
MODULE_TESTS := $(addprefix $(T)/unit/test_redis_,api clock settings persist)
$(MODULE_TESTS): $(T)/unit/%: $(B)/tests/unit/%.o $(REDIS_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
# What engines of SQL share.
SQL_TESTS := $(addprefix $(T)/unit/test_sql_,keys names)
$(SQL_TESTS): $(T)/unit/%: $(B)/tests/unit/%.o $(SQL_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
# These intercept system calls: tests/support/faults.h.
FAULTY := $(T)/unit/test_files $(T)/unit/test_temporary $(T)/unit/test_edit \
          $(T)/unit/test_command_files $(T)/proof/killed $(T)/proof/writers
FAULTS := read write fsync rename unlink flock getrandom access close fchown fchmod fsetxattr \
          lgetxattr syscall clock_gettime \
          $(foreach f,open pwrite pread fstat lseek mmap,$(f) $(f)64)
$(FAULTY): LDFLAGS += $(foreach f,$(FAULTS),-Wl,--wrap=$(f))
# This one is a system with giant pages.
$(T)/unit/test_pages: LDFLAGS += $(foreach f,mmap mmap64 munmap madvise,-Wl,--wrap=$(f))
# This one runs out of memory.
$(T)/unit/test_collecting: LDFLAGS += $(foreach f,calloc mmap mmap64,-Wl,--wrap=$(f))
# These record them: tests/support/journal.h. One of them is the command.
JOURNALLED := $(foreach f,write fsync rename unlink mkdir close syscall open open64 pwrite pwrite64,-Wl,--wrap=$(f))
$(T)/unit/test_power: LDFLAGS += $(JOURNALLED)
POWER := $(T)/cli/power
$(POWER): $(B)/tests/cli/power.o $(CLI_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) $(JOURNALLED) -Wl,--wrap=main -o $@ $^ $(CLI_LIBS) $(LIBS)
$(T)/proof/%: $(B)/tests/proof/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)
# It queries inline, with the vectors of the machine it runs on.
$(B)/tests/laws/law_threads.o: tests/laws/law_threads.c
	$(call compile,$(if $(TARGET_IS_X86_64),-march=native))
$(LAWS): $(LAW_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
define link_test
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)
endef
# It runs without the test library.
$(T)/portable/%: $(B)/tests/portable/%.o $(filter-out %/foreign.o,$(HELP_OBJ)) $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
.SECONDARY:
-include $(wildcard $(B)/tests/*/*.d $(T)/*.d) $(LAW_OBJ:.o=.d)

# The fuzz target is one function; without a fuzzer it replays files, which every test run does with
# the corpus. Checksums are off in its library, so that the rest of the gate must hold alone: the
# sources that use them are compiled again and linked before the library, which then need not supply
# its own.
FUZZ_OBJ  := $(patsubst %.c,$(B)/fuzz/%.o,$(shell grep -l tamis__sums_match $(LIB_SRC)))
REPLAY    := $(T)/fuzz/replay
$(B)/fuzz/%.o: %.c
	$(call compile,-DTAMIS_FUZZING)
-include $(FUZZ_OBJ:.o=.d)
$(REPLAY): $(B)/tests/fuzz/gate.o $(B)/tests/fuzz/replay.o $(FUZZ_OBJ) $(LIB)
	$(call link_test)
# The checks of the gate and the readers are tested in full without checksums in front of them.
$(T)/unit/test_decisions: $(B)/tests/unit/test_decisions.o $(HELP_OBJ) $(FUZZ_OBJ) $(LIB)
	$(call link_test)
REPLAY_RDB := $(T)/fuzz/replay_rdb
$(REPLAY_RDB): $(B)/tests/fuzz/rdb.o $(B)/tests/fuzz/replay_rdb.o $(REDIS_OBJ) $(FUZZ_OBJ) $(LIB)
	$(call link_test)

# What other fuzzers kept, in directories of their own.
KEPT := $(T)/fuzz/replay_import $(T)/fuzz/replay_talk $(T)/fuzz/replay_summary
$(KEPT): $(T)/fuzz/replay_%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay_corpus.o $(FUZZ_OBJ) $(LIB)
	$(call link_test)
KEPT_RDB := $(T)/fuzz/replay_corpus_rdb
$(KEPT_RDB): $(B)/tests/fuzz/rdb.o $(B)/tests/fuzz/replay_corpus.o $(REDIS_OBJ) $(FUZZ_OBJ) $(LIB)
	$(call link_test)
REPLAYS = $(REPLAY) $(REPLAY_RDB) "$(KEPT_RDB) tests/fuzz/corpus-rdb" \
          $(foreach program,$(KEPT),"$(program) tests/fuzz/corpus-$(program:$(T)/fuzz/replay_%=%)")

# The module, in a server; each is a program by itself. PROGRAMS=, KEYS= and MUTANTS= make the long
# ones longer: `make redis-proof`.
REDIS_TESTS := $(addprefix tests/redis/,cluster.py own.py work.py bounds.py upgrade.py server_side.py prototypes.sh one_item.py bf.py cf.py cms.py programs.py killed.py attacks.py mutate.py)
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
# No program of `make test` or of the short proofs takes ten minutes: one that takes half an hour waits for something.
LIMIT    ?= 1800
.PHONY: programs
programs: all $(PROGRAMS) $(if $(IS_SMALL),,$(ENGINE_PROGRAMS))
ifeq ($(IS_SMALL),) # else in mk/small.mk
test-here: programs $(BENCH)
	@TAMIS=$(abspath $(CMD)) TAMIS_REDIS=$(abspath $(REDIS_SO)) $(ENGINE_ENV) TAMIS_MUTATE=$(abspath $(MUTATE)) TAMIS_SO=$(abspath $(SO)) B=$(B) CC="$(CC)" CXX="$(CXX)" \
	LIMIT=$(LIMIT) tests/run "$(LAWS) --part 1/2" "$(LAWS) --part 2/2" $(LONG_TESTS) "$(WRITERS) 60" $(REPLAYS) \
	    $(filter-out $(LONG_TESTS),$(UNIT) $(REDIS_TESTS) $(ENGINE_TESTS) $(HOUSE))
endif
