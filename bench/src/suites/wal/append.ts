// Durable appends: batches of a size, and thousands outstanding.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ActorContext, createSystem, defineActor } from '@troupe/core';
import { type Log, openLog, openWal, WalActor } from '@troupe/wal';
import type { Case, Measurement, Trial } from '../../runner/suite.js';
import { quantile } from '../../stats/quantile.js';
import { paddedBytes, RawFile, type RawKind } from './raw-file.js';
import { tempFolder } from './temp-folder.js';

const RECORD_BYTES = 200;
const RAW_KINDS: Readonly<Record<string, RawKind>> = {
  floor: 'grow',
  prewritten: 'prewritten',
  dsync: 'dsync',
};

/** So many records a batch, one batch after another; a latency is that of a whole batch. */
export function appendInBatches(size: number, batchesAtScale: number): Case {
  return {
    benchmark: `append${size}`,
    unit: 'records',
    group: 'append',
    systems: ['troupe', ...Object.keys(RAW_KINDS)],
    note: 'floor: asynchronous write + fdatasync of the same padded bytes to a growing file; prewritten: into a file whose zeros were written before the clock started; dsync: synchronous O_DSYNC write there, blocking the loop',
    prepare(context) {
      const batches = Math.max(20, Math.round(batchesAtScale * context.scale));
      const raw = RAW_KINDS[context.system];
      return raw === undefined ? troupeBatches(size, batches) : rawBatches(raw, size, batches);
    },
  };
}

/** The same, compared by the time one durable record takes. */
export function appendOne(batchesAtScale: number): Case {
  return { ...appendInBatches(1, batchesAtScale), benchmark: 'appendLatency', headline: 'p50' };
}

async function troupeBatches(size: number, batches: number): Promise<Trial> {
  const folder = tempFolder();
  const wal = await openWal({ dir: folder.path, freeBytesSoft: 0 });
  const payload = Buffer.alloc(RECORD_BYTES, 65);
  return {
    async run() {
      const before = wal.status();
      const measured = await timeBatches(batches, size, () => appendTogether(wal.log, payload, size));
      const syncs = wal.status().batches - before.batches;
      await wal.trim(wal.log.durableLsn);
      return { ...measured, extra: { syncsPerSecond: syncs / measured.seconds } };
    },
    async close() {
      await wal.close();
      folder.remove();
    },
  };
}

function appendTogether(log: Log, payload: Buffer, size: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = size;
    const done = (error: Error | null): void => {
      left -= 1;
      if (error !== null) reject(error);
      else if (left === 0) resolve();
    };
    for (let index = 0; index < size; index += 1) {
      if (log.append(payload, done) <= 0) reject(new Error('the log took no record'));
    }
  });
}

function rawBatches(kind: RawKind, size: number, batches: number): Trial {
  const folder = tempFolder();
  const bytes = Buffer.alloc(paddedBytes(size, RECORD_BYTES), 65);
  return {
    async run() {
      const path = join(folder.path, 'raw');
      rmSync(path, { force: true });
      const file = new RawFile(path, kind, bytes.length * batches);
      const measured = await timeBatches(batches, size, () => file.append(bytes));
      file.close();
      return { ...measured, extra: { syncsPerSecond: batches / measured.seconds } };
    },
    close: () => folder.remove(),
  };
}

async function timeBatches(batches: number, size: number, append: () => Promise<void>): Promise<Measurement> {
  const latencies = new Float64Array(batches);
  const started = performance.now();
  for (let index = 0; index < batches; index += 1) {
    const from = performance.now();
    await append();
    latencies[index] = performance.now() - from;
  }
  const seconds = (performance.now() - started) / 1_000;
  const sorted = [...latencies.sort()];
  const records = batches * size;
  const p50 = quantile(sorted, 0.5);
  const p99 = quantile(sorted, 0.99);
  return { attempted: records, completed: records, seconds, p50, p99 };
}

/** 2,000 appends outstanding at all times; the next one is sent when one is durable. */
export function outstanding(recordsAtScale: number): Case {
  return {
    benchmark: 'outstanding2000',
    unit: 'records',
    group: 'append',
    systems: ['troupe', 'promises', 'callbacks'],
    note: 'troupe: 100 actors ask the log actor, each with twenty 200-byte records outstanding; promises and callbacks: the same log without actors',
    prepare(context) {
      const records = Math.max(4_000, Math.round(recordsAtScale * context.scale));
      if (context.system === 'troupe') return fromActors(records);
      return context.system === 'promises' ? fromPromises(records) : fromCallbacks(records);
    },
  };
}

const OUTSTANDING = 2_000;
const CLIENTS = 100;

interface ClientState {
  readonly log: ReturnType<typeof spawnLog>['log'];
  readonly payload: Buffer;
  readonly budget: { left: number; durable: number; finished: () => void };
}

const Client = defineActor('client', {
  state: (args: ClientState) => args,
  handlers: {
    async work(ctx: ActorContext<ClientState>) {
      const { log, payload, budget } = ctx.state;
      const to = ctx.ask(log);
      const appendOnAndOn = async (): Promise<void> => {
        while (budget.left > 0) {
          budget.left -= 1;
          await to.append(payload);
          budget.durable += 1;
        }
      };
      await Promise.all(Array.from({ length: OUTSTANDING / CLIENTS }, appendOnAndOn));
      budget.finished();
    },
  },
});

function spawnLog(dir: string) {
  const system = createSystem({ name: 'wal-bench' });
  return { system, log: system.spawn(WalActor, { dir, freeBytesSoft: 0 }) };
}

async function fromActors(records: number): Promise<Trial> {
  const folder = tempFolder();
  const { system, log } = spawnLog(folder.path);
  const payload = Buffer.alloc(RECORD_BYTES, 65);
  await log.ask.status();
  return {
    async run() {
      const budget = { left: records, durable: 0, finished: () => undefined as void };
      const clients = Array.from({ length: OUTSTANDING }, () =>
        system.spawn(Client, { log, payload, budget }),
      );
      const started = performance.now();
      const finished = new Promise<void>((resolve) => {
        budget.finished = () => {
          if (budget.durable === records) resolve();
        };
      });
      for (const client of clients) client.tell.work();
      await finished;
      const seconds = (performance.now() - started) / 1_000;
      for (const client of clients) await system.stop(client);
      await log.ask.trim(Number.MAX_SAFE_INTEGER);
      return { attempted: records, completed: budget.durable, seconds };
    },
    async close() {
      await system.shutdown();
      folder.remove();
    },
  };
}

async function fromPromises(records: number): Promise<Trial> {
  const folder = tempFolder();
  const wal = await openWal({ dir: folder.path, freeBytesSoft: 0 });
  const payload = Buffer.alloc(RECORD_BYTES, 65);
  return {
    async run() {
      let left = records;
      let durable = 0;
      const started = performance.now();
      const client = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await wal.append(payload);
          durable += 1;
        }
      };
      await Promise.all(Array.from({ length: OUTSTANDING }, client));
      const seconds = (performance.now() - started) / 1_000;
      await wal.trim(wal.log.durableLsn);
      return { attempted: records, completed: durable, seconds };
    },
    async close() {
      await wal.close();
      folder.remove();
    },
  };
}

async function fromCallbacks(records: number): Promise<Trial> {
  const folder = tempFolder();
  const log = await new Promise<Log>((resolve, reject) => {
    openLog({ dir: folder.path, freeBytesSoft: 0 }, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
  const payload = Buffer.alloc(RECORD_BYTES, 65);
  return {
    async run() {
      const started = performance.now();
      const durable = await appendWindow(log, payload, records);
      const seconds = (performance.now() - started) / 1_000;
      await new Promise((resolve) => log.trim(log.durableLsn, resolve));
      return { attempted: records, completed: durable, seconds };
    },
    async close() {
      await new Promise((resolve) => log.close(resolve));
      folder.remove();
    },
  };
}

function appendWindow(log: Log, payload: Buffer, records: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let durable = 0;
    const next = (): void => {
      sent += 1;
      if (log.append(payload, done) <= 0) reject(new Error('the log took no record'));
    };
    const done = (error: Error | null): void => {
      if (error !== null) return reject(error);
      durable += 1;
      if (sent < records) next();
      else if (durable === records) resolve(durable);
    };
    for (let index = 0; index < Math.min(OUTSTANDING, records); index += 1) next();
  });
}
