# SPDX-License-Identifier: MIT
# --canon domain, email, url, hash and ip: what people write for them; what is none is told.
printf '%s\n' 'evil[.]com' 'evil(.)org' '"quoted.com"' '<angle.com>' '||tracker.com^' '*.wild.com' \
    'hxxp://defanged[.]net/x' '<script>' '@@||allowed.com^' 'a b' >list
tamis build d.tamis list --canon domain -p 1e-6
printf '%s\n' evil.com EVIL.org quoted.com angle.com tracker.com wild.com defanged.net script allowed.com |
    tamis check d.tamis
echo "-- an image of the first edition stays what it is"
printf 'a[.]b\n*.c\n' | tamis build -q old.tamis -n 10 -p 1e-6
tamis add -q old.tamis --note canon=domain </dev/null
printf 'A[.]B\na.b\n*.C\nc\n' | tamis check old.tamis
printf 'A[.]B\na.b\n' | tamis check --canon domain old.tamis
tamis union old.tamis d.tamis -o u.tamis
echo "-- email, url"
printf 'User[@]Evil[.]com\n<mailto:a@b.c>\nnone\n' | tamis build -q e.tamis --canon email -p 1e-6
printf 'User@evil.com\nuser@evil.com\na@B.C\n' | tamis check e.tamis
printf 'hxxps[:]//Evil[.]com/A\nevil.com\n' | tamis build -q u.tamis --canon url -p 1e-6
printf 'https://evil.com:443/A#x\nhttps://evil.com/a\n' | tamis check u.tamis
echo "-- digests with counts and names"
printf '%s\n' 000000005AD76BD555C1D6D771DE417A4B87E4B4:10 'd41d8cd98f00b204e9800998ecf8427e  empty' \
    sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709 password | tamis build h.tamis --canon hash -p 1e-6
printf '%s\n' 000000005ad76bd555c1d6d771de417a4b87e4b4 D41D8CD98F00B204E9800998ECF8427E \
    da39a3ee5e6b4b0d3255bfef95601890afd80709:3 0000 | tamis check h.tamis
printf '%s\n' 'MD5 (a (b) = c) = D41D8CD98F00B204E9800998ECF8427E' '\d41d8cd98f00b204e9800998ecf8427e  a\nb' \
    'SHA256 (a) = d41d8cd98f00b204e9800998ecf8427e' 'MD5 (a) =' 'MD5 (' '\' | tamis check h.tamis
echo "-- people before addresses; rules of browsers that are not about a name; ports after addresses"
printf '%s\n' 'Bob <bob@evil.com>' '"Eve, or" <eve@evil.org>' 'http://url.com/?q=<a@query.com>' 'news.com##.advert' \
    'news.com#@#.advert' 'news.com#?#div' 'frag.com#part' | tamis build n.tamis --canon domain -p 1e-6
printf '%s\n' evil.com evil.org url.com query.com news.com frag.com | tamis check n.tamis
echo 'Bob <bob@evil.com>' | tamis check e.tamis
echo 'User <User@evil.com>' | tamis check e.tamis
printf '%s\n' news.com##.advert news.com/bad/ | tamis build p.tamis --canon url-prefix -p 1e-6
printf '%s\n' 192.0.2.7:443 '[2001:DB8::7]:443' 192.0.2.8: 192.0.2.9:123456 ::1:80 | tamis build i.tamis --canon ip -p 1e-6
printf '%s\n' 192.0.2.7 2001:db8::7 192.0.2.8 192.0.2.9 ::1 ::1:80 192.0.2.7:80 | tamis check i.tamis
tamis build x.tamis list --canon hash --keys hex
test ! -e x.tamis
