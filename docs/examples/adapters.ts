// Actors made from a reducer, a class and a generator, and streams into and out of an actor.
import assert from 'node:assert/strict';
import {
  type ClassContext,
  createSystem,
  fromActor,
  fromClass,
  fromGenerator,
  fromReducer,
  toActor,
} from '@troupe/core';

type Change = { readonly kind: 'add'; readonly n: number } | { readonly kind: 'clear' };
const Total = fromReducer(
  'total',
  () => 0,
  (total: number, change: Change) => (change.kind === 'add' ? total + change.n : 0),
);

class Log {
  private readonly lines: string[] = [];
  private readonly ctx: ClassContext<Log>;
  /** The context is a second argument: for timers, children, asks, and the actor's own ref. */
  constructor(_args: undefined, ctx: ClassContext<Log>) {
    this.ctx = ctx;
  }
  write(line: string): void {
    this.lines.push(`${this.ctx.path} ${line}`);
  }
  async size(): Promise<number> {
    return this.lines.length;
  }
}
const LogActor = fromClass('log', Log);

/**
 * The local variables are the state, a `yield` returns the next message, and the yielded value is the reply.
 */
const Average = fromGenerator('average', async function* () {
  let [sum, count] = [0, 0];
  for (;;) {
    const n: number = yield count === 0 ? 0 : sum / count;
    sum += n;
    count += 1;
  }
});

await using system = createSystem({ name: 'adapters' });

const total = system.spawn(Total);
total.tell.dispatch({ kind: 'add', n: 2 });
total.tell.dispatch({ kind: 'add', n: 3 });
assert.equal(await total.ask.get(), 5);

const log = system.spawn(LogActor);
log.tell.write('hello');
assert.equal(await log.ask.size(), 1);

const average = system.spawn(Average);
await average.ask.next(4);
assert.equal(await average.ask.next(8), 6);

async function* numbers(): AsyncGenerator<number> {
  for (let n = 0; n < 100; n += 1) yield n;
}
const inbox = fromActor<number>(system, { capacity: 4 });
const sending = toActor(numbers(), inbox.ref, 'put').then(() => inbox.ref.send.end());
let sum = 0;
for await (const n of inbox) sum += n; // a slow reader slows the source down
await sending;
assert.equal(sum, 4_950);
console.log('all adapters work');
