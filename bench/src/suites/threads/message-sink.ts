import { defineActor, type Ref } from '@troupe/core';

export interface Order {
  readonly id: number;
  readonly name: string;
  readonly paid: boolean;
}

/** Counts messages. A thread imports it. */
export const MessageSink = defineActor('message sink', {
  state: () => ({ seen: 0 }),
  handlers: {
    number(ctx, _n: number) {
      ctx.state.seen += 1;
    },
    object(ctx, _order: Order) {
      ctx.state.seen += 1;
    },
    laidOut(ctx, _order: Order) {
      ctx.state.seen += 1;
    },
    seen: (ctx) => ctx.state.seen,
    echo: (_ctx, n: number) => n,
  },
  layouts: { laidOut: { id: 'int32', name: 'text:16', paid: 'boolean' } },
});

export type Kind = 'number' | 'object' | 'laidOut';

interface Load {
  readonly to: Ref<{ number(n: number): void; object(order: Order): void; laidOut(order: Order): void }>;
  readonly kind: Kind;
  readonly left: number;
}

const BURST = 500;

/** Sends from handlers, so that it can be muted. */
export const MessageSource = defineActor('message source', {
  handlers: {
    run(ctx, { to, kind, left }: Load) {
      const count = Math.min(left, BURST);
      for (let i = 0; i < count; i += 1) {
        if (kind === 'number') to.tell.number(i);
        else if (kind === 'object') to.tell.object({ id: i, name: 'a name', paid: true });
        else to.tell.laidOut({ id: i, name: 'a name', paid: true });
      }
      if (left > count) MessageSource.self(ctx).tell.run({ to, kind, left: left - count });
    },
  },
});
