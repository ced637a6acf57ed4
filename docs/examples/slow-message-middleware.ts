// A middleware in ten lines: it reports messages that take too long.
import { strict as assert } from 'node:assert';
import { createSystem, defineActor, type Middleware } from '@troupe/core';

function slowMessages(limitMs: number, report: (line: string) => void): Middleware {
  return {
    name: 'slow-messages',
    afterMessage(message, outcome) {
      if (outcome.kind !== 'handled' || outcome.ms <= limitMs) return undefined;
      report(`${message.actor}.${message.message} took more than ${limitMs} ms`);
      return undefined;
    },
  };
}

const Kitchen = defineActor('kitchen', {
  handlers: {
    toast: () => 'toast',
    roast: () => new Promise((resolve) => setTimeout(() => resolve('roast'), 20)),
  },
});

const lines: string[] = [];
await using system = createSystem({ middleware: [slowMessages(10, (line) => lines.push(line))] });
const kitchen = system.spawn(Kitchen);
await kitchen.ask.toast();
await kitchen.ask.roast();
assert.deepEqual(lines, ['kitchen.roast took more than 10 ms']);
console.log(lines.join('\n'));
