# SPDX-License-Identifier: MIT
# --canon url-prefix: hosts with path prefixes, as lists of unsafe pages have them.
cat >list <<'END'
evil.com/bad/
http://host.org
shop.example/cart?id=7
page.example/one.html
hxxps://MIXED[.]example:8443/A/%62/
END
cat >asked <<'END'
http://evil.com/bad/x.html
http://www.evil.com/bad/a/b?c
http://evil.com/bad
http://evil.com/good/
https://a.b.host.org:8080/any/thing?x#y
https://user:pw@host.org
https://nohost.org/
shop.example/cart?id=7
shop.example/cart?id=8
shop.example/cart
page.example/one.html?utm=1
page.example/one.html/two
http://mixed.example//A/./c/../b/index
no host/x
END
tamis build set.tamis list --canon url-prefix --fpr 1e-6
tamis check set.tamis asked
echo "-- not in it"
tamis check -v set.tamis asked 2>/dev/null
