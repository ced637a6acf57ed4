import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ThreadStartError } from './thread-errors.js';

/**
 * The file that a thread starts with. In the installed package it lies beside the module that starts it. A
 * bundle moves that module, so the file is looked for beside the bundle by its name, then in the installed
 * package by the entry of its `exports`.
 */
export function findBootModule(thread: string, { beside, entry }: { beside: URL; entry: string }): URL {
  if (existsSync(fileURLToPath(beside))) return beside;
  try {
    return pathToFileURL(createRequire(beside).resolve(entry));
  } catch (cause) {
    const file = beside.pathname.slice(beside.pathname.lastIndexOf('/') + 1);
    const remedy = `a bundle needs ${entry} as an entry of its own, written to ${file} beside it`;
    throw new ThreadStartError(thread, new Error(remedy, { cause }));
  }
}
