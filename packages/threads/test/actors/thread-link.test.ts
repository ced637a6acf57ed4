import { MessageChannel } from 'node:worker_threads';
import type { ActorAddress, ThreadReceiver } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ThreadLink } from '#src/actors/node-thread-link.js';
import { ringMemory } from '#src/ring/byte-ring.js';
import { ValueReader } from '#src/value/value-reader.js';
import { ValueWriter } from '#src/value/value-writer.js';

const links = suite('thread link');

const AT: ActorAddress = { thread: 0, slot: 1, generation: 0 };

/** One end of a link, whose receiver keeps the payloads that it is told. */
class End {
  readonly told: unknown[] = [];
  readonly problems: string[] = [];
  rooms = 0;
  wakes = 0;
  readonly link: ThreadLink;

  constructor(thread: number, ends: ConstructorParameters<typeof ThreadLink>[1]) {
    const receiver = {
      published: () => undefined,
      told: (...[, , , , , payload]: Parameters<ThreadReceiver['told']>) => void this.told.push(payload),
      roomAgain: () => {
        this.rooms += 1;
      },
      report: (problem: string) => void this.problems.push(problem),
      isRef: () => false,
    } as unknown as ThreadReceiver;
    const values = { writer: new ValueWriter(receiver), reader: new ValueReader(receiver) };
    const hooks = {
      onWritten: () => undefined,
      onPublished: () => {
        this.wakes += 1;
      },
    };
    this.link = new ThreadLink(thread, ends, receiver, values, hooks);
  }
}

function pair(): { a: End; b: End; out: SharedArrayBuffer; close: () => void } {
  const [out, back] = [ringMemory(4_096), ringMemory(4_096)];
  const { port1, port2 } = new MessageChannel();
  const a = new End(1, { out, in: back, port: port1 });
  const b = new End(0, { out: back, in: out, port: port2 });
  return { a, b, out, close: () => a.link.close() };
}

links('a full ring refuses more, keeps the order of what waits, and takes it when there is room', () => {
  const { a, b, close } = pair();
  let sent = 0;
  while (a.link.tell(AT, 0, { n: sent })) sent += 1;
  for (let more = 0; more < 5; more += 1) a.link.tell(AT, 0, { n: sent + 1 + more });
  a.link.publish();
  assert.is(a.link.hasWork, false, 'it may sleep while there is no room');
  b.link.read();
  assert.is(b.wakes, 1, 'the reader wakes the writer that waits');
  assert.is(a.link.hasWork, true, 'it must not sleep while there is room for what waits');
  a.link.read();
  assert.is(a.rooms, 1);
  b.link.read();
  assert.equal(
    b.told.map((payload) => (payload as { n: number }).n),
    Array.from({ length: sent + 6 }, (_, n) => n),
  );
  close();
});

links('large records go by the port, in their place', () => {
  const { a, b, close } = pair();
  a.link.tell(AT, 0, 'before');
  a.link.tell(AT, 0, 'x'.repeat(10_000));
  a.link.tell(AT, 0, new SharedArrayBuffer(8));
  a.link.tell(AT, 0, 'after');
  a.link.publish();
  b.link.read();
  assert.equal(b.problems, []);
  const [before, large, shared, after] = b.told;
  assert.equal([before, (large as string).length, after], ['before', 10_000, 'after']);
  assert.instance(shared, SharedArrayBuffer);
  close();
});

links('records that the other thread has not read are known with their payloads', () => {
  const { a, b, out, close } = pair();
  a.link.tell(AT, 2, { n: 1 });
  a.link.publish();
  b.link.read();
  a.link.tell(AT, 2, { n: 2 });
  a.link.ask(AT, 3, { n: 3, more: [1] }, { number: 77, leftMs: 5, chain: undefined });
  a.link.signal({ kind: 'unnamed', path: '/x' });
  a.link.publish();
  assert.equal(a.link.unread(out), [
    { at: AT, handler: 2, payload: { n: 2 }, ask: undefined },
    { at: AT, handler: 3, payload: { n: 3, more: [1] }, ask: 77 },
  ]);
  close();
});

links.run();
