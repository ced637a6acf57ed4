import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const channels = 8;
const valueLimit = 1_000;

/** A stage of a channel: at most one output sample per input sample. */
interface Filter {
  take(sample: number): number | undefined;
}

class Delay implements Filter {
  private readonly samples: Float64Array;
  private at = 0;

  constructor(length: number) {
    this.samples = new Float64Array(length);
  }

  take(sample: number): number {
    const delayed = this.samples[this.at] ?? 0;
    this.samples[this.at] = sample;
    this.at = (this.at + 1) % this.samples.length;
    return delayed;
  }
}

/** No output until its window is full, then one dot product per sample. */
class Fir implements Filter {
  private readonly window: Float64Array;
  private readonly coefficients: Float64Array;
  private at = 0;
  private full = false;

  constructor(coefficients: Float64Array) {
    this.coefficients = coefficients;
    this.window = new Float64Array(coefficients.length);
  }

  take(sample: number): number | undefined {
    const length = this.window.length;
    this.window[this.at] = sample;
    this.at += 1;
    if (this.at === length) {
      this.at = 0;
      this.full = true;
    }
    if (!this.full) return undefined;
    let sum = 0;
    for (let at = 0; at < length; at += 1) {
      sum += (this.window[at] ?? 0) * (this.coefficients[length - at - 1] ?? 0);
    }
    return sum;
  }
}

/** Keeps every n-th sample and replaces the others by zero. */
class Sampler implements Filter {
  private readonly every: number;
  private seen = 0;

  constructor(every: number) {
    this.every = every;
  }

  take(sample: number): number {
    const kept = this.seen === 0 ? sample : 0;
    this.seen = (this.seen + 1) % this.every;
    return kept;
  }
}

function filtersOf(channel: number, columns: number): Filter[] {
  const low = Float64Array.from(
    { length: columns },
    (_, at) => at * columns + at * channel + at + channel + 1,
  );
  const high = Float64Array.from(
    { length: columns },
    (_, at) => channel * at + channel * channel + channel + at,
  );
  const scale = (all: Float64Array): Float64Array => all.map((value) => value / (columns * columns));
  const delay = Math.max(1, columns - 1);
  return [
    new Delay(delay),
    new Fir(scale(low)),
    new Sampler(columns),
    new Delay(delay),
    new Fir(scale(high)),
  ];
}

const sampleOf = (index: number): number => index % valueLimit;

interface Size {
  readonly columns: number;
  readonly samples: number;
}

function sizeOf(scale: number): Size {
  const side = Math.sqrt(scale);
  const columns = scaled(16_384, side, 16);
  // Both windows must fill before the first output, so their ratio stays that of Savina.
  return { columns, samples: Math.max(2 * columns + 8, Math.round(34_816 * side)) };
}

/** The expected sum of the sink, computed in one loop without actors. */
function filterWithoutActors({ columns, samples }: Size): { sum: number; outputs: number } {
  const bank = Array.from({ length: channels }, (_, channel) => filtersOf(channel, columns));
  let sum = 0;
  let outputs = 0;
  for (let index = 0; index < samples; index += 1) {
    let combined: number | undefined;
    for (const filters of bank) {
      let sample: number | undefined = sampleOf(index);
      for (const filter of filters) sample = sample === undefined ? undefined : filter.take(sample);
      if (sample !== undefined) combined = (combined ?? 0) + sample;
    }
    if (combined === undefined) continue;
    sum += combined;
    outputs += 1;
  }
  return { sum, outputs };
}

interface Tagged {
  readonly channel: number;
  readonly sample: number;
}

/** A stream split over eight channels of filters and joined again. */
export const filterbank: Workload = {
  name: 'filterbank',
  unit: 'samples',
  prepare(system, scale) {
    const size = sizeOf(scale);
    const expected = filterWithoutActors(size);
    const feed = system.tell<readonly Ref[]>('feed');
    const value = system.tell<number>('value');
    const tagged = system.tell<Tagged>('tagged');
    let done = new Deferred();
    let sum = 0;
    let outputs = 0;
    let taken = 0;
    const finish = (): void => {
      if (taken === size.samples * channels && outputs === expected.outputs) done.resolve();
    };
    const Stage = system.define({
      name: 'filter-stage',
      state: ({ filter, next }: { filter: Filter; next: Ref }) => ({
        filter,
        next,
        first: filter instanceof Delay,
      }),
      handlers: {
        value(ctx, sample: number) {
          const out = ctx.state.filter.take(sample);
          if (out !== undefined) value(ctx.state.next, out);
        },
      },
    });
    const Branch = system.define({
      name: 'branch',
      state: (next: Ref) => ({ next }),
      handlers: {
        value(ctx, sample: number) {
          taken += 1;
          value(ctx.state.next, sample);
          finish();
        },
      },
    });
    const TaggedForward = system.define({
      name: 'tagged-forward',
      state: ({ channel, integrator }: { channel: number; integrator: Ref }) => ({ channel, integrator }),
      handlers: {
        value(ctx, sample: number) {
          tagged(ctx.state.integrator, { channel: ctx.state.channel, sample });
        },
      },
    });
    const Integrator = system.define({
      name: 'integrator',
      state: () => ({ queues: Array.from({ length: channels }, (): number[] => []) }),
      handlers: {
        tagged(ctx, { channel, sample }: Tagged) {
          const { queues } = ctx.state;
          queues[channel]?.push(sample);
          if (queues.some((queue) => queue.length === 0)) return;
          // In channel order, so that rounding is the same as in the plain version.
          sum += queues.reduce((total, queue) => total + (queue.shift() ?? 0), 0);
          outputs += 1;
          finish();
        },
      },
    });
    const Source = system.define({
      name: 'bank-source',
      state: () => ({ fed: 0 }),
      handlers: {
        feed(ctx, branches: readonly Ref[]) {
          for (let index = 0; index < size.samples; index += 1) {
            for (const branch of branches) value(branch, sampleOf(index));
            ctx.state.fed += 1;
          }
        },
      },
    });
    const build = (): { refs: Ref[]; branches: Ref[] } => {
      const integrator = system.spawn(Integrator);
      const refs = [integrator];
      const branches = Array.from({ length: channels }, (_, channel) => {
        let next = system.spawn(TaggedForward, { channel, integrator });
        refs.push(next);
        for (const filter of filtersOf(channel, size.columns).reverse()) {
          next = system.spawn(Stage, { filter, next });
          refs.push(next);
        }
        const branch = system.spawn(Branch, next);
        refs.push(branch);
        return branch;
      });
      return { refs, branches };
    };
    return async (): Promise<Outcome> => {
      done = new Deferred();
      sum = 0;
      outputs = 0;
      taken = 0;
      const { refs, branches } = build();
      const source = system.spawn(Source);
      feed(source, branches);
      await done.promise;
      for (const ref of [...refs, source]) system.stop(ref);
      return { attempted: size.samples * channels, completed: taken, oracle: sum === expected.sum };
    };
  },
  plain(scale) {
    const size = sizeOf(scale);
    const expected = filterWithoutActors(size);
    const samples = size.samples * channels;
    return () => ({
      attempted: samples,
      completed: samples,
      oracle: filterWithoutActors(size).sum === expected.sum,
    });
  },
};
