import { AttemptAbortedError, defineJob, handle } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type {
  Assignment,
  AttemptEnd,
  WorkerHello,
  WorkerMessage,
} from '#src/protocol/worker/worker-messages.js';
import type { AttemptContext, HandledJob } from '#src/worker/handlers/handler.js';
import { Worker } from '#src/worker/worker.js';
import {
  type AttemptFailure,
  DEFAULT_WORKER_SETTINGS,
  type StaleAttempt,
} from '#src/worker/worker-options.js';
import { ManualTime } from '../manual-time.js';
import { anything } from '../plain-schema.js';

const workers = suite('worker');

const job = defineJob('some.job', { input: anything, output: anything });

const BASE = { exec: 'some.job', payload: '1', client: 'c', runMs: 1_000, outputBytes: 1_000 };

/** A worker alone: its leader is the test, its clock manual. */
class WorkerRig {
  readonly time = new ManualTime();
  readonly hellos: WorkerHello[] = [];
  readonly failures: AttemptFailure[] = [];
  readonly stale: StaleAttempt[] = [];
  readonly worker: Worker;
  private sent: WorkerMessage[] = [];

  constructor(run: (input: unknown, context: AttemptContext) => unknown, handlers?: readonly HandledJob[]) {
    this.worker = new Worker({
      worker: 'w',
      incarnation: 'i',
      handlers: handlers ?? [handle(job, run)],
      settings: { ...DEFAULT_WORKER_SETTINGS, slots: 4 },
      load: { cpu: () => 0, lagMs: () => 0 },
      clock: this.time.host,
      effects: {
        open: (hello) => void this.hellos.push(hello),
        write: (message) => void this.sent.push(message),
        requestReport: () => this.worker.report(),
        startTick: this.time.ticker(() => this.worker.tick()),
        runnerReport: (report) => this.worker.runnerReported(report),
        settled: (attempt, end) => this.worker.attemptEnded(attempt, end),
        refused: () => undefined,
        drained: () => undefined,
      },
      onFailure: (failure) => void this.failures.push(failure),
      onStale: (stale) => void this.stale.push(stale),
    });
    this.connect();
  }

  connect(): void {
    this.worker.connect();
    this.worker.fromLeader({ kind: 'welcome', tag: 'tag', heartbeatMs: 1_000 });
  }

  assign(no: number, attempt = 1, more: Partial<Assignment> = {}): void {
    this.worker.fromLeader({ kind: 'assign', items: [{ ...BASE, job: no, attempt, ...more }] });
  }

  /** In one message. */
  assignAll(nos: readonly number[]): void {
    const items = nos.map((no) => ({ ...BASE, job: no, attempt: 1, payload: `${no}` }));
    this.worker.fromLeader({ kind: 'assign', items });
  }

  /** A short job, so that a batch more is granted. */
  warmUp(no: number): void {
    this.assign(no, 1, { payload: '0' });
    this.acknowledge(no);
    this.sent = [];
  }

  acknowledge(no: number, attempt = 1): void {
    this.worker.fromLeader({ kind: 'acknowledged', items: [{ job: no, attempt, count: 1 }] });
  }

  /** Ends reported since the last call. */
  ends(): AttemptEnd[] {
    const sent = this.sent.splice(0);
    return sent.flatMap((message) => (message.kind === 'report' ? message.ends : []));
  }

  /** In the latest report. */
  overrun(): number | undefined {
    const reports = this.sent.filter((message) => message.kind === 'report');
    return reports.at(-1)?.overrun;
  }

  outcomes(): string[] {
    return this.ends().map((end) => `${end.job}.${end.attempt} ${end.outcome}`);
  }
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

workers('a repeated assignment does not run again, while it runs or after it ended', async () => {
  let runs = 0;
  let finish: (value: unknown) => void = () => undefined;
  const rig = new WorkerRig(() => {
    runs += 1;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  rig.assign(7);
  rig.assign(7);
  assert.equal([runs, rig.worker.running], [1, 1]);
  finish('out');
  await turns();
  rig.assign(7);
  assert.equal([runs, rig.worker.running, rig.outcomes()], [1, 0, ['7.1 ok']]);
  rig.acknowledge(7);
  // Another attempt of the same job is another run.
  rig.assign(7, 2);
  assert.is(runs, 2);
});

workers('an end is reported in every session until the leader has acknowledged it', () => {
  const rig = new WorkerRig(() => 'quick');
  rig.assign(1);
  assert.equal(rig.outcomes(), ['1.1 ok']);
  rig.worker.disconnected();
  rig.connect();
  assert.equal(rig.hellos.at(-1)?.held, [{ job: 1, attempt: 1 }]);
  assert.equal(rig.outcomes(), ['1.1 ok']);
  rig.acknowledge(1);
  rig.worker.disconnected();
  rig.connect();
  assert.equal([rig.hellos.at(-1)?.held, rig.outcomes()], [[], []]);
});

workers('one acknowledgement covers a range of jobs; other ends stay', () => {
  const rig = new WorkerRig(() => 'quick');
  rig.assignAll([5, 6, 7, 8]);
  rig.worker.fromLeader({ kind: 'acknowledged', items: [{ job: 4, attempt: 1, count: 3 }] });
  rig.worker.fromLeader({ kind: 'acknowledged', items: [{ job: 7, attempt: 2, count: 2 }] });
  rig.connect();
  const held = rig.hellos.at(-1)?.held.map(({ job, attempt }) => `${job}.${attempt}`);
  assert.equal(held?.sort(), ['7.1', '8.1']);
});

// One timer for all run-time limits, set again by its own callback.
workers('attempts past their run time end one by one, each once', () => {
  const rig = new WorkerRig(() => new Promise(() => undefined));
  rig.assign(1, 1, { runMs: 10 });
  rig.assign(2, 1, { runMs: 20 });
  rig.time.advance(15);
  assert.equal(rig.outcomes(), ['1.1 timed-out']);
  rig.time.advance(15);
  assert.equal(rig.outcomes(), ['2.1 timed-out']);
  rig.time.advance(100);
  assert.equal(rig.outcomes(), []);
  assert.equal(
    rig.failures.map(({ jobId, outcome, failure }) => [jobId, outcome, failure.message]),
    [
      ['tag-1', 'timed-out', 'still running after 10 ms'],
      ['tag-2', 'timed-out', 'still running after 20 ms'],
    ],
  );
});

workers('a handler that ignores its signal loses its attempt, and its late output is ignored', async () => {
  let finish: (value: unknown) => void = () => undefined;
  const rig = new WorkerRig(
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  rig.assign(1, 1, { runMs: 10 });
  rig.time.advance(10);
  assert.equal([rig.outcomes(), rig.worker.running], [['1.1 timed-out'], 1]);
  finish('too late');
  await turns();
  assert.equal([rig.outcomes(), rig.worker.running], [[], 0]);
});

workers('an output that JSON cannot hold is a final failure', () => {
  const rig = new WorkerRig(() => () => 1);
  rig.assign(1);
  const [end] = rig.ends();
  assert.equal(
    end?.outcome === 'final' ? end.failure.message : end,
    'output cannot be written as JSON: a function',
  );
});

workers('`onFailure` gets failed attempts, not cancelled, fenced or released ones', () => {
  const rig = new WorkerRig((input) => {
    if (input === 1) throw new Error('no good');
    return new Promise(() => undefined);
  });
  rig.assign(1);
  rig.assign(2, 1, { payload: '2' });
  rig.assign(3, 1, { payload: '3' });
  rig.worker.fromLeader({ kind: 'abort', items: [{ job: 2, attempt: 1, reason: 'cancelled', detail: '' }] });
  rig.worker.drain(5);
  rig.time.advance(10);
  const [failed] = rig.failures;
  assert.equal(
    [rig.failures.length, failed?.jobId, failed?.exec, failed?.attempt, failed?.outcome],
    [1, 'tag-1', 'some.job', 1, 'failed'],
  );
  assert.equal([failed?.failure.name, failed?.failure.message], ['Error', 'no good']);
  assert.equal(rig.outcomes(), ['1.1 failed', '2.1 failed', '3.1 released']);
});

workers('a hello names the group of each handler', () => {
  const Paint = defineJob('wall.paint', { group: 'crew', input: anything, output: anything });
  const rig = new WorkerRig(() => 1, [handle(Paint, () => 1)]);
  assert.equal(rig.hellos[0]?.execs, ['crew/wall.paint']);
});

workers('a job without a handler fails, and the worker goes on', () => {
  const rig = new WorkerRig(() => 1);
  rig.assign(1, 1, { exec: 'other.job' });
  rig.assign(2);
  assert.equal(rig.outcomes(), ['1.1 failed', '2.1 ok']);
});

workers('assignments of another leader are aborted and not reported to this one', async () => {
  const aborted: unknown[] = [];
  const rig = new WorkerRig((input, { signal }) => {
    if (input !== 'old') return 'new result';
    signal.addEventListener('abort', () => aborted.push(signal.reason));
    return new Promise(() => undefined);
  });
  rig.assign(1, 1, { payload: '"old"' });
  rig.assign(2, 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(
    rig.ends().map(({ job: no }) => no),
    [2],
  );
  rig.worker.disconnected();
  rig.worker.connect();
  rig.worker.fromLeader({ kind: 'welcome', tag: 'other', heartbeatMs: 1_000 });
  assert.equal(rig.ends(), []);
  assert.is(aborted.length, 1);
  assert.is(rig.worker.held, 0);
  rig.assign(1, 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(
    rig.ends().map((end) => [end.job, end.outcome, end.outcome === 'ok' && end.result]),
    [[1, 'ok', '"new result"']],
  );
});

/** A worker with four slots whose handler runs until it is released; an input of 0 returns at once. */
function heldRig() {
  const inside = new Map<unknown, (value: unknown) => void>();
  const rig = new WorkerRig((input) =>
    input === 0 ? null : new Promise((resolve) => inside.set(input, resolve)),
  );
  const release = async (no: number): Promise<void> => {
    inside.get(no)?.(null);
    inside.delete(no);
    await turns();
  };
  return { rig, release, running: () => [...inside.keys()] };
}

// Attempts beyond the slots wait for one, in order (ADR 0410).
workers('never more attempts than slots run at once; the rest begin as slots are free', async () => {
  const { rig, release, running } = heldRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5, 6]);
  assert.equal([running(), rig.worker.running, rig.worker.held], [[1, 2, 3, 4], 4, 6]);
  await release(2);
  assert.equal([running(), rig.outcomes()], [[1, 3, 4, 5], ['2.1 ok']]);
  await release(1);
  assert.equal([running(), rig.worker.running], [[3, 4, 5, 6], 4]);
  // Its run time counts from its beginning.
  rig.time.advance(19);
  assert.equal(rig.outcomes(), ['1.1 ok']);
  rig.time.advance(981);
  assert.equal(rig.outcomes(), ['3.1 timed-out', '4.1 timed-out', '5.1 timed-out', '6.1 timed-out']);
});

workers('an attempt queued for too long is released, and no more credit is granted', async () => {
  const { rig, release, running } = heldRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5, 6]);
  rig.time.advance(19);
  assert.equal(rig.outcomes(), []);
  rig.time.advance(1);
  assert.equal(rig.outcomes(), ['5.1 released', '6.1 released']);
  assert.equal([running(), rig.worker.running], [[1, 2, 3, 4], 4]);
  // A repeated assignment is ignored until its end is acknowledged.
  rig.assign(5);
  assert.is(rig.worker.running, 4);
  await release(1);
  assert.equal([running(), rig.failures], [[2, 3, 4], []]);
  rig.worker.disconnected();
  rig.connect();
  assert.is(rig.hellos.at(-1)?.credit.jobs, 1);
});

workers('a queued attempt can be cancelled, and does not begin', async () => {
  const { rig, release, running } = heldRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5, 6]);
  rig.worker.fromLeader({ kind: 'abort', items: [{ job: 5, attempt: 1, reason: 'cancelled', detail: '' }] });
  assert.equal(rig.outcomes(), ['5.1 failed']);
  await release(1);
  assert.equal(running(), [2, 3, 4, 6]);
});

workers('queued attempts are held in a hello, and released with the rest when a drain ends', () => {
  const { rig, running } = heldRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5]);
  rig.worker.disconnected();
  rig.connect();
  assert.equal(
    rig.hellos.at(-1)?.held.map(({ job: no }) => no),
    [1, 2, 3, 4, 5],
  );
  rig.worker.drain(5);
  rig.time.advance(5);
  assert.equal(running(), [1, 2, 3, 4]);
  assert.equal(
    rig.outcomes().sort(),
    [1, 2, 3, 4, 5].map((no) => `${no}.1 released`),
  );
});

workers('of a batch whose first job blocks the thread, as many attempts as slots are kept', () => {
  const ran: unknown[] = [];
  const rig: WorkerRig = new WorkerRig((input) => {
    ran.push(input);
    if (input === 2) rig.time.now += 1_000;
    return null;
  });
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(ran, [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(rig.outcomes().slice(6), ['7.1 released', '8.1 released']);
});

// Handlers under way are never more than the slots, whatever ended their attempts.
workers('a handler that ignores its signal keeps its slot until it ends', async () => {
  const { rig, release, running } = heldRig();
  rig.assignAll([1, 2, 3, 4]);
  rig.time.advance(BASE.runMs);
  assert.equal(rig.outcomes(), ['1.1 timed-out', '2.1 timed-out', '3.1 timed-out', '4.1 timed-out']);
  rig.connect();
  assert.equal(rig.hellos.at(-1)?.credit.jobs, 0);
  assert.equal([running(), rig.worker.running, rig.overrun()], [[1, 2, 3, 4], 4, 4]);
  await release(2);
  assert.equal([running(), rig.worker.running, rig.overrun()], [[1, 3, 4], 3, 3]);
  rig.assign(5, 1, { payload: '5' });
  assert.equal(running(), [1, 3, 4, 5]);
});

workers(
  'a cancelled handler that goes on keeps its slot; the next queued attempt begins when it ends',
  async () => {
    const { rig, release, running } = heldRig();
    rig.warmUp(100);
    rig.assignAll([1, 2, 3, 4, 5]);
    rig.worker.fromLeader({
      kind: 'abort',
      items: [{ job: 1, attempt: 1, reason: 'cancelled', detail: '' }],
    });
    assert.equal([running(), rig.worker.running], [[1, 2, 3, 4], 4]);
    await release(1);
    assert.equal([running(), rig.worker.running], [[2, 3, 4, 5], 4]);
  },
);

workers('the reason of a cancel is in the reason of the signal', () => {
  let signal: AbortSignal | undefined;
  const rig = new WorkerRig((_input, context) => {
    ({ signal } = context);
    return new Promise(() => undefined);
  });
  rig.assign(1);
  const cancel = { job: 1, attempt: 1, reason: 'cancelled', detail: 'wrong file' } as const;
  rig.worker.fromLeader({ kind: 'abort', items: [cancel] });
  const { reason } = signal as AbortSignal;
  assert.instance(reason, AttemptAbortedError);
  assert.equal([reason.reason, reason.detail], ['cancelled', 'wrong file']);
  assert.match(reason.message, /aborted \(cancelled: wrong file\)$/);
});

workers('a stale end is forgotten, and a result that came too late is reported', () => {
  const rig = new WorkerRig((input) => {
    if (input === 2) throw new Error('no good');
    return 'late';
  });
  rig.assignAll([1, 2]);
  const items = [1, 2].map((no) => ({ job: no, attempt: 1 }));
  rig.worker.fromLeader({ kind: 'stale', items });
  assert.equal(rig.stale, [{ jobId: 'tag-1', attempt: 1 }]);
  rig.connect();
  assert.equal(rig.hellos.at(-1)?.held, []);
});

workers.run();
