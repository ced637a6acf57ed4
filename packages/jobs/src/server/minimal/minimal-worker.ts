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
import { Backlog } from '../backlog.js';
import type { PeerSetup } from '../connection-setup.js';
import type { MinimalTimer } from './minimal-client.js';
import { MINIMAL_EXEC } from './minimal-job-policy.js';

/** Bytes are not counted in this dialect: one payload is one frame, and only Credit bounds how many there are. */
const BYTES_UNBOUNDED = 2 ** 52;

/**
 * A worker by the original page: Credit(n), raw assignments, an ack belongs to the oldest assignment without one. It cannot beat, so its
 * leases are renewed here for as long as its connection stands; run time still ends an attempt that never comes back.
 */
export class MinimalWorker implements ConnectionHandler {
  private readonly setup: PeerSetup<ToWorker>;
  private readonly connection: Connection;
  private readonly timer: MinimalTimer;
  private readonly port: PeerPort<ToWorker>;
  private readonly slots: number;
  private readonly unacked: Assignment[] = [];
  private readonly backlog: Backlog<Assignment>;
  private isBehind = false;
  private granted = 0;
  private assigned = 0;
  private beatMs = 0;
  private beat: { cancel(): void } | undefined = undefined;

  constructor(setup: PeerSetup<ToWorker>, timer: MinimalTimer) {
    this.setup = setup;
    this.connection = setup.connection;
    this.timer = timer;
    this.slots = setup.connection.handshake.creditMax;
    this.port = setup.port();
    this.backlog = new Backlog(
      () => !this.isBehind,
      (assignment) => this.send(assignment),
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
    this.beat?.cancel();
    this.setup.leader.lost(this.port);
    this.setup.gone();
  }

  deliver(message: ToWorker): void {
    switch (message.kind) {
      case 'welcome':
        this.beatMs = message.beatMs;
        return this.report([]);
      case 'assign':
        this.assigned += message.items.length;
        for (const assignment of message.items) this.backlog.add(assignment);
        return;
      case 'refused':
        return this.connection.close();
      case 'settled':
      case 'abort':
      case 'beat':
        // The page knows no such thing: a worker whose attempt was taken away acknowledges it all the same, and is not believed.
        return;
      default:
        return message satisfies never;
    }
  }

  private send(assignment: Assignment): void {
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
    if (this.beatMs === 0) return;
    const credit = { jobs: this.granted, bytes: BYTES_UNBOUNDED };
    const message = { kind: 'report', ends, credit, cpu: 0, lagMs: 0 } as const;
    this.setup.leader.fromWorker({ message, port: this.port });
    this.beat?.cancel();
    this.beat = this.timer.setTimer(this.beatMs, () => this.report([]));
  }
}

/** Results are JSON everywhere else; what is none is passed on as a text. */
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
