import { nodeHost } from '@troupe/core';
import { CallTable } from '#src/client/calls/call-table.js';
import { Client, type ClientSetup } from '#src/client/client.js';
import { ClientFeeds } from '#src/client/feed/client-feeds.js';
import { ClientMachine } from '#src/client/machine/client-machine.js';
import { ReaderTable } from '#src/client/stream/reader-table.js';
import type { ClientMessage, Receipt, SubmitItem, ToClient } from '#src/protocol/client/client-messages.js';

/** A client without an actor: its calls are inputs of the machine at once, its leader is the test. */
export class ClientRig {
  readonly sent: ClientMessage[] = [];
  readonly machine: ClientMachine;
  readonly client: Client;

  constructor(host: ClientSetup['host'] = nodeHost) {
    const table = new CallTable();
    const readers = new ReaderTable();
    const feeds = new ClientFeeds();
    this.machine = new ClientMachine({
      client: 'c',
      token: 't',
      effects: {
        open: () => undefined,
        write: (message) => void this.sent.push(message),
        requestSession: () => undefined,
        welcomed: (welcome) => table.welcomed(welcome),
        received: (call, receipt) => table.received(call, receipt),
        jobEnded: (call, outcome) => table.jobEnded(call, outcome),
        streamed: (reader, items) => readers.streamed(reader, items),
        feedAnswered: (call, refusal) => table.feedAnswered(call, refusal),
        feedChanged: (state) => feeds.changed(state),
        feedOver: (feed, refusal) => feeds.over(feed, refusal),
        answered: (call, answer) => table.answered(call, answer),
        ended: (error) => table.ended(error),
      },
    });
    this.client = new Client({
      host,
      table,
      readers,
      feeds,
      calls: this.machine,
      token: 'rig',
      tree: () => '',
    });
  }

  welcome(outstandingMax = 2): void {
    this.fromLeader({ kind: 'welcome', tag: 'tag', outstandingMax, payloadBytesMax: 1_000 });
  }

  fromLeader(message: ToClient): void {
    this.machine.fromLeader(message);
  }

  answer(seq: number, job = seq): void {
    this.fromLeader({ kind: 'receipts', items: [receiptOf(seq, job)] });
  }

  /** The submits that were written since the last call. */
  async submitted(): Promise<SubmitItem[]> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.sent.splice(0).flatMap((message) => (message.kind === 'submit' ? message.items : []));
  }
}

function receiptOf(seq: number, job: number): Receipt {
  return { seq, jobs: [job], lsn: 1, duplicate: false, refusal: undefined };
}
