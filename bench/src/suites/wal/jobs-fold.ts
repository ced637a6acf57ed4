// A state like that of a job system: a map of jobs and payloads, saved in chunks.
import type { Fold } from '@troupe/wal';

export interface Jobs {
  readonly payloads: Map<number, Buffer>;
  events: number;
}

const CHUNK_BYTES = 1_048_576;
/** Record types of this benchmark. */
export const ENQUEUE = 1;
export const ASSIGN = 2;

export const jobsFold: Fold<Jobs> = {
  empty: () => ({ payloads: new Map(), events: 0 }),
  apply(state, _lsn, payload, type) {
    state.events += 1;
    if (type === ENQUEUE) state.payloads.set(payload.readUInt32LE(0), Buffer.from(payload));
  },
  *save(state) {
    let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let end = 0;
    for (const [id, payload] of state.payloads) {
      if (end + 8 + payload.length > CHUNK_BYTES) {
        yield chunk.subarray(0, end);
        chunk = Buffer.allocUnsafe(CHUNK_BYTES);
        end = 0;
      }
      chunk.writeUInt32LE(id, end);
      chunk.writeUInt32LE(payload.length, end + 4);
      payload.copy(chunk, end + 8);
      end += 8 + payload.length;
    }
    if (end > 0) yield chunk.subarray(0, end);
  },
  restore(state, chunk) {
    // One copy of the chunk, of which the payloads are views.
    const copy = Buffer.from(chunk);
    for (let at = 0; at < copy.length; ) {
      const end = at + 8 + copy.readUInt32LE(at + 4);
      state.payloads.set(copy.readUInt32LE(at), copy.subarray(at + 8, end));
      at = end;
    }
  },
};
