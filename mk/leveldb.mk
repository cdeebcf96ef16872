# SPDX-License-Identifier: MIT
# Filters of LevelDB's tables: two headers, and tests in real tables where its library is installed.

# ---- Testing and measuring ----------------------------------------------------------------------
#
# make leveldb-test    in tables of LevelDB: answers, other policies, reads of blocks
# make bench-leveldb   beside its own filter: ns per key that is not there, bytes per key

HAS_LEVELDB   := $(if $(SAN),,$(call can_link,leveldb/c.h,leveldb_major_version(),-lleveldb))
LEVELDB_TESTS := $(if $(HAS_LEVELDB),$(addprefix $(B)/tests/leveldb/,policy reads),tests/leveldb/absent.sh)
LEVELDB_CXX    = $(CXX) -std=c++17 -Wall -Wextra -O2 -I include -I . $(SAFE) $(LDFLAGS) -o $@ $(filter-out %.hpp,$^) -lleveldb $(LIBS)

$(B)/tests/leveldb/policy: $(B)/tests/leveldb/policy.o $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lleveldb $(LIBS)
-include $(B)/tests/leveldb/policy.d
$(B)/tests/leveldb/reads: tests/leveldb/reads.cc engines/leveldb/tamis_leveldb.hpp $(B)/tests/support/bounds.o $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  C++   $@")
	$(Q)$(LEVELDB_CXX)
$(B)/bench/leveldb/tables: bench/leveldb/tables.cc engines/leveldb/tamis_leveldb.hpp $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  C++   $@")
	$(Q)$(LEVELDB_CXX)

ENGINE_PROGRAMS += $(filter-out %.sh,$(LEVELDB_TESTS))
ENGINE_TESTS    += $(LEVELDB_TESTS)

.PHONY: leveldb-test leveldb-test-here bench-leveldb bench-leveldb-here
leveldb-test:
	@tools/setup test
	@$(MAKE) --no-print-directory -j2 leveldb-test-here
leveldb-test-here: $(filter-out %.sh,$(LEVELDB_TESTS))
	@LIMIT=$(LIMIT) tests/run $(LEVELDB_TESTS)
bench-leveldb:
	@tools/setup bench
	@$(MAKE) --no-print-directory -j2 bench-leveldb-here
bench-leveldb-here: $(B)/bench/leveldb/tables
	$<
