// A program with everything that a bundle could break: actors, error names, jobs with snapshots, and threads of every kind.

const COUNTER = `import { defineActor } from '@troupe/core';

export const Counter = defineActor('counter', {
  module: import.meta.url,
  state: () => ({ n: 0 }),
  handlers: { add(ctx, by) { ctx.state.n += by; return ctx.state.n; } },
});
`;

const TASKS = `export function square(n) {
  return n * n;
}
`;

const HANDLERS = `import { defineJob, handle } from '@troupe/jobs';

const text = { '~standard': { version: 1, vendor: 'smoke', validate: (value) => ({ value }) } };
export const Shout = defineJob('text.shout', { input: text, output: text });
export const shout = handle(Shout, (input) => input.toUpperCase());
`;

/** Actors and jobs of one thread: nothing but the bundle is needed. */
const INLINE = `import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystem, OptionError } from '@troupe/core';
import { embedded } from '@troupe/jobs';
import { Counter } from './counter.js';
import { Shout, shout } from './handlers.js';

const system = createSystem();
const counter = system.spawn(Counter, { name: 'counter' });
if ((await counter.ask.add(2)) !== 2) throw new Error('no actor');
try {
  system.spawn(Counter, { nam: 'typo' });
  throw new Error('not refused');
} catch (error) {
  if (!(error instanceof OptionError) || error.name !== 'OptionError') throw error;
}
await system.shutdown();

const dir = await mkdtemp(join(tmpdir(), 'troupe-bundle-'));
const app = await embedded({ dir });
app.worker({ handlers: [shout] });
if ((await app.client().run(Shout, 'hello')) !== 'HELLO') throw new Error('no job');
await app.close();
await rm(dir, { recursive: true });
`;

/** Actors on threads. */
const ACTORS = `import { createSystem } from '@troupe/core';
import { threads } from '@troupe/threads';
import { Counter } from './counter.js';

const system = createSystem({ threads: threads({ count: 1 }) });
const counter = system.spawn(Counter, { on: 'any-thread' });
if ((await counter.ask.add(2)) !== 2) throw new Error('no actor on a thread');
await system.shutdown();
`;

/** Threads for tasks, for handlers of jobs, for snapshots of the log and for heartbeats. */
const JOBS = `import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClient, startLeader, startWorker } from '@troupe/jobs';
import { ThreadPoolExecutor } from '@troupe/threads';
import { Shout } from './handlers.js';

process.on('warning', (warning) => { throw warning; });
const pool = new ThreadPoolExecutor({ maxThreads: 1 });
if ((await pool.tasks(new URL('./tasks.js', import.meta.url)).square(5)) !== 25) throw new Error('no task');
await pool.shutdown();

const dir = await mkdtemp(join(tmpdir(), 'troupe-bundle-'));
let snapshots = 0;
let failure;
const onEvent = (event) => {
  if (event.kind === 'snapshot-made') snapshots += 1;
  if (event.kind === 'snapshot-failed') failure = event.error;
};
const wal = { snapshotEveryBytes: 16_384, freeBytesSoft: 0, onEvent };
const fail = (error) => { throw error; };
const leader = await startLeader({ dir, wal, onFatal: fail });
const { address } = leader;
const handlers = new URL('./handlers.js', import.meta.url);
const worker = await startWorker({ address, name: 'on-threads', handlers, threads: 1, heartbeatThread: true });
const client = await connectClient({ address });
for (let i = 0; snapshots === 0; i += 1) {
  if (failure !== undefined) throw failure;
  if (i === 2_000) throw new Error('no snapshot');
  const job = await client.run(Shout, 'hello '.repeat(100));
  if (!job.startsWith('HELLO')) throw new Error('no job on a thread');
}
client.close();
await worker.close();
await leader.close();
await rm(dir, { recursive: true });
`;

/** The modules beside the program, by file name. */
export const sources = { 'counter.js': COUNTER, 'tasks.js': TASKS, 'handlers.js': HANDLERS };

export const programs = { inline: INLINE, actors: ACTORS, jobs: JOBS };

/** The files that threads start with, by the name that they have beside a bundle (docs/guides/bundles.md). */
export const threadEntries = {
  'node-pool-thread-main': '@troupe/threads/pool-thread',
  'node-actor-thread-main': '@troupe/threads/actor-thread',
  'node-handler-thread-main': '@troupe/jobs/handler-thread',
  'node-heartbeat-thread-main': '@troupe/jobs/heartbeat-thread',
  'node-snapshot-thread-main': '@troupe/wal/snapshot-thread',
  'ledger-fold': '@troupe/jobs/ledger-fold',
};
