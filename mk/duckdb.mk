# SPDX-License-Identifier: MIT
# The extension for DuckDB. It needs nothing of DuckDB to be built; its tests take DuckDB from PyPI.

# ---- Building and testing -----------------------------------------------------------------------
#
# make duckdb             builds it: build/duckdb/tamis.duckdb_extension, for every DuckDB from 1.4 on
# make duckdb-test        installs what its tests need, builds it, and runs them with two versions of DuckDB
# make duckdb-test-all    the same with DUCKDB_ALL= versions
# make bench-duckdb       ten million rows: queries, builds and their plans

DUCKDB_SRC := $(wildcard engines/duckdb/*.c)
DUCKDB_OBJ := $(DUCKDB_SRC:%.c=$(B)/%.o)
DUCKDB_EXT := $(B)/duckdb/tamis.duckdb_extension
# As DuckDB names what it was compiled for.
DUCKDB_ARCH     := $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(firstword $(subst -, ,$(TARGET)))))
DUCKDB_PLATFORM ?= $(if $(findstring darwin,$(TARGET)),osx,linux)_$(DUCKDB_ARCH)

.PHONY: duckdb duckdb-test duckdb-test-here duckdb-test-all duckdb-test-all-here bench-duckdb bench-duckdb-here
duckdb: $(DUCKDB_EXT)
$(B)/duckdb/tamis.so: $(DUCKDB_OBJ) $(SQL_OBJ) $(LIB) engines/duckdb/exports.map
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions -Wl,--version-script=engines/duckdb/exports.map $(SAFE) $(CFLAGS) $(LDFLAGS) \
	    -o $@ $(DUCKDB_OBJ) $(SQL_OBJ) $(LIB) $(LIBS)
$(DUCKDB_EXT): $(B)/duckdb/tamis.so tools/duckdb-footer
	$(Q)tools/duckdb-footer $< $(DUCKDB_PLATFORM) v1.2.0 v$(VERSION) >$@
-include $(DUCKDB_OBJ:.o=.d)
