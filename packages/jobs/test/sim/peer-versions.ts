// Clients, workers and leaders of other versions: earlier ones, which do not know all features, optional fields,
// calls and definitions of this one, and later ones, whose frames have optional fields of their own. Each is the
// peer of this version behind a wire that changes its messages into those of the other.
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { AdminRequest } from '#src/protocol/client/admin-messages.js';
import type { ClientHello, ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';
import { JOB_FEATURES, type JobFeature } from '#src/protocol/job-protocol.js';
import type { ToWorker, WorkerHello, WorkerMessage } from '#src/protocol/worker/worker-messages.js';
import {
  encodeClient,
  encodeClientHello,
  encodeToClient,
  readClient,
  readClientHello,
  readToClient,
  type UnsupportedCall,
} from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import type { Emit } from '#src/wire/session-codec.js';
import { WireReader } from '#src/wire/wire-reader.js';
import {
  encodeToWorker,
  encodeWorker,
  encodeWorkerHello,
  readToWorker,
  readWorker,
  readWorkerHello,
} from '#src/wire/worker/worker-codec.js';
import { laterFrame } from '../wire/later-frames.js';

type Report = WorkerMessage & { readonly kind: 'report' };

/** The version of one process. */
export interface PeerVersion {
  readonly features: readonly JobFeature[];
  /** It knows the trace context, an optional field. */
  readonly knowsTrace: boolean;
  /** It adds optional fields that this version does not know. */
  readonly isLater: boolean;
}

const OWN: PeerVersion = { features: JOB_FEATURES, knowsTrace: true, isLater: false };
const VERSIONS: readonly PeerVersion[] = [
  OWN,
  { ...OWN, isLater: true },
  { features: ['streams'], knowsTrace: true, isLater: false },
  { features: [], knowsTrace: false, isLater: false },
];
/** Calls that a leader of an earlier version may not know. */
const LATER_CALLS: readonly AdminRequest['kind'][] = ['list', 'dead-attempts'];

/** The frames of each feature. */
const FRAMES: Readonly<Record<JobFeature, readonly number[]>> = {
  streams: [
    JobFrameType.Chunks,
    JobFrameType.StreamWindows,
    JobFrameType.ReadStream,
    JobFrameType.StreamConsumed,
    JobFrameType.StopStream,
    JobFrameType.StreamItems,
  ],
  feeds: [
    JobFrameType.OpenFeed,
    JobFrameType.Feed,
    JobFrameType.CloseFeed,
    JobFrameType.FeedStates,
    JobFrameType.FedItems,
    JobFrameType.FeedRequests,
  ],
};

interface Frame {
  readonly type: number;
  readonly body: Uint8Array;
}

/** The versions of one run, and the messages between them as frames. */
export class PeerVersions {
  /** All leaders of a run are of one version. */
  readonly leader: PeerVersion;
  private readonly unknownCalls: ReadonlySet<string>;
  private readonly isMixed: boolean;
  private readonly random: () => number;
  private readonly problem: (text: string) => void;

  constructor(random: () => number, problem: (text: string) => void) {
    this.random = random;
    this.problem = problem;
    this.isMixed = random() < 0.5;
    this.leader = this.draw();
    const isEarlier = this.leader.features.length === 0;
    this.unknownCalls = new Set(isEarlier ? LATER_CALLS.filter(() => random() < 0.5) : []);
  }

  /** Of a client or worker, anew at every start of its process. */
  draw(): PeerVersion {
    return this.isMixed ? (VERSIONS[Math.floor(this.random() * VERSIONS.length)] ?? OWN) : OWN;
  }

  /** A worker for all jobs. */
  get own(): PeerVersion {
    return OWN;
  }

  /** A call that the leader of this run answers as unsupported. */
  hasCall(kind: AdminRequest['kind']): boolean {
    return !this.unknownCalls.has(kind);
  }

  clientHello(from: PeerVersion, hello: ClientHello): ClientHello {
    const frames = framesOf(from, (out, emit) =>
      encodeClientHello({ ...hello, features: offerOf(from) }, out, emit),
    );
    return readClientHello(new WireReader((frames[0] as Frame).body)); // one for a hello
  }

  workerHello(from: PeerVersion, hello: WorkerHello): WorkerHello {
    const frames = framesOf(from, (out, emit) =>
      encodeWorkerHello({ ...hello, features: offerOf(from) }, out, emit),
    );
    return readWorkerHello(new WireReader((frames[0] as Frame).body)); // one for a hello
  }

  fromClient(from: PeerVersion, message: ClientMessage): (ClientMessage | UnsupportedCall)[] {
    const sent = this.known(from, this.asUnknown(message));
    const read = this.carry(
      from,
      this.leader,
      'a client',
      (out, emit) => encodeClient(sent, out, emit),
      readClient,
    );
    return read.map((one) => (one.kind === 'unsupported' ? one : this.known(this.leader, one)));
  }

  fromWorker(from: PeerVersion, message: WorkerMessage): WorkerMessage[] {
    const encode = (out: ByteWriter, emit: Emit): void => encodeWorker(message, out, emit);
    const read = this.carry(from, this.leader, 'a worker', encode, readWorker);
    // Ends that are too long for the frame of their report follow it without credit, which is unchanged.
    return read.map((one) => (one.kind === 'ends' ? { ...(message as Report), ends: one.ends } : one));
  }

  toClient(to: PeerVersion, message: ToClient): ToClient[] {
    const sent = message.kind === 'welcome' ? { ...message, features: offerOf(this.leader) } : message;
    const encode = (out: ByteWriter, emit: Emit): void => encodeToClient(sent, out, emit);
    return this.carry(this.leader, to, 'a leader', encode, readToClient);
  }

  toWorker(to: PeerVersion, message: ToWorker): ToWorker[] {
    const sent = message.kind === 'welcome' ? { ...message, features: offerOf(this.leader) } : message;
    const encode = (out: ByteWriter, emit: Emit): void => encodeToWorker(sent, out, emit);
    const read = this.carry(this.leader, to, 'a leader', encode, readToWorker);
    return read.map((one) => (one.kind === 'assign' ? this.assigned(to, one) : one));
  }

  /** A call or a definition of a later version, as this one reads it. */
  private asUnknown(message: ClientMessage): ClientMessage {
    if (message.kind === 'call' && !this.hasCall(message.request.kind))
      return { ...message, request: { kind: `later-${message.request.kind}` } as unknown as AdminRequest };
    if (message.kind !== 'define' || !('exec' in message.policy)) return message;
    const feature = featureOf(message.policy);
    if (feature === undefined || this.leader.features.includes(feature)) return message;
    return { ...message, policy: { ...message.policy, later: true } as typeof message.policy };
  }

  /** Without the optional fields that a version does not know. */
  private known<M extends ClientMessage>(version: PeerVersion, message: M): M {
    if (version.knowsTrace || (message.kind !== 'submit' && message.kind !== 'submit_all')) return message;
    return { ...message, items: message.items.map((item) => ({ ...item, trace: undefined })) };
  }

  private assigned(to: PeerVersion, message: ToWorker & { kind: 'assign' }): ToWorker {
    for (const { job, streaming, isFed } of message.items) {
      if (streaming === true && !to.features.includes('streams'))
        this.problem(`job ${job} streams and is assigned to a worker without streams`);
      if (isFed === true && !to.features.includes('feeds'))
        this.problem(`job ${job} is fed and is assigned to a worker without feeds`);
    }
    if (to.knowsTrace && this.leader.knowsTrace) return message;
    return { ...message, items: message.items.map((item) => ({ ...item, trace: undefined })) };
  }

  private carry<M>(
    from: PeerVersion,
    to: PeerVersion,
    sender: string,
    encode: (out: ByteWriter, emit: Emit) => void,
    read: (type: number, reader: WireReader) => M | undefined,
  ): M[] {
    const messages: M[] = [];
    for (const { type, body } of framesOf(from, encode)) {
      const unknown = JOB_FEATURES.find((one) => FRAMES[one].includes(type) && !to.features.includes(one));
      if (unknown !== undefined) this.problem(`${sender} sends frame ${type} to a peer without ${unknown}`);
      const message = read(type, new WireReader(body));
      if (message === undefined) this.problem(`${sender} sends frame ${type}, which its peer does not read`);
      else messages.push(message);
    }
    return messages;
  }
}

/** A later version names features of its own. */
function offerOf({ features, isLater }: PeerVersion): readonly string[] {
  return isLater ? [...features, 'later'] : features;
}

function featureOf({
  streaming,
  limits,
}: Extract<ClientMessage, { kind: 'define' }>['policy'] & {
  readonly streaming?: unknown;
  readonly limits?: { readonly feedBytesMax?: number | undefined };
}): JobFeature | undefined {
  if (limits?.feedBytesMax !== undefined) return 'feeds';
  return streaming === undefined ? undefined : 'streams';
}

function framesOf({ isLater }: PeerVersion, encode: (out: ByteWriter, emit: Emit) => void): Frame[] {
  const frames: Frame[] = [];
  encode(new ByteWriter(), (type, out) => {
    const body = Uint8Array.from(out.take());
    frames.push({ type, body: isLater ? laterFrame(type, body) : body });
  });
  return frames;
}
