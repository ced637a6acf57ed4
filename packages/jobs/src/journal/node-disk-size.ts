import { statfs } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The size of the disk that holds a folder, or will hold it once it is made. */
export function diskBytes(folder: string, done: (error: Error | null, bytes: number) => void): void {
  const path = resolve(folder);
  statfs(path, (error, stats) => {
    if (error === null) return done(null, stats.blocks * stats.bsize);
    const parent = dirname(path);
    if (error.code === 'ENOENT' && parent !== path) return diskBytes(parent, done);
    done(error, 0);
  });
}
