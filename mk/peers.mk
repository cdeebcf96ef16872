# SPDX-License-Identifier: MIT
# Our bytes in other systems' programs, and theirs in ours.

# ---- Peers: the systems whose filters we read and write, both ways ------------------------------
#
# tests/peers/NAME.sh   installs the system (into $(B)/peers, or by its package), makes at least a
#                       thousand random filters on each side and lets the other read them; what
#                       cannot be installed is reported and skipped
# tests/peers/peer.c    our side of it
#
# PEERS= selects a few of them.

PEER  := $(T)/peers/peer
PEERS ?= $(sort $(wildcard tests/peers/*.sh))
peers:
	@tools/setup test
	@$(MAKE) --no-print-directory -j2 peers-here
peers-here: all $(PEER)
	@B=$(abspath $(B)) PEER=$(abspath $(PEER)) TAMIS=$(abspath $(CMD)) CC="$(CC)" CXX="$(CXX)" tests/run $(PEERS)
$(T)/peers/%: $(B)/tests/peers/%.o $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(CC) $(SAFE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
