// SPDX-License-Identifier: MIT
//
//     node rows.mjs PORT TABLE dump         prints the rows of a table of Azurite, one a line
//     node rows.mjs PORT TABLE load FILE    creates the table with these rows
//
// A row is the JSON of its properties as it was sent, in the order of the keys.
import { createHmac } from 'crypto'
import { readFileSync } from 'fs'
import { request } from 'http'

const [port, table, action, file] = process.argv.slice(2)
const account = 'devstoreaccount1'
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

// Resolves to the headers and the parsed body.
function ask(method, path, query, body) {
    const date = new Date().toUTCString()
    const signed = `${date}\n/${account}/${account}/${path}`
    const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest('base64')
    const headers = {
        'x-ms-date': date, 'x-ms-version': '2019-02-02', Accept: 'application/json;odata=fullmetadata',
        Authorization: `SharedKeyLite ${account}:${signature}`, Prefer: 'return-no-content',
    }
    if (body) Object.assign(headers, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    return new Promise((resolve, reject) => {
        const to = request({ host: '127.0.0.1', port, method, path: `/${account}/${path}${query}`, headers }, from => {
            const pieces = []
            from.on('data', piece => pieces.push(piece))
            from.on('end', () => {
                const text = Buffer.concat(pieces).toString()
                if (from.statusCode >= 300) reject(new Error(`${method} ${path}: ${from.statusCode} ${text}`))
                else resolve({ headers: from.headers, body: text ? JSON.parse(text) : {} })
            })
        })
        to.on('error', reject)
        to.end(body)
    })
}

// The properties that a client has written; the keys first, and each type before its value.
function written(row) {
    const out = {}
    for (const name of Object.keys(row).sort()) {
        if (name.startsWith('odata.') || /^Timestamp/.test(name)) continue
        if (/^(PartitionKey|RowKey)@/.test(name)) continue
        if (['Edm.String', 'Edm.Boolean', 'Edm.Int32'].includes(row[name]) && name.endsWith('@odata.type')) continue
        out[name] = row[name]
    }
    return out
}

if (action === 'dump') {
    const rows = []
    for (let query = ''; query !== undefined;) {
        const { headers, body } = await ask('GET', `${table}()`, query)
        rows.push(...body.value.map(written))
        const next = ['NextPartitionKey', 'NextRowKey'].map(name => [name, headers[`x-ms-continuation-${name.toLowerCase()}`]])
        query = next[0][1] === undefined ? undefined : '?' + new URLSearchParams(next.filter(([, value]) => value))
    }
    for (const row of rows) console.log(JSON.stringify(row))
} else {
    await ask('POST', 'Tables', '', JSON.stringify({ TableName: table }))
    for (const row of readFileSync(file, 'utf8').split('\n').filter(line => line)) await ask('POST', table, '', row)
}
