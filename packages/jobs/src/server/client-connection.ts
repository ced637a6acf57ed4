// Hot path: one frame carries a whole batch; `settle` runs once per receipt.
import type {
  CloseReason,
  Connection,
  ConnectionHandler,
  IncomingBody,
  ReceivedFrame,
} from '@troupe/transport';
import type { StoredPayload } from '../job/stored-payload.js';
import type { ClientMessage, JobOutcome, Receipt, ToClient } from '../protocol/client-messages.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { ByteReader } from '../wire/byte-reader.js';
import { encodeToClient, readClient, readClientHello } from '../wire/client-codec.js';
import { JobFrame } from '../wire/job-frame-type.js';
import { MessageMalformedError } from '../wire/remote-error.js';
import { portions } from '../wire/split-by-bytes.js';
import { wireWriter } from '../wire/wire-writer.js';
import { boundName, type PeerSetup } from './connection-setup.js';
import { Inlet } from './frame-receiver.js';
import { Outlet } from './frame-sender.js';
import { LargeSubmit } from './large-submit.js';

/** Outcomes that the leader is asked for again at a time. */
const ASKED_AGAIN_MAX = 256;
/** A peer with more outcomes to come than this does not read at all. */
const BELATED_MAX = 1_048_576;

/** A client of the full dialect, on one connection. Who it is was settled by the handshake, not by what it says (A13). */
export class ClientPeer implements ConnectionHandler {
  private readonly setup: PeerSetup<ToClient>;
  private readonly connection: Connection;
  private readonly inlet: Inlet;
  private readonly outlet: Outlet;
  /** Submits not answered yet, by the frame they came in: how many are left, and what each counts in bytes. */
  private readonly owed: { items: number; readonly bytesEach: number }[] = [];
  /** What is on the disk for a submit that has no answer yet. */
  private readonly storing = new Map<number, StoredPayload>();
  /** Jobs whose outcome there was no room for: the ledger is asked for it again when there is (ADR 0120). */
  private readonly belated: number[] = [];
  private port: PeerPort<ToClient> | undefined = undefined;

  constructor(setup: PeerSetup<ToClient>) {
    this.setup = setup;
    this.connection = setup.connection;
    this.inlet = new Inlet(
      setup.connection,
      setup.bodyBytesMax,
      (type, from, bytes) => this.take(type, from, bytes),
      (type, incoming) => this.divert(type, incoming),
    );
    const { waitingBytesMax, compress } = setup;
    this.outlet = new Outlet(setup.connection, {
      waitingBytesMax,
      heldBack: JobFrame.Outcomes,
      compress,
      onRoom: () => this.askAgain(),
    });
  }

  onFrame(frame: ReceivedFrame): void {
    this.inlet.receive(frame);
  }

  onWritable(): void {
    this.outlet.drained();
  }

  onClose(_reason: CloseReason): void {
    if (this.port !== undefined) this.setup.leader.lost(this.port);
    this.setup.gone();
  }

  /** In the session's actor: a client that does not read holds up nobody but itself (A37). */
  deliver(message: ToClient): void {
    if (message.kind === 'receipts') this.answered(message.items);
    else if (message.kind === 'answer') this.settle();
    if (message.kind === 'outcomes') this.sendOutcomes(message.items);
    else encodeToClient(message, wireWriter(), this.outlet.post);
    if (this.belated.length > 0) this.askAgain();
    if (message.kind === 'refused' && message.code === 'ERR_SESSION_MALFORMED') this.connection.close();
  }

  private sendOutcomes(outcomes: readonly JobOutcome[]): void {
    for (const items of portions(outcomes, resultBytes)) {
      if (this.outlet.isFull) for (const { job } of items) this.belated.push(job);
      else encodeToClient({ kind: 'outcomes', items }, wireWriter(), this.outlet.post);
    }
    if (this.belated.length > BELATED_MAX) this.connection.destroy({ kind: 'slow-reader' });
  }

  private askAgain(): void {
    const { port } = this;
    if (this.belated.length === 0 || this.outlet.isFull || port === undefined) return;
    const jobs = this.belated.splice(0, ASKED_AGAIN_MAX);
    this.setup.leader.fromClient({ message: { kind: 'await', jobs }, port });
  }

  private answered(receipts: readonly Receipt[]): void {
    for (const { seq, duplicate, refusal } of receipts) {
      this.settle();
      if (this.storing.size === 0) continue;
      const payload = this.storing.get(seq);
      this.storing.delete(seq);
      // No record names what was stored for it. Where no answer comes any more it stays until the next start: better than too early.
      if (payload !== undefined && (duplicate || refusal !== undefined))
        this.setup.payloads?.release(payload);
    }
  }

  /** A large payload goes to the disk while it comes. */
  private divert(type: number, incoming: IncomingBody): boolean {
    const { payloads } = this.setup;
    if (type !== JobFrame.Submit || payloads === undefined) return false;
    new LargeSubmit(incoming, payloads, {
      whole: (bytes) => this.inlet.whole(type, bytes),
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
    const refusal = {
      code: 'ERR_DISK_LOW',
      problem: 'the disk is nearly full',
      retryAfterMs: 1_000,
    } as const;
    const receipt = { seq, jobs: [], lsn: 0, duplicate: false, refusal };
    encodeToClient({ kind: 'receipts', items: [receipt] }, wireWriter(), this.outlet.post);
  }

  private take(type: number, from: ByteReader, bytes: number): void {
    const { leader } = this.setup;
    if (type === JobFrame.ClientHello) {
      const { client, token } = readClientHello(from);
      this.port = this.setup.port();
      const name = boundName(this.connection.handshake, client);
      leader.helloClient({ hello: { client: name, token }, port: this.port });
      return;
    }
    const message = readClient(type, from);
    if (message === undefined) return this.connection.writeError('UNKNOWN_TYPE');
    if (this.port === undefined) throw new MessageMalformedError('no hello before it');
    this.pass(message, bytes, this.port);
  }

  /** Past the limits of the connection its socket is not read until enough is durable; what nobody answers, until it is handled (B3). */
  private pass(message: ClientMessage, bytes: number, port: PeerPort<ToClient>): void {
    const { leader } = this.setup;
    const answers = answersTo(message);
    if (answers === 0) this.connection.requestStarted(bytes);
    else this.count(answers, bytes);
    leader.fromClient({ message, port });
    if (answers === 0) leader.run(() => this.connection.requestEnded(bytes));
  }

  private count(items: number, bytes: number): void {
    const bytesEach = bytes / items;
    this.owed.push({ items, bytesEach });
    for (let i = 0; i < items; i += 1) this.connection.requestStarted(bytesEach);
  }

  /** Answers come nearly in the order of the requests, and what matters is the sum. */
  private settle(): void {
    const first = this.owed[0];
    if (first === undefined) return;
    this.connection.requestEnded(first.bytesEach);
    first.items -= 1;
    if (first.items === 0) this.owed.shift();
  }
}

function answersTo(message: ClientMessage): number {
  if (message.kind === 'submit') return message.items.length;
  return message.kind === 'submit_all' || message.kind === 'call' ? 1 : 0;
}

function resultBytes({ result }: JobOutcome): number {
  return result?.length ?? 0;
}
