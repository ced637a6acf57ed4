import { type Directive, defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const transitions = suite('phase transitions');

/** A light whose hooks and handlers write down their calls; red lasts 10 ms, green 20 ms. */
const Light = defineActor('light', {
  state: (log: string[]) => ({ log }),
  started: (ctx) => void ctx.state.log.push('started'),
  stopping: (ctx) => void ctx.state.log.push('stopping'),
  handlers: {
    enter: (ctx) => void ctx.state.log.push('message enter'),
    fail: (): void => {
      throw new Error('broken');
    },
    beat: (ctx) => void ctx.state.log.push(`beat ${ctx.now()}`),
    keep: (ctx) => void ctx.every(15, Light.self(ctx)).beat(),
  },
  phases: {
    red: {
      enter(ctx) {
        ctx.state.log.push(`red ${ctx.now()}`);
        ctx.after(10, Light.self(ctx), { key: 'turn' }).turn();
      },
      exit: (ctx) => void ctx.state.log.push('red ends'),
      turn: (ctx) => ctx.become('green'),
      stay: (ctx) => ctx.become('red'),
      back(ctx) {
        ctx.become('green');
        ctx.become('red');
      },
    },
    green: {
      enter(ctx) {
        ctx.state.log.push(`green ${ctx.now()}`);
        ctx.after(20, Light.self(ctx), { key: 'turn' }).turn();
      },
      turn: (ctx) => ctx.become('red'),
    },
  },
});

transitions(
  '`enter` of the first phase runs after `started`, and timers of a phase drive it on',
  async () => {
    await using world = createTestSystem();
    const log: string[] = [];
    world.system.spawn(Light, { args: log });
    await world.advance(35);
    assert.equal(log, ['started', 'red 0', 'red ends', 'green 10', 'red 30']);
  },
);

transitions('`exit` and `enter` run after the handler has settled and before the next message', async () => {
  await using world = createTestSystem();
  const log: string[] = [];
  const Door = defineActor('door', {
    handlers: { knock: () => void log.push('knock') },
    phases: {
      closed: {
        async exit() {
          log.push('exit begins');
          await null;
          log.push('exit ends');
        },
        async open(ctx) {
          ctx.become('opened');
          await null;
          log.push('open ends');
        },
      },
      opened: {
        async enter() {
          await null;
          log.push('enter ends');
        },
      },
    },
  });
  const door = world.system.spawn(Door);
  door.tell.open();
  door.tell.knock();
  await world.settle();
  assert.equal(log, ['open ends', 'exit begins', 'exit ends', 'enter ends', 'knock']);
});

transitions('`become` to the present phase, also by way of another, changes nothing', async () => {
  await using world = createTestSystem();
  const log: string[] = [];
  const light = world.system.spawn(Light, { args: log });
  await world.advance(5);
  light.tell.stay();
  light.tell.back();
  await world.advance(5);
  assert.equal(log, ['started', 'red 0', 'red ends', 'green 10']);
});

transitions(
  'a timer that `enter` armed ends with its phase, and so does one that replaces it by its key',
  async () => {
    await using world = createTestSystem();
    const fired: string[] = [];
    const Waiting = defineActor('waiting', {
      handlers: { late: (_ctx, timer: string) => void fired.push(timer) },
      phases: {
        a: {
          enter(ctx) {
            ctx.every(5, Waiting.self(ctx)).late('every');
            ctx.after(10, Waiting.self(ctx), { key: 'k' }).late('after');
          },
          wait: (ctx) => void ctx.after(20, Waiting.self(ctx), { key: 'k' }).late('replaced'),
          leave: (ctx) => ctx.become('b'),
        },
        b: {},
      },
    });
    const ref = world.system.spawn(Waiting);
    await world.advance(5);
    await world.tell(ref).wait();
    assert.is(world.system.stats().timers, 2);
    await world.tell(ref).leave();
    assert.is(world.system.stats().timers, 0);
    await world.advance(50);
    assert.equal([fired, world.eventsOf('dead-letter')], [['every'], []]);
  },
);

transitions('a timer that other code armed outlives the phase', async () => {
  await using world = createTestSystem();
  const log: string[] = [];
  const light = world.system.spawn(Light, { args: log });
  light.tell.keep();
  await world.advance(16);
  assert.equal(log, ['started', 'red 0', 'red ends', 'green 10', 'beat 15']);
});

transitions('a tick in the mailbox does not reach the next phase: it is a dead letter', async () => {
  await using world = createTestSystem();
  const log: string[] = [];
  const light = world.system.spawn(Light, { args: log });
  await world.settle();
  const token = world.system.suspend(light);
  light.tell.turn();
  await world.advance(10);
  token.resume();
  await world.advance(5);
  assert.equal(log, ['started', 'red 0', 'red ends', 'green 10']);
  const [expired, ...more] = world
    .eventsOf('dead-letter')
    .map(({ letter }) => [letter.message, letter.reason]);
  assert.equal([expired, more], [['turn', 'expired'], []]);
});

transitions('the name of a hook in `handlers` is a message', async () => {
  await using world = createTestSystem();
  const log: string[] = [];
  await world.tell(world.system.spawn(Light, { args: log })).enter();
  assert.equal(log, ['started', 'red 0', 'message enter']);
});

transitions('a restart and a stop run no `exit`; a restart enters the first phase again', async () => {
  await using world = createTestSystem();
  const log: string[] = [];
  const light = world.system.spawn(Light, { args: log });
  await world.advance(10);
  light.tell.fail();
  await world.advance(9);
  assert.equal(log.splice(0), ['started', 'red 0', 'red ends', 'green 10', 'started', 'red 10']);
  await world.settle(world.system.stop(light));
  assert.equal(log, ['stopping']);
});

/** An actor whose `exit` or `enter` fails once, under a policy with this directive. */
async function phasesOf(failing: 'a.exit' | 'b.enter', directive: Directive): Promise<string[]> {
  await using world = createTestSystem({ supervise: { decide: () => directive } });
  const log: string[] = [];
  let failures = 0;
  const hook = (name: string) => () => {
    log.push(name);
    if (name === failing && failures === 0) {
      failures += 1;
      throw new Error('broken');
    }
  };
  const Machine = defineActor('machine', {
    handlers: {},
    phases: {
      a: { enter: hook('a.enter'), exit: hook('a.exit'), go: (ctx) => ctx.become('b') },
      b: { enter: hook('b.enter'), here: () => void log.push('here') },
    },
    illegal: 'stash',
  });
  const ref = world.system.spawn(Machine, { name: 'machine' });
  ref.tell.go();
  ref.tell.here();
  await world.settle();
  assert.equal(
    world.eventsOf('failed').map(({ message }) => message),
    [failing],
  );
  return log;
}

transitions(
  'a hook that fails is a failure of the actor: resumed, the move goes on; restarted, it begins anew',
  async () => {
    assert.equal(await phasesOf('a.exit', 'resume'), ['a.enter', 'a.exit', 'b.enter', 'here']);
    assert.equal(await phasesOf('b.enter', 'resume'), ['a.enter', 'a.exit', 'b.enter', 'here']);
    assert.equal(await phasesOf('b.enter', 'restart'), ['a.enter', 'a.exit', 'b.enter', 'a.enter']);
  },
);

transitions('`enter` may move on to another phase', async () => {
  await using world = createTestSystem();
  const log: string[] = [];
  const Chain = defineActor('chain', {
    handlers: {},
    phases: {
      one: { enter: (ctx) => ctx.become('two'), exit: () => void log.push('one ends') },
      two: { enter: () => void log.push('two'), end: () => 'end' },
    },
  });
  assert.is(await world.ask(world.system.spawn(Chain)).end(), 'end');
  assert.equal(log, ['one ends', 'two']);
});

transitions.run();
