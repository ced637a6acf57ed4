import { isSubjectPattern } from '@troupe/transport';
import { type JobPolicy, policyProblem } from '../../job/definition/job-policy.js';
import type { SessionRefusalCode } from '../../jobs-error.js';
import { isPlainName } from '../../option-check.js';
import type { ClientHello, ClientMessage } from '../../protocol/client/client-messages.js';
import { JOB_FEATURES, JOB_PROTOCOL, type ProtocolOffer } from '../../protocol/job-protocol.js';
import { BATCH_JOBS_MAX } from '../../protocol/worker/run-time-estimate.js';
import type { WorkerHello, WorkerMessage } from '../../protocol/worker/worker-messages.js';
import type { AdminApi } from '../admin/admin-api.js';
import { awaitOutcome } from '../commit/outcome-waiters.js';
import type { AttemptLifecycle } from '../dispatch/attempt-lifecycle.js';
import type { LeaseWatch } from '../dispatch/lease-watch.js';
import type { FeedTable } from '../feeds/feed-table.js';
import type { LeaderParts } from '../leader-context.js';
import { labelProblem } from '../options/label-problem.js';
import type { ProgressTable } from '../progress/progress-table.js';
import { WorkerSteering } from '../steering/worker-steering.js';
import type { StreamTable } from '../streams/stream-table.js';
import { PolicyRegistry } from '../submit/policy-registry.js';
import type { ProducerRegistry } from '../submit/producer-registry.js';
import { RETRY_AFTER_MS, refusal } from '../submit/refusal.js';
import { type ClientPort, ClientSession } from './client-session.js';
import { type WorkerPort, WorkerSession } from './worker-session.js';

const OFFER: ProtocolOffer = { protocol: JOB_PROTOCOL, features: JOB_FEATURES };
const FORBIDDEN_GROUP = refusal('ERR_FORBIDDEN', 'this client may not submit to the group of the job', 0);
const POLICIES_FULL = refusal('ERR_POLICIES_FULL', 'no room for another job definition', RETRY_AFTER_MS);
const SLOTS_MAX = 65_536;
/** Definitions one session may announce. */
const DEFINITIONS_MAX = 4_096;
/** In the hello of one worker. */
const EXECS_MAX = 4_096;
const PATTERNS_MAX = 256;

/** Opens and closes sessions, and handles every message of theirs that is not a submit. */
export class SessionRegistry {
  private readonly context: LeaderParts<
    | 'clock'
    | 'fleet'
    | 'journal'
    | 'labels'
    | 'leaseTime'
    | 'ledger'
    | 'limits'
    | 'markDirty'
    | 'observe'
    | 'recordTime'
    | 'stage'
    | 'times'
  >;
  private readonly attempts: AttemptLifecycle;
  private readonly leaseWatch: LeaseWatch;
  readonly policies: PolicyRegistry;
  /** Open sessions. */
  readonly clients = new Set<ClientSession>();
  private readonly producers: ProducerRegistry;
  private readonly streams: StreamTable;
  private readonly feeds: FeedTable;
  private readonly progress: ProgressTable;
  readonly steering: WorkerSteering;

  constructor(
    context: SessionRegistry['context'],
    attempts: AttemptLifecycle,
    leaseWatch: LeaseWatch,
    producers: ProducerRegistry,
    streams: StreamTable,
    feeds: FeedTable,
    progress: ProgressTable,
  ) {
    this.context = context;
    this.attempts = attempts;
    this.leaseWatch = leaseWatch;
    this.producers = producers;
    this.streams = streams;
    this.feeds = feeds;
    this.progress = progress;
    this.policies = new PolicyRegistry(context);
    this.steering = new WorkerSteering(context, attempts, (session) =>
      this.refuse(session, 'ERR_SESSION_STOPPED', 'an operator has stopped this worker'),
    );
  }

  openClient(hello: ClientHello, port: ClientPort): ClientSession {
    const session = new ClientSession(hello.client, hello.token, port, this.context.recordTime);
    const other = versionProblem(hello);
    if (other !== undefined) {
      this.refuse(session, 'ERR_SESSION_VERSION', other);
      return session;
    }
    if (!isPlainName(hello.client) || !isPlainName(hello.token)) {
      const problem = 'client name and token must be 1 to 128 plain characters';
      this.refuse(session, 'ERR_SESSION_MALFORMED', problem);
      return session;
    }
    this.clients.add(session);
    this.producers.resume(session);
    this.feeds.sessionOpened(session);
    const { outstandingMax, payloadBytesMax } = this.context.limits;
    const { tag } = this.context.ledger;
    const { level } = this.context.journal;
    session.add({ kind: 'welcome', ...OFFER, tag, outstandingMax, payloadBytesMax, level });
    this.context.markDirty(session);
    return session;
  }

  /**
   * A client that was silent for a whole key window has lost its numbering; it must open a new session before
   * it submits.
   */
  isCurrent(session: ClientSession, message: ClientMessage): boolean {
    if (message.kind !== 'submit' && message.kind !== 'submit_all') return true;
    if (this.producers.isCurrent(session)) return true;
    this.producerExpired(session);
    return false;
  }

  producerExpired(session: ClientSession): void {
    // A submit that is accepted must not be submitted again under another number.
    session.writeReceiptsFirst();
    this.refuse(session, 'ERR_SESSION_REPLACED', 'silent for too long, open a new session');
  }

  openWorker(hello: WorkerHello, port: WorkerPort): WorkerSession {
    const { context } = this;
    const session = new WorkerSession(hello, port, context.leaseTime);
    const other = versionProblem(hello);
    if (other !== undefined) {
      this.refuse(session, 'ERR_SESSION_VERSION', other);
      return session;
    }
    const problem = helloProblem(hello) ?? groupProblem(hello, port);
    if (problem !== undefined) {
      this.refuse(session, 'ERR_SESSION_MALFORMED', problem);
      return session;
    }
    const before = context.fleet.sessions.get(session.name);
    if (before?.open === true) this.refuse(before, 'ERR_SESSION_REPLACED', 'the same worker connected again');
    if (before !== undefined) {
      context.fleet.remove(before);
      session.heartbeat = before.heartbeat;
    }
    this.expireOlderIncarnations(session);
    const { heartbeatMs } = context.times;
    session.add({ kind: 'welcome', ...OFFER, tag: context.ledger.tag, heartbeatMs });
    this.attempts.claim(session, before, hello.held);
    this.streams.reclaimed(session, hello.streams ?? []);
    context.fleet.add(session);
    this.steering.refresh(session);
    context.observe?.({ kind: 'worker', worker: session.name, liveness: 'joined' });
    return session;
  }

  /**
   * The same worker in a new process: the attempts of the old process are lost now, not after its grace
   * period.
   */
  private expireOlderIncarnations(session: WorkerSession): void {
    for (const other of this.context.fleet.sessions.values()) {
      if (other.worker !== session.worker || other.name === session.name || other.open) continue;
      other.fromBeforeRestart = false;
      other.isGone = true;
      other.heartbeat = undefined;
      this.leaseWatch.endLeases(other);
    }
  }

  /** Stands for a worker that held leases before the leader's restart. */
  placeholderSession(name: string): WorkerSession {
    const known = this.context.fleet.sessions.get(name);
    if (known !== undefined) return known;
    const tilde = name.lastIndexOf('~');
    const [worker, incarnation] = [name.slice(0, tilde), name.slice(tilde + 1)];
    const nothing = { execs: [], patterns: [], held: [], credit: { jobs: 0, bytes: 0 } };
    const hello = { worker, incarnation, slots: 1, ...nothing };
    const session = new WorkerSession(hello, { offer: () => 'closed' as const }, 0);
    session.closedAt = this.context.leaseTime;
    session.fromBeforeRestart = true;
    this.context.fleet.add(session);
    return session;
  }

  workerLost(session: WorkerSession): void {
    if (!session.open) return;
    session.closedAt = this.context.leaseTime;
    this.context.fleet.refresh(session);
    this.context.observe?.({ kind: 'worker', worker: session.name, liveness: 'lost' });
  }

  clientClosed(session: ClientSession): void {
    session.closed = true;
    this.clients.delete(session);
    this.streams.sessionClosed(session);
    this.feeds.sessionClosed(session);
    this.policies.sessionClosed(session);
  }

  fromClient(session: ClientSession, message: ClientMessage, admin: AdminApi): void {
    switch (message.kind) {
      case 'define':
        return this.define(session, message);
      case 'await':
        for (const job of message.jobs) awaitOutcome(this.context, job, session);
        return;
      case 'call':
        return admin.serve(session, message.call, message.request);
      case 'read_stream':
        return this.streams.read(session, message);
      case 'stream_consumed':
        return this.streams.consumed(session, message.items);
      case 'stop_stream':
        return this.streams.remove(session, message.reader);
      case 'open_feed':
        return this.feeds.open(session, message);
      case 'feed':
        return this.feeds.feed(session, message);
      case 'close_feed':
        return this.feeds.close(session, message.feed);
      case 'heartbeat':
        session.answerHeartbeat();
        return this.context.markDirty(session);
      case 'close':
        this.producers.end(session);
        return this.clientClosed(session);
      default:
        return;
    }
  }

  private define(session: ClientSession, message: ClientMessage & { kind: 'define' }): void {
    const { ref, policy } = message;
    const { policies, refusedDefinitions } = session;
    const isNew = !policies.has(ref) && !refusedDefinitions.has(ref);
    if (isNew && policies.size + refusedDefinitions.size >= DEFINITIONS_MAX)
      return this.refuse(session, 'ERR_SESSION_MALFORMED', `more than ${DEFINITIONS_MAX} job definitions`);
    const problem =
      'problem' in policy
        ? policy.problem
        : (policyProblem(policy) ??
          this.streamProblem(policy) ??
          labelProblem(this.context.labels, policy.requires));
    if ('problem' in policy || problem !== undefined)
      refusedDefinitions.set(ref, refusal('ERR_EXEC_UNSUPPORTED', `this leader cannot: ${problem}`, 0));
    else if (!session.permitsSubmit(policy.group)) refusedDefinitions.set(ref, FORBIDDEN_GROUP);
    else if (!this.policies.define(session, ref, policy)) refusedDefinitions.set(ref, POLICIES_FULL);
    else refusedDefinitions.delete(ref);
  }

  private streamProblem({ stream }: JobPolicy): string | undefined {
    const isImpossible = stream?.durable === true && !this.streams.hasSpill;
    return isImpossible ? 'stream.durable without files for chunks' : undefined;
  }

  fromWorker(session: WorkerSession, message: WorkerMessage): void {
    switch (message.kind) {
      case 'report': {
        const { credit, ends } = message;
        if (!isCreditValid(session, credit) || !session.runnersReported(message.runners ?? [])) {
          const problem = `credit of ${credit.jobs} jobs, ${credit.bytes} bytes, or of a runner`;
          this.refuse(session, 'ERR_SESSION_MALFORMED', problem);
          return;
        }
        if (message.progress !== undefined) this.progress.take(session, message.progress);
        for (const end of ends) this.attempts.report(session, end);
        session.cpu = clampShare(message.cpu);
        session.lagMs = Math.max(0, message.lagMs) || 0;
        session.reportedOverrun = message.overrun ?? 0;
        session.attemptsEnded(ends, message.runMs);
        // Totals only rise: a report that was overtaken changes nothing (ADR 0403).
        session.granted = Math.max(session.granted, credit.jobs);
        session.grantedBytes = Math.max(session.grantedBytes, credit.bytes);
        if (ends.length === 0) {
          session.answerHeartbeat();
          this.context.markDirty(session);
        }
        break;
      }
      case 'chunks':
        return this.streams.take(session, message.items);
      case 'feed_requests':
        return this.feeds.requested(session, message.items);
      case 'drain':
        session.draining = true;
        this.context.markDirty(session);
        break;
      default:
        message satisfies never;
    }
    this.context.fleet.refresh(session);
  }

  /** The refusal leaves with the turn, after answers of before; receipts, outcomes and assignments do not. */
  private refuse(session: ClientSession | WorkerSession, code: SessionRefusalCode, problem: string): void {
    session.add({ kind: 'refused', code, problem });
    if (session.kind === 'client') this.clientClosed(session);
    else this.workerLost(session);
    this.context.markDirty(session);
  }
}

function versionProblem({ protocol = JOB_PROTOCOL }: ProtocolOffer): string | undefined {
  return protocol === JOB_PROTOCOL
    ? undefined
    : `job protocol ${protocol}; this leader has version ${JOB_PROTOCOL}`;
}

/** The totals may not grant more than the worker's slots and one batch beyond (ADR 0410). */
function isCreditValid(session: WorkerSession, { jobs, bytes }: { jobs: number; bytes: number }): boolean {
  const areWhole = Number.isSafeInteger(jobs) && Number.isSafeInteger(bytes);
  return areWhole && jobs >= 0 && bytes >= 0 && jobs - session.spent <= session.slots + BATCH_JOBS_MAX;
}

function helloProblem(hello: WorkerHello): string | undefined {
  if (!isPlainName(hello.worker) || !isPlainName(hello.incarnation))
    return 'worker and incarnation must be plain names';
  if (hello.execs.length > EXECS_MAX || hello.patterns.length > PATTERNS_MAX)
    return `${hello.execs.length} execs and ${hello.patterns.length} patterns, at most ${EXECS_MAX} and ${PATTERNS_MAX}`;
  if (!Number.isInteger(hello.slots) || hello.slots < 1 || hello.slots > SLOTS_MAX)
    return `${hello.slots} slots`;
  const { jobs, bytes } = hello.credit;
  if (!Number.isSafeInteger(jobs) || jobs < 0 || jobs > hello.slots + BATCH_JOBS_MAX)
    return `credit of ${jobs} jobs, ${hello.slots} slots`;
  if (!Number.isSafeInteger(bytes) || bytes < 0) return `credit of ${bytes} bytes`;
  const { runners = [] } = hello;
  if (runners.length > EXECS_MAX || runners.some(({ granted, size }) => granted > size))
    return `${runners.length} runners, or one with more credit than instances`;
  const bad = hello.patterns.find((pattern) => !isSubjectPattern(pattern));
  return bad === undefined ? undefined : `'${bad}' is not a subject pattern`;
}

/**
 * A rule allows groups. An exec without its group would be taken from every group that the rule allows, also
 * from a client that has no right to submit to the group the exec was meant for.
 */
function groupProblem({ execs }: WorkerHello, { access }: WorkerPort): string | undefined {
  const bare = access === undefined ? undefined : execs.find((exec) => !exec.includes('/'));
  return bare === undefined
    ? undefined
    : `exec '${bare}' without its group; a worker with a key names group/exec`;
}

/** A share from 0 to 1, whatever the worker reported. */
function clampShare(value: number): number {
  return Math.min(1, Math.max(0, value || 0));
}
