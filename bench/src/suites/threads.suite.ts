import { createSystem } from '@troupe/core';
import { threads } from '@troupe/threads';
import type { Case, Measurement, RunContext, Suite, Trial } from '../runner/suite.js';
import { quantile } from '../stats/quantile.js';
import { type Kind, MessageSink, MessageSource } from './threads/message-sink.js';
import { parallelCases } from './threads/parallel-cases.js';
import { missingPool, poolCases, poolSystems } from './threads/pool-cases.js';
import { PostedMessages } from './threads/posted-messages.js';

const MESSAGES = 3_000_000;
const ROUND_TRIPS = 5_000;
const systems = ['troupe', 'postMessage'];

/** One end of the comparison: sends to another thread. */
interface Sender {
  /** Returns the messages that the other thread has counted. */
  send(count: number): Promise<number>;
  echo(n: number): Promise<number>;
  close(): Promise<void>;
}

function troupe(kind: Kind): Sender {
  const system = createSystem({ threads: threads({ count: 1 }), warn: false });
  const sink = system.spawn(MessageSink, { on: 'any-thread' });
  const source = system.spawn(MessageSource);
  return {
    async send(count) {
      const before = await sink.ask.seen();
      source.tell.run({ to: sink, kind, left: count });
      for (;;) {
        const seen = (await sink.with({ withinMs: 60_000 }).ask.seen()) - before;
        if (seen >= count) return seen;
      }
    },
    echo: (n) => sink.ask.echo(n),
    async close() {
      await system.shutdown();
    },
  };
}

function posted(kind: Kind): Sender {
  const messages = new PostedMessages();
  return {
    async send(count) {
      const before = await messages.seen();
      for (let i = 0; i < count; i += 1)
        messages.post(kind === 'number' ? i : { id: i, name: 'a name', paid: true });
      return (await messages.seen()) - before;
    },
    echo: (n) => messages.echo(n),
    close: () => messages.close(),
  };
}

function senderOf({ system }: RunContext, kind: Kind): Sender {
  return system === 'troupe' ? troupe(kind) : posted(kind);
}

function oneWay(benchmark: string, kind: Kind, note: string): Case {
  return {
    benchmark,
    unit: 'messages',
    note,
    systems,
    prepare(context): Trial {
      const sender = senderOf(context, kind);
      const attempted = Math.round(MESSAGES * context.scale);
      return {
        async run(): Promise<Measurement> {
          const startedAt = performance.now();
          const completed = await sender.send(attempted);
          return { attempted, completed, seconds: (performance.now() - startedAt) / 1_000 };
        },
        close: () => sender.close(),
      };
    },
  };
}

const roundTrip: Case = {
  benchmark: 'roundTrip',
  unit: 'round trips',
  headline: 'p50',
  note: 'one after the other; an actor is asked, a port is answered',
  systems,
  prepare(context): Trial {
    const sender = senderOf(context, 'number');
    const attempted = Math.round(ROUND_TRIPS * context.scale);
    return {
      async run(): Promise<Measurement> {
        const times: number[] = [];
        let completed = 0;
        const startedAt = performance.now();
        for (let n = 0; n < attempted; n += 1) {
          const sentAt = performance.now();
          if ((await sender.echo(n)) === n) completed += 1;
          times.push(performance.now() - sentAt);
        }
        const seconds = (performance.now() - startedAt) / 1_000;
        return { attempted, completed, seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
      },
      close: () => sender.close(),
    };
  },
};

export const suite: Suite = {
  name: 'threads',
  title: 'actors on threads over rings in shared memory, and tasks of a thread pool',
  systems: [...new Set([...systems, ...poolSystems])],
  rounds: 5,
  cases: [
    oneWay('numbersAcrossThreads', 'number', 'an actor sends numbers to an actor on another thread'),
    oneWay('objectsAcrossThreads', 'object', 'the same with objects of three fields, which are cloned'),
    oneWay(
      'laidOutAcrossThreads',
      'laidOut',
      'the same objects in a declared layout; postMessage clones them',
    ),
    roundTrip,
    ...poolCases,
    ...parallelCases,
  ],
  missing: missingPool,
};
