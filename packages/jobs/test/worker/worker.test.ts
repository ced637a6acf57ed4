import { defineJob, handle } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WorkerHello, WorkerMessage } from '#src/protocol/worker-messages.js';
import { Worker } from '#src/worker/worker.js';
import { DEFAULT_WORKER_SETTINGS } from '#src/worker/worker-options.js';
import { aString } from '../plain-schema.js';

const workers = suite('worker');

const Paint = defineJob('wall.paint', { group: 'crew', input: aString, output: aString });
const assignment = {
  job: 7,
  attempt: 1,
  exec: Paint.exec,
  payload: '"red"',
  client: 'ann',
  runMs: 10_000,
  outputBytes: 1_000,
};

/** A worker alone: what it says is kept, what its handler is to return is decided by the test. */
function alone() {
  const hellos: WorkerHello[] = [];
  const said: WorkerMessage[] = [];
  const runs: ((output: string) => void)[] = [];
  const due: (() => void)[] = [];
  const put = (run: () => void): void => void due.push(run);
  const worker = new Worker({
    worker: 'w',
    incarnation: '1',
    handlers: [handle(Paint, () => new Promise<string>((resolve) => runs.push(resolve)))],
    settings: { ...DEFAULT_WORKER_SETTINGS, slots: 2, cpuCap: 1 },
    host: {
      now: () => 1,
      wallNow: () => 1,
      random: () => 0.5,
      soon: put,
      later: put,
      setTimer: () => ({ cancel: () => undefined }),
    },
    load: { cpu: () => 0, lagMs: () => 0 },
    link: { open: (hello) => hellos.push(hello), send: (message) => said.push(message) },
  });
  const settle = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    for (const run of due.splice(0)) run();
  };
  worker.connect();
  worker.fromLeader({ kind: 'welcome', tag: 'abcde', beatMs: 1_000 });
  const ends = () => said.flatMap((message) => (message.kind === 'report' ? message.ends : []));
  return { worker, hellos, runs, ends, settle };
}

// A33: an assignment that comes again, while the attempt runs and after it has ended, starts nothing.
workers('an attempt in hand is run once, however often it is assigned', async () => {
  const { worker, runs, ends, settle } = alone();
  const again = (): void => worker.fromLeader({ kind: 'assign', items: [assignment, assignment] });
  again();
  again();
  assert.equal([runs.length, worker.running], [1, 1]);
  runs[0]?.('done');
  await settle();
  assert.is(ends().length, 1);
  again();
  await settle();
  assert.equal([runs.length, worker.inHand], [1, 1]);
  worker.fromLeader({ kind: 'settled', items: [{ job: 7, attempt: 1 }] });
  assert.is(worker.inHand, 0);
  worker.fromLeader({ kind: 'assign', items: [{ ...assignment, attempt: 2 }] });
  assert.is(runs.length, 2);
});

workers('after a cut it says what it has in hand, and the end that nobody confirmed once more', async () => {
  const { worker, hellos, runs, ends, settle } = alone();
  worker.fromLeader({ kind: 'assign', items: [assignment, { ...assignment, job: 8 }] });
  runs[0]?.('done');
  await settle();
  worker.disconnected();
  worker.connect();
  assert.equal(hellos.at(-1)?.held, [
    { job: 7, attempt: 1 },
    { job: 8, attempt: 1 },
  ]);
  worker.fromLeader({ kind: 'welcome', tag: 'abcde', beatMs: 1_000 });
  await settle();
  assert.equal(
    ends().map((end) => end.job),
    [7, 7],
  );
});

workers('it names the group for which its handler was written', () => {
  assert.equal(alone().hellos[0]?.execs, ['crew/wall.paint']);
});

workers.run();
