import type { HeartbeatHello, ToWorker } from '../../protocol/worker-messages.js';
import { workerName } from './worker-session.js';

/**
 * The connection of a worker's heartbeat thread, open while the worker's event loop is blocked (ADR 0404).
 */
export class HeartbeatSession {
  readonly kind = 'heartbeat';
  /** The worker and incarnation it reports for. */
  readonly name: string;
  heardAt: number;
  private readonly port: { write(message: ToWorker): void };

  constructor(hello: HeartbeatHello, port: { write(message: ToWorker): void }, now: number) {
    this.name = workerName(hello.worker, hello.incarnation);
    this.port = port;
    this.heardAt = now;
  }

  refuse(problem: string): void {
    this.port.write({ kind: 'refused', code: 'ERR_SESSION_REPLACED', problem });
  }
}
