# SPDX-License-Identifier: MIT
# Page one fits on a screen and has a dozen verbs; the rest is one page further, and what several
# verbs share has pages of its own.
verbs() { sed -n '/^Topics:/q; s/^  \([a-z-]*\)  .*/\1/p'; }
tamis -h >short && tamis help >page && tamis help more >more
sed 's/all [0-9]* commands/all commands/' short
awk 'END { if (NR > 23) print "the reminder has " NR " lines" }' short
awk 'END { if (NR > 45) print "page one has " NR " lines" }' page
verbs <short >few && verbs <page | cmp - few
tamis --help | cmp - page
verbs <more | sort >all && sort few | comm -23 - all
grep -q "all $(wc -l <all) commands" short || echo "the reminder counts otherwise"
for topic in $(sed '1,/^Topics:/d' more | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    echo "-- $topic"
    tamis help $topic | head -n 1
    tamis help $topic | awk -v topic=$topic 'length > 80 { print topic ": " $0 }'
    tamis help $topic | tail -n 1 | grep -c .
done
echo "-- what the program knows is explained"
tamis help keys >keys
words() { sed "s/.*(allowed: //; s/.*there are //; s/)\$//; s/,//g"; }
explained() { while read -r word; do grep -qE "(^|[ ,])${word%be}([ ,(]|$)" keys || echo "$word"; done; }
tamis check x --canon no-such-step 2>&1 | words | tr ' ' '\n' | explained
tamis check x --keys no-such-code 2>&1 | words | tr ' ' '\n' | explained
for option in $(tamis kinds blocked | sed -n '1,/every kind/d; s/^  \([a-z]*\) .*/\1/p'); do
    tamis help spec | grep -q "^  .*$option" || echo "$option"
done
echo "-- verbs that read keys refer to it"
for verb in build check add uniq count; do tamis help $verb | grep -c '^"tamis help keys"'; done
tamis help fold | grep -c '^"tamis help keys"'
echo "-- not a page"
tamis help keyz; echo $?
tamis help encodings; tamis help chekc; tamis help units; tamis help frobnicate
