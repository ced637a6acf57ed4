import { Worker } from 'node:worker_threads';
import type { DatabaseOptions } from '../log/log-database.js';

export interface SnapshotTask extends DatabaseOptions {
  readonly epoch: number;
}

/** The answer of the thread: the position of the snapshot, or a text. */
export type SnapshotAnswer = { readonly lsn: number } | { readonly problem: string };

export interface SnapshotThread {
  readonly made: Promise<number>;
  readonly terminate: () => Promise<unknown>;
}

export function startSnapshotThread(task: SnapshotTask): SnapshotThread {
  const thread = new Worker(new URL('./node-snapshot-thread-main.js', import.meta.url), {
    workerData: task,
    name: 'troupe-snapshot',
  });
  const made = new Promise<number>((resolve, reject) => {
    thread.once('message', (answer: SnapshotAnswer) =>
      'lsn' in answer ? resolve(answer.lsn) : reject(new Error(answer.problem)),
    );
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread of the snapshot ended')));
  });
  // A snapshot that is given up has no reader of its error.
  made.catch(() => undefined);
  return { made, terminate: () => thread.terminate() };
}
