// The state of a ledger as JSON objects, one per policy, producer, key and job: the beginning of a dump whose
// first records are left in a snapshot only.

import type { Payload } from '../../job/payload/payload.js';
import type { TraceContext } from '../../job/trace-context.js';
import { LedgerCorruptError } from '../../jobs-error.js';
import type { EndedAttempt } from '../attempts/ended-attempt.js';
import type { AuditEntry } from '../audit/audit-trail.js';
import type { StoredFeed } from '../feeds/stored-feed.js';
import { Job, type JobEnd } from '../jobs/job.js';
import { StoredPolicy } from '../jobs/stored-policy.js';
import type { KeyEntry } from '../key-window.js';
import { Ledger } from '../ledger.js';
import { Producer } from '../producer.js';
import type { QueueControl } from '../queue-controls.js';
import type { StoredSchedule } from '../schedules/schedule-table.js';
import type { ScheduleTemplate } from '../schedules/schedule-template.js';
import {
  failure,
  int,
  ints,
  type LedgerLine,
  type LineField,
  type LineFields,
  list,
  object,
  optional,
  optionalPayload,
  payloadOrEmpty,
  payloads,
  policy,
  queueLimits,
  readFields,
  scheduleRule,
  text,
  texts,
  time,
  trace,
  usually,
  word,
  writeFields,
} from './line-field.js';

type Counters = Pick<
  Ledger,
  'tag' | 'now' | 'limits' | 'nextJob' | 'nextPolicy' | 'nextProducer' | 'dropped'
>;

/** Without the number of accepted jobs: it follows from the others, so that lines of jobs can be cut. */
const LEDGER: LineFields<Counters> = {
  tag: text,
  now: time,
  limits: object({ resultsMax: int, resultsBytesMax: int, keyWindowMs: int }),
  nextJob: int,
  nextPolicy: int,
  nextProducer: int,
  dropped: int,
};
const POLICY = { no: int, policy };
interface ProducerLine extends Pick<Producer, 'client' | 'token' | 'lastAt' | 'low'> {
  readonly producer: number;
  readonly submits: readonly { readonly seq: number; readonly job: number }[];
}
const PRODUCER: LineFields<ProducerLine> = {
  producer: int,
  client: text,
  token: text,
  lastAt: time,
  low: int,
  submits: list({ seq: int, job: int }),
};
const KEY: LineFields<KeyEntry> = { key: text, job: int, hash: int, expiresAt: time };
interface FeedLine extends Pick<StoredFeed, 'base' | 'next' | 'end'> {
  readonly job: number;
  readonly feeders: readonly { readonly feeder: string; readonly next: number }[];
  readonly items: readonly Payload[];
}
const FEED: LineFields<FeedLine> = {
  job: int,
  base: usually(int, 0),
  next: int,
  end: optional(word('final', 'abandoned')),
  feeders: list({ feeder: text, next: int }),
  items: payloads,
};
const QUIET_WORKER = { worker: text };
const TAGS: LineFields<{ readonly job: number; readonly tags: readonly string[] }> = {
  job: int,
  tags: texts,
};
interface AttemptsLine {
  readonly job: number;
  readonly attempts: readonly EndedAttempt[];
}
const ATTEMPTS: LineFields<AttemptsLine> = {
  job: int,
  attempts: list({
    attempt: int,
    worker: usually(text, ''),
    startedAt: usually(time, 0),
    endedAt: time,
    ending: word(
      'done',
      'failed',
      'final',
      'timed-out',
      'worker-lost',
      'quarantined',
      'released',
      'cancelled',
      'payload-lost',
      'feed-dropped',
    ),
    failure,
  }),
};
const AUDIT: LineFields<AuditEntry> = {
  no: int,
  at: time,
  by: text,
  action: text,
  target: text,
  detail: usually(text, ''),
};
const QUEUE: LineFields<QueueControl> = {
  queue: text,
  mode: word('open', 'paused', 'draining'),
  limits: queueLimits,
  changedAt: time,
  by: usually(text, ''),
};
type ScheduleLine = Omit<StoredSchedule, 'template'> &
  Omit<ScheduleTemplate, 'policy'> & { readonly policy: number };
const SCHEDULE: LineFields<ScheduleLine> = {
  name: text,
  client: text,
  policy: int,
  rule: scheduleRule,
  payload: payloadOrEmpty,
  nextAt: time,
  lastAt: usually(time, 0),
  lastWallAt: usually(time, 0),
  lastJob: usually(int, 0),
  runs: usually(int, 0),
  skipped: usually(int, 0),
  held: usually(int, 0),
  paused: usually(int, 0),
};
const EARLIER_RUNS: LineFields<{ readonly name: string; readonly jobs: readonly number[] }> = {
  name: text,
  jobs: ints,
};
const END: LineFields<JobEnd> = {
  at: time,
  reason: usually(text, ''),
  result: optionalPayload,
  failure,
  metadata: optional(text),
};
const JOB = {
  job: int,
  policy: int,
  state: word('queued', 'running', 'done', 'dead', 'cancelled'),
  client: text,
  at: time,
  key: usually(text, ''),
  dueAt: usually(time, 0),
  attempt: usually(int, 0),
  failures: usually(int, 0),
  crashes: usually(int, 0),
  worker: usually(text, ''),
  startedAt: usually(time, 0),
  payload: payloadOrEmpty,
  failure,
  chunks: usually<number | undefined>(int as LineField<number | undefined>, undefined),
  trace: optional(trace),
  orderKey: usually(text, ''),
  redrivenAt: usually(time, 0),
  end: optional(object(END)),
};

/** The files of the spill, and the first number that none has had. */
const SPILL: LineFields<{ readonly nextFile: number; readonly files: readonly number[] }> = {
  nextFile: int,
  files: ints,
};

/** In the order in which they can be read. A version that does not know an optional one skips it. */
export function* stateLines(ledger: Ledger): Generator<LedgerLine> {
  yield lineOf<Counters>('state_ledger', LEDGER, ledger);
  for (const stored of ledger.policies.values())
    yield lineOf('state_policy', POLICY, { no: stored.no, policy: stored.toJSON() });
  for (const producer of ledger.producers.values()) {
    const submits = producer.entries().map(([seq, job]) => ({ seq, job }));
    const { no, client, token, lastAt, low } = producer;
    yield lineOf('state_producer', PRODUCER, { producer: no, client, token, lastAt, low, submits });
  }
  for (const entry of ledger.keys.entries()) yield lineOf('state_key', KEY, entry);
  for (const worker of ledger.quietWorkers) yield lineOf('state_quiet_worker', QUIET_WORKER, { worker });
  for (const entry of ledger.audit.entries()) yield lineOf('state_audit', AUDIT, entry);
  for (const [job, tags] of ledger.tags.entries()) yield lineOf('state_tags', TAGS, { job, tags });
  for (const [job, attempts] of ledger.attempts.entries())
    yield optionalLineOf('state_attempts', ATTEMPTS, { job, attempts });
  if (ledger.nextSpillFile > 1)
    yield optionalLineOf('state_spill', SPILL, {
      nextFile: ledger.nextSpillFile,
      files: [...ledger.spillFiles],
    });
  for (const control of ledger.queueControls.values()) yield lineOf('state_queue', QUEUE, control);
  for (const { template, ...plan } of ledger.schedules.values())
    yield lineOf('state_schedule', SCHEDULE, { ...plan, ...template, policy: template.policy.no });
  for (const [name, jobs] of ledger.earlierRuns.entries())
    yield optionalLineOf('state_schedule_runs', EARLIER_RUNS, { name, jobs });
  for (const [job, feed] of ledger.feeds) yield feedLine(job, feed);
  for (const job of ledger.jobs.values())
    yield jobLine(job, ledger.traceOf(job.no), ledger.redrivenAt.get(job.no));
}

function lineOf<T>(type: string, fields: LineFields<T>, value: T): LedgerLine {
  const line: LedgerLine = { type };
  writeFields(line, fields, value);
  return line;
}

function optionalLineOf<T>(type: string, fields: LineFields<T>, value: T): LedgerLine {
  return { ...lineOf(type, fields, value), optional: true };
}

function feedLine(job: number, feed: StoredFeed): LedgerLine {
  const { base, next, end } = feed;
  const feeders = [...feed.feeders].map(([feeder, number]) => ({ feeder, next: number }));
  return lineOf('state_feed', FEED, { job, base, next, end, feeders, items: feed.kept() });
}

function jobLine(job: Job, traceContext: TraceContext | undefined, redrivenAt = 0): LedgerLine {
  const { no, policy: stored, state, client, at, key, dueAt, attempt, failures, crashes, worker, end } = job;
  const { payload: input, failure: latest, chunks, orderKey } = job;
  const numbers = { job: no, policy: stored.no, attempt, failures, crashes };
  const rest = {
    state,
    client,
    at,
    key,
    dueAt,
    worker,
    startedAt: job.assignment?.startedAt ?? 0,
    payload: input,
    failure: latest,
    chunks,
    end,
    trace: traceContext,
    orderKey,
    redrivenAt,
  };
  return lineOf('state_job', JOB, { ...numbers, ...rest });
}

/** The ledger of the lines of a state, read in their order. */
export class StateLineReader {
  readonly ledger = new Ledger();
  private lastJob = 0;

  add(line: Readonly<LedgerLine>): void {
    const { ledger } = this;
    const { type } = line;
    if ((type === 'state_ledger') !== (ledger.tag === ''))
      throw new LedgerCorruptError('a state begins with its one line of type state_ledger');
    switch (type) {
      case 'state_ledger':
        Object.assign(ledger, readFields(line, LEDGER));
        ledger.accepted = ledger.dropped;
        return;
      case 'state_policy': {
        const { no, policy: value } = readFields(line, POLICY);
        ledger.policies.set(no, new StoredPolicy(no, value));
        return;
      }
      case 'state_producer':
        return this.addProducer(line);
      case 'state_key':
        return ledger.keys.add(readFields(line, KEY));
      case 'state_quiet_worker':
        ledger.quietWorkers.add(readFields(line, QUIET_WORKER).worker);
        return;
      case 'state_audit':
        return ledger.audit.restore(readFields(line, AUDIT));
      case 'state_attempts': {
        const { job, attempts } = readFields(line, ATTEMPTS);
        return ledger.attempts.set(job, attempts);
      }
      case 'state_tags': {
        const { job, tags } = readFields(line, TAGS);
        return ledger.tags.set(job, tags);
      }
      case 'state_spill': {
        const { nextFile, files } = readFields(line, SPILL);
        ledger.nextSpillFile = nextFile;
        for (const file of files) ledger.spillFiles.add(file);
        return;
      }
      case 'state_queue':
        return ledger.queueControls.set(readFields(line, QUEUE));
      case 'state_schedule':
        return this.addSchedule(line);
      case 'state_schedule_runs': {
        const { name, jobs } = readFields(line, EARLIER_RUNS);
        return ledger.earlierRuns.restore(name, jobs);
      }
      case 'state_feed':
        return this.addFeed(line);
      case 'state_job':
        return this.addJob(line);
      default:
        if (line['optional'] === true) return;
        throw new LedgerCorruptError(`type ${String(type)} is no part of a state`);
    }
  }

  private addProducer(line: Readonly<LedgerLine>): void {
    const { producer: no, client, token, lastAt, low, submits } = readFields(line, PRODUCER);
    const producer = new Producer(no, client, token, lastAt);
    producer.advance(low);
    for (const { seq, job } of submits) producer.addSubmit(seq, job, low, lastAt);
    this.ledger.producers.add(producer);
  }

  private addSchedule(line: Readonly<LedgerLine>): void {
    const { name, client, policy: no, rule, payload, ...plan } = readFields(line, SCHEDULE);
    const stored = this.ledger.policies.get(no);
    if (stored === undefined)
      throw new LedgerCorruptError(`schedule ${name} refers to policy ${no}, unknown`);
    this.ledger.schedules.set(name, { client, policy: stored, rule, payload }, plan);
  }

  /** Before its job, whose bytes it is part of. */
  private addFeed(line: Readonly<LedgerLine>): void {
    const { job, base, next, end, feeders, items } = readFields(line, FEED);
    const feed = this.ledger.feedOf(job);
    for (const { feeder, next: number } of feeders) feed.feeders.set(feeder, number);
    for (const item of items) feed.add(item);
    Object.assign(feed, { base, next, end });
  }

  private addJob(line: Readonly<LedgerLine>): void {
    const { ledger } = this;
    const fields = readFields(line, JOB);
    const {
      job: no,
      policy: policyNo,
      client,
      at,
      key,
      dueAt,
      end,
      payload: input,
      trace: context,
      redrivenAt,
      worker,
      startedAt,
      ...rest
    } = fields;
    const stored = ledger.policies.get(policyNo);
    if (stored === undefined) throw new LedgerCorruptError(`job ${no} refers to policy ${policyNo}, unknown`);
    if (no <= this.lastJob || no >= ledger.nextJob)
      throw new LedgerCorruptError(
        `job ${no} stands behind ${this.lastJob}, and nextJob is ${ledger.nextJob}`,
      );
    const isLive = rest.state === 'queued' || rest.state === 'running';
    if (isLive !== (end === undefined))
      throw new LedgerCorruptError(`job ${no} is ${rest.state} and has ${isLive ? 'an' : 'no'} end`);
    this.lastJob = no;
    const job = Object.assign(new Job(no, stored, client, at, key, input, dueAt), rest);
    if (worker !== '') job.assignment = { worker, startedAt };
    ledger.restore(job, end);
    if (context !== undefined) ledger.traces.set(no, context);
    if (redrivenAt > 0) ledger.redrivenAt.set(no, redrivenAt);
    ledger.accepted += 1;
  }
}
