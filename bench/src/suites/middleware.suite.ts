import { type ActorRef, type ActorSystem, defineActor } from '@troupe/core';
import { createInstrumentedSystem } from '@troupe/middleware';
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
/** No payload is sent twice: to idempotency every message is a new one. */
let lastPayload = 0;

/** Does so many batches of work with one actor; returns how much of it the receiver has counted. */
type Work = (ref: ActorRef<typeof Counter>, batches: number) => Promise<number>;

/** A burst of tells at a time, as a sender with back-pressure would. */
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

/** One question after the other. */
const asks: Work = async (ref, batches) => {
  let right = 0;
  for (let i = 0; i < batches * BATCH; i += 1) {
    lastPayload += 1;
    if ((await ref.ask.echo(lastPayload)) === lastPayload) right += 1;
  }
  return right;
};

function sideOf(system: ActorSystem, work: Work): Side {
  const ref = system.spawn(Counter);
  return {
    batchSize: BATCH,
    run: (batches) => work(ref, batches),
  };
}

/** The stack and a system without any, in one process. The reference itself runs alone. */
function trialOf({ system: name, scale, round }: RunContext, work: Work): Trial {
  const withStack = (): ActorSystem | undefined =>
    name === 'troupe' ? undefined : createInstrumentedSystem({ middleware: stacks[name]?.() ?? [] });
  // Two systems that do the same differ by a few percent, by who was made first: that changes with every round.
  const early = round % 2 === 0 ? undefined : withStack();
  const bare = createInstrumentedSystem();
  const stacked = early ?? withStack();
  const trial = alternatingTrial(
    sideOf(bare, work),
    stacked === undefined ? undefined : sideOf(stacked, work),
    scale,
  );
  return {
    run: (): Promise<Measurement> => trial.run(),
    async close() {
      await bare.shutdown();
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
    // The first run of a process is not steady yet, however long: it was half as fast again for one side, at random.
    repeat: { warmups: 2, iterations: 2, budgetMs: 2_000 },
    prepare: (context) => trialOf(context, work),
  };
}

export const suite: Suite = {
  name: 'middleware',
  title: 'what each middleware costs: `troupe` has none, a ratio of 1.15 is 15 % more CPU time per message',
  systems: stackNames,
  rounds: 8,
  cases: [
    stackCase('tell', 'bursts of 500 tells to one actor', tells('add')),
    stackCase('ask', 'one ask after the other', asks),
    stackCase('async', 'bursts of 500 tells to an asynchronous handler', tells('addLater')),
  ],
  missing: missingStack,
};
