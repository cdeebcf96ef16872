# SPDX-License-Identifier: MIT
# A spec with a kind, and --kind, are about that kind alone; its shape is told too.
tamis plan 'classic:capacity=1e6,bits=10M,hashes=7'
tamis plan -k classic -n 1M --size 1250000 | grep -c classic
echo "-- by the formulas: exactly where that can be counted"
tamis plan classic:capacity=1000,bits=10000,hashes=7 | tail -n 4
tamis plan counting:capacity=1M,fpr=1% | tail -n 9
tamis plan counting:capacity=1M,width=2 | tail -n 1
tamis plan counting:capacity=2^50,bits=1000 | tail -n 3
tamis plan classic:capacity=0,bits=64 | tail -n 1
tamis plan blocked:capacity=1000 | tail -n 1
