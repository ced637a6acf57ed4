import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type EmbeddedJobs, embedded, handle } from '@troupe/jobs';
import { digest, waiting } from '../jobs/job-definitions.js';
import { isResultOf, type Payload, resultOf } from '../jobs/payload.js';
import type { PayloadSource } from '../jobs/payload-source.js';

/** Bytes of a payload as JSON, the same in every row. */
export const PAYLOAD_BYTES = 100;

export interface EmbeddedSetup {
  readonly dir: string;
  readonly app: EmbeddedJobs;
  readonly client: Client;
  close(): Promise<void>;
}

/** A leader, a worker with `slots` handler slots (none if 0) and a client, in a new folder unless given. */
export async function openEmbedded(slots: number, dir?: string): Promise<EmbeddedSetup> {
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

/** Keeps `window` jobs outstanding until `count` have ended; returns the number of correct results. */
export function runWindow(
  count: number,
  window: number,
  payloads: PayloadSource,
  start: (payload: Payload) => Promise<unknown>,
  isCorrect: (payload: Payload, result: unknown) => boolean = isResultOf,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let started = 0;
    let ended = 0;
    let correct = 0;
    const next = (): void => {
      if (started === count) return;
      started += 1;
      const payload = payloads.next();
      start(payload).then((result) => {
        ended += 1;
        if (isCorrect(payload, result)) correct += 1;
        if (ended === count) resolve(correct);
        else next();
      }, reject);
    };
    for (let i = 0; i < Math.min(window, count); i += 1) next();
  });
}

/** Submits jobs that no worker serves. */
export async function submitWaiting(client: Client, count: number, payloads: PayloadSource): Promise<void> {
  const batch = 4_000;
  for (let from = 0; from < count; from += batch) {
    const inputs = Array.from({ length: Math.min(batch, count - from) }, () => payloads.next());
    await client.submitAll(waiting, inputs);
  }
}

/** CPU time of all threads of this process, which does not depend on other load on the machine. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
