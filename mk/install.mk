# Where things go on a user's machine.

# ---- Installing ---------------------------------------------------------------------------------

BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
BASHDIR    ?= $(DATADIR)/bash-completion/completions
ZSHDIR     ?= $(DATADIR)/zsh/site-functions
FISHDIR    ?= $(DATADIR)/fish/vendor_completions.d
REDISDIR   ?= $(LIBDIR)/redis/modules

install: all pages
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/tamis \
	           $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(REDISDIR)
	install -m 755 $(CMD) $(DESTDIR)$(BINDIR)/tamis
	install -m 644 include/tamis.h include/tamis_fast.h include/tamis_jobs.h $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 $(LIB) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SO) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(REDIS_SO) $(DESTDIR)$(REDISDIR)/tamis.so
	ln -sf $(notdir $(SO)) $(DESTDIR)$(LIBDIR)/libtamis.so.$(MAJOR)
	ln -sf $(notdir $(SO)) $(DESTDIR)$(LIBDIR)/libtamis.so
	$(call fill,tools/tamis.pc.in) > $(DESTDIR)$(LIBDIR)/pkgconfig/tamis.pc
	$(call fill,tools/tamis-config.cmake.in) > $(DESTDIR)$(LIBDIR)/cmake/tamis/tamis-config.cmake
	$(call fill,tools/tamis-config-version.cmake.in) > $(DESTDIR)$(LIBDIR)/cmake/tamis/tamis-config-version.cmake
	install -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	for page in $(PAGES)/man/*.1; do [ ! -e "$$page" ] || install -m 644 "$$page" $(DESTDIR)$(MANDIR)/man1/; done
	$(call install_page,tamis.bash,$(BASHDIR)/tamis)
	$(call install_page,_tamis,$(ZSHDIR)/_tamis)
	$(call install_page,tamis.fish,$(FISHDIR)/tamis.fish)
# There are none in a build for another machine.
install_page = [ ! -e $(PAGES)/completions/$(1) ] || install -m 644 $(PAGES)/completions/$(1) $(DESTDIR)$(2)
fill = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' \
           -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' -e 's|@VERSION@|$(VERSION)|g' -e 's|@MAJOR@|$(MAJOR)|g' $(1)

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/tamis $(DESTDIR)$(INCLUDEDIR)/tamis.h $(DESTDIR)$(INCLUDEDIR)/tamis_fast.h \
	      $(DESTDIR)$(INCLUDEDIR)/tamis_jobs.h \
	      $(DESTDIR)$(LIBDIR)/libtamis.* $(DESTDIR)$(REDISDIR)/tamis.so \
	      $(DESTDIR)$(LIBDIR)/pkgconfig/tamis.pc
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/tamis
	rm -f $(DESTDIR)$(MANDIR)/man1/tamis.1 $(DESTDIR)$(MANDIR)/man1/tamis-*.1 $(DESTDIR)$(BASHDIR)/tamis \
	      $(DESTDIR)$(ZSHDIR)/_tamis $(DESTDIR)$(FISHDIR)/tamis.fish
