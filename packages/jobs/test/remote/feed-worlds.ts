// The same jobs in one process and over TCP.
import type { Client, HandledJob } from '@troupe/jobs';
import * as assert from 'uvu/assert';
import { connectClient, embedded, startLeader, startWorker } from '../checked-processes.js';
import { tempFolder } from '../temp-folder.js';

export interface FeedWorld extends AsyncDisposable {
  readonly client: Client;
  another(): Promise<Client>;
  /** Adds a worker. */
  work(handlers: readonly HandledJob[]): Promise<void>;
}

export type FeedPlace = (handlers: readonly HandledJob[]) => Promise<FeedWorld>;

const fatal = (error: Error): void => assert.unreachable(error.message);

export async function inOneProcess(handlers: readonly HandledJob[]): Promise<FeedWorld> {
  const folder = await tempFolder();
  const app = await embedded({ dir: folder.path });
  const work = async (more: readonly HandledJob[]): Promise<void> => void app.worker({ handlers: more });
  if (handlers.length > 0) await work(handlers);
  const dispose = async (): Promise<void> => {
    await app.close({ withinMs: 100 });
    await folder[Symbol.asyncDispose]();
  };
  return { client: app.client(), another: async () => app.client(), work, [Symbol.asyncDispose]: dispose };
}

export async function overTcp(handlers: readonly HandledJob[]): Promise<FeedWorld> {
  const folder = await tempFolder();
  const leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const { address } = leader;
  const open: AsyncDisposable[] = [];
  const work = async (more: readonly HandledJob[]): Promise<void> => {
    const worker = await startWorker({
      address,
      name: `w${open.length}`,
      handlers: more,
      heartbeatThread: false,
    });
    open.push({ [Symbol.asyncDispose]: () => worker.close({ withinMs: 100 }).then(() => undefined) });
  };
  const another = async (): Promise<Client> => {
    const client = await connectClient({ address });
    open.push(client);
    return client;
  };
  if (handlers.length > 0) await work(handlers);
  const client = await another();
  const dispose = async (): Promise<void> => {
    for (const one of open.reverse()) await one[Symbol.asyncDispose]();
    await leader.close();
    await folder[Symbol.asyncDispose]();
  };
  return { client, another, work, [Symbol.asyncDispose]: dispose };
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: { readonly code?: string; readonly status?: string }) =>
      error.status === undefined ? String(error.code) : `${error.status} ${error.code}`,
  );
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) taken.push(item);
  return taken;
}
