// Entry of the snapshot thread: imports the fold, then builds one snapshot per request.

import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { runCoroutine } from '../storage/coroutine.js';
import { nodeStorage } from '../storage/node-storage.js';
import { buildSnapshot } from './build-snapshot.js';
import type { ThreadData, ThreadReply } from './node-snapshot-thread-handle.js';
import type { BuildRequest } from './snapshot-builder.js';
import type { Fold, FoldModule } from './state-fold.js';

// As an entry of its package it may be imported on the main thread too, where it does nothing.
if (parentPort !== null) start(workerData as ThreadData); // SnapshotThreadHandle passes it

/** Without a top-level await: bundlers minify this file as a script. */
function start({ dir, fold }: ThreadData): void {
  importFold(fold)
    .then((imported) => waitForRequest(dir, imported))
    .catch((error: unknown) => {
      reply({
        kind: 'failed',
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    });
}

/** Listens only between requests: a lost callback lets the thread end, which fails its snapshot. */
function waitForRequest(dir: string, fold: Fold): void {
  parentPort?.once('message', (request: BuildRequest) => {
    runCoroutine(buildSnapshot(nodeStorage(dir), fold, request), (error, snapshot) => {
      if (error !== null) return reply({ kind: 'failed', reason: error.stack ?? error.message });
      waitForRequest(dir, fold);
      reply({ kind: 'built', snapshot });
    });
  });
}

function reply(message: ThreadReply): void {
  parentPort?.postMessage(message);
}

async function importFold(module: FoldModule): Promise<Fold> {
  const url = isAbsolute(module.module) ? pathToFileURL(module.module).href : module.module;
  const found = ((await import(/* webpackIgnore: true */ url)) as Record<string, unknown>)[module.export];
  if (!isFold(found)) throw new Error(`${module.module} exports no fold named ${module.export}`);
  return found;
}

function isFold(value: unknown): value is Fold {
  if (typeof value !== 'object' || value === null) return false;
  return ['empty', 'apply', 'save', 'restore'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'function',
  );
}
