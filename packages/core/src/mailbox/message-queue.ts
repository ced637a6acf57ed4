// Hot path: no allocation per message.

/**
 * The user lane. Payloads stand in a chain of linear segments, each ending with the link to the next:
 *
 *   [ payload, payload, payload, …, next ]        read: where `head` takes from, write: where `tail` puts
 *
 * Neighbours mostly have the same handler, so handlers are kept as runs of messages: the one that is being
 * read, the one that is being written (often the same), and between them pairs of (where it begins, handler)
 * in `runs`. A deep queue then costs one word per message, and segments that are reset when they run empty
 * keep a queue that is drained in step with its producer in the same few cache lines.
 *
 * A payload's place is cleared when it is taken: a delivered message must not be kept alive by its mailbox.
 */
type Segment = unknown[];

const PLACES_FIRST = 4;
const PLACES_MAX = 1024;
const POOLED_MAX = 1024;
const RUNS_COMPACT = 1024;
/** Messages are numbered modulo this: far more than are ever in a queue at once. */
const NUMBERS_MASK = 0x3fff_ffff;
const NO_RUN = -1;

/** Has no room at all, so that the first push goes through `extend`. Never written to. */
const NO_SEGMENT: Segment = [undefined];

const pool: Segment[] = [];

export class MessageQueue {
  length = 0;
  /** Slot of the actor that sent last, so that the flight recorder notes a flood once. */
  sender = -1;
  private head = 0;
  private tail = 0;
  private read: Segment = NO_SEGMENT;
  private write: Segment = NO_SEGMENT;
  private reading = 0;
  private writing = 0;
  /** The number of the oldest message, and of the one with which the next run begins. */
  private oldest = 0;
  private nextRunAt = NO_RUN;
  private readonly runs: number[] = [];
  private runsHead = 0;
  private runsTail = 0;

  push(handler: number, payload: unknown): void {
    if (handler !== this.writing) this.startRun(handler);
    this.length += 1;
    const segment = this.write;
    const tail = this.tail;
    if (tail === segment.length - 1) {
      this.extend(payload);
    } else {
      segment[tail] = payload;
      this.tail = tail + 1;
    }
  }

  /** The handler number of the oldest message. Only while `length > 0`. */
  peek(): number {
    return this.reading;
  }

  /** Removes the oldest message and returns its payload. Only while `length > 0`. */
  take(): unknown {
    const { read, head } = this;
    const payload = read[head];
    read[head] = undefined;
    this.length -= 1;
    if (this.length === 0) {
      this.reset();
      return payload;
    }
    const oldest = (this.oldest + 1) & NUMBERS_MASK;
    this.oldest = oldest;
    if (oldest === this.nextRunAt) this.endRun();
    if (head + 2 === read.length) this.advance();
    else this.head = head + 1;
    return payload;
  }

  /** Puts a message before all others: a held message, or the inline message of a ready entry. */
  unshift(handler: number, payload: unknown): void {
    if (this.length === 0) {
      this.push(handler, payload);
      return;
    }
    if (handler !== this.reading) this.putRunFirst(handler);
    this.oldest = (this.oldest - 1) & NUMBERS_MASK;
    if (this.head > 0) {
      this.head -= 1;
      this.read[this.head] = payload;
    } else {
      this.read = [payload, this.read];
    }
    this.length += 1;
  }

  /** How many messages are before the first such payload, or -1. Walks the queue: not for every message. */
  findIndex(isMeant: (payload: unknown) => boolean): number {
    let segment = this.read;
    let at = this.head;
    for (let place = 0; place < this.length; place += 1) {
      if (isMeant(segment[at])) return place;
      at += 1;
      if (at === segment.length - 1) {
        segment = segment[at] as Segment;
        at = 0;
      }
    }
    return -1;
  }

  private startRun(handler: number): void {
    this.writing = handler;
    if (this.length === 0) {
      this.reading = handler;
      return;
    }
    const { runs, runsTail } = this;
    const start = (this.oldest + this.length) & NUMBERS_MASK;
    if (runsTail === runs.length) {
      runs.push(start, handler);
    } else {
      runs[runsTail] = start;
      runs[runsTail + 1] = handler;
    }
    this.runsTail = runsTail + 2;
    if (this.nextRunAt === NO_RUN) this.nextRunAt = start;
  }

  private endRun(): void {
    this.reading = this.runs[this.runsHead + 1] as number;
    this.runsHead += 2;
    if (this.runsHead === this.runsTail) {
      this.runsHead = 0;
      this.runsTail = 0;
      this.nextRunAt = NO_RUN;
      return;
    }
    this.nextRunAt = this.runs[this.runsHead] as number;
    if (this.runsHead < RUNS_COMPACT || 2 * this.runsHead < this.runsTail) return;
    this.runs.splice(0, this.runsHead);
    this.runsTail -= this.runsHead;
    this.runsHead = 0;
  }

  private putRunFirst(handler: number): void {
    if (this.runsHead > 0) {
      this.runsHead -= 2;
    } else {
      this.runs.unshift(0, 0);
      this.runsTail += 2;
    }
    this.runs[this.runsHead] = this.oldest;
    this.runs[this.runsHead + 1] = this.reading;
    this.nextRunAt = this.oldest;
    this.reading = handler;
  }

  private extend(payload: unknown): void {
    const last = this.write;
    const places = last.length - 1;
    const segment = newSegment(places === 0 ? PLACES_FIRST : Math.min(places * 16, PLACES_MAX));
    if (this.length === 1) {
      this.read = segment;
      this.head = 0;
    } else {
      last[places] = segment;
    }
    this.write = segment;
    segment[0] = payload;
    this.tail = 1;
  }

  private advance(): void {
    const spent = this.read;
    const link = spent.length - 1;
    this.read = spent[link] as Segment;
    this.head = 0;
    spent[link] = undefined;
    recycle(spent);
  }

  /** An empty queue keeps a small segment and gives a large one back, so idle actors stay small. */
  private reset(): void {
    this.head = 0;
    this.tail = 0;
    if (this.runs.length > RUNS_COMPACT) this.runs.length = 0;
    if (this.write.length > PLACES_MAX) {
      recycle(this.write);
      this.write = NO_SEGMENT;
    }
    this.read = this.write;
  }
}

/**
 * Shared by all mailboxes that never had two messages at once. Never pushed to: `Mailbox.ownQueue` replaces
 * it.
 */
export const EMPTY_QUEUE: MessageQueue = new MessageQueue();

function newSegment(places: number): Segment {
  if (places === PLACES_MAX) {
    const pooled = pool.pop();
    if (pooled !== undefined) return pooled;
  }
  return new Array<unknown>(places + 1).fill(undefined);
}

function recycle(segment: Segment): void {
  if (segment.length > PLACES_MAX && pool.length < POOLED_MAX) pool.push(segment);
}
