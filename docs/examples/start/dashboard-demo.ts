// `npm start -- --dashboard`: the demo with its page. Jobs flow until Ctrl-C; a worker and the leader are killed with
// kill -9 every few seconds, and start again.
import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { connectClient } from '@troupe/jobs';
import { Inspect, type Task } from './inspect-job.js';
import { type StartedProcess, TroupeProcess } from './troupe-process.js';

const SUBMIT_MS = 25;
const KILL_MS = Number(process.env['KILL_MS'] ?? 12_000);
const HTTP_PORT = '7420';

/** Resolves at Ctrl-C. */
export async function runDashboardDemo(tasks: readonly Task[], handlers: string): Promise<void> {
  await mkdir('state', { recursive: true });
  const folder = await mkdtemp('state/start-');
  const startLeader = (port: string): Promise<StartedProcess> =>
    TroupeProcess.start('leader', '--port', port, '--dir', folder);
  let leader = await startLeader('0');
  const { address } = leader;
  const startWorker = (name: string): Promise<StartedProcess> =>
    TroupeProcess.start('worker', handlers, '--leader', address, '--name', name, '--cpu-cap', '1');
  let first = await startWorker('first');
  const second = await startWorker('second');
  // The page is a process of its own: it stays open over the end of the leader.
  const page = await TroupeProcess.start(
    'dashboard',
    '--leader',
    address,
    '--port',
    process.env['PORT'] ?? HTTP_PORT,
  );
  console.log(`the page is on ${page.address}; Ctrl-C ends everything`);
  const client = await connectClient({ address: { port: Number(address.split(':')[1]) }, name: 'npm-start' });
  let isOver = false;
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        isOver = true;
        resolve();
      });
  });
  let submitted = 0;
  const submitting = setInterval(() => {
    submitted += 1;
    const task = tasks[submitted % tasks.length] as Task; // there is at least one
    // A leader that is away at the end of the demo leaves the last submits without an answer.
    client.submit(Inspect, task).catch((error: Error) => (isOver ? undefined : console.error(error.message)));
  }, SUBMIT_MS);
  let changing = Promise.resolve();
  let kills = 0;
  const killing = setInterval(() => {
    kills += 1;
    changing = changing.then(async () => {
      if (isOver) return;
      if (kills % 2 === 1) {
        console.log(`kill -9 of worker ${first.pid}`);
        await first.end('SIGKILL');
        first = await startWorker('first');
        return;
      }
      console.log(`kill -9 of the leader, ${leader.pid}`);
      await leader.end('SIGKILL');
      leader = await startLeader(address.split(':')[1] ?? '0');
    });
  }, KILL_MS);
  await ended;
  clearInterval(submitting);
  clearInterval(killing);
  // Ctrl-C reaches all processes of the terminal: one that was starting is gone.
  await changing.catch((error: Error) => console.log(error.message));
  client.close();
  await Promise.all([first, second, page].map((one) => one.end('SIGTERM')));
  await leader.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
  await rmdir('state').catch(() => undefined);
  console.log(`${submitted} jobs submitted, ${kills} processes killed`);
}
