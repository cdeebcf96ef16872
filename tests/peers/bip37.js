// The other side of bip37.sh: bfilter, the Bloom filter of bcoin, speaking the lines of peer.c.
//
//     node bip37.js write N SEED    N random filters with their answers
//     node bip37.js wish N SEED     the same without bytes, for us to make
//     node bip37.js read            reads what we made, and compares
'use strict';
const fs = require('fs');
const {BloomFilter} = require('bfilter');

// A small generator of numbers: runs are the same every time.
let state = 0;
function below(n) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 2 ** 32 * n);
}

// Pushed data, hashes, outpoints, nothing, and any length; all values of bytes.
function randomKey() {
  const lengths = [0, 1, 2, 3, 4, 20, 32, 33, 36, 65, below(200)];
  const key = Buffer.alloc(lengths[below(lengths.length)]);
  for (let i = 0; i < key.length; i++) key[i] = below(256);
  return key;
}

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

function print(w, f) {
  const lines = ['case bip37', `how ${w.size} ${w.hashes} ${w.tweak} ${w.flags}`,
    `spec bip37:capacity=${w.keys.length},bits=${w.size * 8},hashes=${w.hashes},` +
    `tweak=${w.tweak},flags=${w.flags}`];
  for (const key of w.keys) lines.push('add ' + key.toString('hex'));
  if (f) lines.push('bytes ' + f.encode().toString('hex'));
  for (const key of w.asked) lines.push(`ask ${f && f.test(key) ? 1 : 0} ` + key.toString('hex'));
  process.stdout.write(lines.join('\n') + '\nend\n');
}

// ---- What we made ----

let filters = 0, answers = 0;

function differs(w, what) {
  console.log(`filter ${filters} (${w.how}): ${what}`);
  process.exit(1);
}

function compare(w) {
  filters++;
  const [size, hashes, tweak, flags] = w.how.split(' ').map(Number);
  const f = BloomFilter.decode(w.bytes);
  if (f.size !== size * 8 || f.n !== hashes || f.tweak !== tweak || f.update !== flags)
    differs(w, 'another shape');
  for (const [answer, key] of w.asked)
    if (answer !== f.test(key)) differs(w, 'another answer for ' + key.toString('hex'));
  answers += w.asked.length;
  if (!f.encode().equals(w.bytes)) differs(w, 'in and out: other bytes');
  if (!makeFilter({size, hashes, tweak, flags, keys: w.keys}).encode().equals(w.bytes))
    differs(w, 'made anew: other bytes');
}

function readAll() {
  let w;
  for (const line of fs.readFileSync(0, 'latin1').split('\n')) {
    const [word, a, b] = line.split(' ');
    if (word === 'case') w = {keys: [], asked: []};
    else if (word === 'how') w.how = line.slice(4);
    else if (word === 'add') w.keys.push(Buffer.from(a, 'hex'));
    else if (word === 'bytes') w.bytes = Buffer.from(a, 'hex');
    else if (word === 'ask') w.asked.push([a === '1', Buffer.from(b, 'hex')]);
    else if (word === 'end') compare(w);
  }
  console.log(`${filters} filters, ${answers} answers`);
}

const [verb, count, seed] = process.argv.slice(2);
state = Number(seed) >>> 0;
if (verb === 'read') readAll();
else
  for (let i = 0; i < Number(count); i++) {
    const w = randomWish();
    print(w, verb === 'write' ? makeFilter(w) : null);
  }
