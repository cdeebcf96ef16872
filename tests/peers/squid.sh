#!/bin/bash
# SPDX-License-Identifier: MIT
# Cache digests beside a real Squid on loopback: what it builds we read and build anew, and what we
# write it fetches as a neighbour's and answers by. Squid is the installed one, or Debian's package
# unpacked into the build folder; nothing is installed, and nothing stays running.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || skip squid "no python3"

unpack() { # the package and its libraries that are not here, unpacked beside each other
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    mkdir -p "$store/squid" && cd "$store/squid" || return 1
    apt-get download squid squid-common squid-langpack libecap3 libltdl7 libnetfilter-conntrack3 libnfnetlink0 libmnl0 || return 1
    for package in ./*.deb; do dpkg-deb -x "$package" root || return 1; done
}

squid=$(PATH=$PATH:/usr/sbin command -v squid)
if [ ! "$squid" ]; then
    export SQUID_ROOT=$store/squid/root
    squid=$SQUID_ROOT/usr/sbin/squid
    [ -x "$squid" ] || (unpack) >"$work/unpack.log" 2>&1
    for folder in "$SQUID_ROOT"/usr/lib/*-linux-gnu*; do export LD_LIBRARY_PATH=$folder:$LD_LIBRARY_PATH; done
    "$squid" -v >/dev/null 2>&1 || skip squid "Squid is not here and its package cannot be unpacked"
fi

# Squid gives up root, and must write into the folder all the same.
chmod 711 "$work"
beside_squid() { # verb, numbers
    mkdir -m 777 "$work/$1$2" && python3 "$here/squid.py" "$squid" "$PEER" "$work/$1$2" "$@"
}
step "squid: what Squid built, 5 bits per entry, we read and make anew" beside_squid fetch 5 8
step "squid: what Squid built, 9 bits per entry, we read and make anew" beside_squid fetch 9 8
step "squid: what we wrote, Squid fetches and answers by" beside_squid serve 12 100
exit $code
