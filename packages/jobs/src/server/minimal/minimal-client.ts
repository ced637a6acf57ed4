import {
  type CloseReason,
  type Connection,
  type ConnectionHandler,
  FrameType,
  type ReceivedFrame,
} from '@troupe/transport';
import { payloadOfBytes } from '../../job/payload.js';
import type { Refusal, SubmitItem, ToClient } from '../../protocol/client-messages.js';
import type { PeerPort } from '../../protocol/leader-interface.js';
import type { PeerSetup } from '../connection-setup.js';
import { MINIMAL_POLICY } from './minimal-job-policy.js';

export interface MinimalTimer {
  setTimer(ms: number, run: () => void): { cancel(): void };
}

/**
 * A client by the original page: raw payloads, no answers. Since nobody there could try again, what the leader cannot take now is
 * offered until it can, even when the connection has ended; meanwhile its socket is not read beyond the limits. What the leader will
 * never take ends the connection: the one sign that the page knows.
 */
export class MinimalClient implements ConnectionHandler {
  private readonly setup: PeerSetup<ToClient>;
  private readonly connection: Connection;
  private readonly timer: MinimalTimer;
  private readonly port: PeerPort<ToClient>;
  private readonly pending = new Map<number, SubmitItem>();
  private nextSeq = 1;
  private answeredTo = 0;
  private isWelcome = false;
  private isOver = false;

  constructor(setup: PeerSetup<ToClient>, timer: MinimalTimer) {
    this.setup = setup;
    this.connection = setup.connection;
    this.timer = timer;
    this.port = setup.port();
    this.sayHello();
  }

  onFrame(frame: ReceivedFrame): void {
    if (frame.type !== FrameType.SubmitJob)
      return this.connection.destroy({
        kind: 'refused',
        errorName: 'UNKNOWN_TYPE',
        cause: 'not a SubmitJob',
      });
    const payload = payloadOfBytes(frame.body);
    const item: SubmitItem = {
      seq: this.nextSeq,
      ref: 1,
      payload,
      key: '',
      delayMs: 0,
      wantsOutcome: false,
    };
    this.nextSeq += 1;
    this.pending.set(item.seq, item);
    this.connection.requestStarted(payload.length);
    if (this.isWelcome) this.submit([item]);
  }

  onClose(_reason: CloseReason): void {
    this.isOver = true;
    this.leaveIfDone();
  }

  deliver(message: ToClient): void {
    if (message.kind === 'welcome') {
      this.isWelcome = true;
      this.define();
      this.submit([...this.pending.values()]);
      this.leaveIfDone();
    } else if (message.kind === 'refused') {
      this.isWelcome = false;
      this.timer.setTimer(1_000, () => this.sayHello());
    } else if (message.kind === 'receipts') {
      for (const { seq, refusal } of message.items) this.answered(seq, refusal);
      this.leaveIfDone();
    }
  }

  private answered(seq: number, refusal: Refusal | undefined): void {
    if (refusal !== undefined && refusal.retryAfterMs > 0) return this.later(seq, refusal);
    if (refusal !== undefined) {
      const answer = refusal.code === 'ERR_PAYLOAD_TOO_LARGE' ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED';
      this.connection.destroy({ kind: 'refused', errorName: answer, cause: refusal.problem });
    }
    this.settle(seq);
  }

  private sayHello(): void {
    const { connectionId: id } = this.connection.handshake;
    const hello = { client: 'minimal', token: id };
    this.setup.leader.helloClient({ hello, port: this.port });
  }

  private define(): void {
    const message = { kind: 'define', ref: 1, policy: MINIMAL_POLICY } as const;
    this.setup.leader.fromClient({ message, port: this.port });
  }

  private submit(items: readonly SubmitItem[]): void {
    if (items.length === 0) return;
    this.setup.leader.fromClient({
      message: { kind: 'submit', low: this.answeredTo, items },
      port: this.port,
    });
  }

  private later(seq: number, { code, retryAfterMs }: Refusal): void {
    this.timer.setTimer(retryAfterMs, () => {
      const item = this.pending.get(seq);
      if (item === undefined || !this.isWelcome) return;
      if (code === 'ERR_POLICIES_FULL') this.define();
      this.submit([item]);
    });
  }

  private settle(seq: number): void {
    const item = this.pending.get(seq);
    if (item === undefined) return;
    this.pending.delete(seq);
    if (!this.isOver) this.connection.requestEnded(item.payload.length);
    while (this.answeredTo + 1 < this.nextSeq && !this.pending.has(this.answeredTo + 1)) this.answeredTo += 1;
  }

  private leaveIfDone(): void {
    if (!this.isOver || this.pending.size > 0) return;
    this.setup.leader.fromClient({ message: { kind: 'bye' }, port: this.port });
    this.setup.leader.lost(this.port);
    this.setup.gone();
  }
}
