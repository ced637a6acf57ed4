import type { Host } from '@troupe/core';
import type { PoolEvent } from './pool-event.js';

type Listener = (event: PoolEvent) => void;

/** The listeners of a pool. Failures that no promise and no listener reports become log lines. */
export class EventListeners {
  private readonly pool: string;
  private readonly host: Host;
  private subscriptions: readonly { readonly listener: Listener }[] = [];

  constructor(pool: string, host: Host, onEvent: Listener | undefined) {
    this.pool = pool;
    this.host = host;
    if (onEvent !== undefined) this.subscribe(onEvent);
  }

  subscribe(listener: Listener): () => void {
    const subscription = { listener };
    this.subscriptions = [...this.subscriptions, subscription];
    return () => {
      this.subscriptions = this.subscriptions.filter((known) => known !== subscription);
    };
  }

  /** Whether publishing it has an effect. */
  isWanted(event: PoolEvent): boolean {
    return this.subscriptions.length > 0 || errorToLog(event) !== undefined;
  }

  publish(event: PoolEvent): void {
    for (const { listener } of this.subscriptions) {
      try {
        listener(event);
      } catch (error) {
        this.logListenerError('a listener', error);
      }
    }
    const error = this.subscriptions.length === 0 ? errorToLog(event) : undefined;
    if (error === undefined) return;
    const message = `pool ${this.pool}: ${event.kind}: ${error.message}`;
    this.host.log({ level: 'error', message, fields: { pool: this.pool, kind: event.kind, error } });
  }

  logListenerError(listener: string, error: unknown): void {
    const message = `pool ${this.pool}: ${listener} threw: ${String(error)}`;
    this.host.log({ level: 'error', message, fields: { pool: this.pool, error } });
  }
}

function errorToLog(event: PoolEvent): Error | undefined {
  if (event.kind === 'thread-start-failed' || event.kind === 'thread-ended') return event.error;
  return event.kind === 'task-failed' && event.posted ? event.error : undefined;
}
