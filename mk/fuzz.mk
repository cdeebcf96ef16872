# SPDX-License-Identifier: MIT
# Fuzzers of everything that reads untrusted bytes.

# Fuzzing runs for FUZZ_SECONDS or FUZZ_RUNS inputs; new findings go to a directory next to the
# program. What is worth keeping is in tests/fuzz/corpus*, which every test run replays.
#
# make fuzz           images, patches, admission state: the gate
# make fuzz-import    bytes of other systems, starting from their own files: FORMAT=guava for one of them
# make fuzz-talk      sessions of two hosts
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
