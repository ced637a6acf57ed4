import { type ActorSystem, defineActor } from '@troupe/core';
import { createEquippedSystem } from '@troupe/middleware';
import type { Case, Measurement, Suite } from '../runner/suite.js';
import { missingStack, stackNames, stacks } from './middleware-stack.js';

const Counter = defineActor('counter', {
  state: () => ({ seen: 0 }),
  handlers: {
    add(ctx, _n: number) {
      ctx.state.seen += 1;
    },
    async addLater(ctx, _n: number) {
      ctx.state.seen += 1;
    },
    echo: (_ctx, n: number) => n,
    seen: (ctx) => ctx.state.seen,
  },
  mailbox: { overflow: 'grow' },
  retryable: ['add', 'addLater'],
});

const BATCH = 1_000;
/** No payload is sent twice: to idempotency every message is a new one. */
let lastPayload = 0;

type Work = (system: ActorSystem, count: number) => Promise<number>;

/** A burst of tells at a time, as a sender with back-pressure would. Counted by the receiver. */
function tells(message: 'add' | 'addLater'): Work {
  return async (system, count) => {
    const ref = system.spawn(Counter);
    for (let sent = 0; sent < count; ) {
      for (let i = 0; i < BATCH && sent < count; i += 1, sent += 1) {
        lastPayload += 1;
        ref.tell[message](lastPayload);
      }
      await ref.ask.seen();
    }
    const seen = await ref.ask.seen();
    await system.stop(ref);
    return seen;
  };
}

/** One question after the other. */
const asks: Work = async (system, count) => {
  const ref = system.spawn(Counter);
  let right = 0;
  for (let i = 0; i < count; i += 1) {
    lastPayload += 1;
    if ((await ref.ask.echo(lastPayload)) === lastPayload) right += 1;
  }
  await system.stop(ref);
  return right;
};

function stackCase(benchmark: string, count: number, note: string, work: Work): Case {
  return {
    benchmark,
    unit: 'messages',
    note,
    systems: stackNames,
    prepare({ system: name, scale }) {
      const system = createEquippedSystem({ middleware: stacks[name]?.() ?? [] });
      const attempted = Math.max(BATCH, Math.round(count * scale));
      return {
        async run(): Promise<Measurement> {
          const started = performance.now();
          const completed = await work(system, attempted);
          return { attempted, completed, seconds: (performance.now() - started) / 1_000 };
        },
        async close() {
          await system.shutdown();
        },
      };
    },
  };
}

export const suite: Suite = {
  name: 'middleware',
  title: 'what each middleware costs: `troupe` has none, a ratio of 1.15 is 15 % more time per message',
  systems: stackNames,
  cases: [
    stackCase('tell', 1_000_000, 'bursts of 1,000 tells to one actor', tells('add')),
    stackCase('ask', 200_000, 'one ask after the other', asks),
    stackCase('async', 200_000, 'bursts of 1,000 tells to an asynchronous handler', tells('addLater')),
  ],
  missing: missingStack,
};
