import type { Ledger } from '#src/ledger/ledger.js';
import type { Fate, Life, RecordModel } from './record-model.js';

/** One submit as its client saw it. `unknown`: no answer before the client went away. */
export interface SubmitOp {
  readonly client: string;
  readonly exec: string;
  readonly payload: string;
  readonly key: string;
  readonly askedAt: number;
  readonly delayMs: number;
  /** Which client object asked: after a crash of its machine it is another. */
  readonly life: number;
  outcome: 'unknown' | 'ok' | 'refused';
  jobs: readonly number[];
  /** What the client was told in the end; forgotten: that nobody knows the job any more. */
  seen: 'nothing' | 'done' | 'dead' | 'cancelled' | 'forgotten';
  result: unknown;
  cancelAcked: number;
  /** Counts the answers that clients had. */
  answerNo: number;
}

interface Run {
  readonly attempt: number;
  readonly worker: string;
  /** What the worker has code for. */
  readonly group: string;
  readonly at: number;
}

/** What a run may do that another may not. */
export interface Allowances {
  /** Jobs are dropped during the run: short retention, few results, a clock that is set. */
  readonly forgets: boolean;
  /** The leader was restarted, perhaps with its clock ahead: then a delay may end early. */
  readonly restarted: boolean;
}

/** What clients were told, what left the leader and what handlers saw. The checker knows nothing else of the inside. */
export class ObservedHistory {
  readonly submits: SubmitOp[] = [];
  readonly runs = new Map<number, Run[]>();
  /** When a client first heard that a job is over. */
  private readonly overAt = new Map<number, number>();
  private readonly handed = new Map<string, number>();
  private answers = 0;

  submit(
    asked: Pick<SubmitOp, 'client' | 'life' | 'exec' | 'payload' | 'key' | 'askedAt'> & { delayMs?: number },
  ): SubmitOp {
    const op: SubmitOp = {
      delayMs: 0,
      ...asked,
      outcome: 'unknown',
      jobs: [],
      seen: 'nothing',
      result: undefined,
      cancelAcked: 0,
      answerNo: 0,
    };
    this.submits.push(op);
    return op;
  }

  taken(op: SubmitOp, jobs: readonly number[]): void {
    this.answers += 1;
    op.outcome = 'ok';
    op.jobs = jobs;
    op.answerNo = this.answers;
  }

  over(job: number, at: number): void {
    if (!this.overAt.has(job)) this.overAt.set(job, at);
  }

  /** An assignment leaves the leader. The first time counts. */
  handedOut(job: number, attempt: number, at: number): void {
    const name = `${job}.${attempt}`;
    if (!this.handed.has(name)) this.handed.set(name, at);
  }

  /**
   * I6: nothing is handed out once somebody knows that it is over, and nothing runs that was not handed out. The rule is about
   * the moment of sending, not of running: an assignment on its way cannot be called back, and its worker may stand still for
   * any time before it reads it. (A rule of "not later than a second after the end" was wrong: in seed 1951 of that time worker0
   * was paused twice, from 595 to 1348 and from 1145 to 2017; assignment 12.1 lay before it all the while, its lease ran out, attempt 2
   * ended dead elsewhere at 994, and 12.1 ran at 2017, a moment before the abort behind it was read. Its end was fenced.)
   */
  *handOuts(records: RecordModel): Generator<string> {
    for (const [name, at] of this.handed) {
      const no = Number.parseInt(name, 10);
      const over = this.overAt.get(no) ?? Number.POSITIVE_INFINITY;
      if (at > over && records.lives.get(no)?.redriven !== true)
        yield `attempt ${name} was handed out at ${at}, its job's end was told at ${over}`;
    }
    for (const [job, runs] of this.runs) {
      const stray = runs.find((run) => !this.handed.has(`${job}.${run.attempt}`));
      if (stray !== undefined) yield `attempt ${job}.${stray.attempt} was run, nobody handed it out`;
    }
  }

  firstHandedOut(job: number): number {
    return this.handed.get(`${job}.1`) ?? Number.POSITIVE_INFINITY;
  }

  ran(job: number, run: Run): void {
    const runs = this.runs.get(job) ?? [];
    runs.push(run);
    this.runs.set(job, runs);
  }
}

export function* verdicts(
  history: ObservedHistory,
  records: RecordModel,
  ledger: Ledger,
  leniency: Allowances,
): Generator<string> {
  yield* records.problems;
  yield* fates(history, records, ledger, leniency);
  yield* runsInOrder(history, records);
  yield* history.handOuts(records);
  yield* noDoubles(history, records, ledger);
  yield* submitsInOrder(history);
  if (!leniency.restarted) yield* notEarly(history);
  if (!ledger.balanced) yield 'the counts of the ledger do not add up';
  if (ledger.ended.size > ledger.limits.resultsMax || ledger.resultBytes > ledger.limits.resultsBytesMax)
    yield `${ledger.ended.size} results of ${ledger.resultBytes} bytes are kept`;
}

/** I1, I3: every acknowledged submit has exactly one fate, and it is the one its client saw. */
function* fates(
  history: ObservedHistory,
  records: RecordModel,
  ledger: Ledger,
  leniency: Allowances,
): Generator<string> {
  for (const life of records.lives.values()) yield* oneFate(life, ledger, leniency);
  for (const op of history.submits) {
    if (op.outcome !== 'ok') continue;
    for (const no of op.jobs) {
      const life = records.lives.get(no);
      if (life === undefined) yield `job ${no} was acknowledged and is nowhere on the disk`;
      else yield* asSeen(op, life, leniency);
      if (life?.fate === 'done' && !history.runs.has(no)) yield `job ${no} is done, nobody ran it`;
    }
  }
}

/** What the records say and what the ledger says; a job that it has dropped must have ended. */
function* oneFate(life: Life, ledger: Ledger, leniency: Allowances): Generator<string> {
  const job = ledger.jobs.get(life.no);
  if (!OVER.includes(life.fate)) yield `job ${life.no} is still ${life.fate} after everything healed`;
  if (job === undefined && !leniency.forgets && life.fate !== 'purged') yield `job ${life.no} is gone`;
  if (job !== undefined && job.state !== life.fate)
    yield `job ${life.no} is ${job.state}, by its records ${life.fate}`;
}

const OVER: readonly Fate[] = ['done', 'dead', 'cancelled', 'purged'];

function* asSeen(op: SubmitOp, life: Life, leniency: Allowances): Generator<string> {
  const { no, fate } = life;
  if (life.purgedAt < op.askedAt)
    yield `a submit was answered with job ${no}, which had been purged before it`;
  if (op.seen === 'forgotten') {
    if (!leniency.forgets && fate !== 'purged')
      yield `job ${no} is ${fate}, its client was told it is unknown`;
  } else if (op.seen !== 'nothing' && op.seen !== (fate === 'purged' ? 'dead' : fate) && !life.redriven)
    yield `job ${no} is ${fate}, its client saw ${op.seen}`;
  if (op.seen === 'done' && op.result !== expected(op, life.attempt))
    yield `job ${no}: its client saw the result ${String(op.result)}`;
  if (op.cancelAcked !== 0 && fate !== 'cancelled') yield `job ${no} is ${fate} after an acknowledged cancel`;
  if (life.client !== op.client && op.key === '') yield `job ${no} of ${op.client} belongs to ${life.client}`;
}

/** A delay is never shorter than asked for, whatever the wall clock does; record time counts whole milliseconds. */
function* notEarly(history: ObservedHistory): Generator<string> {
  for (const { jobs, key, askedAt, delayMs } of history.submits) {
    if (key !== '' || delayMs === 0) continue;
    for (const no of jobs) {
      const waited = history.firstHandedOut(no) - askedAt;
      if (waited <= delayMs - 1)
        yield `job ${no} was handed out after ${waited} ms, ${delayMs} were asked for`;
    }
  }
}

/** The output every handler of the workload gives: it names the attempt, so a stale one that is believed shows. */
export function expected(op: Pick<SubmitOp, 'payload'>, attempt: number): string {
  return `did ${op.payload} in attempt ${attempt}`;
}

/** I9 (O1): what one client submits is taken in that order, and answered in it. A key may lead to an earlier job, and a batch is made ready first. */
function* submitsInOrder(history: ObservedHistory): Generator<string> {
  const latest = new Map<string, SubmitOp>();
  for (const op of history.submits) {
    if (op.outcome !== 'ok' || op.key !== '' || op.jobs.length !== 1) continue;
    const client = `${op.client}.${op.life}`;
    const before = latest.get(client);
    latest.set(client, op);
    const [earlier = 0] = before?.jobs ?? [];
    const [no = 0] = op.jobs;
    if (no < earlier) yield `${client} submitted job ${earlier} before job ${no}`;
    if (before !== undefined && op.answerNo < before.answerNo)
      yield `${client} was answered for job ${no} before job ${earlier}`;
  }
}

/** I4, I5: no attempt runs twice, none runs that is not recorded, and none where its group is not served. */
function* runsInOrder(history: ObservedHistory, records: RecordModel): Generator<string> {
  for (const [no, runs] of history.runs) {
    const life = records.lives.get(no);
    const seen = new Set<number>();
    for (const { attempt, worker, group } of runs) {
      if (seen.has(attempt)) yield `job ${no}: attempt ${attempt} was run twice`;
      seen.add(attempt);
      if (life !== undefined && group !== life.policy.group)
        yield `job ${no} of group ${life.policy.group} ran on ${worker}, which has code for ${group}`;
    }
    if (life === undefined) yield `job ${no} was run and is unknown`;
    else if (Math.max(...seen) > life.attempt)
      yield `job ${no}: attempt ${Math.max(...seen)} was run, ${life.attempt} recorded`;
  }
}

/** I2: one job per submit; what was refused is nowhere. */
function* noDoubles(history: ObservedHistory, records: RecordModel, ledger: Ledger): Generator<string> {
  const byJob = new Map<number, SubmitOp>();
  for (const op of history.submits) {
    for (const no of op.jobs) {
      const other = byJob.get(no);
      if (other !== undefined && (op.key === '' || other.key !== op.key))
        yield `job ${no} answers two submits`;
      byJob.set(no, op);
    }
  }
  // Payloads are unique per submit, or per key, which the records look after themselves. Beyond the window, which a leader that starts
  // with its clock far ahead finds over, a number or a key that is sent again is a new one (seeds 839 and 1352 before this was said).
  const taken = new Map<string, Life[]>();
  let excused = 0;
  for (const life of records.lives.values()) {
    const before = (taken.get(life.payload) ?? []).filter((one) => records.isInWindow(one, life));
    excused += (taken.get(life.payload)?.length ?? 0) - before.length;
    taken.set(life.payload, [...before, life]);
  }
  for (const op of history.submits) {
    const lives = op.key === '' ? (taken.get(JSON.stringify(op.payload)) ?? []) : [];
    // Nor does a leader know what it refuses to take again (seeds 3886, 4447).
    const times = lives.filter(
      (one) => op.outcome !== 'refused' || records.isInWindow(one, { at: ledger.now }),
    ).length;
    if (times > mostJobs(op)) yield `submit ${op.payload} (${op.outcome}) was taken ${times} times`;
  }
  const asked = history.submits.reduce((sum, op) => sum + mostJobs(op), 0);
  if (ledger.accepted > asked + excused)
    yield `${ledger.accepted} jobs were accepted, ${asked} were asked for`;
}

/** An unanswered batch may have been taken whole. */
function mostJobs(op: SubmitOp): number {
  if (op.outcome === 'refused') return 0;
  return op.outcome === 'unknown' && op.payload.startsWith('all ') ? 3 : Math.max(1, op.jobs.length);
}
