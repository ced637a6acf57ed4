import type { StreamingMode } from '#src/job/definition/job-policy.js';
import { DEFAULT_STREAM, type StreamPolicy } from '#src/job/definition/stream-policy.js';
import type { LeaderLimits } from '#src/leader/options/leader-limits.js';
import type { StreamItem, StreamWindow } from '#src/protocol/stream-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness } from '../leader-harness.js';

export const CHUNK_BYTES = 1_024;
const WINDOW = 64 * CHUNK_BYTES;

export interface StreamSetup {
  readonly streaming?: StreamingMode;
  readonly stream?: Partial<StreamPolicy>;
  readonly limits?: Partial<LeaderLimits>;
  readonly hasSpill?: boolean;
  readonly keep?: { readonly doneMs: number; readonly deadMs: number };
}

/** The text of chunk `offset`, 1 KiB as JSON. */
export function chunkOf(offset: number, attempt = 1): string {
  return JSON.stringify(`${attempt}/${offset}`.padEnd(CHUNK_BYTES - 2, '.'));
}

/** One job that streams, its worker, and readers, driven by the test. */
export class StreamHarness {
  leader: LeaderHarness;
  client: FakeClient;
  worker: FakeWorker;
  readonly job: number;
  attempt = 1;
  private lastReader = 0;

  constructor({ streaming = 'response', stream, limits = {}, hasSpill, keep }: StreamSetup = {}) {
    this.leader = new LeaderHarness({ limits, hasSpill });
    const policy = {
      ...policyOf('one', keep ?? { doneMs: 1e6, deadMs: 1e6 }),
      limits: { runMs: 600_000, outputBytes: 1_000 },
      streaming,
      stream: { ...DEFAULT_STREAM, bufferBytes: 128 * CHUNK_BYTES, ...stream },
    };
    this.worker = this.leader.worker();
    this.client = new FakeClient(this.leader, 'ann', 't1', policy);
    this.job = this.client.submit('1')?.jobs[0] ?? 0;
  }

  /** Sends chunks, whatever the window. */
  yield(first: number, count: number): void {
    const { job, attempt } = this;
    const chunks = Array.from({ length: count }, (_, i) => chunkOf(first + i, attempt));
    this.leader.leader.fromWorker(this.worker.session, {
      kind: 'chunks',
      items: [{ job, attempt, first, chunks }],
    });
    this.leader.settle();
  }

  /** Sends as many chunks as the windows allow, at most up to `end`. Returns the first that was not sent. */
  yieldWithinWindow(first: number, end: number): number {
    let next = first;
    for (;;) {
      const { taken, bytes } = this.window ?? { taken: next, bytes: CHUNK_BYTES };
      const count = Math.min(end - next, Math.floor((taken * CHUNK_BYTES + bytes) / CHUNK_BYTES) - next);
      if (count <= 0) return next;
      this.yield(next, count);
      next += count;
    }
  }

  get window(): StreamWindow | undefined {
    return this.worker.received
      .flatMap((message) => (message.kind === 'stream_windows' ? message.items : []))
      .at(-1);
  }

  done(chunks: number): void {
    const { job, attempt } = this;
    this.worker.report([{ outcome: 'ok', job, attempt, result: '"out"', chunks }]);
  }

  read(from: { attempt: number; offset: number } = { attempt: 0, offset: 0 }): FakeReader {
    this.lastReader += 1;
    return new FakeReader(this, this.lastReader, from);
  }

  /** The leader ends at once, and another goes on. The worker comes back with what is not acknowledged. */
  restart({ produced, acknowledged }: { readonly produced: number; readonly acknowledged: number }): void {
    this.leader = this.leader.restarted();
    const { job, attempt } = this;
    this.client = new FakeClient(this.leader, 'ann', 't2');
    const streams = [{ job, attempt, first: acknowledged, next: produced }];
    this.worker = this.leader.worker({ held: [{ job, attempt }], streams });
  }

  get files(): number {
    return this.leader.spill.files.size;
  }
}

/** A reader that takes all it is sent, unless it is told to consume nothing. */
export class FakeReader {
  readonly number: number;
  private readonly client: FakeClient;

  constructor(stream: StreamHarness, number: number, from: { attempt: number; offset: number }) {
    this.client = stream.client;
    this.number = number;
    this.client.write({ kind: 'read_stream', reader: number, job: stream.job, ...from, window: WINDOW });
  }

  get items(): StreamItem[] {
    return this.client.received.flatMap((message) =>
      message.kind === 'stream_items' && message.reader === this.number ? message.items : [],
    );
  }

  /** Reports all that has come as consumed, until nothing more comes. */
  consumeAll(): void {
    for (let before = -1; before !== this.items.length; ) {
      before = this.items.length;
      const last = this.items.findLast((item) => item.kind === 'data');
      if (last?.kind !== 'data') return;
      const offset = last.first + last.chunks.length;
      const { attempt } = last;
      this.client.write({ kind: 'stream_consumed', items: [{ reader: this.number, attempt, offset }] });
    }
  }

  stop(): void {
    this.client.write({ kind: 'stop_stream', reader: this.number });
  }

  /** Chunks as ranges, other items by kind; throws for a chunk that is not the one of its number. */
  get summary(): string {
    const parts: string[] = [];
    let range: { from: number; to: number } | undefined;
    const close = (): void => {
      if (range !== undefined) parts.push(`${range.from}-${range.to}`);
      range = undefined;
    };
    for (const item of this.items) {
      if (item.kind !== 'data') {
        close();
        parts.push(item.kind === 'gap' ? `gap ${item.from}-${item.to}` : item.kind);
        continue;
      }
      item.chunks.forEach((chunk, i) => {
        if (chunk !== chunkOf(item.first + i, item.attempt))
          throw new Error(`chunk ${item.first + i} is ${String(chunk).slice(0, 20)}`);
      });
      if (range === undefined || range.to !== item.first) close();
      range = { from: range?.from ?? item.first, to: item.first + item.chunks.length };
    }
    close();
    return parts.join(', ');
  }
}
