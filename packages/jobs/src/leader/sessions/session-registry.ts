import { isSubjectPattern } from '@troupe/transport';
import { policyProblem } from '../../job/job-policy.js';
import type { SessionRefusalCode } from '../../jobs-error.js';
import { isPlainName } from '../../option-check.js';
import type { ClientHello, ClientMessage } from '../../protocol/client-messages.js';
import { BATCH_JOBS_MAX } from '../../protocol/run-time-estimate.js';
import type { WorkerHello, WorkerMessage } from '../../protocol/worker-messages.js';
import type { AdminApi } from '../admin/admin-api.js';
import { awaitOutcome } from '../commit/outcome-waiters.js';
import type { Attempts } from '../dispatch/attempts.js';
import type { LeaseWatch } from '../dispatch/lease-watch.js';
import type { LeaderContext } from '../leader-context.js';
import { PolicyRegistry } from '../submit/policy-registry.js';
import type { ProducerRegistry } from '../submit/producer-registry.js';
import { type ClientPort, ClientSession } from './client-session.js';
import { type WorkerPort, WorkerSession } from './worker-session.js';

const SLOTS_MAX = 65_536;
/** Definitions one session may announce: what it says must not grow here without end. */
const DEFINES_MAX = 4_096;

/** Who comes in, who goes, and everything they say that is not a submit. */
export class SessionRegistry {
  private readonly context: LeaderContext;
  private readonly attempts: Attempts;
  private readonly watch: LeaseWatch;
  readonly policies: PolicyRegistry;
  private readonly producers: ProducerRegistry;

  constructor(context: LeaderContext, attempts: Attempts, watch: LeaseWatch, producers: ProducerRegistry) {
    this.context = context;
    this.attempts = attempts;
    this.watch = watch;
    this.producers = producers;
    this.policies = new PolicyRegistry(context);
  }

  client(hello: ClientHello, port: ClientPort): ClientSession {
    const session = new ClientSession(hello.client, hello.token, port);
    if (!isPlainName(hello.client) || !isPlainName(hello.token)) {
      this.refuse(
        session,
        'ERR_SESSION_MALFORMED',
        'client name and token must be 1 to 128 plain characters',
      );
      return session;
    }
    this.producers.resume(session);
    const { outstandingMax, payloadBytesMax } = this.context.limits;
    session.say({ kind: 'welcome', tag: this.context.ledger.tag, outstandingMax, payloadBytesMax });
    this.context.markDirty(session);
    return session;
  }

  /** A client that was silent for a whole window has lost its numbering; it must say hello again before it submits. */
  current(session: ClientSession, message: ClientMessage): boolean {
    if (message.kind !== 'submit' && message.kind !== 'submit_all') return true;
    if (this.producers.isCurrent(session)) return true;
    this.forgotten(session);
    return false;
  }

  forgotten(session: ClientSession): void {
    this.refuse(session, 'ERR_SESSION_REPLACED', 'silent for too long, say hello again');
  }

  worker(hello: WorkerHello, port: WorkerPort): WorkerSession {
    const { context } = this;
    const session = new WorkerSession(hello, port, context.time);
    const problem = helloProblem(hello);
    if (problem !== undefined) {
      this.refuse(session, 'ERR_SESSION_MALFORMED', problem);
      return session;
    }
    const before = context.fleet.sessions.get(session.name);
    if (before?.open === true) this.refuse(before, 'ERR_SESSION_REPLACED', 'the same worker connected again');
    if (before !== undefined) {
      context.fleet.leave(before);
      session.heartbeat = before.heartbeat;
    }
    this.mournEarlier(session);
    session.say({ kind: 'welcome', tag: context.ledger.tag, heartbeatMs: context.times.heartbeatMs });
    this.attempts.claim(session, before, hello.held);
    context.fleet.join(session);
    context.observe?.({ kind: 'worker', worker: session.name, liveness: 'joined' });
    return session;
  }

  /** The same worker in a new process: what the old process ran is lost now, not after its grace. */
  private mournEarlier(session: WorkerSession): void {
    for (const other of this.context.fleet.sessions.values()) {
      if (other.worker !== session.worker || other.name === session.name || other.open) continue;
      other.inDoubt = false;
      other.forsaken = true;
      other.heartbeat = undefined;
      this.watch.abandon(other);
    }
  }

  /** Stands for a worker that held leases before the leader's restart. */
  ghost(name: string): WorkerSession {
    const known = this.context.fleet.sessions.get(name);
    if (known !== undefined) return known;
    const tilde = name.lastIndexOf('~');
    const [worker, incarnation] = [name.slice(0, tilde), name.slice(tilde + 1)];
    const nothing = { execs: [], patterns: [], held: [], credit: { jobs: 0, bytes: 0 } };
    const session = new WorkerSession(
      { worker, incarnation, slots: 1, ...nothing },
      { write: () => undefined },
      0,
    );
    session.closedAt = this.context.time;
    session.inDoubt = true;
    this.context.fleet.join(session);
    return session;
  }

  lost(session: WorkerSession): void {
    if (!session.open) return;
    session.closedAt = this.context.time;
    this.context.fleet.refresh(session);
    this.context.observe?.({ kind: 'worker', worker: session.name, liveness: 'lost' });
  }

  /** The client's connection is gone. */
  parted(session: ClientSession): void {
    session.closed = true;
    this.policies.parted(session);
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
      case 'heartbeat':
        session.say({ kind: 'heartbeat' });
        return this.context.markDirty(session);
      case 'close':
        this.producers.leave(session);
        return this.parted(session);
      default:
        return;
    }
  }

  private define(session: ClientSession, message: ClientMessage & { kind: 'define' }): void {
    if (session.refs.size + session.forbidden.size >= DEFINES_MAX && !session.refs.has(message.ref)) {
      return this.refuse(session, 'ERR_SESSION_MALFORMED', `more than ${DEFINES_MAX} job definitions`);
    }
    if (!session.maySubmit(message.policy.group)) {
      session.forbidden.add(message.ref);
      return;
    }
    const problem = policyProblem(message.policy);
    if (problem !== undefined) return this.refuse(session, 'ERR_SESSION_MALFORMED', problem);
    if (this.policies.define(session, message.ref, message.policy)) session.unplaced.delete(message.ref);
    else session.unplaced.add(message.ref);
  }

  fromWorker(session: WorkerSession, message: WorkerMessage): void {
    switch (message.kind) {
      case 'report': {
        const { credit } = message;
        if (!creditFits(session, credit)) {
          this.refuse(
            session,
            'ERR_SESSION_MALFORMED',
            `credit of ${credit.jobs} jobs, ${credit.bytes} bytes`,
          );
          return;
        }
        for (const end of message.ends) this.attempts.ended(session, end);
        session.cpu = share(message.cpu);
        session.lagMs = Math.max(0, message.lagMs) || 0;
        session.ended(message.ends.length, message.runMs);
        // Totals only rise: a report that was overtaken changes nothing (ADR 0052).
        session.granted = Math.max(session.granted, credit.jobs);
        session.grantedBytes = Math.max(session.grantedBytes, credit.bytes);
        if (message.ends.length === 0) {
          session.say({ kind: 'heartbeat' });
          this.context.markDirty(session);
        }
        break;
      }
      case 'drain':
        session.quiet = true;
        this.context.markDirty(session);
        break;
      default:
        message satisfies never;
    }
    this.context.fleet.refresh(session);
  }

  private refuse(session: ClientSession | WorkerSession, code: SessionRefusalCode, problem: string): void {
    session.say({ kind: 'refused', code, problem });
    session.flush();
    if (session.kind === 'client') this.parted(session);
    else this.lost(session);
  }
}

/** Totals never promise more than the worker has, and a row beyond (ADR 0138). */
function creditFits(session: WorkerSession, credit: { jobs: number; bytes: number }): boolean {
  const { jobs, bytes } = credit;
  const whole = Number.isSafeInteger(jobs) && Number.isSafeInteger(bytes);
  return whole && jobs >= 0 && bytes >= 0 && jobs - session.spent <= session.slots + BATCH_JOBS_MAX;
}

function helloProblem(hello: WorkerHello): string | undefined {
  if (!isPlainName(hello.worker) || !isPlainName(hello.incarnation))
    return 'worker and incarnation must be plain names';
  if (!Number.isInteger(hello.slots) || hello.slots < 1 || hello.slots > SLOTS_MAX)
    return `${hello.slots} slots`;
  const { jobs, bytes } = hello.credit;
  if (!Number.isSafeInteger(jobs) || jobs < 0 || jobs > hello.slots + BATCH_JOBS_MAX)
    return `credit of ${jobs} jobs, ${hello.slots} slots`;
  if (!Number.isSafeInteger(bytes) || bytes < 0) return `credit of ${bytes} bytes`;
  const bad = hello.patterns.find((pattern) => !isSubjectPattern(pattern));
  return bad === undefined ? undefined : `'${bad}' is not a subject pattern`;
}

/** A share from 0 to 1, whatever was said. */
function share(value: number): number {
  return Math.min(1, Math.max(0, value || 0));
}
