// SPDX-License-Identifier: MIT
//
// Vectors from rhea: node rhea.js <folder with rhea in node_modules> <messages>
'use strict';

const {dice, random_message, line} = require('./messages.js');
const rhea = require(require.resolve('rhea', {paths: [process.argv[2]]}));
const {types, message} = rhea;

// Names of a map must differ, and those of one length are the same here: only lengths are equal.
const text = n => 'x'.repeat(n);

function live(v) {
    const n = Number(v.slice(1));
    switch (v[0]) {
    case 'n': return null;
    case 'T': return true;
    case 'F': return false;
    case '#': return n;
    case 's': return text(n);
    case 'b': return Buffer.alloc(n);
    case 'y': return types.wrap_symbol(text(n));
    case 'U': return types.wrap_uuid(Buffer.alloc(16));
    case 'M': return new Date(0);
    default: throw new Error(v);
    }
}

function encoded(m) {
    const out = {};
    for (const [field, v] of Object.entries(m)) {
        if (field === 'body') {
            out.body = /^[0-9]/.test(v) ? message.data_section(Buffer.alloc(Number(v))) : live(v);
        } else if (Array.isArray(v)) {
            const map = out[field === 'properties' ? 'application_properties' : field] = {};
            for (const [name, value] of v) map[text(name)] = live(value);
        } else if (field.startsWith('content_')) {
            out[field] = text(Number(v.slice(1)));
        } else if (v === 'U') {
            out[field] = Buffer.alloc(16);
        } else {
            out[field] = live(v);
        }
    }
    return message.encode(out).length;
}

const d = dice(1);
const values = ['null', 'boolean', 'number', 'number', 'binary', 'symbol', 'uuid', 'timestamp'];
for (let i = 0; i < Number(process.argv[3] || 600); ++i) {
    const m = random_message(d, values);
    console.log(line(encoded(m), m));
}
