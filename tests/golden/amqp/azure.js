// SPDX-License-Identifier: MIT
//
// Batches of the unmodified SDKs for Event Hubs and Service Bus, sent to a peer in this process:
//
//     node azure.js <folder with the SDKs in node_modules> event_hubs|service_bus <batches>
//
// Each message is a line: `new` or `add` for the first or a further one of a batch and the size
// that the SDK says the batch has then, or `full` and the limit where the SDK refused it; then the
// fields as in messages.js. The peer counts the bytes of each batch that it receives, and the
// script fails where they are not as many as the SDK said.
'use strict';

const [, , folder, service, batches] = process.argv;
const load = name => require(require.resolve(name, {paths: [folder]}));
const {dice, line} = require('./messages.js');
const rhea = load('rhea');

const limit = 65536;
const received = [];

// A peer of one connection: accepts tokens, takes messages and remembers how long they were.
function peer() {
    const container = rhea.create_container({id: 'peer'});
    container.sasl_server_mechanisms.enable_anonymous();
    let replies;
    container.on('sender_open', ({sender}) => {
        sender.set_source({address: sender.source && sender.source.address});
        sender.set_target({address: sender.target && sender.target.address});
        replies = sender;
    });
    container.on('receiver_open', ({receiver}) => {
        receiver.set_target({address: receiver.target && receiver.target.address});
        receiver.local.attach.max_message_size = limit;
    });
    container.on('message', ({receiver, message, format}) => {
        if (receiver.target.address === '$cbs') {
            replies.send({
                to: message.reply_to, correlation_id: message.message_id, body: '',
                application_properties: {'status-code': 202, 'status-description': 'Accepted'},
            });
        } else {
            received.push({bytes: message.length, format});
        }
    });
    const errors = e => { console.error('peer:', e); process.exit(1); };
    container.on('error', errors).on('protocol_error', errors);
    return new Promise(done => {
        const server = container.listen({port: 0, host: '127.0.0.1'});
        server.on('listening', () => done(server));
    });
}

const d = dice(service === 'event_hubs' ? 2 : 3);
const text = n => 'x'.repeat(n);

function length() {
    switch (d.below(8)) {
    case 0: return d.one_of([0, 1, 253, 254, 255, 256, 257]);
    case 1: return 150 + d.below(120);
    case 2: return d.below(2000);
    default: return d.below(60);
    }
}

const short = most => Math.min(most, length());

function properties() {
    const words = [], live = {};
    for (let n = d.below(6); n !== 0; --n) {
        const [word, value] = d.one_of([
            () => { const s = length(); return ['s' + s, text(s)]; },
            () => { const i = d.below(600) - 300; return ['#' + i, i]; },
            () => ['#2.5', 2.5],
            () => ['T', true],
            () => ['n', null],
            () => ['M', new Date(0)],
        ])();
        words.push([n + 2, word]);
        live[text(n + 2)] = value;
    }
    return [words, live];
}

function id() {
    if (d.once_in(4)) {
        const n = d.one_of([0, 5, 255, 256, 70000]);
        return ['#' + n, n];
    }
    const n = d.once_in(3) ? 36 : short(128);
    return ['s' + n, text(n)];
}

// The fields of a message for a vector, and the message for the SDK.
function event(key) {
    const bytes = length();
    const fields = {body: String(bytes)}, live = {body: Buffer.alloc(bytes)};
    const annotations = [];
    if (key !== undefined) {
        fields.durable = 'T';
        annotations.push(['x-opt-partition-key'.length, 's' + key.length]);
    }
    fields.message_annotations = annotations;
    if (d.once_in(2)) [fields.message_id, live.messageId] = id();
    if (d.once_in(3)) [fields.correlation_id, live.correlationId] = id();
    if (d.once_in(2)) {
        const n = length();
        fields.content_type = 'y' + n;
        live.contentType = text(n);
    }
    if (d.once_in(2)) [fields.properties, live.properties] = properties();
    return [fields, live];
}

function service_message() {
    const bytes = length();
    const fields = {body: String(bytes)}, live = {body: Buffer.alloc(bytes)};
    const annotations = fields.message_annotations = [];
    const put = (field, name, letter, most) => {
        const n = short(most);
        fields[field] = letter + n;
        live[name] = text(n);
    };
    if (d.once_in(4)) {
        const n = 1 + short(127);
        annotations.push(['x-opt-partition-key'.length, 's' + n]);
        live.partitionKey = text(n);
        if (d.once_in(2)) {
            fields.group_id = 's' + n;
            live.sessionId = text(n);
        }
    } else if (d.once_in(2)) {
        put('group_id', 'sessionId', 's', 128);
    }
    if (d.once_in(5)) {
        annotations.push(['x-opt-scheduled-enqueue-time'.length, 'M']);
        live.scheduledEnqueueTimeUtc = new Date(0);
    }
    if (d.once_in(4)) {  // the SDK then sets three fields
        live.timeToLive = d.one_of([1, 255, 256, 60000]);
        fields.ttl = '#' + live.timeToLive;
        fields.creation_time = fields.absolute_expiry_time = '#1700000000000';
    }
    if (d.once_in(2)) [fields.message_id, live.messageId] = id();
    if (d.once_in(3)) [fields.correlation_id, live.correlationId] = id();
    if (d.once_in(2)) put('content_type', 'contentType', 'y', 300);
    if (d.once_in(4)) put('subject', 'subject', 's', 300);
    if (d.once_in(5)) put('to', 'to', 's', 300);
    if (d.once_in(5)) put('reply_to', 'replyTo', 's', 300);
    if (d.once_in(6)) put('reply_to_group_id', 'replyToSessionId', 's', 128);
    if (d.once_in(2)) [fields.properties, live.applicationProperties] = properties();
    return [fields, live];
}

function expect(actual, wanted, what) {
    if (actual === wanted) return;
    console.error(`${service}: ${what} is ${actual} and not ${wanted}`);
    process.exit(1);
}

async function main() {
    const server = await peer();
    const connection = `Endpoint=sb://127.0.0.1:${server.address().port};SharedAccessKeyName=k;` +
        'SharedAccessKey=bG9jYWw=;EntityPath=here;UseDevelopmentEmulator=true';
    let client, make, add, send, close;
    if (service === 'event_hubs') {
        const {EventHubProducerClient} = load('@azure/event-hubs');
        client = new EventHubProducerClient(connection);
        make = key => client.createBatch(key === undefined ? {} : {partitionKey: key});
        add = (batch, m) => batch.tryAdd(m);
        send = batch => client.sendBatch(batch);
    } else {
        const {ServiceBusClient} = load('@azure/service-bus');
        client = new ServiceBusClient(connection);
        const sender = client.createSender('here');
        make = () => sender.createMessageBatch();
        add = (batch, m) => batch.tryAddMessage(m);
        send = batch => sender.sendMessages(batch);
    }
    for (let i = 0; i < Number(batches); ++i) {
        const key = service === 'event_hubs' && d.once_in(2) ? text(1 + short(127)) : undefined;
        const batch = await make(key);
        expect(batch.maxSizeInBytes, limit, 'the limit');
        // Most batches are small, so that there are many first messages; some are filled.
        const most = d.once_in(20) ? 1000 : 1 + d.below(5);
        while (batch.count < most) {
            const [fields, live] = service === 'event_hubs' ? event(key) : service_message();
            const first = batch.count === 0;
            // A full batch in a few lines: the body of the rest is large.
            if (most === 1000) {
                const left = limit - batch.sizeInBytes;
                const bytes = left > 9000 ? 8000 + d.below(900) : Math.max(0, left - d.below(400));
                fields.body = String(bytes);
                live.body = Buffer.alloc(bytes);
            }
            if (!add(batch, live)) {
                console.log(line(`full ${limit}`, fields));
                break;
            }
            console.log(line(`${first ? 'new' : 'add'} ${batch.sizeInBytes}`, fields));
        }
        await send(batch);
        const got = received.pop();
        expect(got.bytes, batch.sizeInBytes, 'a batch on the wire');
        expect(got.format, 0x80013700, 'the message format');
    }
    await client.close();
    process.exit(0);
}

main().catch(e => { console.error(e); process.exit(1); });
