// STORE: the identity of the directory, written once.

import { WalVersionError } from '../wal-error.js';
import { decodeFramedJson, encodeFramedJson } from './framed-json.js';
import { FORMAT_MAJOR, FORMAT_MINOR } from './version.js';

export interface StoreFile {
  readonly major: number;
  readonly minor: number;
  readonly storeId: string;
  readonly createdAt: number;
}

export function encodeStoreFile(storeId: string, createdAt: number): Buffer {
  const store: StoreFile = { major: FORMAT_MAJOR, minor: FORMAT_MINOR, storeId, createdAt };
  return encodeFramedJson('STORE', store);
}

export function decodeStoreFile(bytes: Buffer): StoreFile {
  // The CRC proves the shape; the version decides whether the fields have this meaning.
  const store = decodeFramedJson('STORE', bytes) as StoreFile;
  assertReadable('STORE', store.major, store.minor);
  return store;
}

export function assertReadable(file: string, major: number, minor: number): void {
  if (major !== FORMAT_MAJOR) throw new WalVersionError(file, `${major}.${minor}`, `${FORMAT_MAJOR}.x`);
}
