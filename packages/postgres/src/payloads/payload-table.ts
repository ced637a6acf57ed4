import { createHash, type Hash } from 'node:crypto';
import { type PayloadStore, type PayloadWriter, StoredPayload } from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import type { KeptConnection } from '../log/kept-connection.js';

const PART_BYTES = 256 * 1024;

type Source = ReturnType<PayloadStore['open']>;

/** Large payloads in parts of 256 KiB. Snapshots remove those that no job needs. */
export function payloadTable(connection: KeptConnection): PayloadStore {
  return {
    write: () => new TableWriter(connection.sql),
    open: (payload) => new TableSource(connection, payload),
    // The next snapshot finds that no job needs it.
    release: () => undefined,
  };
}

class TableWriter implements PayloadWriter {
  private readonly sql: Sql;
  private readonly hash: Hash = createHash('sha256');
  private readonly id: Promise<number>;
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private parts = 0;
  private bytes = 0;
  /** Parts are written one after another. */
  private writing: Promise<unknown>;

  constructor(sql: Sql) {
    this.sql = sql;
    this.id = sql<{ id: number }[]>`insert into payload default values returning id`.then(
      ([row]) => (row as { id: number }).id, // `returning` of one inserted row
    );
    this.writing = this.id;
    this.writing.catch(() => undefined); // reported by the next write
  }

  write(chunk: Uint8Array, done: (error: Error | null) => void): void {
    const copy = Buffer.from(chunk);
    this.hash.update(copy);
    this.pending.push(copy);
    this.pendingBytes += copy.length;
    this.bytes += copy.length;
    if (this.pendingBytes >= PART_BYTES) this.writePart();
    this.writing.then(
      () => done(null),
      (error: Error) => done(error),
    );
  }

  finish(done: (error: Error | null, payload: StoredPayload) => void): void {
    this.writePart();
    const payload = new StoredPayload(this.hash.digest('hex'), this.bytes);
    this.writing
      .then(() => this.publish(payload))
      .then(
        () => done(null, payload),
        (error: Error) => done(error, payload),
      );
  }

  abandon(): void {
    this.id.then((id) => this.sql`delete from payload where id = ${id}`).catch(() => undefined); // a later snapshot removes it
  }

  private writePart(): void {
    if (this.pendingBytes === 0) return;
    const bytes = Buffer.concat(this.pending);
    this.pending = [];
    this.pendingBytes = 0;
    const part = this.parts;
    this.parts += 1;
    this.writing = this.writing.then(async () => {
      const id = await this.id;
      await this.sql`insert into payload_part (payload, part, bytes) values (${id}, ${part}, ${bytes})`;
    });
    this.writing.catch(() => undefined); // reported by the next write
  }

  /** The same bytes may be there already: then these are not needed. */
  private async publish({ sha256, length }: StoredPayload): Promise<void> {
    const id = await this.id;
    const used = await this.sql`update payload set used_at = now() where sha256 = ${sha256}`;
    if (used.count === 1) return void (await this.sql`delete from payload where id = ${id}`);
    await this
      .sql`update payload set sha256 = ${sha256}, bytes = ${length}, used_at = now() where id = ${id}`;
  }
}

class TableSource implements Source {
  readonly length: number;
  private readonly connection: KeptConnection;
  private readonly sha256: string;
  private readonly hash = createHash('sha256');
  private part = 0;
  private rest: Buffer = Buffer.alloc(0);
  private given = 0;

  constructor(connection: KeptConnection, { sha256, length }: StoredPayload) {
    this.connection = connection;
    this.sha256 = sha256;
    this.length = length;
  }

  read(bytesMax: number, done: (error: Error | null, chunk: Uint8Array | null) => void): void {
    this.next(bytesMax).then(
      (chunk) => done(null, chunk),
      (error: Error) => done(error, null),
    );
  }

  close(): void {
    this.rest = Buffer.alloc(0);
  }

  private async next(bytesMax: number): Promise<Uint8Array | null> {
    if (this.given === this.length) return null;
    if (this.rest.length === 0) this.rest = await this.readPart();
    const chunk = this.rest.subarray(0, bytesMax);
    this.rest = this.rest.subarray(chunk.length);
    this.given += chunk.length;
    this.hash.update(chunk);
    if (this.given === this.length && this.hash.digest('hex') !== this.sha256)
      throw new Error(`payload ${this.sha256}: its digest is another one`);
    return chunk;
  }

  private async readPart(): Promise<Buffer> {
    const [row] = await this.connection.sql<{ bytes: Buffer }[]>`
      select part.bytes from payload_part part join payload on payload.id = part.payload
      where sha256 = ${this.sha256} and part = ${this.part}`;
    if (row === undefined) throw new Error(`payload ${this.sha256}: its part ${this.part} is not there`);
    this.part += 1;
    return row.bytes;
  }
}
