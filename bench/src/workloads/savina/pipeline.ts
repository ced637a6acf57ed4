import { SeededRandom } from '@troupe/core/testing';
import type { Definition, Ref, System, Tell } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';
import type { Outcome } from '../workload.js';

/** A stage receives one value and passes any number of values on, in order. */
export interface Stage {
  take(value: number, pass: (value: number) => void): void;
}

export function seededValues(count: number, below: number): number[] {
  const random = new SeededRandom(2_048);
  return Array.from({ length: count }, () => Math.floor(random.next() * below));
}

/** Checks that the output is ordered and has the checksum of the input. */
class Validation {
  count = 0;
  ordered = true;
  sum = 0;
  private last = Number.NEGATIVE_INFINITY;

  take(value: number): void {
    if (value < this.last) this.ordered = false;
    this.last = value;
    this.count += 1;
    this.sum = (this.sum + value) % 2 ** 40;
  }

  outcome(input: readonly number[]): Outcome {
    const sum = input.reduce((total, value) => (total + value) % 2 ** 40, 0);
    return { attempted: input.length, completed: this.count, oracle: this.ordered && this.sum === sum };
  }
}

interface StageState {
  readonly stage: Stage;
  readonly pass: (value: number) => void;
}

function defineStage(system: System, value: Tell<number>): Definition {
  return system.define({
    name: 'stage',
    state: ({ stage, next }: { stage: Stage; next: Ref }): StageState => ({
      stage,
      pass: (passed) => value(next, passed),
    }),
    handlers: {
      value(ctx, taken: number) {
        ctx.state.stage.take(taken, ctx.state.pass);
      },
    },
  });
}

/** A chain of actors with one value per message; the sink validates the output. */
export function actorPipeline(
  system: System,
  stages: () => readonly Stage[],
  input: readonly number[],
): () => Promise<Outcome> {
  const value = system.tell<number>('value');
  const feed = system.tell('feed');
  const Link = defineStage(system, value);
  let done = new Deferred();
  let validation = new Validation();
  const Sink = system.define({
    name: 'validation',
    state: () => ({ validation }),
    handlers: {
      value(ctx, arrived: number) {
        ctx.state.validation.take(arrived);
        if (ctx.state.validation.count === input.length) done.resolve();
      },
    },
  });
  const Source = system.define({
    name: 'source',
    state: (first: Ref) => ({ first }),
    handlers: {
      feed(ctx) {
        for (const fed of input) value(ctx.state.first, fed);
      },
    },
  });
  return async () => {
    done = new Deferred();
    validation = new Validation();
    const refs: Ref[] = [system.spawn(Sink)];
    for (const stage of [...stages()].reverse()) refs.push(system.spawn(Link, { stage, next: refs.at(-1) }));
    const source = system.spawn(Source, refs.at(-1));
    feed(source);
    await done.promise;
    for (const ref of [...refs, source]) system.stop(ref);
    return validation.outcome(input);
  };
}

/** The same stages as nested calls, without actors. */
export function runPipelineWithoutActors(stages: () => readonly Stage[], input: readonly number[]): Outcome {
  const validation = new Validation();
  let pass = (value: number): void => validation.take(value);
  for (const stage of [...stages()].reverse()) {
    const next = pass;
    pass = (value) => stage.take(value, next);
  }
  for (const value of input) pass(value);
  return validation.outcome(input);
}
