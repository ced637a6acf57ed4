import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempFolder {
  readonly path: string;
  remove(): void;
}

/** A temporary folder. TMPDIR selects the disk to measure. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'troupe-bench-wal-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
