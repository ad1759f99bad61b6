// SPDX-License-Identifier: MIT
//
// Random messages by their fields, edges favoured, and how a vector writes them down. The same seed
// gives the same messages everywhere.
//
// A vector is a line of words: the size, then field=value. Values are
//
//     n        null              T F      true, false
//     #1.5     a number          byte:-3  a number of a type
//     s5 b5 y5 a string, a binary, a symbol of so many octets
//     U M C    a uuid, a timestamp, a char
//
// and a map is its entries, `<octets of the name>=<value>`, with a comma after each; a body is the
// octets of its data, or one of those values.
'use strict';

function dice(seed) {
    let state = seed >>> 0;
    const next = () => {  // mulberry32
        state = (state + 0x6D2B79F5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return (t ^ (t >>> 14)) >>> 0;
    };
    const below = n => next() % n;
    return {below, once_in: n => below(n) === 0, one_of: all => all[below(all.length)]};
}

function random_message(d, values) {
    const length = () => {
        switch (d.below(12)) {
        case 0: return d.one_of([0, 1, 2, 127, 128, 253, 254, 255, 256, 257, 258]);
        case 1: return 180 + d.below(100);
        case 2: return d.once_in(8) ? d.one_of([65534, 65535, 65536]) : d.below(600);
        default: return d.below(40);
        }
    };
    const integer = () => {
        const sign = d.once_in(2) ? -1 : 1;
        switch (d.below(3)) {
        case 0: return sign * d.one_of([0, 1, 127, 128, 129, 255, 256, 65535, 65536, 2147483646,
            2147483647, 2147483648, 4294967295, 4294967296, 1099511627776, 9007199254740991]) || 0;
        case 1: return sign * d.below(300) || 0;
        default: return sign * d.below(70000) || 0;
        }
    };
    const unsigned = most => Math.abs(integer()) % (most + 1);
    const value = () => {
        const kind = d.once_in(2) ? 'string' : d.one_of(values);
        switch (kind) {
        case 'null': return 'n';
        case 'boolean': return d.one_of(['T', 'F']);
        case 'number': return '#' + (d.once_in(4) ? integer() / 8 : integer());
        case 'string': return 's' + length();
        case 'binary': return 'b' + length();
        case 'symbol': return 'y' + length();
        case 'uuid': return 'U';
        case 'timestamp': return 'M';
        default: throw new Error(kind);
        }
    };
    const map = () => {
        let n = d.below(5);
        if (d.once_in(12)) n = d.one_of([0, 0, 15, 28, 29, 60]);
        if (d.once_in(60)) n = d.one_of([127, 128]);
        const names = new Set();
        while (names.size < n) names.add(n > 10 || !d.once_in(10) ? names.size + 3 : length());
        return [...names].map(name => [name, n > 10 ? d.one_of(['s1', 'T', '#5']) : value()]);
    };
    const id = () => d.one_of(['s', 's', 's', 'U', '#']);
    const identifier = () => {
        const kind = id();
        return kind === 's' ? 's' + length() : kind === 'U' ? 'U' : '#' + unsigned(2 ** 45);
    };
    const m = {};
    const set = (field, n, make) => { if (d.once_in(n)) m[field] = make(); };
    if (!d.once_in(10)) m.body = d.once_in(8) ? value() : String(length());
    set('durable', 4, () => d.one_of(['T', 'F']));
    set('priority', 4, () => '#' + d.below(10));
    set('ttl', 4, () => '#' + unsigned(4294967295));
    set('first_acquirer', 8, () => d.one_of(['T', 'F']));
    set('delivery_count', 6, () => '#' + unsigned(4294967295));
    set('delivery_annotations', 6, map);
    set('message_annotations', 3, map);
    set('message_id', 2, identifier);
    set('user_id', 6, () => 'b' + length());
    set('to', 4, () => 's' + length());
    set('subject', 4, () => 's' + length());
    set('reply_to', 6, () => 's' + length());
    set('correlation_id', 4, identifier);
    set('content_type', 3, () => 'y' + length());
    set('content_encoding', 6, () => 'y' + length());
    set('absolute_expiry_time', 5, () => '#' + Math.abs(integer()));
    set('creation_time', 5, () => '#' + Math.abs(integer()));
    set('group_id', 3, () => 's' + length());
    set('group_sequence', 6, () => '#' + unsigned(4294967295));
    set('reply_to_group_id', 6, () => 's' + length());
    set('properties', 2, map);
    return m;
}

function line(words, m) {
    for (const [field, value] of Object.entries(m)) {
        const text = Array.isArray(value) ? value.map(([k, v]) => `${k}=${v},`).join('') : value;
        words += ` ${field}=${text}`;
    }
    return `"${words}",`;
}

module.exports = {dice, random_message, line};
