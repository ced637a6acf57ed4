import { defineJob, embedded, handle, startWorker } from '@troupe/jobs';
import { aString } from '../plain-schema.js';

const address = { host: '127.0.0.1', port: 1 };
const job = defineJob('some.job', { input: aString, output: aString });
const module = new URL('./handlers.js', import.meta.url);
const app = await embedded({ dir: 'state' });

startWorker({ address, name: 'w', handlers: module, threads: 2 });
startWorker({ address, name: 'w', handlers: module, threads: { count: 2, graceMs: 10 } });
app.worker({ handlers: module, threads: 1 }).ready() satisfies Promise<void>;
handle(job, (text) => text, { sharesThread: true });

// @ts-expect-error: a path is ambiguous; a URL is not
startWorker({ address, name: 'w', handlers: './handlers.js', threads: 2 });
// @ts-expect-error: the number of threads is required
startWorker({ address, name: 'w', handlers: module, threads: { graceMs: 10 } });
// @ts-expect-error: unknown option
handle(job, (text) => text, { shares: true });
