// Child process of worker-executor.test.ts: works longer than a slice, then becomes idle.
import { createSystem, defineActor, nodeHost } from '@troupe/core';

const system = createSystem({
  host: { ...nodeHost, log: () => undefined },
  slice: { msMin: 0.2, msMax: 0.5 },
});
const Busy = defineActor('busy', {
  handlers: {
    spin: (_ctx, n: number) => {
      const until = performance.now() + 0.3;
      while (performance.now() < until);
      return n;
    },
  },
});
const refs = Array.from({ length: 100 }, () => system.spawn(Busy));
await Promise.all(refs.map((ref, n) => system.ask(ref, { withinMs: 60_000 }).spin(n)));
const doneAt = performance.now();
process.on('exit', () => process.stdout.write(String(performance.now() - doneAt)));
