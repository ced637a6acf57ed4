import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { ActorAddress, ThreadReceiver } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ControlMemory } from '#src/actors/control-memory.js';
import { type PeerEnds, ThreadCarrier } from '#src/actors/node-thread-carrier.js';
import { ringMemory } from '#src/ring/byte-ring.js';

const carriers = suite('thread carrier');

const AT: ActorAddress = { thread: 0, slot: 1, generation: 0 };
const NAMES = ['main', 'thread-1', 'thread-2'];

function pairOf(a: number, b: number): [PeerEnds, PeerEnds] {
  const [there, back] = [ringMemory(4_096), ringMemory(4_096)];
  const [records, bells] = [new MessageChannel(), new MessageChannel()];
  return [
    { thread: b, out: there, in: back, port: records.port1, bell: bells.port1 },
    { thread: a, out: back, in: there, port: records.port2, bell: bells.port2 },
  ];
}

/** One thread of a system in the thread of the test, with the calls that its actors would get. */
function threadOf(self: number, control: SharedArrayBuffer, ends: PeerEnds) {
  const calls: string[] = [];
  const receiver = {
    told: (...[, , , , , payload]: Parameters<ThreadReceiver['told']>) => calls.push(`told ${payload}`),
    threadEnded: (...[thread, , unread]: Parameters<ThreadReceiver['threadEnded']>) =>
      calls.push(`ended ${NAMES[thread]}, unread ${unread.map(({ payload }) => payload)}`),
    looked: () => calls.push('looked'),
    publishing: () => undefined,
    published: () => undefined,
    dropped: () => undefined,
    releasing: () => undefined,
    released: () => calls.push('released'),
    roomAgain: () => undefined,
    report: (problem: string) => calls.push(problem),
    isBusy: false,
    isRef: () => false,
  } as unknown as ThreadReceiver;
  const spec = { self, names: NAMES, control, peers: [ends], entry: undefined };
  const carrier = new ThreadCarrier(spec, receiver, () => undefined);
  return { carrier, calls, [Symbol.asyncDispose]: async () => carrier.close() };
}

carriers(
  'a thread that has ended: its published records are read, then the unread ones are accounted for',
  async () => {
    const control = ControlMemory.of(NAMES.length);
    const [ends, endsOfOther] = pairOf(1, 2);
    await using one = threadOf(1, control, ends);
    await using two = threadOf(2, control, endsOfOther);
    two.carrier.tell(1, AT, 0, 'published', undefined, undefined);
    two.carrier.signal(1, { kind: 'type' } as never); // publishes
    two.carrier.tell(1, AT, 0, 'not published', undefined, undefined);
    one.carrier.tell(2, AT, 0, 'lost', undefined, undefined);
    one.carrier.signal(2, { kind: 'type' } as never);
    void two.carrier.close(); // at once: the rest is not published any more

    const [next, nextOfOther] = pairOf(1, 2);
    one.carrier.replaced(next, new Error('gone'));
    assert.equal(
      one.calls.filter((call) => !call.includes('signalled')),
      ['told published', 'released', 'ended thread-2, unread lost', 'released'],
      'its dead letters are noted before the next message, which may end this thread too',
    );
    nextOfOther.port.close();
    nextOfOther.bell.close();
  },
);

carriers(
  'the name of a type is published at once: the message behind it may never let go of its thread',
  async () => {
    const control = ControlMemory.of(NAMES.length);
    const [ends, endsOfOther] = pairOf(1, 2);
    await using one = threadOf(1, control, ends);
    await using two = threadOf(2, control, endsOfOther);
    two.carrier.tell(1, AT, 0, 'a message', undefined, undefined);
    assert.is(one.carrier.exchange(), false, 'published at the end of the run of the event loop');
    two.carrier.signal(1, { kind: 'type' } as never);
    assert.is(one.carrier.exchange(), true);
  },
);

carriers('a thread that has rung one that has ended rings the one in its place', async () => {
  const control = ControlMemory.of(NAMES.length);
  const memory = new ControlMemory(NAMES.length, control);
  const [ends, endsOfOther] = pairOf(1, 2);
  await using one = threadOf(1, control, ends);
  // The thread in its place is up, and sleeps; this one has not heard of it.
  Atomics.store(memory.words, memory.sleepsAt(2), 1);
  one.carrier.tell(2, AT, 0, 'to the one before', undefined, undefined);
  one.carrier.signal(2, { kind: 'type' } as never); // publishes
  assert.is(memory.isAsleep(2), false, 'no other thread will ring');
  const [next, nextOfOther] = pairOf(1, 2);
  one.carrier.replaced(next, new Error('gone'));
  assert.ok(receiveMessageOnPort(nextOfOther.bell) !== undefined);
  for (const { port, bell } of [endsOfOther, nextOfOther]) {
    port.close();
    bell.close();
  }
});

carriers.run();
