import type { Sql } from 'postgres';
import { PostgresSchemaError } from '../postgres-error.js';

/** Any number that no other program takes: one migration at a time. */
const MIGRATION_LOCK = 7_419_001;

/**
 * Positions in one partition of `batch`. A partition that no snapshot needs is dropped whole, so about two of
 * them stay: of 32 KiB a position at most.
 */
export const PARTITION_POSITIONS = 50_000;

/**
 * Plain SQL of PostgreSQL 13 and later. A step is never changed once it was released; a new one is added.
 * `head` is updated with every append: half-full pages let the new version of its row stay on the same page.
 * Values of `bytea` columns are stored as they are, since records do not compress well and TOAST compression
 * costs more than it saves.
 */
const STEPS: readonly string[] = [
  `
  create table head (
    only_row boolean primary key default true check (only_row),
    epoch bigint not null,
    lsn bigint not null,
    content jsonb
  ) with (fillfactor = 50);
  insert into head (epoch, lsn) values (0, 0);

  create table lease (
    only_row boolean primary key default true check (only_row),
    epoch bigint not null,
    leader text not null,
    addresses text not null,
    ends_at timestamptz not null
  ) with (fillfactor = 50);
  insert into lease (epoch, leader, addresses, ends_at) values (0, '', '', '-infinity');

  create table batch (
    lsn bigint primary key,
    epoch bigint not null,
    entries integer not null,
    bytes bytea not null
  ) partition by range (lsn);
  alter table batch alter column bytes set storage external;

  create table snapshot (
    lsn bigint primary key,
    parts integer not null,
    made_at timestamptz not null default now()
  );
  create table snapshot_part (
    lsn bigint not null,
    part integer not null,
    bytes bytea not null,
    primary key (lsn, part)
  );
  alter table snapshot_part alter column bytes set storage external;

  create table payload (
    id bigint generated always as identity primary key,
    sha256 text unique,
    bytes bigint not null default 0,
    used_at timestamptz not null default now()
  );
  create table payload_part (
    payload bigint not null references payload on delete cascade,
    part integer not null,
    bytes bytea not null,
    primary key (payload, part)
  );
  alter table payload_part alter column bytes set storage external;
  `,
  `
  create table outbox (
    id bigint generated always as identity primary key,
    key text not null unique default gen_random_uuid()::text,
    exec text not null,
    payload text not null,
    options jsonb not null default '{}'
  );

  create function submit(exec text, payload jsonb, options jsonb default '{}') returns text
  language sql volatile as $$
    insert into outbox (exec, payload, options) values ($1, $2::text, $3) returning key
  $$;
  `,
  // A lease has a number of its own: a server that was promoted without its end may give an epoch twice.
  `
  alter table lease rename column epoch to id;
  alter table head add column lease bigint not null default 0;
  `,
  // The lock lasts until the commit, so the numbers of one order key are in the order of their commits.
  // Functions keep the schema: their callers have other paths, and need no right to the sequence.
  `
  create function outbox_number() returns trigger language plpgsql security definer set search_path from current as $$
  begin
    perform pg_advisory_xact_lock(
      hashtextextended(concat_ws(' ', tg_table_schema, new.exec, new.options ->> 'orderKey'), 0));
    new.id := nextval(pg_get_serial_sequence('outbox', 'id'));
    return new;
  end $$;
  create trigger outbox_number before insert on outbox for each row
    when (new.options ->> 'orderKey' is not null) execute function outbox_number();

  create or replace function submit(exec text, payload jsonb, options jsonb default '{}') returns text
  language plpgsql volatile set search_path from current as $$
  #variable_conflict use_column
  declare row_key text;
  begin
    insert into outbox as waiting (key, exec, payload, options)
    values (coalesce($3 ->> 'key', gen_random_uuid()::text), $1, $2::text, $3 - 'key')
    on conflict (key) do update set key = excluded.key
    where waiting.exec = excluded.exec and waiting.payload = excluded.payload
    returning waiting.key into row_key;
    if row_key is null then
      raise unique_violation using message =
        format('a submit with the key %L waits in the outbox, with another job or another input', $3 ->> 'key');
    end if;
    return row_key;
  end $$;
  `,
  `
  create table spill (
    file bigint not null,
    position bigint not null,
    bytes bytea not null,
    primary key (file, position)
  );
  alter table spill alter column bytes set storage external;
  `,
  // A row is taken once its job is durable, and is deleted when the leader need not keep its key any more.
  `
  alter table outbox add column taken boolean not null default false;
  `,
];

/** Creates the tables, or brings them to this version. Refuses tables of a newer one, and changes nothing. */
export async function migrate(sql: Sql, schema: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    await tx`create schema if not exists ${tx(schema)}`;
    await tx`create table if not exists ${tx(schema)}.version (version integer not null)`;
    const [row] = await tx<{ version: number }[]>`select version from ${tx(schema)}.version`;
    const found = row?.version ?? 0;
    if (found > STEPS.length) throw new PostgresSchemaError(schema, found, STEPS.length);
    if (found === STEPS.length) return;
    await tx`set local search_path to ${tx(schema)}`;
    for (const step of STEPS.slice(found)) await tx.unsafe(step);
    if (row === undefined) await tx`insert into version values (${STEPS.length})`;
    else await tx`update version set version = ${STEPS.length}`;
  });
}

/** The partition that holds the position. */
export async function addPartition(sql: Sql, schema: string, lsn: number): Promise<void> {
  const number = Math.floor(lsn / PARTITION_POSITIONS);
  const [from, to] = [number * PARTITION_POSITIONS, (number + 1) * PARTITION_POSITIONS];
  await sql.unsafe(
    `create table if not exists "${schema}"."batch_${number}" partition of "${schema}".batch for values from (${from}) to (${to})`,
  );
}

/** Partitions whose every position is below `lsn`, oldest first. */
export async function oldPartitions(sql: Sql, schema: string, lsn: number): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select child.relname as name
    from pg_inherits
    join pg_class child on child.oid = inhrelid
    join pg_class parent on parent.oid = inhparent
    join pg_namespace on pg_namespace.oid = parent.relnamespace
    where parent.relname = 'batch' and nspname = ${schema}`;
  return rows
    .map(({ name }) => ({ name, number: Number(name.replace('batch_', '')) }))
    .filter(({ number }) => (number + 1) * PARTITION_POSITIONS <= lsn)
    .sort((a, b) => a.number - b.number)
    .map(({ name }) => name);
}
