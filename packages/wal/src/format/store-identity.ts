// STORE: the identity of the directory and its formats. Replaced only to raise the format of the content.

import { WalCorruptError } from '../wal-error.js';
import { type ContentFormat, isContentFormat } from './content-format.js';
import { assertReadable, FORMAT_MAJOR, FORMAT_MINOR } from './format-version.js';
import { decodeFramedJson, encodeFramedJson } from './framed-json.js';

export interface StoreIdentity {
  readonly major: number;
  readonly minor: number;
  readonly storeId: string;
  readonly createdAt: number;
  /** Absent: the application states no format. */
  readonly content?: ContentFormat | undefined;
}

export function encodeStoreIdentity({
  storeId,
  createdAt,
  content,
}: Omit<StoreIdentity, 'major' | 'minor'>): Buffer {
  const store: StoreIdentity = { major: FORMAT_MAJOR, minor: FORMAT_MINOR, storeId, createdAt, content };
  return encodeFramedJson('STORE', store);
}

export function decodeStoreIdentity(bytes: Buffer): StoreIdentity {
  // The CRC proves the shape; the version decides whether the fields have this meaning.
  const store = decodeFramedJson('STORE', bytes) as StoreIdentity;
  assertReadable('STORE', store.major, store.minor);
  if (store.content !== undefined && !isContentFormat(store.content))
    throw new WalCorruptError({ file: 'STORE', offset: 0, reason: 'content is not valid' });
  return store;
}
