# SPDX-License-Identifier: MIT
# Proofs that take minutes or hours, and very large filters.

# ---- Proofs: minutes each, the short ones also in CI -------------------------------------------

# The longest first, so that the processors finish together.
LONG_PROOFS := $(addprefix tests/proof/,sanitizers.sh same_bytes.sh) \
               $(addprefix $(T)/proof/,no_false_negative measured_rates) \
               $(addprefix tests/proof/,sanitized_laws.sh planted_foreign.sh planted.sh threads.sh planted_cli.sh planted_redis.sh planted_redis_bytes.sh programs.sh fuzz.sh)
$(B)/tests/proof/%.o: CPPFLAGS += $(if $(SHORT),-DTAMIS_SHORT)
# SHORT skips what needs minutes to be useful: completely full tables, a build for each fuzzer, one
# with the thread sanitizer, one that measures coverage; and more steps of the random programs that
# every test run tries.
LEFT_OUT := $(if $(SHORT),$(T)/proof/full_tables $(addprefix tests/proof/,fuzz.sh threads.sh coverage.sh programs.sh))
proof-here: programs $(PROOF) $(T)/portable/images $(if $(SHORT),,$(DUCKDB_READY))
	@SHORT=$(SHORT) LIMIT=$(if $(SHORT),$(LIMIT),0) tests/run $(filter-out $(LEFT_OUT),$(LONG_PROOFS)) tests/redis/sanitized.sh \
	    $(if $(SHORT),,tests/postgres/sanitized.sh tests/duckdb/sanitized.sh) \
	    $(filter-out $(LONG_PROOFS) $(LEFT_OUT),$(PROOF) $(wildcard tests/proof/*.sh))

# Many writers of one image, killed at any moment: some minutes.
.PHONY: writers-proof
RUNS ?= 10000
writers-proof: programs
	@TAMIS=$(abspath $(CMD)) tests/run "$(WRITERS) $(RUNS)"

# Every branch and every condition of the code that reads untrusted bytes, taken both ways.
.PHONY: coverage
coverage:
	@tools/setup coverage
	@tests/run tests/proof/coverage.sh

# The module under load: 10,000 random programs, kill -9 in a million adds, ten million mutants, and a tenth of them
# with the sanitizers. Half an hour.
redis-proof: programs
	@PROGRAMS=100000 KEYS=1000000 MUTANTS=10000000 tests/run $(addprefix tests/redis/,programs.py killed.py attacks.py mutate.py)
	@PROGRAMS=1000 MUTANTS=1000000 tests/run tests/redis/sanitized.sh

# One change of the sources at a time, in the code that reads bytes and writes files: a test must
# fail for each. Some hours; continues where it was stopped, and ends with the table of
# docs/proof.md. FILES= selects a few of them.
mutants: programs
	nice tests/proof/mutants.py $(FILES)
	tests/proof/mutants.py --report $(FILES)

# One filter over a cluster with 10^8 keys, while a primary is killed, slots move and a node joins:
# some minutes, and 3 GiB in $TMPDIR.
CLUSTER_KEYS ?= 1e8
cluster-proof: all
	KEYS=$(CLUSTER_KEYS) TAMIS=$(abspath $(CMD)) TAMIS_REDIS=$(abspath $(REDIS_SO)) tests/run tests/redis/cluster.py


# More than 2^33 bits in one filter: 1.3 GiB of memory and some minutes.
big: $(T)/big/big
	tests/run $<
# 10^8 keys of every kind that is built, in 64 MiB, with default options and for some with others: a
# minute or two each, 2 GiB in the temporary directory.
BIG_BUILDS ?= fuse:fpr=1/256 fuse:fpr=1/256,arity=4 ribbon:fpr=1/256 bloomier:value=8
BIG_KEYS   ?= 100M
BIG_MEMORY ?= 64M
big-build: $(T)/big/building
	for spec in $(BIG_BUILDS) $$($<); do $< $$spec $(BIG_KEYS) $(BIG_MEMORY) 2 $${TMPDIR:-/tmp} || exit 1; done
$(T)/big/%: $(B)/tests/big/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)

# The measured tables of docs/kinds: every kind at three loads, some minutes. KINDS= selects a few.
tables: $(T)/tables/tables
	$< $(KINDS) > $(B)/tables.txt; off=$$?; tools/tables < $(B)/tables.txt; exit $$off
$(T)/tables/%: $(B)/tests/tables/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)
