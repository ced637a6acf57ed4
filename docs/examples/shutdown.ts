// A shutdown in phases under load: bounded in time, with a report of what did not finish.
import assert from 'node:assert/strict';
import { createSystem, defineActor, type Host, nodeHost } from '@troupe/core';

const host: Host = { ...nodeHost, log: () => undefined };
const system = createSystem({ name: 'busy', host });

const Busy = defineActor('busy', {
  handlers: {
    spin(ctx): void {
      Busy.self(ctx).tell.spin(); // never finishes
    },
  },
});
const NeverStops = defineActor('never-stops', {
  handlers: {},
  stopping: () => new Promise<void>(() => undefined), // never finishes
  stopWithinMs: 60_000,
});

for (let i = 0; i < 100; i += 1) system.spawn(Busy).tell.spin();
system.spawn(NeverStops, { name: 'never-stops' });
system.onShutdown('stop-accepting', 'listener', () => console.log('no new work'));
system.onShutdown('drain', 'hangs', () => new Promise<void>(() => undefined));
system.onShutdown('resources', 'files', () => console.log('files closed'));

const startedAt = performance.now();
const report = await system.shutdown({ withinMs: 600 });
console.log(
  `ended after ${Math.round(performance.now() - startedAt)} ms, handled ${report.handled} messages`,
);
for (const { phase, name, why } of report.unfinished.slice(0, 5)) console.log(`  ${phase}: ${name} ${why}`);
assert.ok(report.unfinished.some(({ name }) => name === 'hangs'));
assert.ok(report.unfinished.some(({ name }) => name === '/never-stops'));
