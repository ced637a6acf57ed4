// Leaders, workers and clients as tests start them: a dead letter in one of their systems fails the test file.
import type { ActorSystem, DeadLetter, Middleware } from '@troupe/core';
import * as jobs from '@troupe/jobs';
import { systemOf, textOf } from './no-dead-letters.js';

const letters: string[] = [];

process.once('exit', () => {
  if (letters.length === 0) return;
  console.error(`dead letters inside the product:\n${letters.join('\n')}`);
  process.exitCode = 1;
});

function watch(system: ActorSystem): void {
  system.on('dead-letter', ({ letter }) => {
    if (!isOwnRest(letter)) letters.push(textOf(letter));
  });
}

/**
 * A session that ends with its connection has nothing more to write: what the leader had for it until then is left
 * over. A tick may fire and a connection may close while its actor stops, or behind the turn that stops it.
 */
function isOwnRest({ to, message, reason }: DeadLetter): boolean {
  if (message === 'tick' || message === 'closed') return reason === 'stopped' || reason === 'left-over';
  return reason === 'left-over' && message !== 'readable' && to.startsWith('/listener/');
}

/** The system of a client, which has no field for it. */
const watching: Middleware = {
  name: 'dead letters',
  install({ system }) {
    watch(system);
    return undefined;
  },
};

export async function startLeader(options: jobs.LeaderServerOptions): Promise<jobs.LeaderServer> {
  const leader = await jobs.startLeader(options);
  watch(systemOf(leader));
  return leader;
}

export async function startWorker(options: jobs.StartWorkerOptions): Promise<jobs.RemoteWorker> {
  const worker = await jobs.startWorker(options);
  watch(systemOf(worker));
  return worker;
}

export function connectClient(options: jobs.ConnectClientOptions): Promise<jobs.Client> {
  return jobs.connectClient({ ...options, middleware: [...(options.middleware ?? []), watching] });
}

export async function embedded(options: jobs.EmbeddedOptions): Promise<jobs.EmbeddedJobs> {
  const app = await jobs.embedded(options);
  watch(systemOf(app));
  return app;
}
