import type { Client, HandledJob } from '@troupe/jobs';
import * as assert from 'uvu/assert';
import { connectClient, embedded, startLeader, startWorker } from '../checked-processes.js';
import { tempFolder } from '../temp-folder.js';

export const fatal = (error: Error): void => assert.unreachable(error.message);

/** A leader, a worker with these handlers, and clients. */
export interface World extends AsyncDisposable {
  readonly client: Client;
  another(): Promise<Client>;
}

export type Place = (handlers: readonly HandledJob[]) => Promise<World>;

export async function inOneProcess(handlers: readonly HandledJob[]): Promise<World> {
  const folder = await tempFolder();
  const app = await embedded({ dir: folder.path });
  app.worker({ handlers });
  const dispose = async (): Promise<void> => {
    await app.close({ withinMs: 100 });
    await folder[Symbol.asyncDispose]();
  };
  return { client: app.client(), another: async () => app.client(), [Symbol.asyncDispose]: dispose };
}

export async function overTcp(handlers: readonly HandledJob[]): Promise<World> {
  const folder = await tempFolder();
  const leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const { address } = leader;
  const worker = await startWorker({ address, name: 'w', handlers, heartbeatThread: false });
  const clients: Client[] = [];
  const another = async (): Promise<Client> => {
    const client = await connectClient({ address });
    clients.push(client);
    return client;
  };
  const client = await another();
  const dispose = async (): Promise<void> => {
    for (const one of clients) one.close();
    await worker.close({ withinMs: 100 });
    await leader.close();
    await folder[Symbol.asyncDispose]();
  };
  return { client, another, [Symbol.asyncDispose]: dispose };
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) taken.push(item);
  return taken;
}

export async function errorOf(promise: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('no error');
}
