// Hot path: no allocation per message.

/**
 * The user lane: a chain of linear segments. A segment holds pairs and ends with the link to the next one:
 *
 *   [ handler, payload, handler, payload, …, next ]
 *      ↑ head (read)          ↑ tail (write)
 *
 * Parallel pairs instead of envelope objects keep a deep queue ten times cheaper, and linear segments reset when
 * they run empty, so a queue that is drained in step with its producer stays in the same few cache lines.
 * A payload's place is cleared when it is taken: a delivered message must not be kept alive by its mailbox.
 */
type Segment = unknown[];

const PAIRS_FIRST = 4;
const PAIRS_MAX = 1024;
const LENGTH_MAX = 2 * PAIRS_MAX + 1;
const POOLED_MAX = 256;

/** Has no room at all, so that the first push goes through `extend`. Never written to. */
const NO_SEGMENT: Segment = [undefined];

const pool: Segment[] = [];

export class MessageQueue {
  length = 0;
  head = 0;
  tail = 0;
  read: Segment = NO_SEGMENT;
  write: Segment = NO_SEGMENT;

  push(handler: number, payload: unknown): void {
    const segment = this.write;
    const tail = this.tail;
    if (tail === segment.length - 1) {
      this.extend(handler, payload);
      return;
    }
    segment[tail] = handler;
    segment[tail + 1] = payload;
    this.tail = tail + 2;
    this.length += 1;
  }

  /** The handler number of the oldest message. Only while `length > 0`. */
  peek(): number {
    return this.read[this.head] as number;
  }

  /** Removes the oldest message and returns its payload. Only while `length > 0`. */
  take(): unknown {
    const segment = this.read;
    const head = this.head;
    const payload = segment[head + 1];
    segment[head + 1] = undefined;
    this.length -= 1;
    if (this.length === 0) this.reset();
    else if (head + 3 === segment.length) this.advance();
    else this.head = head + 2;
    return payload;
  }

  /** Puts a message before all others: one that was held back, or that came with a ready entry. */
  unshift(handler: number, payload: unknown): void {
    if (this.length === 0) {
      this.push(handler, payload);
      return;
    }
    if (this.head >= 2) {
      this.head -= 2;
      this.read[this.head] = handler;
      this.read[this.head + 1] = payload;
    } else {
      this.read = [handler, payload, this.read];
      this.head = 0;
    }
    this.length += 1;
  }

  /** How many messages are before this one, or -1. Walks the queue: for reports only. */
  indexOf(handler: number, payload: unknown): number {
    let segment = this.read;
    let at = this.head;
    for (let place = 0; place < this.length; place += 1) {
      if (segment[at] === handler && segment[at + 1] === payload) return place;
      at += 2;
      if (at === segment.length - 1) {
        segment = segment[at] as Segment;
        at = 0;
      }
    }
    return -1;
  }

  private extend(handler: number, payload: unknown): void {
    const last = this.write;
    const pairs = (last.length - 1) / 2;
    const segment = newSegment(pairs === 0 ? PAIRS_FIRST : Math.min(pairs * 16, PAIRS_MAX));
    if (this.length === 0) {
      this.read = segment;
      this.head = 0;
    } else {
      last[last.length - 1] = segment;
    }
    this.write = segment;
    segment[0] = handler;
    segment[1] = payload;
    this.tail = 2;
    this.length += 1;
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
    if (this.read !== this.write) this.read = this.write;
    if (this.write.length === LENGTH_MAX) {
      recycle(this.write);
      this.read = NO_SEGMENT;
      this.write = NO_SEGMENT;
    }
  }
}

/** Stands in every mailbox that never had two messages at once; whoever wants to push puts a queue of its own there first. */
export const NO_QUEUE: MessageQueue = new MessageQueue();

function newSegment(pairs: number): Segment {
  if (pairs === PAIRS_MAX) {
    const pooled = pool.pop();
    if (pooled !== undefined) return pooled;
  }
  return new Array<unknown>(2 * pairs + 1).fill(undefined);
}

function recycle(segment: Segment): void {
  if (segment.length === LENGTH_MAX && pool.length < POOLED_MAX) pool.push(segment);
}
