// SPDX-License-Identifier: MIT
// What the scripts for Node share: random keys, and the lines of peer.c out and in.
'use strict';
const fs = require('fs');

// A small generator of numbers: runs are the same every time.
let state = 0;

exports.start = seed => { state = Number(seed) >>> 0; };

const below = exports.below = n => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 2 ** 32 * n);
};

// Pushed data, hashes, outpoints, nothing, and any length; all values of bytes.
exports.randomKey = () => {
  const lengths = [0, 1, 2, 3, 4, 20, 32, 33, 36, 65, below(200)];
  const key = Buffer.alloc(lengths[below(lengths.length)]);
  for (let i = 0; i < key.length; i++) key[i] = below(256);
  return key;
};

// `bytes` and `has` are missing in a wish.
exports.print = (format, how, spec, keys, asked, bytes, has) => {
  const lines = ['case ' + format, 'how ' + how, 'spec ' + spec];
  for (const key of keys) lines.push('add ' + key.toString('hex'));
  if (bytes) lines.push('bytes ' + bytes.toString('hex'));
  for (const key of asked) lines.push(`ask ${has && has(key) ? 1 : 0} ` + key.toString('hex'));
  process.stdout.write(lines.join('\n') + '\nend\n');
};

// Reads what we made; compare() returns what differs, or nothing.
exports.readAll = compare => {
  let w, filters = 0, answers = 0;
  for (const line of fs.readFileSync(0, 'latin1').split('\n')) {
    const [word, a, b] = line.split(' ');
    if (word === 'case') w = {format: a, keys: [], asked: []};
    else if (word === 'how') w.how = line.slice(4);
    else if (word === 'add') w.keys.push(Buffer.from(a, 'hex'));
    else if (word === 'bytes') w.bytes = Buffer.from(a, 'hex');
    else if (word === 'ask') w.asked.push([a === '1', Buffer.from(b, 'hex')]);
    else if (word === 'end') {
      filters++;
      answers += w.asked.length;
      const what = compare(w);
      if (!what) continue;
      console.log(`filter ${filters} (${w.how}): ${what}`);
      process.exit(1);
    }
  }
  console.log(`${filters} filters, ${answers} answers`);
};

// Of all answers the first that differs.
exports.otherAnswer = (w, has) => {
  for (const [answer, key] of w.asked)
    if (answer !== has(key)) return 'another answer for ' + key.toString('hex');
  return null;
};
