# SPDX-License-Identifier: MIT
# --whitespace: columns between any number of blanks, as awk sees them.
printf '0.0.0.0  ads.example\n127.0.0.1\t \ttracker.example  # why\n  ::1 local\n\nlonely\n' >hosts
tamis build hosts.tamis --whitespace --field 2 --comment '#' hosts
printf 'ads.example\ntracker.example\nlocal\n' | tamis check hosts.tamis
printf ' x  y   ads.example \n' | tamis check -c hosts.tamis --whitespace --field 3
echo "-- several are joined as in CSV"
tamis build -q two.tamis --whitespace --field 2,1 --comment '#' hosts
printf 'ads.example,0.0.0.0\n' | tamis check two.tamis
printf '0.0.0.0,ads.example\n' | tamis check two.tamis --csv --field 2,1
printf 'ip   name\n0.0.0.0 ads.example\n' | tamis check hosts.tamis --whitespace --field name
tamis check hosts.tamis --whitespace hosts
tamis check hosts.tamis --whitespace -d, --field 2 hosts
