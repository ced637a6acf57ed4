import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeHost } from '@troupe/core';
import { connectClient } from '@troupe/jobs';
import { digest } from './job-definitions.js';
import type { Payload } from './payload.js';
import { type PeerServer, serverMissing, startServer } from './peer-server.js';

/** A job system as a client sees it: submit durably, run a handler in another process, have its result back here. */
export interface JobSystem {
  /** The same caller, counted from 0, always has the same client. */
  run(payload: Payload, caller: number): Promise<unknown>;
  /** The same with the payload in a file, where the system can read it while it sends. */
  runFile?(path: string): Promise<unknown>;
  close(): Promise<void>;
}

export const PEERS: readonly string[] = ['bullmq', 'rabbitmq', 'nats', 'pg-boss'];

/** How sure each of them is that a job it took stays. */
export const DURABILITY =
  'durability: troupe fsync before every acknowledgement; bullmq Redis AOF always; rabbitmq quorum queue with confirms; nats JetStream default, syncs every two minutes (not durable); pg-boss synchronous commit';

const PACKAGES: Readonly<Record<string, string>> = { rabbitmq: 'amqplib' };
const peersFolder = new URL('../../../peers/', import.meta.url);

export function missingPeer(system: string): string | undefined {
  if (!PEERS.includes(system)) return undefined;
  const name = PACKAGES[system] ?? system;
  if (!existsSync(new URL(`node_modules/${name}/package.json`, peersFolder)))
    return `${system}: its client ${name} is not installed: npm run bench -- --install-peers`;
  return serverMissing(system);
}

export function openSystem(system: string, shape: Shape): Promise<JobSystem> {
  return PEERS.includes(system) ? openPeer(system) : openTroupe(shape);
}

/** What `startWorker` allows. */
const SLOTS_MAX = 16_384;

export interface Shape {
  readonly outstanding: number;
  /** Connections of each kind; one unless given. */
  readonly workers?: number;
  readonly clients?: number;
  /** Of each worker; as many as it takes for all that is outstanding unless given. */
  readonly slots?: number;
}

async function openPeer(system: string): Promise<JobSystem> {
  const server = await startServer(system);
  try {
    return await joinPeer(system, server);
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface PeerClient {
  run(payload: Payload): Promise<unknown>;
  close(): Promise<void>;
}

async function joinPeer(system: string, server: PeerServer): Promise<JobSystem> {
  const module = new URL(`jobs/${system}.mjs`, peersFolder);
  const { open } = (await import(module.href)) as { open(options: { port: number }): Promise<PeerClient> };
  // Some servers accept before they serve.
  const client = await patiently(() => open({ port: server.port }));
  const worker = await started(
    fork(fileURLToPath(module), ['worker', String(server.port)], { execArgv: [] }),
  );
  return {
    run: (payload) => client.run(payload),
    close: async () => {
      await client.close();
      await ended(worker);
      await server.close();
    },
  };
}

/** A thousand peers in one process hold each other up, and each would warn of it. */
const silent = { ...nodeHost, log: () => undefined };

async function openTroupe({ outstanding, workers = 1, clients = 1, slots }: Shape): Promise<JobSystem> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  const program = new URL('./leader-and-worker-process.js', import.meta.url);
  const leader = fork(program, ['leader', dir], { execArgv: [] });
  const port = Number(await first(leader));
  const each = slots ?? Math.max(1, Math.min(SLOTS_MAX, Math.ceil(outstanding / workers)));
  const worker = await started(
    fork(program, ['worker', String(port), String(workers), String(each)], { execArgv: [] }),
  );
  const all = await Promise.all(
    Array.from({ length: clients }, (_, i) =>
      connectClient({ address: { port }, name: `bench-${i}`, withinMs: 60_000, host: silent }),
    ),
  );
  return {
    run: (payload, caller) => (all[caller % all.length] as (typeof all)[number]).run(digest, payload),
    runFile: async (path) => {
      const handle = await (all[0] as (typeof all)[number]).submitFile(digest, path);
      return handle.result();
    },
    close: async () => {
      for (const client of all) client.close();
      await ended(worker);
      await ended(leader);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 60; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function first(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a process of the trial ended with ${code}`)));
  });
}

async function started(child: ChildProcess): Promise<ChildProcess> {
  await first(child);
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}
