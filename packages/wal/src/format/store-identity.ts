// STORE: the identity of the directory, written once.

import { assertReadable, FORMAT_MAJOR, FORMAT_MINOR } from './format-version.js';
import { decodeFramedJson, encodeFramedJson } from './framed-json.js';

export interface StoreIdentity {
  readonly major: number;
  readonly minor: number;
  readonly storeId: string;
  readonly createdAt: number;
}

export function encodeStoreIdentity(storeId: string, createdAt: number): Buffer {
  const store: StoreIdentity = { major: FORMAT_MAJOR, minor: FORMAT_MINOR, storeId, createdAt };
  return encodeFramedJson('STORE', store);
}

export function decodeStoreIdentity(bytes: Buffer): StoreIdentity {
  // The CRC proves the shape; the version decides whether the fields have this meaning.
  const store = decodeFramedJson('STORE', bytes) as StoreIdentity;
  assertReadable('STORE', store.major, store.minor);
  return store;
}
