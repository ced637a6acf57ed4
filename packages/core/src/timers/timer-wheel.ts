// Hot path: an ask arms and cancels one of these; neither allocates.
import type { Host, HostTimer } from '../host.js';

const BUCKETS = 2048;
const MASK = BUCKETS - 1;

/** An entry of the wheel, linked into its bucket itself. Subclasses define `expire`. */
export abstract class TimerNode {
  due = 0;
  /** The bucket it stands in, or -1 while it is not armed. */
  bucket = -1;
  before: TimerNode | undefined = undefined;
  after: TimerNode | undefined = undefined;

  abstract expire(): void;
}

/**
 * A hashed wheel of one-millisecond buckets: arming and cancelling are a few pointer writes. A node due later
 * than one revolution stays in its bucket and is skipped until its time. Nothing fires early; nodes that are
 * due together fire in the order of their due time, then of their arming.
 *
 * One host timer is armed for the earliest bucket in use. Cancelling leaves it armed: a wake-up with nothing
 * due costs less than moving a host timer for every ask.
 */
export class TimerWheel {
  live = 0;
  private readonly host: Host;
  private readonly onWake: () => void;
  private readonly heads: (TimerNode | undefined)[] = new Array<TimerNode | undefined>(BUCKETS).fill(
    undefined,
  );
  private tick: number;
  private hostTimer: HostTimer | undefined = undefined;
  private hostTick = Number.POSITIVE_INFINITY;
  private held = true;

  /** `onWake` runs inside the host's timer callback and must lead to `advance`. */
  constructor(host: Host, onWake: () => void) {
    this.host = host;
    this.tick = Math.floor(host.now());
    this.onWake = () => {
      this.hostTimer = undefined;
      this.hostTick = Number.POSITIVE_INFINITY;
      onWake();
    };
  }

  arm(node: TimerNode, due: number): void {
    const tick = Math.max(Math.ceil(due), this.tick + 1);
    const bucket = tick & MASK;
    const head = this.heads[bucket];
    node.due = due;
    node.bucket = bucket;
    node.before = undefined;
    node.after = head;
    if (head !== undefined) head.before = node;
    this.heads[bucket] = node;
    this.live += 1;
    if (tick < this.hostTick) this.armHost(tick);
  }

  cancel(node: TimerNode): void {
    if (node.bucket < 0) return;
    const { before, after } = node;
    if (before === undefined) this.heads[node.bucket] = after;
    else before.after = after;
    if (after !== undefined) after.before = before;
    node.bucket = -1;
    node.before = undefined;
    node.after = undefined;
    this.live -= 1;
  }

  /** Fires everything due at `now`. */
  advance(now: number): void {
    const until = Math.floor(now);
    const due: TimerNode[] = [];
    const first = Math.max(this.tick + 1, until - BUCKETS + 1);
    this.tick = Math.max(this.tick, until);
    for (let tick = first; tick <= until; tick += 1) this.collect(tick & MASK, now, due);
    if (due.length > 1) due.sort((a, b) => a.due - b.due);
    for (const node of due) {
      if (node.bucket < 0 || node.due > now) continue;
      this.cancel(node);
      node.expire();
    }
    if (this.live > 0 && this.hostTimer === undefined) this.armHost(this.nextTick());
  }

  /**
   * A wheel with nothing armed must not keep the process alive. Called between turns, not at every cancel.
   */
  holdProcess(): void {
    const hold = this.live > 0;
    if (hold === this.held || this.hostTimer === undefined) return;
    this.held = hold;
    this.hostTimer.hold(hold);
  }

  /** The end of time: every armed node expires at once, so that nothing waits for ever. */
  close(): void {
    this.hostTimer?.cancel();
    this.hostTimer = undefined;
    this.hostTick = Number.NEGATIVE_INFINITY;
    const left: TimerNode[] = [];
    for (let node of this.heads) for (; node !== undefined; node = node.after) left.push(node);
    for (const node of left) {
      this.cancel(node);
      node.expire();
    }
  }

  /** From its end: a bucket is filled from the front, so its last node was armed first. */
  private collect(bucket: number, now: number, due: TimerNode[]): void {
    let node = this.heads[bucket];
    while (node?.after !== undefined) node = node.after;
    for (; node !== undefined; node = node.before) if (node.due <= now) due.push(node);
  }

  private nextTick(): number {
    for (let tick = this.tick + 1; tick <= this.tick + BUCKETS; tick += 1) {
      if (this.heads[tick & MASK] !== undefined) return tick;
    }
    return this.tick + BUCKETS;
  }

  private armHost(tick: number): void {
    this.hostTimer?.cancel();
    this.hostTick = tick;
    this.held = true;
    // At most one revolution: later nodes are checked again then, and a host's timers have a limit.
    const ms = Math.min(Math.max(0, tick - this.host.now()), BUCKETS);
    this.hostTimer = this.host.setTimer(ms, this.onWake);
  }
}
