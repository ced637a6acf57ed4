import type * as Core from '@troupe/core';
import { alternatingTrial, type Side } from '../runner/alternating-trial.js';
import type { Case, RunContext, Suite, Trial } from '../runner/suite.js';
import { type Build, buildWithout, featureNames, optionsWithout } from './features/build-without-feature.js';

const BATCH = 500;
/** Several times the capacity of the mailboxes. */
const PIPELINE_BATCH = 10_000;
/** The same build with mailboxes that grow. */
const UNBOUNDED = 'unbounded';

type MakeSide = (core: typeof Core, system: Core.ActorSystem) => Side;

/** Two actors with one message in flight, `BATCH` messages per batch. */
const wakeUp: MakeSide = (core, system) => {
  interface State {
    peer: { tell: { hit(left: number): void } } | undefined;
    hits: number;
    done: () => void;
  }
  const Player = core.defineActor('player', {
    state: (): State => ({ peer: undefined, hits: 0, done: () => undefined }),
    handlers: {
      meet(ctx, peer: NonNullable<State['peer']>) {
        ctx.state.peer = peer;
      },
      hit(ctx, left: number) {
        ctx.state.hits += 1;
        if (left > 1) ctx.state.peer?.tell.hit(left - 1);
        else ctx.state.done();
      },
      onDone(ctx, done: () => void) {
        ctx.state.done = done;
      },
      hits: (ctx) => ctx.state.hits,
    },
  });
  const [one, two] = [system.spawn(Player), system.spawn(Player)];
  one.tell.meet(two);
  two.tell.meet(one);
  const hits = async (): Promise<number> => (await one.ask.hits()) + (await two.ask.hits());
  return {
    batchSize: BATCH,
    async run(batches) {
      const before = await hits();
      await new Promise<void>((done) => {
        one.tell.onDone(done);
        two.tell.onDone(done);
        one.tell.hit(batches * BATCH);
      });
      return (await hits()) - before;
    },
  };
};

/** Bursts of `BATCH` messages into one mailbox. */
const burst: MakeSide = (core, system) => {
  const Counter = core.defineActor('counter', {
    state: () => ({ total: 0 }),
    handlers: {
      add(ctx, by: number) {
        ctx.state.total += by;
      },
      total: (ctx) => ctx.state.total,
    },
  });
  const counter = system.spawn(Counter);
  return {
    batchSize: BATCH,
    async run(batches) {
      const before = await counter.ask.total();
      for (let batch = 0; batch < batches; batch += 1) {
        for (let sent = 0; sent < BATCH; sent += 1) counter.tell.add(1);
        await counter.ask.total();
      }
      return (await counter.ask.total()) - before;
    },
  };
};

/** Three stages with mailboxes of the default capacity, the last one with `await null`. */
function pipeline(core: typeof Core, system: Core.ActorSystem, overflow: Core.OverflowPolicy): Side {
  const mailbox = { overflow };
  const Last = core.defineActor('last', {
    state: () => ({ seen: 0, target: 0, done: (_seen: number): void => undefined }),
    handlers: {
      async put(ctx, _n: number) {
        await null;
        ctx.state.seen += 1;
        if (ctx.state.seen === ctx.state.target) ctx.state.done(ctx.state.seen);
      },
      expect(ctx, { count, done }: { readonly count: number; readonly done: (seen: number) => void }) {
        Object.assign(ctx.state, { seen: 0, target: count, done });
      },
    },
    mailbox,
  });
  const last = system.spawn(Last);
  const Middle = core.defineActor('middle', {
    handlers: {
      put(_ctx, n: number) {
        last.tell.put(n);
      },
    },
    mailbox,
  });
  const middle = system.spawn(Middle);
  const First = core.defineActor('first', {
    handlers: {
      produce(ctx, left: number) {
        middle.tell.put(left);
        if (left > 1) First.self(ctx).tell.produce(left - 1);
      },
    },
    mailbox,
  });
  const first = system.spawn(First);
  return {
    batchSize: PIPELINE_BATCH,
    run: (batches) =>
      new Promise((done) => {
        last.tell.expect({ count: batches * PIPELINE_BATCH, done });
        first.tell.produce(batches * PIPELINE_BATCH);
      }),
  };
}

/** Back-pressure between asynchronous stages, in the place of mailboxes that grow; both in one process. */
const asyncPipeline: Case = {
  benchmark: 'asyncPipeline',
  unit: 'messages',
  note: 'three stages with capacity 1,000, the last one with `await null`; `unbounded` has mailboxes that grow; the ratio must be 0.9 or more',
  systems: ['troupe', UNBOUNDED],
  repeat: { warmups: 0, iterations: 1, budgetMs: 1_000 },
  async prepare({ system: name, scale }) {
    const build = await buildWithout(undefined);
    const bounded = await open(build, {}, (core, system) => pipeline(core, system, 'mute-sender'));
    const unbounded =
      name === UNBOUNDED
        ? await open(build, {}, (core, system) => pipeline(core, system, 'grow'))
        : undefined;
    const trial = alternatingTrial(bounded, unbounded, scale);
    return {
      run: () => trial.run(),
      async close() {
        await bounded.end();
        await unbounded?.end();
      },
    };
  },
};

async function open(
  build: Build,
  options: Core.SystemOptions,
  make: MakeSide,
): Promise<Side & { end(): Promise<void> }> {
  const core: typeof Core = await import(build.url);
  const system = core.createSystem({ name: 'bench', ...options });
  return {
    ...make(core, system),
    async end() {
      await system.shutdown();
      await build.remove();
    },
  };
}

async function trialOf({ system, scale }: RunContext, make: MakeSide): Promise<Trial> {
  const complete = await open(await buildWithout(undefined), {}, make);
  const reduced =
    system === 'troupe' ? undefined : await open(await buildWithout(system), optionsWithout(system), make);
  const trial = alternatingTrial(complete, reduced, scale);
  return {
    run: () => trial.run(),
    async close() {
      await complete.end();
      await reduced?.end();
    },
  };
}

function featureCase(benchmark: string, note: string, make: MakeSide): Case {
  return {
    benchmark,
    unit: 'messages',
    note,
    systems: ['troupe', ...featureNames],
    repeat: { warmups: 0, iterations: 1, budgetMs: 1_000 },
    prepare: (context) => trialOf(context, make),
  };
}

export const suite: Suite = {
  name: 'features',
  title: 'cost of each feature: a ratio of 0.95 is 5 % less CPU time per message in a build without it',
  systems: ['troupe', ...featureNames, UNBOUNDED],
  rounds: 7,
  cases: [
    featureCase('wakeUp', 'two actors with one message in flight', wakeUp),
    featureCase('burst', 'bursts of 500 messages into one mailbox', burst),
    asyncPipeline,
  ],
};
