// An inferred definition can be exported with declarations: all its types have public names.
import { type ActorRef, defineActor } from '@troupe/core';

export const Account = defineActor('account', {
  state: (args: { readonly owner: string }) => ({ owner: args.owner, cents: 0 }),
  handlers: {
    deposit(ctx, cents: number) {
      ctx.state.cents += cents;
    },
    withdraw: (ctx, cents: number) =>
      ctx.state.cents < cents ? ctx.fail('insufficient', { have: 0 }) : cents,
  },
});

export const Door = defineActor('door', {
  handlers: {},
  phases: {
    closed: { open: (ctx) => ctx.become('opened') },
    opened: { close: (ctx) => ctx.become('closed') },
  },
});

export const deposit = (ref: ActorRef<typeof Account>): void => ref.tell.deposit(1);
