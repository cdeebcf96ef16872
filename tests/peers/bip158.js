// SPDX-License-Identifier: MIT
// The other side of bip158.sh: golomb, the block filters of bcoin, speaking the lines of peer.c.
//
//     node bip158.js write N SEED    N random filters with their answers
//     node bip158.js wish N SEED     the same without bytes, for us to make
//     node bip158.js read            reads what we made, and compares
'use strict';
const Golomb = require('golomb');
const {below, otherAnswer, print, randomKey, readAll, start} = require('./lines.js');

const P = 19;
const ITEMS = [0, 1, 2, 3, 10, 100, 1000, 3000];

// Items of a block are a set.
function distinct(keys) {
  return [...new Map(keys.map(key => [key.toString('hex'), key])).values()];
}

function randomWish() {
  const keys = distinct(Array.from({length: below(ITEMS[below(ITEMS.length)] + 1)}, randomKey));
  const secret = Buffer.from(Array.from({length: 16}, () => below(256)));
  return {keys, secret, asked: keys.slice(0, 50).concat(Array.from({length: 50}, randomKey))};
}

function printWish(w, f) {
  const key = w.secret.toString('hex'), [key0, key1] = [w.secret.readBigUInt64LE(0), w.secret.readBigUInt64LE(8)];
  print(`bip158:key=${key}`, key, `bip158:key0=${key0},key1=${key1}`, w.keys, w.asked, f && f.toNBytes(),
        f && (item => f.match(w.secret, item)));
}

const makeFilter = w => Golomb.fromItems(P, w.secret, w.keys);

function compare(w) {
  const secret = Buffer.from(w.how, 'hex');
  const f = Golomb.fromNBytes(P, w.bytes);
  if (!f.toNBytes().equals(w.bytes)) return 'in and out: other bytes';
  if (!makeFilter({secret, keys: w.keys}).toNBytes().equals(w.bytes)) return 'made anew: other bytes';
  return otherAnswer(w, item => f.match(secret, item));
}

const [verb, count, seed] = process.argv.slice(2);
start(seed);
if (verb === 'read') readAll(compare);
else
  for (let i = 0; i < Number(count); i++) {
    const w = randomWish();
    printWish(w, verb === 'write' ? makeFilter(w) : null);
  }
