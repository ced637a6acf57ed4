// timeout: 120s
// The program of `npm start`: a leader with its log in ./state, two workers and a client, each a process. The
// client submits jobs on the files of this repository; meanwhile a worker and then the leader are killed with
// kill -9. A summary proves that no job was lost. `npm start -- --dashboard` lets jobs flow until Ctrl-C instead,
// with the page on port 7420.
import { mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { connectClient } from '@troupe/jobs';
import { countJobsInLog } from './start/count-jobs-in-log.js';
import { runDashboardDemo } from './start/dashboard-demo.js';
import { inspectFile } from './start/inspect-file.js';
import { Inspect, type Task } from './start/inspect-job.js';
import { listTextFiles } from './start/list-text-files.js';
import { TroupeProcess } from './start/troupe-process.js';

const JOBS = 6_000;
const OUTSTANDING = 200;

const root = process.cwd();
const handlers = fileURLToPath(new URL('./start/worker-handlers.js', import.meta.url));

const files = await listTextFiles(root);
const kinds: readonly Task['what'][] = ['sha256', 'words', 'longest line'];
const tasks: Task[] = [];
while (tasks.length < JOBS) {
  for (const path of files) for (const what of kinds) tasks.push({ path, what });
}
tasks.length = JOBS;

if (process.argv.includes('--dashboard')) {
  await runDashboardDemo(tasks, handlers);
  process.exit();
}

await mkdir('state', { recursive: true });
const folder = await mkdtemp('state/start-');

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

const kills: [number, () => Promise<void>][] = [
  [
    0.3,
    async () => {
      print(`kill -9 of worker ${first.pid}; its jobs go to the other worker`);
      await first.end('SIGKILL');
      first = await startWorker('first');
      print(`worker ${first.pid} replaces it`);
    },
  ],
  [
    0.6,
    async () => {
      print(`kill -9 of the leader, ${leader.pid}; workers and client wait for the next leader`);
      await leader.end('SIGKILL');
      leader = await TroupeProcess.start('leader', '--port', String(port), '--dir', folder);
      print(`leader ${leader.pid} has read its log and continues`);
    },
  ],
];
const runningKills: Promise<void>[] = [];

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
    const due = kills[0];
    if (due !== undefined && done >= due[0] * JOBS) {
      kills.shift();
      runningKills.push(due[1]());
    }
  }
}

await Promise.all(Array.from({ length: OUTSTANDING }, (_, index) => inspectAll(index)));
const seconds = (performance.now() - startedAt) / 1_000;
await Promise.all(runningKills);
client.close();
await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')]);
await leader.end('SIGTERM');

const logged = await countJobsInLog(folder);
await rm(folder, { recursive: true, force: true });
// The folder stays if another leader has its files there.
await rmdir('state').catch(() => undefined);

const lost = JOBS - logged.completed;
latencies.sort();
print(`
  submitted and acknowledged on the disk   ${logged.accepted.toLocaleString('en')}
  completed                                ${logged.completed.toLocaleString('en')}
  attempts beyond one per job (retried)    ${(logged.attempts - logged.accepted).toLocaleString('en')}
  lost                                     ${lost}
  duplicates of acknowledged results       ${logged.duplicated}
  results that differ from the client's    ${wrong}
  jobs a second, kills included        ${Math.round(JOBS / seconds).toLocaleString('en')} in ${seconds.toFixed(1)} s
  p50, p99 from submit to result           ${ms(0.5)}, ${ms(0.99)}
  durability                               fsync before every acknowledgement
`);
if (lost + logged.duplicated + logged.unfinished + wrong > 0 || logged.accepted !== JOBS) {
  console.error('jobs were lost, duplicated or wrong');
  process.exitCode = 1;
} else {
  console.log('nothing was lost');
}

/** A file that was saved during the run does not count as a wrong result. */
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

function print(line: string): void {
  if (process.stdout.isTTY === true) process.stdout.write('\r\u001b[K');
  console.log(line);
}
