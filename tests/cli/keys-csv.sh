# SPDX-License-Identifier: MIT
# --csv: quoted fields, line ends inside them, and fields by their names in the header.
cat >people.csv <<'END'
id,"e-mail",City
1,a@b.c,"Paris, FR"
2,"x ""y""@z",Rome
3,"two
lines",Bonn
4,5" disk,Oslo
5,,
END
tamis build mail.tamis --csv --field e-mail people.csv
printf 'a@b.c\nx "y"@z\n5" disk\ne-mail\n"a@b.c"\n' | tamis check mail.tamis
printf 'two\nlines\0' | tamis check -0c mail.tamis
echo "-- questions: records as they were, numbers of their first lines"
tamis check -n mail.tamis --csv --field E-MAIL people.csv
tamis check -vn mail.tamis --csv --field City people.csv
tamis check -c mail.tamis --csv --field 2 people.csv
tamis check -c mail.tamis --csv --field 2 --header people.csv
echo "-- several fields are what CSV would write"
tamis build -q two.tamis --csv --field City,id people.csv
printf '"Paris, FR",1\nRome,2\n,5\n' | tamis check two.tamis
printf 'x;2;Rome\nx;1;"Paris, FR"\n' | tamis check two.tamis --csv -d ';' --field 3,2
printf 'x,1,"Paris, FR"\n' | tamis check --csv --field 3,2 two.tamis
echo "-- columns in another order in each file, CR LF, a byte-order mark"
printf '\357\273\277City,id\r\nRome,2\r\nBonn,2\r\n' >other.csv
tamis check -H two.tamis --csv --field city,id people.csv other.csv
printf 'id\tname\n7\tsue\n' | tamis build -q named.tamis --field name
echo sue | tamis check named.tamis
printf '"last, first",x\n"Doe, J",1\n' | tamis build -q quoted.tamis --csv --field '"last, first"'
echo "Doe, J" | tamis check quoted.tamis
echo "-- a pipe that must be read twice"
cat people.csv | tamis build -q twice.tamis -k guava --csv --field e-mail
echo a@b.c | tamis check twice.tamis
cat people.csv | tamis uniq -q --exact --csv --field City | wc -l
echo "-- refused"
tamis check mail.tamis --csv --field e-mial people.csv; echo $?
tamis check mail.tamis --csv --field phone people.csv; echo $?
tamis check mail.tamis --csv people.csv
tamis check mail.tamis --csv --field 2 -d '"' people.csv
tamis check mail.tamis --csv --field 2 --jsonl x people.csv
tamis check mail.tamis --csv --field 2000 people.csv
tamis check mail.tamis --csv --field '"x' people.csv
printf 'a,b\n1,"x\n2,y\n' | tamis build bad.tamis --csv --field b; echo $?
printf 'a,b\n1,"x"y\n2,y\n' | tamis build -f odd.tamis --csv --field b; echo $?
printf 'a,b\n1,"x"y\n2,y\n' | tamis build bad.tamis --strict --csv --field b; echo $?
{ echo a,b && printf '1,"' && head -c 17000000 /dev/zero | tr '\0' x && printf '"\n'; } |
    tamis build bad.tamis --csv --field b; echo $?
printf '' | tamis build -f none.tamis --csv --field b; echo $?
test ! -e bad.tamis
echo "-- records larger than a block, threads"
{ echo a,b && i=0 && while [ $i -lt 40 ]; do
    printf '%d,"' $i && head -c $((i * 10007)) /dev/zero | tr '\0' '\n' && printf '"\n' && i=$((i + 1))
done; } >long.csv
tamis build -q long.tamis --csv --field a long.csv
seq 0 39 | tamis check -c long.tamis
for threads in 1 3; do tamis check -T $threads --csv --field a long.tamis long.csv | cksum; done
tail -n +2 long.csv | cksum
tamis check -n --csv --field a long.tamis long.csv | grep -o '^[0-9]*:3[0-9]*,"'
echo "-- without --csv a quote is told about"
printf 'x,"Rome"\n' | tamis check two.tamis -d, --field 2
echo "-- what joins fields is remembered"
tamis info two.tamis | grep note
printf 'Rome\t2\n' | tamis check two.tamis --field 1,2; echo $?
printf 'Rome\t2\n' | tamis check two.tamis --csv -d '\t' --field 1,2
printf 'Rome,2\n' | tamis build -q x.tamis --note joined=,
