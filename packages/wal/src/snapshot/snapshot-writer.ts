// Writes a snapshot file section by section and computes its digest.

import { createHash } from 'node:crypto';
import type { BlobRef } from '../codec/record.js';
import {
  encodeSectionHead,
  encodeSnapshotHeader,
  SECTION_BLOBS,
  SECTION_BYTES_MAX,
  SECTION_END,
  SECTION_STATE,
} from '../format/snapshot-file.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { syncFile, writeFully } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalSnapshotError } from '../wal-error.js';
import type { BuiltSnapshot } from './fold.js';

const FLUSH_BYTES = 1024 * 1024;
const BLOB_REF_BYTES = 36;

export function* writeSnapshot(
  storage: Storage,
  name: string,
  content: {
    readonly storeId: string;
    readonly lsn: number;
    readonly state: Iterable<Uint8Array>;
    /** Undefined if the fold does not list its blobs: then none is removed. */
    readonly blobs: readonly BlobRef[] | undefined;
  },
): Coroutine<BuiltSnapshot> {
  const file = yield* call<StorageFile>((done) => storage.open(name, 'create', done));
  const sections = new SectionWriter(storage, file);
  try {
    sections.begin(encodeSnapshotHeader(content.storeId, content.lsn));
    for (const chunk of content.state) yield* sections.add(SECTION_STATE, chunk);
    if (content.blobs !== undefined) yield* sections.add(SECTION_BLOBS, encodeBlobRefs(content.blobs));
    yield* sections.end();
    yield* syncFile(storage, file);
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
  return { bytes: sections.offset, sha256: sections.digest() };
}

class SectionWriter {
  offset = 0;
  private readonly storage: Storage;
  private readonly file: StorageFile;
  private readonly hash = createHash('sha256');
  private waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  private crc = 0;
  private count = 0;

  constructor(storage: Storage, file: StorageFile) {
    this.storage = storage;
    this.file = file;
  }

  begin(header: Buffer): void {
    this.crc = header.readUInt32LE(header.length - 4);
    this.put(header);
  }

  *add(kind: number, payload: Uint8Array): Coroutine<void> {
    if (payload.length > SECTION_BYTES_MAX) {
      throw new WalSnapshotError(
        `a chunk of ${payload.length} bytes, at most ${SECTION_BYTES_MAX} are allowed`,
      );
    }
    const head = encodeSectionHead(kind, payload, this.crc);
    this.crc = head.readUInt32LE(8);
    this.count += 1;
    this.put(head);
    this.put(payload);
    if (this.waitingBytes >= FLUSH_BYTES) yield* this.flush();
  }

  *end(): Coroutine<void> {
    const count = Buffer.alloc(4);
    count.writeUInt32LE(this.count, 0);
    yield* this.add(SECTION_END, count);
    yield* this.flush();
  }

  digest(): string {
    return this.hash.digest('hex');
  }

  private put(bytes: Uint8Array): void {
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
  }

  private *flush(): Coroutine<void> {
    const bytes = Buffer.concat(this.waiting);
    this.waiting = [];
    this.waitingBytes = 0;
    this.hash.update(bytes);
    yield* writeFully(this.storage, this.file, bytes, this.offset);
    this.offset += bytes.length;
  }
}

function encodeBlobRefs(refs: readonly BlobRef[]): Buffer {
  const bytes = Buffer.alloc(refs.length * BLOB_REF_BYTES);
  for (const [index, ref] of refs.entries()) {
    bytes.write(ref.sha256, index * BLOB_REF_BYTES, 'hex');
    bytes.writeUInt32LE(ref.bytes, index * BLOB_REF_BYTES + 32);
  }
  return bytes;
}

export function decodeBlobRefs(bytes: Buffer): BlobRef[] {
  const refs: BlobRef[] = [];
  for (let at = 0; at + BLOB_REF_BYTES <= bytes.length; at += BLOB_REF_BYTES) {
    refs.push({ sha256: bytes.toString('hex', at, at + 32), bytes: bytes.readUInt32LE(at + 32) });
  }
  return refs;
}
