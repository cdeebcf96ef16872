# SPDX-License-Identifier: MIT
# What reconcile does not do, each with a sentence.
printf 'a\nb\n' >a
printf 'b\nc\n' >b
refuse() {
    tamis reconcile "$@" </dev/null
    echo $?
}
refuse
refuse a
refuse a b c
refuse a b --write-stream
refuse a b --listen 127.0.0.1:0
refuse a --write-stream --stdio
refuse a --listen 127.0.0.1:0 --connect 127.0.0.1:1
refuse a b --key b
refuse a b --timeout 3
refuse a --stdio --timeout 0
refuse a --stdio --timeout 100000
refuse a --stdio --seed 3
refuse - -
refuse - --stdio
refuse - --read-stream -
refuse a --stdio -o -
refuse a b --only 3
refuse missing b
refuse a missing
refuse missing --connect 127.0.0.1:1
refuse a --listen here
refuse a --listen :7000
refuse a --listen ::1:7000
refuse a --listen 127.0.0.1:
refuse a --listen 127.0.0.1:http
refuse a --listen 127.0.0.1:65536
refuse a --listen '[]:7'
refuse a --over ''
