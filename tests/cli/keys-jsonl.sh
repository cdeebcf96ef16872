# SPDX-License-Identifier: MIT
# --jsonl: a field of a JSON object in each line is the key.
cat >log.jsonl <<'END'
{"user": {"email": "a@b.c", "tags": ["x", {"email": "no"}]}, "n": 17}
  {"n":18,"user":{"email":"caf\u00e9 \ud83d\ude00 \"q\" \\ \/"}}
{"n": null, "user": {"email": null}}
{"n": true, "user": "none"}
{"n": [1], "user": {"email": {}}}
{"user": {"email": "twice", "email": "second"}, "n": 1.50e3}
END
tamis build email.tamis --jsonl user.email log.jsonl
printf '%s\n' a@b.c 'café 😀 "q" \ /' twice second no | tamis check email.tamis
tamis build n.tamis --jsonl n log.jsonl
printf '17\n18\ntrue\n1.50e3\n1500\nnull\n' | tamis check n.tamis
tamis check -n n.tamis --jsonl n log.jsonl
echo "-- several, names with dots and commas, spellings of a name"
tamis build -q two.tamis --jsonl user.email,n log.jsonl
echo 'a@b.c,17' | tamis check two.tamis
printf '{"a.b": "Rome", "c,d": "x"}\n' | tamis build -q dots.tamis --jsonl 'a\.b,c\,d'
echo Rome,x | tamis check dots.tamis
printf '{"\\u0061\\u002eb": "Rome", "c,d": "x"}\n' | tamis check -c dots.tamis --jsonl 'a\.b,c\,d'
echo "-- not objects"
printf '%s\n' '' ' ' x '[]' '{' '{"n"' '{"n":' '{"n":1' '{"n" 1}' '{"n":"x}' '{"x":"y' '{}' '{"n":"\x"}' \
    '{"n":"\ud800"}' '{"n":"\udc00x"}' '{"n":"\u12"}' '{"n":1}' '{"a":[[[{"n":2}]]],"n":1}' '{"n":}' '{,"n":1}' |
    tamis check -n n.tamis --jsonl n
printf '{"n":"\377"}\n' | tamis check n.tamis --jsonl n
printf '{"n":17}\nx\n' | tamis check --strict n.tamis --jsonl n; echo $?
printf 'x\ny\n' | tamis build bad.tamis --jsonl n; echo $?
for list in '' 'a,' '.a' 'a..b' ','; do tamis check n.tamis --jsonl "$list" log.jsonl; done
tamis check n.tamis --jsonl n --field 1 log.jsonl
tamis check n.tamis --jsonl "$(yes a | head -n 65 | paste -sd.)" log.jsonl
test ! -e bad.tamis
echo "-- long ones"
{ printf '{"n":17,"x":"' && head -c 3000000 /dev/zero | tr '\0' x && printf '"}\n'; } | tamis check -c n.tamis --jsonl n
{ printf '{"x":"' && head -c 17000000 /dev/zero | tr '\0' x && printf '","n":17}\n'; } | tamis check -c n.tamis --jsonl n
i=0 && { while [ $i -lt 2000 ]; do printf '{"a":' && i=$((i + 1)); done; printf '1\n'; } | tamis check -c n.tamis --jsonl n
echo "# several fields, of which a line lacks one" >&2
printf '%s\n' '{"a":1,"b":2}' '{"a":1}' '{"b":2}' | tamis uniq --jsonl a,b
printf 'a,b\n1,2\n1\n' | tamis uniq --csv --field a,b
