import {
  type ActorContext,
  type ClassContext,
  createSystem,
  defineActor,
  fromClass,
  fromGenerator,
  fromReducer,
  toActor,
} from '@troupe/core';

const system = createSystem();

const tally = system.spawn(
  fromReducer(
    'tally',
    () => 0,
    (n: number, by: number) => n + by,
  ),
);
tally.tell.dispatch(1);
const value: Promise<number> = tally.ask.get();
// @ts-expect-error the message is a number
tally.tell.dispatch('1');

class Box {
  put(item: string): void {
    void item;
  }
  async size(): Promise<number> {
    return 0;
  }
  move(from: string, to: string): void {
    void [from, to];
  }
}
const box = system.spawn(fromClass('box', Box));
box.tell.put('x');
const size: Promise<number> = box.ask.size();
// @ts-expect-error a payload of the wrong type
box.tell.put(1);
// @ts-expect-error two parameters are no message
box.tell.move('a', 'b');

// A class may take its context: with its own messages, or any context.
class Clock {
  private readonly ctx: ClassContext<Clock>;
  constructor(args: { everyMs: number }, ctx: ClassContext<Clock>) {
    this.ctx = ctx;
    ctx.every(args.everyMs, ctx.self).tick(1);
    // @ts-expect-error a wrong payload of its own message
    ctx.self.tell.tick('1');
  }
  tick(n: number): number {
    return this.ctx.now() + n;
  }
}
const clock = system.spawn(fromClass('clock', Clock), { args: { everyMs: 5 } });
const ticked: Promise<number> = clock.ask.tick(1);
// @ts-expect-error the arguments are missing
system.spawn(fromClass('clock', Clock));
class AnyContext {
  readonly path: string;
  constructor(_args: undefined, ctx: ActorContext) {
    this.path = ctx.path;
  }
  where(): string {
    return this.path;
  }
}
system.spawn(fromClass('any context', AnyContext)).tell.where();

const echo = system.spawn(
  fromGenerator('echo', async function* (): AsyncGenerator<string, void, number> {
    let reply = '';
    for (;;) {
      const n: number = yield reply;
      reply = String(n);
    }
  }),
);
const reply: Promise<string | undefined> = echo.ask.next(1);
// @ts-expect-error it takes numbers
echo.tell.next('x');

const Sink = defineActor('sink', { handlers: { take(_ctx, _n: number) {}, none() {} } });
const sink = system.spawn(Sink);
const sent: Promise<number> = toActor([1, 2], sink, 'take');
// @ts-expect-error the items are no numbers
toActor(['a'], sink, 'take');
// @ts-expect-error there is no such message
toActor([1], sink, 'give');

void [value, size, ticked, reply, sent];
