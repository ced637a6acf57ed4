// timeout: 120s, needs: postgresql
import { PostgresServer } from '@troupe/postgres/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeBatch } from '#src/log/batch-codec.js';
import { connect } from '#src/log/log-database.js';
import { addPartition, migrate, PARTITION_POSITIONS } from '#src/schema/migrations.js';
import { writeSnapshot } from '#src/snapshots/write-snapshot.js';

const snapshots = suite('snapshots in PostgreSQL');
const PARTITIONS = 5;
/** All drops of one snapshot together. */
const DROPS_MS_MAX = 2_000;

snapshots(
  'partitions below the kept snapshots are dropped, one that is read without holding up appends',
  async () => {
    await using server = await PostgresServer.start();
    const sql = connect({ url: server.url, schema: 'troupe' });
    const reader = connect({ url: server.url, schema: 'troupe' });
    await migrate(sql, 'troupe');
    for (let number = 0; number < PARTITIONS; number += 1)
      await addPartition(sql, 'troupe', number * PARTITION_POSITIONS);
    await sql`update head set epoch = 1`;
    let last = 0;
    /** Entries without records. */
    const append = async (): Promise<void> => {
      const entries = Array.from({ length: PARTITION_POSITIONS }, () => new Uint8Array(0));
      await sql`insert into batch values (${last + 1}, 1, ${entries.length}, ${encodeBatch(entries)})`;
      last += entries.length;
      await sql`update head set lsn = ${last}`;
    };
    const partitions = async (): Promise<string[]> => {
      const rows = await sql<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'batch'::regclass order by 1`;
      return rows.map(({ name }) => name);
    };
    await append();
    assert.is(await writeSnapshot(sql, 'troupe', 1), PARTITION_POSITIONS);
    assert.equal(await partitions(), ['batch_1', 'batch_2', 'batch_3', 'batch_4']);
    await append();
    await append();
    let release: () => void = () => undefined;
    const reading = reader.begin(async (tx) => {
      await tx`select count(*) from batch_1`;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    while ((await sql`select from pg_locks where relation = 'batch_1'::regclass`).length === 0);
    await writeSnapshot(sql, 'troupe', 1);
    await append();
    const startedAt = performance.now();
    await writeSnapshot(sql, 'troupe', 1);
    assert.ok(performance.now() - startedAt < DROPS_MS_MAX, 'a drop gives up soon');
    assert.equal(await partitions(), ['batch_1', 'batch_3', 'batch_4'], 'the one that is read stays');
    release();
    await reading;
    await append();
    await writeSnapshot(sql, 'troupe', 1);
    assert.equal(await partitions(), ['batch_4']);
    assert.is((await sql`select from snapshot`).length, 2);
    assert.is(await writeSnapshot(sql, 'troupe', 2), last, 'nothing new');
    await Promise.all([sql.end(), reader.end()]);
  },
);

snapshots('a leader that was deposed makes no snapshot and removes nothing', async () => {
  await using server = await PostgresServer.start();
  const sql = connect({ url: server.url, schema: 'troupe' });
  await migrate(sql, 'troupe');
  await addPartition(sql, 'troupe', 0);
  await sql`insert into batch values (1, 1, 1, ${encodeBatch([new Uint8Array(0)])})`;
  await sql`update head set epoch = 2, lsn = 1`;
  await writeSnapshot(sql, 'troupe', 1);
  assert.is((await sql`select from snapshot`).length, 0);
  assert.is((await sql`select from batch`).length, 1);
  await sql.end();
});

snapshots.run();
