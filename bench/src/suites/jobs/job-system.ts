import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeHost } from '@troupe/core';
import { connectClient } from '@troupe/jobs';
import { firstMessage, stopProcess, untilStarted } from './child-processes.js';
import { digest } from './job-definitions.js';
import { type JobOrder, keyOf, priorityOf } from './job-order.js';
import type { Payload } from './payload.js';
import { missingServer, type PeerServer, startServer } from './peer-server.js';
import { TraceContexts, type Traced, tracedSides } from './traced-jobs.js';

/**
 * The client side of a job system: durable submit, a handler in another process, the result back in this one.
 */
export interface JobSystem {
  /** Callers are counted from 0; a caller always uses the same client. */
  run(payload: Payload, caller: number): Promise<unknown>;
  /** Runs a job with its payload in a file, in systems that stream it. */
  runFile?(path: string): Promise<unknown>;
  close(): Promise<void>;
}

export const PEERS: readonly string[] = ['bullmq', 'rabbitmq', 'nats', 'pg-boss'];

/** The durability of an accepted job in each system. */
export const DURABILITY =
  'durability: troupe fsync before every acknowledgement; bullmq Redis AOF always; rabbitmq quorum queue with confirms; nats JetStream default, syncs every two minutes (not durable); pg-boss synchronous commit';

const PACKAGES: Readonly<Record<string, string>> = { rabbitmq: 'amqplib' };
const peersFolder = new URL('../../../peers/', import.meta.url);

/** The reason why a peer cannot run here, `undefined` if it can. */
export function missingPeer(system: string): string | undefined {
  return PEERS.includes(system) ? (missingClient(system) ?? missingServer(system)) : undefined;
}

export function missingClient(system: string): string | undefined {
  const name = PACKAGES[system] ?? system;
  if (existsSync(new URL(`node_modules/${name}/package.json`, peersFolder))) return undefined;
  return `${system}: the client ${name} is not installed: npm run bench -- --install-peers`;
}

export function openSystem(system: string, topology: Topology): Promise<JobSystem> {
  return PEERS.includes(system) ? openPeer(system, topology.order) : openTroupe(topology);
}

/** The limit of `startWorker`. */
const SLOTS_MAX = 16_384;

/** Connections and handler slots of Troupe in a row. */
export interface Topology {
  readonly outstanding: number;
  /** Worker connections; one unless given. */
  readonly workers?: number;
  /** Client connections; one unless given. */
  readonly clients?: number;
  /** Handler slots of each worker; unless given, enough in all for the outstanding jobs. */
  readonly slots?: number;
  /** Trace contexts, or spans too; none unless given. */
  readonly traced?: Traced | undefined;
  /** Pages of the dashboard that are open on it; none unless given. */
  readonly pages?: number | undefined;
  /** The form of the records in the leader's log; binary unless given. */
  readonly codec?: 'binary' | 'jsonl';
  /** First in, first out unless given. */
  readonly order?: JobOrder | undefined;
}

async function openPeer(system: string, order: JobOrder | undefined): Promise<JobSystem> {
  const server = await startServer(system);
  try {
    return await connectPeer(system, server, order);
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface PeerClient {
  run(payload: Payload): Promise<unknown>;
  close(): Promise<void>;
}

interface PeerModule {
  open(options: { port: number; order: JobOrder | undefined }): Promise<PeerClient>;
}

/** A server that runs gets a client in this process and a worker in another. */
export async function connectPeer(system: string, server: PeerServer, order?: JobOrder): Promise<JobSystem> {
  const module = new URL(`jobs/${system}.mjs`, peersFolder);
  const { open } = (await import(module.href)) as PeerModule;
  const client = await retry(() => open({ port: server.port, order }));
  const worker = await untilStarted(
    fork(fileURLToPath(module), ['worker', String(server.port)], { execArgv: [] }),
  );
  return {
    run: (payload) => client.run(payload),
    close: async () => {
      await client.close();
      await stopProcess(worker);
      await server.close();
    },
  };
}

/** A thousand clients in one process delay each other, and each would log a warning. */
const silentHost = { ...nodeHost, log: () => undefined };

function startPages(port: number, pages: number): Promise<ChildProcess> {
  const program = new URL('./pages-process.js', import.meta.url);
  return untilStarted(fork(program, [String(port), String(pages)], { execArgv: [] }));
}

async function openTroupe(topology: Topology): Promise<JobSystem> {
  const {
    outstanding,
    workers = 1,
    clients = 1,
    slots,
    codec = 'binary',
    traced,
    pages = 0,
    order,
  } = topology;
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  const program = new URL('./leader-and-worker-process.js', import.meta.url);
  const leader = fork(program, ['leader', dir, codec, traced ?? ''], { execArgv: [] });
  const port = Number(await firstMessage(leader));
  const slotsEach = slots ?? Math.max(1, Math.min(SLOTS_MAX, Math.ceil(outstanding / workers)));
  const worker = await untilStarted(
    fork(program, ['worker', String(port), String(workers), String(slotsEach), traced ?? ''], {
      execArgv: [],
    }),
  );
  const watching = pages === 0 ? undefined : await startPages(port, pages);
  const { client } = tracedSides(traced);
  const contexts = new TraceContexts();
  const connected = await Promise.all(
    Array.from({ length: clients }, (_, i) =>
      connectClient({ address: { port }, name: `bench-${i}`, withinMs: 60_000, host: silentHost, ...client }),
    ),
  );
  return {
    run: (payload, caller) => {
      const own = connected[caller % connected.length] as (typeof connected)[number];
      if (traced === 'context') return own.run(digest, payload, { trace: contexts.next() });
      if (order === 'priorities') return own.run(digest, payload, { priority: priorityOf(payload) });
      if (order === 'keys') return own.run(digest, payload, { orderKey: keyOf(payload) });
      return own.run(digest, payload);
    },
    runFile: async (path) => {
      const handle = await (connected[0] as (typeof connected)[number]).submitFile(digest, path);
      return handle.result();
    },
    close: async () => {
      for (const client of connected) client.close();
      if (watching !== undefined) await stopProcess(watching);
      await stopProcess(worker);
      await stopProcess(leader);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Some servers accept connections before they serve requests. */
export async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 60; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
