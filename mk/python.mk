# SPDX-License-Identifier: MIT
# The module of Python, where its headers are.

# ---- Building and testing -----------------------------------------------------------------------
#
# make python          an archive of the sources, and from that a wheel, in $(B)/python
# make python-test     installs what that needs, builds the wheel, installs it in a fresh environment and runs its tests there
# make bench-python    beside rbloom, fastbloom-rs, pybloom-live and pyprobables: some minutes
#
# `make test` runs the same tests with a module that is linked with the library at hand, in an environment that is kept:
# what it needs from PyPI is in tests/python-binding/requirements.txt. PYTHON= names another interpreter.

PYTHON     ?= python3
PY_DIR     := $(B)/python
PY_TREE    := $(PY_DIR)/tree
PY_SO      := $(PY_TREE)/tamis/_tamis.abi3.so
PY_OBJ     := $(patsubst %.c,$(B)/%.o,$(wildcard bindings/python/*.c))
PY_FILES   := $(wildcard bindings/python/tamis/*.py* bindings/python/tamis/*/*.py*)
PY_TESTS   := $(foreach test,$(notdir $(wildcard tests/python-binding/test_*.py)),"tests/python-binding/run $(test)")
PY_CONFIG   = import os, sys, sysconfig; p = sysconfig.get_paths()["include"]; \
              sys.exit(print(p) if sys.version_info >= (3, 11) and os.path.exists(p + "/Python.h") else 1)
PY_INCLUDE  = $(eval PY_INCLUDE := $(shell $(PYTHON) -c '$(PY_CONFIG)' 2>/dev/null))$(PY_INCLUDE)
# The functions of Python's own interface hold functions as pointers to objects.
PY_FLAGS    = -isystem $(PY_INCLUDE) -DPy_LIMITED_API=0x030B0000 -Wno-pedantic

.PHONY: python python-test python-test-here python-ready bench-python bench-python-here
python:
	@$(PYTHON) -m venv $(PY_DIR)/builder
	@$(PY_DIR)/builder/bin/pip install -q build
	@rm -f $(PY_DIR)/tamis-*
	@$(PY_DIR)/builder/bin/python -m build -o $(PY_DIR) . >$(PY_DIR)/build.log 2>&1 || { tail -40 $(PY_DIR)/build.log >&2 && exit 1; }
	@ls $(PY_DIR)/tamis-*

$(B)/bindings/python/%.o: bindings/python/%.c
	$(call compile,$(PY_FLAGS))
$(PY_SO): $(PY_OBJ) $(LIB) $(PY_FILES)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)cp -R bindings/python/tamis $(PY_TREE)
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $(PY_OBJ) $(LIB) $(LIBS)
-include $(PY_OBJ:.o=.d)

# What can be had: without headers or PyPI the tests are skipped.
python-ready: $(if $(PY_INCLUDE),$(PY_SO)) $(CMD)
	@[ -z "$(PY_INCLUDE)" ] || (mkdir -p $(PY_TREE)/tamis/bin && cp -f $(CMD) $(PY_TREE)/tamis/bin/tamis)
	@[ -z "$(PY_INCLUDE)" ] || tests/python-binding/environment $(PYTHON) $(PY_DIR)/venv || true

ENGINE_PROGRAMS += $(if $(SAN),,python-ready)
ENGINE_TESTS    += $(PY_TESTS)
python-test:
	@tools/setup python
	@$(MAKE) --no-print-directory -j2 python-test-here
python-test-here: $(CMD) python
	@rm -rf $(PY_DIR)/fresh
	@tests/python-binding/environment $(PYTHON) $(PY_DIR)/fresh
	@$(PY_DIR)/fresh/bin/pip install -q --no-deps $(PY_DIR)/tamis-$(VERSION)-*.whl
	@TAMIS=$(abspath $(CMD)) TAMIS_PYTHON=$(abspath $(PY_DIR)/fresh/bin/python) LIMIT=$(LIMIT) tests/run $(PY_TESTS)

bench-python:
	@tools/setup python
	@$(MAKE) --no-print-directory -j2 bench-python-here
bench-python-here: python-ready
	@PYTHONPATH=$(abspath $(PY_TREE)) bench/python/run $(PYTHON) $(PY_DIR)/bench
