// SPDX-License-Identifier: MIT
//
// vectors: sizes of PUBLISH packets as mqtt-packet 9.0.2 encodes them. In a folder where it is
// installed:
//
//     npm install mqtt-packet@9.0.2 && node <here>/vectors.js > vectors.json
//
// Texts are given by their lengths, null being an absent one. Run again, it prints the same.

'use strict'
const { createRequire } = require('node:module')
const load = createRequire(process.cwd() + '/')
const { generate } = load('mqtt-packet')
const { version } = load('mqtt-packet/package.json')

let seed = 5
const below = n => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 4294967296) * n)
}
const pick = all => all[below(all.length)]
const length = () => (below(3) === 0 ? pick([0, 1, 121, 122, 123, 124, 125, 126, 127, 128, 16380, 16381, 16384]) : below(200))
const maybe = make => (below(2) === 0 ? null : make())

const size = ([topic, payload, qos, utf8, expiry, alias, type, response, correlation, users]) => {
  const properties = {}
  if (utf8) properties.payloadFormatIndicator = true
  if (expiry !== null) properties.messageExpiryInterval = expiry
  if (alias !== null) properties.topicAlias = alias
  if (type !== null) properties.contentType = 'x'.repeat(type)
  if (response !== null) properties.responseTopic = 'x'.repeat(response)
  if (correlation !== null) properties.correlationData = Buffer.alloc(correlation)
  // A key with several values is written once for each.
  if (users.length > 0) properties.userProperties = {}
  users.forEach(([key, value]) => {
    const name = 'k'.repeat(key)
    const values = properties.userProperties[name] || []
    properties.userProperties[name] = [...values, 'v'.repeat(value)]
  })
  return generate({
    cmd: 'publish', topic: 't'.repeat(topic), payload: Buffer.alloc(payload), qos, messageId: 7, properties,
    retain: false, dup: false,
  }, { protocolVersion: 5 }).length
}

const rows = []
for (const payload of [0, 1, 123, 124, 125, 16379, 16380, 16381, 2097147, 2097148, 2097149]) {
  rows.push([1, payload, 0, 0, null, null, null, null, null, []])
}
for (const type of [0, 1, 123, 124, 125, 126, 16380, 16381, 65535]) {
  rows.push([1, 0, 1, 0, null, null, type, null, null, []])
}
while (rows.length < 300) {
  const users = []
  for (let i = below(3); i > 0; --i) users.push([1 + below(30), below(30)])
  rows.push([1 + length(), length(), below(3), below(2), maybe(() => below(1000000)), maybe(() => 1 + below(65535)),
    maybe(length), maybe(() => 1 + length()), maybe(length), users])
}
const line = row => JSON.stringify([...row, size(row)])
console.log(`{"encoder": "mqtt-packet ${version}",
"row": "topic, payload, qos, utf8, expiry, alias, content type, response topic, correlation data, user properties, bytes",
"rows": [\n${rows.map(line).join(',\n')}\n]}`)
