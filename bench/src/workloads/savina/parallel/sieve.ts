import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const primesPerActor = 1_000;

function countPrimes(below: number): number {
  const composite = new Uint8Array(below + 1);
  let primes = 0;
  for (let number = 2; number <= below; number += 1) {
    if (composite[number] === 1) continue;
    primes += 1;
    for (let multiple = number * number; multiple <= below; multiple += number) composite[multiple] = 1;
  }
  return primes;
}

/** A part of the known primes. */
class PrimeBlock {
  readonly primes: number[] = [];

  /** True if none of these primes divides the number. */
  isPrime(number: number): boolean {
    for (const prime of this.primes) if (number % prime === 0) return false;
    return true;
  }
}

interface Filter {
  readonly run: PrimeBlock;
  next: Ref | undefined;
}

function sieveWithoutActors(limit: number): number {
  const runs = [new PrimeBlock()];
  let primes = 0;
  const add = (number: number): void => {
    if (!runs.every((run) => run.isPrime(number))) return;
    if ((runs.at(-1)?.primes.length ?? 0) === primesPerActor) runs.push(new PrimeBlock());
    runs.at(-1)?.primes.push(number);
    primes += 1;
  };
  add(2);
  for (let number = 3; number <= limit; number += 2) add(number);
  return primes;
}

/** A pipeline that grows while it runs. */
export const sieve: Workload = {
  name: 'sieve',
  unit: 'numbers',
  prepare(system, scale) {
    const limit = scaled(100_000, scale, 100);
    const expected = countPrimes(limit);
    const produce = system.tell<Ref>('produce');
    const candidate = system.tell<number>('candidate');
    const end = system.tell<number>('end');
    let done = new Deferred<number>();
    let tested = 0;
    const FilterActor = system.define({
      name: 'filter',
      state: (first: number): Filter => {
        const run = new PrimeBlock();
        run.primes.push(first);
        return { run, next: undefined };
      },
      handlers: {
        candidate(ctx, number: number) {
          const { run, next } = ctx.state;
          if (number <= limit && run.primes[0] === 2) tested += 1;
          if (!run.isPrime(number)) return;
          if (run.primes.length < primesPerActor) run.primes.push(number);
          else if (next === undefined) ctx.state.next = system.spawn(FilterActor, number);
          else candidate(next, number);
        },
        end(ctx, primes: number) {
          const { run, next } = ctx.state;
          if (next === undefined) done.resolve(primes + run.primes.length);
          else end(next, primes + run.primes.length);
          ctx.stop();
        },
      },
    });
    const Producer = system.define({
      name: 'number-producer',
      state: () => ({ produced: 0 }),
      handlers: {
        produce(ctx, first: Ref) {
          for (let number = 3; number <= limit; number += 2) candidate(first, number);
          end(first, 0);
          ctx.stop();
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      tested = 0;
      produce(system.spawn(Producer), system.spawn(FilterActor, 2));
      const primes = await done.promise;
      return { attempted: Math.floor((limit - 1) / 2), completed: tested, oracle: primes === expected };
    };
  },
  plain(scale) {
    const limit = scaled(100_000, scale, 100);
    const expected = countPrimes(limit);
    const numbers = Math.floor((limit - 1) / 2);
    return () => ({ attempted: numbers, completed: numbers, oracle: sieveWithoutActors(limit) === expected });
  },
};
