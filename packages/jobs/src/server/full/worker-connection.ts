import { sliceByBytes } from '../../connection/slice-by-bytes.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import { MessageMalformedError } from '../../jobs-error.js';
import type { LostPayload } from '../../protocol/leader-interface.js';
import type {
  Assignment,
  AttemptRef,
  Credit,
  ToWorker,
  WorkerMessage,
} from '../../protocol/worker/worker-messages.js';
import { JobFrameType } from '../../wire/job-frame-type.js';
import type { Emit } from '../../wire/session-codec.js';
import type { WireReader } from '../../wire/wire-reader.js';
import { wireWriter } from '../../wire/wire-writer.js';
import {
  encodeToWorker,
  readHeartbeatHello,
  readLoopBlocked,
  readWorker,
  readWorkerHello,
} from '../../wire/worker/worker-codec.js';
import { authenticatedName } from '../authenticated-peer.js';
import type { Taken } from '../offer-to-leader.js';
import type { SessionSetup } from '../session-setup.js';
import { PeerConnection, type PeerSessionEvents, type PeerSessionRef } from './peer-connection.js';

/** The own messages of the session of a worker. */
export interface WorkerSessionEvents extends PeerSessionEvents {
  /** A stored payload could not be read while it was written. */
  payloadLost(lost: LostPayload): void;
}

export interface WorkerSessionRef extends PeerSessionRef<ToWorker> {
  readonly tell: WorkerSessionEvents;
}

/** A worker of the full dialect, or its heartbeat thread, on one connection. */
export class WorkerConnection extends PeerConnection<ToWorker> {
  private readonly events: WorkerSessionEvents;
  private credit: Credit = { jobs: 0, bytes: 0 };
  private cpu = 0;
  private lagMs = 0;
  private overrun = 0;
  /** The attempt that a stored payload was sent for. */
  private readonly streamed = new WeakMap<StoredPayload, AttemptRef>();

  constructor(self: WorkerSessionRef, setup: SessionSetup) {
    super(self, setup, {
      open: setup.payloads?.open,
      onLost: (payload, error) => this.lost(payload, error),
    });
    this.events = self.tell;
  }

  payloadLost(lost: LostPayload): Taken {
    const { port } = this;
    return port === undefined ? undefined : this.setup.leader.payloadLost({ ...lost, port });
  }

  protected override write(message: ToWorker): void {
    if (message.kind === 'assign') return this.assign(message.items);
    this.outbound.write(message);
    if (message.kind === 'refused') this.connection.close();
  }

  protected override encode(message: ToWorker, emit: Emit): void {
    encodeToWorker(message, wireWriter(), emit);
  }

  protected override received(type: number, from: WireReader): Taken {
    const { leader } = this.setup;
    const { handshake } = this.connection;
    if (type === JobFrameType.WorkerHello) {
      const hello = readWorkerHello(from);
      this.credit = hello.credit;
      const worker = authenticatedName(handshake, hello.worker);
      return this.openPort((port) => leader.helloWorker({ hello: { ...hello, worker }, port }));
    }
    if (type === JobFrameType.HeartbeatHello) {
      const hello = readHeartbeatHello(from);
      const worker = authenticatedName(handshake, hello.worker);
      return this.openPort((port) => leader.helloHeartbeat({ hello: { ...hello, worker }, port }));
    }
    if (type === JobFrameType.LoopBlocked && this.port !== undefined)
      return leader.fromHeartbeat({ report: readLoopBlocked(from), port: this.port });
    return this.receivedMessage(type, from);
  }

  private receivedMessage(type: number, from: WireReader): Taken {
    const frame = readWorker(type, from);
    if (frame === undefined) {
      this.reader.refuseUnknown();
      return undefined;
    }
    const { port } = this;
    if (port === undefined) throw new MessageMalformedError('no hello before it');
    if (frame.kind === 'report') this.noteReport(frame);
    if (frame.kind !== 'ends') return this.setup.leader.fromWorker({ message: frame, port });
    // Ends in pieces may arrive after later reports: they say nothing about credit.
    const { credit, cpu, lagMs, overrun } = this;
    const message = { kind: 'report', ends: frame.ends, credit, cpu, lagMs, overrun } as const;
    return this.setup.leader.fromWorker({ message, port });
  }

  private noteReport(report: WorkerMessage & { readonly kind: 'report' }): void {
    this.credit = report.credit;
    this.cpu = report.cpu;
    this.lagMs = report.lagMs;
    this.overrun = report.overrun ?? 0;
  }

  private assign(all: readonly Assignment[]): void {
    for (const item of all) {
      if (item.payload instanceof StoredPayload) this.streamed.set(item.payload, item);
    }
    for (const items of sliceByBytes(all, bytesInMemory)) this.outbound.write({ kind: 'assign', items });
  }

  private lost(payload: StoredPayload, error: Error): void {
    const attempt = this.streamed.get(payload);
    if (attempt === undefined || this.isOver) return;
    this.events.payloadLost({ job: attempt.job, attempt: attempt.attempt, problem: error.message });
  }
}

/** A stored payload is read while it is sent. */
function bytesInMemory({ payload }: Assignment): number {
  return payload instanceof StoredPayload ? 0 : payload.length;
}
