// timeout: 120s
import { join } from 'node:path';
import {
  defineJob,
  dumpLedger,
  handle,
  LEDGER_FORMAT,
  type LedgerLine,
  LedgerLineError,
  loadLedger,
  NonRetryableError,
} from '@troupe/jobs';
import { openWal, type Storage, verifyWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeSnapshot } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { beginRecord, endRecord } from '#src/ledger/codec/record-frame.js';
import { KIND_OF } from '#src/ledger/codec/record-kinds.js';
import type { Ledger } from '#src/ledger/ledger.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import { embedded } from '../checked-processes.js';
import { aNumber } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';
import { entriesOf, ledgerIn, memoryFolder, randomHistory, SMALL, writeFolder } from './history-folder.js';

const folders = suite('dump and load');

/** The lines of a dump, as the command prints them. */
async function linesOf(dir: string | Storage): Promise<string[]> {
  const lines: string[] = [];
  await dumpLedger(dir, (line) => lines.push(JSON.stringify(line)));
  return lines;
}

/** Without the LSN, which is another in another folder. */
function contents(lines: readonly string[]): LedgerLine[] {
  return lines.map((line) => {
    const { lsn: _lsn, ...content } = JSON.parse(line) as LedgerLine;
    return content;
  });
}

function bytesOf(ledger: Ledger): Buffer {
  return Buffer.concat([...encodeSnapshot(ledger)]);
}

folders('the histories of these tests have every type of record', () => {
  const types = new Set(
    [11, 12, 13, 14, 21, 22, 23].flatMap((seed) => randomHistory(seed, 600)).map(({ type }) => type),
  );
  // A state is what a snapshot becomes when it is loaded.
  assert.equal(
    [...KIND_OF.keys()].filter((type) => !types.has(type as LedgerRecord['type'])),
    ['state'],
  );
});

folders(
  'a folder loaded from the lines of another has the same records and the same state, in both forms',
  async () => {
    for (const [index, seed] of [11, 12, 13, 14].entries()) {
      const codec = index % 2 === 0 ? 'binary' : 'jsonl';
      const dir = memoryFolder();
      await writeFolder(dir, entriesOf(randomHistory(seed, 300), codec), { codec });
      const lines = await linesOf(dir);
      const other = codec === 'binary' ? 'jsonl' : 'binary';
      for (const target of [codec, other] as const) {
        const copy = memoryFolder();
        const loaded = await loadLedger(lines, { dir: copy, wal: { ...SMALL, codec: target } });
        assert.is(loaded.lines, lines.length);
        assert.equal(contents(await linesOf(copy)), contents(lines));
        assert.ok((await verifyWal(copy)).ok);
        assert.equal(
          bytesOf(await ledgerIn(copy)),
          bytesOf(await ledgerIn(dir)),
          `seed ${seed} to ${target}`,
        );
      }
    }
  },
);

folders(
  'a folder whose first records are in a snapshot only is dumped with its state, and loaded again',
  async () => {
    for (const seed of [21, 22, 23]) {
      const dir = memoryFolder();
      await writeFolder(dir, entriesOf(randomHistory(seed, 600)), { snapshots: [250, 400, 500] });
      const lines = await linesOf(dir);
      assert.is(contents(lines)[0]?.['type'], 'state_ledger', 'the log was cut');
      const copy = memoryFolder();
      const { counts } = await loadLedger(lines, { dir: copy, wal: SMALL });
      const [before, after] = [await ledgerIn(dir), await ledgerIn(copy)];
      assert.equal(bytesOf(after), bytesOf(before), `seed ${seed}`);
      assert.equal(counts, before.counts);
      assert.equal(contents(await linesOf(copy)), contents(lines), 'a loaded state is dumped as it was');
      // Not in the range that was asked for, so no state.
      const some: LedgerLine[] = [];
      await dumpLedger(dir, (line) => some.push(line as LedgerLine), { from: 450, to: 452 });
      assert.equal(
        some.map(({ lsn }) => lsn),
        [450, 451, 452],
      );
    }
  },
);

const STATE =
  '{"type":"state_ledger","tag":"abcde","now":1,"limits":{"resultsMax":1,"resultsBytesMax":1,"keyWindowMs":1},"nextJob":1,"nextPolicy":1,"nextProducer":1,"dropped":0}';

const double = defineJob('double', { input: aNumber, output: aNumber });
const never = defineJob('never', { input: aNumber, output: aNumber });
const doomed = defineJob('doomed', { input: aNumber, output: aNumber });

folders(
  'a leader runs on a folder that was cut by hand: jobs that are left run, others are unknown',
  async () => {
    await using folder = await tempFolder();
    const dir = join(folder.path, 'first');
    const ids: string[] = [];
    {
      await using app = await embedded({ dir, wal: SMALL });
      app.worker({
        handlers: [
          handle(double, (n) => 2 * n),
          handle(doomed, () => {
            throw new NonRetryableError('no');
          }),
        ],
      });
      const client = app.client();
      assert.is(await client.run(double, 4), 8);
      await client.run(doomed, 1).catch(() => undefined);
      for (const n of [1, 2, 3]) ids.push((await client.submit(never, n, { key: `k${n}` })).id);
    }
    const cut = (await linesOf(dir)).filter((line) => (JSON.parse(line) as LedgerLine)['key'] !== 'k2');
    const copy = join(folder.path, 'second');
    const { counts } = await loadLedger(cut, { dir: copy, wal: SMALL });
    assert.equal([counts.queued, counts.done, counts.dead], [2, 1, 1]);
    await using app = await embedded({ dir: copy, wal: SMALL });
    app.worker({ handlers: [handle(never, (n) => 100 + n)] });
    const client = app.client();
    const results = await Promise.allSettled(ids.map((id) => client.open(never, id).result()));
    assert.equal(
      results.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { code: string }).code)),
      [101, 'ERR_JOB_UNKNOWN', 103],
    );
  },
);

folders(
  'lines that do not fit together are refused with the number of the line and the problem',
  async () => {
    const records = [
      '{"type":"genesis","at":1,"tag":"abcde"}',
      '{"type":"policy","at":1,"no":1,"policy":{"exec":"one","group":"g","retry":{"attempts":3,"backoff":"constant","baseMs":1,"capMs":1,"jitter":0,"crashes":5},"leaseMs":1000,"limits":{"runMs":1000,"outputBytes":10},"keep":{"doneMs":1,"deadMs":1}}}',
      '{"type":"producer","at":1,"producer":1,"client":"ann","token":"t"}',
      '{"type":"enqueue","at":2,"producer":1,"seq":1,"low":0,"job":1,"policy":1,"payload":{"a":1}}',
      '{"type":"assign","at":3,"job":1,"attempt":1,"worker":"w"}',
      '{"type":"ack","at":4,"job":1,"attempt":1,"result":5}',
    ];
    const without = (...cut: number[]): string[] => records.filter((_, index) => !cut.includes(index + 1));
    const instead = (number: number, line: string): string[] =>
      records.map((record, index) => (index + 1 === number ? line : record));
    const accepted: readonly (readonly [string, readonly string[]])[] = [
      ['all of them', records],
      ['a job cut as a whole', without(4, 5, 6)],
      ['the end of a log', without(5, 6)],
      ['without an ack: the job runs again', without(6)],
      ['an empty line', ['', ...records]],
      [
        'an optional part of a state of a later version',
        [STATE, '{"type":"state_applause","optional":true}'],
      ],
    ];
    for (const [name, lines] of accepted) {
      await loadLedger(lines, { dir: memoryFolder(), wal: SMALL }).catch((error: Error) =>
        assert.unreachable(`${name}: ${error.message}`),
      );
    }
    const refused: readonly (readonly [readonly string[], number, RegExp])[] = [
      [without(1), 1, /the first record must be genesis, or a state/],
      [[], 0, /there is no genesis and no state/],
      [without(2), 3, /job 1 refers to policy 1, unknown/],
      [without(3), 3, /producer 1 is unknown/],
      [without(4), 4, /job 1/],
      [without(5), 5, /job 1/],
      [[...records, records[3] as string], 7, /job 1 is enqueued twice/],
      [instead(4, '{"type":"enqueue"'), 4, /not JSON/],
      [instead(4, '[]'), 4, /not an object/],
      [
        instead(
          4,
          '{"type":"enqueue","at":2,"producer":1,"seq":1,"low":0,"job":"one","policy":1,"payload":1}',
        ),
        4,
        /job must be a whole number/,
      ],
      [
        instead(
          4,
          '{"type":"enqueue","at":2,"producer":1,"seq":1,"low":0,"job":1,"policy":1,"payloadBytes":7}',
        ),
        4,
        /payload must be there/,
      ],
      [
        instead(
          4,
          `{"type":"enqueue","at":2,"producer":1,"seq":1,"low":0,"job":1,"policy":1,"payloadStored":{"sha256":"${'ab'.repeat(32)}","bytes":7}}`,
        ),
        4,
        /stored payload abab.* is needed/,
      ],
      [instead(2, '{"type":"policy","at":1,"no":1,"policy":{"exec":"one"}}'), 2, /policy/],
      [instead(6, '{"type":"applause","at":4,"job":1}'), 6, /type applause is not known/],
      [[...records, '{"type":"state_ledger"}'], 7, /a state must stand before all records/],
      [[STATE, '{"type":"state_applause"}'], 2, /state_applause is no part of a state/],
      [['{"type":"state_job"}'], 1, /begins with its one line of type state_ledger/],
    ];
    for (const [lines, number, problem] of refused) {
      const error: unknown = await loadLedger(lines, { dir: memoryFolder(), wal: SMALL }).catch(
        (reason: unknown) => reason,
      );
      assert.instance(error, LedgerLineError, String(problem));
      assert.is((error as LedgerLineError).line, number, String(problem));
      assert.match((error as LedgerLineError).message, problem);
    }
  },
);

folders('stored payloads are loaded from the blobs of the folder that was dumped', async () => {
  const dir = memoryFolder();
  const content = Buffer.from(JSON.stringify('x'.repeat(2_000)));
  {
    await using wal = await openWal({ storage: dir, ...SMALL, content: LEDGER_FORMAT });
    const { sha256, bytes } = await wal.putBlob(content);
    for (const entry of entriesOf(randomHistory(1, 0))) await wal.append(entry);
    const stored = `{"type":"enqueue","at":2,"producer":1,"seq":1,"low":0,"job":1,"policy":1,"payloadStored":{"sha256":"${sha256}","bytes":${bytes}}}`;
    await wal.append(Buffer.from(stored), { blob: { sha256, bytes } });
  }
  const lines = await linesOf(dir);
  const openStored = async function* (sha256: string): AsyncGenerator<Uint8Array> {
    yield dir.disk.files().get(`blobs/${sha256}`) as Buffer;
  };
  const copy = memoryFolder();
  await loadLedger(lines, { dir: copy, openStored, wal: SMALL });
  const report = await verifyWal(copy);
  assert.ok(report.ok, JSON.stringify(report.damage));
  assert.equal(contents(await linesOf(copy)), contents(lines));
  const damaged = loadLedger(lines, {
    dir: memoryFolder(),
    wal: SMALL,
    openStored: async function* () {
      yield Buffer.from('other');
    },
  });
  const error: unknown = await damaged.catch((reason: unknown) => reason);
  assert.match((error as Error).message, /has another content/);
});

folders('optional records of a later version are dumped and loaded as they are', async () => {
  const out = new ByteWriter();
  const start = beginRecord(out, 120, 3, [{ number: 7, bytes: Buffer.from('later') }]);
  out.text('content');
  endRecord(out, start);
  const binary = out.take();
  const json = Buffer.from('{"type":"applause","optional":true,"at":3,"loud":{"very":true}}');
  const dir = memoryFolder();
  await writeFolder(dir, [
    ...entriesOf(randomHistory(31, 20)),
    binary,
    json,
    ...entriesOf([{ type: 'tick', at: 900 }]),
  ]);
  const lines = await linesOf(dir);
  assert.equal(
    contents(lines)
      .slice(-3)
      .map(({ type }) => type),
    ['unknown', 'applause', 'tick'],
  );
  const copy = memoryFolder();
  await loadLedger(lines, { dir: copy, wal: SMALL });
  assert.equal(contents(await linesOf(copy)), contents(lines));
  assert.equal(bytesOf(await ledgerIn(copy)), bytesOf(await ledgerIn(dir)));
});

folders.run();
