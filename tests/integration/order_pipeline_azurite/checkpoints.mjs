// SPDX-License-Identifier: MIT
//
// node checkpoints.mjs PORT list            prints the checkpoints of the event hub of
//                                           azure_blobs.cpp as Azure's own store has them
// node checkpoints.mjs PORT update N OFFSET writes one of partition 3
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';

const [port, action, sequence, offset] = process.argv.slice(2);
const account = 'devstoreaccount1';
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const container = new ContainerClient(`http://127.0.0.1:${port}/${account}/hub`,
    new StorageSharedKeyCredential(account, key));
const store = new BlobCheckpointStore(container);
const hub = { fullyQualifiedNamespace: 'shop.servicebus.windows.net', eventHubName: 'orders', consumerGroup: '$Default' };
if (action === 'update') {
    await store.updateCheckpoint({ ...hub, partitionId: '3', sequenceNumber: Number(sequence), offset });
} else {
    const all = await store.listCheckpoints(hub.fullyQualifiedNamespace, hub.eventHubName, hub.consumerGroup);
    for (const c of all) console.log(c.partitionId, c.sequenceNumber, c.offset);
}
