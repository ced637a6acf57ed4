import { type ActorRef, child, createSystem, defineActor, pool, router, supervisor } from '@troupe/core';

const A = defineActor('a', { state: (args: { n: number }) => args, handlers: { get: (ctx) => ctx.state.n } });
const B = defineActor('b', { handlers: { put(_ctx, _text: string) {}, size: () => 1 } });
const C = defineActor('c', { handlers: { other: () => true } });

const system = createSystem();
const tree = supervisor('app', {}, [
  child(A, { args: { n: 1 } }),
  supervisor('sub', {}, [pool(B, { size: 2 })]),
]);
const app = system.start(tree);

const n: Promise<number> = app.get(A).ask.get();
const size: Promise<number> = app.pool(B).ask.size();
const asRef: ActorRef<typeof B> = app.pool(B);

// @ts-expect-error the tree has no such definition
app.get(C);
// @ts-expect-error a payload is checked through a pool too
app.pool(B).tell.put(1);
const handled: Promise<void> = app.pool(B).ask.put('x');
void handled;
// @ts-expect-error arguments are needed
child(A);
// @ts-expect-error of the right type
child(A, { args: { n: 'x' } });
// @ts-expect-error routees need arguments
pool(A, { size: 1 });
// @ts-expect-error of the right type, too
system.spawnPool(A, { size: 1, args: () => ({ n: 'x' }) });
// @ts-expect-error a group needs routees of its definition
router(B, [system.spawn(C)]);

void [n, size, asRef];
