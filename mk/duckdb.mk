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

# DuckDB comes from PyPI, each version into a place of its own; where one cannot be had, its tests say so.
DUCKDB_VERSIONS ?= 1.4.4 2.0.0
DUCKDB_ALL      ?= 1.4.0 1.4.4 1.5.0 1.5.6 2.0.0
DUCKDB_READY     = $(DUCKDB_VERSIONS:%=$(B)/duckdb/%/ready)
$(B)/duckdb/%/ready:
	@rm -rf $(@D) && mkdir -p $(@D)
	@if { python3 -m venv $(@D) && $(@D)/bin/pip install -q --retries 1 --timeout 20 --only-binary :all: duckdb==$*; } >$(@D)/log 2>&1; then touch $@; else \
	    echo "  duckdb $* cannot be had: $$(tail -1 $(@D)/log)"; rm -rf $(@D)/bin; fi
# The whole list with the last version, and with others what depends on them. Without any, each program skips itself.
DUCKDB_PROGRAMS  := $(addprefix tests/duckdb/,values.py keys.py files.py faults.py sessions.py)
DUCKDB_TESTS      = $(foreach v,$(DUCKDB_VERSIONS),$(DUCKDB_PROGRAMS:%="tests/duckdb/with $(v) %")) \
                    "tests/duckdb/with $(lastword $(DUCKDB_VERSIONS)) tests/duckdb/recipes.py" tests/duckdb/footer.sh tests/duckdb/slots.py \
                    $(foreach program,jobs.py pairs.py,"tests/duckdb/with $(lastword $(DUCKDB_VERSIONS)) tests/sql/$(program) DuckDB")
ENGINE_PROGRAMS += $(if $(SAN),,$(DUCKDB_EXT) $(DUCKDB_READY))
ENGINE_TESTS    += $(DUCKDB_TESTS)
ENGINE_ENV      += TAMIS_DUCKDB=$(abspath $(DUCKDB_EXT))
duckdb-test:
	@tools/setup duckdb
	@$(MAKE) --no-print-directory -j2 duckdb-test-here
duckdb-test-all:
	@tools/setup duckdb
	@$(MAKE) --no-print-directory -j2 DUCKDB_VERSIONS="$(DUCKDB_ALL)" DUCKDB_HEADER_VERSION=1.4.4 duckdb-test-here
# The header is in DuckDB's sources, which are large.
DUCKDB_HEADER := $(B)/duckdb/duckdb_extension.h
$(DUCKDB_HEADER): $(firstword $(DUCKDB_READY))
	@work=$$(mktemp -d) && { $(<D)/bin/pip download -q --no-deps --no-binary duckdb -d $$work duckdb==$(DUCKDB_HEADER_VERSION) && \
	    tar xOzf $$work/duckdb-*.tar.gz --wildcards '*/src/include/duckdb_extension.h' >$@; } 2>/dev/null || rm -f $@; rm -rf $$work
duckdb-test-here: $(CMD) $(DUCKDB_EXT) $(DUCKDB_READY) $(if $(DUCKDB_HEADER_VERSION),$(DUCKDB_HEADER))
	@TAMIS=$(abspath $(CMD)) TAMIS_DUCKDB=$(abspath $(DUCKDB_EXT)) DUCKDB_HEADER=$(abspath $(DUCKDB_HEADER)) LIMIT=$(LIMIT) tests/run $(DUCKDB_TESTS)

bench-duckdb:
	@tools/setup duckdb
	@$(MAKE) --no-print-directory -j2 bench-duckdb-here
bench-duckdb-here: $(DUCKDB_EXT) $(lastword $(DUCKDB_READY))
	@TAMIS_DUCKDB=$(abspath $(DUCKDB_EXT)) $(dir $(lastword $(DUCKDB_READY)))bin/python bench/duckdb/run
