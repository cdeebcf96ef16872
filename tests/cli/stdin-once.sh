# SPDX-License-Identifier: MIT
# Standard input can be the image or the keys, not both.
tamis check -
echo $?
tamis check - -
echo $?
tamis add - - -
echo $?
