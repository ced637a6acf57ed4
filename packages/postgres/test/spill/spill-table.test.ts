// timeout: 120s, needs: postgresql
import { createSystem, nodeHost } from '@troupe/core';
import { connectClient, defineJob, handle, startLeader, startWorker } from '@troupe/jobs';
import type { JournalOwner, Spill, SpillWrite } from '@troupe/jobs/journal';
import { postgresJournal } from '@troupe/postgres';
import { PostgresServer } from '@troupe/postgres/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KeptConnection } from '#src/log/kept-connection.js';
import { SpillTable } from '#src/spill/spill-table.js';
import { anything } from '../plain-schema.js';

const spills = suite('chunks of streams in PostgreSQL');
const Bulk = defineJob('text.bulk', { input: anything, output: anything, chunk: anything, collect: false });
const CHUNKS = 40;
const CHUNK = 'x'.repeat(100_000);

const starting = PostgresServer.start();
let databases = 0;

async function newDatabase(): Promise<string> {
  databases += 1;
  return (await starting).database(`spill_${databases}`);
}

function fail(error: Error): never {
  throw error;
}

spills('the next leader has every chunk of a durable stream, without the worker', async () => {
  const url = await newDatabase();
  let id = '';
  {
    await using leader = await startLeader({ journal: postgresJournal({ url }), onFatal: fail });
    const { address } = leader;
    const run = handle(Bulk, async function* () {
      for (let number = 0; number < CHUNKS; number += 1) yield `${number} ${CHUNK}`;
    });
    await using _worker = await startWorker({ address, name: 'w', cpuCap: 1, handlers: [run] });
    await using client = await connectClient({ address });
    const job = await client.submit(Bulk, 0, { streaming: 'response', stream: { durable: true } });
    await job.result();
    id = job.id;
  }
  await using leader = await startLeader({ journal: postgresJournal({ url }), onFatal: fail });
  await using client = await connectClient({ address: leader.address });
  const kinds: string[] = [];
  let next = 0;
  for await (const item of client.open(Bulk, id).items()) {
    kinds.push(item.kind);
    if (item.kind === 'data') assert.is(item.chunk, `${next} ${CHUNK}`);
    next += 1;
  }
  assert.equal(kinds, [...Array.from({ length: CHUNKS }, () => 'data'), 'end']);
});

/** A spill under that lease, and its answers. */
async function openSpill(
  url: string,
  leaseId: number,
  use: (write: (at: Partial<SpillWrite>) => Promise<Error | null>, spill: Spill) => Promise<void>,
  named: readonly number[] = [],
): Promise<Map<number, string>> {
  await using system = createSystem({ name: 'spill' });
  const table = new SpillTable({ url, schema: 'troupe' }, nodeHost);
  const connection = new KeptConnection({ url, schema: 'troupe' });
  table.ledBy(leaseId, connection);
  const files = new Map<number, string>();
  const spill = await new Promise<Spill>((resolve, reject) => {
    const found = (file: number, bytes: Uint8Array): void => {
      files.set(file, Buffer.from(bytes).toString());
    };
    const done = (error: Error | null, opened?: Spill): void =>
      opened === undefined ? reject(error) : resolve(opened);
    table.open(new Set(named), found, done, system as unknown as JournalOwner);
  });
  const write = (at: Partial<SpillWrite>): Promise<Error | null> =>
    new Promise((resolve) => {
      const to = {
        tell: {
          spillWritten: ({ error }: { error: Error | null }) => resolve(error),
          spillLoaded: () => undefined,
        },
      };
      spill.write({ file: 1, position: 0, bytes: Buffer.from('abc'), isDurable: false, ...at, to });
    });
  await use(write, spill);
  await connection.end();
  return files;
}

spills('a file is read across its writes, and is gone when no record names it', async () => {
  const url = await newDatabase();
  await (await startLeader({ journal: postgresJournal({ url }), onFatal: fail })).close();
  await openSpill(url, 0, async (write, spill) => {
    assert.is(await write({}), null);
    assert.is(await write({ position: 3, bytes: Buffer.from('defg') }), null);
    assert.is(await write({ file: 2 }), null);
    for (const [position, length, text] of [
      [1, 4, 'bcde'],
      [3, 4, 'defg'],
      [4, 9, 'efg'],
    ] as const) {
      const loaded = await new Promise<string>((resolve) => {
        const to = {
          tell: {
            spillWritten: () => undefined,
            spillLoaded: ({ bytes }: { bytes: Uint8Array }) => resolve(Buffer.from(bytes).toString()),
          },
        };
        spill.read({ number: 1, file: 1, position, length, to });
      });
      assert.is(loaded, text);
    }
  });
  const files = await openSpill(url, 0, async () => undefined, [1]);
  assert.equal([...files], [[1, 'abcdefg']]);
});

spills('a leader that was deposed makes no chunk durable', async () => {
  const url = await newDatabase();
  await (await startLeader({ journal: postgresJournal({ url }), onFatal: fail })).close();
  await openSpill(url, 1, async (write) => {
    const error = await write({ isDurable: true });
    assert.is((error as { code?: string } | null)?.code, 'ERR_JOURNAL_DEPOSED');
  });
  assert.equal([...(await openSpill(url, 0, async () => undefined, [1]))], []);
});

spills('the server of these tests ends', async () => {
  await (await starting)[Symbol.asyncDispose]();
  assert.ok(databases > 0);
});

spills.run();
