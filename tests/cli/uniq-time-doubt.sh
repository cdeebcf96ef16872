# SPDX-License-Identifier: MIT
# Lines without a time, lines that come late, and what --time-field cannot be.
{
    echo 'header'
    echo '2026-11-18 07:15:00	ant'
    echo '  continued	ant'
    echo '2026-02-30 07:15:00	bee'
    echo '2026-11-18 07:30:00	bee'
    echo '2026-11-18 07:29:00	bee' # late, but within the window: as if it were half past
    echo '2026-11-18 07:19:59	bee' # later than the window
    echo '2026-11-18 06:00:00	cat'
    echo '2026-11-18 07:40:00	bee' # ten minutes after the newest
} >log
by() { tamis uniq --window 10m --time-field 1 "$@"; echo $?; }
by --field 1- log
by --field 2 log
by --field 2 -q log
by --field 2 --json log 2>&1 | sed 's/"lost_expected": [^,]*/"lost_expected": N/'
tail -n +2 log | by --field 2 --strict
by log
by --field 2 --time-format s log
grep ^2026-11 log | by --field 2 -t '|'
printf 'Nov 18 07:15:00 box ant\n' | tamis uniq --window 10m -t ' ' --time-field 1-3 --field 5
printf 'Nov 18 07:15:00 box ant\n' | tamis uniq --window 10m -t ' ' --time-field 1-3 --field 5 --strict
# A jump over many windows takes no longer than one, and neither does one over 9998 years.
printf '%s\tant\n' 0001-01-01 9999-12-31T23:59:59Z 9999-12-31T23:59:59.9Z | tamis uniq -q --window 1ms --capacity 10 --time-field 1 --field 2

echo "# refused"
refuse() { tamis uniq "$@" log; echo $?; }
refuse --time-field 1
refuse --time-field 1 --window 10
refuse --time-field 0 --window 10m
refuse --time-field 1,3 --window 10m
refuse --time-field 1 --window 10m --time-format syslog
refuse --time-format iso --window 10m
refuse --time-field 1 --window 10m --exact
