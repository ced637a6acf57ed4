import type { AdminAnswer, JobView } from '#src/protocol/client/admin-messages.js';
import type { ClientMessage, Receipt, ToClient } from '#src/protocol/client/client-messages.js';
import type { ToWorker, WorkerMessage } from '#src/protocol/worker/worker-messages.js';
import type { ObservedHistory } from './history-checker.js';
import type { RecordModel } from './record-model.js';

/** One peer of a leader, over one connection. */
export interface ObservedConnection {
  /** The peer's machine and its incarnation. */
  readonly name: string;
  /** The identity that the peer has proved; empty without keys. */
  readonly identity: string;
  readonly creditMax: number;
  /** Attempts that went to a worker here, less those it has reported as ended. */
  attempts: number;
}

/** The leader that a message comes from, at that moment. */
export interface ObservedLeader {
  readonly recordTime: number;
  /** Another leader has opened the log since. */
  readonly isFenced: boolean;
}

export interface SubmitBounds {
  readonly jobsMax: number;
  readonly jobsPerIdentityMax: number;
  readonly deadMax: number;
  readonly keysPerIdentityMax: number;
}

/** Rules about single messages, checked as they leave or reach a leader. */
export class MessageObserver {
  private readonly history: ObservedHistory;
  private readonly records: RecordModel;
  private readonly bounds: SubmitBounds;
  private readonly now: () => number;
  private readonly problem: (text: string) => void;
  /** Submits without an answer, by the identity of their client. */
  private readonly unanswered: (identity: string | undefined) => number;
  private readonly acknowledged = new Set<string>();
  /** The jobs whose outcome a client wants, by client. */
  private readonly wanted = new Map<string, Set<number>>();
  /** The exec of each definition, and the submits that are not answered, by client. */
  private readonly execs = new Map<string, string>();
  private readonly submitted = new Map<string, { exec: string; key: string; wantsOutcome: boolean }>();

  constructor(options: {
    readonly history: ObservedHistory;
    readonly records: RecordModel;
    readonly bounds: SubmitBounds;
    readonly now: () => number;
    readonly unanswered: (identity: string | undefined) => number;
    readonly problem: (text: string) => void;
  }) {
    this.history = options.history;
    this.records = options.records;
    this.bounds = options.bounds;
    this.now = options.now;
    this.unanswered = options.unanswered;
    this.problem = options.problem;
  }

  /** A message reaches a leader. */
  received(message: ClientMessage | WorkerMessage, connection: ObservedConnection): void {
    const { name } = connection;
    switch (message.kind) {
      case 'report':
        connection.attempts -= message.ends.length;
        return;
      case 'define':
        if ('exec' in message.policy) this.execs.set(`${name} ${message.ref}`, message.policy.exec);
        return;
      case 'await':
        for (const job of message.jobs) this.want(name, job);
        return;
      case 'submit':
      case 'submit_all':
        for (const { ref, key, seq, wantsOutcome } of message.items) {
          const exec = this.execs.get(`${name} ${ref}`) ?? '';
          const of = message.kind === 'submit' ? seq : message.seq;
          this.submitted.set(`${name} ${of}`, { exec, key, wantsOutcome });
        }
        return;
      default:
        return;
    }
  }

  /** A message leaves a leader. */
  sent(message: ToWorker | ToClient, connection: ObservedConnection, leader: ObservedLeader): void {
    if (leader.isFenced) this.problem(`a leader answers (${message.kind}) after another has opened its log`);
    switch (message.kind) {
      case 'assign':
        connection.attempts += message.items.length;
        if (connection.attempts > connection.creditMax)
          this.problem(
            `${connection.name} has ${connection.attempts} attempts, ${connection.creditMax} allowed`,
          );
        for (const { job, attempt } of message.items) this.history.assigned(job, attempt, this.now());
        return;
      case 'acknowledged':
        for (const { job, attempt, count } of message.items)
          for (let i = 0; i < count; i += 1) this.endAcknowledged(job + i, attempt);
        return;
      case 'stale':
        for (const { job, attempt } of message.items) this.endRefused(job, attempt);
        return;
      case 'receipts':
        for (const receipt of message.items) this.receipt(receipt, connection);
        return;
      case 'outcomes':
        for (const { job, state } of message.items) {
          if (this.wanted.get(connection.name)?.has(job) !== true)
            this.problem(`${connection.name} gets the outcome of job ${job}, which it does not want`);
          if (state === 'unknown') this.calledUnknown(job);
        }
        return;
      case 'answer':
        return this.answer(message.answer, leader);
      default:
        return;
    }
  }

  /** Once: an end that is reported again, or too late, is stale. */
  private endAcknowledged(job: number, attempt: number): void {
    const name = `${job}.${attempt}`;
    if (this.acknowledged.has(name)) this.problem(`the end of attempt ${name} is acknowledged twice`);
    this.acknowledged.add(name);
    if (this.isRunning(job, attempt)) this.problem(`attempt ${name} is running, its end is acknowledged`);
  }

  private endRefused(job: number, attempt: number): void {
    if (this.isRunning(job, attempt)) this.problem(`attempt ${job}.${attempt} is running, its end is stale`);
  }

  private isRunning(job: number, attempt: number): boolean {
    const model = this.records.jobs.get(job);
    return model?.state === 'running' && model.attempt === attempt;
  }

  private receipt({ seq, jobs, refusal }: Receipt, { name, identity }: ObservedConnection): void {
    const submit = this.submitted.get(`${name} ${seq}`);
    if (submit?.wantsOutcome === true) for (const job of jobs) this.want(name, job);
    if (refusal === undefined) return;
    this.history.refused(name, seq);
    const { records, bounds } = this;
    const open = this.unanswered(identity);
    const isJustified =
      refusal.code === 'ERR_QUEUE_FULL'
        ? records.liveOf(undefined) + this.unanswered(undefined) >= bounds.jobsMax ||
          records.liveOf(identity) + open >= bounds.jobsPerIdentityMax
        : refusal.code === 'ERR_DEAD_LETTERS_FULL'
          ? records.deadOf(identity, submit?.exec ?? '') > 0 && records.deadCount >= bounds.deadMax
          : refusal.code === 'ERR_KEY_WINDOW_FULL'
            ? records.keysOf(identity) + open >= bounds.keysPerIdentityMax
            : true;
    if (!isJustified) this.problem(`a submit of ${name} (${submit?.exec}) is refused: ${refusal.problem}`);
  }

  private answer(answer: AdminAnswer, leader: ObservedLeader): void {
    if (answer.kind === 'unknown') this.calledUnknown(answer.job);
    else if (answer.kind === 'job') this.shown(answer.view, leader);
    else if (answer.kind === 'jobs') for (const view of answer.views) this.shown(view, leader);
  }

  private calledUnknown(job: number): void {
    const state = this.records.jobs.get(job)?.state;
    if (state === 'queued' || state === 'running')
      this.problem(`job ${job} is called unknown, it is ${state}`);
  }

  /** A job whose time is over is gone for every reader. */
  private shown({ job, endedAt, state }: JobView, { recordTime }: ObservedLeader): void {
    const keep = this.records.jobs.get(job)?.policy.keep;
    if (endedAt === 0 || keep === undefined) return;
    const overMs = recordTime - endedAt - (state === 'dead' ? keep.deadMs : keep.doneMs);
    if (overMs >= 0) this.problem(`job ${job} is shown ${overMs} ms after its time was over`);
  }

  private want(client: string, job: number): void {
    const jobs = this.wanted.get(client) ?? new Set();
    this.wanted.set(client, jobs.add(job));
  }
}
