import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Slots } from '#src/worker/slots.js';

const slots = suite('slots');

/** Time and load by hand. */
function surroundings() {
  const state = { now: 1, cpu: 0, timers: [] as { at: number; run: () => void }[] };
  const host = {
    now: () => state.now,
    wallNow: () => state.now,
    random: () => 0.5,
    soon: (run: () => void) => run(),
    later: (run: () => void) => run(),
    setTimer: (ms: number, run: () => void) => {
      const timer = { at: state.now + ms, run };
      state.timers.push(timer);
      const cancel = (): void => {
        state.timers = state.timers.filter((one) => one !== timer);
      };
      return { cancel };
    },
  };
  const advance = (ms: number): void => {
    state.now += ms;
    const due = state.timers.filter((one) => one.at <= state.now);
    state.timers = state.timers.filter((one) => one.at > state.now);
    for (const timer of due) timer.run();
  };
  return { state, host, advance, load: { cpu: () => state.cpu, lagMs: () => 0 } };
}

const settings = { slots: 4, bytesMax: 100, cpuCap: 0.75, withholdMsMax: 1_300, patterns: [] };

// Spec §7: credits out + running + withheld = slots. A23: the totals never fall and never exceed what is free.
slots(
  'whatever happens, what is granted and unused, what runs and what is held back make up the slots',
  () => {
    const steps = fc.array(fc.constantFrom('take', 'give', 'busy', 'calm', 'wait', 'reconnect'), {
      maxLength: 60,
    });
    void fc.assert(
      fc.property(steps, (all) => {
        const world = surroundings();
        const worker = new Slots(settings, world.host, world.load, () => undefined);
        let credit = worker.restart();
        let spent = 0;
        let running = 0;
        for (const step of all) {
          if (step === 'take' && credit.jobs > spent) {
            spent += 1;
            running += 1;
            worker.take(10);
          }
          if (step === 'give' && running > 0) {
            running -= 1;
            worker.giveBack(10);
          }
          if (step === 'busy') world.state.cpu = 0.9;
          if (step === 'calm') world.state.cpu = 0.1;
          if (step === 'wait') world.advance(200);
          const before = step === 'reconnect' ? 0 : credit.jobs;
          if (step === 'reconnect') spent = 0;
          credit = step === 'reconnect' ? worker.restart() : worker.credit();
          assert.ok(credit.jobs >= before, 'the total never falls');
          assert.ok(credit.jobs - spent + running <= settings.slots, 'never more than there are slots');
          assert.is(worker.running, running);
        }
      }),
      { numRuns: 300 },
    );
  },
);

slots('a busy processor holds slots back, but not for longer than the limit', () => {
  const world = surroundings();
  let offers = 0;
  const worker = new Slots(settings, world.host, world.load, () => {
    offers += 1;
  });
  assert.is(worker.restart().jobs, 4);
  worker.take(10);
  world.state.cpu = 0.9;
  worker.giveBack(10);
  assert.is(worker.credit().jobs, 4);
  for (let i = 0; i < 20; i += 1) world.advance(50);
  assert.equal([worker.credit().jobs, offers], [4, 0]);
  for (let i = 0; i < 8; i += 1) world.advance(50);
  assert.equal([worker.credit().jobs, offers], [5, 1]);
});

slots('bytes come back with the attempt that held them', () => {
  const world = surroundings();
  const worker = new Slots(settings, world.host, world.load, () => undefined);
  assert.is(worker.restart().bytes, 100);
  worker.take(30);
  assert.is(worker.credit().bytes, 100);
  worker.giveBack(30);
  assert.is(worker.credit().bytes, 130);
  worker.take(60);
  assert.is(worker.restart().bytes, 40);
});

slots.run();
