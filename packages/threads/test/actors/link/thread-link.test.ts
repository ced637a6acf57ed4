import { MessageChannel } from 'node:worker_threads';
import type { ActorAddress, ThreadReceiver } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ThreadLink } from '#src/actors/link/node-thread-link.js';
import { ringMemory } from '#src/ring/byte-ring.js';
import { ValueReader } from '#src/value/value-reader.js';
import { ValueWriter } from '#src/value/value-writer.js';

const links = suite('thread link');

const AT: ActorAddress = { thread: 0, slot: 1, generation: 0 };

/** One end of a link, whose receiver keeps the payloads that it is told. */
class End {
  readonly told: unknown[] = [];
  readonly contexts: unknown[] = [];
  readonly problems: string[] = [];
  rooms = 0;
  wakes = 0;
  readonly link: ThreadLink;

  constructor(thread: number, ends: ConstructorParameters<typeof ThreadLink>[1]) {
    const receiver = {
      publishing: () => undefined,
      published: () => undefined,
      releasing: () => undefined,
      released: () => undefined,
      told: (...[, , , , , payload, contexts]: Parameters<ThreadReceiver['told']>) => {
        this.told.push(payload);
        this.contexts.push(contexts);
      },
      signalled: () => undefined,
      roomAgain: () => {
        this.rooms += 1;
      },
      report: (problem: string) => void this.problems.push(problem),
      isRef: () => false,
    } as unknown as ThreadReceiver;
    this.link = new ThreadLink(thread, ends, {
      receiver,
      writer: new ValueWriter(receiver),
      reader: new ValueReader(receiver),
      onWritten: () => undefined,
      onPublished: () => {
        this.wakes += 1;
      },
    });
  }
}

function pair(): { a: End; b: End; close: () => void } {
  const [out, back] = [ringMemory(4_096), ringMemory(4_096)];
  const { port1, port2 } = new MessageChannel();
  const a = new End(1, { out, in: back, port: port1 });
  const b = new End(0, { out: back, in: out, port: port2 });
  return { a, b, close: () => a.link.close() };
}

links('a full ring refuses more, keeps the order of what waits, and takes it when there is room', () => {
  const { a, b, close } = pair();
  let sent = 0;
  while (a.link.out.tell(AT, 0, { n: sent })) sent += 1;
  for (let more = 0; more < 5; more += 1) a.link.out.tell(AT, 0, { n: sent + 1 + more });
  a.link.out.publish();
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
  a.link.out.tell(AT, 0, 'before');
  a.link.out.tell(AT, 0, 'x'.repeat(10_000));
  a.link.out.tell(AT, 0, new SharedArrayBuffer(8));
  a.link.out.tell(AT, 0, 'after');
  a.link.out.publish();
  b.link.read();
  assert.equal(b.problems, []);
  const [before, large, shared, after] = b.told;
  assert.equal([before, (large as string).length, after], ['before', 10_000, 'after']);
  assert.instance(shared, SharedArrayBuffer);
  close();
});

links('records that the other thread has not read are known with their payloads', () => {
  const { a, b, close } = pair();
  a.link.out.tell(AT, 2, { n: 1 });
  a.link.out.publish();
  b.link.read();
  a.link.out.tell(AT, 2, { n: 2 });
  a.link.out.ask(AT, 3, { n: 3, more: [1] }, { number: 77, leftMs: 5, chain: undefined });
  a.link.out.signal({ kind: 'unnamed', path: '/x' });
  a.link.out.publish();
  assert.equal(a.link.unread, [
    { at: AT, handler: 2, payload: { n: 2 }, ask: undefined },
    { at: AT, handler: 3, payload: { n: 3, more: [1] }, ask: 77 },
  ]);
  close();
});

links('a message that went by the port and was not read is known without its payload', () => {
  const { a, close } = pair();
  a.link.out.tell(AT, 2, 'x'.repeat(10_000));
  a.link.out.ask(AT, 3, 'y'.repeat(10_000), { number: 77, leftMs: 5, chain: undefined });
  a.link.out.publish();
  assert.equal(a.link.unread, [
    { at: AT, handler: 2, payload: undefined, ask: undefined },
    { at: AT, handler: 3, payload: undefined, ask: 77 },
  ]);
  close();
});

/** A payload with a getter that is called while it is written. */
function calling(call: () => void): object {
  return Object.defineProperty({ before: { a: 1 }, now: 0, after: { b: 2 } }, 'now', {
    enumerable: true,
    get: () => {
      call();
      return 'got';
    },
  });
}

links('a getter of a payload may send: both messages arrive whole, on the same link and on another', () => {
  const { a, b, close } = pair();
  const other = pair();
  const nested = (n: number): object => ({ shape: { of: 'its own', n }, again: [{ a: 1 }, { c: 3 }] });
  for (let round = 0; round < 3; round += 1) {
    const sends = (): void => {
      a.link.out.tell(AT, 1, nested(round));
      a.link.out.tell(
        AT,
        1,
        calling(() => a.link.out.signal({ kind: 'unnamed', path: '/deep' })),
      );
      other.a.link.out.tell(AT, 1, nested(round));
    };
    a.link.out.tell(AT, 0, calling(sends));
    a.link.out.tell(AT, 0, { after: { b: round }, c: 3 });
  }
  for (const { link } of [a, other.a]) link.out.publish();
  b.link.read();
  other.b.link.read();
  assert.equal([b.problems, other.b.problems], [[], []]);
  const whole = { before: { a: 1 }, now: 'got', after: { b: 2 } };
  assert.equal(
    b.told,
    [0, 1, 2].flatMap((n) => [whole, nested(n), whole, { after: { b: n }, c: 3 }]),
  );
  assert.is(other.b.told.length, 3);
  close();
  other.close();
});

links('a getter is called once, also where the record does not fit into the ring', () => {
  const { a, b, close } = pair();
  let calls = 0;
  const payload = {
    get first() {
      calls += 1;
      return calls;
    },
    text: 'x'.repeat(3_000),
  };
  while (a.link.out.tell(AT, 0, payload));
  const sent = calls;
  a.link.out.publish();
  for (let round = 0; round < 5; round += 1) {
    b.link.read();
    a.link.read();
  }
  assert.equal(
    b.told.map((told) => (told as { first: number }).first),
    Array.from({ length: sent }, (_, i) => i + 1),
  );
  close();
});

links('messages of a getter go on when the payload itself cannot be cloned', () => {
  const { a, b, close } = pair();
  const payload = { ...{ shape: 1 }, f: calling(() => a.link.out.tell(AT, 0, 'nested')), g: () => 1 };
  assert.throws(() => a.link.out.tell(AT, 0, payload), /payload\.g/);
  assert.is(a.link.hasWork, false, 'nothing waits');
  a.link.out.tell(AT, 0, { shape: 1 });
  a.link.out.publish();
  b.link.read();
  assert.equal([b.told.at(-1), b.problems], [{ shape: 1 }, []]);
  assert.ok(b.told.includes('nested'));
  close();
});

links('a refused ask teaches the other thread nothing: later records are read as they were written', () => {
  const { a, b, close } = pair();
  const chain = [{ thread: 0, slot: 1, generation: 2, runsOn: 0, path: '/x', definition: {} }] as never;
  assert.throws(() => a.link.out.ask(AT, 0, { f: () => 1 }, { number: 1, leftMs: 1, chain }), /payload\.f/);
  a.link.out.tell(AT, 0, { other: 'shape' });
  a.link.out.tell(AT, 0, { thread: 0, slot: 1, generation: 2, runsOn: 0, path: '/x', definition: {} });
  a.link.out.publish();
  b.link.read();
  assert.equal(b.problems, []);
  assert.equal(b.told, [
    { other: 'shape' },
    { thread: 0, slot: 1, generation: 2, runsOn: 0, path: '/x', definition: {} },
  ]);
  close();
});

links('contexts of middleware come with their message', () => {
  const { a, b, close } = pair();
  a.link.out.tell(AT, 0, 'plain');
  a.link.out.tell(AT, 0, 'traced', { telemetry: { sentAt: 1 } });
  a.link.out.publish();
  b.link.read();
  assert.equal(b.told, ['plain', 'traced']);
  assert.equal(b.contexts, [undefined, { telemetry: { sentAt: 1 } }]);
  close();
});

links.run();
