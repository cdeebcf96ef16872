# SPDX-License-Identifier: MIT
# A CR belongs to the key, unless --crlf says that lines end in CR LF.
printf 'ant\r\nbee\r\n' >dos
printf 'ant\nbee\n' >unix
tamis build -q kept.tamis dos
tamis check -c kept.tamis unix
tamis check -c kept.tamis dos
tamis build -q dropped.tamis dos --crlf
tamis check -c dropped.tamis unix
tamis check --crlf dropped.tamis dos | tr '\r' R
