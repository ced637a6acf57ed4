import { ManualHost } from '@troupe/core/testing';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TimerNode, TimerWheel } from '#src/timers/timer-wheel.js';

const wheel = suite('timer wheel');

class Note extends TimerNode {
  readonly name: string;
  readonly fired: { readonly name: string; readonly at: number }[];
  readonly host: ManualHost;
  constructor(host: ManualHost, fired: Note['fired'], name: string) {
    super();
    this.host = host;
    this.fired = fired;
    this.name = name;
  }
  override expire(): void {
    this.fired.push({ name: this.name, at: this.host.now() });
  }
}

function setUp() {
  const host = new ManualHost();
  const timers: TimerWheel = new TimerWheel(host, () => timers.advance(host.now()));
  const fired: Note['fired'] = [];
  return { host, timers, fired, note: (name: string) => new Note(host, fired, name) };
}

wheel('every timer fires once, never early, ordered by due time and then by arming', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          due: fc.oneof(
            fc.integer({ min: 0, max: 20 }),
            fc.integer({ min: 0, max: 10_000 }),
            fc.double({ min: 0, max: 50, noNaN: true }),
          ),
          cancelled: fc.boolean(),
        }),
        { maxLength: 30 },
      ),
      (plans) => {
        const { host, timers, fired, note } = setUp();
        const nodes = plans.map(({ due }, i) => {
          const node = note(String(i));
          timers.arm(node, due);
          return node;
        });
        plans.forEach(({ cancelled }, i) => {
          if (cancelled) timers.cancel(nodes[i] as Note);
        });
        host.moveTo(12_000);
        const live = plans.map((plan, i) => ({ ...plan, i })).filter((plan) => !plan.cancelled);
        assert.is(fired.length, live.length);
        assert.is(timers.live, 0);
        for (const { name, at } of fired) {
          const due = (plans[Number(name)] as { due: number }).due;
          assert.ok(at >= due, `${name} fired at ${at}, before ${due}`);
          assert.ok(at <= Math.max(1, Math.ceil(due)), `${name} fired at ${at}, due ${due}`);
        }
        const order = [...live].sort((a, b) => a.due - b.due || a.i - b.i).map(({ i }) => String(i));
        assert.equal(
          fired.map(({ name }) => name),
          order,
        );
      },
    ),
    { seed: 2, numRuns: 300, examples: [] },
  );
});

wheel('a timer that is armed again while its bucket fires waits for its new time', () => {
  const { host, timers, fired, note } = setUp();
  const second = note('second');
  class First extends TimerNode {
    override expire(): void {
      timers.cancel(second);
      timers.arm(second, 30);
    }
  }
  timers.arm(new First(), 5);
  timers.arm(second, 5);
  host.moveTo(29);
  assert.equal(fired, []);
  host.moveTo(30);
  assert.equal(fired, [{ name: 'second', at: 30 }]);
});

wheel('a timer due in years does not exceed the longest host timer', () => {
  const { host, timers, note } = setUp();
  const asked: number[] = [];
  const { setTimer } = host;
  host.setTimer = (ms, run) => {
    asked.push(ms);
    return setTimer.call(host, ms, run);
  };
  timers.arm(note('far'), 2 ** 40);
  timers.arm(note('never'), Number.POSITIVE_INFINITY);
  host.moveTo(10_000);
  assert.is(timers.live, 2);
  assert.ok(asked.length > 1);
  assert.ok(asked.every((ms) => ms <= 2 ** 31 - 1));
});

wheel('one host timer serves all timers, and a wheel without timers wakes up once', () => {
  const { host, timers, note } = setUp();
  const nodes = Array.from({ length: 1_000 }, (_, i) => note(String(i)));
  for (const node of nodes) timers.arm(node, 500);
  for (const node of nodes) timers.cancel(node);
  assert.is(timers.live, 0);
  assert.ok(host.nextDue() !== undefined);
  host.moveTo(500);
  assert.is(host.nextDue(), undefined);
});

wheel('closing the wheel notifies every pending timer once', () => {
  const { timers, fired, note } = setUp();
  const node = note('waits');
  timers.arm(node, 1_000);
  timers.arm(note('waits longer'), 100_000);
  timers.close();
  timers.close();
  assert.equal(fired.map(({ name }) => name).sort(), ['waits', 'waits longer']);
  assert.is(timers.live, 0);
});

wheel('300,000 timers due in the same millisecond fire in the order of their arming', () => {
  const { host, timers, fired, note } = setUp();
  const count = 300_000;
  for (let i = 0; i < count; i += 1) timers.arm(note(String(i)), 5);
  host.moveTo(5);
  assert.is(fired.length, count);
  assert.ok(fired.every(({ name }, i) => name === String(i)));
});

wheel.run();
