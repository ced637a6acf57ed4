import { ALL_QUEUES, queueOf } from '../../job/queue-control.js';
import type { JobExplanation, WaitReason } from '../../protocol/client/explain-messages.js';
import type { ExecQueue } from '../dispatch/exec-queue.js';
import type { QueueGate } from '../dispatch/limits/queue-gate.js';
import { tenantOf } from '../dispatch/tenant-lane.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';

type OfKind<Kind extends WaitReason['kind']> = WaitReason & { readonly kind: Kind };

/** Why a job does not run now: every reason that holds, with its numbers. Looks, and changes nothing. */
export class JobExplainer {
  private readonly context: LeaderParts<'draining' | 'fleet' | 'ledger' | 'queues' | 'recordTime'>;

  constructor(context: JobExplainer['context']) {
    this.context = context;
  }

  explain(job: LeaderJob): JobExplanation {
    const { no, state, worker, end } = job;
    if (state !== 'queued')
      return { job: no, state, detail: state === 'running' ? worker : (end?.reason ?? ''), reasons: [] };
    const queue = this.context.queues.queue(job.policy);
    const reasons = [
      ...this.ofItself(job),
      ...this.ofGates(job),
      ...this.ofOrderKey(job),
      ...this.ofTenant(job),
      ...(queue === undefined ? [] : this.ofPlace(job, queue)),
      ...this.ofWorkers(job),
    ];
    const estimateMs = estimate(queue, reasons);
    return { job: no, state, detail: '', reasons, ...(estimateMs === undefined ? {} : { estimateMs }) };
  }

  private *ofItself(job: LeaderJob): Generator<WaitReason> {
    const { recordTime, draining } = this.context;
    if (job.pending) yield { kind: 'being-written' };
    if (job.dueAt > recordTime)
      yield { kind: 'delayed', dueAt: job.dueAt, leftMs: Math.ceil(job.dueAt - recordTime) };
    if (draining) yield { kind: 'leader-draining' };
  }

  private *ofGates({ policy }: LeaderJob): Generator<WaitReason> {
    const { queues, ledger } = this.context;
    for (const queue of [ALL_QUEUES, queueOf(policy)]) {
      const control = ledger.queueControls.get(queue);
      if (control?.mode === 'paused')
        yield { kind: 'paused', queue, since: control.changedAt, by: control.by };
      const gate = queues.gates.of(queue);
      if (gate !== undefined) yield* this.ofGate(gate);
    }
  }

  private *ofGate(gate: QueueGate): Generator<WaitReason> {
    const { recordTime } = this.context;
    const { queue, running, limits } = gate;
    if (!gate.hasRoom) yield { kind: 'running-max', queue, running, max: limits.runningMax ?? 0 };
    const leftMs = gate.rateAt(recordTime) - recordTime;
    if (limits.rate !== undefined && leftMs > 0)
      yield { kind: 'rate', of: 'queue', queue, rate: limits.rate, leftMs };
  }

  private *ofOrderKey(job: LeaderJob): Generator<WaitReason> {
    const { queues, recordTime } = this.context;
    const { policy, client, orderKey } = job;
    const ahead = queues.placeBehindKey(job);
    const gate = ahead < 0 ? undefined : queues.orderGates.gate(policy, tenantOf(client), orderKey);
    if (gate === undefined) return;
    const { holders, rule } = gate;
    if (ahead > 0 || holders.length >= rule.runningMax)
      yield { kind: 'order-key', orderKey, holders: [...holders], max: rule.runningMax, ahead };
    const leftMs = gate.rateAt(recordTime, ahead) - recordTime;
    if (rule.rate !== undefined && leftMs > 0)
      yield { kind: 'rate', of: 'key', queue: rule.queue, rate: rule.rate, leftMs };
  }

  private *ofTenant({ client }: LeaderJob): Generator<WaitReason> {
    const { queues } = this.context;
    const running = queues.quota(client)?.running ?? 0;
    if (running >= queues.runningMax)
      yield { kind: 'tenant-max', tenant: tenantOf(client), running, max: queues.runningMax };
  }

  /** Of a job that is in its lane. */
  private *ofPlace(job: LeaderJob, queue: ExecQueue): Generator<WaitReason> {
    const { client, policy } = job;
    const ofTenant = this.context.queues.placeInLane(job);
    if (ofTenant < 0) return;
    const classes = this.context.queues.classesByLevel;
    const level = classes.find(({ priority }) => priority === policy.priority)?.level ?? policy.priority;
    const higher = new Set(classes.filter((one) => one.level > level).map(({ priority }) => priority));
    let ofHigherPriority = 0;
    for (const other of this.context.queues.queuesOf(ALL_QUEUES))
      if (higher.has(other.priority)) ofHigherPriority += other.size;
    const ofOthers = queue.size - (queue.lanes.get(tenantOf(client))?.size ?? 0);
    if (ofTenant + ofOthers + ofHigherPriority === 0) return;
    yield { kind: 'ahead', ofTenant, ofOthers, ofHigherPriority, priority: policy.priority, level };
  }

  private *ofWorkers({ policy, payload }: LeaderJob): Generator<WaitReason> {
    const { fleet } = this.context;
    const { serveExec, sessions: all } = fleet.eligible(policy);
    const sessions = all.filter(({ isQuiet }) => !isQuiet);
    const quiet = all.length - sessions.length;
    if (sessions.length === 0) {
      const { requires = [], feature = '' } = policy;
      yield { kind: 'no-worker', workers: fleet.sessions.size, serveExec, quiet, requires, feature };
      return;
    }
    if (sessions.some((session) => session.credit > 0 && session.hasRoomFor(policy, payload.length))) return;
    const slots = sessions.reduce((sum, session) => sum + session.slots, 0);
    const running = sessions.reduce((sum, session) => sum + session.leases.length, 0);
    const runner = fleet.busyRunnerOf(policy);
    const ofRunner = runner === undefined ? {} : { runner };
    yield { kind: 'no-credit', eligible: sessions.length, slots, running, ...ofRunner };
  }
}

/** By the starts of late in its queue; by Little's law that is also the time of one attempt. */
function estimate(queue: ExecQueue | undefined, reasons: readonly WaitReason[]): number | undefined {
  const of = <Kind extends WaitReason['kind']>(kind: Kind): OfKind<Kind>[] =>
    reasons.filter((reason): reason is OfKind<Kind> => reason.kind === kind);
  const isStuck = [...of('paused'), ...of('no-worker'), ...of('leader-draining')].length > 0;
  if (isStuck) return undefined;
  const leftMs = [...of('delayed'), ...of('rate')].map((reason) => reason.leftMs);
  const [key] = of('order-key');
  const [place] = of('ahead');
  const { startsPerMs = 0, running = 0, round } = queue ?? {};
  const isHeldUp = reasons.length > leftMs.length;
  if (isHeldUp && startsPerMs === 0) return undefined;
  if (key !== undefined)
    leftMs.push(((key.ahead + key.holders.length) / key.max) * (Math.max(1, running) / startsPerMs));
  if (place !== undefined) {
    const turns = Math.min(place.ofOthers, place.ofTenant * Math.max(0, (round?.size ?? 0) - 1));
    leftMs.push((place.ofTenant + turns + place.ofHigherPriority) / startsPerMs);
  }
  if (isHeldUp) leftMs.push(1 / startsPerMs);
  return Math.ceil(Math.max(0, ...leftMs));
}
