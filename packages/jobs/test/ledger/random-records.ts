import type { JobPolicy } from '#src/job/definition/job-policy.js';
import { DEFAULT_RETRY } from '#src/job/definition/retry-policy.js';
import type { TraceContext } from '#src/job/trace-context.js';
import type { Job } from '#src/ledger/jobs/job.js';
import type { Ledger } from '#src/ledger/ledger.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';

export function policyOf(exec: string, keep = { doneMs: 500, deadMs: 2_000 }): JobPolicy {
  return {
    exec,
    group: 'g',
    retry: DEFAULT_RETRY,
    leaseMs: 1_000,
    limits: { runMs: 1_000, outputBytes: 1_000 },
    keep,
  };
}

/** The records at the beginning of every log. */
export function firstRecords(): LedgerRecord[] {
  return [
    { type: 'genesis', at: 1, tag: 'abcde' },
    { type: 'policy', at: 1, no: 1, policy: policyOf('one') },
    { type: 'policy', at: 1, no: 2, policy: policyOf('two', { doneMs: 0, deadMs: 0 }) },
    { type: 'producer', at: 1, producer: 1, client: 'ann', token: 't1' },
  ];
}

/** A valid next record for a ledger, chosen by three random numbers from 0 to 1. */
export function nextRecord(ledger: Ledger, at: number, seq: number, random: readonly number[]): LedgerRecord {
  const [type = 0, which = 0, detail = 0] = random;
  const failure = detail < 0.5 ? undefined : { name: 'Error', message: `failure ${detail}` };
  const streamed = which < 0.4 ? { chunks: Math.floor(detail * 300) } : {};
  const ended = which < 0.2 ? { ...streamed, metadata: `{"n":${Math.floor(detail * 3)}}` } : streamed;
  const queued = pick(ledger, 'queued', which);
  const running = pick(ledger, 'running', which);
  const dead = pick(ledger, 'dead', which);
  // A policy that a job refers to is kept.
  if (type < 0.02) return { type: 'policy_drop', at, policies: [2] };
  if (type < 0.04) return queueRecord(at, which, detail);
  if (type < 0.06 && queued !== undefined) return { type: 'expire', at, job: queued.no };
  if (type < 0.1) return scheduleRecord(ledger, at, which, detail);
  if (type < 0.13) return operatorRecord(at, dead?.no, which, detail);
  if (type < 0.14) return leaderRecord(ledger, at, which, detail);
  if (type < 0.3 || (queued === undefined && running === undefined)) return enqueue(ledger, at, seq, detail);
  if (type < 0.55 && queued !== undefined) {
    return {
      type: 'assign',
      at,
      job: queued.no,
      attempt: queued.attempt + 1,
      worker: `w${Math.floor(detail * 3)}~1`,
    };
  }
  if (type < 0.6) {
    const job = running ?? queued;
    if (job !== undefined)
      return { type: 'cancel', at, job: job.no, reason: failure === undefined ? '' : 'enough', ...streamed };
  }
  if (type < 0.65 && dead !== undefined)
    return { type: detail < 0.5 ? 'redrive' : 'purge', at, jobs: [dead.no] };
  const live = running ?? queued;
  if (type < 0.72 && live !== undefined) return feedRecord(ledger, at, live.no, detail);
  if (running === undefined) return { type: 'tick', at };
  const { no: job, attempt } = running;
  if (type < 0.8)
    return { type: 'ack', at, job, attempt, result: 'r'.repeat(Math.floor(detail * 40)), ...ended };
  if (type < 0.85)
    return {
      type: 'dlq',
      at,
      job,
      attempt,
      reason: detail < 0.5 ? 'failed' : 'quarantined',
      failure,
      ...ended,
    };
  const types = ['retry', 'timeout_requeue', 'worker_down_requeue', 'release'] as const;
  const requeue = types[Math.floor(which * types.length)] ?? 'retry';
  return { type: requeue, at, job, attempt, dueAt: detail < 0.3 ? 0 : at + 100, failure, ...streamed };
}

/** Records that a leader writes by itself. */
function leaderRecord(ledger: Ledger, at: number, which: number, detail: number): LedgerRecord {
  if (which < 0.3) return { type: 'spill_file', at, file: ledger.nextSpillFile };
  if (which < 0.6) return { type: 'spill_drop', at, files: [...ledger.spillFiles].slice(1) };
  if (which < 0.75) return { type: 'tick', at };
  // The one that submits is the last.
  const silent = [...ledger.producers.values()].slice(0, -1);
  if (which < 0.9) return { type: 'producer_drop', at, producers: silent.map(({ no }) => no) };
  const resultsMax = 50 + Math.floor(detail * 100);
  return { type: 'limits', at, resultsMax, resultsBytesMax: 100_000, keyWindowMs: ledger.limits.keyWindowMs };
}

/** Acts of an operator. */
function operatorRecord(at: number, dead: number | undefined, which: number, detail: number): LedgerRecord {
  const by = detail < 0.7 ? { by: 'ann' } : {};
  if (dead !== undefined && which < 0.4)
    return { type: 'redrive_edited', at, job: dead, payload: 'n'.repeat(Math.floor(detail * 50)), ...by };
  if (which < 0.5) return { type: 'key_release', at, keys: [`one/k${Math.floor(detail * at)}`] };
  if (which < 0.7)
    return { type: 'worker_quiet', at, worker: `w${Math.floor(which * 9)}`, quiet: detail < 0.6, ...by };
  return { type: 'audit', at, action: 'worker-stop', target: 'w', detail: detail < 0.5 ? '' : 'now', ...by };
}

/** Limits and modes of two queues, set and taken back. */
function queueRecord(at: number, which: number, detail: number): LedgerRecord {
  const queue = which < 0.7 ? 'g/one' : '*';
  const by = detail < 0.3 ? {} : { by: 'ann' };
  const modes = ['open', 'paused', 'draining'] as const;
  if (which < 0.4)
    return { type: 'queue_mode', at, queue, mode: modes[Math.floor(detail * 3)] ?? 'open', ...by };
  const rate = { jobs: 1 + Math.floor(detail * 9), perMs: 100 };
  const limits =
    detail < 0.3 ? {} : { runningMax: 1 + Math.floor(detail * 5), ...(detail < 0.6 ? {} : { rate }) };
  return { type: 'queue_limits', at, queue, limits, ...by };
}

/** Schedules of two names: set, paused, run, skipped, held, replaced, dropped. */
function scheduleRecord(ledger: Ledger, at: number, which: number, detail: number): LedgerRecord {
  const name = which < 0.5 ? 'hourly' : 'née';
  const schedule = ledger.schedules.get(name);
  const by = detail < 0.5 ? { by: 'ann' } : {};
  if (schedule === undefined || detail < 0.15) {
    const rule = { everyMs: 1_000, overlap: 'queue', catchUpMax: Math.floor(which * 3) } as const;
    const cron = {
      cron: '0 9 * * *',
      zone: 'Europe/Berlin',
      jitterMs: 5,
      overlap: 'skip',
      catchUpMax: 1,
    } as const;
    const fields = { client: 'ann', policy: 1, payload: 'p'.repeat(Math.floor(detail * 600)) };
    const times = { wallAt: at + 7, nextAt: at + 1_000.5 };
    return { type: 'schedule_set', at, name, ...fields, rule: which < 0.3 ? cron : rule, ...times };
  }
  if (detail < 0.25) return { type: 'schedule_drop', at, name, ...by };
  if (detail < 0.35) return { type: 'schedule_pause', at, name, paused: which < 0.5, nextAt: at + 9, ...by };
  const last = ledger.jobs.get(schedule.lastJob);
  const isLive = last !== undefined && last.end === undefined;
  const fire = { slotAt: schedule.nextAt, nextAt: at + 2_000, wallAt: at + 3, held: schedule.held };
  if (detail < 0.45)
    return { type: 'schedule_fire', at, name, ...fire, held: fire.held + 1, replaced: 0, jobs: [] };
  if (detail < 0.55) return { type: 'schedule_fire', at, name, ...fire, replaced: 0, jobs: [] };
  const jobs = [
    { job: ledger.nextJob, policy: 1, dueAt: 0, key: detail < 0.7 ? `run ${at}` : '', payload: '1' },
  ];
  const replaced = isLive && detail < 0.8 ? schedule.lastJob : 0;
  return { type: 'schedule_fire', at, name, ...fire, replaced, jobs, ...by };
}

/** Items of two feeders, some of them repeated or ahead; ends and drops. */
function feedRecord(ledger: Ledger, at: number, job: number, detail: number): LedgerRecord {
  const feed = ledger.feeds.get(job);
  if (detail < 0.05) return { type: 'feed_end', at, job };
  if (detail < 0.15 && feed !== undefined) return { type: 'feed_drop', at, job, below: feed.base + 1 };
  const feeder = detail < 0.5 ? 'ann t1' : 'bob t2';
  const next = feed?.feeders.get(feeder) ?? 0;
  const first = Math.max(0, next - 1 + Math.floor(detail * 3));
  const items = ['1', '"two"', 'x'.repeat(Math.floor(detail * 100))].slice(0, Math.floor(detail * 4));
  return { type: 'feed', at, job, feeder, first, items, final: detail > 0.95 };
}

function enqueue(ledger: Ledger, at: number, seq: number, detail: number): LedgerRecord {
  const known = [...ledger.producers.values()].at(-1);
  // A leader stages no submit of a producer that was silent for the key window.
  if (known === undefined || known.lastAt + ledger.limits.keyWindowMs <= at) {
    const producer = ledger.nextProducer;
    return { type: 'producer', at, producer, client: 'ann', token: `t${producer}` };
  }
  const producer = known.no;
  const job = ledger.nextJob;
  const payload = 'p'.repeat(Math.floor(detail * 60));
  const from = {
    policy: detail < 0.8 || !ledger.policies.has(2) ? 1 : 2,
    dueAt: detail < 0.1 ? at + 50 : 0,
    payload,
    ...(detail > 0.2 && detail < 0.7 ? {} : { trace: traceOf(job, detail) }),
    ...(detail > 0.35 && detail < 0.8 ? {} : { orderKey: `order ${Math.floor(detail * 30)} é` }),
    ...(detail > 0.15 && detail < 0.75 ? {} : { tags: ['eu', `né${Math.floor(detail * 4)}`] }),
    ...(detail > 0.8 ? { holdsKey: true } : {}),
  };
  const low = Math.max(0, seq - 1 - Math.floor(detail * 5));
  if (detail < 0.9) {
    const key = detail < 0.4 ? `k${job}` : '';
    return { type: 'enqueue', at, producer, seq, low, job, key, ...from };
  }
  const jobs = [0, 1, 2].map((i) => ({ job: job + i, key: '', ...from }));
  return { type: 'enqueue_all', at, producer, seq, low, jobs };
}

function traceOf(job: number, detail: number): TraceContext {
  const traceparent = `00-${String(job).padStart(32, 'a')}-${String(job).padStart(16, 'b')}-01`;
  return detail < 0.1
    ? { traceparent, tracestate: 'v=1,'.repeat(1 + Math.floor(detail * 1_000)) }
    : { traceparent };
}

function pick(ledger: Ledger, state: Job['state'], which: number): Job | undefined {
  const all = [...ledger.jobs.values()].filter((job) => job.state === state);
  return all[Math.floor(which * all.length)];
}
