// timeout: 120s
// What `npm start` runs: a leader with its log in ./state, two workers and a client, each a process. The
// client submits real work on the files of this repository; in the middle a worker is killed with kill -9,
// then the leader itself. The end is a summary of what was proved.
import { mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { connectClient } from '@troupe/jobs';
import { evidenceIn } from './main-job/evidence.js';
import { inspectFile } from './main-job/inspect-file.js';
import { Inspect, type Task } from './main-job/jobs.js';
import { repoFiles } from './main-job/repo-files.js';
import { TroupeProcess } from './main-job/troupe-process.js';

const JOBS = 6_000;
const OUTSTANDING = 200;

const root = process.cwd();
const handlers = fileURLToPath(new URL('./main-job/handlers.js', import.meta.url));
await mkdir('state', { recursive: true });
const folder = await mkdtemp('state/start-');

const files = await repoFiles(root);
const kinds: readonly Task['what'][] = ['sha256', 'words', 'longest line'];
const tasks: Task[] = [];
while (tasks.length < JOBS) {
  for (const path of files) for (const what of kinds) tasks.push({ path, what });
}
tasks.length = JOBS;

console.log(
  `a leader with its log in ${folder}, two workers, ${JOBS.toLocaleString('en')} jobs on ${files.length} files of this repository`,
);
let leader = await TroupeProcess.start('leader', '--port', '0', '--dir', folder);
const { address } = leader;
const port = Number(address.split(':')[1]);
const startWorker = (name: string): Promise<TroupeProcess> =>
  TroupeProcess.start(
    'worker',
    handlers,
    '--leader',
    address,
    '--name',
    name,
    '--cpu-cap',
    '1',
    '--slots',
    '32',
  );
let first = await startWorker('first');
const second = await startWorker('second');
console.log(`leader ${leader.pid} on ${address}, workers ${first.pid} and ${second.pid}`);

const client = await connectClient({ address: { port }, name: 'npm-start' });
const latencies = new Float64Array(JOBS);
let done = 0;
let wrong = 0;
const startedAt = performance.now();

const accidents: [number, () => Promise<void>][] = [
  [
    0.3,
    async () => {
      say(`kill -9 of worker ${first.pid}; its jobs go to the other one`);
      await first.end('SIGKILL');
      first = await startWorker('first');
      say(`worker ${first.pid} takes its place`);
    },
  ],
  [
    0.6,
    async () => {
      say(`kill -9 of the leader, ${leader.pid}; workers and client wait for the next one`);
      await leader.end('SIGKILL');
      leader = await TroupeProcess.start('leader', '--port', String(port), '--dir', folder);
      say(`leader ${leader.pid} has read its log and goes on`);
    },
  ],
];
const underWay: Promise<void>[] = [];

async function inspectAll(from: number): Promise<void> {
  for (let i = from; i < JOBS; i += OUTSTANDING) {
    const task = tasks[i] as Task;
    const at = performance.now();
    const handle = await client.submit(Inspect, task);
    const found = await handle.result();
    latencies[i] = performance.now() - at;
    if (found !== (await inspectFile(root, task)) && !(await wasEdited(task.path))) wrong += 1;
    done += 1;
    draw();
    const due = accidents[0];
    if (due !== undefined && done >= due[0] * JOBS) {
      accidents.shift();
      underWay.push(due[1]());
    }
  }
}

await Promise.all(Array.from({ length: OUTSTANDING }, (_, lane) => inspectAll(lane)));
const seconds = (performance.now() - startedAt) / 1_000;
await Promise.all(underWay);
client.close();
await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')]);
await leader.end('SIGTERM');

const evidence = await evidenceIn(folder);
await rm(folder, { recursive: true, force: true });
// The folder of another leader may be in there: then it stays.
await rmdir('state').catch(() => undefined);

const lost = JOBS - evidence.completed;
latencies.sort();
say(`
  submitted and acknowledged on the disk   ${evidence.accepted.toLocaleString('en')}
  completed                                ${evidence.completed.toLocaleString('en')}
  attempts beyond one per job (retried)    ${(evidence.attempts - evidence.accepted).toLocaleString('en')}
  lost                                     ${lost}
  duplicates of acknowledged results       ${evidence.doubled}
  results that differ from the client's    ${wrong}
  jobs a second, accidents included        ${Math.round(JOBS / seconds).toLocaleString('en')} in ${seconds.toFixed(1)} s
  p50, p99 from submit to result           ${ms(0.5)}, ${ms(0.99)}
  durability                               fsync before every acknowledgement
`);
if (lost + evidence.doubled + evidence.open + wrong > 0 || evidence.accepted !== JOBS) {
  console.error('this should not have happened');
  process.exitCode = 1;
} else {
  console.log('nothing was lost');
}

/** Somebody who saves a file in the middle of this is not to be told that a job went wrong. */
async function wasEdited(path: string): Promise<boolean> {
  return (await stat(path)).mtimeMs > performance.timeOrigin;
}

function ms(share: number): string {
  return `${(latencies[Math.floor(JOBS * share)] ?? 0).toFixed(1)} ms`;
}

function draw(): void {
  if (process.stdout.isTTY !== true) {
    if (done % (JOBS / 5) === 0)
      console.log(`${done.toLocaleString('en')} of ${JOBS.toLocaleString('en')} done`);
    return;
  }
  if (done % 50 !== 0) return;
  const filled = Math.round((done / JOBS) * 40);
  process.stdout.write(
    `\r${'█'.repeat(filled)}${'░'.repeat(40 - filled)} ${done.toLocaleString('en')}/${JOBS.toLocaleString('en')} `,
  );
}

function say(line: string): void {
  if (process.stdout.isTTY === true) process.stdout.write('\r\u001b[K');
  console.log(line);
}
