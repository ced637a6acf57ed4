import { policyProblem } from '../../job/definition/job-policy.js';
import { payloadOfText } from '../../job/payload/payload.js';
import type { RequestRefusalCode } from '../../jobs-error.js';
import { requestKey } from '../../ledger/key-window.js';
import type { ScheduleFireRecord } from '../../ledger/ledger-record.js';
import { ruleText } from '../../ledger/schedules/schedule-rule.js';
import type { StoredSchedule } from '../../ledger/schedules/schedule-table.js';
import type { ScheduleTemplate } from '../../ledger/schedules/schedule-template.js';
import { isPlainName } from '../../option-check.js';
import type { AdminAnswer } from '../../protocol/client/admin-messages.js';
import type { ScheduleRequest, ScheduleView } from '../../protocol/client/schedule-messages.js';
import type { LeaderParts } from '../leader-context.js';
import { labelProblem } from '../options/label-problem.js';
import type { ClientSession } from '../sessions/client-session.js';
import { drainingQueue } from '../submit/draining-queue.js';
import { keyQuotaProblem } from '../submit/identity-quota.js';
import type { PolicyRegistry } from '../submit/policy-registry.js';
import { ruleProblem } from './rule-problem.js';
import type { Scheduler } from './scheduler.js';

type SetRequest = ScheduleRequest & { readonly kind: 'schedule-set' };

/** Every schedule has its input in memory. */
const PAYLOAD_BYTES_MAX = 65_536;
const PAGE_SCHEDULES_MAX = 1_000;

/** Requests about schedules. Answers show durable state only. */
export class ScheduleApi {
  private readonly context: LeaderParts<
    | 'diskLow'
    | 'draining'
    | 'labels'
    | 'ledger'
    | 'limits'
    | 'markDirty'
    | 'recordTime'
    | 'stage'
    | 'uncommitted'
    | 'whenApplied'
  >;
  private readonly scheduler: Scheduler;
  private readonly policies: Pick<PolicyRegistry, 'intern'>;

  constructor(
    context: ScheduleApi['context'],
    scheduler: Scheduler,
    policies: Pick<PolicyRegistry, 'intern'>,
  ) {
    this.context = context;
    this.scheduler = scheduler;
    this.policies = policies;
  }

  serve(session: ClientSession, call: number, request: ScheduleRequest): void {
    if (request.kind === 'schedules')
      return this.answer(session, call, {
        kind: 'schedules',
        views: this.list(session, request.after, request.max),
      });
    // Whether it may be changed depends on the record that is on its way.
    if (this.scheduler.isPending(request.name))
      return this.context.whenApplied(() => this.serve(session, call, request));
    if (this.context.draining || this.context.diskLow)
      return this.refuse(
        session,
        call,
        'ERR_LEADER_BUSY',
        'the leader shuts down, or its disk is nearly full',
      );
    if (request.kind === 'schedule-set') return this.set(session, call, request);
    const schedule = this.find(session, request.name);
    if (schedule === undefined && request.kind === 'schedule-drop')
      return this.answer(session, call, { kind: 'count', count: 0 });
    if (schedule === undefined)
      return this.refuse(session, call, 'ERR_SCHEDULE_UNKNOWN', `there is no schedule '${request.name}'`);
    const by = session.authorOf(request);
    switch (request.kind) {
      case 'schedule-drop':
        return this.drop(session, call, schedule, by);
      case 'schedule-pause':
        return this.pause(session, call, schedule, request.paused, by);
      case 'schedule-run':
        return this.run(session, call, schedule, by);
      default:
        return request satisfies never;
    }
  }

  /** A record of this session is applied. */
  answerView(session: ClientSession, call: number, name: string): void {
    const schedule = this.context.ledger.schedules.get(name);
    if (schedule === undefined) return this.answer(session, call, { kind: 'count', count: 1 });
    this.answer(session, call, { kind: 'schedule', view: viewOf(schedule) });
  }

  /** The record is applied; a run by request has a session. */
  fired(record: ScheduleFireRecord, session: ClientSession | undefined, call: number): void {
    this.scheduler.fired(record);
    if (session !== undefined) this.answerView(session, call, record.name);
  }

  private set(session: ClientSession, call: number, request: SetRequest): void {
    const { name, rule } = request;
    const { schedules } = this.context.ledger;
    const problem = this.problemOf(request);
    if (problem !== undefined) return this.refuse(session, call, 'ERR_SCHEDULE_INVALID', problem);
    const known = schedules.get(name);
    const isOwn = known === undefined || this.permits(session, known.template);
    if (!isOwn || !session.permitsSubmit(request.policy.group))
      return this.answer(session, call, {
        kind: 'forbidden',
        needed: `submit on job.submit.${request.policy.group}, and that no other client has its name`,
      });
    if (known === undefined && schedules.size >= this.context.limits.schedulesMax)
      return this.refuse(session, call, 'ERR_SCHEDULES_FULL', `there are ${schedules.size} schedules`);
    const policy = this.policies.intern(request.policy, session.identity);
    if (policy === undefined)
      return this.refuse(session, call, 'ERR_SCHEDULES_FULL', 'no room for another job definition');
    const payload = payloadOfText(request.payload);
    if (known !== undefined && isSame(known, policy.no, payload, rule, session.client))
      return this.answerView(session, call, name);
    const wallAt = this.scheduler.wallNow;
    // An instant that was run before the change is not run again.
    const nextAt = this.scheduler.recurrences.of(rule).nextAfter(Math.max(wallAt, known?.lastAt ?? 0));
    this.scheduler.setPending(name);
    const { recordTime: at } = this.context;
    // Its jobs are jobs of the client; only the act is that of its principal.
    const by = request.principal === undefined ? {} : { by: session.authorOf(request) };
    const fields = { name, client: session.client, policy: policy.no, rule, payload, wallAt, nextAt };
    this.context.stage({ type: 'schedule_set', at, ...fields, ...by }, session, call);
  }

  private problemOf({ name, rule, policy, payload }: SetRequest): string | undefined {
    if (!isPlainName(name)) return 'a name is 1 to 128 letters, digits and _ . : @ / -';
    if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX)
      return `its input has more than ${PAYLOAD_BYTES_MAX} bytes`;
    return (
      ruleProblem(rule, this.scheduler.wallNow) ??
      policyProblem(policy) ??
      labelProblem(this.context.labels, policy.requires)
    );
  }

  private drop(session: ClientSession, call: number, { name }: StoredSchedule, by: string): void {
    this.scheduler.setPending(name);
    const { recordTime: at } = this.context;
    this.context.stage({ type: 'schedule_drop', at, name, by }, session, call);
  }

  /** Instants of the pause are not run later. */
  private pause(
    session: ClientSession,
    call: number,
    schedule: StoredSchedule,
    paused: boolean,
    by: string,
  ): void {
    const { name, lastAt, template } = schedule;
    if ((schedule.paused === 1) === paused) return this.answerView(session, call, name);
    const after = Math.max(this.scheduler.wallNow, lastAt);
    const nextAt = paused ? schedule.nextAt : this.scheduler.recurrences.of(template.rule).nextAfter(after);
    this.scheduler.setPending(name);
    const fields = { name, by, paused, nextAt };
    this.context.stage({ type: 'schedule_pause', at: this.context.recordTime, ...fields }, session, call);
  }

  /** Client and call are its key, which is kept for the window: a request that is repeated is known by it. */
  private run(session: ClientSession, call: number, schedule: StoredSchedule, by: string): void {
    const key = `schedule/${session.token}/${call}`;
    if (this.context.ledger.keys.get(requestKey(session.client, key)) !== undefined)
      return this.answerView(session, call, schedule.name);
    const draining = drainingQueue(this.context, schedule.template.policy);
    if (draining !== undefined)
      return this.refuse(session, call, 'ERR_LEADER_BUSY', `an operator drains queue ${draining}`);
    if (!this.scheduler.hasRoom(schedule))
      return this.refuse(session, call, 'ERR_LEADER_BUSY', 'there is no room for another job');
    const problem = this.keyProblem(session);
    if (problem !== undefined) return this.refuse(session, call, 'ERR_LEADER_BUSY', problem);
    this.scheduler.runNow(schedule, key, session, call, by);
  }

  private keyProblem({ identity }: ClientSession): string | undefined {
    const { ledger, limits, uncommitted } = this.context;
    const keys = ledger.keys.size + uncommitted.keys.size;
    if (keys >= limits.keysMax) return `${keys} idempotency keys are remembered, no room for another`;
    if (identity === undefined) return undefined;
    return keyQuotaProblem(this.context, identity, uncommitted.loadOf(identity))?.problem;
  }

  private list(session: ClientSession, after: string, max: number): ScheduleView[] {
    const { schedules } = this.context.ledger;
    const most = Math.max(1, Math.min(max, PAGE_SCHEDULES_MAX));
    const names = schedules.namesAfter(after, most, (template) => this.permits(session, template));
    return names.map((name) => viewOf(schedules.get(name) as StoredSchedule)); // its name is in the table
  }

  private find(session: ClientSession, name: string): StoredSchedule | undefined {
    const schedule = this.context.ledger.schedules.get(name);
    return schedule !== undefined && this.permits(session, schedule.template) ? schedule : undefined;
  }

  /** A client may see and change its own, and those of groups that it may administer. */
  private permits(session: ClientSession, { client, policy }: ScheduleTemplate): boolean {
    return session.permitsChange(client, policy.group);
  }

  private refuse(session: ClientSession, call: number, code: RequestRefusalCode, problem: string): void {
    this.answer(session, call, { kind: 'refused', code, problem });
  }

  private answer(session: ClientSession, call: number, answer: AdminAnswer): void {
    session.add({ kind: 'answer', call, answer });
    this.context.markDirty(session);
  }
}

function isSame(
  { template }: StoredSchedule,
  policy: number,
  payload: StoredSchedule['template']['payload'],
  rule: StoredSchedule['template']['rule'],
  client: string,
): boolean {
  return (
    template.client === client &&
    template.policy.no === policy &&
    String(template.payload) === String(payload) &&
    ruleText(template.rule) === ruleText(rule)
  );
}

function viewOf({ name, template, ...plan }: StoredSchedule): ScheduleView {
  const { nextAt, lastAt, lastWallAt, lastJob, runs, skipped, held } = plan;
  const { exec, group } = template.policy;
  const { client, rule } = template;
  const paused = plan.paused === 1;
  return {
    name,
    exec,
    group,
    client,
    rule,
    paused,
    nextAt,
    lastAt,
    lastWallAt,
    lastJob,
    runs,
    skipped,
    held,
  };
}
