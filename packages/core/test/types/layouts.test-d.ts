import { type Actor, defineActor } from '@troupe/core';

interface Price {
  readonly id: number;
  readonly isBid: boolean;
  readonly symbol: string;
}

export const Prices = defineActor('prices', {
  state: () => ({ seen: 0 }),
  handlers: {
    price(ctx, _price: Price) {
      ctx.state.seen += 1;
    },
    rate: (_ctx, _rate: number) => undefined,
    seen: (ctx) => ctx.state.seen,
  },
  layouts: { price: { id: 'uint32', isBid: 'boolean', symbol: 'text:8' }, rate: 'float64' },
});

export const WrongForm = defineActor('wrong form', {
  handlers: {
    // @ts-expect-error: the layout has a number for a truth value
    price(_ctx, _price: Price) {},
  },
  layouts: { price: { id: 'uint32', isBid: 'int8', symbol: 'text:8' } },
});

export const MissingField = defineActor('missing field', {
  handlers: {
    // @ts-expect-error: the layout leaves a field out
    price(_ctx, _price: Price) {},
  },
  layouts: { price: { id: 'uint32', isBid: 'boolean' } },
});

export const OneFieldMore = defineActor('one field more', {
  handlers: {
    // @ts-expect-error: the payload has no such field
    price(_ctx, _price: Price) {},
  },
  layouts: { price: { id: 'uint32', isBid: 'boolean', symbol: 'text:8', at: 'float64' } },
});

export const NotFlat = defineActor('not flat', {
  handlers: {
    // @ts-expect-error: a list has no fixed layout
    prices(_ctx, _prices: { readonly all: readonly Price[] }) {},
  },
  layouts: { prices: { all: 'int8' } },
});

interface Ticker {
  price(price: Price): void;
  rate(rate: number): number;
}

export const ByProtocol: Actor<Ticker> = defineActor.of<Ticker>()('ticker', {
  handlers: { price() {}, rate: (_ctx, rate) => rate },
  layouts: { price: { id: 'uint32', isBid: 'boolean', symbol: 'text:8' }, rate: 'float64' },
});

export const WrongProtocol: Actor<Ticker> = defineActor.of<Ticker>()('ticker', {
  handlers: { price() {}, rate: (_ctx, rate) => rate },
  // @ts-expect-error: the rate is a number
  layouts: { rate: 'boolean' },
});
