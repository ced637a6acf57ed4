import {
  type CloseReason,
  type Connection,
  type ConnectionHandler,
  FrameType,
  NO_HEADER,
  type ReceivedFrame,
} from '@troupe/transport';
import { type Payload, payloadBytes, payloadOfBytes, payloadOfText } from '../../job/payload.js';
import type { PeerPort } from '../../protocol/leader-interface.js';
import type { Assignment, AttemptEnd, ToWorker } from '../../protocol/worker-messages.js';
import type { ConnectionSetup } from '../connection-setup.js';
import { OutboundBacklog } from '../outbound-backlog.js';
import type { TimerHost } from './minimal-client-connection.js';
import { MINIMAL_EXEC } from './minimal-job-policy.js';

/** This dialect does not count bytes: one payload is one frame, and only Credit bounds their number. */
const BYTES_UNBOUNDED = 2 ** 52;

/**
 * A worker of the minimal dialect: Credit(n), raw assignments, an ack belongs to the oldest assignment
 * without one. It has no heartbeat, so its leases are renewed here while its connection is open; the run-time
 * limit still ends an attempt that never comes back.
 */
export class MinimalWorkerConnection implements ConnectionHandler {
  private readonly setup: ConnectionSetup<ToWorker>;
  private readonly connection: Connection;
  private readonly timer: TimerHost;
  private readonly port: PeerPort<ToWorker>;
  private readonly slots: number;
  private readonly unacked: Assignment[] = [];
  private readonly backlog: OutboundBacklog<Assignment>;
  private isBehind = false;
  private granted = 0;
  private assigned = 0;
  private heartbeatMs = 0;
  private heartbeat: { cancel(): void } | undefined = undefined;

  constructor(setup: ConnectionSetup<ToWorker>, timer: TimerHost) {
    this.setup = setup;
    this.connection = setup.connection;
    this.timer = timer;
    this.slots = setup.connection.handshake.creditMax;
    this.port = setup.port();
    this.backlog = new OutboundBacklog(
      () => !this.isBehind,
      (assignment) => this.write(assignment),
    );
    const { connectionId: id } = setup.connection.handshake;
    setup.leader.helloWorker({
      hello: {
        worker: `minimal-${id.slice(0, 12)}`,
        incarnation: id,
        execs: [MINIMAL_EXEC],
        patterns: ['job.assign.>'],
        slots: this.slots,
        credit: { jobs: 0, bytes: BYTES_UNBOUNDED },
        held: [],
      },
      port: this.port,
    });
  }

  onFrame(frame: ReceivedFrame): void {
    if (frame.type === FrameType.Credit) return this.credit(frame.body);
    if (frame.type === FrameType.AckJob) return this.ack(frame.body);
    this.connection.close();
  }

  onWritable(): void {
    this.isBehind = false;
    this.backlog.drain();
  }

  onClose(_reason: CloseReason): void {
    this.heartbeat?.cancel();
    this.setup.leader.connectionLost(this.port);
    this.setup.onClosed();
  }

  deliver(message: ToWorker): void {
    switch (message.kind) {
      case 'welcome':
        this.heartbeatMs = message.heartbeatMs;
        return this.report([]);
      case 'assign':
        this.assigned += message.items.length;
        for (const assignment of message.items) this.backlog.add(assignment);
        return;
      case 'refused':
        return this.connection.close();
      case 'acknowledged':
      case 'stale':
      case 'abort':
      case 'heartbeat':
        // The dialect has none of these: a worker whose attempt was taken away still acknowledges it, without
        // effect.
        return;
      default:
        return message satisfies never;
    }
  }

  private write(assignment: Assignment): void {
    this.unacked.push(assignment);
    const sent = this.connection.write(FrameType.AssignJob, NO_HEADER, payloadBytes(assignment.payload));
    this.isBehind = sent === 'backpressure';
    if (sent === 'full' || sent === 'too-large') this.connection.destroy({ kind: 'slow-reader' });
  }

  private credit(body: Buffer): void {
    const jobs = body.length === 0 ? 1 : body.length === 4 ? body.readInt32LE(0) : 0;
    if (jobs < 1 || this.granted + jobs - this.assigned > this.slots) return this.connection.close();
    this.granted += jobs;
    this.report([]);
  }

  private ack(body: Buffer): void {
    const assignment = this.unacked.shift();
    if (assignment === undefined) return this.connection.close();
    const { job, attempt, outputBytes } = assignment;
    if (body.length > outputBytes) {
      const message = `output of ${body.length} bytes, at most ${outputBytes}`;
      return this.report([{ outcome: 'final', job, attempt, failure: { name: 'OutputTooLarge', message } }]);
    }
    this.report([{ outcome: 'ok', job, attempt, result: resultOf(body) }]);
  }

  private report(ends: readonly AttemptEnd[]): void {
    if (this.heartbeatMs === 0) return;
    const credit = { jobs: this.granted, bytes: BYTES_UNBOUNDED };
    const message = { kind: 'report', ends, credit, cpu: 0, lagMs: 0 } as const;
    this.setup.leader.fromWorker({ message, port: this.port });
    this.heartbeat?.cancel();
    this.heartbeat = this.timer.setTimer(this.heartbeatMs, () => this.report([]));
  }
}

/** Results are JSON everywhere else: a body that is none becomes a JSON string. */
function resultOf(body: Buffer): Payload {
  if (body.length === 0) return payloadOfText('null');
  const text = body.toString('utf8');
  try {
    JSON.parse(text);
    return payloadOfBytes(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return payloadOfText(JSON.stringify(text));
  }
}
