// Jobs that compute, on two threads; one of them would never end.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embedded, JobFailedError } from '@troupe/jobs';
import { CountPrimes, Spin } from './job-threads/handlers.js';

const dir = await mkdtemp(join(tmpdir(), 'jobs-'));
{
  await using app = await embedded({ dir });
  const handlers = new URL('./job-threads/handlers.js', import.meta.url);
  const worker = app.worker({ handlers, threads: { count: 2, graceMs: 100 } });
  await worker.ready();
  const client = app.client();

  const primes = await Promise.all([client.run(CountPrimes, 200_000), client.run(CountPrimes, 200_000)]);
  assert.deepEqual(primes, [17_984, 17_984]);

  const spin = client.run(Spin, 0); // takes a thread; the other one goes on
  assert.equal(await client.run(CountPrimes, 1_000), 168);
  await assert.rejects(spin, JobFailedError); // after 200 ms; its thread is replaced
  assert.equal(await client.run(CountPrimes, 1_000), 168);
  console.log(`primes below 200,000: ${primes[0]}; the endless job was ended`);
}
await rm(dir, { recursive: true });
