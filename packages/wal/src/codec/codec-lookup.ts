import { FLAG_JSONL } from '../format/batch.js';
import { binaryCodec } from './binary-codec.js';
import { jsonlCodec } from './jsonl-codec.js';
import type { RecordCodec } from './record-codec.js';

export type CodecName = RecordCodec['name'];

export function codecNamed(name: CodecName): RecordCodec {
  return name === 'jsonl' ? jsonlCodec : binaryCodec;
}

/** The codec of a batch with these flags. One log may contain batches of both. */
export function codecOf(flags: number): RecordCodec {
  return (flags & FLAG_JSONL) === 0 ? binaryCodec : jsonlCodec;
}
