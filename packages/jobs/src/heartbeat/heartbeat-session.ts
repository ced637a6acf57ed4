import { workerName } from '../leader/sessions/worker-session.js';
import type { PulseHello, ToWorker } from '../protocol/worker-messages.js';

/** The connection of a worker's pulse: it stands while the worker's event loop does not turn (ADR 0057). */
export class PulseSession {
  readonly kind = 'pulse';
  /** The worker and incarnation it speaks for. */
  readonly name: string;
  heardAt: number;
  private readonly port: { send(message: ToWorker): void };

  constructor(hello: PulseHello, port: { send(message: ToWorker): void }, now: number) {
    this.name = workerName(hello.worker, hello.incarnation);
    this.port = port;
    this.heardAt = now;
  }

  refuse(problem: string): void {
    this.port.send({ kind: 'refused', code: 'ERR_SESSION_REPLACED', problem });
  }
}
