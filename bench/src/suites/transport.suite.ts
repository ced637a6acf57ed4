import { type BodySource, NO_HEADER } from '@troupe/transport';
import type { Case, Measurement, RunContext, Suite, Trial } from '../runner/suite.js';
import { memoryOf, openBare, openTroupe, type TroupeEnd } from './transport/open-connection.js';
import { BLOCK_BYTES, BODY_BYTES, MESSAGE_BYTES, MemoryWatch, Type } from './transport/peer-messages.js';

const MIB = 1024 * 1024;
/** 9 bytes of frame head and 2 of header length make it a hundred. */
const SMALL = Buffer.alloc(MESSAGE_BYTES - 11, 0x61);

const oneWay: Case = {
  benchmark: 'one-way',
  unit: 'messages',
  group: 'small messages, two processes on loopback',
  note: '100-byte frames from an actor to an actor in another process; floor: a bare socket with one write per frame',
  systems: ['troupe', 'troupe-tls', 'floor'],
  async prepare({ system, scale }) {
    const count = Math.max(1_000, Math.round((system === 'floor' ? 200_000 : 2_000_000) * scale));
    return system === 'floor' ? bareOneWay(Math.ceil(count / 1_000) * 1_000) : troupeOneWay(system, count);
  },
};

const pingPong: Case = {
  benchmark: 'ping-pong',
  unit: 'round trips',
  group: 'small messages, two processes on loopback',
  note: 'one request at a time, through actors on both sides; floor: a bare socket',
  headline: 'p50',
  systems: ['troupe', 'troupe-tls', 'floor'],
  async prepare({ system, scale }) {
    const count = Math.max(100, Math.round(5_000 * scale));
    return system === 'floor' ? barePingPong(count) : troupePingPong(system, count);
  },
};

const inFlight: Case = {
  benchmark: 'in-flight-1000',
  unit: 'round trips',
  group: 'small messages, two processes on loopback',
  note: '1,000 requests under way at any time, matched by id',
  systems: ['troupe', 'troupe-tls'],
  async prepare({ system, scale }) {
    const end = await openTroupe(troupeMode(system));
    const count = Math.max(2_000, Math.round(300_000 * scale));
    return { run: () => requests(end, count, 1_000), close: () => end.close() };
  },
};

const body: Case = {
  benchmark: 'body-64mb',
  unit: 'bytes',
  group: 'large bodies',
  note: '64 MiB in pieces while small requests go to and fro on the same connection (p99: theirs); floor: a bare socket',
  systems: ['troupe', 'troupe-tls', 'floor'],
  repeat: { budgetMs: 3_000 },
  async prepare({ system }) {
    return system === 'floor' ? bareBody() : troupeBody(system);
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
  const end = await openTroupe(troupeMode(system));
  const message = { type: Type.Count, header: NO_HEADER, body: SMALL };
  return {
    async run() {
      const started = performance.now();
      const total = reply(end);
      for (let sent = 0; sent < count; sent += 1) {
        // Outside an actor nobody can be muted: where the mailbox is full, wait for room.
        if (end.connection.offer.write(message) !== 'accepted') await end.connection.send.write(message);
      }
      await end.connection.send.write({ type: Type.Total, header: NO_HEADER, body: SMALL });
      const completed = Number(await total);
      return { attempted: count, completed, seconds: (performance.now() - started) / 1_000 };
    },
    close: () => end.close(),
  };
}

async function bareOneWay(count: number): Promise<Trial> {
  const end = await openBare('floor-sink');
  const frame = Buffer.alloc(MESSAGE_BYTES);
  return {
    async run() {
      const started = performance.now();
      const all = end.received(count / 1_000);
      for (let sent = 0; sent < count; sent += 1) {
        if (!end.socket.write(frame))
          await new Promise<void>((resolve) => end.socket.once('drain', () => resolve()));
      }
      await all;
      return { attempted: count, completed: count, seconds: (performance.now() - started) / 1_000 };
    },
    close: () => end.close(),
  };
}

async function troupePingPong(system: string, count: number): Promise<Trial> {
  const end = await openTroupe(troupeMode(system));
  return { run: () => requests(end, count, 1), close: () => end.close() };
}

async function barePingPong(count: number): Promise<Trial> {
  const end = await openBare('floor-echo');
  const frame = Buffer.alloc(MESSAGE_BYTES);
  return {
    async run() {
      const latencies: number[] = [];
      const started = performance.now();
      for (let i = 0; i < count; i += 1) {
        const sentAt = performance.now();
        const back = end.received(MESSAGE_BYTES);
        await end.write(frame);
        await back;
        latencies.push(performance.now() - sentAt);
      }
      return measured(count, latencies, started);
    },
    close: () => end.close(),
  };
}

/** Keeps `window` requests under way until `count` are answered. */
function requests(end: TroupeEnd, count: number, window: number): Promise<Measurement> {
  const sentAt = new Map<string, number>();
  const latencies: number[] = [];
  const started = performance.now();
  let sent = 0;
  const ask = (): void => {
    sent += 1;
    const msgId = `m${sent}`;
    sentAt.set(msgId, performance.now());
    end.connection.tell.write({ type: Type.Echo, header: { msgId }, body: SMALL });
  };
  return new Promise((resolve) => {
    end.hands.onFrame = (frame) => {
      const at = sentAt.get(frame.header.corrId ?? '');
      if (at === undefined) return;
      sentAt.delete(frame.header.corrId ?? '');
      latencies.push(performance.now() - at);
      if (sent < count) ask();
      else if (latencies.length === count) resolve(measured(count, latencies, started));
    };
    for (let i = 0; i < Math.min(window, count); i += 1) ask();
  });
}

async function troupeBody(system: string): Promise<Trial> {
  const end = await openTroupe(troupeMode(system));
  const watch = new MemoryWatch();
  return {
    async run() {
      const before = { here: watch.take(), there: await memoryOf(end.peer) };
      const latencies: number[] = [];
      const started = performance.now();
      const total = reply(end, latencies);
      end.connection.tell.writeBody({
        type: Type.Body,
        header: { msgId: 'body' },
        source: blocks(BODY_BYTES),
      });
      const small = trickle(end);
      const completed = Number(await total);
      const seconds = (performance.now() - started) / 1_000;
      clearInterval(small);
      const after = { here: watch.take(), there: await memoryOf(end.peer) };
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
    close: () => end.close(),
  };
}

async function bareBody(): Promise<Trial> {
  const end = await openBare('floor-sink', 'body');
  const block = Buffer.alloc(BLOCK_BYTES);
  return {
    async run() {
      const started = performance.now();
      const all = end.received(1);
      for (let sent = 0; sent < BODY_BYTES; sent += BLOCK_BYTES) await end.write(block);
      await all;
      return { attempted: BODY_BYTES, completed: BODY_BYTES, seconds: (performance.now() - started) / 1_000 };
    },
    close: () => end.close(),
  };
}

/** A body that is never held whole: the same block again and again. */
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

/** A small request every millisecond; its id is the time it was sent. */
function trickle(end: TroupeEnd): NodeJS.Timeout {
  return setInterval(() => {
    end.connection.tell.write({ type: Type.Echo, header: { msgId: `t${performance.now()}` }, body: SMALL });
  }, 1);
}

/** The text of the next answer that is no echo; echoes of timed requests go to `latencies`. */
function reply(end: TroupeEnd, latencies: number[] = []): Promise<string> {
  return new Promise((resolve) => {
    end.hands.onFrame = (frame) => {
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
