# SPDX-License-Identifier: MIT
# --canon: one form of many, kept in the image and given to every key that comes to it.
printf 'Example.COM\nhttp://user@Evil.example:8080/path\nalpha.example.\n' >list.txt
tamis build d.tamis --canon domain list.txt
tamis info d.tamis | grep note
tamis info --json d.tamis | grep -o '"notes".*'
echo "-- without a word, and with the same word"
printf 'EXAMPLE.com\nevil.example\nother\nhttps://alpha.example/?q\nno name\n' >asked.txt
tamis check d.tamis asked.txt
tamis check -c --canon domain d.tamis asked.txt
echo "-- what has no such form is not in the set"
tamis check -v d.tamis asked.txt
echo "-- and is not added: left out and told, or an error"
cp d.tamis added.tamis
tamis add added.tamis asked.txt
tamis add --strict d.tamis asked.txt
tamis build e.tamis --strict --canon domain asked.txt
tamis build e.tamis --canon ip asked.txt
test ! -e e.tamis
printf '::ffff:192.0.2.1\n2001:DB8::0\n' | tamis build -q ip.tamis --canon ip
printf '192.0.2.1\n2001:db8:0:0::\nx\n' | tamis check ip.tamis
echo "-- every verb that takes keys"
tamis build -q c.tamis -k counting -n 100 --canon trim,lower </dev/null
printf ' A\nb \na\n' | tamis add c.tamis
printf 'A\nB\nC\n' | tamis count c.tamis
printf 'A \n' | tamis remove c.tamis
printf 'a\n' | tamis count c.tamis
printf 'A\t1\nB\t2\n' | tamis build -q m.tamis --spec bloomier:update=yes,value=8 --values --canon lower
printf ' \nB\n' | tamis get m.tamis
printf 'b\t9\n' | tamis put -q m.tamis && echo B | tamis get m.tamis
echo X >x.txt
tamis build -q l.tamis --label one x.txt --canon lower
echo Y | tamis label -q l.tamis two && printf 'x\nY\n' | tamis check --labels l.tamis
tamis info l.tamis | grep note
echo "-- fields first"
printf '1; Foo ;x\n' | tamis check -c c.tamis -d ';' --field 2
printf '1; B ;x\n' | tamis check c.tamis -d ';' --field 2
echo "-- hex first: the form is one of bytes"
printf '466f6F\n' | tamis build -q h.tamis --hex --canon lower
printf '464f4f\n' | tamis check h.tamis
tamis info h.tamis | grep note
echo "-- an empty image to add to, and members for the doctor"
tamis create -q e.tamis --canon ip --hex
echo 3A3a31 | tamis add -q e.tamis && tamis info e.tamis | grep note
echo 303a303a303a303a303a303a303a31 >one.hex
tamis check e.tamis one.hex
tamis doctor e.tamis --members one.hex | grep ' members '
tamis doctor e.tamis --members one.hex --canon lower
tamis bench --image d.tamis asked.txt --canon lower
