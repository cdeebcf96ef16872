# SPDX-License-Identifier: MIT
# Speed, next to peers and the machine's floor.

# ---- Measuring ----------------------------------------------------------------------------------
#
# make bench         our kinds, the libraries that can be installed by name and the floor: a minute
# make bench-full    10^8 keys, strings, two threads, every size; JSON and pictures: ten minutes
# make bench-count   instructions per key under callgrind: the same every time
# make bench-cli     the command next to grep, rg, mlr, jq, DuckDB, awk, sort and another bloom: ROWS= N= ROUNDS=, some minutes
# make bench-redis   the module in a server, next to RedisBloom where TAMIS_REDISBLOOM= names it: some minutes
# make bench-redis-hold   how long each of its commands blocks other clients: MIB= KINDS= COMMANDS=, 8 GiB of memory
#
# A peer is a shared object that implements bench/peer.h. bench/peers/NAME.c or .cc is one file for
# each library that has a package; what is not installed is reported and skipped.

BENCH_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard bench/*.c))

bench bench-full bench-count bench-cli bench-redis bench-redis-hold:
	@tools/setup bench
	@$(MAKE) --no-print-directory -j2 $@-here
# Code that a storage engine inlines is compiled as peers are: -O3, for the machine it runs on.
$(B)/bench/ours_inline.o: CFLAGS += -O3
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

# Tools for measuring the command: a line generator, a stopwatch, and the least a command can do.
CLI_TOOLS := $(patsubst bench/cli/%.c,$(B)/bench/cli/%,$(wildcard bench/cli/*.c))
$(CLI_TOOLS): %: %.o
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $<
-include $(CLI_TOOLS:%=%.d)
# DuckDB comes as a Python package; where it cannot be had, its rows are skipped.
DUCKDB := $(abspath $(B))/bench/duckdb/bin/python
$(DUCKDB):
	@python3 -c 'import duckdb' 2>/dev/null || \
	    { python3 -m venv $(B)/bench/duckdb && $(B)/bench/duckdb/bin/pip install -q duckdb; } >/dev/null 2>&1 || true
bench-cli-here: $(CMD) $(CLI_TOOLS) $(DUCKDB)
	@DUCKDB=$$([ -x $(DUCKDB) ] && echo $(DUCKDB) || echo python3) bench/cli/run $(abspath $(CMD)) $(abspath $(B)/bench/cli)

# A load generator, and a module that only reads its arguments.
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
