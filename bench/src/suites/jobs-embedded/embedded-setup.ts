import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type EmbeddedJobs, embedded, handle } from '@troupe/jobs';
import { digest, waiting } from '../jobs/job-definitions.js';
import { isResultOf, type Payload, type Payloads, resultOf } from '../jobs/payload.js';

/** The same 100 bytes as JSON in every row. */
export const PAYLOAD_BYTES = 100;

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
  if (slots > 0) app.worker({ slots, handlers: [handle(digest, resultOf)] });
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

/** Keeps `window` jobs going until `count` have settled; returns how many settled with what is `right`. */
export function windowed(
  count: number,
  window: number,
  payloads: Payloads,
  start: (payload: Payload) => Promise<unknown>,
  right: (payload: Payload, result: unknown) => boolean = isResultOf,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let started = 0;
    let settled = 0;
    let correct = 0;
    const next = (): void => {
      if (started === count) return;
      started += 1;
      const payload = payloads.next();
      start(payload).then((result) => {
        settled += 1;
        if (right(payload, result)) correct += 1;
        if (settled === count) resolve(correct);
        else next();
      }, reject);
    };
    for (let i = 0; i < Math.min(window, count); i += 1) next();
  });
}

export async function fill(client: Client, count: number, payloads: Payloads): Promise<void> {
  const batch = 5_000;
  for (let from = 0; from < count; from += batch) {
    const inputs = Array.from({ length: Math.min(batch, count - from) }, () => payloads.next());
    await client.submitAll(waiting, inputs);
  }
}

/** Processor time of all threads of this process: what a job costs, however busy the machine is. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
