// SPDX-License-Identifier: MIT
// hyparquet's side of tests/peers/parquet.sh; parquet.py says what a case is.
//
//     write SEED N           prints cases with filters that hyparquet-writer wrote
//     files SEED N FOLDER    writes files, and prints a case for each filter in them
//     read                   answers cases: reads the filter, compares, makes it anew
//     sizes                  what its sizing rule gives
import fs from 'node:fs'
import { parquetMetadata } from 'hyparquet'
import { readBloomFilter, sbbfContains, sbbfInsert } from 'hyparquet/src/bloom.js'
import { xxhash64 } from 'hyparquet/src/xxhash.js'
import { ByteWriter, parquetWriteBuffer } from 'hyparquet-writer'
import { optimalNumBytes, writeBloomFilter } from 'hyparquet-writer/src/bloom.js'

let state = 1n
function next() {
  state ^= (state << 13n) & 0xffffffffffffffffn
  state ^= state >> 7n
  state ^= (state << 17n) & 0xffffffffffffffffn
  return (state * 0x2545f4914f6cdd1dn) & 0xffffffffffffffffn
}
const below = n => Number((next() >> 11n) % BigInt(n))
const bytes = len => Uint8Array.from({ length: len }, () => Number(next() >> 56n))
const randomKey = () => bytes([below(3), 8, below(40), below(200)][below(4)])
const count = () => [0, 1, below(10), below(100), below(1000)][below(5)]
const hex = x => Buffer.from(x).toString('hex')
const unhex = x => new Uint8Array(Buffer.from(x, 'hex'))
const has = (blocks, key) => sbbfContains(blocks, xxhash64(key))

let out = []
function printCase(head, blocks, keys) {
  out.push(head, ...keys.map(key => 'add ' + hex(key)))
  for (let i = 0; i < 40; i++) {
    const key = randomKey()
    out.push(`ask ${has(blocks, key) ? 1 : 0} ${hex(key)}`)
  }
  out.push('end')
  if (out.length > 10000) flush()
}
function flush() {
  fs.writeSync(1, out.map(line => line + '\n').join(''))
  out = []
}

function made(keys, size) {
  const blocks = new Uint32Array(size / 4)
  for (const key of keys) sbbfInsert(blocks, xxhash64(key))
  return blocks
}

function stored(blocks) {
  const writer = new ByteWriter()
  writeBloomFilter(writer, blocks)
  return new Uint8Array(writer.getBuffer())
}

function write(n) {
  for (let i = 0; i < n; i++) {
    const keys = Array.from({ length: count() }, randomKey)
    const blocks = made(keys, i % 2 ? 32 * (1 + below(70)) : optimalNumBytes(keys.length, 0.01))
    printCase('filter ' + hex(stored(blocks)), blocks, keys)
  }
}

// ---- Files ----

const little = (len, set) => {
  const view = new DataView(new ArrayBuffer(len))
  set(view)
  return new Uint8Array(view.buffer)
}
const types = [
  ['INT32', () => below(2 ** 32) - 2 ** 31, v => little(4, d => d.setInt32(0, v, true))],
  ['INT64', () => BigInt.asIntN(64, next()), v => little(8, d => d.setBigInt64(0, v, true))],
  ['FLOAT', () => Math.fround(below(1e6) / 7), v => little(4, d => d.setFloat32(0, v, true))],
  ['DOUBLE', () => below(1e9) / 7, v => little(8, d => d.setFloat64(0, v, true))],
  ['STRING', () => 'clé-' + '😀'.repeat(below(3)) + below(1e6), v => new TextEncoder().encode(v)],
  ['BYTE_ARRAY', randomKey, v => v],
]

function blocksIn(path, column, group) {
  const file = fs.readFileSync(path)
  const buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.length)
  const chunk = parquetMetadata(buffer).row_groups[group].columns[column].meta_data
  return readBloomFilter({ view: new DataView(buffer), offset: Number(chunk.bloom_filter_offset) }).blocks
}

function oneFile(path) {
  const rows = 1 + count() * 2
  const groupRows = 1 + below(rows)
  const rowGroupSize = Math.ceil(rows / groupRows) > 3 ? rows : groupRows
  const columns = Array.from({ length: 1 + below(10) }, (_, i) => ({ name: 'c' + i, kind: types[below(6)] }))
  const columnData = columns.map(({ name, kind }) => ({
    name, type: kind[0], bloomFilter: true, data: Array.from({ length: rows }, kind[1]),
  }))
  const buffer = parquetWriteBuffer({ columnData, rowGroupSize, codec: 'UNCOMPRESSED' })
  fs.writeFileSync(path, new Uint8Array(buffer))
  for (let group = 0; group * rowGroupSize < rows; group++)
    for (let i = 0; i < columns.length; i++) {
      const values = columnData[i].data.slice(group * rowGroupSize, (group + 1) * rowGroupSize)
      printCase(`file ${i} ${group} c${i} ${path}`, blocksIn(path, i, group), values.map(columns[i].kind[2]))
    }
}

// ---- Answering ----

function differs(words) {
  console.log('differs: ' + words)
  process.exit(1)
}

function read() {
  let blocks, given, keys, filters = 0, answers = 0
  for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
    const [word, a, b, c, ...path] = line.split(' ')
    if (word === 'filter') {
      given = unhex(a)
      const found = readBloomFilter({ view: new DataView(given.buffer), offset: 0 })
      if (!found) differs('it is not read')
      blocks = found.blocks
      keys = []
    } else if (word === 'file') {
      blocks = blocksIn(path.join(' '), Number(a), Number(b))
      given = undefined
      keys = []
    } else if (word === 'add') keys.push(unhex(a))
    else if (word === 'ask') {
      if (has(blocks, unhex(b)) !== (a === '1')) differs(line)
      answers++
    } else if (word === 'end') {
      if (!keys.every(key => has(blocks, key))) differs('a key is lost')
      const anew = hex(stored(made(keys, blocks.length * 4)))
      if (anew !== hex(stored(blocks)) || given && hex(given) !== anew) differs('other bytes')
      answers += keys.length
      filters++
    }
  }
  if (!filters) differs('no case came')
  console.log(`${filters} filters, ${answers} answers`)
}

function sizes() {
  for (let i = 0; i < 600; i++) {
    const keys = i < 300 ? i : below(2 ** (i % 20 + 4))
    const rate = [0.1, 0.05, 0.01, 0.001, 0.00001][below(5)]
    out.push(`size ${keys} ${rate} ${optimalNumBytes(keys, rate)}`)
  }
}

const [verb, seed, n, folder] = process.argv.slice(2)
state = BigInt(seed ?? 7)
if (verb === 'write') write(Number(n))
else if (verb === 'files') for (let i = 0; i < Number(n); i++) oneFile(`${folder}/${i}.parquet`)
else if (verb === 'read') read()
else sizes()
flush()
