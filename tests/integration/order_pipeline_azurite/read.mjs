// SPDX-License-Identifier: MIT
//
// node read.mjs PORT TABLE [brief]: prints the rows of a table, as Azure's own client finds them: each
// as letters.cpp prints a letter, or only its keys and reason, in the order in which they come.
import { TableClient, AzureNamedKeyCredential } from '@azure/data-tables';

const [port, table, brief] = process.argv.slice(2);
const account = 'devstoreaccount1';
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const client = new TableClient(`http://127.0.0.1:${port}/${account}`, table,
    new AzureNamedKeyCredential(account, key), { allowInsecureConnection: true });

const hex = (bytes) => Buffer.from(bytes).toString('hex');
const bytes = (property) => property.type === 'Binary' ? Buffer.from(property.value, 'base64')
    : Buffer.from(property.type === 'String' ? property.value : property, 'utf8');

// The session that is in a key: !XX is a byte.
function session(key) {
    const out = [];
    const all = Buffer.from(key, 'utf8');
    for (let n = 0; n < all.length; ++n) {
        if (all[n] !== 0x21) out.push(all[n]);
        else out.push(parseInt(all.toString('latin1', n + 1, (n += 2) + 1), 16));
    }
    return hex(out);
}

// A number is an Int64, or text where it is none.
function number(property) {
    if (property.type === 'Int64') return property.value;
    const text = property.type === 'String' ? property.value : property;
    if (typeof text !== 'string' || text.length !== 20) throw new Error(`no number: ${JSON.stringify(property)}`);
    return BigInt(text).toString();
}

// Nanoseconds since 1970 of "2026-02-28T23:59:59.9999999Z", and those that come on top.
function time(property, more) {
    if (property.type !== 'DateTime') throw new Error(`no time: ${JSON.stringify(property)}`);
    const [, whole, part] = /^(.*?)(?:\.(\d{1,7}))?Z$/.exec(property.value);
    const fraction = BigInt((part ?? '').padEnd(9, '0'));
    const rest = BigInt(more === undefined ? 0 : more.value ?? more);
    return (BigInt(Date.parse(whole + 'Z')) * 1000000n + fraction + rest).toString();
}

const plain = (property) => property?.value ?? property;
const flag = (property) => {
    if (property.type !== 'Boolean') throw new Error(`no flag: ${JSON.stringify(property)}`);
    return property.value === 'true';
};

function body(row) {
    const pieces = [bytes(row.body)];
    for (let n = 1; row[`body_${n}`]; ++n) pieces.push(bytes(row[`body_${n}`]));
    return hex(Buffer.concat(pieces));
}

for await (const row of client.listEntities({ disableTypeConversion: true })) {
    const row_key = plain(row.rowKey);
    if (brief) {
        console.log(plain(row.partitionKey), row_key, plain(row.reason), plain(row.text));
        continue;
    }
    if (!/^\d{20}$/.test(row_key)) throw new Error(`no row key: ${row_key}`);
    console.log(JSON.stringify({
        session: session(plain(row.partitionKey)), sequence: BigInt(row_key).toString(),
        step: number(row.step), first: number(row.first), total: number(row.total), last: flag(row.last),
        origin: hex(bytes(row.origin)), origin_sequence: number(row.origin_sequence),
        generation: number(row.generation), origin_tries: number(row.origin_tries),
        message_id: hex(bytes(row.message_id)), reason: plain(row.reason), cause: number(row.cause),
        resume_at: number(row.resume_at), alone: flag(row.alone), sent_to: number(row.sent_to),
        text: hex(bytes(row.text)), tries: number(row.tries), enqueued: time(row.enqueued, row.enqueued_ns),
        parked: time(row.parked, row.parked_ns), kept: plain(row.kept), body: body(row),
        size: number(row.size), checksum: number(row.checksum), state: hex(bytes(row.state ?? '')),
        origin_state: hex(bytes(row.origin_state)), origin_message: hex(bytes(row.origin_message)), state_cut: flag(row.state_cut),
    }));
}
