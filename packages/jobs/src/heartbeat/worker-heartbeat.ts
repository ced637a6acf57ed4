import type { WorkerHello } from '../protocol/worker/worker-messages.js';
import type { WatchedWorker } from './blocked-loop-reporter.js';
import { type HeartbeatRegistration, registerWorker } from './node-heartbeat-thread-handle.js';

/**
 * Ties the sessions of one worker to the heartbeat thread: each hello has its token, each welcome starts a
 * watch.
 */
export class WorkerHeartbeat {
  private readonly dial: WatchedWorker['dial'];
  private readonly registration: HeartbeatRegistration = registerWorker();
  private hello: WorkerHello | undefined = undefined;
  private latestOpen: (() => void) | undefined = undefined;

  constructor(dial: WatchedWorker['dial']) {
    this.dial = dial;
  }

  /** Opens the session once the thread is ready; of several that wait for it, only the last. */
  whenReady(open: () => void): void {
    this.latestOpen = open;
    this.registration.whenReady(() => {
      if (this.latestOpen === open) open();
    });
  }

  withToken(hello: WorkerHello): WorkerHello {
    this.hello = hello;
    return { ...hello, heartbeatToken: this.registration.token };
  }

  welcomed(heartbeatMs: number): void {
    if (this.hello === undefined) return;
    const { worker, incarnation } = this.hello;
    this.registration.watch({
      dial: this.dial,
      hello: { worker, incarnation, token: this.registration.token },
      heartbeatMs,
    });
  }

  close(): void {
    this.registration.unregister();
  }
}
