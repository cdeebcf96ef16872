# SPDX-License-Identifier: MIT
# No room for what is printed, a reader that is gone, and no room for the image that is made.
. "$(dirname "$0")/every-verb.inc"
prints() { # where to
    for words in "check good/blocked good/keys" "count good/counting good/keys" "get good/map good/keys" \
        "label good/labels" "info good/blocked" "doctor good/blocked" "plan -n 1000" "kinds" "plot rate" \
        "bench -n 100" "help" "help add" "add --new good/blocked good/keys -o made" "get-data good/blocked" \
        "build - good/keys" "union good/blocked good/blocked -o -" "uniq good/keys" "uniq --exact good/keys" \
        "semijoin good/keys good/keys" "admit good/keys good/keys" "count --top 3 good/keys" "diff good/blocked good/later -o -" "apply good/blocked good/patch -o -" \
        "formats" "convert good/blocked -" "search good/prints good/prints.fps" \
        "trace good/traffic good/pairs" "record good/traffic good/keys -o -" \
        "neighbours -v good/peers good/keys" "reconcile -q good/keys good/pairs" \
        "reconcile -q --write-stream good/keys"; do
        tamis $words >"$1" </dev/null
        echo "$words: exit $?" >>exits
        rm -f made
    done
    cat exits && rm exits
}
prints /dev/full
echo "-- closed"
for words in "check good/blocked good/keys" "info good/blocked" "plan -n 1000" "kinds" "help"; do
    tamis $words >&- </dev/null
    echo "$words: exit $?"
done
echo "-- no room for files"
trap '' XFSZ
(
    ulimit -f 1
    try build made good/keys
    try add good/counting good/keys -o made
    try union good/blocked good/blocked -o made
    try fold good/blocked 2 -o made
    try resize good/quotient -n 5000 -o made
    try tick good/window -o made
    try put good/map good/pairs -o made
    try label good/labels more good/keys -o made
    try diff good/blocked good/map -o made
    try apply good/blocked good/patch -o made
    try announce good/told -o made --full
    try publish -q good/lists made
    try sync -q good/feeds made
    try keygen made
    try plot rate -o made
    try convert good/blocked made
    try record made good/keys good/pairs
    try reconcile -q good/keys good/pairs -o made
    try reconcile -q --write-stream good/keys -o made
) 2>&1 | cat # a pipe has no limit
ls
