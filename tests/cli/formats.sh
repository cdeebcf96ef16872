# SPDX-License-Identifier: MIT
# What can be read and written.
tamis formats | grep '^guava ' | tr -s ' '
tamis formats | tail -n 1
tamis formats guava
tamis formats gauva
tamis formats --json guava
tamis kinds | sed -n '/^Other systems/p'
tamis kinds --json guava
