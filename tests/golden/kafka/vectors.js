// SPDX-License-Identifier: MIT
//
// vectors: sizes of records and record batches as kafkajs 2.2.4 encodes them. In a folder where it
// is installed:
//
//     npm install kafkajs@2.2.4 && node <here>/vectors.js > vectors.json
//
// Texts are given by their lengths, -1 being an absent one. kafkajs cannot encode an absent header
// value, so those are not here. Run again, it prints the same.

'use strict'
const { createRequire } = require('node:module')
const load = createRequire(process.cwd() + '/')
const Record = load('kafkajs/src/protocol/recordBatch/record/v0')
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0')
const { version } = load('kafkajs/package.json')

let seed = 20261120
const below = n => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 4294967296) * n)
}
const pick = all => all[below(all.length)]

const edges = [0, 1, 55, 56, 57, 58, 62, 63, 64, 65, 127, 128, 200, 8183, 8184, 8185, 8190, 8191, 8192, 8193]
const length = () => (below(3) === 0 ? pick(edges) : below(300))
const maybe = () => (below(5) === 0 ? -1 : length())
const buffer = n => (n < 0 ? null : Buffer.alloc(n, 0x78))
const times = ['0', '1', '-1', '63', '64', '-64', '-65', '8191', '8192', '-8192', '-8193', '1048575', '1048576',
  '2147483647', '2147483648', '-2147483648', '-2147483649', '1700000000000', '-1700000000000',
  '9223372036854775807', '-9223372036854775808']

// Headers are an object with a list of values per key; a key is told from others by its letter.
const headers = () => {
  const lengths = []
  for (let i = below(4) === 0 ? 1 + below(3) : 0; i > 0; --i) {
    lengths.push([pick([0, 1, 11, 63, 64, 200]), pick([0, 1, 55, 63, 64, 300])])
  }
  return lengths
}
const asObject = lengths => {
  const object = {}
  lengths.forEach(([key, value]) => {
    const name = 'k'.repeat(key)
    object[name] = [...(object[name] || []), Buffer.alloc(value, 0x76)]
  })
  return object
}

const encoded = ([key, value, offset, time, heads]) =>
  Record({ offsetDelta: offset, timestampDelta: BigInt(time), key: buffer(key), value: buffer(value), headers: asObject(heads) })

const batchOf = async rows => {
  const first = BigInt(rows[0][2])
  const records = rows.map(([key, value, time, heads], i) => encoded([key, value, i, String(BigInt(time) - first), heads]))
  const batch = await RecordBatch({
    firstTimestamp: rows[0][2], maxTimestamp: rows[0][2], lastOffsetDelta: rows.length - 1, records,
  })
  return batch.buffer.length
}

// A number that is wider than a double stays as it is written.
const line = row => '[' + row.map(x => (Array.isArray(x) ? line(x) : String(x))).join(',') + ']'

const main = async () => {
  const rows = []
  for (const n of edges) rows.push([-1, n, 0, '0', []], [n, -1, 0, '0', []], [n, n, 1, '5', []])
  for (const n of [16383, 16384, 1000000, 1048575, 1048576, 2097151, 2097152]) rows.push([-1, n, 0, '0', []])
  for (const t of times) rows.push([-1, 10, 0, t, []])
  for (const o of [63, 64, 8191, 8192, 1048575, 1048576, 2147483647]) rows.push([-1, 10, o, '0', []])
  rows.push([1, 100, 0, '0', [[1, 1]]], [1, 100, 0, '0', [[11, 55]]], [1, 1, 0, '0', Array(64).fill([1, 1])])
  while (rows.length < 400) {
    rows.push([maybe(), maybe(), pick([0, 1, 63, 64, below(10000)]), pick(times), headers()])
  }
  const records = rows.map(r => [...r, encoded(r).buffer.length])

  const batches = []
  while (batches.length < 40) {
    const of = []
    for (let i = 1 + below(9), at = 1700000000000; i > 0; --i, at += pick([0, 1, 40, 5000, -70])) {
      of.push([maybe(), maybe(), String(at), headers()])
    }
    batches.push([of, await batchOf(of)])
  }
  const runs = []
  for (const count of [1, 2, 63, 64, 65, 66, 100, 1000, 8191, 8193, 9000]) {
    for (const [value, step] of [[200, 0], [55, 7]]) {
      const of = Array.from({ length: count }, (_, i) => [-1, value, String(1700000000000 + i * step), []])
      runs.push([count, value, step, await batchOf(of)])
    }
  }

  const list = all => '[\n' + all.map(line).join(',\n') + '\n]'
  console.log(`{"encoder": "kafkajs ${version}",
"record": "key, value, offset delta, timestamp delta, headers as [key, value], bytes",
"records": ${list(records)},
"batch": "records as [key, value, timestamp, headers], bytes",
"batches": ${list(batches)},
"run": "records without key, value, milliseconds between them, bytes",
"runs": ${list(runs)}}`)
}
main()
