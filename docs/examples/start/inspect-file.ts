import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from './inspect-job.js';

/** Computed by a worker, and by the client for comparison. */
export async function inspectFile(root: string, { path, what }: Task): Promise<string> {
  const text = await readFile(join(root, path), 'utf8');
  switch (what) {
    case 'sha256':
      return createHash('sha256').update(text).digest('hex');
    case 'words':
      return String(text.split(/\s+/).filter((word) => word !== '').length);
    case 'longest line':
      return String(text.split('\n').reduce((longest, line) => Math.max(longest, line.length), 0));
    default:
      return what satisfies never;
  }
}
