// Runs the fold on a thread of its own, which is started for one snapshot and ends with it.

import { Worker } from 'node:worker_threads';
import type { Done } from '../storage/storage.js';
import { WalSnapshotError } from '../wal-error.js';
import type { BuildRequest, BuiltSnapshot, FoldModule, SnapshotBuilder } from './fold.js';

export interface ThreadTask {
  readonly dir: string;
  readonly fold: FoldModule;
  readonly request: BuildRequest;
}

export type ThreadAnswer =
  | { readonly kind: 'built'; readonly snapshot: BuiltSnapshot }
  | { readonly kind: 'failed'; readonly reason: string };

export function threadSnapshotBuilder(dir: string, fold: FoldModule): SnapshotBuilder {
  return { build: (request, done) => buildOnThread({ dir, fold, request }, done) };
}

function buildOnThread(task: ThreadTask, done: Done<BuiltSnapshot>): void {
  const worker = new Worker(new URL('./node-fold-thread.js', import.meta.url), {
    workerData: task,
    stdin: false,
  });
  let answered = false;
  const answer: Done<BuiltSnapshot> = (error, snapshot) => {
    if (answered) return;
    answered = true;
    done(error, snapshot);
  };
  const failed = (reason: string, cause?: unknown): void =>
    answer(new WalSnapshotError(reason, { cause }), undefined as never);
  worker.once('message', (message: ThreadAnswer) => {
    if (message.kind === 'built') answer(null, message.snapshot);
    else failed(message.reason);
  });
  worker.once('error', (error) => failed('the thread failed', error));
  worker.once('exit', (code) => failed(`the thread ended with ${code} before it was done`));
}
