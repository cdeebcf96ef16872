# SPDX-License-Identifier: MIT
# Small libraries: make KINDS="blocked split" FORMATS="parquet".
#
# The registries list only these (tools/small), so a linker finds no reference to the rest. The
# static library still holds all of tamis.h and tamis_jobs.h: a program gets what it calls. The
# shared one has every function of tamis.h, but those of parts that none of its kinds needs only
# fail (src/absent), and no jobs.
#
# WITH= adds what does not follow from the kinds:
#
#     jobs       tamis_jobs.h in the shared library
#     patches    patches there
#     slices     answers from a part of an image there
#     pages      pages of storage engines there; brings builder
#     builder    the builder there, although no kind is built
#     constants  tamis_constant_at there, for bindings
#     vectors    kernels for AVX2, AVX-512 and NEON in both: faster in batches, the same bytes
#
# Compiled for size, without unwind tables: an exception that a callback throws cannot pass.

SMALL     := $(B)/small
SMALL_WHY := $(shell tools/small $(SMALL) "$(KINDS)" "$(FORMATS)" "$(WITH)" 2>&1)
$(if $(SMALL_WHY),$(error $(SMALL_WHY)))
FLAGS += -DTAMIS_KINDS_DEF='"$(SMALL)/kinds.def"' -DTAMIS_FORMATS_DEF='"$(SMALL)/formats.def"' \
         $(if $(HAS_VECTORS),,-DTAMIS_PLAIN) -ffunction-sections -fdata-sections \
         -fno-unwind-tables -fno-asynchronous-unwind-tables -fno-math-errno
ifeq ($(HAS_VECTORS),) # kernels are empty files
FLAGS_avx2   :=
FLAGS_avx512 :=
endif
SO_FLAGS := -Wl,--gc-sections -Wl,-z,noseparate-code -Wl,--no-ld-generated-unwind-info
SO_SRC   := $(filter-out $(shell cat $(SMALL)/left_out),$(LIB_SRC)) $(shell cat $(SMALL)/instead)
SO_OBJ   := $(SO_SRC:%.c=$(B)/%.o)
$(B)/libtamis.so.$(VERSION): $(SMALL)/left_out

# ---- Its tests ----------------------------------------------------------------------------------
#
# The laws for the kinds inside, their golden images, and the unit tests that need no other kind;
# the rest are reported.

SMALL_UNIT = $(patsubst tests/unit/%.c,$(T)/unit/%,$(shell tests/inside $(SMALL) $(UNIT_SRC)))
SMALL_LAWS = $(T)/laws/laws
test-here: all small-programs
	@TAMIS=$(abspath $(CMD)) B=$(B) CC="$(CC)" CXX="$(CXX)" tests/run \
	    "$(SMALL_LAWS) --part 1/2" "$(SMALL_LAWS) --part 2/2" $(SMALL_UNIT) "tests/inside $(SMALL) --rest $(UNIT_SRC)"
.PHONY: small-programs
small-programs: ; @$(MAKE) --no-print-directory $(SMALL_LAWS) $(SMALL_UNIT)
