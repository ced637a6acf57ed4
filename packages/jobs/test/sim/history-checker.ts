import { payloadText } from '#src/job/payload/payload.js';
import type { Ledger } from '#src/ledger/ledger.js';
import { TOO_LATE } from './control/timed-jobs.js';
import { EXPIRED, type JobModel, type ModelState, type RecordModel } from './record-model.js';

/** One submit as its client saw it. `unknown`: the client crashed before an answer came. */
export interface SubmitOp {
  readonly client: string;
  readonly exec: string;
  readonly payload: string;
  readonly key: string;
  readonly submittedAt: number;
  readonly delayMs: number;
  /** The client's name as its leader knows it: with keys, its identity stands before it. */
  readonly owner: string;
  /** The incarnation of the client: after a crash of its machine it is another. */
  readonly incarnation: number;
  outcome: 'unknown' | 'ok' | 'refused';
  jobs: readonly number[];
  /** The outcome that the client got; dropped: the leader does not know the job any more. */
  seen: 'nothing' | 'done' | 'dead' | 'cancelled' | 'dropped';
  result: unknown;
  cancelAcked: number;
  /** The reasons of its cancels. */
  readonly cancelReasons: string[];
  /** The order of the receipts over all clients. */
  receiptNo: number;
}

interface Run {
  readonly attempt: number;
  readonly worker: string;
  /** The group that the worker has code for. */
  readonly group: string;
  readonly at: number;
}

/** Effects that are correct in this run and would be errors in another. */
export interface Allowances {
  /** Ended jobs may be dropped during the run: short retention, few results, a clock that is set. */
  readonly drops: boolean;
  /** The leader was restarted, perhaps with its clock ahead, so a delay may end early. */
  readonly restarted: boolean;
}

/**
 * Receipts and outcomes of clients, assignments that left the leader, and calls of handlers: all that the
 * checker uses.
 */
export class ObservedHistory {
  readonly submits: SubmitOp[] = [];
  readonly runs = new Map<number, Run[]>();
  /** Attempts whose signal fired with a cancel, and its text. */
  readonly cancelled: { readonly job: number; readonly detail: string }[] = [];
  /** How often a client has called redrive with a job. */
  readonly redriveCalls = new Map<number, number>();
  /** When the first client learned that a job has ended. */
  private readonly endSeenAt = new Map<number, number>();
  private readonly assignedAt = new Map<string, number>();
  private receipts = 0;
  /** The submits that were refused, by client and incarnation. */
  private readonly refusals = new Map<string, Set<number>>();

  submit(
    request: Pick<
      SubmitOp,
      'client' | 'owner' | 'incarnation' | 'exec' | 'payload' | 'key' | 'submittedAt'
    > & {
      delayMs?: number;
    },
  ): SubmitOp {
    const op: SubmitOp = {
      delayMs: 0,
      ...request,
      outcome: 'unknown',
      jobs: [],
      seen: 'nothing',
      result: undefined,
      cancelAcked: 0,
      cancelReasons: [],
      receiptNo: 0,
    };
    this.submits.push(op);
    return op;
  }

  accepted(op: SubmitOp, jobs: readonly number[]): void {
    this.receipts += 1;
    op.outcome = 'ok';
    op.jobs = jobs;
    op.receiptNo = this.receipts;
  }

  /** A refusal leaves the leader. */
  refused(client: string, seq: number): void {
    const known = this.refusals.get(client) ?? new Set();
    this.refusals.set(client, known.add(seq));
  }

  /** A refusal did not reach its client: the submit was made again, behind later ones, and may be accepted. */
  hasLostRefusal(client: string): boolean {
    const refused = this.submits.filter((op) => nameOf(op) === client && op.outcome === 'refused').length;
    return (this.refusals.get(client)?.size ?? 0) > refused;
  }

  redriveCalled(jobs: readonly number[]): void {
    for (const job of jobs) this.redriveCalls.set(job, (this.redriveCalls.get(job) ?? 0) + 1);
  }

  ended(job: number, at: number): void {
    if (!this.endSeenAt.has(job)) this.endSeenAt.set(job, at);
  }

  /** An assignment leaves the leader. The first time counts. */
  assigned(job: number, attempt: number, at: number): void {
    const name = `${job}.${attempt}`;
    if (!this.assignedAt.has(name)) this.assignedAt.set(name, at);
  }

  /**
   * No attempt is assigned once a client knows that its job has ended, and no attempt runs that was not
   * assigned. The rule is about the moment of writing, not of running: an assignment on its way cannot be
   * called back, and its worker may be paused for any time before it reads it. A limit on the time until it
   * runs would be wrong: while a worker is paused its lease may expire and the next attempt may end
   * elsewhere; the old attempt then runs just before the abort behind it is read, and its end is fenced.
   */
  *checkAssignments(records: RecordModel): Generator<string> {
    for (const [name, at] of this.assignedAt) {
      const no = Number.parseInt(name, 10);
      const seenAt = this.endSeenAt.get(no) ?? Number.POSITIVE_INFINITY;
      if (at > seenAt && (records.jobs.get(no)?.redrives ?? 0) === 0)
        yield `attempt ${name} was assigned at ${at}, a client knew of the end of its job at ${seenAt}`;
    }
    for (const [job, runs] of this.runs) {
      const stray = runs.find((run) => !this.assignedAt.has(`${job}.${run.attempt}`));
      if (stray !== undefined) yield `attempt ${job}.${stray.attempt} was run without an assignment`;
    }
  }

  firstAssignedAt(job: number): number {
    return this.assignedAt.get(`${job}.1`) ?? Number.POSITIVE_INFINITY;
  }

  ran(job: number, run: Run): void {
    const runs = this.runs.get(job) ?? [];
    runs.push(run);
    this.runs.set(job, runs);
  }
}

/** Every violation of the guarantees. */
export function* checkHistory(
  history: ObservedHistory,
  records: RecordModel,
  ledger: Ledger,
  allowed: Allowances,
): Generator<string> {
  yield* records.problems;
  yield* checkEnds(history, records, ledger, allowed);
  yield* checkRuns(history, records);
  yield* history.checkAssignments(records);
  yield* checkDuplicates(history, records, ledger);
  yield* checkOrder(history);
  yield* checkRedrives(history, records);
  yield* checkCancelReasons(history, records);
  if (!allowed.restarted) yield* checkDelays(history);
  if (!ledger.balanced) yield 'the counts of the ledger do not add up';
  if (ledger.ended.size > ledger.limits.resultsMax || ledger.resultBytes > ledger.limits.resultsBytesMax)
    yield `${ledger.ended.size} results of ${ledger.resultBytes} bytes are kept`;
}

/** Every acknowledged submit has exactly one end, and it is the one its client saw. */
function* checkEnds(
  history: ObservedHistory,
  records: RecordModel,
  ledger: Ledger,
  allowed: Allowances,
): Generator<string> {
  for (const model of records.jobs.values()) yield* checkEnd(model, ledger, allowed);
  for (const op of history.submits) {
    if (op.outcome !== 'ok') continue;
    for (const no of op.jobs) {
      const model = records.jobs.get(no);
      if (model === undefined) yield `job ${no} was acknowledged and is nowhere on the disk`;
      else yield* checkSeen(op, model, allowed);
      if (model?.state === 'done' && !history.runs.has(no)) yield `job ${no} is done and was never run`;
    }
  }
}

/** Records and ledger agree; a job that the ledger has dropped must have ended. */
function* checkEnd(model: JobModel, ledger: Ledger, allowed: Allowances): Generator<string> {
  const job = ledger.jobs.get(model.no);
  if (!ENDED.includes(model.state)) yield `job ${model.no} is still ${model.state} after all faults ended`;
  if (job === undefined && !allowed.drops && model.state !== 'purged') yield `job ${model.no} is gone`;
  if (job !== undefined && job.state !== model.state)
    yield `job ${model.no} is ${job.state}, by its records ${model.state}`;
  if (job?.state === 'dead' && payloadText(job.payload) !== (model.edited ?? model.payload))
    yield `dead letter ${model.no} has the input ${payloadText(job.payload)}`;
}

const ENDED: readonly ModelState[] = ['done', 'dead', 'cancelled', 'purged'];

function* checkSeen(op: SubmitOp, model: JobModel, allowed: Allowances): Generator<string> {
  const { no, state } = model;
  if (model.purgedAt < op.submittedAt)
    yield `a submit was answered with job ${no}, which had been purged before it`;
  if (op.seen === 'dropped') {
    if (!allowed.drops && state !== 'purged') yield `job ${no} is ${state}, its client got unknown`;
  } else if (
    op.seen !== 'nothing' &&
    op.seen !== (state === 'purged' ? 'dead' : state) &&
    model.redrives === 0
  )
    yield `job ${no} is ${state}, its client saw ${op.seen}`;
  const payload = model.edited === undefined ? op.payload : (JSON.parse(model.edited) as string);
  if (op.seen === 'done' && op.result !== expected({ payload }, model.attempt))
    yield `job ${no}: its client saw the result ${String(op.result)}`;
  if (op.cancelAcked !== 0 && state !== 'cancelled')
    yield `job ${no} is ${state} after an acknowledged cancel`;
  if (model.client !== op.owner && op.key === '') yield `job ${no} of ${op.owner} belongs to ${model.client}`;
}

/**
 * A delay is never shorter than requested, whatever the wall clock does. Record time has whole milliseconds.
 */
function* checkDelays(history: ObservedHistory): Generator<string> {
  for (const { jobs, key, submittedAt, delayMs } of history.submits) {
    if (key !== '' || delayMs === 0) continue;
    for (const no of jobs) {
      const waited = history.firstAssignedAt(no) - submittedAt;
      if (waited <= delayMs - 1) yield `job ${no} was assigned after ${waited} ms, ${delayMs} were requested`;
    }
  }
}

/** The output of every handler. It names the attempt, so that a stale result is visible. */
export function expected(op: Pick<SubmitOp, 'payload'>, attempt: number): string {
  return `did ${op.payload} in attempt ${attempt}`;
}

/**
 * Submits of one client are accepted and answered in their order. A key may lead to an earlier job; a batch
 * is encoded first.
 */
function* checkOrder(history: ObservedHistory): Generator<string> {
  const latest = new Map<string, SubmitOp>();
  for (const op of history.submits) {
    if (op.outcome !== 'ok' || op.key !== '' || op.jobs.length !== 1) continue;
    const client = nameOf(op);
    if (history.hasLostRefusal(client)) continue;
    const before = latest.get(client);
    latest.set(client, op);
    const [earlier = 0] = before?.jobs ?? [];
    const [no = 0] = op.jobs;
    if (no < earlier) yield `${client} submitted job ${earlier} before job ${no}`;
    if (before !== undefined && op.receiptNo < before.receiptNo)
      yield `${client} was answered for job ${no} before job ${earlier}`;
  }
}

function nameOf({ client, incarnation }: SubmitOp): string {
  return `${client}.${incarnation}`;
}

/** A call that is repeated after its answer was lost drives a job once. */
function* checkRedrives(history: ObservedHistory, records: RecordModel): Generator<string> {
  for (const { no, redrives } of records.jobs.values()) {
    const calls = history.redriveCalls.get(no) ?? 0;
    if (redrives > calls) yield `job ${no} was redriven ${redrives} times by ${calls} calls`;
  }
}

/** The reason of a cancel is in the record, and reaches the handler. */
function* checkCancelReasons(history: ObservedHistory, records: RecordModel): Generator<string> {
  const given = new Map<number, string[]>();
  for (const { jobs, cancelReasons } of history.submits)
    for (const no of jobs) given.set(no, [...(given.get(no) ?? []), ...cancelReasons]);
  for (const { no, state, cancelReason } of records.jobs.values())
    if (
      state === 'cancelled' &&
      cancelReason !== EXPIRED &&
      cancelReason !== TOO_LATE &&
      !isReplaced(cancelReason) &&
      given.get(no)?.includes(cancelReason) !== true
    )
      yield `job ${no} was cancelled with the reason '${cancelReason}', which no client gave`;
  for (const { job, detail } of history.cancelled)
    if (!isReplaced(detail) && given.get(job)?.includes(detail) !== true)
      yield `the handler of job ${job} got the reason '${detail}', which no client gave`;
}

function isReplaced(reason: string): boolean {
  return reason.startsWith('replaced by the next run of schedule ');
}

/** No attempt runs twice, or without a record, or on a worker of another group. */
function* checkRuns(history: ObservedHistory, records: RecordModel): Generator<string> {
  for (const [no, runs] of history.runs) {
    const model = records.jobs.get(no);
    const seen = new Set<number>();
    for (const { attempt, worker, group } of runs) {
      if (seen.has(attempt)) yield `job ${no}: attempt ${attempt} was run twice`;
      seen.add(attempt);
      if (model !== undefined && group !== model.policy.group)
        yield `job ${no} of group ${model.policy.group} ran on ${worker}, which has code for ${group}`;
    }
    if (model === undefined) yield `job ${no} was run and is unknown`;
    else if (Math.max(...seen) > model.attempt)
      yield `job ${no}: attempt ${Math.max(...seen)} was run, ${model.attempt} recorded`;
  }
}

/** One job per submit, and none for a refused one. */
function* checkDuplicates(history: ObservedHistory, records: RecordModel, ledger: Ledger): Generator<string> {
  const byJob = new Map<number, SubmitOp>();
  for (const op of history.submits) {
    for (const no of op.jobs) {
      const other = byJob.get(no);
      if (other !== undefined && (op.key === '' || other.key !== op.key))
        yield `job ${no} answers two submits`;
      byJob.set(no, op);
    }
  }
  // Payloads are unique per submit, or per key, which the record model checks. After the window, which may be
  // over for a leader that starts with its clock far ahead, a number or a key that is sent again is a new
  // one.
  const accepted = new Map<string, JobModel[]>();
  let excused = 0;
  for (const model of records.jobs.values()) {
    const before = (accepted.get(model.payload) ?? []).filter((one) => records.isInWindow(one, model));
    excused += (accepted.get(model.payload)?.length ?? 0) - before.length;
    accepted.set(model.payload, [...before, model]);
  }
  for (const op of history.submits) {
    const models = op.key === '' ? (accepted.get(JSON.stringify(op.payload)) ?? []) : [];
    // Nor does a leader know after the window that it refuses a submit it accepted before.
    const times = models.filter(
      (one) => op.outcome !== 'refused' || records.isInWindow(one, { at: ledger.now }),
    ).length;
    excused += models.length - times;
    if (times > mostJobs(op)) yield `submit ${op.payload} (${op.outcome}) was accepted ${times} times`;
  }
  const refused = new Set<string>();
  for (const op of history.submits) if (op.outcome === 'refused') refused.add(JSON.stringify(op.payload));
  for (const model of records.jobs.values())
    if (refused.has(model.payload) && !records.isInWindow(model, { at: ledger.now })) excused += 1;
  const requested = history.submits.reduce((sum, op) => sum + mostJobs(op), 0);
  if (ledger.accepted > requested + excused + records.schedules.jobs)
    yield `${ledger.accepted} jobs were accepted, ${requested} were requested`;
}

/** An unanswered batch may have been accepted as a whole. */
function mostJobs(op: SubmitOp): number {
  if (op.outcome === 'refused') return 0;
  return op.outcome === 'unknown' && op.payload.startsWith('all ') ? 3 : Math.max(1, op.jobs.length);
}
