// Durable appends with thousands outstanding: from actors, promises and callbacks.
import { type ActorContext, createSystem, defineActor } from '@troupe/core';
import { type Log, openLog, openWal, WalActor } from '@troupe/wal';
import type { Case, Trial } from '../../runner/suite.js';
import { tempFolder } from './temp-folder.js';

const RECORD_BYTES = 200;

/** 2,000 appends outstanding at all times; a durable one is replaced by the next. */
export function outstandingAppends(recordsAtScale: number): Case {
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
      const appendRepeatedly = async (): Promise<void> => {
        while (budget.left > 0) {
          budget.left -= 1;
          await to.append(payload);
          budget.durable += 1;
        }
      };
      await Promise.all(Array.from({ length: OUTSTANDING / CLIENTS }, appendRepeatedly));
      budget.finished();
    },
  },
});

function spawnLog(dir: string) {
  const system = createSystem({ name: 'wal-bench' });
  return { system, log: system.spawn(WalActor, { args: { dir, freeBytesSoft: 0 } }) };
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
        system.spawn(Client, { args: { log, payload, budget } }),
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
      if (log.append(payload, done) <= 0) reject(new Error('the log rejected a record'));
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
