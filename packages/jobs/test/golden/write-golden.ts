// Writes the golden folders of the current format of the ledger. Run by hand, once per format, with the cases
// that are new or changed in it (default: all):
//   node packages/jobs/.test/golden/write-golden.js packages/jobs/test/golden/v1.2 schedules acts
// The folders are never rewritten after a release: every later version must open them as they are.

import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  type Client,
  dumpLedger,
  type HandledJob,
  LEDGER_FORMAT,
  type LeaderServer,
  loadLedger,
  type RemoteWorker,
} from '@troupe/jobs';
import { openWal } from '@troupe/wal';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import {
  Count,
  counting,
  Fail,
  failing,
  Hang,
  hanging,
  Measure,
  SMALL,
  Stream,
  streaming,
  Talk,
  TRACE,
  textOf,
} from './golden-jobs.js';
import { RARE_LINES } from './rare-lines.js';

const [target = '', ...wanted] = process.argv.slice(2);
const FOLD = {
  module: new URL('../../dist/ledger/ledger-fold.js', import.meta.url).href,
  export: 'ledgerFold',
};

/** One run of a leader. A worker that `run` returns is there until the leader has ended. */
async function withLeader(
  dir: string,
  run: (client: Client, leader: LeaderServer) => Promise<RemoteWorker | void>,
  { codec = 'binary' }: { readonly codec?: 'binary' | 'jsonl' } = {},
): Promise<void> {
  const limits = { payloadBytesMax: 4 * 1024 * 1024 };
  const onFatal = (error: Error): never => {
    throw error;
  };
  const leader = await startLeader({ dir, address: { port: 0 }, wal: { ...SMALL, codec }, limits, onFatal });
  const client = await connectClient({ address: leader.address, name: 'golden' });
  const after = await run(client, leader);
  client.close();
  await leader.close();
  await after?.close({ withinMs: 0 });
}

async function withWorker(
  leader: LeaderServer,
  handler: HandledJob,
  run: () => Promise<unknown>,
): Promise<void> {
  const worker = await startWorker({ address: leader.address, name: 'w', handlers: [handler] });
  await run();
  await worker.close();
}

async function queued(client: Client): Promise<void> {
  await client.submit(Count, 1);
  await client.submit(Count, 2, { runAfterMs: 3_600_000 });
  await client.submitAll(Count, [3, 4]);
}

async function keyed(client: Client, leader: LeaderServer): Promise<void> {
  await withWorker(leader, counting, () => client.run(Count, 5, { key: 'done' }));
  await client.submit(Count, 6, { key: 'queued' });
}

async function dead(client: Client, leader: LeaderServer): Promise<void> {
  await withWorker(leader, failing, () => client.run(Fail, 7).catch(() => undefined));
  const cancelled = await client.submit(Count, 8);
  await cancelled.cancel('not wanted');
}

/** The leader ends while the attempt goes on. */
async function running(client: Client, leader: LeaderServer): Promise<RemoteWorker> {
  const worker = await startWorker({ address: leader.address, name: 'w', handlers: [hanging] });
  await client.submit(Hang, 9);
  while ((await client.overview()).counts.running === 0)
    await new Promise((resolve) => setImmediate(resolve));
  return worker;
}

async function stored(client: Client): Promise<void> {
  await client.submit(Measure, textOf(1_100_000));
}

/** A trace, an end with chunks and metadata, and the client of a cancel. */
async function optionalFields(client: Client, leader: LeaderServer): Promise<void> {
  await client.submit(Count, 10, { trace: TRACE });
  await client.submitAll(Count, [11]);
  const cancelled = await client.submit(Count, 12);
  await cancelled.cancel('not wanted');
  await withWorker(leader, streaming, async () => {
    const job = await client.submit(Stream, 3, { streaming: true });
    for await (const _item of job.items());
  });
}

/** As the log of a leader does by itself when it has grown. */
async function makeSnapshot(dir: string): Promise<void> {
  const wal = await openWal({ dir, ...SMALL, content: LEDGER_FORMAT, fold: FOLD });
  await wal.snapshot();
  await wal.close();
}

/** Everything before, in two snapshots and records behind them. */
async function snapshot(dir: string): Promise<void> {
  await withLeader(dir, keyed);
  await withLeader(dir, stored);
  await makeSnapshot(dir);
  await withLeader(dir, dead);
  await withLeader(dir, optionalFields);
  await makeSnapshot(dir);
  await withLeader(dir, queued);
}

async function fed(client: Client): Promise<void> {
  const job = await client.submit(Talk, 13, { streaming: true });
  await job.feed('one ');
  await job.feed('two', { final: true });
}

/** Order keys, priorities, labels, a job that expired, and what operators set for queues. */
async function ordered(client: Client): Promise<void> {
  await client.submit(Count, 14, { orderKey: 'line', priority: 9 });
  await client.submit(Count, 15, { orderKey: 'line' });
  const late = await client.submit(Count, 16, { startWithinMs: 1, requires: ['gpu'] });
  await late.result().catch(() => undefined);
  await client
    .queue(Hang.exec)
    .setLimits({ runningMax: 2, rate: { jobs: 5, perMs: 1_000 }, keyRunningMax: 2 });
  await client.queue(Fail.exec).drain();
  await client.queue('*').setLimits({ runningMax: 100 });
  await client.queue(Measure.exec).pause();
  await client.queue(Measure.exec).resume();
}

/** The same in a snapshot. */
async function orderedSnapshot(dir: string): Promise<void> {
  await withLeader(dir, ordered);
  await makeSnapshot(dir);
  await withLeader(dir, queued);
}

/** Acts of an operator in a snapshot and in records behind it: tags, another input, a quiet worker, a stop. */
async function acts(dir: string): Promise<void> {
  await withLeader(dir, async (client, leader) => {
    await client.submit(Count, 17, { tags: ['eu', 'night'] });
    await withWorker(leader, failing, async () => {
      const job = await client.submit(Fail, 18);
      await job.result().catch(() => undefined);
      await client.workers.quiet('w');
      await client.redriveEdited(Fail, job.id, 19);
    });
  });
  await makeSnapshot(dir);
  await withLeader(dir, async (client, leader) => {
    await client.submit(Count, 20, { tags: ['eu'] });
    await withWorker(leader, failing, () => client.workers.stop('w', { drainMs: 60_000 }));
  });
}

/** Schedules in a snapshot and in records behind it: set, run, paused, changed, dropped. */
async function schedules(dir: string): Promise<void> {
  await withLeader(dir, async ({ schedules: all }) => {
    await all.add('leap', Count, 14, { cron: '0 0 29 2 *', zone: 'Europe/Berlin', overlap: 'queue' });
    await all.add('yearly', Count, 15, { everyMs: 31_536_000_000, jitterMs: 5_000, catchUp: 'none' });
    await all.add('gone', Count, 16, { cron: '@yearly' });
    await all.run('leap');
  });
  await makeSnapshot(dir);
  await withLeader(dir, async ({ schedules: all }) => {
    await all.run('leap');
    await all.pause('yearly');
    await all.remove('gone');
  });
}

/** Runs of one schedule beside each other, by request. */
async function besideRuns(dir: string): Promise<void> {
  await withLeader(dir, async ({ schedules: all }) => {
    await all.add('leap', Count, 14, { cron: '0 0 29 2 *' });
    await all.run('leap');
    await all.run('leap');
  });
  await makeSnapshot(dir);
  await withLeader(dir, async ({ schedules: all }) => void (await all.run('leap')));
}

/** Made of the lines of another: it begins with a state. */
async function loaded(dir: string): Promise<void> {
  const source = `${dir}-source`;
  await snapshot(source);
  const lines: string[] = [];
  await dumpLedger(source, (line) => lines.push(JSON.stringify(line)));
  const openStored = (sha256: string): AsyncIterable<Uint8Array> =>
    createReadStream(join(source, 'blobs', sha256));
  await loadLedger(lines, { dir, openStored, wal: SMALL });
}

/** Made of lines, since a leader seldom writes such records. */
async function rare(dir: string): Promise<void> {
  await loadLedger(RARE_LINES, { dir, wal: SMALL });
}

/** The same in a snapshot, and records behind it. */
async function rareSnapshot(dir: string): Promise<void> {
  await rare(dir);
  await makeSnapshot(dir);
  await withLeader(dir, queued);
}

const CASES: Readonly<Record<string, (dir: string) => Promise<void>>> = {
  queued: (dir) => withLeader(dir, queued),
  keyed: (dir) => withLeader(dir, keyed),
  dead: (dir) => withLeader(dir, dead),
  running: (dir) => withLeader(dir, running),
  'optional-fields': (dir) => withLeader(dir, optionalFields),
  'stored-payload': (dir) => withLeader(dir, stored),
  snapshot,
  feed: (dir) => withLeader(dir, fed),
  loaded,
  ordered: (dir) => withLeader(dir, ordered),
  'ordered-snapshot': orderedSnapshot,
  schedules,
  'beside-runs': besideRuns,
  acts,
  rare,
  'rare-snapshot': rareSnapshot,
  jsonl: (dir) => withLeader(dir, keyed, { codec: 'jsonl' }),
};

const work = await mkdtemp(join(tmpdir(), 'troupe-golden-'));
for (const [name, write] of Object.entries(CASES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const dir = join(work, name);
  await write(dir);
  const lines: string[] = [];
  await dumpLedger(dir, (line) => lines.push(JSON.stringify(line)));
  const place = join(target, name);
  await mkdir(place, { recursive: true });
  const isKept = (path: string): boolean => !/^(LOCK|quarantine|.*\.tmp)$/.test(basename(path));
  await cp(dir, join(place, 'folder'), { recursive: true, filter: isKept });
  await writeFile(join(place, 'expected.jsonl'), `${lines.join('\n')}\n`);
}
await rm(work, { recursive: true });
