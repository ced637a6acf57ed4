import { type ActorRef, type ActorSystem, createSystem, defineActor } from '@troupe/core';
import { alternatingTrial, type Side } from '../runner/alternating-trial.js';
import type { Case, Measurement, RunContext, Suite, Trial } from '../runner/suite.js';
import { missingStack, stackNames, stacks } from './middleware/middleware-stacks.js';

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

const BATCH = 500;
/** Payloads are unique, so that the idempotency middleware accepts every message. */
let lastPayload = 0;

/** Runs batches of work with one actor and returns the amount that the receiver counted. */
type Work = (ref: ActorRef<typeof Counter>, batches: number) => Promise<number>;

/** Bursts of tells, each awaited, like a sender with back-pressure. */
function tells(message: 'add' | 'addLater'): Work {
  return async (ref, batches) => {
    const before = await ref.ask.seen();
    for (let batch = 0; batch < batches; batch += 1) {
      for (let i = 0; i < BATCH; i += 1) {
        lastPayload += 1;
        ref.tell[message](lastPayload);
      }
      await ref.ask.seen();
    }
    return (await ref.ask.seen()) - before;
  };
}

/** One ask after the other. */
const asks: Work = async (ref, batches) => {
  let correct = 0;
  for (let i = 0; i < batches * BATCH; i += 1) {
    lastPayload += 1;
    if ((await ref.ask.echo(lastPayload)) === lastPayload) correct += 1;
  }
  return correct;
};

function sideOf(system: ActorSystem, work: Work): Side {
  const ref = system.spawn(Counter);
  return {
    batchSize: BATCH,
    run: (batches) => work(ref, batches),
  };
}

/** A system with the stack and one without middleware in one process. The reference runs alone. */
function trialOf({ system: name, scale, round }: RunContext, work: Work): Trial {
  const withStack = (): ActorSystem | undefined =>
    name === 'troupe' ? undefined : createSystem({ middleware: stacks[name]?.() ?? [] });
  // Two equal systems differ by a few per cent, depending on their order of creation, which alternates by
  // round.
  const early = round % 2 === 0 ? undefined : withStack();
  const reference = createSystem();
  const stacked = early ?? withStack();
  const trial = alternatingTrial(
    sideOf(reference, work),
    stacked === undefined ? undefined : sideOf(stacked, work),
    scale,
  );
  return {
    run: (): Promise<Measurement> => trial.run(),
    async close() {
      await reference.shutdown();
      await stacked?.shutdown();
    },
  };
}

function stackCase(benchmark: string, note: string, work: Work): Case {
  return {
    benchmark,
    unit: 'messages',
    note,
    systems: stackNames,
    // The first run of a process is unstable, up to 50 % faster for one side at random, however long it is.
    repeat: { warmups: 2, iterations: 2, budgetMs: 2_000 },
    prepare: (context) => trialOf(context, work),
  };
}

export const suite: Suite = {
  name: 'middleware',
  title: 'cost of each middleware: `troupe` has none, a ratio of 1.15 is 15 % more CPU time per message',
  systems: stackNames,
  rounds: 8,
  cases: [
    stackCase('tell', 'bursts of 500 tells to one actor', tells('add')),
    stackCase('ask', 'one ask after the other', asks),
    stackCase('async', 'bursts of 500 tells to an asynchronous handler', tells('addLater')),
  ],
  missing: missingStack,
};
