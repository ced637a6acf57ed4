// Hot path: once per write of the spill, which gathers the chunks of many streams.
import type { LeaderParts } from '../leader-context.js';
import type { JobStream } from './job-stream.js';
import { encodeBlock } from './spill-block.js';
import type { SpillFiles } from './spill-files.js';
import type { SpillPart } from './spilled-parts.js';

/** Chunks of one part: a reader gets it whole. */
const PART_BYTES = 64 * 1024;
/** One write. */
const WRITE_BYTES_MAX = 1024 * 1024;
/** A file is left when it has so much, so that it can be removed as a whole. */
const FILE_BYTES = 4 * 1024 * 1024;
/** After a failed write. */
const RETRY_MS = 5_000;

/** The parts of one stream in the write that is under way. */
interface WrittenStream {
  readonly stream: JobStream;
  readonly attempt: number;
  readonly parts: readonly SpillPart[];
  readonly end: number;
}

/** A file that its record names. */
interface OpenSpillFile {
  readonly number: number;
  position: number;
}

/** Writes chunks that have no room in memory to files, one write at a time. */
export class SpillWriter {
  private readonly context: LeaderParts<'clock' | 'diskLow' | 'effects' | 'ledger' | 'recordTime' | 'stage'>;
  private readonly files: SpillFiles;
  private readonly onChanged: (stream: JobStream) => void;
  /** Streams with chunks to write. */
  private readonly waiting = new Set<JobStream>();
  private readonly aged = new Set<JobStream>();
  private file: OpenSpillFile | undefined = undefined;
  private spare: number | undefined = undefined;
  private isNaming = false;
  private underWay: readonly WrittenStream[] | undefined = undefined;
  private writtenBytes = 0;
  private retryAt = 0;

  /** `onChanged`: chunks of the stream are in a file now, or cannot be. */
  constructor(context: SpillWriter['context'], files: SpillFiles, onChanged: (stream: JobStream) => void) {
    this.context = context;
    this.files = files;
    this.onChanged = onChanged;
  }

  add(stream: JobStream): void {
    if (stream.spillRange(BY_SIZE) !== undefined) this.waiting.add(stream);
  }

  addAged(stream: JobStream): void {
    if (stream.spillRange(BY_AGE) !== undefined) this.aged.add(stream);
  }

  remove(stream: JobStream): void {
    this.waiting.delete(stream);
    this.aged.delete(stream);
  }

  /** At the end of a turn. True: a record is staged. */
  flush(): boolean {
    const isEmpty = this.waiting.size === 0 && this.aged.size === 0;
    if (isEmpty || this.underWay !== undefined) return false;
    if (this.context.diskLow || this.context.clock.now() < this.retryAt) {
      this.refuseAll();
      return false;
    }
    const wasNaming = this.isNaming;
    const file = this.openFile();
    if (file !== undefined) this.write(file);
    return this.isNaming && !wasNaming;
  }

  /** Its record is durable: the file may be made. */
  named(number: number): void {
    this.isNaming = false;
    this.spare = number;
    this.files.open(number);
  }

  written(error: Error | null): void {
    const streams = this.underWay ?? [];
    this.underWay = undefined;
    const { file } = this;
    if (file !== undefined) {
      this.files.grow(file.number, this.writtenBytes);
      file.position += this.writtenBytes;
    }
    if (error !== null) this.abandonFile();
    for (const written of streams) {
      if (error === null) this.spilled(written);
      else written.stream.spillFailed();
      this.onChanged(written.stream);
    }
  }

  private spilled({ stream, attempt, parts, end }: WrittenStream): void {
    // Another attempt has begun meanwhile: its parts are void.
    if (stream.attempt !== attempt) return;
    for (const part of parts) this.files.use(stream, part);
    stream.wasSpilled(parts, end);
  }

  private abandonFile(): void {
    this.retryAt = this.context.clock.now() + RETRY_MS;
    if (this.file !== undefined) this.files.seal(this.file.number);
    this.file = undefined;
  }

  private refuseAll(): void {
    for (const stream of this.waiting) this.refuse(stream);
    this.waiting.clear();
    this.aged.clear();
  }

  private refuse(stream: JobStream): void {
    if (stream.isSpillFull) return;
    stream.isSpillFull = true;
    this.onChanged(stream);
  }

  /** The file that is written next; undefined: its record is on its way. */
  private openFile(): OpenSpillFile | undefined {
    if (this.file !== undefined && this.file.position >= FILE_BYTES) {
      this.files.seal(this.file.number);
      this.file = undefined;
    }
    if (this.file === undefined && this.spare !== undefined) {
      this.file = { number: this.spare, position: 0 };
      this.spare = undefined;
    }
    if (this.spare === undefined && (this.file?.position ?? FILE_BYTES) >= FILE_BYTES / 2) this.nameNext();
    return this.file;
  }

  private nameNext(): void {
    if (this.isNaming) return;
    this.isNaming = true;
    const { ledger, recordTime } = this.context;
    this.context.stage({ type: 'spill_file', at: recordTime, file: ledger.nextSpillFile });
  }

  private write(file: OpenSpillFile): void {
    const blocks: Buffer[] = [];
    const streams: WrittenStream[] = [];
    const room = { bytes: WRITE_BYTES_MAX, position: file.position };
    let isDurable = false;
    for (const [all, when] of [
      [this.waiting, BY_SIZE],
      [this.aged, BY_AGE],
    ] as const) {
      for (const stream of all) {
        if (room.bytes <= 0) break;
        const written = this.encode(stream, when, file.number, room, blocks);
        if (stream.spillRange(when) === undefined || written === undefined) all.delete(stream);
        if (written === undefined) continue;
        streams.push(written);
        isDurable ||= stream.policy.durable;
      }
    }
    if (blocks.length === 0) return;
    this.underWay = streams;
    const bytes = Buffer.concat(blocks);
    this.writtenBytes = bytes.length;
    this.context.effects.writeSpill({ file: file.number, position: file.position, bytes, isDurable });
  }

  /** The next parts of a stream. Undefined: there are none, or there is no room for them. */
  private encode(
    stream: JobStream,
    when: typeof BY_SIZE,
    file: number,
    room: { bytes: number; position: number },
    blocks: Buffer[],
  ): WrittenStream | undefined {
    const parts: SpillPart[] = [];
    for (;;) {
      const range = room.bytes > 0 ? stream.spillRange(when) : undefined;
      if (range === undefined) break;
      const chunks = stream.partOf(range, PART_BYTES);
      const { job, attempt } = stream;
      const { first } = range;
      const block = encodeBlock({ job, attempt, first, count: chunks.length }, chunks);
      if (!this.files.hasRoomFor(stream, block.length)) {
        this.refuse(stream);
        break;
      }
      const part = { file, position: room.position, bytes: block.length, first, count: chunks.length };
      stream.spilling = first + chunks.length;
      parts.push(part);
      blocks.push(block);
      room.bytes -= block.length;
      room.position += block.length;
    }
    const last = parts.at(-1);
    if (last === undefined) return undefined;
    return { stream, attempt: stream.attempt, parts, end: last.first + last.count };
  }
}

const BY_SIZE = { isAged: false };
const BY_AGE = { isAged: true };
