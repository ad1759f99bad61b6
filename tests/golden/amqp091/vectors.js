// SPDX-License-Identifier: MIT
//
// vectors: sizes of frames of published messages as amqplib 2.3.1 encodes them. In a folder where it
// is installed:
//
//     npm install amqplib@2.3.1 && node <here>/vectors.js > vectors.json
//
// Texts are given by their lengths, null being an absent one; values in tables by the letter of
// their type, with what is in them. Body frames are cut by the connection, not by the encoder, and
// so are not here. Run again, it prints the same.

'use strict'
const { join } = require('node:path')
const { createRequire } = require('node:module')
const load = createRequire(process.cwd() + '/')
const home = join(process.cwd(), 'node_modules', 'amqplib')
const defs = load(join(home, 'lib', 'defs.js'))
const { version } = load(join(home, 'package.json'))

let seed = 91
const below = n => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 4294967296) * n)
}
const pick = all => all[below(all.length)]
const short = () => (below(3) === 0 ? pick([0, 1, 127, 128, 254, 255]) : below(60))
const maybe = make => (below(2) === 0 ? null : make())

// A value is its letter, and what it holds where it holds something.
const simple = {
  t: true, b: { '!': 'byte', value: -1 }, B: { '!': 'uint8', value: 200 }, s: { '!': 'short', value: 300 },
  u: { '!': 'uint16', value: 300 }, I: { '!': 'int', value: 1 }, i: { '!': 'uint32', value: 1 },
  l: { '!': 'long', value: 1 }, T: { '!': 'timestamp', value: 1700000000 }, f: { '!': 'float', value: 1 },
  d: { '!': 'double', value: 1 }, D: { '!': 'decimal', value: { places: 2, digits: 314 } }, V: null,
}
const anyValue = depth => {
  const letter = pick([...Object.keys(simple), 'S', 'S', 'S', 'x', ...(depth > 0 ? ['F', 'A'] : [])])
  if (letter === 'S' || letter === 'x') return [letter, pick([0, 1, 55, 255, 256, below(2000)])]
  if (letter === 'F') return [letter, anyTable(depth - 1)]
  if (letter === 'A') return [letter, Array.from({ length: below(4) }, () => anyValue(depth - 1))]
  return [letter]
}
// Names have to differ: each is as many letters as are told, from a letter of its own on.
const anyTable = depth => {
  const fields = []
  for (let i = below(5); i > 0; --i) {
    const name = 1 + short() % 250
    if (!fields.some(f => f[0] === name)) fields.push([name, anyValue(depth)])
  }
  return fields
}
const value = ([letter, holds]) => {
  if (letter === 'S') return 'x'.repeat(holds)
  if (letter === 'x') return Buffer.alloc(holds)
  if (letter === 'F') return table(holds)
  if (letter === 'A') return holds.map(value)
  return simple[letter]
}
const table = fields => Object.fromEntries(fields.map(([name, v]) => ['n'.repeat(name), value(v)]))

const text = n => (n === null ? undefined : 'x'.repeat(n))
const names = ['contentType', 'contentEncoding', 'correlationId', 'replyTo', 'expiration', 'messageId', 'type', 'userId',
  'appId', 'clusterId']
const sizes = ([exchange, key, texts, headers, mode, priority, time]) => {
  const method = defs.encodeMethod(defs.BasicPublish, 1, {
    exchange: text(exchange), routingKey: text(key), mandatory: false, immediate: false, ticket: 0,
  })
  const fields = Object.fromEntries(names.map((name, i) => [name, text(texts[i])]))
  if (headers !== null) fields.headers = table(headers)
  if (mode !== null) fields.deliveryMode = mode
  if (priority !== null) fields.priority = priority
  if (time !== null) fields.timestamp = time
  return [method.length, defs.encodeProperties(defs.BasicProperties, 1, 12345, fields).length]
}

const none = names.map(() => null)
const rows = [[0, 0, none, null, null, null, null], [255, 255, none, [], 2, 0, 0]]
names.forEach((_, i) => rows.push([1, 1, none.map((_, j) => (j === i ? 9 : null)), null, null, null, null]))
Object.keys(simple).forEach(letter => rows.push([1, 1, none, [[5, [letter]]], null, null, null]))
while (rows.length < 300) {
  rows.push([short(), short(), names.map(() => maybe(short)), maybe(() => anyTable(2)), maybe(() => 2),
    maybe(() => below(10)), maybe(() => 1700000000)])
}
const line = row => JSON.stringify([...row, ...sizes(row)])
console.log(`{"encoder": "amqplib ${version}",
"row": "exchange, routing key, ${names.join(' ')}, headers, delivery mode, priority, timestamp, method frame, header frame",
"rows": [\n${rows.map(line).join(',\n')}\n]}`)
