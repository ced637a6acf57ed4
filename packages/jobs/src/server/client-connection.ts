// Hot path: one frame carries a whole batch; `countAnswer` runs once per receipt.
import type { IncomingBody, ReceivedFrame } from '@troupe/transport';
import type { StoredPayload } from '../job/stored-payload.js';
import { MessageMalformedError } from '../jobs-error.js';
import type { ClientMessage, JobOutcome, Receipt, ToClient } from '../protocol/client-messages.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import { encodeToClient, readClient, readClientHello } from '../wire/client-codec.js';
import { JobFrameType } from '../wire/job-frame-type.js';
import { sliceByBytes } from '../wire/slice-by-bytes.js';
import type { WireReader } from '../wire/wire-reader.js';
import { wireWriter } from '../wire/wire-writer.js';
import { authenticatedName } from './authenticated-peer.js';
import type { ConnectionSetup } from './connection-setup.js';
import { PeerConnection } from './peer-connection.js';
import { SubmitSpooler } from './submit-spooler.js';

/** Outcomes that are requested from the leader again at a time. */
const REQUESTED_MAX = 256;
/** A peer with more postponed outcomes does not read at all. */
const POSTPONED_MAX = 1_048_576;

/**
 * A client of the full dialect, on one connection. The handshake has proved its identity; its own claims do
 * not count.
 */
export class ClientConnection extends PeerConnection<ToClient> {
  /** Unanswered requests by frame: how many are left, and how many bytes each counts. */
  private readonly unanswered: { items: number; readonly bytesEach: number }[] = [];
  /** Stored payloads of submits that have no receipt yet. */
  private readonly storing = new Map<number, StoredPayload>();
  /** Jobs whose outcome had no room: it is requested from the leader again when there is (ADR 0416). */
  private readonly postponed: number[] = [];

  constructor(setup: ConnectionSetup<ToClient>) {
    super(
      setup,
      { heldBack: JobFrameType.Outcomes, onRoom: () => this.requestPostponed() },
      (frame, incoming) => this.divert(frame, incoming),
    );
  }

  override deliver(message: ToClient): void {
    if (message.kind === 'receipts') this.answered(message.items);
    else if (message.kind === 'answer') this.countAnswer();
    if (message.kind === 'outcomes') this.writeOutcomes(message.items);
    else encodeToClient(message, wireWriter(), this.sender.write);
    if (this.postponed.length > 0) this.requestPostponed();
    if (message.kind === 'refused' && message.code === 'ERR_SESSION_MALFORMED') this.connection.close();
  }

  private writeOutcomes(outcomes: readonly JobOutcome[]): void {
    for (const items of sliceByBytes(outcomes, resultBytes)) {
      if (this.sender.isFull) for (const { job } of items) this.postponed.push(job);
      else encodeToClient({ kind: 'outcomes', items }, wireWriter(), this.sender.write);
    }
    if (this.postponed.length > POSTPONED_MAX) this.connection.destroy({ kind: 'slow-reader' });
  }

  private requestPostponed(): void {
    const { port } = this;
    if (this.postponed.length === 0 || this.sender.isFull || port === undefined) return;
    const jobs = this.postponed.splice(0, REQUESTED_MAX);
    this.setup.leader.fromClient({ message: { kind: 'await', jobs }, port });
  }

  private answered(receipts: readonly Receipt[]): void {
    for (const { seq, duplicate, refusal } of receipts) {
      this.countAnswer();
      if (this.storing.size === 0) continue;
      const payload = this.storing.get(seq);
      this.storing.delete(seq);
      // No record names the stored payload. Without any answer it stays until the next start, rather than go
      // too early.
      if (payload !== undefined && (duplicate || refusal !== undefined))
        this.setup.payloads?.release(payload);
    }
  }

  /** A large payload goes to the disk as it arrives. */
  private divert(frame: ReceivedFrame, incoming: IncomingBody): boolean {
    const { payloads } = this.setup;
    const { type } = frame;
    if (type !== JobFrameType.Submit || payloads === undefined) return false;
    new SubmitSpooler(incoming, payloads, {
      whole: (bytes) => this.receiver.receiveWhole(type, bytes),
      gather: (received) => this.receiver.collect(frame, incoming, received),
      malformed: () => this.receiver.refuseMalformed(),
      broken: () => this.connection.close(),
      refused: ({ item }) => this.refuse(item.seq),
      stored: ({ low, item }, payload, bytes) => {
        this.storing.set(item.seq, payload);
        this.submit({ kind: 'submit', low, items: [{ ...item, payload }] }, bytes);
      },
    });
    return true;
  }

  private submit(message: ClientMessage, bytes: number): void {
    if (this.port === undefined) return this.connection.close();
    this.pass(message, bytes, this.port);
  }

  private refuse(seq: number): void {
    const isSlow = this.setup.payloads?.isSlow?.() === true;
    const refusal = {
      code: isSlow ? 'ERR_DISK_SLOW' : 'ERR_DISK_LOW',
      problem: isSlow ? 'the disk answers too slowly' : 'the disk is nearly full',
      retryAfterMs: 1_000,
    } as const;
    const receipt = { seq, jobs: [], lsn: 0, duplicate: false, refusal };
    encodeToClient({ kind: 'receipts', items: [receipt] }, wireWriter(), this.sender.write);
  }

  protected override received(type: number, from: WireReader, bytes: number): void {
    const { leader } = this.setup;
    if (type === JobFrameType.ClientHello) {
      const { client, token } = readClientHello(from);
      const handled = (counted: number): void => this.connection.requestEnded(counted);
      this.port = { ...this.setup.port(), handled };
      const name = authenticatedName(this.connection.handshake, client);
      leader.helloClient({ hello: { client: name, token }, port: this.port });
      return;
    }
    const message = readClient(type, from);
    if (message === undefined) return this.connection.writeError('UNKNOWN_TYPE');
    if (this.port === undefined) throw new MessageMalformedError('no hello before it');
    this.pass(message, bytes, this.port);
  }

  /**
   * Beyond the connection's limits its socket is not read: until answers are durable, or a message without
   * one is handled.
   */
  private pass(message: ClientMessage, bytes: number, port: PeerPort<ToClient>): void {
    const { leader } = this.setup;
    const answers = answersTo(message);
    if (answers === 0) {
      this.connection.requestStarted(bytes);
      return leader.fromClient({ message, port, bytes });
    }
    this.count(answers, bytes);
    leader.fromClient({ message, port });
  }

  private count(items: number, bytes: number): void {
    const bytesEach = bytes / items;
    this.unanswered.push({ items, bytesEach });
    for (let i = 0; i < items; i += 1) this.connection.requestStarted(bytesEach);
  }

  /** Answers come nearly in the order of the requests, and only their sum matters. */
  private countAnswer(): void {
    const first = this.unanswered[0];
    if (first === undefined) return;
    this.connection.requestEnded(first.bytesEach);
    first.items -= 1;
    if (first.items === 0) this.unanswered.shift();
  }
}

function answersTo(message: ClientMessage): number {
  if (message.kind === 'submit') return message.items.length;
  return message.kind === 'submit_all' || message.kind === 'call' ? 1 : 0;
}

function resultBytes({ result }: JobOutcome): number {
  return result?.length ?? 0;
}
