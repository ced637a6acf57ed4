import { type Client, defineJob, type JobHandle, SessionRefusedError, type WaitOptions } from '@troupe/jobs';
import { aNumber, aString } from '../plain-schema.js';

declare const client: Client;
const { signal } = new AbortController();
const job = defineJob('text.count', { input: aString, output: aNumber });

export const limits: WaitOptions = { withinMs: 5, signal };
export const submitted: Promise<JobHandle<typeof job>> = client.submit(job, 'x', { ...limits, key: 'k' });
export const batch: Promise<JobHandle<typeof job>[]> = client.submitAll(job, ['x'], limits);
export const output: Promise<number> = client.run(job, 'x', limits);
export const later = submitted.then((handle) => handle.result(limits));
// @ts-expect-error a batch has no key
void client.submitAll(job, ['x'], { key: 'k' });
// @ts-expect-error milliseconds are a number
void client.submit(job, 'x', { withinMs: '5' });
// @ts-expect-error the signal, not its controller
void client.run(job, 'x', { signal: new AbortController() });

export const calls = [
  client.overview(limits),
  client.list('dead', { after: 1, ...limits }),
  client.deadLetters({ max: 1, ...limits }),
  client.redrive(['id'], limits),
  client.purge(['id'], limits),
  submitted.then((handle) => handle.cancel('why', limits)),
  submitted.then((handle) => handle.inspect(limits)),
] as const;
// @ts-expect-error the reason of a cancel is its first argument
void submitted.then((handle) => handle.cancel(limits));

const refused = new SessionRefusedError('ERR_SESSION_REPLACED', 'replaced');
export const words: [string, string] = [refused.code, refused.problem];
