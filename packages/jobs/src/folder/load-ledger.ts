import { type BlobRef, openWal, type PromiseLog, type Storage, type WalOptions } from '@troupe/wal';
import { ByteWriter } from '../bytes/byte-writer.js';
import { policyProblem } from '../job/definition/job-policy.js';
import { StoredPayload } from '../job/payload/stored-payload.js';
import { JobDefinitionError, LedgerLineError } from '../jobs-error.js';
import { encodeState } from '../ledger/codec/ledger-snapshot-codec.js';
import { ENTRY_BYTES_MAX, encodeEntry } from '../ledger/codec/record-entry.js';
import type { JobState } from '../ledger/jobs/job.js';
import { StoredPolicy } from '../ledger/jobs/stored-policy.js';
import { LEDGER_FORMAT } from '../ledger/ledger-format.js';
import type { LedgerRecord } from '../ledger/ledger-record.js';
import { bytes, int, type LedgerLine } from '../ledger/lines/line-field.js';
import { parseLine, recordOfLine } from '../ledger/lines/record-line.js';
import { StateLineReader } from '../ledger/lines/state-line.js';

export interface LedgerLoadOptions {
  /** The folder to make; it must not hold a log. */
  readonly dir: string | Storage;
  /** Options of the new log. With `codec: 'jsonl'` its records are lines too. */
  readonly wal?: Omit<WalOptions, 'dir' | 'storage' | 'content' | 'fold'> | undefined;
  /** The content of a stored payload that a line names, by its digest. Default: none can be named. */
  readonly openStored?: ((sha256: string) => AsyncIterable<Uint8Array>) | undefined;
}

export interface LoadedLedger {
  readonly lines: number;
  /** The jobs of the new folder by state. */
  readonly counts: Readonly<Record<JobState, number>>;
}

/** Appends on their way to the disk. */
const PENDING_MAX = 1_024;

/**
 * Makes a leader's folder of the lines of `dumpLedger`, edited or not. Each line is applied as a leader
 * would: the first that is no record, or that the lines before it do not allow, ends it with LedgerLineError.
 * The folder is then of no use.
 */
export async function loadLedger(
  lines: AsyncIterable<string> | Iterable<string>,
  options: LedgerLoadOptions,
): Promise<LoadedLedger> {
  const { dir } = options;
  const place = typeof dir === 'string' ? { dir } : { storage: dir };
  const wal = await openWal({
    inlineBytesMax: ENTRY_BYTES_MAX,
    ...options.wal,
    ...place,
    content: LEDGER_FORMAT,
  });
  try {
    if (wal.log.nextLsn !== 1)
      throw new JobDefinitionError('loadLedger', 'the folder holds a log; name another');
    const loader = new LedgerLoader(wal, options);
    let number = 0;
    for await (const line of lines) {
      number += 1;
      await loader.addLine(line, number);
    }
    return { lines: number, counts: await loader.end(number) };
  } finally {
    await wal.close();
  }
}

class LedgerLoader {
  private readonly wal: PromiseLog;
  private readonly options: LedgerLoadOptions;
  private readonly out = new ByteWriter();
  private readonly state = new StateLineReader();
  /** No record has come yet. */
  private isStateOpen = true;
  private readonly ledger = this.state.ledger;
  private pending: Promise<unknown>[] = [];
  private failure: Error | undefined = undefined;

  constructor(wal: PromiseLog, options: LedgerLoadOptions) {
    this.wal = wal;
    this.options = options;
  }

  async addLine(text: string, number: number): Promise<void> {
    if (text.trim() === '') return;
    try {
      await this.add(parseLine(text));
    } catch (error) {
      throw new LedgerLineError(number, problemOf(error), { cause: error });
    }
  }

  async end(number: number): Promise<LoadedLedger['counts']> {
    await this.endState();
    await this.settle();
    if (this.ledger.tag === '')
      throw new LedgerLineError(number, 'there is no genesis and no state before it');
    return { ...this.ledger.counts };
  }

  private async add(line: LedgerLine): Promise<void> {
    const { lsn: _lsn, ...content } = line;
    if (typeof content['type'] === 'string' && content['type'].startsWith('state_'))
      return this.addState(content);
    await this.endState();
    if (content['type'] === 'unknown') return this.addUnknown(content);
    const record = recordOfLine(content);
    // An optional record of a later version stays as it is.
    if (record === undefined) return this.append(Buffer.from(JSON.stringify(content)));
    await this.addRecord(record);
  }

  private addState(line: LedgerLine): void {
    if (!this.isStateOpen) throw new Error('a state must stand before all records');
    this.state.add(line);
  }

  /** The state is complete: it becomes the first records of the log. */
  private async endState(): Promise<void> {
    const { ledger, isStateOpen } = this;
    this.isStateOpen = false;
    if (!isStateOpen || ledger.tag === '') return;
    for (const policy of ledger.policies.values()) assertPolicy(policy);
    for (const { chunk, stored } of encodeState(ledger))
      await this.appendRecord({ type: 'state', at: ledger.now, chunk }, stored);
  }

  private async addRecord(record: LedgerRecord): Promise<void> {
    if (this.ledger.tag === '' && record.type !== 'genesis')
      throw new Error('the first record must be genesis, or a state');
    if (record.type === 'policy') assertPolicy(new StoredPolicy(record.no, record.policy));
    this.ledger.apply(record);
    const isStored = record.type === 'enqueue' && record.payload instanceof StoredPayload;
    await this.appendRecord(record, isStored ? (record.payload as StoredPayload) : undefined);
  }

  private async addUnknown(line: LedgerLine): Promise<void> {
    this.out.byte(int.read(line, 'head'));
    const start = this.out.beginSpan();
    const content = bytes.read(line, 'content');
    for (const byte of content) this.out.byte(byte);
    this.out.endSpan(start);
    await this.append(this.out.take());
  }

  private async appendRecord(record: LedgerRecord, stored: StoredPayload | undefined): Promise<void> {
    encodeEntry(record, this.options.wal?.codec ?? 'binary', this.out, this.wal.log.inlineBytesMax);
    await this.append(this.out.take(), stored && (await this.copyStored(stored)));
  }

  private async append(entry: Uint8Array, blob?: BlobRef): Promise<void> {
    const { inlineBytesMax } = this.wal.log;
    // A longer one would become a blob of the log, which is no record.
    if (entry.length > inlineBytesMax)
      throw new Error(`${entry.length} bytes long, an entry of this log has at most ${inlineBytesMax}`);
    const appended = this.wal.append(entry, { essential: true, blob }).catch((error: Error) => {
      this.failure ??= error;
    });
    this.pending.push(appended);
    if (this.pending.length >= PENDING_MAX) await this.settle();
  }

  private async settle(): Promise<void> {
    const { pending } = this;
    this.pending = [];
    await Promise.all(pending);
    if (this.failure !== undefined) throw this.failure;
  }

  private async copyStored({ sha256, length }: StoredPayload): Promise<BlobRef> {
    const { openStored } = this.options;
    if (openStored === undefined)
      throw new Error(`the stored payload ${sha256} is needed, and its folder was not given`);
    const writer = this.wal.log.openBlobWriter();
    if (writer === undefined) throw new Error('the disk has no room for a stored payload');
    try {
      for await (const piece of openStored(sha256))
        await new Promise<void>((resolve, reject) =>
          writer.write(piece, (error) => (error === null ? resolve() : reject(error))),
        );
    } catch (error) {
      writer.abort();
      throw error;
    }
    const ref = await new Promise<BlobRef>((resolve, reject) =>
      writer.finish((error, written) => (error === null ? resolve(written) : reject(error))),
    );
    if (ref.sha256 !== sha256 || ref.bytes !== length)
      throw new Error(`the stored payload ${sha256} has another content`);
    return ref;
  }
}

function assertPolicy(policy: StoredPolicy): void {
  const problem = policyProblem(policy.toJSON());
  if (problem !== undefined) throw new Error(problem);
}

/** Without the prefix of an error of a log: the line is the place. */
function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^ledger: /, '');
}
