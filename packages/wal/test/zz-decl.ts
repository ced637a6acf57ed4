import { defineActor } from '@troupe/core';
export const A = defineActor('a', { state: (x: { n: number }) => x, handlers: { a(ctx, n: number) { ctx.state.n = n; }, b: (ctx) => ctx.state.n, c: (ctx) => ctx.fail('x', 1) } });
export const B = defineActor('b', { handlers: {}, phases: { one: { go(ctx) { ctx.become('two'); } }, two: { stop(ctx) { ctx.stop(); } } } });
