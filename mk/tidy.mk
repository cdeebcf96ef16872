# SPDX-License-Identifier: MIT
# Arrows, names, width, formatting; golden images.

# ---- Housekeeping -----------------------------------------------------------------------------

# Arrows between rooms, width, names; and formatting.
.PHONY: tidy tidy-format
tidy: layers tidy-format
	@tools/tidy
layers:
	@tools/layers
tidy-format:
	@clang-format-14 --dry-run -Werror $(SOURCES)

# Names exported by the shared library, in the order of tests/symbols.txt.
symbols: $(SO)
	@nm -D --defined-only $< | awk '$$2 ~ /[A-Z]/ {print $$3}' | LC_ALL=C sort

SOURCES = $(wildcard include/*.h $(addsuffix /*.[ch],src/* cli cli/* engines/* bindings/* tests/*) \
            examples/*.c bench/*.[ch] bench/cli/*.c bench/redis/*.c bench/peers/*.c)
format:
	@tools/setup dev
	clang-format-14 -i $(SOURCES)
	tools/spdx

# Golden images are permanent: this adds those of new kinds and refuses to change old ones.
golden: $(CMD) $(T)/golden-bad/forge
	tests/golden/make $(CMD)
	$(T)/golden-bad/forge tests/golden-bad
$(T)/golden-bad/%: $(B)/tests/golden-bad/%.o $(HELP_OBJ) $(LIB)
	$(call link_test)

clean:
	rm -rf build build-*
