# SPDX-License-Identifier: MIT
# The extension for SQLite, where its headers are installed.

# ---- Building and installing --------------------------------------------------------------------
#
# make sqlite             builds it: $(B)/sqlite/tamis.so to load, and libtamis-sqlite.a to link
# make sqlite-install     installs both, with the header: part of make install
# make sqlite-test        installs what its tests need, builds it, and runs them
# make sqlite-proof       100,000 transactions with losses of power, and 20,000 of two connections (TRANSACTIONS=)
# make bench-sqlite       ten million rows: queries, joins, aggregates and their plans

HAS_SQLITE = $(eval HAS_SQLITE := $(call can_link,sqlite3ext.h,SQLITE_VERSION_NUMBER,))$(HAS_SQLITE)
LITE_SRC := $(wildcard engines/sqlite/*.c)
LITE_OBJ := $(LITE_SRC:%.c=$(B)/%.o)
LITE_SO  := $(B)/sqlite/tamis.so
LITE_LIB := $(B)/sqlite/libtamis-sqlite.a
# A program that links SQLite calls it by its names, and one that loads the extension by a table.
LITE_LINKED := $(LITE_SRC:engines/sqlite/%.c=$(B)/sqlite/linked/%.o)

.PHONY: sqlite sqlite-install sqlite-uninstall sqlite-test sqlite-test-here bench-sqlite bench-sqlite-here
sqlite: $(LITE_SO) $(LITE_LIB)
$(LITE_OBJ) $(LITE_LINKED): | sqlite-headers
.PHONY: sqlite-headers
sqlite-headers:
	$(if $(HAS_SQLITE),,@echo "SQLite's headers (sqlite3ext.h) are not installed: see docs/sqlite.md" >&2 && exit 2)
	@:
$(B)/sqlite/linked/%.o: engines/sqlite/%.c
	$(call compile,-DSQLITE_CORE)
$(LITE_SO): $(LITE_OBJ) $(SQL_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(LITE_LIB): $(LITE_LINKED) $(SQL_OBJ)
	$(if $(V),,@echo "  AR    $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $^
-include $(LITE_OBJ:.o=.d) $(LITE_LINKED:.o=.d)

# ---- Installing: part of make install where it was built ----------------------------------------

SQLITEDIR ?= $(LIBDIR)/sqlite3
sqlite-install: sqlite
	install -d $(DESTDIR)$(SQLITEDIR) $(DESTDIR)$(LIBDIR) $(DESTDIR)$(INCLUDEDIR)
	install -m 755 $(LITE_SO) $(DESTDIR)$(SQLITEDIR)/tamis.so
	install -m 644 $(LITE_LIB) $(DESTDIR)$(LIBDIR)/
	install -m 644 engines/sqlite/tamis_sqlite.h $(DESTDIR)$(INCLUDEDIR)/
sqlite-uninstall:
	rm -f $(DESTDIR)$(SQLITEDIR)/tamis.so $(DESTDIR)$(LIBDIR)/libtamis-sqlite.a $(DESTDIR)$(INCLUDEDIR)/tamis_sqlite.h
	$(call remove_empty,$(DESTDIR)$(LIBDIR),sqlite3)

# ---- Tests --------------------------------------------------------------------------------------

# Programs that link the extension, so that sanitizers see it too.
LITE_PROGRAMS := $(B)/tests/sqlite/power $(B)/tests/sqlite/hostile
$(LITE_PROGRAMS): $(B)/tests/sqlite/%: $(B)/tests/sqlite/%.o $(B)/tests/sqlite/forgetful.o $(LITE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lsqlite3 $(LIBS)
LITE_TESTS := $(if $(HAS_SQLITE),$(LITE_PROGRAMS)) $(addprefix tests/sqlite/,functions.py tables.py recipes.py)
# docs/sql.md, and the same keys, in every engine that is there.
SQL_JOBS := tests/sql/jobs.py tests/sql/pairs.py
ENGINE_PROGRAMS += $(if $(HAS_SQLITE),sqlite $(LITE_PROGRAMS))
ENGINE_TESTS    += $(LITE_TESTS) $(SQL_JOBS)
ENGINE_ENV      += TAMIS_SQLITE=$(abspath $(B)/sqlite)
sqlite-test:
	@tools/setup sqlite
	@$(MAKE) --no-print-directory -j2 sqlite-test-here
sqlite-test-here: $(CMD) $(LITE_SO) $(LITE_PROGRAMS)
	@TAMIS=$(abspath $(CMD)) TAMIS_SQLITE=$(abspath $(B)/sqlite) LIMIT=$(LIMIT) tests/run $(LITE_TESTS)

TRANSACTIONS ?= 100000
.PHONY: sqlite-proof
sqlite-proof: $(LITE_SO) $(LITE_PROGRAMS)
	@TAMIS_SQLITE=$(abspath $(B)/sqlite) LIMIT=7200 tests/run "$(B)/tests/sqlite/power $(TRANSACTIONS)" "tests/sqlite/tables.py $(shell expr $(TRANSACTIONS) / 5)"

bench-sqlite:
	@tools/setup sqlite
	@$(MAKE) --no-print-directory -j2 bench-sqlite-here
bench-sqlite-here: $(LITE_SO)
	@TAMIS_SQLITE=$(abspath $(B)/sqlite) bench/sqlite/run
