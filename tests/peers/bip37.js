// SPDX-License-Identifier: MIT
// The other side of bip37.sh: bfilter, the Bloom filter of bcoin, speaking the lines of peer.c.
//
//     node bip37.js write N SEED    N random filters with their answers
//     node bip37.js wish N SEED     the same without bytes, for us to make
//     node bip37.js read            reads what we made, and compares
'use strict';
const {BloomFilter} = require('bfilter');
const {below, otherAnswer, print, randomKey, readAll, start} = require('./lines.js');

const KEYS = [0, 1, 2, 3, 10, 50, 300, 3000];
const BYTES = [1, 2, 3, 8, 252, 253, 254, 1000, 36000];

function randomWish() {
  const keys = Array.from({length: below(KEYS[below(KEYS.length)] + 1)}, randomKey);
  const most = below(100) === 0 ? 36000 : 2 * keys.length + 10;
  const size = below(3) ? 1 + below(most) : BYTES[below(BYTES.length - (below(20) ? 1 : 0))];
  return {
    keys, size, hashes: 1 + below(below(8) ? 12 : 50), tweak: [0, 1, 2 ** 31, 2 ** 32 - 1, below(2 ** 32)][below(5)],
    flags: below(3), asked: keys.slice(0, 100).concat(Array.from({length: 100}, randomKey)),
  };
}

function makeFilter(w) {
  const f = new BloomFilter(w.size * 8, w.hashes, w.tweak, w.flags);
  for (const key of w.keys) f.add(key);
  return f;
}

function printWish(w, f) {
  print('bip37', `${w.size} ${w.hashes} ${w.tweak} ${w.flags}`,
        `bip37:capacity=${w.keys.length},bits=${w.size * 8},hashes=${w.hashes},tweak=${w.tweak},flags=${w.flags}`,
        w.keys, w.asked, f && f.encode(), f && (key => f.test(key)));
}

function compare(w) {
  const [size, hashes, tweak, flags] = w.how.split(' ').map(Number);
  const f = BloomFilter.decode(w.bytes);
  if (f.size !== size * 8 || f.n !== hashes || f.tweak !== tweak || f.update !== flags) return 'another shape';
  if (!f.encode().equals(w.bytes)) return 'in and out: other bytes';
  if (!makeFilter({size, hashes, tweak, flags, keys: w.keys}).encode().equals(w.bytes)) return 'made anew: other bytes';
  return otherAnswer(w, key => f.test(key));
}

const [verb, count, seed] = process.argv.slice(2);
start(seed);
if (verb === 'read') readAll(compare);
else
  for (let i = 0; i < Number(count); i++) {
    const w = randomWish();
    printWish(w, verb === 'write' ? makeFilter(w) : null);
  }
