import { Ring } from '../../collections/ring.js';
import type { Payload } from '../../job/payload/payload.js';
import type { SpillLoaded } from '../../spill/spill.js';
import type { LeaderParts } from '../leader-context.js';
import type { JobStream } from './job-stream.js';
import { decodeBlock } from './spill-block.js';
import type { SpillPart } from './spilled-parts.js';

/** Parts that are read at the same time: their bytes are in memory until their readers get them. */
const LOADS_MAX = 16;

interface PartLoad {
  readonly stream: JobStream;
  readonly attempt: number;
  readonly part: SpillPart;
}

export interface PartLoadEvents {
  loaded(stream: JobStream, part: SpillPart, chunks: readonly Payload[]): void;
  /** It cannot be read: its chunks are lost. */
  lost(stream: JobStream, part: SpillPart): void;
}

/** Reads parts of the spill for readers, each once for all that wait for it. */
export class PartLoads {
  private readonly context: LeaderParts<'effects'>;
  private readonly events: PartLoadEvents;
  private readonly waiting = new Ring<PartLoad>();
  private readonly wanted = new Set<SpillPart>();
  private readonly underWay = new Map<number, PartLoad>();
  private lastNumber = 0;

  constructor(context: PartLoads['context'], events: PartLoadEvents) {
    this.context = context;
    this.events = events;
  }

  load(stream: JobStream, part: SpillPart): void {
    if (this.wanted.has(part)) return;
    this.wanted.add(part);
    this.waiting.push({ stream, attempt: stream.attempt, part });
    this.startNext();
  }

  loaded({ number, error, bytes }: SpillLoaded): void {
    const load = this.underWay.get(number);
    if (load === undefined) return;
    this.underWay.delete(number);
    this.wanted.delete(load.part);
    this.startNext();
    const { stream, attempt, part } = load;
    if (stream.attempt !== attempt) return;
    const { first, count } = part;
    const chunks =
      error === null ? decodeBlock(bytes, { job: stream.job, attempt, first, count }) : undefined;
    if (chunks === undefined) this.events.lost(stream, part);
    else this.events.loaded(stream, part, chunks);
  }

  private startNext(): void {
    while (this.underWay.size < LOADS_MAX) {
      const load = this.waiting.shift();
      if (load === undefined) return;
      this.lastNumber += 1;
      const number = this.lastNumber;
      this.underWay.set(number, load);
      const { file, position, bytes: length } = load.part;
      this.context.effects.readSpill({ number, file, position, length });
    }
  }
}
