import type { MessageView, Middleware, Outcome, Verdict } from '@troupe/core';
import { callback, checkOptions, name, numberAbove, wholeNumber } from '@troupe/core/option-check';
import { LRUMapWithDelete } from 'mnemonist';
import { type Metric, type MetricSource, messageCounter } from '../metric.js';

export interface IdempotencyOptions {
  /** The name in metrics and errors. Default `idempotency`. */
  readonly name?: string | undefined;
  /**
   * The key of a message, or undefined for one that may be handled any number of times. All actors with this
   * middleware share their keys: a message that is broadcast to a pool needs `message.path` in its key.
   */
  readonly key: (message: MessageView) => string | undefined;
  /** Keys remembered; beyond it the least recently used is forgotten. Default 10,000. */
  readonly keysMax?: number | undefined;
  /** A key is forgotten after this time. Default: never, only `keysMax` counts. */
  readonly keepMs?: number | undefined;
}

export interface Idempotency extends Middleware, MetricSource {
  readonly duplicates: number;
  /** Keys remembered at present. */
  readonly size: number;
}

/** The state of one key: its first message is being handled, or was handled. */
class KeyEntry {
  state: 'running' | 'done' | 'done-without-reply' = 'running';
  reply: unknown = undefined;
  /** Time at which the entry reached its state. */
  at: number;
  readonly key: string;

  constructor(key: string, now: number) {
    this.key = key;
    this.at = now;
  }
}

/** A duplicate that arrives at one routee while another handles the first message is held for this time. */
const RECHECK_MS = 10;
/** The longest wait of a duplicate for the first message, which may hang for ever; then both are handled. */
const RUNNING_MS_MAX = 60_000;

/**
 * Answers a message whose key was handled before with the earlier reply. Memory is bounded, so the guarantee
 * holds within a window: a message with a forgotten key is handled again, and so is one whose first message
 * has not finished after a minute. The key of a failed message is forgotten at once.
 */
export function idempotency(options: IdempotencyOptions): Idempotency {
  const rules = { name, key: callback, keysMax: wholeNumber(1), keepMs: numberAbove(0) };
  checkOptions('idempotency', options, rules, { required: ['key'] });
  return new IdempotencyMiddleware(options);
}

class IdempotencyMiddleware implements Idempotency {
  duplicates = 0;
  readonly name: string;
  readonly metrics: readonly Metric[];
  private readonly entries: LRUMapWithDelete<string, KeyEntry>;
  /**
   * The message that was let through last, while it runs: most messages end before the next one, without a
   * map entry.
   */
  private latest: MessageView | undefined = undefined;
  private latestEntry: KeyEntry | undefined = undefined;
  /** Earlier messages that are still being handled. */
  private readonly running = new WeakMap<MessageView, KeyEntry>();
  private readonly key: IdempotencyOptions['key'];
  private readonly keepMs: number;

  constructor(options: IdempotencyOptions) {
    this.name = options.name ?? 'idempotency';
    this.key = options.key;
    this.keepMs = options.keepMs ?? Number.POSITIVE_INFINITY;
    this.entries = new LRUMapWithDelete(options.keysMax ?? 10_000);
    const description = 'Messages answered or refused because their key was handled before.';
    this.metrics = [
      messageCounter('troupe.idempotency.duplicates', this.name, description, () => this.duplicates),
      {
        name: 'troupe.idempotency.keys',
        kind: 'gauge',
        unit: '{key}',
        description: 'Keys remembered.',
        labels: { 'troupe.middleware.name': this.name },
        read: () => this.size,
      },
    ];
  }

  get size(): number {
    return this.entries.size;
  }

  readonly timesHandlers = false;

  readonly beforeMessage = (message: MessageView): Verdict | undefined => {
    const key = this.key(message);
    if (key === undefined) return undefined;
    const entry = this.entries.get(key);
    if (entry === undefined || this.isExpired(entry, message)) {
      this.begin(message, new KeyEntry(key, message.coarseNow));
      return undefined;
    }
    if (entry.state === 'running') {
      const reason = { user: `${this.name}: the first message with this key is being handled` };
      return { verdict: 'hold', reason, resumeOn: { on: 'after', ms: RECHECK_MS } };
    }
    this.duplicates += 1;
    if (entry.state === 'done') return { verdict: 'answer', reply: entry.reply };
    return { verdict: 'refuse', why: `${this.name}: handled before, with a deferred reply that is not kept` };
  };

  private begin(message: MessageView, entry: KeyEntry): void {
    this.entries.set(entry.key, entry);
    if (this.latest !== undefined) this.running.set(this.latest, this.latestEntry as KeyEntry);
    this.latest = message;
    this.latestEntry = entry;
  }

  private isExpired(entry: KeyEntry, message: MessageView): boolean {
    if (entry.state === 'running') return message.now - entry.at > RUNNING_MS_MAX;
    return this.keepMs !== Number.POSITIVE_INFINITY && message.now - entry.at > this.keepMs;
  }

  readonly afterMessage = (message: MessageView, outcome: Outcome): undefined => {
    const isLatest = this.latest === message;
    const entry = isLatest ? this.latestEntry : this.running.get(message);
    if (isLatest) {
      this.latest = undefined;
      this.latestEntry = undefined;
    }
    if (entry === undefined) return;
    if (outcome.kind !== 'handled') {
      // The key may belong to a later message by now.
      if (this.entries.peek(entry.key) === entry) this.entries.delete(entry.key);
      return;
    }
    const isDeferred = isDeferredReply(outcome.reply);
    entry.state = isDeferred ? 'done-without-reply' : 'done';
    entry.reply = isDeferred ? undefined : outcome.reply;
    if (this.keepMs !== Number.POSITIVE_INFINITY) entry.at = message.now;
    // The key counts as used at the end of its message, also if other keys have evicted it meanwhile.
    if (!isLatest) this.entries.set(entry.key, entry);
  };
}

/** A deferred reply belongs to one ask and cannot answer a second one. */
function isDeferredReply(reply: unknown): boolean {
  if (typeof reply !== 'object' || reply === null) return false;
  const { bind, refuse } = reply as { readonly bind?: unknown; readonly refuse?: unknown };
  return typeof bind === 'function' && typeof refuse === 'function';
}
