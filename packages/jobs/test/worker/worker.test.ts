import { defineJob, handle } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Assignment, AttemptEnd, WorkerHello, WorkerMessage } from '#src/protocol/worker-messages.js';
import type { AttemptContext, HandledJob } from '#src/worker/handler.js';
import { Worker } from '#src/worker/worker.js';
import { type AttemptFailure, DEFAULT_WORKER_SETTINGS } from '#src/worker/worker-options.js';
import { ManualTime } from '../manual-time.js';
import { anything } from '../plain-schema.js';

const workers = suite('worker');

const job = defineJob('some.job', { input: anything, output: anything });

const BASE = { exec: 'some.job', payload: '1', client: 'c', runMs: 1_000, outputBytes: 1_000 };

/** A worker alone: its leader is played by the test, and time is moved by hand. */
class WorkerRig {
  readonly time = new ManualTime();
  readonly hellos: WorkerHello[] = [];
  readonly failures: AttemptFailure[] = [];
  readonly worker: Worker;
  private sent: WorkerMessage[] = [];

  constructor(run: (input: unknown, context: AttemptContext) => unknown, handlers?: readonly HandledJob[]) {
    this.worker = new Worker({
      worker: 'w',
      incarnation: 'i',
      handlers: handlers ?? [handle(job, run)],
      settings: { ...DEFAULT_WORKER_SETTINGS, slots: 4 },
      load: { cpu: () => 0, lagMs: () => 0 },
      host: this.time.host,
      link: {
        open: (hello) => void this.hellos.push(hello),
        write: (message) => void this.sent.push(message),
      },
      onRefused: () => undefined,
      onFailure: (failure) => void this.failures.push(failure),
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

  /** A short job, so that a row more is asked for. */
  warmUp(no: number): void {
    this.assign(no, 1, { payload: '0' });
    this.settled(no);
    this.sent = [];
  }

  settled(no: number, attempt = 1): void {
    this.worker.fromLeader({ kind: 'acknowledged', items: [{ job: no, attempt, count: 1 }] });
  }

  /** What the leader has heard of ended attempts since the last look. */
  ends(): AttemptEnd[] {
    const sent = this.sent.splice(0);
    return sent.flatMap((message) => (message.kind === 'report' ? message.ends : []));
  }

  outcomes(): string[] {
    return this.ends().map((end) => `${end.job}.${end.attempt} ${end.outcome}`);
  }
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// A33: the seed's worker knew only what had finished, and ran a repeated job twice side by side.
workers('an assignment said again while it runs, or after it ended, does not run again', async () => {
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
  rig.settled(7);
  // Another attempt of the same job is another run.
  rig.assign(7, 2);
  assert.is(runs, 2);
});

// A21: an end that overtakes the leader's own books is not lost: it is said until it is settled.
workers('an end is held until the leader has settled it, and said again in every session before', () => {
  const rig = new WorkerRig(() => 'quick');
  rig.assign(1);
  assert.equal(rig.outcomes(), ['1.1 ok']);
  rig.worker.disconnected();
  rig.connect();
  assert.equal(rig.hellos.at(-1)?.held, [{ job: 1, attempt: 1 }]);
  assert.equal(rig.outcomes(), ['1.1 ok']);
  rig.settled(1);
  rig.worker.disconnected();
  rig.connect();
  assert.equal([rig.hellos.at(-1)?.held, rig.outcomes()], [[], []]);
});

workers('a run of jobs is settled in one word; what is not in it, or not in hand, is left alone', () => {
  const rig = new WorkerRig(() => 'quick');
  rig.assignAll([5, 6, 7, 8]);
  rig.worker.fromLeader({ kind: 'acknowledged', items: [{ job: 4, attempt: 1, count: 3 }] });
  rig.worker.fromLeader({ kind: 'acknowledged', items: [{ job: 7, attempt: 2, count: 2 }] });
  rig.connect();
  const held = rig.hellos.at(-1)?.held.map(({ job, attempt }) => `${job}.${attempt}`);
  assert.equal(held?.sort(), ['7.1', '8.1']);
});

// A39: one timer for all run times, set anew by its own callback: it cannot overlap itself.
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

// A41: a handler that never comes back gives its slot back all the same.
workers(
  'a handler that ignores its signal loses its attempt, and its late output is for nobody',
  async () => {
    let finish: (value: unknown) => void = () => undefined;
    const rig = new WorkerRig(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    rig.assign(1, 1, { runMs: 10 });
    rig.time.advance(10);
    assert.equal([rig.outcomes(), rig.worker.running], [['1.1 timed-out'], 0]);
    finish('too late');
    await turns();
    assert.equal([rig.outcomes(), rig.worker.running], [[], 0]);
  },
);

workers('what is no JSON is a failure that says so, and is not tried again', () => {
  const rig = new WorkerRig(() => () => 1);
  rig.assign(1);
  const [end] = rig.ends();
  assert.equal(
    end?.outcome === 'final' ? end.failure.message : end,
    'output cannot be written as JSON: a function',
  );
});

workers('failed attempts are told; what was cancelled, taken away or given back is not', () => {
  const rig = new WorkerRig((input) => {
    if (input === 1) throw new Error('no good');
    return new Promise(() => undefined);
  });
  rig.assign(1);
  rig.assign(2, 1, { payload: '2' });
  rig.assign(3, 1, { payload: '3' });
  rig.worker.fromLeader({ kind: 'abort', items: [{ job: 2, attempt: 1, reason: 'cancelled' }] });
  rig.worker.drain(5, () => undefined);
  rig.time.advance(10);
  assert.equal(rig.failures, [
    {
      jobId: 'tag-1',
      exec: 'some.job',
      attempt: 1,
      outcome: 'failed',
      failure: { name: 'Error', message: 'no good' },
    },
  ]);
  assert.equal(rig.outcomes(), ['1.1 failed', '2.1 failed', '3.1 released']);
});

workers('it names the group for which its handler was written', () => {
  const Paint = defineJob('wall.paint', { group: 'crew', input: anything, output: anything });
  const rig = new WorkerRig(() => 1, [handle(Paint, () => 1)]);
  assert.equal(rig.hellos[0]?.execs, ['crew/wall.paint']);
});

workers('a job it has no handler for fails, and the worker goes on', () => {
  const rig = new WorkerRig(() => 1);
  rig.assign(1, 1, { exec: 'other.job' });
  rig.assign(2);
  assert.equal(rig.outcomes(), ['1.1 failed', '2.1 ok']);
});

// A43: the numbers of one leader are other jobs at another.
workers('what another leader had assigned is aborted and forgotten, not reported to this one', async () => {
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

/** A worker with four slots whose handler stays until it is let go; an input of 0 returns at once. */
function patientRig() {
  const inside = new Map<unknown, (value: unknown) => void>();
  const rig = new WorkerRig((input) =>
    input === 0 ? null : new Promise((resolve) => inside.set(input, resolve)),
  );
  const letGo = async (no: number): Promise<void> => {
    inside.get(no)?.(null);
    inside.delete(no);
    await turns();
  };
  return { rig, letGo, running: () => [...inside.keys()] };
}

// ADR 0138: what comes beyond the slots waits for one, in order.
workers('more than its slots never run at once; the rest begins as they come free', async () => {
  const { rig, letGo, running } = patientRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5, 6]);
  assert.equal([running(), rig.worker.running, rig.worker.held], [[1, 2, 3, 4], 4, 6]);
  await letGo(2);
  assert.equal([running(), rig.outcomes()], [[1, 3, 4, 5], ['2.1 ok']]);
  await letGo(1);
  assert.equal([running(), rig.worker.running], [[3, 4, 5, 6], 4]);
  // Its time to run counts from when it began.
  rig.time.advance(19);
  assert.equal(rig.outcomes(), ['1.1 ok']);
  rig.time.advance(981);
  assert.equal(rig.outcomes(), ['3.1 timed-out', '4.1 timed-out', '5.1 timed-out', '6.1 timed-out']);
});

workers('what waits for longer than a row should take is given back, and no more is asked for', async () => {
  const { rig, letGo, running } = patientRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5, 6]);
  rig.time.advance(19);
  assert.equal(rig.outcomes(), []);
  rig.time.advance(1);
  assert.equal(rig.outcomes(), ['5.1 released', '6.1 released']);
  assert.equal([running(), rig.worker.running], [[1, 2, 3, 4], 4]);
  // What is said again is still in hand until it is settled.
  rig.assign(5);
  assert.is(rig.worker.running, 4);
  await letGo(1);
  assert.equal([running(), rig.failures], [[2, 3, 4], []]);
  rig.worker.disconnected();
  rig.connect();
  assert.is(rig.hellos.at(-1)?.credit.jobs, 1);
});

workers('one that waits can be cancelled, and does not begin', async () => {
  const { rig, letGo, running } = patientRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5, 6]);
  rig.worker.fromLeader({ kind: 'abort', items: [{ job: 5, attempt: 1, reason: 'cancelled' }] });
  assert.equal(rig.outcomes(), ['5.1 failed']);
  await letGo(1);
  assert.equal(running(), [2, 3, 4, 6]);
});

workers('what waits is named in a hello, and goes back with the rest when a drain ends', () => {
  const { rig, running } = patientRig();
  rig.warmUp(100);
  rig.assignAll([1, 2, 3, 4, 5]);
  rig.worker.disconnected();
  rig.connect();
  assert.equal(
    rig.hellos.at(-1)?.held.map(({ job: no }) => no),
    [1, 2, 3, 4, 5],
  );
  rig.worker.drain(5, () => undefined);
  rig.time.advance(5);
  assert.equal(running(), [1, 2, 3, 4]);
  assert.equal(
    rig.outcomes().sort(),
    [1, 2, 3, 4, 5].map((no) => `${no}.1 released`),
  );
});

workers('of a row whose first job holds the thread, as many are kept as there are slots', () => {
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

workers.run();
