import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ScheduleOverlap } from '#src/ledger/schedules/schedule-rule.js';
import { nth } from '../leader-harness.js';
import { ScheduleHarness, START } from './schedule-harness.js';

const scheduler = suite('scheduler');

scheduler('a schedule submits a job at each of its instants', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  assert.is(world.set({ everyMs: 1_000 })?.kind, 'schedule');
  assert.is(world.view().nextAt, START + 1_000);
  world.harness.advance(999);
  assert.equal(world.fired(), []);
  world.harness.advance(1);
  assert.equal(world.fired(), [1_000], 'to the millisecond');
  const assigned = nth(worker.assigned(), 0);
  assert.equal([assigned.exec, assigned.payload, assigned.client], ['one', '"in"', 'ann']);
  worker.succeed(assigned);
  world.harness.advance(2_000);
  assert.equal(world.fired(), [1_000, 2_000], 'the second run is not over, and the third waits');
  const { runs, lastAt, lastWallAt, lastJob, held } = world.view();
  assert.equal([runs, lastAt, lastWallAt, lastJob, held], [2, START + 2_000, START + 2_000, 2, 1]);
});

scheduler('an instant, its job and the instant that follows are one record', () => {
  const world = new ScheduleHarness();
  world.set({ everyMs: 1_000 });
  world.harness.heldWrites = [];
  world.harness.advance(1_000);
  assert.is(world.harness.counts()['queued'], 0);
  world.restart();
  assert.equal(
    world.fired(),
    [1_000],
    'the record was lost with its job, and the instant is run by the next leader',
  );
  const [fire] = world.fires();
  assert.equal([fire?.jobs.length, fire?.nextAt, fire?.wallAt], [1, START + 2_000, START + 1_000]);
});

scheduler('overlap skip drops an instant while the run before is not over', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap: 'skip' });
  world.harness.advanceWithHeartbeats(3_500, worker);
  assert.equal(world.fired(), [1_000]);
  assert.is(world.view().skipped, 2);
  worker.succeed(nth(worker.assigned(), 0));
  world.harness.advanceWithHeartbeats(1_000, worker);
  assert.equal(world.fired(), [1_000, 4_000]);
});

scheduler('overlap queue runs an instant when the run before is over', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap: 'queue' });
  world.harness.advanceWithHeartbeats(3_500, worker);
  assert.equal([world.view().held, worker.assigned().length], [2, 1]);
  for (const at of [0, 1, 2]) worker.succeed(nth(worker.assigned(), at));
  assert.equal([world.view().held, worker.assigned().length, world.view().runs], [0, 3, 3]);
});

scheduler('held instants outlive a restart', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap: 'queue' });
  world.harness.advanceWithHeartbeats(2_500, worker);
  const first = nth(worker.assigned(), 0);
  world.restart();
  const again = world.harness.worker({ slots: 8, held: [first] });
  again.succeed(first);
  assert.is(again.assigned().length, 1);
});

scheduler('overlap replace cancels the run before, running or queued, in the same record', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap: 'replace' });
  world.harness.advanceWithHeartbeats(2_000, worker);
  assert.equal(worker.aborted(), ['1.1 cancelled']);
  assert.equal(
    world.fires().map(({ replaced }) => replaced),
    [0, 1],
  );
  const [job] = [world.harness.leader.ledger.jobs.get(1)];
  assert.equal([job?.state, job?.end?.reason], ['cancelled', 'replaced by the next run of schedule night']);
});

/** The first instant's job goes on; that of a request behind it has ended. */
function besideRequest(overlap: ScheduleOverlap) {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap });
  world.harness.advance(1_000);
  world.call({ kind: 'schedule-run', name: 'night' });
  assert.is(worker.assigned().length, 2, 'a request waits for no run');
  worker.succeed(nth(worker.assigned(), 1));
  return { world, worker };
}

scheduler('overlap skip looks at every run, also behind one by request and over a restart', () => {
  const { world, worker } = besideRequest('skip');
  world.harness.advanceWithHeartbeats(1_000, worker);
  assert.is(world.view().runs, 2);
  world.restart();
  const again = world.harness.worker({ slots: 8, held: [nth(worker.assigned(), 0)] });
  world.harness.advanceWithHeartbeats(1_000, again);
  assert.equal([world.view().runs, world.view().skipped], [2, 2]);
  again.succeed(nth(worker.assigned(), 0));
  world.harness.advanceWithHeartbeats(1_000, again);
  assert.is(world.view().runs, 3);
});

scheduler('a run by request is one that instants look at', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap: 'skip' });
  world.call({ kind: 'schedule-run', name: 'night' });
  world.harness.advanceWithHeartbeats(1_000, worker);
  assert.equal([world.view().runs, world.view().skipped], [1, 1]);
});

scheduler('overlap queue holds an instant until every run is over', () => {
  for (const order of [
    [0, 2],
    [2, 0],
  ]) {
    const { world, worker } = besideRequest('queue');
    world.harness.advanceWithHeartbeats(1_000, worker);
    world.call({ kind: 'schedule-run', name: 'night' });
    assert.equal([world.view().held, worker.assigned().length], [1, 3]);
    const [first = 0, second = 0] = order;
    worker.succeed(nth(worker.assigned(), first));
    assert.equal([world.view().held, worker.assigned().length], [1, 3]);
    worker.succeed(nth(worker.assigned(), second));
    assert.equal([world.view().held, worker.assigned().length], [0, 4]);
  }
});

scheduler('overlap replace cancels every run that is not over', () => {
  const { world, worker } = besideRequest('replace');
  world.call({ kind: 'schedule-run', name: 'night' });
  world.harness.advanceWithHeartbeats(1_000, worker);
  assert.equal(worker.aborted(), ['1.1 cancelled', '3.1 cancelled']);
  const reasons = [1, 3].map((no) => world.harness.leader.ledger.jobs.get(no)?.end?.reason);
  assert.equal(reasons, Array(2).fill('replaced by the next run of schedule night'));
  assert.is(world.view().lastJob, 4);
});

scheduler('a dead letter of an earlier run that is redriven is one that instants look at', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap: 'skip' });
  world.harness.advance(1_000);
  worker.failFinally(nth(worker.assigned(), 0));
  world.harness.advance(1_000);
  world.call({ kind: 'redrive', jobs: [1] });
  worker.succeed(nth(worker.assigned(), 1));
  world.harness.advanceWithHeartbeats(1_000, worker);
  assert.equal([world.view().runs, world.view().skipped], [2, 1]);
});

scheduler('a schedule that is removed and added again has no earlier runs', () => {
  const { world, worker } = besideRequest('skip');
  world.call({ kind: 'schedule-drop', name: 'night' });
  world.set({ everyMs: 1_000, overlap: 'skip' });
  world.harness.advanceWithHeartbeats(1_000, worker);
  assert.is(world.view().runs, 1);
});

const CATCH_UP: readonly (readonly [catchUpMax: number, expected: readonly number[]])[] = [
  [0, []],
  [1, [60_000]],
  [2, [40_000, 60_000]],
];
for (const [catchUpMax, expected] of CATCH_UP)
  scheduler(`catch-up of ${catchUpMax} runs the last ${catchUpMax} instants of an absence`, () => {
    const world = new ScheduleHarness();
    world.worker();
    world.set({ everyMs: 20_000, catchUpMax, fromAt: START });
    world.restart(75_000);
    const worker = world.worker();
    world.harness.advance(100);
    for (let i = 0; i < worker.assigned().length; i += 1) worker.succeed(nth(worker.assigned(), i));
    world.harness.advance(200);
    const all = world.fires().map(({ slotAt }) => slotAt - START);
    if (catchUpMax > 0) assert.equal(all.slice(0, expected.length), expected);
    assert.is(world.view().nextAt, START + 80_000);
    assert.is(world.view().runs, expected.length);
  });

scheduler('a run that is a little late is not a missed one', () => {
  const world = new ScheduleHarness();
  world.set({ everyMs: 60_000, catchUpMax: 0, fromAt: START });
  world.restart(65_000);
  world.harness.advance(100);
  assert.equal(world.fired(), [60_000]);
});

scheduler('a step of the wall clock backwards runs nothing twice', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000 });
  const run = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 500) {
      world.harness.advanceWithHeartbeats(500, worker);
      const last = worker.assigned().at(-1);
      if (last !== undefined && world.view().lastJob === last.job) worker.succeed(last);
    }
  };
  run(2_000);
  world.harness.wallStepMs = -1_500;
  run(1_500);
  assert.equal(world.fired(), [1_000, 2_000]);
  run(1_000);
  assert.equal(world.fired(), [1_000, 2_000, 3_000]);
  world.harness.wallStepMs -= 10_000;
  world.restart();
  run(5_000);
  assert.equal(world.fired(), [1_000, 2_000, 3_000], 'nor over a restart');
});

scheduler('a step of the wall clock forward is an absence', () => {
  const world = new ScheduleHarness();
  world.worker();
  world.set({ everyMs: 1_000, catchUpMax: 1 });
  world.harness.wallStepMs = 3_600_000;
  world.harness.advance(100);
  assert.equal(world.fired(), [3_600_000]);
  const [fire] = world.fires();
  assert.is((fire?.wallAt ?? 0) - (fire?.at ?? 0), 3_600_000, 'both clocks are in the record');
});

scheduler('a paused schedule does not run, nor does it catch up', () => {
  const world = new ScheduleHarness();
  world.worker();
  world.set({ everyMs: 1_000 });
  world.call({ kind: 'schedule-pause', name: 'night', paused: true });
  world.harness.advance(5_000);
  world.restart();
  assert.is(world.view().paused, true);
  world.call({ kind: 'schedule-pause', name: 'night', paused: false });
  world.harness.advance(100);
  assert.equal(world.fired(), []);
  world.harness.advance(1_000);
  assert.equal(world.fired(), [6_000]);
});

scheduler('run now submits a job beside the instants, once for each call', () => {
  const world = new ScheduleHarness();
  world.worker();
  world.set({ everyMs: 60_000, overlap: 'skip', fromAt: START });
  const run = { kind: 'call', call: 77, request: { kind: 'schedule-run', name: 'night' } } as const;
  world.client.write(run);
  world.client.write(run);
  assert.is(world.harness.counts()['running'], 1);
  assert.equal([world.view().runs, world.view().nextAt], [1, START + 60_000]);
  const [fire] = world.fires();
  assert.is(fire?.by, 'ann');
});

scheduler(
  'a request to run a schedule is repeated without a run after its job was replaced and dropped',
  () => {
    const world = new ScheduleHarness();
    world.set({ everyMs: 1_000, overlap: 'replace' }, 'night', { keepMs: 100 });
    const run = { kind: 'call', call: 77, request: { kind: 'schedule-run', name: 'night' } } as const;
    world.client.write(run);
    world.harness.advance(1_500);
    const [requested] = world.fires();
    assert.is(world.harness.leader.ledger.jobs.get(requested?.jobs[0]?.job ?? 0), undefined, 'it is dropped');
    world.client.write(run);
    assert.is(world.view().runs, 2, 'one by request, one by its instant');
  },
);

scheduler('a request to run a schedule is repeated without a run after the schedule was changed', () => {
  const world = new ScheduleHarness();
  world.set({ everyMs: 60_000, fromAt: START });
  const run = { kind: 'call', call: 77, request: { kind: 'schedule-run', name: 'night' } } as const;
  world.client.write(run);
  world.set({ everyMs: 60_000, fromAt: START }, 'night', { exec: 'two' });
  world.client.write(run);
  assert.is(world.view().runs, 1);
  world.restart();
  world.client.write(run);
  assert.is(world.view().runs, 2, 'another client may have the same number');
});

scheduler('a request to run a schedule takes a place among the idempotency keys', () => {
  const world = new ScheduleHarness({ limits: { keysMax: 1 } });
  world.set({ everyMs: 60_000, fromAt: START });
  assert.is(world.call({ kind: 'schedule-run', name: 'night' })?.kind, 'schedule');
  const refused = world.call({ kind: 'schedule-run', name: 'night' });
  assert.is(refused?.kind === 'refused' && refused.code, 'ERR_LEADER_BUSY');
  assert.is(world.view().runs, 1);
});

scheduler('a removed schedule does not run, and its jobs go on', () => {
  const world = new ScheduleHarness();
  world.set({ everyMs: 1_000 });
  world.harness.advance(1_000);
  world.call({ kind: 'schedule-drop', name: 'night' });
  world.harness.advance(5_000);
  assert.equal([world.fired(), world.harness.counts()['queued']], [[1_000], 1]);
  assert.equal(world.call({ kind: 'schedule-drop', name: 'night' }), { kind: 'count', count: 0 });
});

scheduler('a changed schedule does not run an instant again', () => {
  const world = new ScheduleHarness();
  world.worker();
  world.set({ everyMs: 1_000 });
  world.harness.advance(1_000);
  world.set({ everyMs: 500 });
  assert.is(world.view().nextAt, START + 1_500);
  world.set({ everyMs: 500 });
  const sets = world.harness.records().filter(({ type }) => type === 'schedule_set');
  assert.is(sets.length, 2, 'the same again is no change');
});

scheduler('jitter delays a run by less than its limit, and by the same after a restart', () => {
  const world = new ScheduleHarness();
  for (let i = 0; i < 20; i += 1) world.set({ everyMs: 10_000, jitterMs: 1_000 }, `s${i}`);
  world.harness.advance(10_500);
  world.restart();
  world.harness.advance(1_000);
  const delays = world.harness
    .records()
    .flatMap((record) => (record.type === 'schedule_fire' ? [record.wallAt - record.slotAt] : []));
  assert.is(delays.length, 20);
  assert.ok(delays.every((ms) => ms >= 0 && ms < 1_000));
  assert.ok(new Set(delays).size > 10);
});

scheduler('a full leader runs its schedules when there is room', () => {
  const world = new ScheduleHarness({ limits: { jobsMax: 1 } });
  world.client.submit('x');
  world.set({ everyMs: 1_000 });
  world.harness.advance(1_500);
  assert.equal(world.fired(), []);
  const worker = world.worker();
  worker.succeed(nth(worker.assigned(), 0));
  world.harness.advance(200);
  assert.equal(world.fired(), [1_000]);
});

scheduler('a schedule waits while an operator drains its queue, and catches up when it is resumed', () => {
  const world = new ScheduleHarness();
  world.set({ everyMs: 1_000, overlap: 'replace' });
  for (const queue of ['g/one', '*']) {
    const before = world.fired().length;
    world.call({ kind: 'queue-mode', queue, mode: 'draining' });
    world.harness.advance(2_500);
    const answer = world.call({ kind: 'schedule-run', name: 'night' });
    const problem = `an operator drains queue ${queue}`;
    assert.equal(answer, { kind: 'refused', code: 'ERR_LEADER_BUSY', problem });
    assert.is(world.fired().length, before, 'nothing is submitted');
    world.call({ kind: 'queue-mode', queue, mode: 'open' });
    world.harness.advance(200);
    assert.is(world.fired().length, before + 1, 'the last instant');
  }
  assert.equal(world.fired(), [2_000, 5_000]);
});

scheduler('a schedule whose jobs fill the dead letters waits until there is room', () => {
  const world = new ScheduleHarness({ limits: { deadMax: 1 } });
  const worker = world.worker();
  world.set({ everyMs: 1_000 });
  world.harness.advance(1_000);
  worker.failFinally(nth(worker.assigned(), 0));
  world.harness.advanceWithHeartbeats(1_500, worker);
  assert.equal(world.fired(), [1_000]);
  world.call({ kind: 'purge', jobs: [1] });
  world.harness.advance(200);
  assert.equal(world.fired(), [1_000, 2_000]);
});

scheduler('an instant waits for the redrive of the run before that is being written', () => {
  const world = new ScheduleHarness();
  const worker = world.worker();
  world.set({ everyMs: 1_000, overlap: 'replace' });
  world.harness.advance(1_000);
  worker.failFinally(nth(worker.assigned(), 0));
  world.harness.advance(990);
  world.harness.heldWrites = [];
  world.call({ kind: 'redrive', jobs: [1] });
  world.harness.advance(20);
  for (const write of world.harness.heldWrites) write();
  world.harness.heldWrites = undefined;
  world.harness.advance(200);
  assert.equal(
    world.fires().map(({ replaced }) => replaced),
    [0, 1],
  );
});

scheduler('a schedule holds a bounded number of instants for the end of its run', () => {
  const world = new ScheduleHarness();
  world.set({ everyMs: 100 });
  for (let instant = 1; instant <= 1_010; instant += 1) world.harness.advance(100);
  assert.equal([world.view().held, world.view().skipped], [1_000, 9]);
});

scheduler('a run that had no room is not lost when the wall clock is set back meanwhile', () => {
  const world = new ScheduleHarness({ limits: { jobsMax: 1 } });
  world.client.submit('x');
  world.set({ everyMs: 1_000 });
  world.harness.advance(1_050);
  world.harness.wallStepMs = -500;
  world.harness.advance(200);
  const worker = world.worker();
  worker.succeed(nth(worker.assigned(), 0));
  world.harness.advance(500);
  assert.equal(world.fired(), [1_000]);
});

scheduler('the policy of a schedule is kept while no job and no session refers to it', () => {
  const world = new ScheduleHarness({ limits: { policiesMax: 2 } });
  world.set({ everyMs: 1_000 });
  world.restart();
  world.harness.advance(1_000);
  assert.equal(world.fired(), [1_000]);
});

scheduler('a bad rule, a bad name and an unknown schedule are refused, and nothing is recorded', () => {
  const world = new ScheduleHarness({ limits: { schedulesMax: 1 } });
  const before = world.harness.log.entries.length;
  const codeOf = (answer: ReturnType<typeof world.set>): string =>
    answer?.kind === 'refused' ? (answer.code ?? '') : (answer?.kind ?? 'none');
  assert.is(codeOf(world.set({ cron: '61 * * * *' })), 'ERR_SCHEDULE_INVALID');
  assert.is(codeOf(world.set({ cron: '@daily', zone: 'Mars/Base' })), 'ERR_SCHEDULE_INVALID');
  assert.is(codeOf(world.set({ everyMs: 1_000 }, 'a name')), 'ERR_SCHEDULE_INVALID');
  const large = world.set({ everyMs: 1_000 }, 'night', { payload: `"${'x'.repeat(65_536)}"` });
  assert.is(codeOf(large), 'ERR_SCHEDULE_INVALID');
  assert.is(codeOf(world.call({ kind: 'schedule-run', name: 'night' })), 'ERR_SCHEDULE_UNKNOWN');
  assert.is(world.harness.log.entries.length, before);
  world.set({ everyMs: 1_000 });
  assert.is(codeOf(world.set({ everyMs: 1_000 }, 'another')), 'ERR_SCHEDULES_FULL');
  assert.equal(world.harness.leader.overview().tables.schedules, { used: 1, max: 1 });
});

scheduler('a client sees and changes its own schedules alone, unless it may administer their group', () => {
  const world = new ScheduleHarness();
  const rights = (identity: string, isAdmin: boolean) => ({
    identity,
    permits: (action: string) => action !== 'admin' || isAdmin,
    owns: (client: string) => client.startsWith(`${identity}/`),
  });
  const { harness } = world;
  const own = harness.client('ann/c', 't3', rights('ann', false));
  world.client = own;
  world.set({ everyMs: 1_000 });
  const other = harness.client('bob/c', 't4', rights('bob', false));
  assert.equal(world.call({ kind: 'schedules', after: '', max: 10 }, other), {
    kind: 'schedules',
    views: [],
  });
  world.client = other;
  assert.is(world.set({ everyMs: 5_000 })?.kind, 'forbidden');
  const admin = harness.client('eve/c', 't5', rights('eve', true));
  world.client = admin;
  assert.is(world.call({ kind: 'schedule-pause', name: 'night', paused: true })?.kind, 'schedule');
});

scheduler.run();
