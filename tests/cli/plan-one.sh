# SPDX-License-Identifier: MIT
# A spec with a kind, and --kind, are about that kind alone; its shape is told too.
tamis plan 'classic:capacity=1e6,bits=10M,hashes=7'
tamis plan -k classic -n 1M --size 1250000 | grep -c classic
