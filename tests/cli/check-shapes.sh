# SPDX-License-Identifier: MIT
# -o, --json and colours show the key as the input has it, whatever the shape of its lines.
printf 'id,"e-mail",city\n1,a@b.c,"Paris, FR"\n2,"x ""y""@z",Rome\n3,"two\nlines",Bonn\n' >p.csv
printf '{"id": 1, "to": {"mail": "a@\\u0062.c"}}\n{"to": {"mail": "no"}}\n' >p.jsonl
tamis build -q mail.tamis --csv --field e-mail p.csv
tamis build -q two.tamis --csv --field city,id p.csv
see() { sed "s/$(printf '\033')/ESC/g"; }
tamis check -o mail.tamis --csv --field e-mail p.csv
tamis check -o mail.tamis --jsonl to.mail p.jsonl
tamis check -o two.tamis --csv --field city,id p.csv
echo 'x  1   Rome 2' | tamis check -o two.tamis --whitespace --field 3,4
echo 'Rome,2 # why' | tamis check -o --comment '#' two.tamis
tamis check --color always mail.tamis --csv --field e-mail p.csv | see
tamis check --color always mail.tamis --jsonl to.mail p.jsonl | see
tamis check --color always two.tamis --csv --field city,id p.csv | see
tamis check --json mail.tamis --csv --field e-mail p.csv
tamis check --json mail.tamis --jsonl to.mail p.jsonl
tamis check --json two.tamis --csv --field city,id p.csv | head -n 1
echo "-- context of records, files with a header"
tamis check -n -A1 two.tamis --csv --field city,id p.csv
cp p.csv q.csv
tamis check -c two.tamis --csv --field city,id p.csv q.csv
tamis check -m1 two.tamis --csv --field city,id p.csv q.csv
