import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, defineJob, type EmbeddedJobs, embedded, handle } from '@troupe/jobs';

/** A schema that accepts what it gets: the figures are of the job system, not of a validator. */
const anything = {
  '~standard': { version: 1 as const, vendor: 'bench', validate: (value: unknown) => ({ value }) },
};

export const noop = defineJob('bench.noop', { input: anything, output: anything });
/** Nobody serves it: its jobs wait. */
export const waiting = defineJob('bench.waiting', { input: anything, output: anything });

/** About 100 bytes as JSON. */
export function inputOf(n: number): unknown {
  return { n, text: 'a payload of about one hundred bytes, as jobs often have them, give or take' };
}

export interface Rig {
  readonly dir: string;
  readonly app: EmbeddedJobs;
  readonly client: Client;
  close(): Promise<void>;
}

/** Leader, one worker with `slots` slots and one client on a fresh folder. */
export async function openRig(slots: number, dir?: string): Promise<Rig> {
  const folder = dir ?? (await mkdtemp(join(tmpdir(), 'troupe-bench-')));
  const app = await embedded({ dir: folder, limits: { jobsMax: 4_000_000, outstandingMax: 100_000 } });
  if (slots > 0) app.worker({ slots, handlers: [handle(noop, (input) => input)] });
  const client = app.client();
  await client.overview();
  return {
    dir: folder,
    app,
    client,
    close: async () => {
      await app.close();
      if (dir === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

export function isAnswerTo(n: number, result: unknown): boolean {
  return (result as { n: number }).n === n;
}

/** Keeps `window` of them going until `count` have settled; returns how many settled with what is `right`. */
export function windowed(
  count: number,
  window: number,
  start: (n: number) => Promise<unknown>,
  right: (n: number, result: unknown) => boolean = () => true,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let started = 0;
    let settled = 0;
    let correct = 0;
    const next = (): void => {
      if (started === count) return;
      started += 1;
      const n = started;
      start(n).then((result) => {
        settled += 1;
        if (right(n, result)) correct += 1;
        if (settled === count) resolve(correct);
        else next();
      }, reject);
    };
    for (let i = 0; i < Math.min(window, count); i += 1) next();
  });
}

export async function fill(client: Client, count: number): Promise<void> {
  const batch = 5_000;
  for (let from = 0; from < count; from += batch) {
    const inputs = Array.from({ length: Math.min(batch, count - from) }, (_, i) => inputOf(from + i));
    await client.submitAll(waiting, inputs);
  }
}

/** Processor time of all threads of this process: what a job costs, however busy the machine is. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
