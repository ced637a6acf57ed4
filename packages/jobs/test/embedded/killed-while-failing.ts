import { defineJob, type HandledJob, handle } from '@troupe/jobs';
import { embedded } from '../checked-processes.js';
import { aNumber, aString } from '../plain-schema.js';

/** Fails as often as its input says. */
export const failing = defineJob('kill.failing', {
  input: aNumber,
  output: aString,
  retry: { attempts: 1_000, baseMs: 1, capMs: 1, jitter: 0 },
});

export function failOften(): { readonly name: string; readonly handlers: readonly HandledJob[] } {
  const handler = handle(failing, (times, { attempt }) => {
    if (attempt > times) return 'printed';
    throw new Error(`attempt ${attempt} failed`, { cause: new Error('the tray is empty') });
  });
  return { name: 'printer', handlers: [handler] };
}

/** Prints the job and the number of its attempts that have ended, until it is killed. */
async function main(dir: string): Promise<void> {
  const app = await embedded({ dir, wal: { freeBytesSoft: 0 } });
  app.worker(failOften());
  const job = await app.client().submit(failing, 1_000_000);
  for (;;) {
    const { attempts = [] } = await job.inspect();
    process.stdout.write(`${job.id} ${attempts.length}\n`);
  }
}

if (process.argv[2] !== undefined) await main(process.argv[2]);
