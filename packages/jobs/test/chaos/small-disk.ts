import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MIB = 2 ** 20;

/** A file system of its own in memory, which can be filled; only where this process may mount one. */
export class SmallDisk implements AsyncDisposable {
  readonly path: string;
  private readonly mib: number;

  private constructor(path: string, mib: number) {
    this.path = path;
    this.mib = mib;
  }

  /** Undefined, with the reason, where no file system can be mounted. */
  static async mount(mib: number): Promise<SmallDisk | { readonly reason: string }> {
    const path = await mkdtemp(join(tmpdir(), 'troupe-disk-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', path]);
      return new SmallDisk(path, mib);
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      return { reason: `mount: ${(error as Error).message.split('\n')[0]}` };
    }
  }

  /** Takes all the room that is left. */
  async fill(): Promise<void> {
    const block = Buffer.alloc(MIB);
    for (let count = 0; count < this.mib; count += 1) {
      try {
        await writeFile(this.filler, block, { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
        throw error;
      }
    }
  }

  async free(): Promise<void> {
    await rm(this.filler, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', [this.path]);
    await rm(this.path, { recursive: true, force: true });
  }

  private get filler(): string {
    return join(this.path, 'filler');
  }
}
