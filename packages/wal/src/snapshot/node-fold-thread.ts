// The thread's side: finds the fold by module and export, runs it, answers once.

import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { nodeStorage } from '../storage/node-storage.js';
import { run } from '../storage/procedure.js';
import { buildSnapshot } from './build-snapshot.js';
import type { Fold, FoldModule } from './fold.js';
import type { ThreadAnswer, ThreadTask } from './node-thread-builder.js';

const { dir, fold: where, request } = workerData as ThreadTask; // what buildOnThread passes

try {
  const fold = await findFold(where);
  run(buildSnapshot(nodeStorage(dir), fold, request), (error, snapshot) => {
    if (error === null) answer({ kind: 'built', snapshot });
    else answer({ kind: 'failed', reason: error.stack ?? error.message });
  });
} catch (error) {
  answer({ kind: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

function answer(message: ThreadAnswer): void {
  parentPort?.postMessage(message);
}

async function findFold(module: FoldModule): Promise<Fold> {
  const url = isAbsolute(module.module) ? pathToFileURL(module.module).href : module.module;
  const found = ((await import(url)) as Record<string, unknown>)[module.export];
  if (!isFold(found)) throw new Error(`${module.module} exports no fold named ${module.export}`);
  return found;
}

function isFold(value: unknown): value is Fold {
  if (typeof value !== 'object' || value === null) return false;
  return ['empty', 'apply', 'save', 'restore'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'function',
  );
}
