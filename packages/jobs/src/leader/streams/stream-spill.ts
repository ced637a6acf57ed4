import type { SpillLoaded } from '../../spill/spill.js';
import type { LeaderParts } from '../leader-context.js';
import type { JobStream } from './job-stream.js';
import { type PartLoadEvents, PartLoads } from './part-loads.js';
import { SpillFiles } from './spill-files.js';
import { SpillWriter } from './spill-writer.js';
import type { SpillPart } from './spilled-parts.js';

/** Chunks that have waited for two looks go to a file: those of a stream that no reader takes. */
const LOOK_MS = 1_000;
const REMOVED_PER_RECORD = 1_024;

export interface StreamSpillEvents extends Pick<PartLoadEvents, 'loaded'> {
  /** Its chunks in memory, its window or its gaps are others than before. */
  changed(stream: JobStream): void;
}

type SpillContext = LeaderParts<
  'clock' | 'diskLow' | 'effects' | 'ledger' | 'limits' | 'observe' | 'recordTime' | 'stage'
>;

/** The files of streams: what goes there, what comes back, and what is removed. */
export class StreamSpill {
  private readonly context: SpillContext;
  private readonly events: StreamSpillEvents;
  private readonly files: SpillFiles;
  private readonly writer: SpillWriter;
  private readonly loads: PartLoads;
  /** Streams with chunks in memory that may have to go to a file. */
  private readonly aging = new Set<JobStream>();
  /** Streams of which the files take no more at the moment. */
  private readonly full = new Set<JobStream>();
  private lookedAt = 0;

  constructor(context: SpillContext, events: StreamSpillEvents) {
    this.context = context;
    this.events = events;
    this.files = new SpillFiles(context.limits);
    this.writer = new SpillWriter(context, this.files, (stream) => this.streamChanged(stream));
    this.loads = new PartLoads(context, {
      loaded: (stream, part, chunks) => events.loaded(stream, part, chunks),
      lost: (stream, part) => this.lost(stream, part),
    });
  }

  /** Bytes of all files. */
  get bytes(): number {
    return this.files.bytes;
  }

  /** A file of before a restart, and then its parts. */
  foundFile(file: number, bytes: number): void {
    this.files.open(file);
    this.files.grow(file, bytes);
  }

  found(stream: JobStream, part: SpillPart): void {
    this.files.use(stream, part);
    stream.addFound(part);
  }

  /** Every part of before a restart has been passed. */
  foundAll(files: readonly number[]): void {
    for (const file of files) {
      // A file of which no byte was written has a record, too.
      if (!this.files.has(file)) this.files.open(file);
      this.files.seal(file);
    }
    this.removeUnused();
  }

  /** Chunks or readers of the stream are others than before. */
  consider(stream: JobStream): void {
    this.writer.add(stream);
    if (stream.bytes > 0) this.aging.add(stream);
  }

  /** True: a record is staged. */
  flush(): boolean {
    return this.writer.flush();
  }

  named(file: number): void {
    this.writer.named(file);
  }

  written(error: Error | null): void {
    if (error !== null) this.context.observe?.({ kind: 'spill-failed', problem: error.message });
    this.writer.written(error);
  }

  load(stream: JobStream, part: SpillPart): void {
    this.loads.load(stream, part);
  }

  loaded(loaded: SpillLoaded): void {
    this.loads.loaded(loaded);
  }

  /** Its parts are void: another attempt has begun, or its result is gone. */
  release(stream: JobStream, parts: readonly SpillPart[]): void {
    for (const part of parts) this.files.release(stream, part);
  }

  remove(stream: JobStream): void {
    this.release(stream, stream.parts.clear());
    this.writer.remove(stream);
    this.aging.delete(stream);
    this.full.delete(stream);
  }

  tick(): void {
    for (const stream of this.full) {
      stream.isSpillFull = false;
      this.writer.add(stream);
    }
    this.full.clear();
    const now = this.context.clock.now();
    if (now - this.lookedAt >= LOOK_MS) {
      this.lookedAt = now;
      for (const stream of this.aging) this.look(stream);
    }
    this.removeUnused();
  }

  private look(stream: JobStream): void {
    stream.lookAtAges();
    this.writer.addAged(stream);
    if (stream.isSettled) this.aging.delete(stream);
  }

  private streamChanged(stream: JobStream): void {
    if (stream.isSpillFull) this.full.add(stream);
    this.events.changed(stream);
  }

  private lost(stream: JobStream, part: SpillPart): void {
    this.context.observe?.({ kind: 'spill-failed', problem: `chunks of job ${stream.job} cannot be read` });
    if (stream.parts.remove(part)) this.files.release(stream, part);
    this.events.changed(stream);
  }

  private removeUnused(): void {
    const files = this.files.takeUnused();
    for (let at = 0; at < files.length; at += REMOVED_PER_RECORD) {
      const some = files.slice(at, at + REMOVED_PER_RECORD);
      this.context.stage({ type: 'spill_drop', at: this.context.recordTime, files: some });
    }
  }
}
