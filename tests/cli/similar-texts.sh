# SPDX-License-Identifier: MIT
# Texts by the words that stand in a row, across lines.
cat >fox <<'END'
The quick brown fox jumps over the lazy dog
and then it sleeps
END
cat >fox2 <<'END'
The quick brown fox
jumps over the lazy dog and   then it SLEEPS
END
echo "one two" >short
echo "one   two" >short2
: >empty
tamis similar --exact --shingles 3 fox fox2
tamis similar --exact --shingles 3 --canon lower fox fox2
tamis similar --shingles 3 fox fox2
echo "-- a text that is shorter than a shingle"
tamis similar --exact --shingles 3 short short2
tamis similar --exact --shingles 3 short fox
echo "-- nothing is like nothing"
tamis similar --exact --shingles 3 empty empty
tamis similar empty empty
tamis similar empty fox
echo "-- near duplicates among many"
tamis similar --shingles 2 --min-similarity 80% --canon lower fox fox2 short short2
