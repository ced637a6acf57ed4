// A leader that stands by, takes over and leads, with a journal that does so by hand.
import { join } from 'node:path';
import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { defineJob, handle } from '@troupe/jobs';
import type { JournalReader, OpenJournal } from '@troupe/jobs/journal';
import type { ConnectionEvents, DialerEvent, SessionConnection } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StandbySessionActor, type WaitingPeers } from '#src/server/standby-session.js';
import { memoryJournal } from '#src/testing/memory-journal.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const standbys = suite('standbys');

const Echo = defineJob('standby.echo', { input: anything, output: anything });
const Endless = defineJob('standby.endless', { input: anything, output: anything });
const fatal = (error: Error): void => assert.unreachable(error.message);

interface HeldJournal {
  readonly open: OpenJournal & { readonly handsOver?: boolean };
  readonly reader: Promise<JournalReader>;
  lead(): void;
}

/** Follows until the test lets it lead. */
function heldJournal(options: { readonly handsOver?: boolean } = {}): HeldJournal {
  let lead: () => void = () => undefined;
  const leads = new Promise<void>((resolve) => {
    lead = resolve;
  });
  let opened: (reader: JournalReader) => void = () => undefined;
  const reader = new Promise<JournalReader>((resolve) => {
    opened = resolve;
  });
  const memory = memoryJournal({ entries: [] }, setImmediate);
  const open: OpenJournal = (from, done, owner) => {
    opened(from);
    void leads.then(() => memory(from, done, owner));
  };
  return { open: Object.assign(open, options), reader, lead: () => lead() };
}

standbys(
  'a peer that comes while a standby takes over is served when it leads, by the same connection',
  async () => {
    await using folder = await tempFolder();
    const address = { path: join(folder.path, 'leader') };
    const journal = heldJournal();
    const starting = startLeader({ journal: journal.open, address, onFatal: fatal });
    const reader = await journal.reader;
    reader.following?.('127.0.0.1:1');
    const sent = await firstLoss(address);
    assert.ok(sent.kind === 'lost' && sent.reason.kind === 'peer-error');
    assert.is(sent.reason.error.message, 'not the leader, try 127.0.0.1:1');
    reader.following?.(undefined);
    const dialed: DialerEvent[] = [];
    const connecting = connectClient({ address, onEvent: (event) => dialed.push(event) });
    // The dial, the handshake and the hello have come to it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    journal.lead();
    await using leader = await starting;
    await using client = await connecting;
    await using worker = await startWorker({
      address,
      name: 'w',
      cpuCap: 1,
      handlers: [handle(Echo, (x) => x)],
    });
    assert.is(await client.run(Echo, 'served'), 'served');
    assert.equal(worker.execs, ['standby.echo']);
    assert.equal(
      dialed.map(({ kind }) => kind),
      ['dialing'],
    );
    assert.ok((await leader.connections()) >= 2);
  },
);

standbys('a standby refers a peer to its leader once it would know of the end of that one', async () => {
  const system = createTestSystem();
  const waiting: WaitingPeers = new Set();
  let leaderAddress: string | undefined = 'a:1';
  const sent: unknown[] = [];
  const peer = (): SessionConnection =>
    ({
      writeError: (...error: unknown[]) => sent.push(error),
      close: () => sent.push('closed'),
      attach: () => sent.push('attached'),
    }) as unknown as SessionConnection;
  const come = (): void => {
    const args = { connection: peer(), waiting, leaderAddress: () => leaderAddress };
    system.system.spawn(StandbySessionActor, { args });
  };
  come();
  await system.advance(50);
  assert.equal(sent, [], 'the leader may have ended already');
  await system.advance(60);
  assert.equal(sent.splice(0), [['NOT_LEADER', { otherAddress: 'a:1' }], 'closed']);
  waiting.clear();
  come();
  await system.advance(50);
  leaderAddress = undefined;
  await system.advance(10_000);
  assert.equal(sent, [], 'it waits for the end of the take-over');
  const session = defineActor.of<ConnectionEvents>()('session', {
    state: () => ({}),
    handlers: { readable: () => undefined, notice: () => undefined, closed: () => undefined },
  });
  for (const serve of waiting) serve((_connection, spawn) => spawn(session, {}));
  await system.advance(1);
  assert.equal(sent, ['attached']);
  waiting.clear();
  sent.splice(0);
  come();
  await system.advance(1_000);
  leaderAddress = 'b:1';
  await system.advance(200);
  assert.equal(sent, [['NOT_LEADER', { otherAddress: 'b:1' }], 'closed'], 'another one has taken over');
  void system.system.shutdown();
  await system.settle();
});

standbys('a leader whose journal hands over waits for no running job at its end', async () => {
  await using folder = await tempFolder();
  const address = { path: join(folder.path, 'leader') };
  const journal = heldJournal({ handsOver: true });
  journal.lead();
  const leader = await startLeader({ journal: journal.open, address, onFatal: fatal });
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const endless = handle(Endless, () => {
    begin();
    return new Promise(() => undefined);
  });
  const worker = await startWorker({ address, name: 'w', cpuCap: 1, handlers: [endless] });
  const client = await connectClient({ address });
  await client.submit(Endless, 1);
  await begun;
  const from = performance.now();
  await leader.close();
  const tookMs = performance.now() - from;
  assert.ok(tookMs < 2_500, `it took ${tookMs} ms`);
  client.close();
  await worker.close({ withinMs: 0 });
});

/** How the first connection of a client ends. */
function firstLoss(address: { readonly path: string }): Promise<DialerEvent> {
  return new Promise((resolve) => {
    const onEvent = (event: DialerEvent): void => {
      if (event.kind === 'lost') resolve(event);
    };
    connectClient({ address, withinMs: 300, onEvent }).then(
      (client) => client.close(),
      () => undefined,
    );
  });
}

standbys.run();
