// A script with every operation of a log: single and grouped appends, seals, blobs, rotation, snapshots,
// trim, clean and unclean ends. It records all appends and acknowledgements.

import type { SeededRandom } from '@troupe/core/testing';
import {
  type BlobRef,
  type CodecName,
  FULL,
  inlineSnapshotBuilder,
  type Log,
  REFUSED,
  type WalOptions,
} from '@troupe/wal';
import { digestFold, digestOf } from '../digest-fold.js';
import { type HarnessOptions, LogHarness, textOf } from '../log-harness.js';

export class Workload {
  readonly harness: LogHarness;
  private readonly digestList: string[] = [''];
  private lastAcknowledged = 0;
  private log: Log | undefined;
  private next = 0;
  private blobs = 0;

  private readonly codec: CodecName;

  /** `codec`: of the log, but for one of its openings, which has the other. */
  constructor({
    codec = 'binary',
    ...options
  }: HarnessOptions & { readonly codec?: CodecName | undefined } = {}) {
    this.harness = new LogHarness(options);
    this.codec = codec;
  }

  get appended(): number {
    return this.digestList.length - 1;
  }

  get acknowledged(): number {
    return this.lastAcknowledged;
  }

  /** The digests so far; shortened only when an open has shown that unacknowledged records are gone. */
  get digests(): readonly string[] {
    return this.digestList;
  }

  /**
   * Stops early, without an error, when the log has failed or crashed. With `random` the steps overlap,
   * except that a log is closed before it is opened again.
   */
  run(random?: SeededRandom): void {
    for (const step of STEPS) {
      if (this.harness.storage.isCrashed || this.harness.host.exits.length > 0) return;
      step(this);
      if (random === undefined || step === CLOSE) this.harness.settle();
      else this.runPartially(random);
    }
    this.harness.settle();
  }

  private runPartially(random: SeededRandom): void {
    for (let turns = random.below(6); turns > 0; turns -= 1) {
      this.harness.storage.run(random.below(8));
      this.harness.host.runDeferred();
    }
  }

  open(codec: CodecName = this.codec, more: WalOptions = {}): void {
    const { harness } = this;
    const snapshotBuilder = inlineSnapshotBuilder(harness.storage, digestFold);
    const opened = harness.tryOpen({ codec, snapshotBuilder, snapshotEveryBytes: 0, ...more });
    this.log = opened instanceof Error ? undefined : opened;
    // Unacknowledged records that are gone now cannot come back.
    if (this.log !== undefined) this.digestList.length = this.log.durableLsn + 1;
  }

  openWithOtherCodec(): void {
    this.open(this.codec === 'binary' ? 'jsonl' : 'binary');
  }

  /** In a log of lines the content of a line too. */
  private payloadOf(index: number): Buffer {
    return Buffer.from(this.codec === 'jsonl' ? JSON.stringify({ text: textOf(index) }) : textOf(index));
  }

  append(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const payload = this.payloadOf(this.next);
      this.next += 1;
      const lsn =
        this.log?.append(payload, (error, acked) => this.acknowledge(error, acked), { type: 7 }) ?? REFUSED;
      if (lsn === REFUSED) return;
      if (lsn === FULL) {
        this.harness.settle();
        index -= 1;
        if (this.harness.storage.isCrashed || this.harness.host.exits.length > 0) return;
        if (this.log?.status().disk === 'low') return;
        continue;
      }
      this.recordDigest(lsn, payload, 7);
    }
  }

  appendTogether(count: number): void {
    const payloads = Array.from({ length: count }, (_, index) => this.payloadOf(this.next + index));
    this.next += count;
    const last =
      this.log?.appendAll(payloads, (error, acked) => this.acknowledge(error, acked), { type: 7 }) ?? REFUSED;
    if (last > 0)
      for (const [index, payload] of payloads.entries())
        this.recordDigest(last - count + 1 + index, payload, 7);
  }

  /** In one call and in chunks by turns. */
  appendBlob(bytes: number): void {
    const payload = Buffer.alloc(bytes, this.next);
    this.next += 1;
    this.blobs += 1;
    this.store(payload, this.blobs % 2 === 0, (error, blob) => {
      if (error !== null) return;
      const head = Buffer.from(`blob ${blob.bytes}`);
      const lsn =
        this.log?.append(head, (failed, acked) => this.acknowledge(failed, acked), { type: 7, blob }) ?? 0;
      if (lsn > 0) this.recordDigest(lsn, head, 7, blob);
    });
  }

  private store(
    payload: Buffer,
    inChunks: boolean,
    done: (error: Error | null, blob: BlobRef) => void,
  ): void {
    if (!inChunks) return this.log?.putBlob(payload, done);
    const writer = this.log?.openBlobWriter();
    const half = Math.ceil(payload.length / 2);
    writer?.write(payload.subarray(0, half), () => undefined);
    writer?.write(payload.subarray(half), () => undefined);
    writer?.finish(done);
  }

  snapshot(): void {
    this.log?.makeSnapshot(() => undefined);
  }

  trim(): void {
    this.log?.trim(Number.MAX_SAFE_INTEGER, () => undefined);
  }

  close(): void {
    this.log?.close(() => undefined);
  }

  /** The process is gone, the machine is not: unsynced writes can still be read. */
  killProcess(): void {
    this.harness.storage.killProcess();
    this.harness.host.killProcess();
    this.log = undefined;
  }

  private recordDigest(
    lsn: number,
    payload: Uint8Array,
    type: number,
    blob?: { sha256: string; bytes: number },
  ): void {
    this.digestList[lsn] = digestOf(this.digestList[lsn - 1] ?? '', payload, type, blob);
  }

  private acknowledge(error: Error | null, lsn: number): void {
    if (error !== null) return;
    if (lsn <= this.lastAcknowledged)
      throw new Error(`lsn ${lsn} acknowledged after ${this.lastAcknowledged}`);
    this.lastAcknowledged = lsn;
  }
}

type Step = (workload: Workload) => void;

const CLOSE: Step = (w) => w.close();

const STEPS: readonly Step[] = [
  (w) => w.open(),
  (w) => w.append(1),
  (w) => w.append(1),
  (w) => w.append(9),
  (w) => w.appendTogether(3),
  (w) => w.harness.advance(60),
  (w) => w.append(20),
  (w) => w.appendBlob(5_000),
  (w) => w.append(30),
  (w) => w.snapshot(),
  (w) => w.append(12),
  (w) => w.appendBlob(3_000),
  (w) => w.snapshot(),
  (w) => w.append(4),
  (w) => w.trim(),
  CLOSE,
  (w) => w.openWithOtherCodec(),
  (w) => w.append(10),
  (w) => w.append(1),
  (w) => w.killProcess(),
  (w) => w.open(),
  (w) => w.append(15),
  (w) => w.harness.advance(60),
  (w) => w.append(25),
  (w) => w.snapshot(),
  (w) => w.append(2),
];
