// `tail -f` as a job: the command runner streams the lines of a program that never ends by itself. A worker names the
// programs it allows; cancelling the job ends the program and everything it started.
import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embedded, JobCancelledError } from '@troupe/jobs';
import { command, commandRunner } from '@troupe/jobs/runners';

const dir = await mkdtemp(join(tmpdir(), 'troupe-tail-'));
const logs = join(dir, 'logs');
await mkdir(logs);
await writeFile(join(logs, 'app.log'), '');

const app = await embedded({ dir: join(dir, 'state') });
app.worker({ handlers: [commandRunner({ allow: { tail: '/usr/bin/tail' }, cwd: logs })] });

const job = await app
  .client()
  .submit(command, { argv: ['tail', '-f', 'app.log'] }, { streaming: 'response' });
const lines = ['started', 'listening on 8080', 'request GET /'];
const writer = (async () => {
  for (const line of lines) {
    await appendFile(join(logs, 'app.log'), `${line}\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
})();

let read = '';
try {
  for await (const chunk of job) {
    if (chunk.from !== 'stdout') continue;
    process.stdout.write(chunk.text);
    read += chunk.text;
    if (read.includes('request GET /\n')) await job.cancel('seen enough');
  }
} catch (error) {
  // The end of a stream that was cancelled.
  if (!(error instanceof JobCancelledError)) throw error;
}
assert.equal(read, lines.map((line) => `${line}\n`).join(''));

await writer;
await app.close();
await rm(dir, { recursive: true });
