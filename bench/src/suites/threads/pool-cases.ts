import { existsSync } from 'node:fs';
import { ThreadPoolExecutor } from '@troupe/threads';
import type { Case, Measurement, RunContext, Trial } from '../../runner/suite.js';
import type * as Tasks from './pool-tasks.js';
import { compute } from './pool-tasks.js';

const module = new URL('./pool-tasks.js', import.meta.url);
const peersFolder = new URL('../../../peers/', import.meta.url);
const peers: readonly string[] = ['piscina', 'tinypool'];

/** Systems of the pool rows. `one-thread` is Troupe with one thread. */
export const poolSystems: readonly string[] = ['troupe', ...peers, 'one-thread'];

const TASKS = 100_000;
const CHUNKS = 64;
const ROUNDS = 4_000_000;

/** A pool of any system. */
interface Pool {
  noop(): Promise<unknown>;
  compute(rounds: number): Promise<unknown>;
  close(): Promise<unknown>;
}

interface PeerModule {
  open(options: { readonly module: string; readonly threads: number }): Pool;
}

export function missingPool(system: string): string | undefined {
  const isMissing = peers.includes(system) && !existsSync(new URL(`node_modules/${system}/`, peersFolder));
  return isMissing ? `${system} is not installed: npm run bench -- --install-peers` : undefined;
}

async function open(system: string): Promise<Pool> {
  if (peers.includes(system)) {
    const peer: PeerModule = await import(new URL(`pools/${system}.mjs`, peersFolder).href);
    return peer.open({ module: module.href, threads: 2 });
  }
  const threads = system === 'one-thread' ? 1 : 2;
  const pool = new ThreadPoolExecutor({ minThreads: threads, maxThreads: threads });
  const tasks = pool.tasks<typeof Tasks>(module);
  return {
    noop: () => tasks.noop(),
    compute: (rounds) => tasks.compute(rounds),
    close: () => pool.shutdown(),
  };
}

/** `inFlight` callers, each with one task at a time. */
async function callers(pool: Pool, count: number, inFlight: number): Promise<Measurement> {
  let left = count;
  let completed = 0;
  const started = performance.now();
  const call = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await pool.noop();
      completed += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, call));
  return { attempted: count, completed, seconds: (performance.now() - started) / 1_000 };
}

async function noops({ system, scale }: RunContext, count: number, inFlight: number): Promise<Trial> {
  const pool = await open(system);
  const tasks = Math.max(inFlight, Math.round(count * scale));
  // Both threads are up before the first sample.
  await Promise.all(Array.from({ length: 100 }, () => pool.noop()));
  return { run: () => callers(pool, tasks, inFlight), close: async () => void (await pool.close()) };
}

const group = 'thread pool, two threads';

const inFlight100: Case = {
  benchmark: 'pool-in-flight-100',
  unit: 'tasks',
  group,
  note: 'tasks that do nothing, a hundred in flight',
  systems: ['troupe', ...peers],
  prepare: (context) => noops(context, TASKS, 100),
};

const inFlight1: Case = {
  benchmark: 'pool-in-flight-1',
  unit: 'tasks',
  group,
  note: 'tasks that do nothing, one after another',
  systems: ['troupe', ...peers],
  prepare: (context) => noops(context, TASKS / 10, 1),
};

const cpuBound: Case = {
  benchmark: 'pool-cpu-bound',
  unit: 'tasks',
  group,
  note: 'tasks of several milliseconds of arithmetic; one-thread: the same pool with one thread',
  systems: ['troupe', ...peers, 'one-thread'],
  async prepare({ system, scale }) {
    const pool = await open(system);
    const rounds = Math.max(1_000, Math.round(ROUNDS * scale));
    const expected = compute(rounds);
    await Promise.all(Array.from({ length: 4 }, () => pool.compute(rounds)));
    return {
      async run() {
        const started = performance.now();
        const values = await Promise.all(Array.from({ length: CHUNKS }, () => pool.compute(rounds)));
        const completed = values.filter((value) => value === expected).length;
        return { attempted: CHUNKS, completed, seconds: (performance.now() - started) / 1_000 };
      },
      close: async () => void (await pool.close()),
    };
  },
};

export const poolCases: readonly Case[] = [inFlight100, inFlight1, cpuBound];
