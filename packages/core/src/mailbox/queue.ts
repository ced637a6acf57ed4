// Hot path: no allocation per message.

/**
 * The user lane. Payloads stand in a chain of linear segments, each ending with the link to the next:
 *
 *   [ payload, payload, payload, …, next ]        read: where `head` takes from, write: where `tail` puts
 *
 * Neighbours mostly have the same handler, so handlers are kept as runs: pairs of (handler, how many messages), the
 * last of which is still growing. A deep queue then costs one word per message, and segments that are reset when they
 * run empty keep a queue that is drained in step with its producer in the same few cache lines.
 *
 * A payload's place is cleared when it is taken: a delivered message must not be kept alive by its mailbox.
 */
type Segment = unknown[];

const PLACES_FIRST = 4;
const PLACES_MAX = 1024;
const POOLED_MAX = 1024;
const RUNS_COMPACT = 1024;

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
  private readonly runs: number[] = [0, 0];
  private firstRun = 0;
  private lastRun = 0;

  push(handler: number, payload: unknown): void {
    const { runs, lastRun } = this;
    if (runs[lastRun] === handler) runs[lastRun + 1] = (runs[lastRun + 1] as number) + 1;
    else this.startRun(handler);
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
    return this.runs[this.firstRun] as number;
  }

  /** Removes the oldest message and returns its payload. Only while `length > 0`. */
  take(): unknown {
    const { runs, firstRun, read, head } = this;
    const payload = read[head];
    read[head] = undefined;
    const left = (runs[firstRun + 1] as number) - 1;
    runs[firstRun + 1] = left;
    this.length -= 1;
    if (this.length === 0) {
      this.reset();
      return payload;
    }
    if (left === 0) this.endRun();
    if (head + 2 === read.length) this.advance();
    else this.head = head + 1;
    return payload;
  }

  /** Puts a message before all others: one that was held back, or that came with a ready entry. */
  unshift(handler: number, payload: unknown): void {
    if (this.length === 0) {
      this.push(handler, payload);
      return;
    }
    if (this.peek() === handler) this.runs[this.firstRun + 1] = (this.runs[this.firstRun + 1] as number) + 1;
    else this.putRunFirst(handler);
    if (this.head > 0) {
      this.head -= 1;
      this.read[this.head] = payload;
    } else {
      this.read = [payload, this.read];
    }
    this.length += 1;
  }

  /** How many messages are before the one with this payload, or -1. Walks the queue: for reports only. */
  placeOf(payload: unknown): number {
    let segment = this.read;
    let at = this.head;
    for (let place = 0; place < this.length; place += 1) {
      if (segment[at] === payload) return place;
      at += 1;
      if (at === segment.length - 1) {
        segment = segment[at] as Segment;
        at = 0;
      }
    }
    return -1;
  }

  private startRun(handler: number): void {
    const { runs } = this;
    if (this.length > 0) this.lastRun += 2;
    if (this.lastRun === runs.length) {
      runs.push(handler, 1);
    } else {
      runs[this.lastRun] = handler;
      runs[this.lastRun + 1] = 1;
    }
  }

  private endRun(): void {
    this.firstRun += 2;
    if (this.firstRun < RUNS_COMPACT || 2 * this.firstRun < this.lastRun) return;
    this.runs.splice(0, this.firstRun);
    this.lastRun -= this.firstRun;
    this.firstRun = 0;
  }

  private putRunFirst(handler: number): void {
    if (this.firstRun > 0) {
      this.firstRun -= 2;
    } else {
      this.runs.unshift(0, 0);
      this.lastRun += 2;
    }
    this.runs[this.firstRun] = handler;
    this.runs[this.firstRun + 1] = 1;
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
    this.firstRun = 0;
    this.lastRun = 0;
    this.runs[1] = 0;
    if (this.runs.length > RUNS_COMPACT) this.runs.length = 2;
    if (this.write.length > PLACES_MAX) {
      recycle(this.write);
      this.write = NO_SEGMENT;
    }
    this.read = this.write;
  }
}

/** Stands in every mailbox that never had two messages at once; whoever wants to push puts a queue of its own there. */
export const NO_QUEUE: MessageQueue = new MessageQueue();

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
