import type { CloseReason, Connection, ConnectionHandler, ReceivedFrame } from '@troupe/transport';
import { StoredPayload } from '../job/stored-payload.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { Assignment, AttemptRef, Credit, ToWorker } from '../protocol/worker-messages.js';
import type { ByteReader } from '../wire/byte-reader.js';
import { JobFrame } from '../wire/job-frame-type.js';
import { MessageMalformedError } from '../wire/remote-error.js';
import { portions } from '../wire/split-by-bytes.js';
import { wireWriter } from '../wire/wire-writer.js';
import {
  encodeToWorker,
  readPulse,
  readPulseHello,
  readWorker,
  readWorkerHello,
} from '../wire/worker-codec.js';
import { Backlog } from './backlog.js';
import { boundName, type PeerSetup } from './connection-setup.js';
import { Inlet } from './frame-receiver.js';
import { Outlet } from './frame-sender.js';

/** A worker of the full dialect, or its pulse, on one connection. */
export class WorkerPeer implements ConnectionHandler {
  private readonly setup: PeerSetup<ToWorker>;
  private readonly connection: Connection;
  private readonly inlet: Inlet;
  private readonly outlet: Outlet;
  /** As much as its credit allows: what is in it is running, and so in the ledger. */
  private readonly backlog: Backlog<ToWorker>;
  private port: PeerPort<ToWorker> | undefined = undefined;
  private credit: Credit = { jobs: 0, bytes: 0 };
  private cpu = 0;
  private lagMs = 0;
  /** Which attempt a payload on the disk was sent for. */
  private readonly streamed = new WeakMap<StoredPayload, AttemptRef>();

  constructor(setup: PeerSetup<ToWorker>) {
    this.setup = setup;
    this.connection = setup.connection;
    this.inlet = new Inlet(setup.connection, setup.bodyBytesMax, (type, from) => this.take(type, from));
    const { waitingBytesMax, compress, payloads } = setup;
    this.outlet = new Outlet(setup.connection, {
      waitingBytesMax,
      heldBack: JobFrame.Assign,
      compress,
      open: payloads?.open,
      onLost: (payload, error) => this.payloadLost(payload, error),
      onRoom: () => this.backlog.drain(),
    });
    this.backlog = new Backlog(
      () => !this.outlet.isFull,
      (message) => encodeToWorker(message, wireWriter(), this.outlet.post),
    );
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

  deliver(message: ToWorker): void {
    if (message.kind === 'assign') return this.assign(message.items);
    this.backlog.add(message);
    if (message.kind === 'refused') this.connection.close();
  }

  private assign(all: readonly Assignment[]): void {
    for (const items of portions(all, heldBytes)) this.backlog.add({ kind: 'assign', items });
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

  private take(type: number, from: ByteReader): void {
    const { leader } = this.setup;
    if (type === JobFrame.WorkerHello) {
      const hello = readWorkerHello(from);
      this.port = this.setup.port();
      this.credit = hello.credit;
      const worker = boundName(this.connection.handshake, hello.worker);
      leader.helloWorker({ hello: { ...hello, worker }, port: this.port });
      return;
    }
    if (type === JobFrame.PulseHello) {
      const hello = readPulseHello(from);
      this.port = this.setup.port();
      const worker = boundName(this.connection.handshake, hello.worker);
      leader.helloPulse({ hello: { ...hello, worker }, port: this.port });
      return;
    }
    if (type === JobFrame.Pulse && this.port !== undefined)
      return leader.fromPulse({ beat: readPulse(from), port: this.port });
    const frame = readWorker(type, from);
    if (frame === undefined) return this.connection.writeError('UNKNOWN_TYPE');
    const { port } = this;
    if (port === undefined) throw new MessageMalformedError('no hello before it');
    if (frame.kind === 'quiet') return leader.fromWorker({ message: frame, port });
    if (frame.kind === 'report') {
      this.credit = frame.credit;
      this.cpu = frame.cpu;
      this.lagMs = frame.lagMs;
      return leader.fromWorker({ message: frame, port });
    }
    // Ends that came in pieces may arrive behind later reports: they say nothing about credit.
    const { credit, cpu, lagMs } = this;
    leader.fromWorker({ message: { kind: 'report', ends: frame.ends, credit, cpu, lagMs }, port });
  }
}

/** What is on the disk is read while it is sent. */
function heldBytes({ payload }: Assignment): number {
  return payload instanceof StoredPayload ? 0 : payload.length;
}
