# SPDX-License-Identifier: MIT
# The extension for PostgreSQL, where a server can be built for.

# ---- Building and installing --------------------------------------------------------------------
#
# make postgres           builds it by the server's own rules, for the server of PG_CONFIG=
# make postgres-install   installs it there: as root, for servers of a distribution
# make postgres-installcheck   runs pg_regress against the server that runs there, as PGPORT, PGUSER, ... say
# make postgres-test      installs what its tests need, builds it, and runs them in servers of their own
# make bench-postgres     ten million rows: queries, joins, aggregates and their plans
#
# The page of each engine or binding says what `make test` builds, runs and sets for it: ENGINE_PROGRAMS, _TESTS, _ENV.

PG_CONFIG ?= pg_config
HAS_PGXS  := $(shell pgxs=$$($(PG_CONFIG) --pgxs 2>/dev/null) && [ -e "$$pgxs" ] && echo yes)
PG_SO     := $(B)/postgres/tamis.so
PG_MAKE    = $(MAKE) --no-print-directory -s -C $(B)/postgres -f $(CURDIR)/engines/postgres/Makefile VPATH=$(CURDIR)/engines/postgres \
             TAMIS=$(CURDIR) TAMIS_LIB=$(abspath $(LIB)) PG_CONFIG=$(PG_CONFIG)

.PHONY: postgres postgres-install postgres-installcheck postgres-test postgres-test-here bench-postgres bench-postgres-here
postgres: $(PG_SO)
# Its objects know no headers, and take some seconds.
$(PG_SO): $(wildcard engines/postgres/* engines/sql/*) include/tamis.h $(LIB)
	$(if $(HAS_PGXS),,@echo "PostgreSQL's $(PG_CONFIG) or its PGXS is not installed: see docs/postgres.md" >&2 && exit 2)
	$(if $(V),,@echo "  PGXS  $@")
	$(Q)rm -rf $(@D) && mkdir -p $(@D) && $(PG_MAKE) all

postgres-install: $(PG_SO)
	$(Q)$(PG_MAKE) install

postgres-installcheck: $(PG_SO)
	$(Q)$(PG_MAKE) installcheck

postgres-test:
	@tools/setup postgres
	@$(MAKE) --no-print-directory -j2 postgres-test-here
PG_TESTS := $(addprefix tests/postgres/,values.py keys.py slices.py programs.py faults.py replication.py recipes.py regress.py)
ENGINE_PROGRAMS += $(if $(HAS_PGXS),$(if $(SAN),,$(PG_SO)))
ENGINE_TESTS    += $(PG_TESTS)
ENGINE_ENV      += TAMIS_POSTGRES=$(abspath $(B)/postgres)
postgres-test-here: $(CMD) $(PG_SO)
	@TAMIS=$(abspath $(CMD)) TAMIS_POSTGRES=$(abspath $(B)/postgres) LIMIT=$(LIMIT) tests/run $(PG_TESTS)

bench-postgres:
	@tools/setup postgres-bench
	@$(MAKE) --no-print-directory -j2 bench-postgres-here
bench-postgres-here: $(CMD) $(PG_SO)
	@TAMIS=$(abspath $(CMD)) TAMIS_POSTGRES=$(abspath $(B)/postgres) bench/postgres/run
