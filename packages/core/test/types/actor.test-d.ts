// Types inferred from a definition, and uses that must not compile.
import {
  type ActorContext,
  type ActorRef,
  type ActorTimer,
  type AnyRef,
  type ArgsOf,
  createSystem,
  type Delivered,
  defineActor,
  type Failure,
  type Gathered,
  type HandlersOf,
  type PoolRef,
  type StopReason,
} from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}

const Account = defineActor('account', {
  state: (args: { owner: string; cents?: number }) => ({ owner: args.owner, cents: args.cents ?? 0 }),
  handlers: {
    deposit(ctx, cents: number) {
      same<typeof ctx.state.cents, number>(true);
      ctx.state.cents += cents;
    },
    balance: (ctx) => ctx.state.cents,
    rename: (ctx, to: { readonly name: string }) => {
      ctx.state.owner = to.name;
      return { was: ctx.state.owner, at: ctx.now() };
    },
    async withdraw(ctx, cents: number) {
      if (ctx.state.cents < cents) return ctx.fail('insufficient', { have: ctx.state.cents });
      ctx.state.cents -= cents;
      return ctx.state.cents;
    },
    wire: (ctx) => ctx.later<boolean>(),
    asyncWire: async (ctx) => ctx.later<boolean>(),
    settle: async (_ctx) => undefined,
    note: (_ctx, text?: string) => text,
  },
  started(ctx) {
    same<typeof ctx.state.owner, string>(true);
    ctx.after(10, Account.self(ctx)).deposit(1);
    // @ts-expect-error the state has no such field
    ctx.state.nothing;
  },
  restarting(ctx, error) {
    same<typeof error, Error>(true);
    same<typeof ctx.state.cents, number>(true);
  },
  terminated(_ctx, { ref, reason }) {
    same<typeof ref, AnyRef>(true);
    same<typeof reason, StopReason>(true);
  },
  mailbox: { capacity: 10, overflow: 'reject', levels: { balance: 'high' } },
  retryable: ['withdraw'],
});

const system = createSystem();
const ann = system.spawn(Account, { args: { owner: 'ann' } });
same<typeof ann, ActorRef<typeof Account>>(true);
same<ArgsOf<typeof Account>, { owner: string; cents?: number }>(true);
same<
  keyof HandlersOf<typeof Account>,
  'deposit' | 'balance' | 'rename' | 'withdraw' | 'wire' | 'asyncWire' | 'settle' | 'note'
>(true);

// Payloads.
same<Parameters<typeof ann.tell.deposit>, [cents: number]>(true);
same<Parameters<typeof ann.tell.balance>, []>(true);
same<ReturnType<typeof ann.tell.deposit>, void>(true);
same<ReturnType<typeof ann.offer.deposit>, Delivered>(true);
same<ReturnType<typeof ann.send.deposit>, Promise<void>>(true);
ann.tell.note();
ann.tell.note('text');

// Replies: plain, expected failures, asynchronous, deferred.
same<ReturnType<typeof ann.ask.balance>, Promise<number>>(true);
same<ReturnType<typeof ann.ask.rename>, Promise<{ was: string; at: number }>>(true);
same<ReturnType<typeof ann.ask.withdraw>, Promise<number | Failure<'insufficient', { have: number }>>>(true);
same<ReturnType<typeof ann.ask.wire>, Promise<boolean>>(true);
same<ReturnType<typeof ann.ask.asyncWire>, Promise<boolean>>(true);
same<ReturnType<typeof ann.ask.settle>, Promise<undefined>>(true);
const bounded = system.ask(ann, { withinMs: 10 });
same<ReturnType<typeof bounded.balance>, Promise<number>>(true);

// Lookup by name, and probes.
same<ReturnType<typeof system.lookup<typeof Account>>, ActorRef<typeof Account> | undefined>(true);
void createTestSystem;

// Inside a handler.
defineActor('client', {
  state: (args: { bank: ActorRef<typeof Account> }) => args,
  handlers: {
    async go(ctx) {
      const balance = await ctx.ask(ctx.state.bank, { withinMs: 5 }).balance();
      same<typeof balance, number>(true);
      ctx.tell(ctx.state.bank).deposit(balance);
      const timer = ctx.every(100, ctx.state.bank, { key: 'k' }).deposit(1);
      same<typeof timer, ActorTimer>(true);
      const child = ctx.spawn(Account, { args: { owner: 'child' }, name: 'child' });
      same<typeof child, ActorRef<typeof Account>>(true);
      // @ts-expect-error a wrong payload, after an await too
      ctx.tell(ctx.state.bank).deposit('1');
      // @ts-expect-error a wrong payload of a timer
      ctx.after(1, ctx.state.bank).deposit('1');
      const handled = ctx.ask(ctx.state.bank).deposit(1);
      same<typeof handled, Promise<void>>(true);
      // @ts-expect-error arguments are missing
      ctx.spawn(Account);
    },
  },
});

// Spawning: arguments exactly when the state needs some.
const Plain = defineActor('plain', { handlers: { ping: () => 'pong' as const } });
const Optional = defineActor('optional', {
  state: (args: { n: number } | undefined) => ({ n: args?.n ?? 0 }),
  handlers: { get: (ctx) => ctx.state.n },
});
system.spawn(Plain);
system.spawn(Plain, { name: 'p' });
system.spawn(Optional);
system.spawn(Optional, { args: { n: 1 } });
same<ReturnType<(typeof plain)['ask']['ping']>, Promise<'pong'>>(true);
const plain = system.spawn(Plain);

// Phases: their handlers are part of the contract, with the context of the definition.
const Door = defineActor('door', {
  state: () => ({ opened: 0 }),
  handlers: { count: (ctx) => ctx.state.opened },
  phases: {
    closed: {
      open(ctx, by: string) {
        same<typeof ctx.state.opened, number>(true);
        ctx.state.opened += by.length;
        ctx.become('open');
      },
    },
    open: { close: (ctx) => ctx.become('closed'), walk: (_ctx, name: number) => name },
  },
});
const door = system.spawn(Door);
door.tell.open('ann');
door.tell.close();
same<ReturnType<typeof door.ask.walk>, Promise<number>>(true);
same<ReturnType<typeof door.ask.count>, Promise<number>>(true);
// @ts-expect-error a wrong payload of a phase's handler
door.tell.open(1);
same<ReturnType<typeof door.ask.close>, Promise<void>>(true);

// The hooks of a phase are no messages, and have no payload.
const Light = defineActor('light', {
  state: () => ({ turns: 0 }),
  handlers: {},
  phases: {
    red: {
      enter(ctx) {
        same<typeof ctx.state.turns, number>(true);
        // @ts-expect-error there is no such phase
        ctx.become('blue');
      },
      turn: (ctx) => ctx.become('green'),
    },
    green: { exit: async (ctx) => ctx.become('red') },
  },
});
const light = system.spawn(Light);
light.tell.turn();
// @ts-expect-error a hook is no message
light.tell.enter();
// @ts-expect-error a hook is no message
light.tell.exit();
defineActor('light', {
  handlers: {},
  phases: {
    red: {
      turn: (ctx) => ctx.become('red'),
      // @ts-expect-error a hook of a phase has no payload
      enter: (_ctx, n: number) => n,
    },
  },
});

// Uses that must not compile.
// @ts-expect-error a wrong payload
ann.tell.deposit('500');
// @ts-expect-error a payload is missing
ann.tell.deposit();
// @ts-expect-error a payload too many
ann.tell.balance(1);
// @ts-expect-error no handler for this message
ann.tell.explode();
// @ts-expect-error a wrong payload of an ask
ann.ask.withdraw({ cents: 1 });
// @ts-expect-error a wrong payload of an offer
ann.offer.deposit(null);
// @ts-expect-error a wrong payload of a send
ann.send.deposit([]);
// @ts-expect-error arguments are missing
system.spawn(Account);
// @ts-expect-error wrong arguments
system.spawn(Account, { args: { owner: 1 } });
// @ts-expect-error a state without arguments takes none
system.spawn(Plain, { args: { n: 1 } });
// @ts-expect-error there is no such option
system.spawn(Plain, { nmae: 'p' });
// @ts-expect-error there is no such restart type
system.spawn(Plain, { restart: 'often' });
// @ts-expect-error a ref of another definition
const wrong: ActorRef<typeof Account> = plain;
void wrong;
// @ts-expect-error there is no such option
defineActor('x', { handlers: {}, hanlders: {} });
// @ts-expect-error there is no such handler
defineActor('x', { handlers: { put: () => 1 }, mailbox: { levels: { unknown: 'high' } } });
// @ts-expect-error there is no such level
defineActor('x', { handlers: { put: () => 1 }, mailbox: { levels: { put: 'urgent' } } });
// @ts-expect-error there is no such policy
defineActor('x', { handlers: {}, mailbox: { overflow: 'explode' } });
// @ts-expect-error there is no such handler
defineActor('x', { handlers: { put: () => 1 }, retryable: ['unknown'] });
// @ts-expect-error a handler is a function
defineActor('x', { handlers: { put: 1 } });
// @ts-expect-error handlers are needed
defineActor('x', {});
// @ts-expect-error there is no such strategy
defineActor('x', { handlers: {}, supervise: { strategy: 'all' } });
// @ts-expect-error there is no such option
createSystem({ nmae: 'x' });

const Lamp = defineActor('lamp', {
  state: (_args: { readonly watts: number }) => ({ switched: 0 }),
  handlers: {
    burst(ctx) {
      ctx.become('broken');
      // @ts-expect-error there is no such phase
      ctx.become('exploded');
    },
  },
  phases: {
    dark: {
      switch(ctx, by: string) {
        ctx.state.switched += by.length;
        ctx.become('lit');
        // @ts-expect-error there is no such phase
        ctx.become('lt');
      },
    },
    lit: { dim: (ctx, to: number) => ctx.state.switched * to },
    broken: {},
  },
  started(ctx) {
    ctx.become('lit');
    // @ts-expect-error there is no such phase
    ctx.become('unlit');
  },
});
declare const lamp: ActorRef<typeof Lamp>;
lamp.tell.switch('me');
const dimmed: Promise<number> = lamp.ask.dim(2);
void dimmed;
defineActor('plain', {
  handlers: {
    // @ts-expect-error an actor without phases has none to become
    go: (ctx) => ctx.become('anything'),
  },
});
/** A function for actors of any definition accepts their contexts, with any phases. */
function anyContext(ctx: ActorContext<unknown>): void {
  ctx.become('checked when it is called');
}
defineActor('helped', { handlers: { go: (ctx) => anyContext(ctx) }, phases: { one: {} } });

// Options of asks and sends, on every ref.
const total: Promise<number> = lamp.with({ withinMs: 50, signal: AbortSignal.timeout(5) }).ask.dim(2);
const sent: Promise<void> = lamp.with({ withinMs: 50 }).send.switch('me');
void total;
void sent;
// @ts-expect-error there is no such option
lamp.with({ within: 50 });
// @ts-expect-error a tell waits for nothing that could be limited
lamp.with({ withinMs: 50 }).tell.switch('me');
// @ts-expect-error a wrong payload
void lamp.with({}).ask.dim('2');
declare const lamps: PoolRef<typeof Lamp>;
const pooled: Promise<number> = lamps.with({ withinMs: 50 }).ask.dim(2);
const gathered: Promise<readonly Gathered<number>[]> = lamps
  .gather({ signal: AbortSignal.timeout(5) })
  .dim(2);
void pooled;
void gathered;
defineActor('caller', {
  handlers: {
    async call(ctx): Promise<number> {
      const outcome: 'accepted' | 'full' | 'closed' = ctx.offer(lamp).switch('me');
      await ctx.send(lamp, { withinMs: 5, signal: ctx.signal }).switch(outcome);
      // @ts-expect-error there is no such option
      await ctx.send(lamp, { deadline: 5 }).switch('me');
      // @ts-expect-error there is no such message
      ctx.offer(lamp).swtich('me');
      return ctx.ask(lamp, { withinMs: 5, signal: ctx.later<number>().signal }).dim(2);
    },
  },
});
