# SPDX-License-Identifier: MIT
# Where things go on a user's machine.

# ---- Installing ---------------------------------------------------------------------------------
#
# make install     PREFIX=/usr/local, or the directories below; DESTDIR= for packagers
# make uninstall   with the same settings: removes what was installed, and directories left empty
# make dist        the sources of the last commit: $(B)/tamis-VERSION.tar.gz, the same bytes each time

BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
DOCDIR     ?= $(DATADIR)/doc/tamis
BASHDIR    ?= $(DATADIR)/bash-completion/completions
ZSHDIR     ?= $(DATADIR)/zsh/site-functions
FISHDIR    ?= $(DATADIR)/fish/vendor_completions.d
REDISDIR   ?= $(LIBDIR)/redis/modules

HEADERS := $(notdir $(wildcard include/*.h))
LEVELDB_HEADERS := $(wildcard engines/leveldb/*)
NOTICES := LICENSE NOTICE

install: all pages
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/tamis \
	           $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(REDISDIR) $(DESTDIR)$(DOCDIR)
	install -m 755 $(CMD) $(DESTDIR)$(BINDIR)/tamis
	install -m 644 $(HEADERS:%=include/%) $(if $(IS_SMALL),,$(LEVELDB_HEADERS)) $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 $(LIB) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SO) $(DESTDIR)$(LIBDIR)/
	$(if $(IS_SMALL),,install -m 755 $(REDIS_SO) $(DESTDIR)$(REDISDIR)/tamis.so)
	ln -sf $(notdir $(SO)) $(DESTDIR)$(LIBDIR)/libtamis.so.$(SOVERSION)
	ln -sf $(notdir $(SO)) $(DESTDIR)$(LIBDIR)/libtamis.so
	$(call fill,tamis.pc,pkgconfig)
	$(call fill,tamis-config.cmake,cmake/tamis)
	$(call fill,tamis-config-version.cmake,cmake/tamis)
	install -m 644 $(NOTICES) $(DESTDIR)$(DOCDIR)/
	install -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man7 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	for page in $(PAGES)/man/*.[17]; do \
	    [ ! -e "$$page" ] || install -m 644 "$$page" $(DESTDIR)$(MANDIR)/man$${page##*.}/; done
	$(call install_page,tamis.bash,$(BASHDIR)/tamis)
	$(call install_page,_tamis,$(ZSHDIR)/_tamis)
	$(call install_page,tamis.fish,$(FISHDIR)/tamis.fish)
	$(if $(IS_SMALL),,$(if $(HAS_SQLITE),@$(MAKE) --no-print-directory sqlite-install))
	$(tell_loader)
# A build for another machine has none.
install_page = [ ! -e $(PAGES)/completions/$(1) ] || install -m 644 $(PAGES)/completions/$(1) $(DESTDIR)$(2)
# DESTDIR holds another machine's tree, whose packager knows what to do there.
tell_loader = $(if $(DESTDIR),,@tools/loader $(LIBDIR) libtamis.so.$(SOVERSION))

# Paths in tamis.pc and the CMake files are relative to those files, so that the tree can be moved.
# A directory that is not below the prefix is written as it is.
ROOT     := $(patsubst %/,%,$(abspath $(PREFIX)))
below     = $(if $(filter $(ROOT)/%,$(abspath $(1))),$(2)$(patsubst $(ROOT)/%,/%,$(abspath $(1))),$(1))
EMPTY    :=
# As many steps up as the directory is below the prefix.
to_prefix = $(subst $(EMPTY) ,,$(patsubst %,/..,$(subst /, ,$(patsubst $(ROOT)/%,%,$(abspath $(LIBDIR))))))
IS_BELOW  = $(filter $(ROOT)/%,$(abspath $(LIBDIR)))
fill = sed -e 's|@PC_PREFIX@|$(if $(IS_BELOW),$${pcfiledir}/..$(to_prefix),$(PREFIX))|' \
           -e 's|@PC_LIBDIR@|$(call below,$(LIBDIR),$${prefix})|' \
           -e 's|@PC_INCLUDEDIR@|$(call below,$(INCLUDEDIR),$${prefix})|' \
           -e 's|@CONFIG_INCLUDEDIR@|$(if $(IS_BELOW),$(call below,$(INCLUDEDIR),$${_tamis_libdir}$(to_prefix)),$(INCLUDEDIR))|' \
           -e 's|@VERSION@|$(VERSION)|g; s|@SOVERSION@|$(SOVERSION)|g; s|@MAJOR@|$(MAJOR)|g; s|@MINOR@|$(MINOR)|g' \
           tools/$(1).in > $(DESTDIR)$(LIBDIR)/$(2)/$(1)

uninstall: $(if $(IS_SMALL),,sqlite-uninstall)
	rm -f $(DESTDIR)$(BINDIR)/tamis $(HEADERS:%=$(DESTDIR)$(INCLUDEDIR)/%) \
	      $(patsubst engines/leveldb/%,$(DESTDIR)$(INCLUDEDIR)/%,$(LEVELDB_HEADERS)) \
	      $(addprefix $(DESTDIR)$(LIBDIR)/,libtamis.a libtamis.so libtamis.so.$(SOVERSION) libtamis.so.$(VERSION)) \
	      $(addprefix $(DESTDIR)$(LIBDIR)/,pkgconfig/tamis.pc cmake/tamis/tamis-config.cmake) \
	      $(DESTDIR)$(LIBDIR)/cmake/tamis/tamis-config-version.cmake $(DESTDIR)$(REDISDIR)/tamis.so
	rm -f $(DESTDIR)$(MANDIR)/man1/tamis.1 $(DESTDIR)$(MANDIR)/man1/tamis-*.1 \
	      $(DESTDIR)$(MANDIR)/man7/tamis-*.7 $(DESTDIR)$(BASHDIR)/tamis $(DESTDIR)$(ZSHDIR)/_tamis $(DESTDIR)$(FISHDIR)/tamis.fish $(NOTICES:%=$(DESTDIR)$(DOCDIR)/%)
	$(call remove_empty,$(DESTDIR)$(LIBDIR),cmake/tamis pkgconfig redis/modules)
	$(call remove_empty,$(DESTDIR)$(DATADIR),doc/tamis bash-completion/completions zsh/site-functions \
	    fish/vendor_completions.d)
	$(call remove_empty,$(DESTDIR)$(MANDIR),man1 man7)
	$(if $(DESTDIR)$(filter-out /usr /usr/local,$(ROOT)),$(call remove_empty,$(DESTDIR)$(ABOVE)/,\
	    $(patsubst $(ABOVE)/%,%,$(abspath $(BINDIR) $(LIBDIR) $(INCLUDEDIR) $(MANDIR) $(DATADIR)))))
	$(tell_loader)
# Removes directories in there, and above them up to there, if empty. Those of the system stay,
# empty or not.
remove_empty = @if cd $(1) 2>/dev/null; then rmdir -p $(2) 2>/dev/null || true; fi
ABOVE := $(if $(DESTDIR),,$(patsubst %/,%,$(dir $(ROOT))))

# From the last commit, with its date: nothing of this machine is in it.
DIST := tamis-$(VERSION)
dist:
	@test -e .git || { echo "make dist packs what is in git, and this is not a checkout" >&2; exit 1; }
	@mkdir -p $(B)
	git -c tar.umask=0022 archive --format=tar --prefix=$(DIST)/ HEAD > $(B)/$(DIST).tar
	gzip -9nf $(B)/$(DIST).tar
	@echo $(B)/$(DIST).tar.gz
