// timeout: 180s
// Peers that mean harm, against a listener in a process of its own, while a healthy client in a third one keeps measuring.

import { type ChildProcess, fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { FrameWriter } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hello } from '../raw-peer.js';
import { until } from './end-to-end.js';

const hostile = suite('hostile peers');
const MIB = 1024 * 1024;
/** Shorter than in production, so that waiting for them fits a test; the machines behind them are the same. */
const LIMITS = {
  handshakeMs: 1_000,
  frameMs: 1_500,
  writeMs: 1_500,
  connectionsMax: 12_000,
  connectionsPerIdentityMax: 12_000,
  unauthenticatedMax: 4_000,
  unauthenticatedPerAddressMax: 4_000,
};
/** A shared machine has hiccups of its own, hence a second listener that nobody attacks; below this a p99 says nothing about us. */
const NOISE_MS = 60;

interface Usage {
  readonly connections: number;
  readonly unauthenticated: number;
  readonly descriptors: number;
  readonly rssBytes: number;
}

function frames(...list: readonly (readonly [number, Uint8Array])[]): Buffer {
  const writer = new FrameWriter();
  for (const [type, payload] of list) writer.writeFrame(type, payload);
  return Buffer.concat(writer.takePieces());
}

const HELLO = frames([9, hello({ methods: ['none'] })]);
const HEADERLESS = Buffer.from([0, 0]);

class Arena implements AsyncDisposable {
  private readonly sockets = new Set<Socket>();
  private readonly listener: ChildProcess;
  private readonly healthy: ChildProcess;
  private readonly control: readonly ChildProcess[];
  readonly ports: { readonly open: number; readonly guarded: number };
  readonly base: Usage;
  baseP99 = 0;

  private constructor(
    listener: ChildProcess,
    healthy: ChildProcess,
    control: readonly ChildProcess[],
    ports: Arena['ports'],
    base: Usage,
  ) {
    this.control = control;
    this.listener = listener;
    this.healthy = healthy;
    this.ports = ports;
    this.base = base;
  }

  static async open(): Promise<Arena> {
    const [listener, healthy, ports] = await pair();
    const [spared, control] = await pair();
    const arena = new Arena(listener, healthy, [control, spared], ports, await ask<Usage>(listener));
    await pause(1_000);
    arena.baseP99 = (await ask<Felt>(healthy)).p99;
    return arena;
  }

  usage(): Promise<Usage> {
    return ask<Usage>(this.listener);
  }

  attack(port = this.ports.open): Promise<Socket> {
    return new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  attacks(count: number, port = this.ports.open): Promise<Socket[]> {
    return Promise.all(Array.from({ length: count }, () => this.attack(port)));
  }

  /** One attack: the healthy client feels little of it, and everything it took is given back. */
  async endure(what: string, attack: () => Promise<void>): Promise<void> {
    // The machine may pause anybody at any time. What we do to others, we do each time.
    let felt = '';
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const [control] = this.control as [ChildProcess];
      await Promise.all([ask<Felt>(this.healthy), ask<Felt>(control)]);
      await attack();
      for (const socket of this.sockets) socket.destroy();
      // Some attacks are over before the healthy client has asked ten times.
      await pause(150);
      const [ours, theirs] = await Promise.all([ask<Felt>(this.healthy), ask<Felt>(control)]);
      await this.givenBack(what);
      const allowed = Math.max(2 * this.baseP99, 2 * theirs.p99, NOISE_MS);
      if (ours.count > 10 && ours.p99 < allowed) return;
      felt = `${ours.count} answers, p99 ${ours.p99} ms, allowed ${allowed} ms`;
    }
    throw new Error(`${what}: ${felt}`);
  }

  private async givenBack(what: string): Promise<void> {
    let usage = await this.usage();
    const deadline = performance.now() + 15_000;
    while (usage.connections > 1 || usage.descriptors > this.base.descriptors + 2) {
      if (performance.now() > deadline) throw new Error(`${what}: left behind ${JSON.stringify(usage)}`);
      await pause(50);
      usage = await this.usage();
    }
    const grown = usage.rssBytes - this.base.rssBytes;
    assert.ok(grown < 250 * MIB, `${what}: ${Math.round(grown / MIB)} MiB more memory`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    for (const child of [this.healthy, this.listener, ...this.control]) {
      child.disconnect();
      await new Promise((resolve) => child.once('exit', resolve));
    }
  }
}

interface Felt {
  readonly count: number;
  readonly p99: number;
}

/** A listener and a healthy client of it. */
async function pair(): Promise<[listener: ChildProcess, healthy: ChildProcess, ports: Arena['ports']]> {
  const script = new URL('hostile-peer.js', import.meta.url);
  const listener = fork(script, ['listener', JSON.stringify(LIMITS)]);
  const ports = await answer<Arena['ports']>(listener);
  const healthy = fork(script, ['healthy', String(ports.open)]);
  await answer(healthy);
  return [listener, healthy, ports];
}

function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => reject(new Error(`ended with ${code}`));
    child.once('exit', gone);
    child.once('message', (message) => {
      child.off('exit', gone);
      if (typeof message === 'object' && message !== null && 'lost' in message)
        reject(new Error(JSON.stringify(message)));
      else resolve(message as T);
    });
  });
}

function ask<T>(child: ChildProcess): Promise<T> {
  const answered = answer<T>(child);
  child.send('report');
  return answered;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A machine out of descriptors or ports lets the rest hang: then there are no more to be had. */
async function soonOrNone(sockets: Promise<Socket[]>): Promise<Socket[]> {
  let timer: NodeJS.Timeout | undefined;
  const none = new Promise<Socket[]>((resolve) => {
    timer = setTimeout(() => resolve([]), 15_000);
  });
  const first = await Promise.race([sockets, none]);
  clearTimeout(timer);
  return first;
}

/** One byte of each socket's script at a time, until all of them are closed by the other side. */
async function trickle(sockets: readonly Socket[], bytes: Buffer, everyMs: number): Promise<void> {
  let at = 0;
  const timer = setInterval(() => {
    for (const socket of sockets) if (!socket.destroyed) socket.write(bytes.subarray(at, at + 1));
    at += 1;
  }, everyMs);
  try {
    await until('the trickling peers are closed', () => sockets.every((socket) => socket.destroyed), 15_000);
  } finally {
    clearInterval(timer);
  }
}

function discard(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.resume();
}

hostile('harm nobody else, take no more than their share, and leave nothing behind', async () => {
  await using arena = await Arena.open();

  await arena.endure('one byte at a time before the handshake', async () => {
    const slow = await arena.attacks(200);
    discard(slow);
    await trickle(slow, HELLO, 100);
  });

  await arena.endure('one byte at a time after the handshake', async () => {
    const late = await arena.attacks(200);
    discard(late);
    for (const socket of late)
      socket.write(Buffer.concat([HELLO, frames([64, Buffer.alloc(1_000)]).subarray(0, 20)]));
    await trickle(late, Buffer.alloc(1_000), 100);
  });

  await arena.endure('handshake stall', async () => {
    const stalled = await arena.attacks(300, arena.ports.guarded);
    discard(stalled);
    for (const socket of stalled) socket.write(frames([9, hello({ methods: ['hmac'] })]));
    await until('stalled handshakes are closed', () => stalled.every((socket) => socket.destroyed), 10_000);
  });

  await arena.endure('never reading', async () => {
    const deaf = await arena.attacks(20);
    for (const socket of deaf) {
      socket.pause();
      socket.write(Buffer.concat([HELLO, ...Array.from({ length: 500 }, () => frames([66, HEADERLESS]))]));
    }
    let usage = await arena.usage();
    const deadline = performance.now() + 15_000;
    while (usage.connections > 1 && performance.now() < deadline) {
      await pause(100);
      usage = await arena.usage();
    }
    assert.is(usage.connections, 1, 'readers that never read are ended');
  });

  await arena.endure('other protocols', async () => {
    const strangers = await arena.attacks(300);
    discard(strangers);
    const noises = [
      'GET / HTTP/1.1\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01',
      'SSH-2.0-x\r\n',
      '\xff\xff\xff\xff\x01\xff\xff\xff\xff',
    ];
    for (const [i, socket] of strangers.entries())
      socket.write(Buffer.from(noises[i % noises.length] ?? '', 'latin1'));
    await until('strangers are closed', () => strangers.every((socket) => socket.destroyed), 5_000);
  });

  await arena.endure('ping flood', async () => {
    const pinger = await arena.attack();
    let pongs = 0;
    pinger.on('data', (chunk: Buffer) => (pongs += chunk.length));
    const pings = frames(...Array.from({ length: 1_000 }, () => [37, Buffer.alloc(8)] as const));
    pinger.write(HELLO);
    for (let i = 0; i < 100; i += 1) pinger.write(pings);
    await until('a hundred thousand pongs', () => pongs >= 100_000 * 17, 20_000);
  });

  await arena.endure('a flood of tiny messages', async () => {
    const flooder = await arena.attack();
    let echoed = 0;
    flooder.on('data', (chunk: Buffer) => (echoed += chunk.length));
    const tiny = frames(
      ...Array.from({ length: 1_000 }, () => [64, Buffer.concat([HEADERLESS, Buffer.from('x')])] as const),
    );
    flooder.write(HELLO);
    for (let i = 0; i < 300; i += 1) flooder.write(tiny);
    await until('every tiny message is answered', () => echoed >= 300_000 * 12, 30_000);
  });

  await arena.endure('largest frames back to back', async () => {
    const heavy = await arena.attacks(4);
    discard(heavy);
    const largest = frames([64, Buffer.alloc(MIB + 64 * 1024)]);
    for (const socket of heavy) {
      socket.write(HELLO);
      for (let i = 0; i < 20; i += 1) socket.write(largest);
    }
    await pause(1_000);
  });

  await arena.endure('a compressed bomb', async () => {
    const bomb = await arena.attack();
    discard([bomb]);
    const packed = gzipSync(Buffer.alloc(10 * MIB));
    const chunk = Buffer.concat([Buffer.from('0100000010', 'hex'), Buffer.from('0000a000', 'hex'), packed]);
    const opening = Buffer.from('1000' + '01008000' + '01000000' + 'ffffffffffffffff', 'hex');
    bomb.write(Buffer.concat([HELLO, frames([64, opening], [40, chunk])]));
    await pause(300);
  });

  await arena.endure('a storm of connections, reset inside a frame', async () => {
    for (let wave = 0; wave < 20; wave += 1) {
      const storm = await arena.attacks(100);
      for (const socket of storm) {
        socket.write(Buffer.concat([HELLO, frames([64, Buffer.alloc(500)]).subarray(0, 200)]), () =>
          socket.resetAndDestroy(),
        );
      }
      await pause(20);
    }
  });

  await arena.endure('a flood of wrong keys', async () => {
    const guessed = await arena.attacks(30, arena.ports.guarded);
    discard(guessed);
    const guess = Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(32)]);
    for (const socket of guessed) socket.write(frames([9, hello({ methods: ['hmac'] })], [34, guess]));
    await until('guessers are closed', () => guessed.every((socket) => socket.destroyed), 5_000);
    // A failure counts when the listener has seen the socket close, which may be after its peer has.
    let heard = -1;
    for (let attempt = 0; heard !== 0 && attempt < 20; attempt += 1) {
      await pause(20);
      heard = 0;
      const after = await arena.attack(arena.ports.guarded);
      discard([after]);
      after.on('data', (bytes: Buffer) => (heard += bytes.length));
      after.write(frames([9, hello({ methods: ['hmac'] })]));
      await until('a newcomer is closed', () => after.destroyed, 5_000);
    }
    assert.is(heard, 0);
  });
});

hostile('ten thousand silent connections cost little and disturb nobody', async () => {
  await using arena = await Arena.open();
  await arena.endure('idle connections', async () => {
    const wanted = 10_000;
    const idle: Socket[] = [];
    let refused = false;
    while (idle.length < wanted && !refused) {
      const batch = await soonOrNone(arena.attacks(500));
      refused = batch.length === 0;
      discard(batch);
      for (const socket of batch) socket.write(HELLO);
      idle.push(...batch.filter((socket) => !socket.destroyed));
      if (batch.length > 0 && batch.every((socket) => socket.destroyed)) refused = true;
    }
    if (idle.length < wanted)
      console.log(`scaled to ${idle.length} connections: this machine allows no more`);
    assert.ok(idle.length >= 500, `${idle.length} connections`);
    let usage = await arena.usage();
    for (let i = 0; i < 200 && usage.connections - usage.unauthenticated < idle.length; i += 1) {
      await pause(50);
      usage = await arena.usage();
    }
    // On a machine that stops for two seconds some handshakes run out of time; those peers know that they are not served.
    const open = idle.filter((socket) => !socket.destroyed).length;
    const perConnection = (usage.rssBytes - arena.base.rssBytes) / open;
    assert.ok(open >= idle.length * 0.9, `${open} of ${idle.length} are open`);
    assert.ok(usage.connections >= open * 0.99, `${usage.connections} of ${open} are served`);
    assert.ok(perConnection < 24 * 1024, `${Math.round(perConnection)} bytes for each`);
    await pause(500);
  });
});

hostile.run();
