import type { MessageView, Middleware, Outcome, Verdict } from '@troupe/core';
import { LRUMapWithDelete } from 'mnemonist';
import { type Figure, type Measured, messageCounter } from '../figure.js';
import { above, aFunction, aName, onlyKnown, whole } from '../option-check.js';

export interface IdempotencyOptions {
  readonly name?: string;
  /**
   * The key of a message, or undefined for one that may be handled any number of times. Keys are those of all actors that
   * have this middleware together: a message for everyone in a pool needs `message.path` in its key.
   */
  readonly key: (message: MessageView) => string | undefined;
  /** Keys remembered; beyond it the one not seen for longest is forgotten. Default 10,000. */
  readonly keysMax?: number;
  /** A key is forgotten after so long. Default: never, only `keysMax` counts. */
  readonly keepMs?: number;
}

export interface Idempotency extends Middleware, Measured {
  readonly duplicates: number;
  /** Keys remembered at present. */
  readonly size: number;
}

/** What is known about a key: its first message is being handled, or has been. One object from the one to the other. */
class Seen {
  state: 'running' | 'done' | 'done-without-reply' = 'running';
  reply: unknown = undefined;
  /** When it reached its state. */
  at: number;
  readonly key: string;

  constructor(key: string, now: number) {
    this.key = key;
    this.at = now;
  }
}

/** A pool may see the second message while a sibling handles the first: it looks again after this time. */
const LOOK_AGAIN_MS = 10;
/** A second message does not wait longer for the first, which may hang for ever: then both are handled. */
const RUNNING_MS_MAX = 60_000;

/**
 * Handles a message with a key that was handled before by answering with the reply of then. Memory is bounded, so this
 * is a window, not a promise: a key that was forgotten is handled again, and so is one whose first message is not done after
 * a minute. A failed message is forgotten at once.
 */
export function idempotency(options: IdempotencyOptions): Idempotency {
  onlyKnown('idempotency', options, ['name', 'key', 'keysMax', 'keepMs']);
  return new SeenKeys(options);
}

class SeenKeys implements Idempotency {
  duplicates = 0;
  readonly name: string;
  readonly figures: readonly Figure[];
  private readonly seen: LRUMapWithDelete<string, Seen>;
  /** The last that was let through, until it has ended or another one has come: most need no note of their own. */
  private latest: MessageView | undefined = undefined;
  private latestSeen: Seen | undefined = undefined;
  /** The earlier ones that are being handled. */
  private readonly running = new WeakMap<MessageView, Seen>();
  private readonly key: IdempotencyOptions['key'];
  private readonly keepMs: number;

  constructor(options: IdempotencyOptions) {
    this.name = aName('idempotency.name', options.name ?? 'idempotency');
    this.key = aFunction('idempotency.key', options.key);
    this.keepMs =
      options.keepMs === undefined
        ? Number.POSITIVE_INFINITY
        : above('idempotency.keepMs', options.keepMs, 0);
    this.seen = new LRUMapWithDelete(whole('idempotency.keysMax', options.keysMax ?? 10_000, 1));
    const about = 'Messages answered or dropped because their key was handled before.';
    this.figures = [
      messageCounter('troupe.idempotency.duplicates', this.name, about, () => this.duplicates),
      {
        name: 'troupe.idempotency.keys',
        kind: 'gauge',
        unit: '{key}',
        about: 'Keys remembered.',
        labels: { 'troupe.middleware.name': this.name },
        read: () => this.size,
      },
    ];
  }

  get size(): number {
    return this.seen.size;
  }

  readonly timesHandlers = false;

  readonly beforeMessage = (message: MessageView): Verdict | undefined => {
    const key = this.key(message);
    if (key === undefined) return undefined;
    const seen = this.seen.get(key);
    if (seen === undefined || this.isOver(seen, message)) {
      this.begin(message, new Seen(key, message.coarseNow));
      return undefined;
    }
    if (seen.state === 'running') {
      const reason = { user: `${this.name}: the first with this key is being handled` };
      return { verdict: 'hold', reason, resumeOn: { on: 'after', ms: LOOK_AGAIN_MS } };
    }
    this.duplicates += 1;
    if (seen.state === 'done') return { verdict: 'answer', reply: seen.reply };
    return { verdict: 'refuse', why: `${this.name}: handled before, with a reply that came later` };
  };

  private begin(message: MessageView, seen: Seen): void {
    this.seen.set(seen.key, seen);
    if (this.latest !== undefined) this.running.set(this.latest, this.latestSeen as Seen);
    this.latest = message;
    this.latestSeen = seen;
  }

  private isOver(seen: Seen, message: MessageView): boolean {
    if (seen.state === 'running') return message.now - seen.at > RUNNING_MS_MAX;
    return this.keepMs !== Number.POSITIVE_INFINITY && message.now - seen.at > this.keepMs;
  }

  readonly afterMessage = (message: MessageView, outcome: Outcome): undefined => {
    const isLatest = this.latest === message;
    const seen = isLatest ? this.latestSeen : this.running.get(message);
    if (isLatest) {
      this.latest = undefined;
      this.latestSeen = undefined;
    }
    if (seen === undefined) return;
    if (outcome.kind !== 'handled') {
      // Another message may have taken the key over meanwhile.
      if (this.seen.peek(seen.key) === seen) this.seen.delete(seen.key);
      return;
    }
    const isLate = isLater(outcome.reply);
    seen.state = isLate ? 'done-without-reply' : 'done';
    seen.reply = isLate ? undefined : outcome.reply;
    if (this.keepMs !== Number.POSITIVE_INFINITY) seen.at = message.now;
    // It is remembered from its end on, also if the others have pushed it out meanwhile.
    if (!isLatest) this.seen.set(seen.key, seen);
  };
}

/** A reply given later belongs to one question: it cannot be given to a second one. */
function isLater(reply: unknown): boolean {
  if (typeof reply !== 'object' || reply === null) return false;
  const { bind, refuse } = reply as { readonly bind?: unknown; readonly refuse?: unknown };
  return typeof bind === 'function' && typeof refuse === 'function';
}
