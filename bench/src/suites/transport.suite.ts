import { type BodySource, NO_HEADER } from '@troupe/transport';
import type { Case, Measurement, RunContext, Suite, Trial } from '../runner/suite.js';
import { MemoryWatch } from './transport/memory-watch.js';
import { memoryOf, openPlain, openTroupe, type TroupeConnection } from './transport/open-connection.js';
import { BLOCK_BYTES, BODY_BYTES, MESSAGE_BYTES, Type } from './transport/peer-messages.js';

const MIB = 1024 * 1024;
/** With 9 bytes of frame head and 2 of header length the frame has 100 bytes. */
const SMALL_BODY = Buffer.alloc(MESSAGE_BYTES - 11, 0x61);

const oneWay: Case = {
  benchmark: 'one-way',
  unit: 'messages',
  group: 'small messages, two processes on loopback',
  note: '100-byte frames from an actor to an actor in another process; floor: a plain socket with one write per frame',
  systems: ['troupe', 'troupe-tls', 'floor'],
  async prepare({ system, scale }) {
    const count = Math.max(1_000, Math.round((system === 'floor' ? 200_000 : 2_000_000) * scale));
    return system === 'floor' ? plainOneWay(Math.ceil(count / 1_000) * 1_000) : troupeOneWay(system, count);
  },
};

const pingPong: Case = {
  benchmark: 'ping-pong',
  unit: 'round trips',
  group: 'small messages, two processes on loopback',
  note: 'one request at a time, through actors on both sides; floor: a plain socket',
  headline: 'p50',
  systems: ['troupe', 'troupe-tls', 'floor'],
  async prepare({ system, scale }) {
    const count = Math.max(100, Math.round(5_000 * scale));
    return system === 'floor' ? plainPingPong(count) : troupePingPong(system, count);
  },
};

const inFlight: Case = {
  benchmark: 'in-flight-1000',
  unit: 'round trips',
  group: 'small messages, two processes on loopback',
  note: '1,000 requests in flight, matched by id',
  systems: ['troupe', 'troupe-tls'],
  async prepare({ system, scale }) {
    const connection = await openTroupe(troupeMode(system));
    const count = Math.max(2_000, Math.round(300_000 * scale));
    return { run: () => requests(connection, count, 1_000), close: () => connection.close() };
  },
};

const body: Case = {
  benchmark: 'body-64mb',
  unit: 'bytes',
  group: 'large bodies',
  note: '64 MiB as a streamed body, with small requests on the same connection (p99 is theirs); floor: a plain socket',
  systems: ['troupe', 'troupe-tls', 'floor'],
  repeat: { budgetMs: 3_000 },
  async prepare({ system }) {
    return system === 'floor' ? plainBody() : troupeBody(system);
  },
};

export const suite: Suite = {
  name: 'transport',
  title: 'TCP between two processes: one way, request and response, large bodies, with and without TLS',
  systems: ['troupe', 'troupe-tls', 'floor'],
  cases: [oneWay, pingPong, inFlight, body],
};

function troupeMode(system: RunContext['system']): 'troupe' | 'troupe-tls' {
  return system === 'troupe-tls' ? 'troupe-tls' : 'troupe';
}

async function troupeOneWay(system: string, count: number): Promise<Trial> {
  const connection = await openTroupe(troupeMode(system));
  const message = { type: Type.Count, header: NO_HEADER, body: SMALL_BODY };
  return {
    async run() {
      const started = performance.now();
      const total = nextTotal(connection);
      for (let sent = 0; sent < count; sent += 1) {
        // Code outside an actor cannot be muted, so it waits while the mailbox is full.
        if (connection.actor.offer.write(message) !== 'accepted') await connection.actor.send.write(message);
      }
      await connection.actor.send.write({ type: Type.Total, header: NO_HEADER, body: SMALL_BODY });
      const completed = Number(await total);
      return { attempted: count, completed, seconds: (performance.now() - started) / 1_000 };
    },
    close: () => connection.close(),
  };
}

async function plainOneWay(count: number): Promise<Trial> {
  const connection = await openPlain('floor-sink');
  const frame = Buffer.alloc(MESSAGE_BYTES);
  return {
    async run() {
      const started = performance.now();
      const all = connection.received(count / 1_000);
      for (let sent = 0; sent < count; sent += 1) {
        if (!connection.socket.write(frame))
          await new Promise<void>((resolve) => connection.socket.once('drain', () => resolve()));
      }
      await all;
      return { attempted: count, completed: count, seconds: (performance.now() - started) / 1_000 };
    },
    close: () => connection.close(),
  };
}

async function troupePingPong(system: string, count: number): Promise<Trial> {
  const connection = await openTroupe(troupeMode(system));
  return { run: () => requests(connection, count, 1), close: () => connection.close() };
}

async function plainPingPong(count: number): Promise<Trial> {
  const connection = await openPlain('floor-echo');
  const frame = Buffer.alloc(MESSAGE_BYTES);
  return {
    async run() {
      const latencies: number[] = [];
      const started = performance.now();
      for (let i = 0; i < count; i += 1) {
        const sentAt = performance.now();
        const back = connection.received(MESSAGE_BYTES);
        await connection.write(frame);
        await back;
        latencies.push(performance.now() - sentAt);
      }
      return measured(count, latencies, started);
    },
    close: () => connection.close(),
  };
}

/** Keeps `window` requests in flight until `count` replies have arrived. */
function requests(connection: TroupeConnection, count: number, window: number): Promise<Measurement> {
  const sentAt = new Map<string, number>();
  const latencies: number[] = [];
  const started = performance.now();
  let sent = 0;
  const request = (): void => {
    sent += 1;
    const msgId = `m${sent}`;
    sentAt.set(msgId, performance.now());
    connection.actor.tell.write({ type: Type.Echo, header: { msgId }, body: SMALL_BODY });
  };
  return new Promise((resolve) => {
    connection.callbacks.onFrame = (frame) => {
      const at = sentAt.get(frame.header.corrId ?? '');
      if (at === undefined) return;
      sentAt.delete(frame.header.corrId ?? '');
      latencies.push(performance.now() - at);
      if (sent < count) request();
      else if (latencies.length === count) resolve(measured(count, latencies, started));
    };
    for (let i = 0; i < Math.min(window, count); i += 1) request();
  });
}

async function troupeBody(system: string): Promise<Trial> {
  const connection = await openTroupe(troupeMode(system));
  const watch = new MemoryWatch();
  return {
    async run() {
      const before = { here: watch.read(), there: await memoryOf(connection.peer) };
      const latencies: number[] = [];
      const started = performance.now();
      const total = nextTotal(connection, latencies);
      connection.actor.tell.writeBody({
        type: Type.Body,
        header: { msgId: 'body' },
        source: blocks(BODY_BYTES),
      });
      const requestTimer = smallRequests(connection);
      const completed = Number(await total);
      const seconds = (performance.now() - started) / 1_000;
      clearInterval(requestTimer);
      const after = { here: watch.read(), there: await memoryOf(connection.peer) };
      const extraMiB =
        Math.max(after.here.peakBytes - before.here.rssBytes, after.there.peakBytes - before.there.rssBytes) /
        MIB;
      return {
        attempted: BODY_BYTES,
        completed,
        seconds,
        ...spread(latencies),
        extra: { extraMiB, smallMessages: latencies.length },
      };
    },
    close: () => connection.close(),
  };
}

async function plainBody(): Promise<Trial> {
  const connection = await openPlain('floor-sink', 'body');
  const block = Buffer.alloc(BLOCK_BYTES);
  return {
    async run() {
      const started = performance.now();
      const all = connection.received(1);
      for (let sent = 0; sent < BODY_BYTES; sent += BLOCK_BYTES) await connection.write(block);
      await all;
      return { attempted: BODY_BYTES, completed: BODY_BYTES, seconds: (performance.now() - started) / 1_000 };
    },
    close: () => connection.close(),
  };
}

/** A body of one repeated block, never whole in memory. */
function blocks(length: number): BodySource {
  const block = Buffer.alloc(BLOCK_BYTES);
  let left = length;
  return {
    length,
    read(bytesMax, done) {
      const bytes = Math.min(bytesMax, left, BLOCK_BYTES);
      left -= bytes;
      done(null, bytes === 0 ? null : block.subarray(0, bytes));
    },
    close: () => undefined,
  };
}

/** Writes a small request every millisecond; its id is the time of the write. */
function smallRequests(connection: TroupeConnection): NodeJS.Timeout {
  return setInterval(() => {
    connection.actor.tell.write({
      type: Type.Echo,
      header: { msgId: `t${performance.now()}` },
      body: SMALL_BODY,
    });
  }, 1);
}

/** The text of the next `Total` reply; latencies of echo replies are added to `latencies`. */
function nextTotal(connection: TroupeConnection, latencies: number[] = []): Promise<string> {
  return new Promise((resolve) => {
    connection.callbacks.onFrame = (frame) => {
      if (frame.type === Type.Total) resolve(frame.body.toString());
      else latencies.push(performance.now() - Number((frame.header.corrId ?? 't0').slice(1)));
    };
  });
}

function measured(count: number, latencies: readonly number[], started: number): Measurement {
  const seconds = (performance.now() - started) / 1_000;
  return { attempted: count, completed: latencies.length, seconds, ...spread(latencies) };
}

function spread(latencies: readonly number[]): { p50: number; p99: number; max: number } {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
