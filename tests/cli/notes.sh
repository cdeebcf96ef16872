# SPDX-License-Identifier: MIT
# Notes are kept, told, and cannot play with the terminal.
echo key >keys
esc=$(printf '\033')
tamis build -q image.tamis keys --note source=feed-a --note "comment=say \"hi\"${esc}[31m"
tamis info image.tamis | grep note
tamis info --json image.tamis | grep -o '"notes".*'
tamis add -q image.tamis keys --note source=feed-b
tamis info image.tamis | grep -c feed-b
tamis build other.tamis keys --note Source=x
tamis build other.tamis keys --note source
