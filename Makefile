# Tamis. One Makefile is the truth: a new file in src/, cli/ or tests/ needs no edit here.
#
#     make run      install what the build needs, build, and do the main job on the sample data
#     make test     install what the tests need, build, run every test
#     make          only build
#
# Honoured: CC CXX AR CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR, V=1 to see commands, B=dir for
# objects, SAN=1 (address and undefined behaviour) or SAN=thread for a checked build.

VERSION_OF = $(shell sed -n 's/^\#define TAMIS_VERSION_$(1) //p' include/tamis.h)
MAJOR   := $(call VERSION_OF,MAJOR)
VERSION := $(MAJOR).$(call VERSION_OF,MINOR).$(call VERSION_OF,PATCH)

CC       ?= cc
CXX      ?= c++
AR       ?= ar
CFLAGS   ?= -O2 -g
PREFIX   ?= /usr/local
B        ?= build$(if $(SAN),-$(SAN:1=san))
Q        := $(if $(V),,@)

WARN  := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
SAN_1      := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_thread := -fsanitize=thread
SAFE       := $(SAN_$(SAN))
# Floating point must plan the same shape on every machine: no fused operations behind our back.
FLAGS := -std=c11 $(WARN) -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -ffp-contract=off \
         -fPIC -fvisibility=hidden -Iinclude -Isrc -I. $(SAFE)
LIBS  := -lm -pthread
# The target decides which vector kernels exist, not the machine that compiles.
TARGET_IS_X86_64 := $(filter x86_64-%,$(shell $(CC) -dumpmachine))
FLAGS_avx2       := $(if $(TARGET_IS_X86_64),-mavx2)

LIB_SRC := $(filter-out %/template.c,$(wildcard src/*/*.c))
CLI_SRC := $(wildcard cli/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
LIB     := $(B)/libtamis.a
SO      := $(B)/libtamis.so.$(VERSION)
CMD     := $(B)/tamis

.PHONY: all run test check setup install uninstall clean format layers bench
.DELETE_ON_ERROR:
all: $(LIB) $(SO) $(CMD)

# ---- Building ---------------------------------------------------------------------------------

$(B)/%_avx2.o: %_avx2.c
	$(call compile,$(FLAGS_avx2))
$(B)/%.o: %.c
	$(call compile)
define compile
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(CC) $(CPPFLAGS) $(FLAGS) $(1) $(CFLAGS) -MMD -MP -c -o $@ $<
endef

$(LIB): $(LIB_OBJ)
	$(if $(V),,@echo "  AR    $@")
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(SO): $(LIB_OBJ)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-soname,libtamis.so.$(MAJOR) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
	$(Q)ln -sf $(@F) $(B)/libtamis.so.$(MAJOR) && ln -sf $(@F) $(B)/libtamis.so

$(CMD): $(CLI_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)

# ---- Tests ------------------------------------------------------------------------------------
#
# tests/unit/NAME.c     one program each: what is special to one part
# tests/laws/*.c        one program: every law on every kind of the registry, and on tests/broken
# tests/proof/NAME.c    programs of minutes: rates at 10^7 probes, 10^8 checks (make proof)
# tests/cli             the command, as a user types it
# tests/python          the second implementation of the image format
#
# The test registry is registry.c once more, with the kinds of tests/kinds.def behind ours.

T        := $(B)/tests
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT     := $(UNIT_SRC:tests/unit/%.c=$(T)/unit/%)
PROOF    := $(patsubst tests/proof/%.c,$(T)/proof/%,$(wildcard tests/proof/*.c))
LAW_SRC  := $(wildcard tests/laws/*.c tests/samples/*.c tests/broken/*.c) src/kinds/template.c
LAW_OBJ  := $(LAW_SRC:%.c=$(B)/%.o) $(T)/registry.o
LAWS     := $(T)/laws/laws
HELP_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/help/*.c))

$(T)/registry.o: src/kinds/registry.c
	$(call compile,-DTAMIS_EXTRA_KINDS='"tests/kinds.def"')
$(T)/unit/%: $(B)/tests/unit/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)
$(T)/proof/%: $(B)/tests/proof/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)
$(LAWS): $(LAW_OBJ) $(HELP_OBJ) $(LIB)
	$(call link_test)
define link_test
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)
endef
.SECONDARY:
-include $(wildcard $(B)/tests/*/*.d $(T)/*.d)

# ---- Housekeeping -----------------------------------------------------------------------------

clean:
	rm -rf build build-*
