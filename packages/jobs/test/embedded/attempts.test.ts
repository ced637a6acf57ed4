// timeout: 60s
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EmbeddedJobs, EndedAttempt } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../checked-processes.js';
import { tempFolder } from '../temp-folder.js';
import { failing, failOften } from './killed-while-failing.js';

const attempts = suite('attempts over restarts');

const CHILD = fileURLToPath(new URL('./killed-while-failing.js', import.meta.url));
const FAILURES_BEFORE = 3;

async function attemptsOf(app: EmbeddedJobs, id: string): Promise<readonly EndedAttempt[]> {
  return (await app.client().open(failing, id).inspect()).attempts ?? [];
}

function assertTimeLine(line: readonly EndedAttempt[], length: number): void {
  assert.equal(
    line.map(({ attempt, failure }) => [attempt, failure?.message, failure?.cause?.message]),
    Array.from({ length }, (_, n) => [n + 1, `attempt ${n + 1} failed`, 'the tray is empty']),
  );
  for (const { startedAt, endedAt, worker, ending } of line) {
    assert.ok(startedAt > 0 && endedAt >= startedAt, `${startedAt} to ${endedAt}`);
    assert.match(worker, /^printer~/);
    assert.is(ending, 'failed');
  }
}

attempts('a restart keeps the time line of a job, and the attempts behind it are added', async () => {
  await using folder = await tempFolder();
  let id = '';
  {
    await using app = await embedded({ dir: folder.path });
    app.worker(failOften());
    const job = await app.client().submit(failing, FAILURES_BEFORE);
    await job.result();
    id = job.id;
  }
  await using app = await embedded({ dir: folder.path });
  const line = await attemptsOf(app, id);
  assertTimeLine(line.slice(0, -1), FAILURES_BEFORE);
  assert.is(line.at(-1)?.ending, 'done');
});

attempts('a kill -9 loses no attempt whose end was seen', async () => {
  await using folder = await tempFolder();
  const child = spawn(process.execPath, [CHILD, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let [id, seen] = ['', 0];
  for await (const text of createInterface({ input: child.stdout })) {
    const [job = '', count = '0'] = text.split(' ');
    [id, seen] = [job, Number(count)];
    if (seen >= FAILURES_BEFORE) child.kill('SIGKILL');
  }
  assert.equal((await exited)[1], 'SIGKILL');
  await using app = await embedded({ dir: folder.path });
  const line = await attemptsOf(app, id);
  assert.ok(line.length >= seen, `${line.length} of ${seen}`);
  assertTimeLine(line, line.length);
});

attempts.run();
