import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BATCH_JOBS_MAX, RunTimeEstimate } from '#src/protocol/run-time-estimate.js';
import { HandlerSlots } from '#src/worker/handler-slots.js';
import { ManualTime } from '../manual-time.js';

const slots = suite('slots');

/** Time and load by hand. */
class World {
  readonly time = new ManualTime();
  cpu = 0;
  readonly load = { cpu: () => this.cpu, lagMs: () => 0 };
}

const settings = { slots: 4, bytesMax: 100, cpuCap: 0.75, withholdMsMax: 1_300, patterns: [] };

function slotsIn({ time, load }: World, onOffer = (): void => undefined) {
  const estimate = new RunTimeEstimate();
  return { estimate, worker: new HandlerSlots({ settings, estimate, host: time.host, load }, onOffer) };
}

const waiting = { payloadBytes: 10, hasBegun: false };
const begun = { payloadBytes: 10, hasBegun: true };

// Spec §7: credits out + in hand are never more than was promised. A23: the totals never fall and never exceed what is free.
slots(
  'whatever happens, what is granted and unused and what is in hand are no more than slots and a row',
  () => {
    const kinds = [
      'take',
      'begin',
      'give',
      'giveWaiting',
      'short',
      'long',
      'busy',
      'calm',
      'wait',
      'reconnect',
    ];
    void fc.assert(
      fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 90 }), (steps) => {
        const world = new World();
        const { estimate, worker } = slotsIn(world);
        let credit = worker.restart();
        let [spent, inLine, running] = [0, 0, 0];
        for (const step of steps) {
          const promised = settings.slots + estimate.batchSize;
          const outBefore = credit.jobs - spent + inLine + running;
          if (step === 'take' && credit.jobs > spent) {
            spent += 1;
            inLine += 1;
            worker.take(waiting);
          }
          if (step === 'begin' && inLine > 0 && !worker.isFull) {
            inLine -= 1;
            running += 1;
            worker.begin();
          }
          if (step === 'give' && running > 0) {
            running -= 1;
            worker.release(begun);
          }
          if (step === 'giveWaiting' && inLine > 0) {
            inLine -= 1;
            worker.release(waiting);
          }
          if (step === 'short') estimate.add(1, 0.01);
          if (step === 'long') estimate.add(1, 5_000);
          if (step === 'busy') world.cpu = 0.9;
          if (step === 'calm') world.cpu = 0.1;
          if (step === 'wait') world.time.advance(200);
          const before = step === 'reconnect' ? 0 : credit.jobs;
          if (step === 'reconnect') spent = 0;
          credit = step === 'reconnect' ? worker.restart() : worker.credit();
          assert.ok(credit.jobs >= before, 'the total never falls');
          const out = credit.jobs - spent + inLine + running;
          assert.ok(out <= settings.slots + BATCH_JOBS_MAX, 'never more than slots and a row');
          assert.ok(out <= Math.max(promised, outBefore), 'nothing new is asked for beyond the row of now');
          assert.equal([worker.running, worker.isFull], [running, running === settings.slots]);
        }
      }),
      { numRuns: 500 },
    );
  },
);

// ADR 0138.
slots('while attempts are short a row more is asked for, and no more once they are long', () => {
  const { estimate, worker } = slotsIn(new World());
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

slots('a worker that is sent more than it asked for stops', () => {
  const { worker } = slotsIn(new World());
  worker.restart();
  for (let i = 0; i < settings.slots; i += 1) worker.take(waiting);
  assert.throws(() => worker.take(waiting), /1 more jobs than credit/);
});

slots('a busy processor holds slots back, but not for longer than the limit', () => {
  const world = new World();
  let offers = 0;
  const { worker } = slotsIn(world, () => {
    offers += 1;
  });
  assert.is(worker.restart().jobs, 4);
  worker.take(waiting);
  world.cpu = 0.9;
  worker.release(waiting);
  assert.is(worker.credit().jobs, 4);
  for (let i = 0; i < 20; i += 1) world.time.advance(50);
  assert.equal([worker.credit().jobs, offers], [4, 0]);
  for (let i = 0; i < 8; i += 1) world.time.advance(50);
  assert.equal([worker.credit().jobs, offers], [5, 1]);
});

slots('bytes come back with the attempt that held them', () => {
  const { worker } = slotsIn(new World());
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
