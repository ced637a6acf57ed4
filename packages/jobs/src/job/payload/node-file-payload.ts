import { readFile, stat } from 'node:fs/promises';
import { bodyFromFile } from '@troupe/transport';
import { type Payload, payloadOfBytes } from './payload.js';
import { FilePayload, STORED_BYTES_MIN } from './stored-payload.js';

/** The content of a file: read now if it is small or cannot be streamed, else while it is sent. */
export async function payloadOfFile(path: string, streams: boolean): Promise<Payload> {
  const { size } = await stat(path);
  if (!streams || size < STORED_BYTES_MIN) return payloadOfBytes(await readFile(path));
  return new FilePayload(size, () => bodyFromFile(path));
}
