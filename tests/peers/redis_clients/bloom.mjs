// SPDX-License-Identifier: MIT
// node `redis` with @redis/bloom: its whole interface for BF, CF and CMS.
//     node bloom.mjs PORT PROTOCOL
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
// Packages lie where NODE_PATH says, which only require() looks at.
const { createClient, RESP_TYPES } = createRequire(import.meta.url)('redis');

const [port, protocol] = process.argv.slice(2).map(Number);
const client = createClient({ socket: { host: '127.0.0.1', port }, RESP: protocol });
client.on('error', (error) => { throw error; });
await client.connect();
await client.flushAll();
const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
const { bf, cf, cms } = client;
let calls = 0;
const is = async (promise, wanted) => { calls++; assert.deepEqual(await promise, wanted); };
const refused = async (promise, text) => { calls++; await assert.rejects(promise, (error) => error.message.includes(text)); };
// Replies in RESP3 are objects without a prototype.
const infoOf = async (promise) => { calls++; return { ...(await promise) }; };

const copy = async (family, from, to) => {
  for (let iterator = 0; ;) {
    const chunk = await raw[family].scanDump(from, iterator);
    calls++;
    if (Number(chunk.iterator) === 0) return;
    iterator = Number(chunk.iterator);
    await is(raw[family].loadChunk(to, iterator, chunk.chunk), 'OK');
  }
};

// BF
await is(bf.reserve('b', 0.001, 1000, { EXPANSION: 4 }), 'OK');
await is(bf.reserve('n', 0.001, 2, { NONSCALING: true }), 'OK');
await refused(bf.reserve('b', 0.001, 1000), 'item exists');
await is(bf.add('b', 'a'), true);
await is(bf.add('b', 'a'), false);
await is(bf.mAdd('b', ['a', 'x', 'y']), [false, true, true]);
await is(bf.exists('b', 'x'), true);
await is(bf.exists('b', 'never'), false);
await is(bf.mExists('b', ['a', 'never', 'y']), [true, false, true]);
await is(bf.insert('i', ['p', 'q'], { CAPACITY: 50, ERROR: 0.01, EXPANSION: 2 }), [true, true]);
await is(bf.insert('i', 'p', { NOCREATE: true }), [false]);
await refused(bf.insert('absent', 'p', { NOCREATE: true }), 'not found');
await is(bf.card('b'), 3);
await is(bf.card('absent'), 0);
let info = await infoOf(bf.info('b'));
assert.equal(info['Capacity'], 1000);
assert.equal(info['Number of filters'], 1);
assert.equal(info['Number of items inserted'], 3);
assert.equal(info['Expansion rate'], 4);
assert.ok(info['Size'] > 0);
info = await infoOf(bf.info('n'));
assert.equal(info['Expansion rate'], null);
await copy('bf', 'b', 'b2');
await is(bf.mExists('b2', ['a', 'x', 'y', 'never']), [true, true, true, false]);
await is(bf.card('b2'), 3);

// CF
await is(cf.reserve('c', 1000, { BUCKETSIZE: 4, MAXITERATIONS: 30, EXPANSION: 2 }), 'OK');
await is(cf.add('c', 'a'), true);
await is(cf.addNX('c', 'a'), false);
await is(cf.addNX('c', 'b'), true);
await is(cf.add('c', 'a'), true);
await is(cf.count('c', 'a'), 2);
await is(cf.exists('c', 'a'), true);
await is(cf.exists('c', 'never'), false);
await is(cf.mExists('c', ['a', 'never']), [true, false]);
await is(cf.insert('c', ['x', 'y']), [true, true]);
await is(cf.insert('made', ['x', 'y'], { CAPACITY: 500 }), [true, true]);
await refused(cf.insert('absent', 'x', { NOCREATE: true }), 'not found');
// The client makes truth of numbers here, so that -1 and 0 cannot be told from its side.
calls++;
assert.equal((await cf.insertNX('c', ['x', 'z'])).length, 2);
await is(cf.del('c', 'a'), true);
await is(cf.count('c', 'a'), 1);
await is(cf.del('c', 'never'), false);
info = await infoOf(cf.info('c'));
assert.equal(info['Bucket size'], 4);
assert.equal(info['Max iterations'], 30);
assert.equal(info['Expansion rate'], 2);
assert.equal(info['Number of items inserted'], 5);
assert.equal(info['Number of items deleted'], 1);
await copy('cf', 'c', 'c2');
await is(cf.mExists('c2', ['a', 'b', 'x', 'y', 'z', 'never']), [true, true, true, true, true, false]);

// CMS
await is(cms.initByDim('m', 1000, 5), 'OK');
await is(cms.initByProb('p', 0.01, 0.01), 'OK');
await is(cms.incrBy('m', { item: 'a', incrementBy: 3 }), [3]);
await is(cms.incrBy('m', [{ item: 'a', incrementBy: 1 }, { item: 'b', incrementBy: 5 }]), [4, 5]);
await is(cms.query('m', ['a', 'b', 'never']), [4, 5, 0]);
info = await infoOf(cms.info('m'));
assert.deepEqual(info, { width: 1000, depth: 5, count: 9 });
await is(cms.initByDim('m2', 1000, 5), 'OK');
await is(cms.merge('m2', ['m', 'm']), 'OK');
await is(cms.query('m2', ['a', 'b']), [8, 10]);
await is(cms.merge('m2', [{ name: 'm', weight: 3 }]), 'OK');
await is(cms.query('m2', ['a', 'b']), [12, 15]);
await refused(cms.query('absent', 'a'), 'key does not exist');
await client.close();
console.log(`${calls} calls`);
