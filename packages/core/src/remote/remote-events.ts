import type { Parts } from '../actor/runtime-parts.js';
import type { RuntimeEvent } from '../runtime-event.js';
import type { Threads } from './threads.js';

const MAIN = 0;

/** Reports of trouble. Start, end and suspension of an actor are events of its proxy. */
const REPORTED: readonly RuntimeEvent['kind'][] = ['dead-letter', 'failed', 'stuck', 'stale-context'];

/** Events of other threads, for the listeners on the main thread. Without a listener none is sent. */
export class RemoteEvents {
  private readonly runtime: Parts<'events'>;
  private readonly threads: Threads;
  private isListening = false;
  private isReporting = false;

  constructor(runtime: RemoteEvents['runtime'], threads: Threads) {
    this.runtime = runtime;
    this.threads = threads;
    if (threads.self === MAIN) runtime.events.onSubscribed = () => this.listen();
  }

  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    for (const thread of this.threads.others) this.threads.signal(thread, { kind: 'listen' });
  }

  /** On another thread: the main thread has listeners. */
  report(): void {
    if (this.isReporting) return;
    this.isReporting = true;
    this.runtime.events.subscribe((event) => {
      if (REPORTED.includes(event.kind)) this.send(event);
    });
  }

  private send(event: RuntimeEvent): void {
    try {
      this.threads.signal(MAIN, { kind: 'event', event });
    } catch (error) {
      if (event.kind !== 'dead-letter') throw error;
      // The payload cannot be cloned: the rest of the letter can.
      const letter = { ...event.letter, payload: String(error) };
      this.threads.signal(MAIN, { kind: 'event', event: { kind: 'dead-letter', letter } });
    }
  }

  received(event: RuntimeEvent): void {
    this.runtime.events.publish(event);
  }

  threadEnded(thread: number): void {
    if (this.isListening) this.threads.signal(thread, { kind: 'listen' });
  }
}
