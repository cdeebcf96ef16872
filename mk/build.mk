# SPDX-License-Identifier: MIT
# From sources to the library, the command, the module, manual pages and completions.

# ---- Building ---------------------------------------------------------------------------------

$(B)/%_avx2.o: %_avx2.c
	$(call compile,$(FLAGS_avx2))
$(B)/%_avx512.o: %_avx512.c
	$(call compile,$(FLAGS_avx512))
$(B)/cli/%.o: cli/%.c
	$(call compile,$(foreach name,$(CLI_WITH),$(if $(WITH_$(name)),-DTAMIS_WITH_$(name))))
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

# Its name is made there.
$(SO): $(SO_OBJ) Makefile mk/build.mk
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions -Wl,-soname,libtamis.so.$(SOVERSION) $(SAFE) $(CFLAGS) $(SO_FLAGS) $(LDFLAGS) -o $@ $(SO_OBJ) $(LIBS)
	$(Q)ln -sf $(@F) $(B)/libtamis.so.$(SOVERSION) && ln -sf $(@F) $(B)/libtamis.so

$(CMD): $(CLI_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CLI_LIBS) $(LIBS)

# The module of Redis and Valkey: the library inside, and one name outside.
$(REDIS_SO): $(REDIS_OBJ) $(LIB)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

-include $(sort $(LIB_OBJ:.o=.d) $(SO_OBJ:.o=.d)) $(CLI_OBJ:.o=.d) $(REDIS_OBJ:.o=.d) $(SQL_OBJ:.o=.d)

# ---- Manual pages and completions -----------------------------------------------------------------
#
# A program with the table of commands writes them, in a build for this machine; scdoc makes the
# pages.

PAGES_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard cli/pages/*.c)) $(filter-out $(B)/cli/main.o,$(CLI_OBJ))
PAGES     := $(B)/pages
pages: $(PAGES)/made
$(PAGES)/pages: $(PAGES_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CLI_LIBS) $(LIBS)
$(PAGES)/made: $(PAGES)/pages tools/pages
	$(Q)tools/pages $< $(PAGES)
	@touch $@
-include $(PAGES_OBJ:.o=.d)
