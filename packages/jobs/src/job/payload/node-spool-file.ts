import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Writes a stream to a temporary file, from which it can be sent again. The file exists while `use` runs. */
export async function withSpoolFile<T>(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-submit-'));
  try {
    const path = join(folder, 'payload');
    await pipeline(Readable.from(chunks, { objectMode: false }), createWriteStream(path, { mode: 0o600 }));
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
