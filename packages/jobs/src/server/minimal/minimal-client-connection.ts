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
import type { ConnectionSetup } from '../connection-setup.js';
import { MINIMAL_POLICY } from './minimal-job-policy.js';

export interface TimerHost {
  setTimer(ms: number, run: () => void): { cancel(): void };
}

/**
 * A client of the minimal dialect: raw payloads, no answers. Such a client cannot retry, so a submit that the
 * leader cannot take now is repeated here until it can, even after the connection has ended; meanwhile the
 * socket is not read beyond the limits. A submit that the leader will never take ends the connection: the
 * dialect has no other answer.
 */
export class MinimalClientConnection implements ConnectionHandler {
  private readonly setup: ConnectionSetup<ToClient>;
  private readonly connection: Connection;
  private readonly timer: TimerHost;
  private readonly port: PeerPort<ToClient>;
  private readonly pending = new Map<number, SubmitItem>();
  private nextSeq = 1;
  private answeredTo = 0;
  private isWelcome = false;
  private isOver = false;

  constructor(setup: ConnectionSetup<ToClient>, timer: TimerHost) {
    this.setup = setup;
    this.connection = setup.connection;
    this.timer = timer;
    this.port = setup.port();
    this.hello();
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
    this.closeIfDone();
  }

  deliver(message: ToClient): void {
    if (message.kind === 'welcome') {
      this.isWelcome = true;
      this.define();
      this.submit([...this.pending.values()]);
      this.closeIfDone();
    } else if (message.kind === 'refused') {
      this.isWelcome = false;
      this.timer.setTimer(1_000, () => this.hello());
    } else if (message.kind === 'receipts') {
      for (const { seq, refusal } of message.items) this.answered(seq, refusal);
      this.closeIfDone();
    }
  }

  private answered(seq: number, refusal: Refusal | undefined): void {
    if (refusal !== undefined && refusal.retryAfterMs > 0) return this.retryLater(seq, refusal);
    if (refusal !== undefined) {
      const answer = refusal.code === 'ERR_PAYLOAD_TOO_LARGE' ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED';
      this.connection.destroy({ kind: 'refused', errorName: answer, cause: refusal.problem });
    }
    this.forget(seq);
  }

  private hello(): void {
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

  private retryLater(seq: number, { code, retryAfterMs }: Refusal): void {
    this.timer.setTimer(retryAfterMs, () => {
      const item = this.pending.get(seq);
      if (item === undefined || !this.isWelcome) return;
      if (code === 'ERR_POLICIES_FULL') this.define();
      this.submit([item]);
    });
  }

  private forget(seq: number): void {
    const item = this.pending.get(seq);
    if (item === undefined) return;
    this.pending.delete(seq);
    if (!this.isOver) this.connection.requestEnded(item.payload.length);
    while (this.answeredTo + 1 < this.nextSeq && !this.pending.has(this.answeredTo + 1)) this.answeredTo += 1;
  }

  private closeIfDone(): void {
    if (!this.isOver || this.pending.size > 0) return;
    this.setup.leader.fromClient({ message: { kind: 'close' }, port: this.port });
    this.setup.leader.connectionLost(this.port);
    this.setup.onClosed();
  }
}
