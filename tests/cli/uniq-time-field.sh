# SPDX-License-Identifier: MIT
# --time-field: the window goes by the times of the lines, in every format, and the same every time.
{
    echo '2026-11-18T07:15:00Z,disk full'
    echo '2026-11-18T07:25:00Z,disk full' # ten minutes later is still within them
    echo '2026-11-18T07:36:00Z,disk full' # eleven more are not
    echo '2026-11-18T07:36:00Z,fan'
    echo '2026-11-18T08:45:00+01:00,fan' # nine minutes, in another zone
} >iso.csv
echo "# ISO"; tamis uniq -q --window 10m -t , --time-field 1 --field 2 iso.csv
echo "# repeats"; tamis uniq -q --window 10m -t , --time-field 1 --field 2 iso.csv --repeats

# The same moments, by number and as web servers write them: fields 4 and 5 are one time.
moments='1794986100 1794986700 1794987360'
for form in %s %s.5 %s000 %s000000 %s000000000; do
    for moment in $moments; do printf "$form\tant\n" $moment; done | tamis uniq -q --total --window 10m --time-field 1 --field 2
done
for unit in 1 1000 1000000 1000000000; do
    for minute in 0 10 21; do echo "$((minute * 60 * unit)) ant"; done |
        tamis uniq -q --total --window 10m -t ' ' --time-field 1 --field 2 --time-format $(echo s ms us ns | cut -d ' ' -f $(((${#unit} + 2) / 3)))
done
echo "# CLF"
{
    echo '192.0.2.1 - - [18/Nov/2026:07:15:00 +0000] "GET / HTTP/1.1" 200'
    echo '192.0.2.1 - - [18/Nov/2026:07:24:59 +0000] "GET /a HTTP/1.1" 200'
    echo '192.0.2.1 - - [18/Nov/2026:08:36:00 +0100] "GET /b HTTP/1.1" 200'
} | tamis uniq -q --window 10m -t ' ' --time-field 4-5 --field 1

# By a model: the last time of each key, over 40,000 lines, with any number of threads. A key is new after more than a window and a step; between the two either is right.
awk 'BEGIN {
    srand(1)
    for (i = 0; i < 40000; i++) {
        now += rand() * 2
        printf "%.3f %d\n", now, rand() * 3000
    }
}' >busy
tamis uniq -q --window 1h -t ' ' --time-field 1 --field 2 --fpr 1e-9 busy >one
tamis uniq -q --window 1h -t ' ' --time-field 1 --field 2 --fpr 1e-9 -T4 busy | cmp - one
cat busy | tamis uniq -q --window 1h -t ' ' --time-field 1 --field 2 --fpr 1e-9 | cmp - one
awk 'NR == FNR { printed[$0]; next }
    {
        age = $2 in last ? $1 - last[$2] : 1e9
        if (age <= 3600 && $0 in printed) print "a repeat was printed: " $0
        if (age > 3600 * 33 / 32 + 0.01 && !($0 in printed)) print "a new line is missing: " $0
        last[$2] = $1
    }' one busy

# In every shape of line, by number or by name.
echo "# CSV"
printf '%s\n' 'time,"the user",what' '"2026-11-18 07:15:00","Doe, J.",a' '2026-11-18 07:20:00,"Doe, J.",b' '2026-11-18 07:31:00,"Doe, J.",c' >table.csv
tamis uniq -q --csv --window 10m --time-field time --field 'the user' table.csv
tamis uniq -q --csv --header --window 10m --time-field 1 --field 2 table.csv table.csv
tamis uniq -q --csv --window 10m --time-field when --field 2 table.csv 2>&1; echo $?
echo "# JSONL"
printf '%s\n' '{"at":{"time":1794986100},"user":"ant"}' '{"user":"ant","at":{"time":"2026-11-18T07:20:00Z"}}' '{"user":"ant"}' '{"at":{"time":1794987360000},"user":"ant"}' >events
tamis uniq --jsonl user --window 10m --time-field at.time events 2>&1
echo "# columns"
printf '%s\n' 'when who' '2026-11-18T07:15:00Z  ant' '2026-11-18T07:20:00Z	ant' '2026-11-18T07:31:00Z ant' | tamis uniq -q --whitespace --window 10m --time-field when --field who
printf '%s\n' 'a  [18/Nov/2026:07:15:00   +0000]' 'a [18/Nov/2026:08:20:00 +0100]' | tamis uniq -q --whitespace --window 10m --time-field 2-3 --field 1
printf '%s\n' 'when	who' '1	ant' '2	ant' | tamis uniq -q --header --window 10m --time-field when --field who
printf '%s\n' 'when	who' '1	ant' '2	ant' | tamis uniq -q --window 10m --time-field when
