# SPDX-License-Identifier: MIT
# A typo and a word from another tool lead to a suggestion, nonsense to the list.
tamis chekc
echo $?
tamis create
echo $?
tamis help inof
echo $?
tamis frobnicate
echo $?
tamis --quiet check
