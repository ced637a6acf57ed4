import type { JobState } from '#src/ledger/job.js';
import type { Ledger } from '#src/ledger/ledger.js';

/** One submit as its client saw it. `unknown`: no answer before the client went away. */
export interface SubmitOp {
  readonly client: string;
  readonly exec: string;
  readonly payload: string;
  readonly key: string;
  outcome: 'unknown' | 'ok' | 'refused';
  jobs: readonly number[];
  /** What the client was told in the end. */
  seen: 'nothing' | 'done' | 'dead' | 'cancelled';
  result: unknown;
  cancelAcked: number;
}

interface Run {
  readonly attempt: number;
  readonly worker: string;
  readonly at: number;
}

/** What clients were told, what left the leader and what handlers saw. The checker knows nothing else of the inside. */
export class SimHistory {
  readonly submits: SubmitOp[] = [];
  readonly runs = new Map<number, Run[]>();
  /** When a client first heard that a job is over. */
  private readonly overAt = new Map<number, number>();
  private readonly handed = new Map<string, number>();

  submit(client: string, exec: string, payload: string, key: string): SubmitOp {
    const op: SubmitOp = {
      client,
      exec,
      payload,
      key,
      outcome: 'unknown',
      jobs: [],
      seen: 'nothing',
      result: undefined,
      cancelAcked: 0,
    };
    this.submits.push(op);
    return op;
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
  *handOuts(): Generator<string> {
    for (const [name, at] of this.handed) {
      const over = this.overAt.get(Number.parseInt(name, 10)) ?? Number.POSITIVE_INFINITY;
      if (at > over) yield `attempt ${name} was handed out at ${at}, its job's end was told at ${over}`;
    }
    for (const [job, runs] of this.runs) {
      const stray = runs.find((run) => !this.handed.has(`${job}.${run.attempt}`));
      if (stray !== undefined) yield `attempt ${job}.${stray.attempt} was run, nobody handed it out`;
    }
  }

  ran(job: number, attempt: number, worker: string, at: number): void {
    const runs = this.runs.get(job) ?? [];
    runs.push({ attempt, worker, at });
    this.runs.set(job, runs);
  }
}

export function* verdicts(history: SimHistory, ledger: Ledger): Generator<string> {
  yield* fates(history, ledger);
  yield* runsInOrder(history, ledger);
  yield* history.handOuts();
  yield* noDoubles(history, ledger);
  if (!ledger.balanced) yield 'the counts of the ledger do not add up';
}

/** I1, I3: every acknowledged submit has exactly one fate, and it is the one its client saw. */
function* fates(history: SimHistory, ledger: Ledger): Generator<string> {
  for (const op of history.submits) {
    if (op.outcome !== 'ok') continue;
    for (const no of op.jobs) {
      const job = ledger.jobs.get(no);
      if (job === undefined) {
        yield `job ${no} was acknowledged and is gone`;
        continue;
      }
      const over: JobState[] = ['done', 'dead', 'cancelled'];
      if (!over.includes(job.state)) yield `job ${no} is still ${job.state} after everything healed`;
      if (op.seen !== 'nothing' && op.seen !== job.state)
        yield `job ${no} is ${job.state}, its client saw ${op.seen}`;
      if (op.seen === 'done' && op.result !== expected(op, job.attempt))
        yield `job ${no}: its client saw the result ${String(op.result)}`;
      if (op.cancelAcked !== 0 && job.state !== 'cancelled')
        yield `job ${no} is ${job.state} after an acknowledged cancel`;
      if (job.state === 'done' && !history.runs.has(no)) yield `job ${no} is done, nobody ran it`;
      if (job.client !== op.client && op.key === '')
        yield `job ${no} of ${op.client} belongs to ${job.client}`;
    }
  }
}

/** The output every handler of the workload gives: it names the attempt, so a stale one that is believed shows. */
export function expected(op: Pick<SubmitOp, 'payload'>, attempt: number): string {
  return `did ${op.payload} in attempt ${attempt}`;
}

/** I4, I5: no attempt runs twice, and none runs that is not recorded: after an end no new one can be. */
function* runsInOrder(history: SimHistory, ledger: Ledger): Generator<string> {
  for (const [no, runs] of history.runs) {
    const seen = new Set<number>();
    for (const run of runs) {
      if (seen.has(run.attempt)) yield `job ${no}: attempt ${run.attempt} was run twice`;
      seen.add(run.attempt);
    }
    const job = ledger.jobs.get(no);
    if (job === undefined) yield `job ${no} was run and is unknown`;
    else if (Math.max(...seen) > job.attempt)
      yield `job ${no}: attempt ${Math.max(...seen)} was run, ${job.attempt} recorded`;
  }
}

/** I2, I8: one job per submit, one per key; what was refused is nowhere. */
function* noDoubles(history: SimHistory, ledger: Ledger): Generator<string> {
  const byJob = new Map<number, SubmitOp>();
  const byKey = new Map<string, number>();
  for (const op of history.submits) {
    for (const no of op.jobs) {
      const other = byJob.get(no);
      if (other !== undefined && (op.key === '' || other.key !== op.key))
        yield `job ${no} answers two submits`;
      byJob.set(no, op);
      if (op.key === '') continue;
      const key = `${op.exec}/${op.key}`;
      if (byKey.has(key) && byKey.get(key) !== no) yield `key ${key} led to jobs ${byKey.get(key)} and ${no}`;
      byKey.set(key, no);
    }
  }
  // Payloads are unique per submit (or per key), so a second job with the same payload is a submit taken twice.
  const payloads = new Map<string, number>();
  for (const job of ledger.jobs.values()) {
    const known = history.submits.some((op) => op.jobs.includes(job.no));
    if (known || job.state !== 'queued') continue;
    payloads.set(String(job.payload), (payloads.get(String(job.payload)) ?? 0) + 1);
  }
  for (const [payload, count] of payloads) if (count > 1) yield `submit ${payload} was taken ${count} times`;
  const asked = history.submits.reduce((sum, op) => sum + mostJobs(op), 0);
  if (ledger.accepted > asked) yield `${ledger.accepted} jobs were accepted, ${asked} were asked for`;
}

/** An unanswered batch may have been taken whole. */
function mostJobs(op: SubmitOp): number {
  if (op.outcome === 'refused') return 0;
  return op.outcome === 'unknown' && op.payload.startsWith('all ') ? 3 : Math.max(1, op.jobs.length);
}
