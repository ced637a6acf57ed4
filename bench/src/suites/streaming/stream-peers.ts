import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stopProcess, untilStarted } from '../jobs/child-processes.js';
import { retry } from '../jobs/job-system.js';
import { missingServer, startServer } from '../jobs/peer-server.js';
import type { ChunkRange } from './chunk-text.js';

/** Each with the package of its client. */
const PACKAGES: Readonly<Record<string, string>> = { 'redis-streams': 'ioredis', nats: 'nats' };
const peersFolder = new URL('../../../peers/', import.meta.url);

export const STREAM_PEERS: readonly string[] = Object.keys(PACKAGES);

/** A reader of a peer's chunks: its worker makes them in another process. */
export interface StreamPeer {
  /** Calls `take` with each chunk of the range, in the order of their arrival. */
  read(range: ChunkRange, take: (chunk: string) => void): Promise<void>;
  close(): Promise<void>;
}

/** The reason why a peer cannot run here, `undefined` if it can. */
export function missingStreamPeer(system: string): string | undefined {
  const name = PACKAGES[system];
  if (name === undefined) return undefined;
  if (!existsSync(new URL(`node_modules/${name}/package.json`, peersFolder)))
    return `${system}: the client ${name} is not installed: npm run bench -- --install-peers`;
  return missingServer(system);
}

export async function openStreamPeer(system: string): Promise<StreamPeer> {
  const server = await startServer(system);
  try {
    const module = new URL(`streams/${system}.mjs`, peersFolder);
    const { open } = (await import(module.href)) as { open(options: { port: number }): Promise<StreamPeer> };
    const reader = await retry(() => open({ port: server.port }));
    const worker = await untilStarted(
      fork(fileURLToPath(module), ['worker', String(server.port)], { execArgv: [] }),
    );
    return {
      read: (range, take) => reader.read(range, take),
      close: async () => {
        await reader.close();
        await stopProcess(worker);
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}
