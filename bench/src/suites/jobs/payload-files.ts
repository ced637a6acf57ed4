import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Payload } from './payload.js';
import { ID_OFFSET, type PayloadSource } from './payload-source.js';

/**
 * Large payloads as files, one per caller, each with another text. The id of the next job is written into the
 * file before its submit; a caller has one job at a time, so that no other reader has the file open then.
 */
export class PayloadFiles {
  private readonly folder: string;
  private readonly files: readonly { readonly fd: number; readonly path: string; readonly text: string }[];
  private readonly payloads: PayloadSource;

  private constructor(folder: string, files: PayloadFiles['files'], payloads: PayloadSource) {
    this.folder = folder;
    this.files = files;
    this.payloads = payloads;
  }

  static async open(callers: number, payloads: PayloadSource): Promise<PayloadFiles> {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
    const files = [];
    for (let caller = 0; caller < callers; caller += 1) {
      const payload = payloads.next();
      const path = join(folder, `payload-${caller}.json`);
      await writeFile(path, JSON.stringify(payload));
      files.push({ fd: openSync(path, 'r+'), path, text: payload.text });
    }
    return new PayloadFiles(folder, files, payloads);
  }

  /** The next payload, written into the caller's file. */
  next(caller: number): Payload {
    const { fd, text } = this.fileOf(caller);
    const { id } = this.payloads.next();
    writeSync(fd, String(id), ID_OFFSET);
    return { id, text };
  }

  pathOf(caller: number): string {
    return this.fileOf(caller).path;
  }

  private fileOf(caller: number): PayloadFiles['files'][number] {
    const file = this.files[caller];
    if (file === undefined) throw new RangeError(`no file of caller ${caller}`);
    return file;
  }

  async close(): Promise<void> {
    for (const { fd } of this.files) closeSync(fd);
    await rm(this.folder, { recursive: true, force: true });
  }
}
