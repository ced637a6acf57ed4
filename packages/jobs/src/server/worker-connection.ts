import { StoredPayload } from '../job/stored-payload.js';
import { MessageMalformedError } from '../jobs-error.js';
import type { Assignment, AttemptRef, Credit, ToWorker } from '../protocol/worker-messages.js';
import { JobFrameType } from '../wire/job-frame-type.js';
import { sliceByBytes } from '../wire/slice-by-bytes.js';
import type { WireReader } from '../wire/wire-reader.js';
import { wireWriter } from '../wire/wire-writer.js';
import {
  encodeToWorker,
  readHeartbeatHello,
  readLoopBlocked,
  readWorker,
  readWorkerHello,
} from '../wire/worker-codec.js';
import { authenticatedName } from './authenticated-peer.js';
import type { ConnectionSetup } from './connection-setup.js';
import { OutboundBacklog } from './outbound-backlog.js';
import { PeerConnection } from './peer-connection.js';

/** A worker of the full dialect, or its heartbeat thread, on one connection. */
export class WorkerConnection extends PeerConnection<ToWorker> {
  /** Bounded by the worker's credit: its assignments run, so they are in the ledger. */
  private readonly backlog: OutboundBacklog<ToWorker>;
  private credit: Credit = { jobs: 0, bytes: 0 };
  private cpu = 0;
  private lagMs = 0;
  private overrun = 0;
  /** The attempt that a stored payload was sent for. */
  private readonly streamed = new WeakMap<StoredPayload, AttemptRef>();

  constructor(setup: ConnectionSetup<ToWorker>) {
    super(setup, {
      heldBack: JobFrameType.Assign,
      open: setup.payloads?.open,
      onLost: (payload, error) => this.payloadLost(payload, error),
      onRoom: () => this.backlog.drain(),
    });
    this.backlog = new OutboundBacklog(
      () => !this.sender.isFull,
      (message) => encodeToWorker(message, wireWriter(), this.sender.write),
    );
  }

  override deliver(message: ToWorker): void {
    if (message.kind === 'assign') return this.assign(message.items);
    this.backlog.add(message);
    if (message.kind === 'refused') this.connection.close();
  }

  private assign(all: readonly Assignment[]): void {
    for (const items of sliceByBytes(all, bytesInMemory)) this.backlog.add({ kind: 'assign', items });
    for (const item of all) {
      if (item.payload instanceof StoredPayload) this.streamed.set(item.payload, item);
    }
  }

  private payloadLost(payload: StoredPayload, error: Error): void {
    const attempt = this.streamed.get(payload);
    if (attempt === undefined || this.port === undefined) return;
    const { job, attempt: number } = attempt;
    this.setup.leader.payloadLost({ job, attempt: number, problem: error.message, port: this.port });
  }

  protected override received(type: number, from: WireReader): void {
    const { leader } = this.setup;
    if (type === JobFrameType.WorkerHello) {
      const hello = readWorkerHello(from);
      this.port = this.setup.port();
      this.credit = hello.credit;
      const worker = authenticatedName(this.connection.handshake, hello.worker);
      leader.helloWorker({ hello: { ...hello, worker }, port: this.port });
      return;
    }
    if (type === JobFrameType.HeartbeatHello) {
      const hello = readHeartbeatHello(from);
      this.port = this.setup.port();
      const worker = authenticatedName(this.connection.handshake, hello.worker);
      leader.helloHeartbeat({ hello: { ...hello, worker }, port: this.port });
      return;
    }
    if (type === JobFrameType.LoopBlocked && this.port !== undefined)
      return leader.fromHeartbeat({ report: readLoopBlocked(from), port: this.port });
    const frame = readWorker(type, from);
    if (frame === undefined) return this.connection.writeError('UNKNOWN_TYPE');
    const { port } = this;
    if (port === undefined) throw new MessageMalformedError('no hello before it');
    if (frame.kind === 'drain') return leader.fromWorker({ message: frame, port });
    if (frame.kind === 'report') {
      this.credit = frame.credit;
      this.cpu = frame.cpu;
      this.lagMs = frame.lagMs;
      this.overrun = frame.overrun ?? 0;
      return leader.fromWorker({ message: frame, port });
    }
    // Ends in pieces may arrive after later reports: they say nothing about credit.
    const { credit, cpu, lagMs, overrun } = this;
    leader.fromWorker({ message: { kind: 'report', ends: frame.ends, credit, cpu, lagMs, overrun }, port });
  }
}

/** A stored payload is read while it is sent. */
function bytesInMemory({ payload }: Assignment): number {
  return payload instanceof StoredPayload ? 0 : payload.length;
}
