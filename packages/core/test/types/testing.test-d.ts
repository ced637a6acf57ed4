// The test kit: replies, states, probes and events have the types of the definition.
import { type Actor, type ActorRef, defineActor, type Failure, type RuntimeEvent } from '@troupe/core';
import { createTestSystem, type ExploredWorld, explore } from '@troupe/core/testing';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}

const Account = defineActor('account', {
  state: (args: { owner: string }) => ({ ...args, cents: 0 }),
  handlers: {
    deposit(ctx, cents: number) {
      ctx.state.cents += cents;
    },
    async withdraw(ctx, payload: { cents: number }) {
      if (ctx.state.cents < payload.cents) return ctx.fail('insufficient');
      return ctx.state.cents;
    },
    balance: (ctx) => ctx.state.cents,
  },
});

interface LedgerProtocol {
  record(entry: { readonly cents: number }): void;
  total(): number;
}
const Hidden: Actor<LedgerProtocol> = defineActor.of<LedgerProtocol>()('ledger', {
  state: () => ({ sum: 0 }),
  handlers: { record: () => undefined, total: (ctx) => ctx.state.sum },
});
const Shown = defineActor.of<LedgerProtocol>()('ledger', {
  state: () => ({ sum: 0 }),
  handlers: { record: () => undefined, total: (ctx) => ctx.state.sum },
});

const world = createTestSystem();
const ann = world.system.spawn(Account, { args: { owner: 'ann' } });

const balance = world.ask(ann).balance();
same<typeof balance, Promise<number>>(true);
const withdrawn = world.ask(ann, { withinMs: 10 }).withdraw({ cents: 1 });
same<typeof withdrawn, Promise<number | Failure<'insufficient', undefined>>>(true);
// @ts-expect-error a wrong payload
void world.ask(ann).deposit('1');
// @ts-expect-error there is no such message
void world.ask(ann).close();

const told = world.tell(ann).deposit(1);
same<typeof told, Promise<void>>(true);
// @ts-expect-error a wrong payload
void world.tell(ann).deposit('1');
const settled = world.settle(ann.ask.balance());
same<typeof settled, Promise<number>>(true);
const nothing = world.settle();
same<typeof nothing, Promise<void>>(true);

const state = world.stateOf(Account, ann);
same<typeof state, { cents: number; owner: string }>(true);
const ledger = world.system.spawn(Hidden);
const hidden = world.stateOf(Hidden, ledger);
same<typeof hidden, unknown>(true);
const Named: Actor<LedgerProtocol, void, { sum: number }> = defineActor.of<LedgerProtocol>()('ledger', {
  state: () => ({ sum: 0 }),
  handlers: { record: () => undefined, total: (ctx) => ctx.state.sum },
});
const named = world.stateOf(Named, world.system.spawn(Named));
same<typeof named, { sum: number }>(true);
// @ts-expect-error the ref of another definition
world.stateOf(Account, ledger);
const shown = world.stateOf(Shown, world.system.spawn(Shown));
same<typeof shown, { sum: number }>(true);
// A definition with a visible state is one of the protocol.
const asHidden: Actor<LedgerProtocol> = Shown;
void asHidden;

const probe = world.probe(Account, { name: 'ann' });
same<typeof probe.ref, ActorRef<typeof Account>>(true);
same<typeof probe.received.withdraw, readonly { cents: number }[]>(true);
same<typeof probe.received.balance, readonly undefined[]>(true);
probe.expect.withdraw({ cents: 5 });
probe.expect.balance();
// @ts-expect-error a wrong payload
probe.expect.withdraw({ cents: '5' });
// @ts-expect-error there is no such message
probe.expect.close();
const fished = probe.fish.withdraw(({ cents }) => cents > 5);
same<typeof fished, { cents: number }>(true);
probe.answer.balance(5);
probe.answer.deposit();
// @ts-expect-error a reply of another type
probe.answer.balance('5');
for (const one of probe.messages) if (one.message === 'deposit') same<typeof one.payload, number>(true);
world.probe(Hidden).expect.record({ cents: 1 });

same<typeof world.events, readonly RuntimeEvent[]>(true);
for (const { letter } of world.eventsOf('dead-letter')) same<typeof letter.message, string>(true);
// @ts-expect-error there is no such kind
world.eventsOf('died');

// Explored worlds are test systems, and run by themselves.
same<ReturnType<typeof explore>, Promise<number>>(true);
void explore(async (explored) => {
  same<typeof explored, ExploredWorld>(true);
  const bob = explored.system.spawn(Account, { args: { owner: 'bob' } });
  explored.invariant('no debt', () => explored.stateOf(Account, bob).cents >= 0);
  explored.mayCrash(bob, 2);
  await explored.delay(5);
  // @ts-expect-error: an invariant is a statement, not a number
  explored.invariant('number', () => explored.stateOf(Account, bob).cents);
});
// @ts-expect-error: no such option
void explore(() => undefined, { runs: 5 });
