# SPDX-License-Identifier: MIT
# On a terminal there are colours, unless NO_COLOR or --color says no.
if ! script -qec true /dev/null >/dev/null 2>&1; then echo "no script(1), or no pseudo-terminal that it could open"; exit 77; fi
unset NO_COLOR
TERM=xterm
export TERM
count() { script -qec "$*" /dev/null </dev/null | grep -c "$(printf '\033')"; }
[ "$(count tamis help fold)" -gt 5 ] && echo colours
count NO_COLOR=1 tamis help fold
[ "$(count NO_COLOR= tamis help fold)" -gt 5 ] && echo colours
count tamis help fold --color=never
count TERM=dumb tamis help fold
[ "$(count NO_COLOR=1 tamis help fold --color=always)" -gt 5 ] && echo colours
count tamis info missing
