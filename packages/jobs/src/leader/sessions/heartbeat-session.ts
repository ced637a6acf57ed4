import type { PeerPort } from '../../protocol/leader-interface.js';
import type { HeartbeatHello, ToWorker } from '../../protocol/worker/worker-messages.js';
import { workerName } from './worker-session.js';

export type HeartbeatPort = Pick<PeerPort<ToWorker>, 'offer'>;

/**
 * The connection of a worker's heartbeat thread, open while the worker's event loop is blocked (ADR 0404).
 */
export class HeartbeatSession {
  readonly kind = 'heartbeat';
  /** The worker and incarnation it reports for. */
  readonly name: string;
  lastReceivedAt: number;
  private readonly port: HeartbeatPort;

  constructor(hello: HeartbeatHello, port: HeartbeatPort, now: number) {
    this.name = workerName(hello.worker, hello.incarnation);
    this.port = port;
    this.lastReceivedAt = now;
  }

  refuse(problem: string): void {
    // A new connection has room; one that has ended needs no refusal.
    this.port.offer({ kind: 'refused', code: 'ERR_SESSION_REPLACED', problem });
  }
}
