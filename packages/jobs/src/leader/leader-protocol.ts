import type { DurableWrite, LogCondition } from '@troupe/wal';
import type { PayloadStore } from '../job/payload/payload-store.js';
import type { LeaderOverview } from '../protocol/client/admin-messages.js';
import type { ClientMessage } from '../protocol/client/client-messages.js';
import type {
  AnyPort,
  ClientOpened,
  FromClient,
  FromHeartbeat,
  FromWorker,
  HeartbeatOpened,
  LostPayload,
  WorkerOpened,
} from '../protocol/leader-interface.js';
import type { WorkerMessage } from '../protocol/worker/worker-messages.js';
import type { SpillLoaded, SpillWritten } from '../spill/spill.js';
import type { InputRead } from './admin/job-inputs.js';

/** One kind of a client's messages, with its session. */
export type ClientMessageOf<Kind extends ClientMessage['kind']> = FromClient & {
  readonly message: { readonly kind: Kind };
};

export type WorkerMessageOf<Kind extends WorkerMessage['kind']> = FromWorker & {
  readonly message: { readonly kind: Kind };
};

/**
 * The messages of peers, as methods: of `tell` they return nothing, of `offer` whether there was room. The
 * names are those of the wire.
 */
export interface PeerMessages<Result = void> {
  helloClient(opened: ClientOpened): Result;
  define(received: ClientMessageOf<'define'>): Result;
  submit(received: ClientMessageOf<'submit'>): Result;
  submitAll(received: ClientMessageOf<'submit_all'>): Result;
  awaitOutcomes(received: ClientMessageOf<'await'>): Result;
  cancel(received: ClientMessageOf<'call'>): Result;
  inspect(received: ClientMessageOf<'call'>): Result;
  requestInput(received: ClientMessageOf<'call'>): Result;
  findKey(received: ClientMessageOf<'call'>): Result;
  releaseKeys(received: ClientMessageOf<'call'>): Result;
  list(received: ClientMessageOf<'call'>): Result;
  requestOverview(received: ClientMessageOf<'call'>): Result;
  requestActors(received: ClientMessageOf<'call'>): Result;
  redrive(received: ClientMessageOf<'call'>): Result;
  purge(received: ClientMessageOf<'call'>): Result;
  deadAttempts(received: ClientMessageOf<'call'>): Result;
  queues(received: ClientMessageOf<'call'>): Result;
  queueLimits(received: ClientMessageOf<'call'>): Result;
  queueMode(received: ClientMessageOf<'call'>): Result;
  explain(received: ClientMessageOf<'call'>): Result;
  changeSchedule(received: ClientMessageOf<'call'>): Result;
  listSchedules(received: ClientMessageOf<'call'>): Result;
  search(received: ClientMessageOf<'call'>): Result;
  groupDeadLetters(received: ClientMessageOf<'call'>): Result;
  cancelWhere(received: ClientMessageOf<'call'>): Result;
  redriveEdited(received: ClientMessageOf<'call'>): Result;
  listAudit(received: ClientMessageOf<'call'>): Result;
  listClients(received: ClientMessageOf<'call'>): Result;
  requestStats(received: ClientMessageOf<'call'>): Result;
  steerWorker(received: ClientMessageOf<'call'>): Result;
  readStream(received: ClientMessageOf<'read_stream'>): Result;
  streamConsumed(received: ClientMessageOf<'stream_consumed'>): Result;
  stopStream(received: ClientMessageOf<'stop_stream'>): Result;
  openFeed(received: ClientMessageOf<'open_feed'>): Result;
  feed(received: ClientMessageOf<'feed'>): Result;
  closeFeed(received: ClientMessageOf<'close_feed'>): Result;
  clientHeartbeat(received: ClientMessageOf<'heartbeat'>): Result;
  /** The client is closed: its token is never used again. */
  endClient(received: ClientMessageOf<'close'>): Result;
  helloWorker(opened: WorkerOpened): Result;
  report(received: WorkerMessageOf<'report'>): Result;
  chunks(received: WorkerMessageOf<'chunks'>): Result;
  feedRequests(received: WorkerMessageOf<'feed_requests'>): Result;
  drainWorker(received: WorkerMessageOf<'drain'>): Result;
  helloHeartbeat(opened: HeartbeatOpened): Result;
  loopBlocked(received: FromHeartbeat): Result;
  /** The payload of a job that was to be written to a worker is damaged or missing. */
  payloadLost(lost: LostPayload & { readonly port: AnyPort }): Result;
  /** A session that was full has room again. */
  writable(port: AnyPort): Result;
  /** The connection behind a port is lost. */
  connectionLost(port: AnyPort): Result;
}

/** The messages of the leader: those of its peers, those of its effects, and those of its process. */
export interface LeaderProtocol extends PeerMessages {
  turn(): void;
  tick(): void;
  /** The first delayed job is due. */
  due(): void;
  /** The first schedule is due. */
  scheduleDue(): void;
  /** The oldest append at the log is durable, or has failed. */
  durable(written: DurableWrite): void;
  /** The write to the files of streams is done, or has failed. */
  spillWritten(written: SpillWritten): void;
  /** A part of these files is here. */
  spillLoaded(loaded: SpillLoaded): void;
  /** A part of a stored input is here, or cannot be read. */
  inputRead(read: InputRead): void;
  /** The disk is low, slow or well again, or a figure of the log has changed. */
  logChanged(condition: LogCondition): void;
  /** The log has another leader. */
  logLost(error: Error): void;
  overview(): LeaderOverview;
  payloads(): PayloadStore | undefined;
  /** Refuses new work from now on. */
  drain(): void;
  /** Answers once every staged record is durable and the journal is closed. */
  close(): Error | null;
}
