// Hot path: one frame carries a whole batch; `countAnswer` runs once per receipt.
import { type IncomingBody, ReceivedFrame } from '@troupe/transport';
import { sliceByBytes } from '../../connection/slice-by-bytes.js';
import type { StoredPayload } from '../../job/payload/stored-payload.js';
import { MessageMalformedError } from '../../jobs-error.js';
import type { ClientMessage, JobOutcome, Receipt, ToClient } from '../../protocol/client/client-messages.js';
import type { PeerPort } from '../../protocol/leader-interface.js';
import {
  encodeToClient,
  readClient,
  readClientHello,
  type SubmitHead,
  type UnsupportedCall,
} from '../../wire/client/client-codec.js';
import { JobFrameType } from '../../wire/job-frame-type.js';
import type { Emit } from '../../wire/session-codec.js';
import type { WireReader } from '../../wire/wire-reader.js';
import { wireWriter } from '../../wire/wire-writer.js';
import { authenticatedName } from '../authenticated-peer.js';
import type { Taken } from '../offer-to-leader.js';
import type { SessionSetup } from '../session-setup.js';
import { PeerConnection, type PeerSessionEvents, type PeerSessionRef } from './peer-connection.js';
import { SubmitSpooler } from './submit-spooler.js';

/** Calls of one client at the leader at once: their answers may be long lists, and only they hold these. */
const CALLS_MAX = 16;

/** A submit whose payload is on the disk. */
export interface StoredSubmit {
  readonly head: SubmitHead;
  readonly payload: StoredPayload;
  readonly bytes: number;
}

/** The own messages of the session of a client. */
export interface ClientSessionEvents extends PeerSessionEvents {
  payloadStored(stored: StoredSubmit): void;
  /** The disk takes no payload now. */
  payloadRefused(seq: number): void;
}

export interface ClientSessionRef extends PeerSessionRef<ToClient> {
  readonly tell: ClientSessionEvents;
}

/**
 * A client of the full dialect, on one connection. The handshake has proved its identity; its own claims do
 * not count.
 */
export class ClientConnection extends PeerConnection<ToClient> {
  private readonly events: ClientSessionEvents;
  /** Unanswered requests by frame: how many are left, and how many bytes each counts. */
  private readonly unanswered: { items: number; readonly bytesEach: number }[] = [];
  private unansweredCalls = 0;
  /** Stored payloads of submits that have no receipt yet. */
  private readonly storing = new Map<number, StoredPayload>();

  constructor(self: ClientSessionRef, setup: SessionSetup) {
    super(self, setup, {}, (frame, incoming) => this.divert(frame, incoming));
    this.events = self.tell;
  }

  payloadStored({ head: { low, item }, payload, bytes }: StoredSubmit): Taken {
    const { port } = this;
    if (port === undefined) {
      this.connection.close();
      return undefined;
    }
    this.storing.set(item.seq, payload);
    return this.pass({ kind: 'submit', low, items: [{ ...item, payload }] }, bytes, port);
  }

  payloadRefused(seq: number): void {
    const isSlow = this.setup.payloads?.isSlow?.() === true;
    const refusal = {
      code: isSlow ? 'ERR_DISK_SLOW' : 'ERR_DISK_LOW',
      problem: isSlow ? 'the disk answers too slowly' : 'the disk is nearly full',
      retryAfterMs: 1_000,
    } as const;
    const receipt = { seq, jobs: [], lsn: 0, duplicate: false, refusal };
    this.outbound.write({ kind: 'receipts', items: [receipt] });
  }

  protected override write(message: ToClient): void {
    if (message.kind === 'receipts') this.answered(message.items);
    else if (message.kind === 'answer') this.callAnswered();
    if (message.kind === 'outcomes') this.writeOutcomes(message.items);
    else this.outbound.write(message);
    if (message.kind === 'refused' && message.code !== 'ERR_SESSION_REPLACED') this.connection.close();
  }

  protected override encode(message: ToClient, emit: Emit): void {
    encodeToClient(message, wireWriter(), emit);
  }

  protected override received(type: number, from: WireReader, bytes: number): Taken {
    const { leader } = this.setup;
    if (type === JobFrameType.ClientHello) {
      const hello = readClientHello(from);
      const client = authenticatedName(this.connection.handshake, hello.client);
      return this.openPort((port) => leader.helloClient({ hello: { ...hello, client }, port }));
    }
    const message = readClient(type, from);
    if (message === undefined) {
      this.reader.refuseUnknown();
      return undefined;
    }
    if (this.port === undefined) throw new MessageMalformedError('no hello before it');
    if (message.kind === 'unsupported') return this.answerUnsupported(message);
    return this.pass(message, bytes, this.port);
  }

  private answerUnsupported({ call, problem }: UnsupportedCall): undefined {
    this.outbound.write({ kind: 'answer', call, answer: { kind: 'unsupported', problem } });
    return undefined;
  }

  private writeOutcomes(outcomes: readonly JobOutcome[]): void {
    for (const items of sliceByBytes(outcomes, resultBytes)) this.outbound.write({ kind: 'outcomes', items });
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
    const { type, header } = frame;
    if (type !== JobFrameType.Submit || payloads === undefined) return false;
    new SubmitSpooler(incoming, payloads, {
      whole: (bytes) => this.reader.gather(new ReceivedFrame(type, header, bytes, null, true)),
      gather: (received) => this.reader.gather(frame, received),
      malformed: () => this.reader.refuseMalformed(header.msgId),
      broken: () => this.connection.close(),
      refused: ({ item }) => {
        if (!this.isOver) this.events.payloadRefused(item.seq);
      },
      stored: (head, payload, bytes) => {
        if (!this.isOver) this.events.payloadStored({ head, payload, bytes });
        else payloads.release(payload);
      },
    });
    return true;
  }

  /**
   * Beyond the connection's limits its socket is not read: until answers are durable, or a message without
   * one is handled.
   */
  private pass(message: ClientMessage, bytes: number, port: PeerPort<ToClient>): Taken {
    const { leader } = this.setup;
    const answers = answersTo(message);
    if (answers === 0) {
      this.connection.requestStarted(bytes);
      return leader.fromClient({ message, port, bytes });
    }
    this.count(answers, bytes);
    if (message.kind === 'call') this.unansweredCalls += 1;
    return leader.fromClient({ message, port });
  }

  protected override mayReceive(): boolean {
    return this.unansweredCalls < CALLS_MAX;
  }

  private callAnswered(): void {
    this.unansweredCalls -= 1;
    this.countAnswer();
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
