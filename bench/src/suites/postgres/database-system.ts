import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Client, connectClient } from '@troupe/jobs';
import { firstMessage, stopProcess, untilStarted } from '../jobs/child-processes.js';
import { digest } from '../jobs/job-definitions.js';
import { connectPeer, type JobSystem, openSystem } from '../jobs/job-system.js';
import { DatabaseServers } from './database-servers.js';

export const FILE_LOG = 'file-log';
export const DATABASE_PEERS: readonly string[] = ['pg-boss', 'graphile-worker'];

const leaderProgram = fileURLToPath(new URL('./database-leader-process.js', import.meta.url));
const workerProgram = fileURLToPath(new URL('../jobs/leader-and-worker-process.js', import.meta.url));

/** A leader process; with a port it may stand by. */
export function forkLeader(url: string, port: number, name: string, schema = 'troupe'): ChildProcess {
  return fork(leaderProgram, [url, String(port), name, schema], { execArgv: [] });
}

/** A worker of the leader at one of these ports. */
export function forkWorker(ports: readonly number[], slots: number): Promise<ChildProcess> {
  return untilStarted(
    fork(workerProgram, ['worker', ports.join(','), '1', String(slots), ''], { execArgv: [] }),
  );
}

/** The system on a primary and a synchronous standby; the file log on the same disk. */
export async function openOnDatabase(system: string, outstanding: number): Promise<JobSystem> {
  if (system === FILE_LOG) return openSystem('troupe', { outstanding });
  const servers = await DatabaseServers.start();
  const server = { port: servers.primary.port, close: () => servers[Symbol.asyncDispose]() };
  if (DATABASE_PEERS.includes(system)) return connectPeer(system, server);
  const leader = forkLeader(servers.url, 0, 'bench');
  const port = Number(await firstMessage(leader));
  const worker = await forkWorker([port], Math.min(16_384, outstanding));
  const client = await connectClient({ address: { port }, name: 'bench', withinMs: 60_000 });
  return {
    run: (payload) => client.run(digest, payload),
    close: () => closeAll(client, [worker, leader], servers),
  };
}

export async function closeAll(
  client: Client,
  processes: readonly ChildProcess[],
  servers: DatabaseServers,
): Promise<void> {
  client.close();
  for (const process of processes) await stopProcess(process);
  await servers[Symbol.asyncDispose]();
}
