import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BATCH_JOBS_MAX, RunTimeEstimate } from '#src/protocol/worker/run-time-estimate.js';
import { HandlerSlots } from '#src/worker/credit/handler-slots.js';
import { ManualTime } from '../../manual-time.js';

const slots = suite('handler slots');

/** A manual clock and a manual load. */
class SlotsRig {
  readonly time = new ManualTime();
  cpu = 0;
  readonly load = { cpu: () => this.cpu, lagMs: () => 0 };
}

const settings = { slots: 4, bytesMax: 100, cpuCap: 0.75, withholdMsMax: 1_300, patterns: [], labels: [] };

function slotsIn({ time, load }: SlotsRig, onGrant = (): void => undefined) {
  const estimate = new RunTimeEstimate();
  return { estimate, worker: new HandlerSlots({ settings, estimate, timers: time.host, load }, onGrant) };
}

const waiting = { payloadBytes: 10, hasBegun: false };
const begun = { payloadBytes: 10, hasBegun: true };

// The totals never fall and never exceed the free slots.
slots('unused credit and held attempts are together never more than slots and a batch', () => {
  const kinds = [
    'take',
    'begin',
    'release',
    'releaseQueued',
    'short',
    'long',
    'busy',
    'idle',
    'wait',
    'reconnect',
  ];
  void fc.assert(
    fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 90 }), (steps) => {
      const rig = new SlotsRig();
      const { estimate, worker } = slotsIn(rig);
      let credit = worker.restart();
      let [spent, queued, running] = [0, 0, 0];
      for (const step of steps) {
        const allowed = settings.slots + estimate.batchSize;
        const outBefore = credit.jobs - spent + queued + running;
        if (step === 'take' && credit.jobs > spent) {
          spent += 1;
          queued += 1;
          worker.take(waiting);
        }
        if (step === 'begin' && queued > 0 && !worker.isFull) {
          queued -= 1;
          running += 1;
          worker.begin();
        }
        if (step === 'release' && running > 0) {
          running -= 1;
          worker.release(begun);
        }
        if (step === 'releaseQueued' && queued > 0) {
          queued -= 1;
          worker.release(waiting);
        }
        if (step === 'short') estimate.add(1, 0.01);
        if (step === 'long') estimate.add(1, 5_000);
        if (step === 'busy') rig.cpu = 0.9;
        if (step === 'idle') rig.cpu = 0.1;
        if (step === 'wait') rig.time.advance(200);
        const before = step === 'reconnect' ? 0 : credit.jobs;
        if (step === 'reconnect') spent = 0;
        credit = step === 'reconnect' ? worker.restart() : worker.credit();
        assert.ok(credit.jobs >= before, 'the total never falls');
        const out = credit.jobs - spent + queued + running;
        assert.ok(out <= settings.slots + BATCH_JOBS_MAX, 'never more than slots and a batch');
        assert.ok(out <= Math.max(allowed, outBefore), 'no new credit beyond the present batch');
        assert.equal([worker.running, worker.isFull], [running, running === settings.slots]);
      }
    }),
    { numRuns: 500 },
  );
});

// ADR 0410.
slots('short attempts are granted a batch beyond the slots, long ones are not', () => {
  const { estimate, worker } = slotsIn(new SlotsRig());
  assert.is(worker.restart().jobs, 4);
  worker.take(waiting);
  worker.begin();
  estimate.add(1, 0.1);
  worker.release(begun);
  // Twenty of a tenth of a millisecond make two milliseconds.
  assert.is(worker.credit().jobs, 1 + 4 + 20);
  worker.take(waiting);
  estimate.add(1, 50);
  worker.release(waiting);
  assert.is(worker.credit().jobs, 1 + 4 + 20);
});

slots('a worker that gets more jobs than its credit stops', () => {
  const { worker } = slotsIn(new SlotsRig());
  worker.restart();
  for (let i = 0; i < settings.slots; i += 1) worker.take(waiting);
  assert.throws(() => worker.take(waiting), /1 more jobs than credit/);
});

slots('a busy processor withholds slots, but not for longer than the limit', () => {
  const rig = new SlotsRig();
  let offers = 0;
  const { worker } = slotsIn(rig, () => {
    offers += 1;
  });
  assert.is(worker.restart().jobs, 4);
  worker.take(waiting);
  rig.cpu = 0.9;
  worker.release(waiting);
  assert.is(worker.credit().jobs, 4);
  for (let i = 0; i < 20; i += 1) rig.time.advance(50);
  assert.equal([worker.credit().jobs, offers], [4, 0]);
  for (let i = 0; i < 8; i += 1) rig.time.advance(50);
  assert.equal([worker.credit().jobs, offers], [5, 1]);
});

slots('bytes are granted again when their attempt ends', () => {
  const { worker } = slotsIn(new SlotsRig());
  const [light, heavy] = [
    { payloadBytes: 30, hasBegun: false },
    { payloadBytes: 60, hasBegun: false },
  ];
  assert.is(worker.restart().bytes, 100);
  worker.take(light);
  assert.is(worker.credit().bytes, 100);
  worker.release(light);
  assert.is(worker.credit().bytes, 130);
  worker.take(heavy);
  assert.is(worker.restart().bytes, 40);
});

slots.run();
