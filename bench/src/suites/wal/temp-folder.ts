import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Folder {
  readonly path: string;
  remove(): void;
}

/** On the disk that holds the system's folder for temporary files; set TMPDIR to measure another. */
export function tempFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'troupe-bench-wal-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
