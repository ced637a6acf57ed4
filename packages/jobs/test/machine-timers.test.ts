import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MachineTimers } from '#src/machine-timers.js';
import { ManualTime } from './manual-time.js';

const timers = suite('machine timers');

class TimersRig {
  readonly time = new ManualTime(0);
  readonly ticks: number[] = [];
  readonly ran: string[] = [];
  readonly timers = new MachineTimers(this.time.host, (ms) => {
    this.ticks.push(ms);
    this.startTick(ms);
  });
  private readonly startTick = this.time.ticker(() => this.timers.tick());

  set(name: string, ms: number): { cancel(): void } {
    return this.timers.setTimer(ms, () => void this.ran.push(`${name} ${this.time.now}`));
  }
}

timers('timers run at their times on one tick, which is set anew only for an earlier one', () => {
  const rig = new TimersRig();
  rig.set('late', 50);
  rig.set('later', 80);
  rig.set('early', 20);
  assert.equal([rig.ticks, rig.time.pendingTimers], [[50, 20], 1]);
  for (let i = 0; i < 10; i += 1) rig.time.advance(10);
  assert.equal(rig.ran, ['early 20', 'late 50', 'later 80']);
  assert.is(rig.time.pendingTimers, 0);
});

timers('a cancelled timer does not run, and one that a timer sets waits for a later tick', () => {
  const rig = new TimersRig();
  const cancelled = rig.set('cancelled', 10);
  rig.timers.setTimer(10, () => {
    cancelled.cancel();
    rig.set('next', 0);
  });
  const again = rig.set('again', 10);
  again.cancel();
  cancelled.cancel();
  rig.time.advance(10);
  assert.equal(rig.ran, []);
  rig.time.advance(0);
  assert.equal(rig.ran, ['next 10']);
});

timers.run();
