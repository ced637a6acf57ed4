import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const execute: (command: string, words: string[]) => unknown = execFileSync;

/** A file system in memory that can be filled; only where this process may mount one. */
export class SmallDisk implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'troupe-disk-'));
  private readonly filler = join(this.path, 'filler');

  constructor(mib: number) {
    execute('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', this.path]);
    // The user of the server makes its folder there.
    chmodSync(this.path, 0o777);
  }

  /** Takes all the room that is left. */
  fill(): void {
    const block = Buffer.alloc(2 ** 18);
    for (;;) {
      try {
        writeFileSync(this.filler, block, { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
        throw error;
      }
    }
  }

  free(): void {
    rmSync(this.filler, { force: true });
  }

  [Symbol.dispose](): void {
    execute('umount', [this.path]);
    rmSync(this.path, { recursive: true });
  }
}
