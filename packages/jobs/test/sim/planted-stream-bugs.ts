import { ReaderProgress } from '#src/client/machine/reader-progress.js';
import { ChunkBuffer } from '#src/leader/streams/chunk-buffer.js';
import { JobStream } from '#src/leader/streams/job-stream.js';
import { SpillWriter } from '#src/leader/streams/spill-writer.js';
import type { StreamReader } from '#src/leader/streams/stream-reader.js';
import { StreamTable } from '#src/leader/streams/stream-table.js';
import { ChunkSender } from '#src/worker/stream/chunk-sender.js';
import { type PlantedBug, swap, swapGetter } from './planted-bugs.js';

/** The private state that these bugs reach into. */
interface StreamInside {
  attempt: number;
  buffer: ChunkBuffer;
  itemBefore(reader: StreamReader): unknown;
}

interface WriterInside {
  isNaming: boolean;
  context: { ledger: { nextSpillFile: number } };
  named(file: number): void;
}

type Loose = Record<string, (...args: unknown[]) => unknown>;

const BUGS: readonly PlantedBug[] = [
  {
    name: 'chunks of the last attempt are delivered after the reset',
    plant: () =>
      swap(JobStream, 'restart', (original) => {
        return function (this: StreamInside, ...args: unknown[]) {
          const { buffer } = this;
          const chunks = buffer.slice(buffer.base, buffer.next);
          const parts = original.apply(this, args);
          for (const chunk of chunks) buffer.push(chunk);
          return parts;
        };
      }),
  },
  {
    name: 'a stale worker is believed',
    plant: () =>
      swap(StreamTable, 'take', (original) => {
        return function (this: { streams: Map<number, StreamInside> }, session: unknown, all: unknown) {
          for (const { job, first, chunks } of all as { job: number; first: number; chunks: unknown[] }[])
            (this.streams.get(job) as unknown as Loose | undefined)?.['take']?.(first, chunks);
          return original.call(this, session, []);
        };
      }),
  },
  {
    name: 'the end of an attempt overtakes its last chunks',
    plant: () => swapGetter(ChunkSender, 'isDrained', () => true),
  },
  {
    name: 'credit is given twice: the window is not what is left of the buffer',
    plant: () =>
      swapGetter(JobStream, 'window', function (this: JobStream) {
        return 16 * this.policy.bufferBytes;
      }),
  },
  {
    name: 'a gap is not announced',
    plant: () =>
      swap(JobStream, 'itemBefore', (original) => {
        return function (this: StreamInside, reader: unknown) {
          const item = original.call(this, reader) as { kind: string };
          if (item.kind !== 'gap') return item;
          return (this as unknown as Loose)['item']?.(reader);
        };
      }),
  },
  {
    name: 'the spill is cut short: the last part of a write is forgotten',
    plant: () =>
      swap(JobStream, 'wasSpilled', (original) => {
        return function (this: JobStream, parts: unknown, end: unknown) {
          return original.call(this, (parts as unknown[]).slice(0, -1), end);
        };
      }),
  },
  {
    name: 'a chunk of a durable stream is acknowledged before it is on the disk',
    plant: () =>
      swapGetter(JobStream, 'taken', function (this: JobStream) {
        return this.next;
      }),
  },
  {
    name: 'a file of the spill is made without its record',
    plant: () =>
      swap(SpillWriter, 'nameNext', () => {
        return function (this: WriterInside) {
          if (this.isNaming) return;
          this.context.ledger.nextSpillFile += 1;
          this.named(this.context.ledger.nextSpillFile - 1);
        };
      }),
  },
  {
    name: 'a worker does not repeat what was not acknowledged',
    plant: () => swap(ChunkSender, 'rewind', () => () => undefined),
  },
  {
    name: 'a repeated chunk counts as a new one',
    plant: () =>
      swap(JobStream, 'take', (original) => {
        return function (this: JobStream, first: unknown, chunks: unknown) {
          return original.call(this, Math.max(first as number, this.next), chunks);
        };
      }),
  },
  {
    name: 'a reader gets chunks twice that come once more after a reconnect',
    plant: () => swap(ReaderProgress, 'newPart', () => (item: unknown) => item),
  },
  {
    name: 'the number of chunks is lost with a restart',
    plant: () => swap(JobStream, 'ended', () => () => undefined),
  },
  {
    name: 'a run of chunks loses its last one',
    plant: () =>
      swap(ChunkBuffer, 'slice', (original) => {
        return function (this: ChunkBuffer, first: unknown, end: unknown) {
          const chunks = original.call(this, first, end) as unknown[];
          return chunks.length > 1 ? chunks.slice(0, -1) : chunks;
        };
      }),
  },
];

/** Bugs of streams, in clusters whose jobs are mostly streams. */
export const plantedStreamBugs: readonly PlantedBug[] = BUGS.map((bug) => ({
  ...bug,
  leaderFaults: { isOfStreams: true },
}));
