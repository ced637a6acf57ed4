// Definitions by a protocol, and mistakes in handlers that are errors where they stand.
import {
  type Actor,
  type ActorRef,
  createSystem,
  defineActor,
  type Failure,
  type ProtocolContext,
  type Ref,
} from '@troupe/core';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}

const system = createSystem();

// Two protocols that know each other.
interface AccountProtocol {
  deposit(cents: number): void;
  balance(): number;
  pay(payment: { readonly to: Ref<AccountProtocol>; readonly cents: number }): boolean | Failure<'poor'>;
  load(id: string): Promise<string>;
  join(bank: Ref<BankProtocol>): void;
}
interface BankProtocol {
  open(account: Ref<AccountProtocol>): number;
}

export const Account: Actor<AccountProtocol, { readonly owner: string }> = defineActor.of<AccountProtocol>()(
  'account',
  {
    state: (args: { readonly owner: string }) => ({ ...args, cents: 0 }),
    handlers: {
      deposit(ctx, cents) {
        same<typeof cents, number>(true);
        same<typeof ctx.state.cents, number>(true);
        ctx.after(5, ctx.self).deposit(1);
        // @ts-expect-error a wrong payload of its own message
        ctx.self.tell.deposit('1');
      },
      balance: (ctx) => ctx.state.cents,
      async pay(ctx, { to, cents }) {
        if (cents > ctx.state.cents) return ctx.fail('poor');
        to.tell.deposit(cents);
        return true;
      },
      load: (ctx, _id) => ctx.later<string>(),
      join(ctx, bank) {
        bank.tell.open(ctx.self);
      },
    },
    mailbox: { levels: { balance: 'high' } },
    started: (ctx) => helper(ctx),
  },
);

function helper(ctx: ProtocolContext<AccountProtocol, { cents: number }>): void {
  ctx.self.tell.deposit(ctx.state.cents);
}

const ann = system.spawn(Account, { args: { owner: 'ann' }, name: 'ann' });
const bob: Ref<AccountProtocol> = ann;
same<ReturnType<typeof ann.ask.balance>, Promise<number>>(true);
same<ReturnType<typeof ann.ask.deposit>, Promise<void>>(true);
same<ReturnType<typeof ann.ask.load>, Promise<string>>(true);
same<ReturnType<typeof ann.ask.pay>, Promise<boolean | Failure<'poor'>>>(true);
ann.tell.pay({ to: bob, cents: 1 });
// @ts-expect-error there is no such message
ann.tell.withdraw(1);
// @ts-expect-error arguments are missing
system.spawn(Account);

// Actors with the same messages are interchangeable, however they are defined.
const Plain = defineActor('plain', { handlers: { open: (_ctx, _account: Ref<AccountProtocol>) => 1 } });
const bank: Ref<BankProtocol> = system.spawn(Plain);
ann.tell.join(bank);
const again: ActorRef<typeof Plain> = bank;
void again;

// @ts-expect-error a handler is missing
defineActor.of<AccountProtocol>()('x', { handlers: { balance: () => 1 } });
defineActor.of<BankProtocol>()('x', {
  // @ts-expect-error a reply of another type
  handlers: { open: () => 'one' },
});
defineActor.of<BankProtocol>()('x', {
  // @ts-expect-error a payload of another type
  handlers: { open: (_ctx, _account: string) => 1 },
});
defineActor.of<BankProtocol>()('x', {
  // @ts-expect-error the protocol has no such message
  handlers: { open: () => 1, close: () => 2 },
});
// @ts-expect-error a message has at most one payload
defineActor.of<{ two(a: number, b: number): void }>();

// Phases: each message of the protocol stands in the handlers or in a phase.
interface DoorProtocol {
  open(by: string): void;
  close(): void;
  opened(): number;
}
defineActor.of<DoorProtocol>()('door', {
  state: () => ({ opened: 0 }),
  handlers: { opened: (ctx) => ctx.state.opened },
  phases: {
    closed: {
      open(ctx, by) {
        ctx.state.opened += by.length;
        ctx.become('opened');
        // @ts-expect-error there is no such phase
        ctx.become('ajar');
      },
    },
    opened: { close: (ctx) => ctx.become('closed') },
  },
});
// The hooks of a phase have the context of the protocol, and are none of its messages.
defineActor.of<DoorProtocol>()('door', {
  state: () => ({ opened: 0 }),
  handlers: { opened: (ctx) => ctx.state.opened, close: () => undefined },
  phases: {
    closed: {
      enter: (ctx) => ctx.after(5, ctx.self).open('timer'),
      exit(ctx) {
        ctx.state.opened += 1;
        // @ts-expect-error there is no such message
        ctx.self.tell.enter();
      },
      open: (ctx) => ctx.become('closed'),
    },
  },
});
defineActor.of<DoorProtocol>()('door', {
  handlers: { opened: () => 1, close: () => undefined, open: () => undefined },
  // @ts-expect-error a hook of a phase has no payload
  phases: { closed: { enter: (_ctx, n: number) => n } },
});
// @ts-expect-error a hook handles no message of the protocol
defineActor.of<{ enter(): void }>()('door', { handlers: {}, phases: { closed: { enter: () => undefined } } });
// @ts-expect-error neither the handlers nor the phase have `opened`
defineActor.of<DoorProtocol>()('door', {
  handlers: {},
  phases: { closed: { open: () => undefined, close: () => undefined } },
});

// A mistake in one handler is one error, at that handler: the other messages keep working.
const Two = defineActor('two', {
  state: () => ({ n: 1 }),
  handlers: {
    // @ts-expect-error a handler takes one payload
    add: (ctx, a: number, b: number) => ctx.state.n + a + b,
    get: (ctx, _key: string) => ctx.state.n,
  },
});
system.spawn(Two).tell.get('x');
const Unannotated = defineActor('unannotated', {
  state: () => ({ n: 1 }),
  handlers: {
    // @ts-expect-error the payload has no type
    add: (ctx, n) => ctx.state.n + n,
    get: (ctx, _key: string) => ctx.state.n,
  },
});
system.spawn(Unannotated).tell.get('x');
defineActor('unannotated in a phase', {
  handlers: {},
  phases: {
    only: {
      // @ts-expect-error the payload has no type
      add: (_ctx, n) => n,
    },
  },
});

// A handler that returns any can be asked.
const Parser = defineActor('parser', { handlers: { parse: (_ctx, text: string) => JSON.parse(text) } });
const parsed: Promise<{ x: number }> = system.spawn(Parser).ask.parse('{}');
void parsed;

// Arguments that may be undefined may be left out.
const Optional = defineActor('optional', {
  state: (args: { n: number } | undefined) => ({ n: args?.n ?? 0 }),
  handlers: { get: (ctx) => ctx.state.n },
});
system.spawn(Optional);
system.spawn(Optional, { name: 'o' });
system.spawn(Optional, { args: { n: 1 } });
// @ts-expect-error arguments of another type
system.spawn(Optional, { args: { n: 'x' } });
