// timeout: 120s
// The folders of every format of the ledger open with their jobs, in this and every later version.
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeHost } from '@troupe/core';
import { type Client, dumpLedger, type EmbeddedJobs, type LedgerLine, loadLedger } from '@troupe/jobs';
import { openWal, verifyWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HAS_FIELDS } from '#src/bytes/optional-fields.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { KIND_OF } from '#src/ledger/codec/record-kinds.js';
import type { Ledger } from '#src/ledger/ledger.js';
import { ledgerFold } from '#src/ledger/ledger-fold.js';
import { LEDGER_FORMAT } from '#src/ledger/ledger-format.js';
import { embedded } from '../checked-processes.js';
import { ledgerIn, memoryFolder } from '../folder/history-folder.js';
import { tempFolder } from '../temp-folder.js';
import { Count, Fail, FINISHING, Hang, Measure, SMALL, Talk, textOf } from './golden-jobs.js';

const golden = suite('golden folders');
const HERE = fileURLToPath(new URL('../../test/golden/', import.meta.url));

const formats = (await readdir(HERE)).filter((name) => /^v\d+\.\d+$/.test(name));
const cases = await Promise.all(
  formats.map(async (format) => (await readdir(join(HERE, format))).map((name) => `${format}/${name}`)),
);

golden('there are folders of the format of this version', () => {
  assert.ok(formats.includes(`v${LEDGER_FORMAT.major}.${LEDGER_FORMAT.minor}`), formats.join());
});

/** The kinds of docs/ledger-format.md. */
const CHUNKS = [1, 2, 3, 4, 32, 33, 35, 36, 37, 64, 65, 66];

/** The jobs in the order of their numbers: input or result, by state. */
interface Jobs {
  readonly queued: number;
  readonly running: number;
  readonly dead: number;
}

const COUNTS: Readonly<Record<string, Jobs>> = {
  queued: { queued: 4, running: 0, dead: 0 },
  keyed: { queued: 1, running: 0, dead: 0 },
  jsonl: { queued: 1, running: 0, dead: 0 },
  dead: { queued: 0, running: 0, dead: 1 },
  running: { queued: 0, running: 1, dead: 0 },
  'stored-payload': { queued: 1, running: 0, dead: 0 },
  'optional-fields': { queued: 2, running: 0, dead: 0 },
  feed: { queued: 1, running: 0, dead: 0 },
  ordered: { queued: 2, running: 0, dead: 0 },
  'ordered-snapshot': { queued: 6, running: 0, dead: 0 },
  loaded: { queued: 8, running: 0, dead: 1 },
  schedules: { queued: 2, running: 0, dead: 0 },
  'beside-runs': { queued: 3, running: 0, dead: 0 },
  acts: { queued: 3, running: 0, dead: 0 },
  rare: { queued: 4, running: 0, dead: 0 },
  'rare-snapshot': { queued: 8, running: 0, dead: 0 },
  snapshot: { queued: 8, running: 0, dead: 1 },
};

async function expectedLines(name: string): Promise<LedgerLine[]> {
  const text = await readFile(join(HERE, name, 'expected.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerLine);
}

/** A leader on a copy, in the hour in which the folder was written: its jobs have not expired. */
async function openCopy(name: string, dir: string): Promise<EmbeddedJobs> {
  await cp(join(HERE, name, 'folder'), dir, { recursive: true });
  const report = await verifyWal(dir);
  assert.ok(report.ok, JSON.stringify(report.damage));
  const writtenAt = Math.max(...(await expectedLines(name)).map(({ at, now }) => Number(at ?? now ?? 0)));
  const openedAt = nodeHost.now();
  const host = { ...nodeHost, wallNow: () => writtenAt + nodeHost.now() - openedAt };
  return embedded({ dir, host, wal: SMALL, times: { reclaimMs: 1 } });
}

for (const name of cases.flat()) {
  const kind = name.split('/').at(-1) as string;

  golden(`${name}: every record is read as it was written`, async () => {
    const lines: LedgerLine[] = [];
    await dumpLedger(join(HERE, name, 'folder'), (line) =>
      lines.push(JSON.parse(JSON.stringify(line)) as LedgerLine),
    );
    assert.equal(lines, await expectedLines(name));
  });

  golden(`${name}: a leader opens it with its jobs, and they run`, async () => {
    await using folder = await tempFolder();
    await using app = await openCopy(name, folder.path);
    const client = app.client({ name: 'golden' });
    const { queued, running, dead } = (await client.overview()).counts;
    assert.equal({ queued, running, dead }, COUNTS[kind]);
    const format = `"major":${LEDGER_FORMAT.major},"minor":${LEDGER_FORMAT.minor},"since"`;
    assert.ok((await readFile(join(folder.path, 'STORE'), 'utf8')).includes(format), 'the format is raised');
    app.worker({ handlers: FINISHING });
    await CHECKS[kind]?.(client, await idsOf(name));
  });
}

/** The id of the first job of each exec that has not ended, from the lines. */
async function idsOf(name: string): Promise<ReadonlyMap<string, string>> {
  const lines = await expectedLines(name);
  const tag = lines.find(({ tag: found }) => found !== undefined)?.['tag'] as string;
  const execs = new Map<number, string>();
  const ids = new Map<string, string>();
  for (const line of lines) {
    if (line['type'] === 'policy' || line['type'] === 'state_policy')
      execs.set(line['no'] as number, (line['policy'] as { exec: string }).exec);
    const isJob = line['type'] === 'enqueue' || (line['type'] === 'state_job' && line['state'] !== 'done');
    const exec = execs.get(line['policy'] as number) ?? '';
    if (isJob && !ids.has(exec)) ids.set(exec, `${tag}-${(line['job'] as number).toString(36)}`);
  }
  return ids;
}

type Check = (client: Client, ids: ReadonlyMap<string, string>) => Promise<void>;

const countIs =
  (result: number): Check =>
  async (client, ids) =>
    assert.is(await client.open(Count, ids.get('golden.count') as string).result(), result);

/** A key names its job as before. */
const keyed: Check = async (client, ids) => {
  assert.is(await client.run(Count, 5, { key: 'done' }), 6);
  const again = await client.submit(Count, 6, { key: 'queued' });
  assert.is(await again.result(), 7);
  assert.ok(again.receipt?.duplicate, again.id);
  assert.ok([...ids.values()].length > 0);
};

const dead: Check = async (client, ids) => {
  const id = ids.get('golden.fail') as string;
  const [view] = await client.list('dead');
  assert.equal(
    [view?.exec, view?.failure?.message, view?.failure?.cause?.message],
    ['golden.fail', 'it fails', 'the reason'],
  );
  await client.redrive([id]);
  assert.is(await client.open(Fail, id).result(), -7);
};

const stored: Check = async (client, ids) =>
  assert.is(
    await client.open(Measure, ids.get('golden.measure') as string).result(),
    textOf(1_100_000).length,
  );

const everything: Check = async (client, ids) => {
  await stored(client, ids);
  await keyed(client, ids);
};

/** Two jobs of one key run, and what operators have set is still set. */
const ordered: Check = async (client, ids) => {
  await countIs(15)(client, ids);
  const set = (await client.queues()).filter(({ changedAt }) => changedAt > 0);
  assert.equal(
    set.map(({ queue, mode, limits }) => [queue, mode, limits]),
    [
      ['*', 'open', { runningMax: 100 }],
      ['golden/golden.fail', 'draining', {}],
      ['golden/golden.hang', 'open', { runningMax: 2, rate: { jobs: 5, perMs: 1_000 }, keyRunningMax: 2 }],
    ],
  );
};

/** Each is as it was, and can be run. */
const schedules: Check = async (client) => {
  const all = await client.schedules.list();
  assert.equal(
    all.map(({ name, rule, paused, runs }) => [name, rule.cron ?? rule.everyMs, paused, runs]),
    [
      ['leap', '0 0 29 2 *', false, 2],
      ['yearly', 31_536_000_000, true, 0],
    ],
  );
  const { lastJob } = await client.schedules.run('leap');
  assert.is(await client.open(Count, client.idOf(lastJob)).result(), 15);
};

/** Each run of the schedule is there. */
const besideRuns: Check = async (client) => {
  for (const job of [1, 2, 3]) assert.is(await client.open(Count, client.idOf(job)).result(), 15);
};

/** A time line, a held key, a feed that waits, and a redriven job. */
const rare: Check = async (client, ids) => {
  const first = client.open(Count, ids.get('golden.count') as string);
  const { attempts = [] } = await first.inspect();
  // It runs at once, so that a fifth may be there.
  assert.equal(
    attempts.slice(0, 4).map(({ attempt, worker, ending }) => [attempt, worker, ending]),
    [
      [1, 'w~1', 'failed'],
      [2, 'w~1', 'timed-out'],
      [3, 'w~1', 'worker-lost'],
      [4, 'w~2', 'released'],
    ],
  );
  assert.is(await first.result(), 2);
  assert.is((await client.submit(Count, 1, { key: 'held' })).id, first.id);
  assert.is(await client.open(Count, client.idOf(2)).result(), 3);
  assert.is(await client.open(Talk, client.idOf(5)).result(), 'one two');
};

const CHECKS: Readonly<Record<string, Check>> = {
  rare,
  'rare-snapshot': rare,
  queued: countIs(2),
  keyed,
  jsonl: keyed,
  dead,
  running: async (client, ids) =>
    assert.is(await client.open(Hang, ids.get('golden.hang') as string).result(), 90),
  'stored-payload': stored,
  'optional-fields': countIs(11),
  feed: async (client, ids) =>
    assert.is(await client.open(Talk, ids.get('golden.talk') as string).result(), 'one two'),
  schedules,
  'beside-runs': besideRuns,
  acts: async (client) => {
    const { jobs } = await client.search({ tag: 'eu' });
    assert.equal(
      jobs.map(({ job, tags }) => [job, tags]),
      [
        [1, ['eu', 'night']],
        [3, ['eu']],
      ],
    );
    assert.equal(
      (await client.audit()).map(({ action }) => action),
      ['worker-quiet', 'redrive-edited', 'worker-stop'],
    );
    assert.is(await client.open(Fail, client.idOf(2)).result(), -19, 'with its new input');
  },
  snapshot: everything,
  loaded: everything,
  ordered,
  'ordered-snapshot': ordered,
};

golden('every type of record and every kind of chunk is in one of the folders', async () => {
  const types = new Set<unknown>();
  const chunks = new Set<number>();
  for (const name of cases.flat()) {
    for (const { type } of await expectedLines(name))
      types.add(String(type).startsWith('state_') ? 'state' : type);
    await using folder = await tempFolder();
    await cp(join(HERE, name, 'folder'), folder.path, { recursive: true });
    await using wal = await openWal({ dir: folder.path, ...SMALL });
    await wal.restore({
      ...ledgerFold,
      restore: (ledger, chunk) => {
        chunks.add((chunk[0] ?? 0) & ~HAS_FIELDS);
        loadChunk(ledger, chunk);
      },
    });
  }
  assert.equal(
    [...KIND_OF.keys()].filter((type) => !types.has(type)),
    [],
  );
  assert.equal(
    CHUNKS.filter((kind) => !chunks.has(kind)),
    [],
  );
});

golden('a folder without optional fields and one with them are the same ledger but for these', async () => {
  for (const name of cases.flat().filter((one) => one.endsWith('/optional-fields'))) {
    const lines = await expectedLines(name);
    const bare = lines.map(({ trace, by, chunks, metadata, ...line }) => line);
    assert.not.equal(bare, lines);
    const ledgers = [];
    for (const all of [lines, bare]) {
      const dir = memoryFolder();
      await loadLedger(
        all.map((line) => JSON.stringify(line)),
        { dir, wal: SMALL },
      );
      ledgers.push(await ledgerIn(dir));
    }
    const [full, without] = ledgers as [Ledger, Ledger];
    assert.ok(full.traces.size > 0 && without.traces.size === 0);
    full.traces.clear();
    const jobs = (ledger: Ledger): unknown[] =>
      [...ledger.jobs.values()].map(({ chunks, end, ...job }) => ({
        ...job,
        end: end && { ...end, metadata: '' },
      }));
    assert.equal(jobs(full), jobs(without));
    assert.ok([...encodeSnapshot(without)].length > 0);
  }
});

golden.run();
